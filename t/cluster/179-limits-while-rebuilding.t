# What a target was held to before it was removed from the configuration is in the
# leader's document, and the next leader learns it there.  That one writes documents,
# too: before it knows of any intent of that target, and, where the store is slow,
# before it has read the document.  The limits must be in all of them: it may be gone
# the next moment, and with them, for ever, what the target may take (G15, G21).
#
# Goes red when: a leader writes a document before it has read that of the leader
# before; a target of which no intent was found yet counts as one that has none.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { OTHERS => 400, DELAY => 0.7 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '20s', acquire => '1s',
    targets => { 'sms.rated' => { path => '/rated', limit => 'rate=60r/m' } },
    instance => { workers => 1,
                  server => 'location /o/ { submission_api main '
                            . 'access=operate; submission_actor test; }' });
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my ($a, $b) = $run->instances;
my $proxy = $server->proxy($cluster);


# the document of an epoch; '': there is none

sub document {
    my ($epoch) = @_;

    my ($row) = $store->query('SELECT stats FROM submission_stats '
                              . "WHERE lease_epoch = $epoch");

    return $row ? $row->[0] : '';
}


$a->start;
$lease->wait_leader;

for my $target (qw(sms.rated sms.realtime)) {
    is(fetch($a, 'POST', "/o/targets/$target/pause", '')->{status}, 200, 'paused');
}

wait_for('both are paused', sub { $a->log_count(qr/target_paused/) == 2 });

$run->post({ instances => [$a] }, $run->ids('other', OTHERS));
$run->post({ instances => [$a] }, map { [$_, 'sms.rated'] } $run->ids('rated', 3));

my $epoch = $lease->row->{epoch};

$a->quit;
like(document($epoch), qr/"sms\.rated","concurrency"/, 'the last document has it');

delete $run->{targets}{'sms.rated'};
$b->configure(targets => $run->targets);
$proxy->delay(DELAY);
$b->start;

wait_for('the next leader has told', sub { document($epoch + 1) ne '' }, 60);
is($b->log_count(qr/queue_rebuilt/), 0, 'it does not know all intents yet');
like(document($epoch + 1), qr/"sms\.rated","concurrency"/, 'its document has it');

$proxy->pass;
wait_for('it knows all', sub { $b->log_count(qr/queue_rebuilt/) }, 60);

$run->done;

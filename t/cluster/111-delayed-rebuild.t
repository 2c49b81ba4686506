# A leader that finds many delayed intents in the store.  Those that are due must not
# wait until it has read all the others: pages in the order of due time take turns
# with those in the order of modification, until they are at the present.
#
# Goes red when: what is delayed is not in the pages by due time, or these stop after
# the first, as they did when only retries were in them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { LATER => 20_000, DUE => 3_000, AT_ONCE => 1_000 };

my $run = SubmissionCluster::Executor->new(
    lease => '2s', instance => { main => 'error_log logs/debug.log debug; '
                                         . 'worker_shutdown_timeout 3s;' });
my ($store, $lease, $gateway) = ($run->store, $run->leadership, $run->gateway);
my $instance = $run->start;

$run->post('like');
$run->wait_terminal('like');
$lease->quit;


# as if posted so long ago, and not to be sent before a time

sub delayed {
    my ($prefix, $n, $ago, $before) = @_;

    my @ids = $run->ids($prefix, $n);
    my $at = $store->now - 1e6 * $ago;

    $store->insert_like('like', [splice @ids, 0, AT_ONCE], at => int $at++)
        while @ids;
    $store->query('UPDATE submission_intents SET not_before = ' . int($before)
                  . ', next_attempt_at = ' . int($before)
                  . " WHERE intent_id LIKE '$prefix-%'");
}

my $now = $store->now;

delayed('later', LATER, 3600, $now + 86400e6);
delayed('due', DUE, 1800, $now - 5e6);

truncate("$instance->{dir}/logs/debug.log", 0);
$instance->start;
$run->wait_terminal('due-');

open(my $log, '<', "$instance->{dir}/logs/debug.log") or die "debug.log: $!";

my ($by_due, $by_modification, $pages) = (0, 0, 0);

while (my $line = <$log>) {
    my ($order, $rows) = $line =~ /queue page order:(\d) rows:(\d+)/ or next;

    $pages++;
    $order ? ($by_due += $rows) : ($by_modification += $rows);
    last if $by_due >= DUE;
}

close $log;

cmp_ok($by_due, '>=', DUE, "what is due is found by its time, in $pages pages");
cmp_ok($by_modification, '<', LATER / 2,
       'before most of the others were read');
is($store->pending('later-'), LATER, 'which wait');

my @sent = grep { $_->{id} =~ /^due-/ } $gateway->sends;
my %ids = map { $_->{id} => 1 } @sent;

is(scalar @sent, DUE, 'each that was due is sent once');
is(scalar keys %ids, DUE, 'all of them');

$store->query("DELETE FROM submission_intents WHERE intent_id LIKE 'later-%'");
$run->done;

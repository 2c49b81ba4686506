# The synchronous standby is gone: a commit waits for it without an end, and no
# time-out of a statement covers that wait.  Clients go on posting.  What was given up
# is still at the server, which must not have more backends than the pool allows, and
# one that asks; when the standby is back, so is the service, and nothing that was
# answered 200 is lost (G3).
#
# Goes red when: a call that was given up does not count; what has ended counts on; a
# wait for a standby is ended, and what no standby has is acknowledged.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

use constant POOL => 3;

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    lease => '4s', renew => '1s', acquire => '1s',
    instance => { workers => 1, store_timeout => '1s' });
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my ($a) = $run->instances;

$server->standby($cluster);
$server->options('login_timeout=2s pool=' . POOL);

$run->start;

my $epoch = $lease->row->{epoch};
my $load = $cluster->load(prefix => 's', connections => 8,
                          retry => [503, 'unanswered', 'torn'])->start;

wait_for('intents are taken', sub { $load->count('answered') > 100 });

$server->standby_stop;

my ($most, $seen) = (0, 0);

sub look {
    my $n = $store->sessions;

    $most = $n if $n > $most;
    $seen = $a->log_count(qr/still at work on \d+ calls that were given up/);
}

wait_for('calls are refused', sub { look(); $seen >= 3 }, 60);

my $until = time + 10 * slow();

wait_for('the breaker has let some through', sub { look(); time > $until }, 60);

# one whose client is gone may be seen while it ends, beside the one that asks; those
# that leak are soon more than twice the pool

cmp_ok($most, '<=', 2 * POOL, "$most backends at the most");
cmp_ok($most, '>', 1, 'and some');

my $n = $load->count('answered');

is($store->query("SELECT 1 FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
                 . 'LIMIT 1') ? 1 : 0, 1, 'commits wait for the standby');

$server->standby_start;

$lease->wait_leader($epoch);
pass('one leads again');
wait_for('intents are taken again', sub { $load->count('answered') > $n + 100 });

$load->pause;
wait_for('the load ends', sub { $load->finished || !$load->{outstanding} });
$load->close;

is_deeply($load->{final}, {}, 'no answer but 200, and 503 meanwhile');

my %stored = map { $_->[0] => 1 }
             $store->query('SELECT intent_id FROM submission_intents');

is_deeply([grep { !$stored{$_} } keys %{$load->{answered}}], [],
          'all that was answered 200 is there');

wait_for('all is sent', sub { $store->pending('s-') == 0 }, 60);

$run->done;

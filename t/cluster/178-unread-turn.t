# The host of a leader goes without a word while the server sends it what a turn has
# begun, which is more than the buffers of a connection hold.  The server's backend has
# the lease's row then, and its transaction does not end before the answer is sent: no
# time-out of a statement covers that, and no keepalive, because there is something to
# be sent.  The server must give the connection up as soon as the caller has, or nobody
# leads for as long as TCP repeats itself, a quarter of an hour (G12).
#
# Goes red when: the server waits longer than query_timeout for a caller that does not
# take its answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { N => 64, BYTES => 250_000, TIMEOUT => 2 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '4s', renew => '1s', acquire => '1s',
    instance => { workers => 1, store_timeout => TIMEOUT . 's' });
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my ($a) = $run->instances;
my $proxy = $server->proxy($cluster);


# how many backends cannot get rid of what they send

sub stuck {
    return scalar $store->query('SELECT pid FROM pg_stat_activity '
                                . "WHERE wait_event = 'ClientWrite'");
}


$a->configure(executor => 'off');
$cluster->start;
$run->post(map { [$_, 'sms.realtime', '"' . 'x' x BYTES . '"'] }
           $run->ids('big', N));

$a->quit;
$a->configure(executor => 'concurrency=256');
$proxy->choke('big-');
$a->start;

wait_for('a turn is not read', sub { stuck() == 1 }, 30 * slow());

my $began = time;
my $epoch = $lease->row->{epoch};

wait_for('the server gives it up', sub { stuck() == 0 }, 20);

cmp_ok(time - $began, '<', (3 * TIMEOUT + 4) * slow(), 'soon');

$lease->wait_leader($epoch);
pass('one leads again');

$run->wait_terminal('big-', 60 * slow());
is_deeply($run->statuses('big-'), { accepted => N }, 'and all is sent');

$run->done;

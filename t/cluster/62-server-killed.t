# The database server is killed with SIGKILL and started again, three times,
# while an instance leads, sends, and clients post through all of them.  Nothing
# that was answered 200 is lost (G3), nothing is there twice, one leads again
# within two seconds of the server's return, in a new epoch, although the lease
# would last for much longer (G8), and all that was posted is sent.
#
# A single connection that is lost while leading costs about a second, not a
# lease.
#
# Goes red when: an instance waits for its own lease to expire; a connection that
# is dead is used again and again; an answer is believed before the commit.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

# with a lease of sixty seconds

use constant { ROUNDS => 3, AWAY => 1.5, SOON => 15 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '1s', acquire => '2s');
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my $proxy = $server->proxy($cluster);

$server->options('login_timeout=2s');

$run->start;


sub epoch { return $lease->row->{epoch} }


# the leader's connections, all of them

{
    my $begun = time;

    $proxy->reset;

    # a call that was under way has failed; those that were idle are replaced

    wait_for('one leads, by another connection', sub {
        $lease->row->{renewed_at} / 1e6 > $begun;
    });

    $lease->wait_leader;

    my $seconds = time - $begun;

    cmp_ok($seconds, '<', SOON * slow(),
           sprintf 'a connection costs %.1f s, not a lease of 60', $seconds);
}


my $load = $cluster->load(prefix => 'k', connections => 16,
                          retry => [503, 'unanswered', 'torn'])->start;

for my $round (1 .. ROUNDS) {
    my $n = $load->count('answered');

    wait_for('intents are taken', sub { $load->count('answered') > $n + 200 });

    my $epoch = epoch();

    $server->kill;

    my $end = time + AWAY;

    wait_for('it is away', sub { time > $end });

    $server->recover;

    my $back = time;

    $store->reconnect;
    $lease->wait_leader($epoch);

    cmp_ok(time - $back, '<', SOON * slow(),
           sprintf 'round %d: one leads %.1f s after it is back', $round,
                   time - $back);

    wait_for('intents are taken again', sub {
        $load->count('answered') > $n + 300;
    });
}

$load->pause;
wait_for('the load ends', sub { $load->finished || !$load->{outstanding} });
$load->close;

is_deeply($load->{final}, {}, 'no answer but 200, and 503 meanwhile');
is_deeply($load->{changed} // [], [], 'answers to one intent do not differ');
note(sprintf '%d were answered 503, %d were taken',
     $load->{statuses}{503} // 0, $load->count('answered'));

my %stored = map { $_->[0] => 1 }
             $store->query('SELECT intent_id FROM submission_intents');

is_deeply([grep { !$stored{$_} } keys %{$load->{answered}}], [],
          'all that was answered 200 is there');

wait_for('all is sent', sub { $store->pending('k-') == 0 }, 60);

$run->done;

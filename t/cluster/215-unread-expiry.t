# Deadlines pass while the store hangs, so that the call which ends the intents is
# out when its leader ends: the worker is terminated, or its lease runs out.  The
# store carries the call out all the same.  Each end is booked once, by whoever
# learns of it: in the log, and in the metrics of its target.
#
# Goes red when: a worker that is terminated does not look at the answer of that
# call, or an answer that comes after the lease was lost is counted for no target.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { N => 40, DEADLINE => 2 * pace(), LEASE => 8 * pace() };

# times of the store are paced by it once more

use constant STORE => SubmissionStore::kind_of()->pace;

# the first token of the target comes after a minute

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '8s', renew => '1s',
    targets => { 'sms.late' => { policy => 'deadline ' . DEADLINE . 's',
                                 limit => 'rate=1r/m' } },
    instance => { workers => 1, store_timeout => 4 * LEASE / STORE . 's' });
my ($store, $lease) = ($run->store, $run->leadership);
my $nginx = $run->start(record => 0);


# what becomes of intents that expire while the store hangs, until $then

sub expire {
    my ($name, $then) = @_;

    $run->post(map { [$_, 'sms.late'] } $run->ids($name, N));

    my ($first) = sort { $a <=> $b } map { $_->{created_at} }
                  values %{$store->intents("$name-")};
    my $lock = $store->lock;

    wait_for('deadlines pass', sub { time > $first / 1e6 + DEADLINE + 0.5 });

    $then->();
    $store->unlock($lock);

    $run->wait_terminal("$name-", 60 * slow());
    $lease->wait_leader;

    is_deeply($run->statuses("$name-"), { 'exhausted deadline_exceeded' => N },
              "$name: all have expired");

    my $lines = qr/ expired manager=main intent_id="\Q$name\E-/;

    # they are written after the commit

    wait_for('each has its line', sub { $nginx->log_count($lines) >= N });
    is($nginx->log_count($lines), N, "$name: each has its line");
}


expire('terminated', sub {
    my $pid = $lease->executor($nginx);

    kill('TERM', $pid);
    wait_for('the worker exits', sub { $nginx->log_count(qr/ $pid#$pid: exiting$/) });
});

expire('lost', sub {
    my $epoch = $lease->row->{epoch};

    wait_for('the lease runs out', sub {
        $nginx->log_count(qr/ leader_lost .*lease_epoch=$epoch .*reason=deadline/);
    }, 3 * LEASE);
});

is($nginx->metric('expired_unsent_total{target="sms.late"}'), 2 * N,
   'counted as never sent');
is($nginx->metric('intents_terminal_total{target="sms.late",'
                  . 'status="exhausted"}'), 2 * N, 'counted as ended')
    or diag(grep { /terminal_total/ } split /^/m,
            fetch($nginx, 'GET', '/metrics')->{body});

$run->done;

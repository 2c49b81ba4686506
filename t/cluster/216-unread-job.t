# A job cancels intents while the store hangs, so that its call is out when its
# leader ends: at a reload, when the worker is terminated, and when the lease runs
# out.  The store carries the call out all the same, and each end is booked once, by
# whoever learns of it: with a line of its own in the log.
#
# Goes red when: nobody looks at the answer of a call whose epoch is over.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { N => 40, REFRESH => 2, LEASE => 8 * pace() };

# times of the store are paced by it once more

use constant STORE => SubmissionStore::kind_of()->pace;

# the first token of the target comes after a minute

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '8s', renew => '1s', refresh => REFRESH . 's',
    targets => { 'sms.held' => { limit => 'rate=1r/m' } },
    instance => {
        workers => 1, store_timeout => 4 * LEASE / STORE . 's',
        server => 'location /o/ { submission_api main access=operate; '
                  . 'submission_actor test; }',
    });
my ($store, $lease) = ($run->store, $run->leadership);
my $nginx = $run->start(record => 0);


# what becomes of intents that a job cancels while the store hangs, until $then

sub cancel {
    my ($name, $then) = @_;

    $run->post(map { [$_, 'sms.held'] } $run->ids($name, N));

    is(fetch($nginx, 'POST', '/o/cancels', qq({"id":"$name",)
             . '"filter":{"target":"sms.held"}}')->{status}, 200, "$name: a job");

    my $lock = $store->lock;
    my $next = time + REFRESH + 1;

    wait_for('the job is looked at', sub { time > $next });

    $then->($lease->executor($nginx));
    $store->unlock($lock);

    $run->wait_terminal("$name-", 60 * slow());
    $lease->wait_leader;

    is_deeply($run->statuses("$name-"), { canceled => N },
              "$name: all are canceled");
    wait_for("$name: each has its line", sub {
        $nginx->log_count(qr/ ended manager=main intent_id="\Q$name\E-.*=canceled/)
            >= N;
    }, 10);
    is($nginx->log_count(qr/ ended manager=main intent_id="\Q$name\E-/), N,
       "$name: one each");
}


cancel('reloaded', sub {
    my ($pid) = @_;

    $nginx->signal('HUP');
    wait_for('the worker leaves',
             sub { $nginx->log_count(qr/ $pid#$pid: gracefully shutting down$/) });
});

cancel('terminated', sub {
    my ($pid) = @_;

    kill('TERM', $pid);
    wait_for('the worker exits',
             sub { $nginx->log_count(qr/ $pid#$pid: exiting$/) });
});

cancel('lost', sub {
    my $epoch = $lease->row->{epoch};

    wait_for('the lease runs out', sub {
        $nginx->log_count(qr/ leader_lost .*lease_epoch=$epoch .*reason=deadline/);
    }, 3 * LEASE);
});

$run->done;

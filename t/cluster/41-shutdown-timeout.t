# Reload and quit with attempts held at the gateway.
#
# With worker_shutdown_timeout they are cut off when it is over: recorded as
# unknown/shutdown by the worker that retires, before another one begins, and
# the contract goes on from there; one_shot is not sent again.  Nothing of it is
# left for the next epoch to find in doubt.
#
# Without it the retiring worker waits, and the lease is kept by renewing it,
# for longer than it lasts, while nobody else sends; when the gateway answers,
# that is what is recorded.
#
# Goes red when: an attempt that was cut off has no record; the lease is not
# renewed while the worker leaves, and another instance takes it; the worker
# leaves before its attempts have ended; it never leaves.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { HELD => 30, DUE => 30, LEASE => 1.5 };

my @targets = qw(sms.realtime sms.once);


sub cluster {
    my ($timeout) = @_;

    return SubmissionCluster::Executor->new(
        instances => ['a', 'b'], lease => 1000 * LEASE . 'ms', renew => '200ms',
        executor => 'concurrency=' . HELD, instance => { main => $timeout });
}


# attempts at the gateway, and as many that wait for their turn

sub hold {
    my ($run, $name) = @_;

    my $i = 0;
    my %held = map { $_->{id} => 1 } $run->gateway->sends;

    $run->gateway->behave('/' => 'hold');
    $run->post(map { [$_, $targets[$i++ % 2]] } $run->ids($name, HELD + DUE));
    $run->gateway->wait_for_held(HELD);
    $run->gateway->behave('/' => undef);

    return grep { !$held{$_} } map { $_->{id} } $run->gateway->sends;
}


# with a time-out

{
    my $run = cluster('worker_shutdown_timeout 500ms;');
    my ($gateway, $lease) = ($run->gateway, $run->leadership);

    $run->start;

    for my $how (qw(reload quit)) {
        my $leader = $lease->wait_leader;
        my $epoch = $lease->row->{epoch};
        my @held = hold($run, $how);
        my %held = map { $_ => 1 } @held;

        $leader->$how;

        my $next = $lease->wait_leader($epoch);

        is($next == $leader, $how eq 'reload', "$how: who leads next");

        $run->wait_terminal("$how-");

        my %should = map {
            my $once = $run->{posted}{$_}{target} eq 'sms.once';
            $_ => !$held{$_} ? 'accepted'
                  : $once ? 'unknown/shutdown' : 'unknown/shutdown, accepted';
        } $run->ids($how, HELD + DUE);

        is_deeply($run->recorded("$how-"), \%should,
                  "$how: what was at the gateway is unknown, and why");
        is_deeply([grep { $_->{epoch} != $epoch }
                   grep { $_->{status} eq 'unknown' }
                   $run->store->attempts("$how-")], [],
                  "$how: as the one that retired has recorded");
        is_deeply([map { $_->log_lines(qr/attempts_recovered/) }
                   $run->instances], [],
                  "$how: nothing was left in doubt");
        is_deeply([grep { $run->{posted}{$_}{target} eq 'sms.once'
                          && $gateway->sends_of($_) > 1 } @held], [],
                  "$how: one_shot is not sent again");
        $run->check($how);

        $gateway->release('reset');
    }

    $run->cluster->start;
    $lease->quit;
    $lease->check;
    $run->cluster->finish;
}


# without one

{
    my $run = cluster('');
    my ($gateway, $lease) = ($run->gateway, $run->leadership);

    $run->start;

    for my $how (qw(reload quit)) {
        my $leader = $lease->wait_leader;
        my $epoch = $lease->row->{epoch};
        my ($executor) = $lease->executor($leader);
        my @held = hold($run, "wait-$how");
        my $count = $gateway->count;

        $leader->signal($how eq 'quit' ? 'QUIT' : 'HUP');

        $run->wait_lost($leader, $epoch);

        # the lease would be over by then

        my $since = time;
        my $renewed = $lease->row->{renewed_at};

        wait_for('the lease has lasted twice its time',
                 sub { time - $since > 2 * LEASE });

        my $row = $lease->row;

        is($row->{epoch}, $epoch, "wait, $how: the epoch is the same");
        cmp_ok($row->{renewed_at}, '>', $renewed + 1e6 * LEASE,
               "wait, $how: the lease is renewed");
        is_deeply([$lease->executors($leader)], [$executor],
                  "wait, $how: by the worker that retires");
        is($gateway->count, $count, "wait, $how: nothing else is sent");
        is($run->store->in_flight, HELD, "wait, $how: all are in flight");

        $gateway->release;

        $lease->wait_leader($epoch);
        $run->wait_terminal("wait-$how-");

        my $is = $run->recorded("wait-$how-");

        is_deeply([grep { $is->{$_} ne 'accepted' } sort keys %$is], [],
                  "wait, $how: what the gateway says is recorded");
        is(scalar keys %$is, HELD + DUE, "wait, $how: of all");
        is_deeply([grep { $gateway->sends_of($_) != 1 } keys %$is], [],
                  "wait, $how: each is sent once");

        wait_for('the worker is gone', sub {
            !SubmissionCluster::Process::alive($executor);
        });
        pass("wait, $how: and the worker leaves");

        $leader->wait_gone if $how eq 'quit';
    }

    $run->done;
}

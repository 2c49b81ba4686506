# The store does not take what attempts have come to, by an error that nobody
# would try again (permanent), for longer than a lease; the lease itself is
# renewed all the while.  Leadership drops (G8), but what the gateway has said is
# known and is kept, for as long as it takes: nobody else wants the lease, and no
# new epoch is asked for until it is recorded.  Then the rest goes on.  Nothing is
# sent twice, nothing that is known is called unknown (G5).
#
# When another instance lives the lease is left to it: the outcomes are in doubt
# then, and only then.
#
# Goes red when: outcomes are given up after some tries, or for the class of the
# error; the epoch is not kept for them; it is kept although another could lead.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { HELD => 30, DUE => 20, LEASE => 2 };

my @targets = qw(sms.realtime sms.once push.marketing);


sub failures {
    my ($instance) = @_;

    return $instance->metric('store_errors_total{op="attempts_turn",class="permanent"}');
}


# so many are at the gateway, and it answers when nothing can be recorded

sub hold {
    my ($run, $prefix) = @_;

    my $gateway = $run->gateway;
    my $i = 0;

    $gateway->behave('/' => 'hold');
    $run->post(map { [$_, $targets[$i++ % 3]] } $run->ids($prefix, HELD + DUE));
    $gateway->wait_for_held(HELD);
    $gateway->behave('/' => undef);

    $run->store->fail_turns(1);
    $gateway->release;
}


{
    my $run = SubmissionCluster::Executor->new(
        instances => ['a'], lease => LEASE . 's',
        executor => 'concurrency=' . HELD);
    my ($gateway, $lease, $store) = ($run->gateway, $run->leadership,
                                     $run->store);
    my $a = $run->start;
    my $epoch = $lease->row->{epoch};

    hold($run, 'x');

    $run->wait_lost($a, $epoch);

    my $end = time + 2 * LEASE * $store->pace;

    wait_for('it was tried five times, for two leases', sub {
        time > $end && failures($a) >= 5;
    }, 40);

    is($lease->readyz($a)->{mode}, 'follower', 'alone: nobody leads');
    is($lease->row->{epoch}, $epoch, 'alone: and no new epoch is asked for');
    is($gateway->count, HELD, 'alone: nothing is sent');

    $store->fail_turns(0);
    $run->wait_terminal('x-', 30);

    is_deeply([grep { $_->{status} ne 'accepted' || $_->{number} != 1 }
               $store->attempts('x-')],
              [], 'alone: all is recorded as what it came to, at once');
    is(scalar(grep { $_->{epoch} == $epoch } $store->attempts('x-')), HELD,
       'alone: what was at the gateway as of its epoch');
    is($gateway->count, HELD + DUE, 'alone: nothing is sent twice');
    is($lease->row->{epoch}, $epoch + 1, 'alone: in the next epoch');
    is_deeply([$a->log_lines(qr/attempt_dropped|attempts_recovered/)], [],
              'alone: nothing was dropped, nor in doubt');

    $run->check('alone');
    $lease->quit;
    $lease->check;
    $run->cluster->finish;
}


{
    my $run = SubmissionCluster::Executor->new(
        instances => ['a', 'b'], lease => LEASE . 's',
        executor => 'concurrency=' . HELD);
    my ($gateway, $lease, $store) = ($run->gateway, $run->leadership,
                                     $run->store);
    my $leader = $run->start;
    my ($other) = grep { $_ != $leader } $run->instances;
    my $epoch = $lease->row->{epoch};

    wait_for('each knows of the other', sub { $lease->live($leader) == 2 });
    hold($run, 'y');

    $run->wait_lost($leader, $epoch);

    wait_for('the other has the lease', sub {
        $lease->row->{holder} eq $other->{name};
    });
    wait_for('the outcomes are dropped', sub {
        $leader->log_count(qr/attempt_dropped.*note=lease_gone/) == HELD;
    });

    $store->fail_turns(0);
    $run->wait_terminal('y-', 30);

    my %doubts = map { $_->{id} => 1 }
                 grep { "$_->{status}/$_->{reason}" eq 'unknown/leader_lost'
                        && $_->{epoch} == $epoch } $store->attempts('y-');

    is(scalar keys %doubts, HELD, 'two: they are in doubt');

    my $once = grep { $run->{posted}{$_}{target} eq 'sms.once' } keys %doubts;

    is_deeply($run->statuses('y-'), { accepted => HELD + DUE - $once,
                                      'exhausted outcome_unknown' => $once },
              'two: and are sent again, if they may be');

    $run->done;
}

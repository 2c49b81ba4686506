# Another process keeps all from writing to the store, for longer than a call may take and
# longer than the leader takes to give up, while attempts are at the gateway and
# are answered.  Leadership drops (G8).  What the gateway has said is known, and
# is kept: when the store answers again it is recorded, as long as the fence
# holds, before the lease is given up; then there is a new epoch, and the rest
# goes on.  Nothing is lost, nothing that is known is called unknown.
#
# The same when the worker retires meanwhile, by reload and by quit.
#
# And when the lease has run out before the store answers: then the outcomes are
# recorded in the next epoch, if it is the same instance's, and are in doubt if it
# is another's.
#
# Goes red when: an outcome is given up because the store did not take it at
# once; it is recorded although another has settled it; the new epoch begins
# before the old one's outcomes are recorded, while that is held; a worker that
# retires forgets them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { HELD => 40, DUE => 40, BUSY => 1 };

my @targets = qw(sms.realtime sms.once);


sub cluster {
    my ($duration) = @_;

    return SubmissionCluster::Executor->new(
        instances => ['a', 'b'], lease => $duration, renew => '300ms',
        executor => 'concurrency=' . HELD,
        instance => { store_timeout => 1000 * BUSY * pace() . 'ms', main => '' });
}


sub failures {
    my ($leader) = @_;

    return $leader->metric('store_errors_total{op="attempts_turn",class="transient"}');
}


sub trouble {
    my ($run, $name, %do) = @_;

    my ($gateway, $lease, $store) = ($run->gateway, $run->leadership,
                                     $run->store);
    my $leader = $lease->wait_leader;
    my $i = 0;

    $gateway->behave('/' => 'hold');
    $run->post(map { [$_, $targets[$i++ % 2]] } $run->ids($name, HELD + DUE));
    $gateway->wait_for_held(HELD);
    $gateway->behave('/' => undef);

    my $epoch = $lease->row->{epoch};
    my %held = map { $_ => 1 } grep { $gateway->sends_of($_) }
               $run->ids($name, HELD + DUE);

    $do{first}->($leader) if $do{first};

    my $lock = $store->lock;
    my $failed = failures($leader);

    $gateway->release;
    $do{during}->($leader, $epoch, $failed);
    $store->unlock($lock);

    my $next = $lease->wait_leader($epoch);

    my $doubt = $do{doubt} && $next != $leader;

    $do{after}->($leader, $next) if $do{after};
    $run->wait_terminal("$name-", 30);

    my (%epochs, $is);

    $epochs{$_->{id}} //= $_->{epoch} for $store->attempts("$name-");
    $is = $run->recorded("$name-");

    is_deeply($is, $run->in_doubt($doubt ? \%held : {},
                                  $run->ids($name, HELD + DUE)),
              "$name: what is recorded");
    is_deeply([grep { $epochs{$_} != $epoch } keys %held], [],
              "$name: as of the old epoch");
    is_deeply([grep { $gateway->sends_of($_) > ($doubt ? 2 : 1) }
               keys %$is], [], "$name: nothing is sent more often than that");

    $run->check($name);
}


sub known {
    my ($run, $name) = @_;

    is_deeply([map { $_->log_lines(qr/attempts_recovered|attempt_dropped|
                                      attempt_not_recorded/x) }
               $run->instances], [], "$name: nothing was lost, nor in doubt");
}


{
    my $run = cluster('60s');

    $run->start;

    # several times, each of which takes as long as a call may

    trouble($run, 'locked', during => sub {
        my ($leader, $epoch, $failed) = @_;

        $run->wait_lost($leader, $epoch);
        wait_for('it was tried four times',
                 sub { failures($leader) >= $failed + 4 });
    });

    known($run, 'locked');

    # it follows already when it is told to go

    for my $how (qw(reload quit)) {
        my @old;

        trouble($run, $how, during => sub {
            my ($leader, $epoch) = @_;

            $run->wait_lost($leader, $epoch);
            @old = $leader->worker_pids;
            $leader->signal($how eq 'quit' ? 'QUIT' : 'HUP');
        }, after => sub {
            my ($leader) = @_;

            return $leader->wait_gone if $how eq 'quit';

            # they would close connections on which others are posted

            wait_for('the old workers are gone', sub {
                !grep { SubmissionCluster::Process::alive($_) } @old;
            });
        });

        known($run, $how);
    }

    $run->cluster->start;

    # it leaves already when the store fails

    trouble($run, 'leaving', first => sub {
        my ($leader) = @_;

        $leader->signal('HUP');
        wait_for('it retires', sub { $leader->retiring_pids });

    }, during => sub {
        my ($leader, $epoch, $failed) = @_;

        wait_for('it has failed', sub { failures($leader) > $failed });
    });

    known($run, 'leaving');

    $run->leadership->quit;
    $run->leadership->check;
    $run->cluster->finish;
}


# longer than the lease

{
    # as for a slow store it is by itself, longer under a checker

    my $run = cluster($ENV{SUBMISSION_CHECK} ? '8s' : '2s');

    $run->start;

    trouble($run, 'expired', doubt => 1, during => sub {
        my ($leader, $epoch) = @_;

        $run->wait_lost($leader, $epoch);

        wait_for('the lease is over', sub {
            time > $run->leadership->row->{expires_at} / 1e6 + 0.1;
        });
    });

    $run->done;
}

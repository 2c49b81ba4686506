# Everything is restarted while hundreds of retries wait: by quit, and by
# SIGKILL.  None is lost, and none is sent before its time, by the times that
# the store had written down (G3).
#
# Goes red when: a new leader's queue lacks retries, or has them all due at
# once; the due time is counted anew, or by another clock; an attempt that was
# recorded before the end is made again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant INTENTS => 300;

# retries of a round are spread over a second and more

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    targets => { 'sms.later' => { policy => 'deadline 1h',
                                  retry => 4 * pace() . 's jitter=0.3' } });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);

$run->start;


sub restart {
    my ($name, $how) = @_;

    $run->post(map { [$_, 'sms.later', '{"gateway":"fail 1"}'] }
               $run->ids($name, INTENTS));

    wait_for('all have failed once', sub {
        my $intents = $store->intents("$name-");
        INTENTS == grep { $_->{attempts} == 1 && $_->{inflight_epoch} eq '' }
                   values %$intents;
    });

    my $before = $store->intents("$name-");
    my $epoch = $lease->row->{epoch};

    $how->();

    is($gateway->count, $store->value('SELECT count(*) '
                                      . 'FROM submission_attempts'),
       "$name: all that was sent is recorded");

    $run->cluster->start;
    $run->wait_terminal("$name-", 30);

    is_deeply($run->statuses("$name-"), { accepted => INTENTS },
              "$name: none is lost");

    my (@early, @wrong, $latest);

    for my $id (sort keys %$before) {
        my ($first, $second, @more) = $gateway->sends_of($id);
        my $late = ($second->{time} - $before->{$id}{next_attempt_at}) / 1e6;

        push @wrong, $id if @more || $second->{attempt} != 2
                            || $second->{epoch} <= $epoch;

        # the store's time is rounded to a millisecond
        push @early, "$id: $late" if $late < -0.002;
        $latest = $late if !defined $latest || $late > $latest;
    }

    is_deeply(\@wrong, [], "$name: each is sent once more, in a new epoch");
    is_deeply(\@early, [], "$name: none is early");
    cmp_ok($latest, '<', 3 * slow(), "$name: none is late");

    note(sprintf '%s: at most %.0f ms after it was due', $name,
         1000 * $latest);
    $run->check($name);
}


restart('quit', sub { $lease->quit });

# the lease of the dead one lasts for a part of the wait

restart('kill', sub { $lease->kill_tree($_) for $run->instances });

$run->done;

# The executor worker of the leader is killed, and later both of its workers:
# the same instance leads again soon, in the next epoch, and nobody
# else has led in between.
#
# Goes red when: the lock file is not freed with the process that has it; the
# next executor worker acquires, and so waits for the lease to expire, rather
# than takes over; a takeover does not begin a new epoch, so that late writes
# of the dead one would not be told from those of the new one; the zone is of no
# use when the one who writes it dies; the fence does not ask for the epoch.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant ROUNDS => 8;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# a lease that does not end within a round

my @instances = $lease->instances(['a' .. 'c'], manager =>
    'lease_duration 30s; renew_interval 300ms; acquire_interval 500ms;');

$cluster->start;
$lease->record;

my $leader = $lease->wait_leader;
my $first = $lease->row->{epoch};
my @watches = map { $lease->watch($_) } @instances;
my @seconds;

for my $round (1 .. ROUNDS) {
    my $last = $lease->last_id;
    my $epoch = $first + $round;
    my $executor = $lease->executor($leader);
    my @victims = $round < ROUNDS ? $executor : $leader->worker_pids;

    ok(scalar(grep { $_ == $executor } $leader->worker_pids),
       "round $round: the executor worker is a worker");

    my $killed = time;

    $lease->kill($leader, @victims);
    $lease->wait_leader($epoch - 1, $leader);

    my @grants = $lease->grants($last);

    is(scalar @grants, 1, "round $round: there was one grant");
    is($grants[0]{epoch}, $epoch, "round $round: of the next epoch");
    is($grants[0]{holder}, $leader->{name}, "round $round: to the same one");
    is($grants[0]{kind}, 'takeover', "round $round: before the lease ended");

    # holder and expiry are as before: only the epoch tells the dead one

    is($lease->would_change($_, $grants[0]{was}), 0,
       "round $round: $_ is refused in the old epoch")
        for qw(lease_fence lease_renew lease_takeover lease_release);
    is($lease->would_change('lease_fence', $grants[0]), 1,
       "round $round: the fence lets the new epoch in");

    my $seconds = $grants[0]{acquired_at} / 1e6 - $killed;

    cmp_ok($seconds, '<', 5 * slow(), "round $round: soon");

    push @seconds, $seconds;

    my ($event) = grep { $_->{kind} eq 'acquired'
                         && $_->{lease_epoch} == $epoch }
                  $lease->events($leader);

    isnt($event->{pid}, $executor, "round $round: it is another worker");
    is_deeply([$lease->executors($leader)], [$event->{pid}],
              "round $round: the one that has the lock file");

    wait_for('there are two workers again', sub {
        $leader->worker_pids == 2;
    });
}

my $end = time;

wait_for('all say what they say', sub {
    !grep { !@{$_->{answers}} || $_->{answers}[-1]{sent} < $end } @watches;
});

for my $watch (@watches) {
    $watch->end;
    next if $watch->{instance} == $leader;
    is_deeply([$watch->leads], [], "$watch->{instance}{name} has never led");
}

is_deeply([map { $_->{lease_epoch} }
           grep { $_->{kind} eq 'acquired' } $lease->events($leader)],
          [$first .. $first + ROUNDS], 'each epoch was led once');

note(sprintf 'taken over after %s ms',
     join(', ', map { sprintf '%.0f', 1000 * $_ } @seconds));

$lease->done;

# The leader's whole process tree is killed: another instance leads no sooner
# than the lease has expired, and at most half a second after (G1).  Both by
# the times that the store wrote into the lease row, not by the test's clock.
#
# Goes red when: an acquire does not ask whether the lease has expired; a
# follower does not aim at the moment when it does, and comes when its
# acquire_interval is over, which is long here; the epoch does not grow.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { ROUNDS => 4, LATE => 500_000 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# Of an acquire_interval and lease_duration that are alike, a follower that
# only waits for its interval is late by a second on the average.

my @instances = $lease->instances(['a' .. 'c'], manager => $lease->paced(
    'lease_duration 2s; renew_interval 300ms; acquire_interval 2s;'));

$cluster->start;
$lease->record;

my @late;

for my $round (1 .. ROUNDS) {
    my $leader = $lease->wait_leader;
    my $last = $lease->last_id;

    # the others know of the lease

    my %tried = map { $_ => scalar $lease->events($_) } @instances;

    wait_for('it is renewed', sub {
        grep { $_->{kind} eq 'renew' } $lease->history($last);
    });

    $lease->kill_tree($leader);

    my $row = $lease->row;

    is($row->{holder}, $leader->{name}, "round $round: it dies as the leader");

    my $next = $lease->wait_leader($row->{epoch});
    my ($grant, @more) = grep { $_->{epoch} > $row->{epoch} }
                         $lease->grants($last);

    isnt($next->{name}, $leader->{name}, "round $round: another leads");
    is($grant->{kind}, 'acquire', "round $round: it acquired the lease");
    is($grant->{holder}, $next->{name}, "round $round: as the row says");
    is($grant->{epoch}, $row->{epoch} + 1, "round $round: the next epoch");
    is_deeply(\@more, [], "round $round: nobody else did");
    is($grant->{was}{expires_at}, $row->{expires_at},
       "round $round: the lease was not touched in between");
    is($grant->{expires_at} - $grant->{acquired_at},
       2_000_000 * $cluster->store->pace,
       "round $round: the new one is as long as it should be");

    my $late = $grant->{acquired_at} - $row->{expires_at};

    cmp_ok($late, '>=', 0, "round $round: not before it had expired");
    cmp_ok($late, '<=', LATE * slow(), "round $round: and soon after");

    push @late, $late / 1000;

    $leader->start;
}

note(sprintf 'another acquired %s ms after the expiry', join(', ', @late));

$lease->done;

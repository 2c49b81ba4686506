# Five instances start at the same time, twenty times over: each time exactly
# one leads, and the epoch has grown by exactly one (G1).
#
# All are ended with SIGKILL after a round, so that nobody releases the lease
# and nobody takes it while others still end: whoever leads next is the one
# acquire of the round.  In odd rounds the lease has expired by then, and all
# race for it as soon as they are up.  In even rounds it has not, and all aim
# at the same moment; in the last one a whole lease is left.  In the first
# round there is no store yet: one of ten workers makes it.
#
# The lease is longer than a start of all may take: one that is lost because
# the machine or the store is slow would be one more epoch.
#
# Goes red when: an acquire looks and then writes, in two statements; it does
# not ask whether the lease has expired; it does not add to the epoch; two
# workers of an instance ask for the lease; instances have the same holder_id
# by default.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { INSTANCES => 5, ROUNDS => 20 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# the holder_id is made up by each start of an instance

my $manager = $lease->paced('lease_duration 10s; renew_interval 1s; '
                            . 'acquire_interval 500ms;');

my @instances = map {
    $cluster->instance($_, executor => '', manager => $manager);
} 'a' .. 'e';

my (%holders, %leaders);


# leader_acquired, or leader_acquire_failed since another one has it

sub tried {
    my ($instance, $since) = @_;

    my @events = $lease->events($instance);

    return splice(@events, $since);
}


for my $round (1 .. ROUNDS) {
    my %since = map { $_ => scalar $lease->events($_) } @instances;
    my $last = $round > 1 ? $lease->last_id : 0;

    $cluster->start;

    my $leader = $lease->wait_leader;

    wait_for('all have tried', sub {
        !grep { !tried($_, $since{$_}) } @instances;
    });

    # those that have tried before there was a leader, once more

    wait_for('all know that another leads', sub {
        !grep {
            $_ != $leader
            && !grep { ($_->{reason} // '') eq 'held_by_another' }
                tried($_, $since{$_});
        } @instances;
    });

    is_deeply([map { $_->{name} } $lease->leaders], [$leader->{name}],
              "round $round: exactly one leads");

    my $row = $lease->row;

    is($row->{epoch}, $round, "round $round: the epoch has grown by one");

    if ($round == 1) {
        $lease->record;

    } else {
        is_deeply([map { $_->{epoch} } $lease->grants($last)], [$round],
                  "round $round: there was one acquire");
    }

    is_deeply([map { "$_->{kind} $_->{lease_epoch}" }
               grep { $_->{kind} =~ /^(?:acquired|lost)$/ }
               map { tried($_, $since{$_}) } @instances],
              ["acquired $round"], "round $round: nobody else has led");

    for my $instance (@instances) {
        my $role = $lease->readyz($instance);

        is($holders{$role->{holder_id}}++, 0,
           "round $round: $instance->{name} has a new holder_id");
        is($role->{holder_id}, $row->{holder},
           "round $round: which is in the lease") if $instance == $leader;
        is($lease->executors($instance), 1,
           "round $round: $instance->{name} has one executor worker");
    }

    $leaders{$leader->{name}}++;

    last if $round == ROUNDS;

    $lease->{killed}{$_} = 1 for map { $_->processes } @instances;
    $cluster->kill_now;
    $cluster->wait_gone;

    # one that was killed in the middle of an acquire may still be granted it

    wait_for('their sessions have ended', sub { !$cluster->store->sessions });

    my $left = $round % 2 ? 600_000 : 0;

    $cluster->store->end_lease($cluster->store->now_sql . " + $left")
        if $round + 1 < ROUNDS;
}

note(join ', ', map { "$_ led $leaders{$_} times" } sort keys %leaders);

$lease->done;

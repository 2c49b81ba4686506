# An instance with "executor off" beside one with an executor: it never leads,
# also when there is nobody else.  When a reload turns the executor of the
# leader off, the lease is given up, and another leads within a second; and when
# it is turned on again, the instance can lead as before.
#
# Goes red when: workers of the new configuration leave the lease of the old
# ones to expire, which would be a minute here; an instance without an executor
# asks for the lease.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $settings = $lease->paced('lease_duration 60s; renew_interval 300ms; '
                             . 'acquire_interval 300ms;');
my ($a) = $lease->instances(['a'], manager => $settings);
my ($b) = $lease->instances(['b'], manager => "$settings executor off;");

$b->start;

my $begun = time;
my %modes;

wait_for('it would have asked', sub {
    my $role = $lease->readyz($b);
    $modes{"$role->{status} $role->{mode}"}++ if $role;
    time - $begun > SubmissionCluster::pace();
});

is_deeply([keys %modes], ['200 follower'], 'alone: it is ready, and follows');
is($lease->row, undef, 'alone: nobody has the lease');

$a->start;
$lease->record;

is($lease->wait_leader->{name}, 'a', 'the one with an executor leads');
is_deeply([$lease->live($b)], ['a'], 'and is the only one who could');


# turned off and on, by turns: who leads is always the one with an executor

my ($on, $off) = ($a, $b);

for my $round (1 .. 4) {
    my $epoch = $lease->row->{epoch};

    $off->{manager} =~ s/executor off;//;
    $off->reload(wait_old => 1);

    wait_for('both could lead', sub { $lease->live($off) == 2 });

    $on->{manager} .= ' executor off;';

    my $since = time;

    $on->reload;

    is($lease->wait_leader($epoch, $off)->{name}, $off->{name},
       "round $round: the other one leads");
    cmp_ok(time - $since, '<', 10 * slow(),
           "round $round: without waiting for the lease to expire");
    is($lease->row->{epoch}, $epoch + 1, "round $round: in the next epoch");

    wait_for('it is out of the list', sub { $lease->live($off) == 1 });

    my $role = $lease->readyz($on);

    is("$role->{status} $role->{mode}", '200 follower',
       "round $round: the one without is ready, and follows");

    ($on, $off) = ($off, $on);
}

$lease->done;

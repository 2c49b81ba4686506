# An instance quits in the middle of something: while it acquires the lease,
# and right after a reload.  What it holds is released all the same, and it is
# out of the list of live instances: nobody waits for a lease of the dead.
#
# Goes red when: an acquire or a takeover that is granted to a worker on its way
# out is not released by it; the workers of one configuration leave that to
# those of the other, which never came to be executor workers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $settings = 'lease_duration 60s; renew_interval 300ms; '
               . 'acquire_interval 200ms;';


sub nothing_left {
    my ($lease, $name) = @_;

    my $store = $lease->{store};
    my $now = $store->now;

    cmp_ok($lease->row->{expires_at}, '<=', $now,
           "$name: nobody has the lease");
    is($store->value('SELECT count(*) FROM submission_manager_candidates'), 0,
       "$name: nobody is in the list");

    # whatever that was, what comes next does not have to wait for it

    $store->end_lease($now);
    $store->query('DELETE FROM submission_manager_candidates');
}


# while an acquire is out, that is then granted

{
    my $cluster = SubmissionCluster->new;
    my $lease = SubmissionCluster::Lease->new($cluster);
    my @instances = $lease->instances(['a', 'b'], store_timeout => '60s',
                                      manager => $settings);
    my $store = $cluster->store;

    $cluster->start;
    $lease->record;

    my $leader = $lease->wait_leader;
    my ($other) = grep { $_ != $leader } @instances;

    wait_for('the other one has asked', sub { $lease->events($other) });

    $lease->kill_tree($leader);

    my $lock = $store->lock;
    my $since = time;

    wait_for('it asks again, and waits', sub { time - $since > 0.5 });

    $other->signal('QUIT');
    wait_for('it retires', sub { $other->retiring_pids });

    # the lease of the dead one ends before the call goes on

    $store->unlock($lock, 'UPDATE submission_manager_leases '
                          . 'SET expires_at = ' . $store->now_sql,
                   'DELETE FROM submission_manager_candidates '
                   . "WHERE holder_id = '$leader->{name}'");

    $other->wait_gone;

    nothing_left($lease, 'acquire');

    $lease->check;
    $cluster->finish;
}


# with a reload under way: sooner and later

{
    my $cluster = SubmissionCluster->new;
    my $lease = SubmissionCluster::Lease->new($cluster);
    my ($instance) = $lease->instances(['c'], manager => $settings);

    for my $delay (0, 20, 50, 90, 110, 150, 200) {
        $instance->start;
        $lease->record if !$delay;
        $lease->wait_leader;

        my $since = time;

        $instance->signal('HUP');
        wait_for('a while', sub { 1000 * (time - $since) >= $delay });
        $instance->quit;

        nothing_left($lease, "reload, and quit $delay ms later");
    }

    $lease->done;
}

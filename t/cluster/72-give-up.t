# What an instance gives up it releases: another leads at once, and not when a
# lease of ten minutes has expired.
#
# - A reload with another holder_id, lease_name or store: the workers of the old
#   configuration release what those of the new one cannot take over.
# - An upgrade by USR2 that was taken back, and "kill -QUIT" of a single worker:
#   workers have said that they go, and the instance stays.  When it quits
#   later, it releases the lease as ever.
#
# Goes red when: an old worker leaves the lease to the new ones whatever it is
# about; these try to take over an epoch of another lease; what workers said
# when they went is still believed after others were started in their place.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'no_valgrind';
use SubmissionCluster;

my $settings = 'lease_duration 10m; renew_interval 300ms; '
               . 'acquire_interval 300ms;';

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# nginx that is not a daemon ignores USR2

my ($a) = $lease->instances(['a'], daemon => 1, manager => $settings);
my ($b) = $lease->instances(['b'], manager => $settings);
my $manager = $a->{manager};


# the holder that leads at this instance

sub leads {
    my ($instance, $holder) = @_;

    return wait_for("$holder leads", sub {
        my $role = $lease->readyz($instance) // return;
        $role->{mode} eq 'leader' && $role->{holder_id} eq $holder && $role;
    });
}


sub follows {
    wait_for('the other one is there', sub {
        my $role = $lease->readyz($b);
        $role && $role->{mode} eq 'follower' && $role->{status} == 200;
    });
}


# "a" leads, and gives up what it holds by this; "b" has it at once

sub gives_up {
    my ($name, $how) = @_;

    my $epoch = leads($a, 'a')->{lease_epoch};

    $b->start;
    follows();

    $how->();

    is(leads($b, 'b')->{lease_epoch}, $epoch + 1,
       "$name: another leads, in the next epoch");
}


# as it was in the beginning

sub again {
    $b->quit if $b->running;
    $a->{manager} = $manager;
    delete $a->{store};

    if ($a->running) { $a->reload(wait_old => 1) } else { $a->start }
}


$a->start;


# a reload

gives_up('lease_name', sub {
    $a->{manager} .= ' lease_name another;';
    $a->reload;
});
is(leads($a, 'a')->{lease_epoch}, 1, 'lease_name: it has another lease itself');
again();

gives_up('store', sub {
    $a->{store} = "sqlite $cluster->{dir}/store/another/another.db";
    $a->reload;
});
is(leads($a, 'a')->{lease_epoch}, 1, 'store: it leads in another itself');
again();

{
    my $epoch = leads($a, 'a')->{lease_epoch};

    $a->{manager} =~ s/holder_id a;/holder_id c;/;
    $a->reload(wait_old => 1);

    is(leads($a, 'c')->{lease_epoch}, $epoch + 1,
       'holder_id: it leads by its new name');
    is_deeply([$lease->live($a)], ['c'], 'holder_id: the old one is gone');

    # there and back, quicker than old workers go

    for my $id ('d', 'e', 'c', 'd') {
        $a->{manager} =~ s/holder_id \w+;/holder_id $id;/;
        $a->reload;
    }

    cmp_ok(leads($a, 'd')->{lease_epoch}, '>', $epoch + 1,
           'holder_id, again and again: it leads by the last one');
    wait_for('there is no other', sub { join(' ', $lease->live($a)) eq 'd' });

    $b->start;
    follows();
    $a->quit;
    ok(leads($b, 'b'), 'holder_id: a later quit releases the lease');
}
again();


# a worker that goes alone

for my $which (qw(executor other)) {
    leads($a, 'a');

    my ($executor) = $lease->executors($a);
    my ($other) = grep { $_ != $executor } $a->worker_pids;
    my $pid = $which eq 'executor' ? $executor : $other;

    $a->signal('QUIT', $pid);

    wait_for('there is another in its place', sub {
        !SubmissionCluster::Process::alive($pid) && $a->worker_pids == 2;
    });

    gives_up("kill -QUIT, the $which worker: a later quit", sub { $a->quit });
    again();
}


# an upgrade that is taken back

{
    leads($a, 'a');

    my $old = $a->pid_file;
    my @workers = $a->worker_pids($old);

    $a->signal('USR2', $old);

    my $new = wait_for('there is a new master', sub {
        my $pid = $a->pid_file;
        $pid && $pid != $old && ($a->pid_file('.oldbin') // 0) == $old && $pid;
    });

    wait_for('it has workers', sub { $a->worker_pids($new) == 2 });

    my @new = ($new, $a->worker_pids($new));

    $a->signal('WINCH', $old);

    wait_for('those of the old one are gone', sub {
        !grep { SubmissionCluster::Process::alive($_) } @workers;
    });

    leads($a, 'a');

    $a->signal('HUP', $old);

    wait_for('the old one has workers again',
             sub { $a->worker_pids($old) == 2 });

    $a->signal('QUIT', $new);

    wait_for('the new one is gone', sub {
        !(grep { SubmissionCluster::Process::alive($_) } @new)
        && ($a->pid_file // 0) == $old;
    });

    gives_up('USR2, and back: a later quit', sub { $a->quit });
}

$cluster->done;

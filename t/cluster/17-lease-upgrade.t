# A new binary by SIGUSR2: two masters with their workers share the lock file,
# and never two executor workers lead.  While the old master lives its executor
# worker goes on in its epoch; when it quits, the new one leads in a later
# epoch.  When the new binary is given up instead, nothing has happened.
#
# With its own holder_id the instance keeps it; the two masters then are one
# holder for the store, and only the lock file is between them.
#
# Goes red when: the lock file is not the same one for both binaries, or the old
# executor worker loses its lock when a process that has it open ends; the old
# workers leave the lease to a zone that the new binary does not know; the new
# binary gives up or takes over what the old one holds.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'no_valgrind';
use SubmissionCluster;

use constant UPGRADES => 3;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $settings = 'lease_duration 30s; renew_interval 200ms; '
               . 'acquire_interval 300ms;';

# nginx that is not a daemon ignores the signal

my ($a) = $lease->instances(['a'], daemon => 1, manager => $settings);

$a->start;
$lease->record;
$lease->wait_leader;

# others, which may get what is released in between

my ($b) = $lease->instances(['b'], manager => $settings);
my $c = $cluster->instance('c', executor => '', manager => $settings);

$_->start for $b, $c;


sub upgrade {
    my ($old) = @_;

    $a->signal('USR2', $old);

    my $new = wait_for('there is a new master', sub {
        my $pid = $a->pid_file;
        $pid && $pid != $old && ($a->pid_file('.oldbin') // 0) == $old && $pid;
    });

    wait_for('it has workers', sub { $a->worker_pids($new) == 2 });

    my $renewals = $lease->last_id;

    # each of them has had its chance

    wait_for('the lease is renewed, again and again', sub {
        4 <= grep { $_->{kind} eq 'renew' } $lease->history($renewals);
    });

    return $new;
}


sub end_master {
    my ($master) = @_;

    my @pids = ($master, $a->worker_pids($master));

    $a->signal('QUIT', $master);

    wait_for('it is gone', sub {
        !grep { SubmissionCluster::Process::alive($_) } @pids;
    });
}


# given up

{
    my $old = $a->pid_file;
    my $executor = $lease->executor($a);
    my $last = $lease->last_id;

    end_master(upgrade($old));

    my $renewals = $lease->last_id;

    wait_for('the old one goes on', sub {
        grep { $_->{kind} eq 'renew' } $lease->history($renewals);
    });

    is_deeply([grep { $_->{kind} !~ /renew|fence/ } $lease->history($last)], [],
              'given up: the lease has only been renewed');
    is_deeply([$lease->executors($a)], [$executor],
              'given up: by the same worker');
    is($lease->readyz($a)->{mode}, 'leader', 'given up: which leads');

    wait_for('the old one has its pid file again', sub {
        ($a->pid_file // 0) == $old;
    });
}


for my $upgrade (1 .. UPGRADES) {
    my $old = $a->pid_file;
    my @old = $a->worker_pids($old);
    my $last = $lease->last_id;
    my $executor = $lease->executor($a);
    my $row = $lease->row;

    my $new = upgrade($old);

    is_deeply([$lease->executors($a)], [$executor],
              "upgrade $upgrade: the old worker has the lock file");
    is_deeply([grep { $_->{kind} !~ /renew|fence/ } $lease->history($last)], [],
              "upgrade $upgrade: and the lease");

    end_master($old);
    $a->adopt($new);

    my $next = wait_for('there is a new executor worker', sub {
        ($lease->executors($a))[0];
    });

    ok(scalar(grep { $_ == $next } $a->worker_pids),
       "upgrade $upgrade: a new worker has the lock file");

    my $leader = $lease->wait_leader($row->{epoch});
    my @history = grep { $_->{kind} !~ /renew|fence/ } $lease->history($last);

    is("$history[0]{kind} $history[0]{epoch}", "release $row->{epoch}",
       "upgrade $upgrade: the old one released it");
    is($history[1]{kind}, 'acquire', "upgrade $upgrade: which was acquired");

    # another one may have it: it gives way

    if ($leader != $a) {
        $leader->quit;

        for my $other (grep { $_ != $leader && $_ != $a } $b, $c) {
            $other->quit;
        }

        $lease->wait_leader($row->{epoch}, $a);
        $_->start for $b, $c;
    }

    my $acquired = (grep { $_->{kind} eq 'acquired' } $lease->events($a))[-1];

    is($acquired->{pid}, ($lease->executors($a))[0],
       "upgrade $upgrade: the new executor worker leads");
}

is(scalar $a->processes, 3, 'one master, two workers, nobody else');

$lease->done;

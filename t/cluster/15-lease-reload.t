# Twenty reloads of the leader under load: it keeps leadership each time, in the
# next epoch, without a gap worth naming, and two executor workers never
# lead at the same time.  Reloads leave no worker, descriptor, zone or memory
# behind.  Then more reloads than can be followed.
#
# The retiring executor worker says that it has lost the lease before it gives
# the lock file away, and the next one says that it leads after it has taken
# over.  Both append to one log, whose order is therefore the order of events.
#
# Goes red when: a retiring worker releases the lease, so that others get it;
# keeps the lock file until its last request is done; goes on to lead while
# another does; the next worker waits for the lease to expire; our timers keep a
# worker; the lock file is opened anew and not closed, or closed by a worker.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { RELOADS => 20, SETTLED => 8, BURST => 6 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# no lease ends by itself here

my @instances = $lease->instances(['a' .. 'c'], manager =>
    'lease_duration 30s; renew_interval 300ms; acquire_interval 300ms;');

$cluster->start;
$lease->record;

my $leader = $lease->wait_leader;
my $master = $leader->master;
my $epoch = $lease->row->{epoch};
my $first = $epoch;
my $watch = $lease->watch($leader);
my $load = $cluster->load(instances => [$leader], connections => 8,
                          prefix => 'reload',
                          retry => ['unanswered_reused', 'refused']);


# shared memory of the master

sub zones {
    open(my $file, '<', "/proc/$master/maps") or die "maps: $!";

    return scalar grep { m{/dev/zero} } <$file>;
}


my ($memory, $descriptors, $zones, @late);

$load->start;
wait_for('there is load', sub { $load->count('answered') >= 50 });

for my $reload (1 .. RELOADS) {
    my $executor = $lease->executor($leader);
    my $answered = $load->count('answered');
    my $last = $lease->last_id;
    my $begun = time;

    $leader->reload;
    $lease->wait_leader($epoch++, $leader);

    my @grants = $lease->grants($last);

    is_deeply([map { "$_->{kind} $_->{holder} $_->{epoch}" } @grants],
              ["takeover $leader->{name} $epoch"],
              "reload $reload: the same instance took over, in the next epoch");

    wait_for('old workers are gone', sub {
        !SubmissionCluster::Process::alive($executor)
        && !$leader->retiring_pids;
    });

    wait_for('the load goes on', sub {
        $load->count('answered') >= $answered + 50;
    });

    push @late, $grants[0]{acquired_at} / 1e6 - $begun;

    if ($reload == SETTLED) {
        $memory = SubmissionCluster::Process::memory($master);
        $descriptors = SubmissionCluster::Process::descriptors($master);
        $zones = zones();
    }
}

my $gap = $watch->longest_gap;

cmp_ok($gap, '<', 5 * slow(), 'it was never without a leader for long');
is($leader->master, $master, 'the master is the same');

# those of a worker are closed a little after it is gone

ok(eval {
    wait_for('the master closes what it does not need', sub {
        SubmissionCluster::Process::descriptors($master) <= $descriptors;
    });
}, 'it has no more descriptors than before');
is(zones(), $zones, 'and as many zones');

my $grown = SubmissionCluster::Process::memory($master) - $memory;

SKIP: {
    # freed memory is kept aside there, and leaks are seen at exit
    skip("under $ENV{SUBMISSION_CHECK}", 1) if $ENV{SUBMISSION_CHECK};

    cmp_ok($grown, '<', 100, 'it has not grown');
}

is(scalar $leader->processes, 3, 'one master, two workers, nobody else');

my @events = grep { $_->{kind} =~ /^(?:acquired|lost)$/ }
             $lease->events($leader);
my @expected;

push @expected, "acquired $_", "lost $_ exit" for $first .. $epoch - 1;

is_deeply([map { join ' ', $_->{kind}, $_->{lease_epoch},
                           $_->{reason} // () } @events],
          [@expected, "acquired $epoch"],
          'each executor worker stopped before the next one began');

my %pids = map { $_->{pid} => 1 } grep { $_->{kind} eq 'acquired' } @events;

is(keys %pids, RELOADS + 1, 'each epoch was that of another worker');


# more than can be followed: some generations never come to lead

for my $reload (1 .. BURST) {
    my %old = map { $_ => 1 } $leader->worker_pids;

    $leader->signal('HUP');
    wait_for('there is a new worker', sub {
        grep { !$old{$_} } $leader->worker_pids;
    });
}

wait_for('it has settled', sub {
    $leader->worker_pids == 2 && !$leader->retiring_pids;
});

my $end = time;

wait_for('it leads', sub {
    $watch->leads && ($watch->leads)[-1]{sent} > $end;
});

is_deeply([grep { $_->{holder} ne $leader->{name} } $lease->grants], [],
          'no other instance was granted the lease');
is($lease->executors($leader), 1, 'there is one executor worker');

$watch->end;

$load->pause;
wait_for('all is answered', sub { !$load->{outstanding} });
$load->close;

is_deeply($load->{final}, {}, 'no request was lost');

note(sprintf 'at most %.0f ms without a leader; taken over at most %.0f ms '
             . 'after the signal; %d requests; the master has grown by %d kB',
     1000 * $gap, 1000 * (sort { $b <=> $a } @late)[0], $load->{results},
     $grown);

$lease->done;

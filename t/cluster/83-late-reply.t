# An answer that is late: the store renews the lease at once, by its own time, and
# the leader hears of it seconds later.  Then no renewal comes through at all.  The
# leader has stopped by itself before the lease runs out in the store, as its
# deadline counts from when it asked, not from when it was answered (G6).
#
# What is late is the worker: a write to a log that nobody reads holds it up while
# one of its threads renews the lease.
#
# Goes red when: the deadline counts from the answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { LEASE => 8, LATE => 3 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $store = $cluster->store;
my $pace = pace();
my ($a) = $lease->instances(
    ['a'], workers => 1, store_timeout => '60s',
    server => SubmissionCluster::Fifo::location(),
    manager => 'lease_duration ' . LEASE * $pace . 's; '
               . 'renew_interval 300ms; acquire_interval 500ms;');
my $fifo = SubmissionCluster::Fifo->new($a);

$cluster->start;
$lease->wait_leader;


# A renewal that is out waits for the lock; when the worker is held up the lock is
# given back, for that one alone.  Returns the row, or nothing if none was out.

sub late_renewal {
    my $lock = $store->lock;
    my $out = time + 1 * $pace;

    wait_for('a renewal is out', sub { time > $out });

    my $row = $lease->row;

    $fifo->block;
    $store->unlock($lock);

    my $end = time + 2 * $pace;
    my $renewed;

    wait_for('the lease is renewed', sub {
        $renewed = $lease->row;
        $renewed->{renewed_at} != $row->{renewed_at} || time > $end;
    });

    return $renewed if $renewed->{renewed_at} != $row->{renewed_at};

    $fifo->unblock;

    return;
}


my $row = wait_for('a renewal is late', sub { late_renewal() }, 60);
my $lock = $store->lock;
my $expires = $row->{expires_at} / 1e6;

wait_for('it is so by seconds', sub {
    time > $row->{renewed_at} / 1e6 + LATE * $pace;
});

$fifo->unblock;

my $watch = $lease->watch($a);

wait_for('the lease has run out in the store',
         sub { time > $expires + LATE * $pace });

$watch->end;
$store->unlock($lock);

my @leads = $watch->leads($row->{epoch});

ok((grep { $_->{sent} < $expires } @leads),
   'it says that it leads, after the late answer');
is_deeply([grep { $_->{sent} >= $expires } @leads], [],
          'and never when the lease has run out in the store');

note(sprintf 'it led until %.2f s before the lease ran out',
     $expires - $leads[-1]{sent}) if @leads;

my ($lost) = grep { $_->{kind} eq 'lost'
                    && $_->{lease_epoch} == $row->{epoch} }
             $lease->events($a);

is($lost->{reason}, 'deadline', 'its log says why');

$lease->done;

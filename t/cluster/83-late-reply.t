# A store whose answers come late: it renews the lease at once, by its own time,
# and says so only seconds later.  Then no renewal comes through at all.  The
# leader has stopped by itself before the lease runs out in the store, as its
# deadline counts from when it asked, not from when it was answered (G6).
#
# Goes red when: the deadline counts from the answer.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { LEASE => 8, LATE => 2 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $store = $cluster->store;
my $seconds = LEASE * slow();
my ($a) = $lease->instances(['a'], store_timeout => '60s',
                            manager => "lease_duration ${seconds}s; "
                                       . 'renew_interval 300ms; '
                                       . 'acquire_interval 500ms;');

$cluster->start;
$lease->wait_leader;
$store->slow_renew(LATE);

sub renewed {
    return scalar grep { $_->{kind} eq 'renewed' } $lease->events($a);
}

# the second one from now on was late for sure

my $before = renewed();

wait_for('a late answer has come', sub { renewed() >= $before + 2 });

my $lock = $store->lock;
my $watch = $lease->watch($a);
my $row = $lease->row;
my $expires = $row->{expires_at} / 1e6;
my $locked = time;

wait_for('the lease has run out in the store',
         sub { time > $expires + LATE }, $seconds + 20);

$watch->end;
$store->unlock($lock);

my @leads = $watch->leads($row->{epoch});

ok((grep { $_->{sent} > $locked && $_->{sent} < $expires } @leads),
   'it says that it leads, after the last answer');
is_deeply([grep { $_->{sent} >= $expires } @leads], [],
          'and never when the lease has run out in the store');

note(sprintf 'it led until %.2f s before the lease ran out',
     $expires - $leads[-1]{sent}) if @leads;

my ($lost) = grep { $_->{kind} eq 'lost'
                    && $_->{lease_epoch} == $row->{epoch} }
             $lease->events($a);

is($lost->{reason}, 'deadline', 'its log says why');

$lease->done;

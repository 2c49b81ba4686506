# Two instances with one holder_id, which is a mistake, and easily made: a copied
# configuration.  One leads.  The other's call for the lease fails, and its
# answer might have been lost; so a row of its own holder_id might be its own.
# It is not, and it is not given up: the one that leads goes on in its epoch.
#
# Then the leader is killed with all its processes: the other leads when the
# lease has run out, and not before.
#
# Goes red when: a row of one's own holder_id is taken for one's own.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $store = $cluster->store;
my $pace = $store->pace;
my $seconds = 10 * $pace;

# renewals wait as long as it takes, other calls do not

my ($a, $b) = map {
    $cluster->instance($_, executor => '',
                       store_timeout => $_ eq 'a' ? '30s' : '300ms',
                       manager => "lease_duration ${seconds}s; "
                                  . 'renew_interval 300ms; '
                                  . 'acquire_interval 500ms; holder_id x;');
} 'a', 'b';

$a->start;
$lease->wait_leader;
$b->start;

sub denials {
    return scalar grep { ($_->{reason} // '') eq 'held_by_another' }
           $lease->events($b);
}

wait_for('the other is denied the lease', sub { denials() });

$lease->record;

my $epoch = $lease->row->{epoch};
my $lock = $store->lock;

wait_for('a call of the other fails', sub {
    grep { ($_->{reason} // '') eq 'store_error' } $lease->events($b);
});

my $denied = denials();

$store->unlock($lock);

wait_for('it is denied again, twice', sub { denials() >= $denied + 2 });

is_deeply([map { "$_->{kind} $_->{epoch}" }
           grep { $_->{kind} !~ /renew|fence/ }
           $lease->history(1)],
          [], 'nobody has given the lease up, or taken it');
is($lease->row->{epoch}, $epoch, 'the epoch is the same');
is($lease->readyz($a)->{mode}, 'leader', 'the leader leads');
is($lease->readyz($b)->{mode}, 'follower', 'the other follows');

$a->kill_group;
$a->wait_gone;

my $expires = $lease->row->{expires_at};

wait_for('the other leads', sub { $lease->readyz($b)->{mode} eq 'leader' },
         $seconds + 10);

my ($grant) = grep { $_->{epoch} == $epoch + 1 } $lease->grants;

cmp_ok($grant->{acquired_at}, '>=', $expires, 'when the lease had run out');

$lease->done;

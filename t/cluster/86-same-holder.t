# Two instances with one holder_id, which is a mistake, and easily made: a copied
# configuration.  One leads.  The other's call for the lease fails, and its
# answer might have been lost; so a row of its own holder_id might be its own.
# It is not, and it is not given up: the one that leads goes on in its epoch.
#
# Both say what is wrong: in the log, in GET /v1/cluster and in the metrics.  A restart of
# an instance, which leaves its row behind, is no such mistake.
#
# Then the leader is killed with all its processes: the other leads when the
# lease has run out, and not before.
#
# Goes red when: a row of one's own holder_id is taken for one's own; nobody tells that
# there are two, or a restart is taken for two.

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

my $shared = qr/\[error\] .*holder_id_shared manager=main holder_id=x: another/;

$a->start;
$lease->wait_leader;
$lease->kill_tree($a);
$a->start;
$lease->wait_leader;

my $renewals = () = $lease->events($a);

wait_for('it leads again, and renews', sub {
    $renewals + 3 < (() = $lease->events($a));
});

is($a->log_count($shared), 0, 'a restart is no second instance');
is($a->metric('holder_id_shared'), 0, 'nor in the metrics');
ok(!$lease->cluster($a)->{instances}[0]{holderIdShared}, 'nor in /v1/cluster');

$b->start;

sub denials {
    return scalar grep { ($_->{reason} // '') eq 'held_by_another' }
           $lease->events($b);
}

wait_for('the other is denied the lease', sub { denials() });

for my $instance ($a, $b) {
    wait_for("$instance->{name} logs that there are two",
             sub { $instance->log_count($shared) });
    ok($lease->cluster($instance)->{instances}[0]{holderIdShared},
       "$instance->{name} shows it");
    wait_for("$instance->{name} counts it",
             sub { $instance->metric('holder_id_shared') == 1 });
}

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

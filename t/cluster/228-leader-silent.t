# A leader that is killed is shown as what it is before its lease has ended (G22):
# with the lease of nginx.conf.example, every other instance says within ten
# seconds, from its zone and by GET /v1/cluster, that the leader is not heard of,
# and since when.  When another one leads, the dead one is no follower: it is not
# heard of, until it is forgotten and the feed says that it is gone.  Until when
# it led is a time that has passed, and the same on every instance.
#
# Goes red when: a leader that is dead looks alive until its lease ends, or is
# listed as a follower after that; one that is alive is said to be silent; nobody
# leads, and the one that led last is said to have led until a time to come.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Views;

use constant SOON => 10;

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '10s', renew => '3s', acquire => '5s');
my $lease = $run->leadership;
my $views = SubmissionCluster::Views->new($run->instances);

my $leader = $run->start;
my @others = grep { $_ != $leader } $run->instances;

sub cluster {
    my ($instance) = @_;

    return decode_json(fetch($instance, 'GET', '/v1/cluster')->{body});
}

# an instance in the list of another one, by the zone and by the store

sub listed {
    my ($at, $who) = @_;

    my ($zone) = grep { $_->{id} eq $who->{name} } @{$views->overview($at)->{instances}};
    my ($store) = grep { $_->{holderId} eq $who->{name} } @{cluster($at)->{instances}};

    return ($zone, $store);
}

sub told {
    my ($at, $kind) = @_;

    return grep { $_->{kind} eq $kind }
           @{decode_json(fetch($at, 'GET', '/v1/events?limit=500')->{body})->{events}};
}


# while all are alive, nobody is said to be silent, over more than a heartbeat

wait_for('everybody knows everybody', sub {
    !grep { @{$views->overview($_)->{instances}} != 3 } $run->instances;
}, 30);

my (%beats, @silent);

wait_for('two heartbeats of everybody', sub {
    for my $at ($run->instances) {
        my $overview = $views->overview($at);

        push @silent, "the leader, on $at->{name}" if !$overview->{leader} || $overview->{leader}{silent};
        push @silent, map { "$_->{id} on $at->{name}" }
                      grep { $_->{silent} || !$_->{role} } @{$overview->{instances}};
    }

    for (@{cluster($leader)->{instances}}) {
        $beats{$_->{holderId}}{$_->{heartbeatAt}} = 1;
        push @silent, "$_->{holderId} in the store" if $_->{silent} || !$_->{role};
    }

    return 3 == grep { keys %$_ > 2 } values %beats;
}, 60);

is("@silent", '', 'all are heard of');


# the leader dies with all of its processes

my $epoch = $lease->row->{epoch};
my $before = $views->overview($others[0])->{now};

$lease->kill_tree($leader);

my $dead = time;
my %said;

wait_for('it is not heard of any more', sub {
    for my $at (@others) {
        my $overview = $views->overview($at);

        $said{$at->{name}} ||= { %$overview, took => time - $dead }
            if $overview->{leader} && $overview->{leader}{silent};
    }

    return keys %said == @others;
}, 2 * SOON * slow());

for my $at (@others) {
    my $overview = $said{$at->{name}};
    my ($row) = grep { $_->{id} eq $leader->{name} } @{$overview->{instances}};

    cmp_ok($overview->{took}, '<', SOON * slow(),
           sprintf '%s says so after %.1f s', $at->{name}, $overview->{took});
    is($overview->{leader}{holder}, $leader->{name}, 'whose lease it is');
    cmp_ok($overview->{leader}{leaseRemainingMs}, '>', 500, 'well before it ends');
    cmp_ok($overview->{leader}{heardAgeMs}, '>', 4000, 'how long that is ago');
    cmp_ok($overview->{leader}{heardAgeMs}, '<=', 1000 * $overview->{took} + 4000,
           'and not longer');
    ok($row->{silent}, 'and in the list');
}

my (undef, $stored) = listed($others[0], $leader);

ok($stored->{silent}, 'by the store, too');
is($stored->{role}, $lease->row->{epoch} == $epoch ? 'leader' : undef, 'its role there');


# another one leads: the dead one is not its follower

my $next = $lease->wait_leader($epoch);

my (@roles, @until);

wait_for('it is forgotten', sub {
    my $left = 0;

    for my $at (@others) {
        my $overview = $views->overview($at);
        my ($zone, $store) = listed($at, $leader);

        push @until, $overview->{lastLeader}{until} if $overview->{lastLeader};
        push @roles, grep { defined } $zone->{role}
            if $zone && $overview->{leader} && $overview->{leader}{holder} ne $leader->{name};

        if ($zone || $store) {
            $left++;
        }
    }

    return !$left;
}, 60 * slow());

is("@{[grep { $_ ne 'leader' } @roles]}", '', 'it is never listed as a follower');

wait_for('it is told that it is gone', sub {
    !grep { !told($_, 'instance_gone') } @others;
}, SOON * slow());


# who stops leading by itself knows when that was, and so do the others

$lease->wait_leader;
$run->store->away;

my ($was, @last) = ($views->overview($next));

wait_for('nobody leads', sub {
    @last = map { $views->overview($_) } @others;
    !grep { !$_->{lastLeader} } @last;
}, 30 * slow());

for my $overview (@last) {
    is($overview->{lastLeader}{holder}, $next->{name}, 'who led');
    cmp_ok($overview->{lastLeader}{until}, 'le', $overview->{now}, 'until a time that has passed');
    cmp_ok($overview->{lastLeader}{until}, 'gt', $before, 'and not long ago');
}

$run->store->back;
$lease->wait_leader;

$_->expect_log(qr/store/) for @others;
$run->expect_kills if $run->can('expect_kills');

$run->done;

# GET /v1/cluster says the same on every instance: the lease, and each live
# instance with its role.  An instance that was killed is listed until its entry
# expires by the store's time, and not longer; one that quits is out at once.
# When each has started does not change by an outage of the store, or a reload.
#
# Goes red when: an instance does not say that it lives, or only when it has
# the lease; entries expire by another clock, or not at all; a leader is told
# from what it said last rather than by the lease; a query asks only the
# instance's own view.

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
my @instances = $lease->instances(['a' .. 'd']);

# what an entry lasts: three times the longer interval

my $ttl = 1.5 * $store->pace;

my $time = qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

$cluster->start;
$lease->record;


sub roles {
    my ($instance) = @_;

    my $answer = $lease->cluster($instance) // return '';

    return join ' ', sort map { "$_->{holderId}=$_->{role}" }
                     @{$answer->{instances}};
}


sub expected {
    my ($leader, @others) = @_;

    return join ' ', sort "$leader->{name}=leader",
                          map { "$_->{name}=follower" } @others;
}


sub all_say {
    my ($name, $expected, @asked) = @_;

    my %said;
    my $ok = eval {
        wait_for("all say $expected", sub {
            %said = map { $_->{name} => roles($_) } @asked;
            !grep { $_ ne $expected } values %said;
        });
    };

    is_deeply(\%said, { map { $_->{name} => $expected } @asked }, $name);

    return $ok;
}


sub entry {
    my ($instance) = @_;

    my ($row) = $store->query(
        'SELECT heartbeat_at, expires_at FROM submission_manager_candidates '
        . "WHERE holder_id = '$instance->{name}'");

    return $row;
}


my $leader = $lease->wait_leader;
my @others = grep { $_ != $leader } @instances;

all_say('all list all', expected($leader, @others), @instances);


# what one answer says

for my $instance (@instances) {
    my $answer = $lease->cluster($instance);
    my $name = $instance->{name};

    is_deeply([sort keys %$answer], [qw(configuration instance instances lease)],
              "$name: what there is");
    is($answer->{instance}{holderId}, $name, "$name: knows itself");
    is($answer->{instance}{role}, $instance == $leader ? 'leader' : 'follower',
       "$name: and its role");
    is($answer->{lease}{holderId}, $leader->{name}, "$name: and who leads");
    is($answer->{lease}{leaseEpoch}, $lease->row->{epoch},
       "$name: in which epoch");
    ok(!$answer->{lease}{expired}, "$name: which lasts");
    is_deeply([grep { $_ !~ $time } @{$answer->{lease}}{qw(acquiredAt renewedAt
                                                          expiresAt)},
               map { @$_{qw(startedAt heartbeatAt)} }
               @{$answer->{instances}}],
              [], "$name: all times are times");
    is_deeply([grep { !length $_->{version} } @{$answer->{instances}}], [],
              "$name: each has a version");
}


# entries are kept alive: for longer than one would last

{
    my %started = map { $_->{holderId} => $_->{startedAt} }
                  @{$lease->cluster($leader)->{instances}};
    my $short;

    # where the machine lets them: one that is held up for a second is out

    for (1 .. 10) {
        my $begun = time;

        $short = 0;

        wait_for('an entry would have expired', sub {
            $short ||= $lease->live($leader) != 4;
            time - $begun > 2 * $ttl;
        });

        last if !$short;
    }

    ok(!$short, 'all stay in the list');
    is_deeply({ map { $_->{holderId} => $_->{startedAt} }
                @{$lease->cluster($leader)->{instances}} }, \%started,
              'with the times when they started');
}


# an outage of the store for longer than entries last; a reload, and one with a
# zone of another size

{
    my %started = map { $_->{holderId} => $_->{startedAt} }
                  @{$lease->cluster($leader)->{instances}};
    my $lock = $store->lock;
    my $begun = time;

    wait_for('all entries have expired', sub { time - $begun > 1.5 * $ttl });

    $store->unlock($lock);

    $leader = $lease->wait_leader;
    @others = grep { $_ != $leader } @instances;

    all_say('after an outage: all list all', expected($leader, @others),
            @instances);

    for my $zone (qw(1m 2m)) {
        $others[0]{zone} = $zone;
        $others[0]->reload(wait_old => 1);

        my $since = 1e6 * time;

        wait_for('the new worker has said that it lives', sub {
            my ($row) = $store->query(
                'SELECT heartbeat_at FROM submission_manager_candidates WHERE '
                . "holder_id = '$others[0]{name}'");
            $row && $row->[0] > $since;
        });

        is_deeply({ map { $_->{holderId} => $_->{startedAt} }
                    @{$lease->cluster($leader)->{instances}} }, \%started,
                  "after an outage, and a reload with a zone of $zone: they "
                  . 'have started when they did');
    }
}


# a follower dies

{
    my $victim = pop @others;

    $lease->kill_tree($victim);

    my ($beat, $expires) = @{entry($victim)};

    is($expires - $beat, 1e6 * $ttl, 'killed: the entry lasts for a while');

    # asked, answered, by the clock

    my ($in, $out);

    wait_for('the dead one is out of the list', sub {
        my $sent = time;
        my $listed = roles($leader) =~ /$victim->{name}=/;

        $in = $sent if $listed;
        $out = time if !$listed;

        $out;
    });

    # the store's time is rounded to a millisecond

    cmp_ok($out, '>=', $expires / 1e6 - 0.002,
           'killed: it was listed until that had expired');
    cmp_ok($in, '<', $expires / 1e6 + 0.002, 'killed: and not after that')
        if $in;

    all_say('killed: the others list the others', expected($leader, @others),
            $leader, @others);

    # by then it is a day old

    $store->query('UPDATE submission_manager_candidates '
                  . 'SET expires_at = expires_at - 86400000000 '
                  . "WHERE holder_id = '$victim->{name}'");

    wait_for('the entry is removed', sub { !entry($victim) });

    pass('killed: a day later nothing is left in the store');

    $victim->start;
    push @others, $victim;

    all_say('killed: when it is back all list it', expected($leader, @others),
            @instances);
}


# the leader dies: it is no leader any more when its lease is over

{
    my $epoch = $lease->row->{epoch};

    $lease->kill_tree($leader);

    my $next = $lease->wait_leader($epoch, @others);

    my $answer = $lease->cluster($next);

    is_deeply([map { $_->{holderId} }
               grep { $_->{role} eq 'leader' } @{$answer->{instances}}],
              [$next->{name}],
              'leader killed: there is one leader in the list');
    is($answer->{lease}{holderId}, $next->{name},
       'leader killed: who has the lease');

    $leader = $next;
    @others = grep { $_ != $next } @others;

    all_say('leader killed: all agree', expected($leader, @others), $leader,
            @others);
}


# one that quits is out when it is gone, be it a follower or the leader

{
    my $follower = pop @others;

    $follower->quit;

    is(roles($leader), expected($leader, @others),
       'quit: a follower is out at once');

    my $epoch = $lease->row->{epoch};
    my $quit = $leader;

    $quit->quit;

    is(entry($quit), undef, 'quit: so is the leader');
    is_deeply([$lease->live($others[0])], [map { $_->{name} } @others],
              'quit: the last one is alone');

    $leader = $lease->wait_leader($epoch);
    @others = ();

    all_say('quit: and leads', expected($leader), $leader);
}

$lease->done;

# What is shown while the store is away (G22).  The database server is stopped,
# and it is frozen with SIGSTOP, so that it takes connections and does not answer.
# Nobody posts anything meanwhile.  Within ten seconds the leader and the other
# instance say so in every view, in /readyz and in the metrics, with the reason;
# each look is answered 200 at once.  When the lease is over, nobody is called
# leader, and who led last is named, on both.  An instance that is started
# meanwhile answers, too, with what it knows.  Ten seconds after the server is
# back, all say that it is up.
#
# Goes red when: a view asks the store, or waits for it; the state comes from the
# last request; a call that hangs is noticed at its time-out only; a follower does
# not notice by itself; the leader's name outlives its lease, or is forgotten with
# it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;
use SubmissionCluster::Views;

# a follower commits once in 30 s, and calls may take a minute

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '12s', renew => '5s', acquire => '30s',
    instance => { store_timeout => '60s' });
my ($cluster, $lease) = ($run->cluster, $run->leadership);
my $proxy = $server->proxy($cluster);

$server->options('login_timeout=60s');

my $leader = $run->start;
my ($follower) = grep { $_ != $leader } $run->instances;
my $views = SubmissionCluster::Views->new($leader, $follower);

$run->post($run->ids('before', 5));
$run->wait_terminal('before-', 30);

wait_for('both have numbers', sub {
    2 == grep { defined $views->overview($_)->{asOf} } $leader, $follower });


sub outage {
    my ($name, %do) = @_;

    $leader = $lease->wait_leader;
    ($follower) = grep { $_ != $leader } $run->instances;

    $views->all_say('up', "$name: before");

    my $before = $views->overview($follower);

    is($before->{leader}{holder}, $leader->{name}, "$name: one leads");

    $do{begin}->();
    $views->all_say('down', $name);

    my $now = $views->overview($follower);

    like($now->{store}{lastError}, $do{error}, "$name: with the reason");
    ok($now->{store}{since} && $now->{store}{lastErrorAt}, "$name: and since when");
    cmp_ok($now->{store}{since}, 'ge', $before->{now}, "$name: which is not before");
    is_deeply([map { $_->{id} } @{$now->{instances}}],
              [map { $_->{id} } @{$before->{instances}}],
              "$name: the instances are remembered");
    ok(defined $now->{totals} && defined $now->{asOf}, "$name: and the numbers");

    # the lease is over

    my $until;

    for my $instance ($leader, $follower) {
        my $said;

        wait_for("$instance->{name}: nobody leads", sub {
            $said = $views->overview($instance);
            !defined $said->{leader};
        }, 30);

        is($said->{role}, 'follower', "$name: $instance->{name} does not lead");
        is($said->{lastLeader}{holder}, $leader->{name},
           "$name: $instance->{name} knows who led");
        is($said->{lastLeader}{since}, $before->{leader}{since},
           "$name: since when");
        cmp_ok($said->{lastLeader}{until}, 'le', $said->{now},
               "$name: until a time that has passed");
        $until ||= $said->{lastLeader}{until};
        is($said->{lastLeader}{until}, $until, "$name: which both know");
        is_deeply([grep { $_->{role} ne 'follower' } @{$said->{instances}}], [],
                  "$name: nor does any other");
    }

    my $age = $views->overview($leader)->{statsAgeSeconds};

    wait_for("$name: the numbers grow old", sub {
        $views->overview($leader)->{statsAgeSeconds} > $age }, 10);

    $do{meanwhile}->() if $do{meanwhile};

    $views->check($name);

    $do{end}->();
    $views->all_say('up', "$name: over");
    $lease->wait_leader;

    wait_for("$name: there are new numbers", sub {
        2 == grep { ($views->overview($_)->{statsAgeSeconds} // 99) < 10 }
                  $leader, $follower }, 30);

    $views->check("$name: over");
}


outage('stopped', error => qr/^postgres: /,
       begin => sub { $server->kill },
       meanwhile => sub {

           # somebody opens a page of an instance that has just been started

           $lease->kill_tree($follower);
           $follower->spawn;

           wait_for('it answers', sub {
               (fetch($follower, 'GET', '/healthz')->{status} // 0) == 200 });

           my $fresh = SubmissionCluster::Views->new($follower);

           $fresh->all_say('down', 'fresh');

           my $said = $fresh->overview($follower);

           is($said->{asOf}, undef, 'fresh: it has no numbers');
           is($said->{totals}, undef, 'fresh: nor totals');
           is($said->{leader}, undef, 'fresh: it knows no leader');
           is($said->{lastLeader}, undef, 'fresh: nor an older one');
           is($said->{clocks}{store}, undef, 'fresh: nor the time of the store');

           my $list = $fresh->view($follower, 'targets');

           is_deeply([grep { $_->{target} eq 'sms.realtime' && !defined $_->{due} }
                           @{$list->{targets}}] > 0, 1,
                     'fresh: its targets are those of the configuration');
           $fresh->check('fresh');
       },
       end => sub { $server->recover });


my @frozen;

outage('frozen', error => qr/no answer/,
       begin => sub { @frozen = $server->freeze },
       end => sub { kill('CONT', @frozen) });

# a store that takes no commits, and then answers nothing any more

$run->store->reconnect;
$lease->wait_leader;
$views->all_say('up', 'failing: before');
$run->store->fill;
$views->all_say('failing', 'failing');

@frozen = $server->freeze;
$views->all_say('down', 'failing and frozen');
like($views->overview($_)->{store}{lastError}, qr/no answer/,
     "failing and frozen: $_->{name} says why") for $run->instances;

kill('CONT', @frozen);
$run->store->reconnect;
$run->store->make_room;
$views->all_say('up', 'failing: over');
$lease->wait_leader;
$views->check('failing: over');

$run->done;

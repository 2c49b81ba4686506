# What is posted to a follower is told to the leader, and sent at once: here the
# next refresh is after the end of the test, so that nothing else can be why.
# So for every follower, for an instance with "executor off", after another one
# leads, and after a reload with another wake_url.  Wakes from outside change
# nothing, and a follower passes none on.
#
# Goes red when: nobody is told, or only once; the old leader is told for ever,
# or the URL of the old configuration is; an instance with "executor off" does
# not ask who leads; whoever is woken wakes others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use List::Util qw(sum);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '2s', refresh => '10m');
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my ($off) = $lease->instances(['d'], executor => 'off',
                              targets => $run->targets);

for my $instance ($run->instances, $off) {
    $instance->{manager} .= " wake_url http://127.0.0.1:$instance->{port}/_wake;";
    $instance->{server} = 'location = /_wake { submission_wake main; '
                          . 'allow 127.0.0.1; deny all; }';
}

my $leader = $run->start;


sub metric {
    my ($instance, $name) = @_;

    return $instance->metric("wakes_${name}_total");
}


sub wait_metric {
    my ($instance, $name, $least) = @_;

    wait_for("$instance->{name} has $name $least wakes",
             sub { metric($instance, $name) >= $least });
}


# one after the other, so that each needs a wake of its own

sub through {
    my ($instance, $prefix, $n) = @_;

    my @took;

    for my $id ($run->ids($prefix, $n)) {
        $run->post({ instances => [$instance] }, $id);
        wait_for("$id is sent", sub { $gateway->sends_of($id) }, 30);
        push @took, ($gateway->sends_of($id))[0]{time} / 1e6
                    - $run->{posted}{$id}{sent};

        # by a sweep now and then: that is enough to see

        last if sum(@took) > 60;
    }

    @took = sort { $a <=> $b } @took;

    note(sprintf '%s: p50 %.1f ms, at most %.1f ms', $prefix,
         1000 * $took[@took / 2], 1000 * $took[-1]);

    cmp_ok($took[@took / 2], '<', 2 * slow(),
           "$prefix: what $instance->{name} took is sent at once");
}


my @followers = grep { $_ != $leader } $run->instances;

# a new leader is told once, when it is known

wait_metric($leader, 'received', scalar @followers);

for my $follower (@followers) {
    my $sent = metric($follower, 'sent');

    through($follower, "by-$follower->{name}", 15);
    wait_metric($follower, 'sent', $sent + 15);
    is(metric($follower, 'failed'), 0, 'none has failed');
    is(metric($follower, 'received'), 0, 'nobody wakes a follower');
}

is(metric($leader, 'sent'), 0, 'the leader tells nobody');
through($leader, 'by-leader', 3);
is(metric($leader, 'sent'), 0, 'nor of what it took itself');

through($off, 'off', 15);
wait_metric($off, 'sent', 15);
cmp_ok(metric($off, 'sent'), '>=', 15, 'an instance without an executor tells');

my $calls = $off->calls('lease_watch');

cmp_ok($calls, '>=', 1, 'and has asked the store who leads');
cmp_ok($calls, '<', 15, 'but not each time');


# many at once are few

{
    my $before = metric($leader, 'received');

    $run->post({ instances => \@followers }, $run->ids('many', 1000));
    $run->wait_terminal('many-', 60);

    my $wakes = metric($leader, 'received') - $before;

    note("$wakes wakes for 1000 intents");
    cmp_ok($wakes, '<', 1000, 'there is not one for each');
}


# anyone may say so, as often as they like

{
    my @quiet = ($followers[1], $leader);
    my @sent = map { metric($_, 'sent') } @quiet;
    my $epoch = $lease->row->{epoch};
    my %codes;

    for my $instance ($run->instances) {
        $codes{fetch($instance, 'POST', '/_wake')->{status}}++ for 1 .. 100;
        $codes{fetch($instance, 'POST', '/_wake', 'x' x 5000)->{status}}++;
        $codes{fetch($instance, 'GET', '/_wake')->{status}}++;
    }

    is_deeply(\%codes, { 204 => 303, 405 => 3 }, 'each is answered');
    through($followers[0], 'forged', 3);
    is($lease->row->{epoch}, $epoch, 'the lease is as it was');
    is_deeply([map { metric($_, 'sent') } @quiet], \@sent,
              'none is passed on');
}


# a reload: the old URL is gone

{
    my $epoch = $lease->row->{epoch};
    my $received = metric($leader, 'received');

    $leader->{$_} =~ s/_wake\b/_other/ for qw(manager server);
    $leader->reload(wait_old => 1);
    is($lease->wait_leader($epoch), $leader, 'it leads as before');
    wait_metric($leader, 'received', $received + @followers);

    through($_, "reload-$_->{name}", 5) for @followers;

    my $asked = time;

    wait_for('a second is over', sub { time - $asked > 1 });
    $run->post({ instances => [$off] }, 'off-learns');
    wait_for('it is sent', sub { $gateway->sends_of('off-learns') }, 30);
    through($off, 'reload-off', 5);
}


# another one leads

{
    my $epoch = $lease->row->{epoch};

    $lease->kill_tree($leader);
    $leader = $lease->wait_leader($epoch, @followers);
    my ($follower) = grep { $_ != $leader } @followers;

    wait_metric($leader, 'received', 1);
    through($follower, 'failover', 5);

    $run->post({ instances => [$off] }, 'failover-off-learns');
    wait_for('it is sent', sub { $gateway->sends_of('failover-off-learns') },
             30);
    through($off, 'failover-off', 5);
}

$run->wait_terminal('');

$run->done;

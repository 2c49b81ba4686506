# A new leader has not read yet what the leader before has told: its metrics say
# nothing of the health and the state of targets.  They would say that a target
# works that is down, or paused, and end the alert of it (G22).
#
# Goes red when: a leader tells the state of its targets before it has read what
# was told.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'postgres';
use SubmissionCluster;

use constant SOON => 10;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '3s',
    targets => { 'sms.dead' => { path => '/dead', policy => 'deadline 1h' } });
my ($lease, $store) = ($run->leadership, $run->store);
my $leader = $run->start(record => 0);


sub told {
    my ($instance, $what) = @_;

    my $metrics = $instance->metrics;

    return join ' ', map { /target="sms\.dead",state="(\w+)"/ ? $1 : () }
                     grep { /^$what\{/ && $metrics->{$_} } sort keys %$metrics;
}


$run->gateway->behave('/dead' => 'reset');
$run->post(map { ["dead-$_", 'sms.dead'] } 1 .. 4);

for my $instance ($run->instances) {
    wait_for("$instance->{name}: it is told to be down", sub {
        fetch($instance, 'GET', '/v1/targets/sms.dead')->{body}
            =~ /"health":\{"state":"down"/;
    }, SOON);
}


# the next leader has to wait before it can read which targets are paused

my $other = $store->begin('RESET ROLE', 'LOCK TABLE submission.submission_targets '
                          . 'IN ACCESS EXCLUSIVE MODE');

my $epoch = $lease->row->{epoch};

$leader->kill_group;
$leader = $lease->wait_leader($epoch);

my %seen;

wait_for('it has renewed the lease twice', sub {
    $seen{$lease->row->{renewed_at}} = 1;
    return keys %seen == 3;
});

is(told($leader, 'target_health'), '', 'it says nothing of the health of a target');
is(told($leader, 'target_state'), '', 'nor of its state');

$store->rollback($other);

wait_for('it has read', sub { told($leader, 'target_health') }, SOON);
is(told($leader, 'target_health'), 'down', 'then it says what was told');

$run->gateway->behave('/dead' => undef);
$run->expect_kills;
$run->wait_terminal('', 60);
$run->done;

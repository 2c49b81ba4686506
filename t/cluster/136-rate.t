# The rate of a target is the cluster's: however often the leader is killed, no
# window of time at the gateway has more than rate * window + burst requests, by
# the gateway's own clock; and the rate is used (G15).  Another target is not
# held up.
#
# SUBMISSION_TEST_LONG=1: 50 kills, a third of them of whole instances.
#
# Goes red when: a new leader begins with a full bucket; tokens are charged when
# an attempt is begun and not when it leaves, or not at all; a limited target
# keeps its place at the head of the queue.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { RATE => 40, BURST => 30 };

my $long = $ENV{SUBMISSION_TEST_LONG};
my $kills = $long ? 50 : 5;
my $intents = $kills * RATE * ($long ? 2 : 1.2);

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '1s', renew => '200ms',
    acquire => '200ms', executor => 'concurrency=64',
    targets => { 'sms.limited' => { path => '/limited', concurrency => 64,
                                    policy => 'max_attempts 100',
                                    limit => 'rate=' . RATE . 'r/s burst='
                                             . BURST } });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my @instances = $run->instances;

$run->start;


sub limited { return grep { $_->{path} =~ m{^/limited} } $gateway->sends }


$run->post(map { [$_, 'sms.limited'] } $run->ids('limited', $intents));

my $began = time;

$run->post($run->ids('free', 50));
$run->wait_terminal('free-', 10 * slow());

cmp_ok(scalar limited(), '<', $intents,
       'another target was done before the limited one');

# killed in the middle of it, again and again

for my $k (1 .. $kills) {
    my $n = limited();

    last if $n >= $intents;     # too fast: there is nothing to kill it for

    my $leader = $lease->wait_leader;

    $gateway->wait_for_sends($n + RATE / 4, timeout => 30 * slow(), which =>
                             sub { $_[0]{path} =~ m{^/limited} });

    if ($k % 3 == 2) {
        $lease->kill_tree($leader);
        $leader->spawn;

    } else {
        my ($pid) = $lease->executors($leader);

        $lease->kill($leader, $pid) if $pid;
    }
}

# and then in peace

my $calm = time;
my $there = limited();

$run->wait_terminal('limited-', 120 * slow());

my @sends = limited();
my %epochs = map { $_->{epoch} => 1 } @sends;
my $over = $run->excess(RATE, BURST, @sends);

cmp_ok(scalar keys %epochs, '>', $kills * 0.6,
       scalar(@sends) . ' sends by ' . keys(%epochs) . ' leaders');
cmp_ok($over, '<=', 0, "no window has more than it may have: $over");

my $rest = @sends - $there;

cmp_ok($rest / (time - $calm + 0.01), '>', RATE * 0.5 / slow(),
       'the rate is used') if $rest > RATE;

is_deeply($run->statuses('limited-'), { accepted => $intents },
          'all is sent');

$_->wait_ready for @instances;
$run->expect_kills;

$run->done;

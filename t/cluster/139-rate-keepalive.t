# A rate is used in full where nginx has connections to the gateway already, and
# the gateway is slow: what has left takes no more of the burst, whether or not
# its answer has come.
#
# Goes red when: the token of an attempt that goes over a kept-alive connection
# stays reserved until its answer; then burst / latency is all that is sent.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { RATE => 100, BURST => 2, DELAY => 0.5, INTENTS => 200 };

my $run = SubmissionCluster::Executor->new(
    executor => 'concurrency=128',
    targets => { 'sms.limited' => { concurrency => 128, policy => 'max_attempts 5',
                                    limit => 'rate=' . RATE . 'r/s burst=' . BURST } });
my $gateway = $run->gateway;

$run->start;

# the upstream of the tests keeps its connections: these are as many as are used at a
# time

$run->post($run->ids('first', RATE * DELAY * 2));
$run->wait_terminal('first-');

$gateway->behave('limited-' => 'delay ' . 1000 * DELAY);

$run->post(map { [$_, 'sms.limited'] } $run->ids('limited', INTENTS));
$run->wait_terminal('limited-', 60 * slow());

my @at = sort { $a <=> $b } map { $_->{monotonic} }
         grep { $_->{id} =~ /^limited-/ } $gateway->sends;
my $seconds = $at[-1] - $at[0];

is(scalar @at, INTENTS, 'all were sent');

# so much less than burst / latency would take is the rate, on a busy machine, too

my $slowest = INTENTS * DELAY / BURST;

cmp_ok($seconds, '<', $slowest / 2,
       sprintf 'within %.1f s: the rate would take %.1f s, and burst / latency %.1f s',
               $seconds, (INTENTS - BURST) / RATE, $slowest);
cmp_ok($seconds, '>', (INTENTS - BURST) / RATE - 0.2, 'no faster than it may be');

$run->done;

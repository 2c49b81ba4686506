# The gateway of one target hangs: as many attempts as the target may have are
# stuck, hundreds wait.  Another target does not notice: its time from the POST
# to the gateway is what it was before, by comparison in one run.
#
# Goes red when: a target may take all places of the executor; what is due
# waits in one line, whose head cannot go; places are counted but not given
# back.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

# A factor and, as it takes a few milliseconds, noise.  A machine that is busy
# just then is asked again: who waits for places of another does so all the time.

use constant { HUNG => 60, INTENTS => 400, FACTOR => 3, NOISE => 0.1,
               TRIES => 10 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '10s', executor => 'concurrency=100',
    targets => { 'sms.hung' => { path => '/hung', policy => 'deadline 1h',
                                 concurrency => HUNG } });
my $gateway = $run->gateway;

$run->start;
$gateway->behave('/hung' => 'hold');


sub measure {
    my ($name) = @_;

    $run->post({ connections => 4 }, $run->ids($name, INTENTS));
    $run->wait_terminal("$name-");

    my @seconds = sort { $a <=> $b } map {
        ($gateway->sends_of($_))[0]{time} / 1e6 - $run->{posted}{$_}{sent};
    } $run->ids($name, INTENTS);

    note(sprintf '%s: median %.1f ms, p99 %.1f ms, at most %.1f ms', $name,
         map { 1000 * $_ } @seconds[@seconds / 2, 0.99 * @seconds, -1]);

    return $seconds[0.99 * @seconds];
}


measure('first');

my $before = measure('before');

$run->post(map { [$_, 'sms.hung'] } $run->ids('hung', 5 * HUNG));
$gateway->wait_for_held(HUNG);

my $bound = FACTOR * $before + NOISE * slow();
my $during;

for my $try (1 .. TRIES) {
    $during = measure("during$try");
    last if $during < $bound;
}

is($gateway->held, HUNG, 'the target has all its places, and no more');
is($run->store->in_flight, HUNG, 'the store says the same');
cmp_ok($during, '<', $bound, 'others are as quick as before');

# the rest of them, as places become free

$gateway->release;
$gateway->wait_for_held(HUNG);
pass('places are given back');

$gateway->behave('/hung' => undef);
$gateway->release;
$run->wait_terminal('hung-');
is_deeply($run->statuses('hung-'), { accepted => 5 * HUNG }, 'and all go');

$run->done;

# The gateway of one target hangs, and the target has no bound of its own: it
# came first, was alone, and had time to take all that it may.  Intents of
# another target, which come then, still go out at once.
#
# Goes red when: a target without a bound takes all places of the executor while
# nobody else wants them, and keeps them until its gateway's time-outs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { CONCURRENCY => 90, HUNG => 300, OTHERS => 200 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '10s',
    executor => 'concurrency=' . CONCURRENCY,
    targets => {
        'sms.hung' => { path => '/hung', concurrency => 0 },
        'push.hung' => { type => 'push', path => '/hung', concurrency => 0 },
        'sms.other' => { concurrency => 0 },
    });
my ($gateway, $store) = ($run->gateway, $run->store);

# what it may take: eight times what it leaves

my $share = CONCURRENCY * 8 / 9;

$run->start;
$gateway->behave('/hung' => 'hold');

$run->post(map { [$_, 'sms.hung'] } $run->ids('hung', HUNG));
$gateway->wait_for_held($share);
$gateway->quiet_for(0.5);

is($gateway->held, $share, 'the target has all that it may, alone');
is($store->in_flight, $share, 'the store says the same');


sub others {
    my ($name) = @_;

    $run->post(map { [$_, 'sms.other'] } $run->ids($name, OTHERS));
    $run->wait_terminal("$name-");

    is_deeply($run->statuses("$name-"), { accepted => OTHERS },
              "$name: another target's intents all go out");
    is_deeply([grep { $gateway->sends_of($_) != 1 } $run->ids($name, OTHERS)],
              [], "$name: once each");
}


others('first');
is($gateway->held, $share, 'while nothing that hangs has ended');

# a second one hangs: it has its part of what is left, and leaves some too

$run->post(map { [$_, 'push.hung'] } $run->ids('more', HUNG));
$gateway->wait_for_held($share + 1);
$gateway->quiet_for(0.5);

cmp_ok($gateway->held, '<', CONCURRENCY, 'two that hang leave something');
others('second');

$gateway->behave('/hung' => undef);
$gateway->release;
$run->wait_terminal('hung-');
$run->wait_terminal('more-');

is_deeply($run->statuses, { accepted => 2 * HUNG + 2 * OTHERS }, 'all go');

$run->done;

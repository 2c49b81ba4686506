# Waiting for an attempt that the own instance makes, and what its metrics say
# meanwhile.
#
# A client that waits is told when its attempt is recorded, not at the next look
# at the store, 250 ms after it began to wait. Breaks when the executor worker
# tells nobody, when a worker other than that one does not listen, when a gauge
# is left behind by a worker that died.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { INTENTS => 31, LOOK => 0.25, HELD => 40, TRIES => 10 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '10s', instance => { workers => 2 },
    targets => { 'sms.held' => { path => '/held', concurrency => HELD } });
my $gateway = $run->gateway;

my $instance = $run->start;

# Who is told by looking is so after a look, each time; a machine that is too
# busy to tell is asked again.

my @seconds;

for my $try (1 .. TRIES) {
    my %statuses;

    @seconds = ();

    for my $id ($run->ids("wait$try", INTENTS)) {
        my $payload = qq({"for":"$id"});
        my $began = time;

        my $result = fetch($instance, 'POST', '/v1/intents?waitSeconds=20',
                           SubmissionCluster::Client::intent($id, $payload));

        push @seconds, time - $began;
        $statuses{decode_json($result->{body})->{status}}++;
    }

    is_deeply(\%statuses, { accepted => INTENTS },
              'each has waited for its attempt');

    @seconds = sort { $a <=> $b } @seconds;

    last if $seconds[INTENTS / 2] < LOOK;
}

cmp_ok($seconds[INTENTS / 2], '<', LOOK, 'and was told of it')
    or diag("@seconds");


sub gauges {
    return join ' ', map { $instance->metric($_) }
                     qr/^queue_depth\{.*state="(?:due|waiting)"/,
                     qr/^queue_depth\{.*state="in_flight"/, 'inflight_attempts';
}

$gateway->behave('/held' => 'hold');
$run->post(map { [$_, 'sms.held'] } $run->ids('held', 3 * HELD));
$gateway->wait_for_held(HELD);

wait_for('the gauges', sub { gauges() eq 2 * HELD . ' ' . HELD . ' ' . HELD });
pass('what waits in the queue and what is at gateways');

$gateway->behave('/held' => undef);
$gateway->release;
$run->wait_terminal('held-');

wait_for('the gauges', sub { gauges() eq '0 0 0' });
pass('nothing any more');

$run->done;

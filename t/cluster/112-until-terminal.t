# Waiting for the end of an intent, on the instance that leads: clients are told,
# and the store is not asked meanwhile.
#
# A first attempt that fails does not end the wait; the retry that is accepted does,
# within milliseconds.  While nothing happens the leader's instance asks the store
# every two seconds, not four times a second; a follower has nothing else to go by.
#
# Goes red when: notices are not heeded, an attempt ends the wait, the leader's
# instance looks at the store as a follower does, or a follower does not.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { INTENTS => 15, TOLD => 0.15, TRIES => 10, WATCH => 5 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', instance => { workers => 2 },
    targets => { 'sms.twice' => { path => '/twice', retry => '100ms' },
                 'sms.held' => { path => '/held' } });
my ($gateway, $lease) = ($run->gateway, $run->leadership);

$gateway->behave('/twice' => 'fail 1', '/held' => 'hold');
$run->start;

my $leader = $lease->wait_leader;
my ($follower) = grep { $_ != $leader } $run->instances;


sub calls { return $_[0]->calls('intents_get') }


# POST, and a GET beside it; the time after the end of the last attempt

sub wait_one {
    my ($instance, $id, $target) = @_;

    my $body = SubmissionCluster::Client::intent($id, '{}', $target);
    my $answer = fetch($instance, 'POST',
                       '/v1/intents?waitSeconds=20&until=terminal', $body);
    my $told = time;
    my $intent = decode_json($answer->{body});
    my ($send) = reverse $gateway->sends_of($id);

    return ($intent, $told - $send->{time} / 1e6);
}


for my $try (1 .. TRIES) {
    my (@seconds, %seen);

    for my $id ($run->ids("twice$try", INTENTS)) {
        my ($intent, $seconds) = wait_one($leader, $id, 'sms.twice');

        $seen{"$intent->{status} $intent->{attemptCount}"}++;
        push @seconds, $seconds;
    }

    is_deeply(\%seen, { 'accepted 2' => INTENTS },
              'each has waited for its end, not for its first attempt');

    @seconds = sort { $a <=> $b } @seconds;

    next if $seconds[INTENTS / 2] > TOLD && $try < TRIES;

    cmp_ok($seconds[INTENTS / 2], '<', TOLD, 'and was told of it')
        or diag("@seconds");
    last;
}

my ($intent) = wait_one($follower, 'elsewhere', 'sms.twice');

is("$intent->{status} $intent->{attemptCount}", 'accepted 2',
   'so has one on a follower');


# one that takes long: on each instance a client waits for it

$run->post(['long', 'sms.held']);
$gateway->wait_for_held(1);

is(decode_json(fetch($leader, 'GET', '/v1/intents/long')->{body})->{inFlight},
   JSON::PP::true, 'it is in flight, and GET says so');

my ($end, @answers);

for my $instance ($leader, $follower) {
    SubmissionCluster::Connection->open($instance->{port})->send(
        SubmissionCluster::Client::request('GET',
                                           '/v1/intents/long?waitSeconds=25'),
        sub { push @answers, $_[0] });
}

$end = time + 0.5;
wait_for('both wait', sub { time > $end });

my @before = map { calls($_) } $leader, $follower;
$end = time + WATCH;

wait_for('some time', sub { time > $end });

my @calls = map { calls($_) - shift @before } $leader, $follower;

cmp_ok($calls[0], '<=', 1 + WATCH / 2, "the leader asks $calls[0] times");
cmp_ok($calls[1], '>=', WATCH, "the follower $calls[1] times");

my $released = time;

$gateway->release;

wait_for('two answers', sub { @answers == 2 });
like($_->{body} // '', qr/"status":"accepted"/, 'answered at the end')
    for @answers;
cmp_ok(time - $released, '<', 8 * slow(), 'soon');

$run->done;

# The worker has no descriptor left to connect to a gateway with.  What it has
# begun, and has not sent for that, is no attempt: one_shot and max_attempts are
# not used up by it, however often it happens; and when there are descriptors
# again all is sent, as the first attempt.  Meanwhile the target is shown as down,
# with the reason (G22).
#
# Goes red when: a failure of this host is recorded as one of the gateway; it is
# tried again at once, all the time; the target is shown as ok while nothing
# leaves; a circuit opens for it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'prlimit';
use SubmissionCluster;

use constant INTENTS => 3;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.shot' => { policy => 'one_shot' },
                 'sms.last' => { policy => 'max_attempts 1' } },
    instance => { workers => 1, dispatch => 'proxy_set_header Connection close;' });
my ($gateway, $store) = ($run->gateway, $run->store);
my $a = $run->start;
my ($worker) = $a->worker_pids;


# all that is opened once, is open

$run->post(map { ["warm-$_", $_] } qw(sms.shot sms.last));
$run->wait_terminal('warm-');

my $answered = 0;
my $client = SubmissionCluster::Connection->open($a->{port});

$client->send(SubmissionCluster::Client::request('GET', '/healthz'),
              sub { $answered++ });
wait_for('a client is connected', sub { $answered == 1 });

# descriptors that are there stay

my $limit = SubmissionCluster::Process::limit_descriptors($worker, 3);

my $began = time;
my @ids = map { ("shot-$_", "last-$_") } 1 .. INTENTS;

for my $id (@ids) {
    my ($target) = $id =~ /(\w+)/;
    my $before = $answered;

    $client->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                      SubmissionCluster::Client::intent($id, '{}', "sms.$target")),
                  sub { $answered++ });
    wait_for("$id is taken", sub { $answered > $before });
}

sub unsent { return $a->log_count(qr/attempt_unsent .*intent_id="$_[0]"/) }

wait_for('each was to be sent three times', sub {
    !grep { unsent($_) < 3 } @ids;
}, 60);

my $tries = unsent($ids[0]);

cmp_ok($tries, '<=', 1 + (time - $began) / 1, 'no more than once a second');
is(scalar(grep { $_->{id} !~ /^warm/ } $store->attempts), 0,
   'none of that is an attempt');
is(scalar(grep { $_->{status} eq 'pending' && $_->{attempts} == 0 }
          map { $store->intents->{$_} } @ids), 2 * INTENTS,
   'all are to be tried');
is(scalar(grep { $_->{id} !~ /^warm/ } $gateway->sends), 0, 'nothing was sent');

# asked over the connection that is there

my $shown;

wait_for('it is shown as down', sub {
    my $body;

    $client->send(SubmissionCluster::Client::request('GET', '/v1/targets/sms.shot'),
                  sub { $body = $_[0]{body} });
    wait_for('an answer', sub { $body });
    $shown = decode_json($body);

    return $shown->{health} && $shown->{health}{state} eq 'down';
}, 10);

like($shown->{health}{why}, qr/^the last \d+ attempts could not be sent$/,
     'it is down, and says why');
is($shown->{lastError}{reason}, 'unsent', 'the last error: it was not sent');
like($shown->{lastError}{detail}, qr/^not sent: no connection, or no memory, was left/,
     'and what was missing');
is($a->log_count(qr/circuit_open/), 0, 'the gateway is not to blame');

SubmissionCluster::Process::limit_descriptors($worker, $limit);
$run->wait_terminal('', 60);

is_deeply($run->statuses('shot-'), { accepted => INTENTS }, 'one_shot: done');
is_deeply($run->statuses('last-'), { accepted => INTENTS },
          'max_attempts 1: done');
is_deeply([grep { ($gateway->sends_of($_))[0]{attempt} != 1 } @ids], [],
          'all with their first attempt');

$client->close;
$a->expect_log(qr/Too many open files/);
$run->done;

# The deadline of an intent passes while something holds its target: a pause, a
# rate, a circuit that is open, a bound whose slots are taken.  It ends then, and
# not when the target goes on, and who waits for it is told.
# Other targets go on meanwhile, and these do when nothing holds them any more: the
# probe of the circuit is an intent that is alive (G21).
#
# Goes red when: what has expired is looked at only where it would be begun; the end
# is not told; it takes the probe, a slot or a token.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;

use SubmissionCluster;

use constant { EACH => 30, DEADLINE => 2 * pace(), OPEN => 15 * pace() };

my %same = (policy => 'deadline ' . DEADLINE . 's', retry => '50ms');

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s', refresh => '60s',
    targets => {
        'sms.paused' => { path => '/paused', %same },
        'sms.rate' => { path => '/rate', %same, limit => 'rate=1r/m' },
        'sms.open' => { path => '/open', %same,
                        more => 'circuit failures=1 open=' . OPEN
                                . 's max_open=' . OPEN . 's;' },
        'sms.busy' => { path => '/busy', %same, concurrency => 2 },
    },
    instance => {
        workers => 1,
        server => 'location /o/ { submission_api main access=operate; '
                  . 'submission_actor test; }',
    });
my ($nginx) = $run->instances;
my ($gateway, $store) = ($run->gateway, $run->store);

$run->start;

sub sends { return grep { $_->{path} =~ m{^/$_[0]} } $gateway->sends }

sub post_each {
    my ($target) = @_;

    $run->post(map { [$_, "sms.$target"] } $run->ids($target, EACH));
}

# within the minute that the first token takes

post_each('rate');

is(fetch($nginx, 'POST', '/o/targets/sms.paused/pause', '')->{status}, 200,
   'paused');
wait_for('the leader knows',
         sub { $nginx->log_count(qr/ target_paused manager=main /) });

$gateway->behave('/open' => 'answer 500');
$gateway->behave('/busy' => 'hold');

$run->post(['open-first', 'sms.open'],
           map { [$_, 'sms.busy'] } $run->ids('busy-held', 2));
wait_for('the circuit is open',
         sub { $nginx->log_count(qr/ circuit_open manager=main /) });
$gateway->wait_for_held(2);

post_each($_) for qw(paused open busy);

my $waited = fetch($nginx, 'POST',
                   '/v1/intents?waitSeconds=30&until=terminal',
                   SubmissionCluster::Client::intent('paused-waits', '{}',
                                                     'sms.paused'));

is(decode_json($waited->{body})->{status}, 'exhausted',
   'who waits is told of the end');

for my $target (qw(paused rate open busy)) {
    $run->wait_terminal("$target-0", 30 * slow());
    is_deeply($run->statuses("$target-0"),
              { 'exhausted deadline_exceeded' => EACH }, "$target: all end");

    my ($longest) = sort { $b <=> $a }
                    map { $_->{completed_at} - $_->{created_at} }
                    values %{$store->intents("$target-0")};

    cmp_ok($longest / 1e6, '>=', DEADLINE, "$target: not before their deadline");

    # long before the circuit closes, which wakes the executor, too

    cmp_ok($longest / 1e6, '<', OPEN - 3 * pace(),
           "$target: but then, after $longest us");
}

is(scalar(my @paused = sends('paused')), 0, 'paused: none was sent');
is(scalar(my @rate = sends('rate')), 0, 'rate: none was sent');
is(scalar(my @open = sends('open')), 1, 'open: but for the first, none was sent');
is(scalar(my @busy = sends('busy')), 2, 'busy: nor beyond the bound');

$run->post($run->ids('beside', 5));
$run->wait_terminal('beside-', 30 * slow());
is_deeply($run->statuses('beside-'), { accepted => 5 }, 'another target goes on');

# and so do these

$gateway->behave("/$_" => undef) for qw(open busy);
$gateway->release;

is(fetch($nginx, 'POST', '/o/targets/sms.paused/resume', '')->{status}, 200,
   'resumed');
$run->post(map { [$_, 'sms.busy'] } $run->ids('more-busy', 4));
$run->post(map { [$_, 'sms.paused'] } $run->ids('more-paused', 4));
$run->wait_terminal('more-', 30 * slow());
is_deeply($run->statuses('more-'), { accepted => 8 }, 'when they may');

my $n = 0;

wait_for('the gateway is back, and so is what is alive', sub {
    $run->post([sprintf('probe-%04d', ++$n), 'sms.open']);
    return $run->statuses('probe-')->{accepted};
}, (OPEN + 30) * slow());

$run->wait_terminal('probe-', 30 * slow());
$run->done;

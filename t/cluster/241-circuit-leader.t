# A circuit ends with its leader: the next one tries the gateway again.  The feed
# says so, or it would call the circuit open for ever when the gateway has
# recovered meanwhile.
#
# Goes red when: a leader does not say what becomes of the circuits of the one
# before; one that it has opened itself is called closed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant SOON => 10;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    targets => { 'sms.sick' => {
        path => '/sick', policy => 'max_attempts 1000', retry => '50ms',
        more => 'circuit failures=3 open=60s max_open=60s;' } });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my $leader = $run->start;


sub circuit {
    my ($instance) = @_;

    my $answer = fetch($instance, 'GET', '/v1/events?limit=500&target=sms.sick');

    return join ' ', map { $_->{kind} } grep { $_->{kind} =~ /^circuit_/ }
                     reverse @{decode_json($answer->{body})->{events}};
}


sub shown {
    return decode_json(fetch($leader, 'GET', '/v1/targets/sms.sick')->{body});
}


# the gateway is still sick when the leader is another one

$gateway->behave('/sick' => 'answer 500');
$run->post(map { [$_, 'sms.sick'] } $run->ids('sick', 4));

wait_for('the circuit is open', sub { shown()->{state} eq 'circuit_open' }, SOON);

my $epoch = $lease->row->{epoch};

$leader->reload(wait_old => 1);
$leader = $lease->wait_leader($epoch);

wait_for('another leader opens it again', sub {
    circuit($leader) =~ /circuit_open$/ && circuit($leader) =~ /open.*open/;
}, SOON);

is(circuit($leader), 'circuit_open circuit_closed circuit_open',
   'it was not open when it was opened');

wait_for('it is told', sub { shown()->{state} eq 'circuit_open' }, SOON);


# it has recovered

$gateway->behave('/sick' => undef);
$epoch = $lease->row->{epoch};
$leader->kill_group;
$leader = $lease->wait_leader($epoch);
$run->wait_terminal('sick-', 30);

ok(eval {
    wait_for('the feed says so', sub {
        circuit($leader) =~ /circuit_closed$/;
    }, SOON);
}, 'a circuit that is not open is not told to be') or diag(circuit($leader));

wait_for('nothing holds the target', sub { shown()->{state} eq 'open' }, SOON);

$run->expect_kills;
$run->done;

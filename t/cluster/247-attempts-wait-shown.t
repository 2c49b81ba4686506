# Clients, and attempts at a gateway that does not answer, have all connections of
# the leader's only worker.  What is due for another target does not even begin, so
# nothing of it fails; within ten seconds that target is shown as degraded all the
# same, and why (G22).  When there are connections again, it is well.
#
# Goes red when: a target is shown as ok of which nothing begins.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { CONNECTIONS => 96, HELD => 20, TOLD => 10, WELL => 60 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.held' => { path => '/held' }, 'sms.new' => {} },
    executor => 'concurrency=40', dispatch => 'proxy_set_header Connection close;',
    instance => { workers => 1, connections => CONNECTIONS });
my $gateway = $run->gateway;
my $a = $run->start;


sub health {
    my $answer = fetch($a, 'GET', '/v1/targets/sms.new');

    return ($answer->{status} // 0) == 200 ? decode_json($answer->{body})->{health} // {}
                                           : {};
}


sub post {
    my ($id, $target) = @_;

    wait_for("$id is taken", sub {
        my $result = fetch($a, 'POST', '/v1/intents',
                           SubmissionCluster::Client::intent($id, '{}', $target));
        ($result->{status} // 0) == 200;
    });
}


# half a request each, until one is turned away

my (@clients, @refused);

while (!@refused && @clients < CONNECTIONS) {
    my $client = SubmissionCluster::Connection->open($a->{port});

    $client->send("POST /v1/intents HTTP/1.1\r\nHost: test\r\n"
                  . "Content-Length: 100\r\n\r\n{", sub { push @refused, $_[0] });
    push @clients, $client;
    SubmissionCluster::Client::turn(0.02) for 1 .. 3;
}

$gateway->behave('/held' => 'hold');
post("held-$_", 'sms.held') for 1 .. HELD;
wait_for('no connection is left for attempts', sub {
    $a->log_count(qr/attempts_wait/);
});

post('new-1', 'sms.new');

my $health;

wait_for('a target that waits is not well', sub {
    ($health = health())->{state} && $health->{state} ne 'ok';
}, TOLD);

is($health->{state}, 'degraded', 'it is degraded');
is($health->{why}, "nothing of it can be sent: the leader's host has no connection left",
   'and says why');
is($run->store->intents->{'new-1'}{attempts}, 0, 'nothing was sent to it');

$_->close for @clients;
$gateway->behave('/held' => undef);
$gateway->release;
$run->wait_terminal('');

wait_for('it is well', sub { (health()->{state} // '') eq 'ok' }, WELL);
pass('it is well again');

$run->done;

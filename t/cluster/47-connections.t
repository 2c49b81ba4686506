# Clients take all the connections of the executor worker that they get.  Those
# that are idle keep nobody from anything: nginx closes them.  Those that are
# slow, or wait, do not keep attempts from going out, for which an eighth of the
# connections is held; and when connections are short, a POST whose body is not
# there yet is refused, and waits are answered before their time.
#
# Goes red when: idle connections are counted as taken; clients can have all
# connections, so that nothing is sent; an attempt is sent that nginx has no
# connection for, and fails; who waits goes on waiting while others cannot even
# connect.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { CONNECTIONS => 96, CLIENTS => 80 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.held' => { path => '/held', concurrency => 2 } },
    executor => 'concurrency=20', dispatch => 'proxy_set_header Connection close;',
    instance => { workers => 1, connections => CONNECTIONS });
my $gateway = $run->gateway;
my $a = $run->start;


sub clients {
    my ($bytes) = @_;

    my $n = 0;
    my @clients = map { SubmissionCluster::Connection->open($a->{port}) }
                  1 .. CLIENTS;

    $_->send($bytes, sub { $n++ }) for @clients;

    return (\$n, @clients);
}


# Each over a connection of its own: idle ones are closed when connections are
# short, maybe at the moment when they are used again.

sub post {
    for my $id (@_) {
        wait_for("$id is taken", sub {
            my $result = fetch($a, 'POST', '/v1/intents',
                SubmissionCluster::Client::intent($id, '{}', 'sms.realtime'));
            ($result->{status} // 0) == 200;
        });
    }
}


# one client after the other, until one is answered

my @answers;


sub crowd {
    my ($request) = @_;

    my @crowd;

    @answers = ();

    while (!@answers) {
        die "all @{[scalar @crowd]} clients wait\n" if @crowd == CONNECTIONS;

        my $client = SubmissionCluster::Connection->open($a->{port});

        $client->send(join('', $request->()), sub { push @answers, $_[0] });
        push @crowd, $client;

        SubmissionCluster::Client::turn(0.02) for 1 .. 3;
    }

    return @crowd;
}


# idle: they have been answered, and stay

my ($n, @idle) = clients(SubmissionCluster::Client::request('GET', '/healthz'));

wait_for('all are answered', sub { $$n == CLIENTS });

$run->post({ connections => 1 }, $run->ids('idle', 50));
$run->wait_terminal('idle-', 10);

is_deeply($run->statuses('idle-'), { accepted => 50 },
          'idle: attempts go out all the same');
is_deeply([grep { $gateway->sends_of($_) != 1 } $run->ids('idle', 50)], [],
          'idle: once each');
is($a->log_count(qr/attempts_wait/), 0, 'idle: nothing to warn of');

$_->close for @idle;


# busy: half a request each, from one client after the other; those who come
# when connections are short are told so at once

my @busy = crowd(sub { 'POST /v1/intents HTTP/1.1', "\r\nHost: test\r\n"
                       . "Content-Length: 100\r\n\r\n{" });

my @refused = grep { ($_->{status} // 0) == 503 } @answers;

is(scalar(grep { $_->{body} !~ /"code":"overloaded"/ } @refused), 0,
   'busy: clients whose bodies would have to be waited for are refused');

post($run->ids('busy', 50));
$run->wait_terminal('busy-');

is_deeply($run->statuses('busy-'), { accepted => 50 },
          'busy: attempts go out all the same');
is_deeply([grep { $gateway->sends_of($_) != 1 } $run->ids('busy', 50)], [],
          'busy: once each');
cmp_ok(@busy - @answers, '>', CONNECTIONS / 2,
       'busy: while the others keep their connections');
is($a->log_count(qr/attempts_wait/), 0, 'busy: nothing to warn of');

$_->close for @busy;


# waiting: for a gateway that does not answer, so that none of them is done

$gateway->behave('/held' => 'hold');

my $i = 0;
my @waiting = crowd(sub {
    SubmissionCluster::Client::request('POST', '/v1/intents?waitSeconds=30',
        SubmissionCluster::Client::intent('wait-' . ++$i, '{}', 'sms.held'));
});

is(scalar(grep { ($_->{status} // 0) != 200 || $_->{body} !~ /"pending"/ }
          @answers), 0,
   'waiting: some are answered early, with their intents as they are');

post($run->ids('waited', 50));
$run->wait_terminal('waited-', 25);

is_deeply($run->statuses('waited-'), { accepted => 50 },
          'waiting: attempts go out all the same');
cmp_ok(@answers, '<', @waiting, 'waiting: while others wait');

$_->close for @waiting;
$gateway->behave('/held' => undef);
$gateway->release;
$run->wait_terminal('wait-');

is(scalar(keys %{$run->store->intents('wait-')}), $i,
   'waiting: all were taken');

$run->done;

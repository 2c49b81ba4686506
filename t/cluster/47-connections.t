# The executor worker runs out of connections.  Clients that are idle do not
# keep attempts from going out: nginx closes them.  Clients that are busy do,
# and one line in the log says so; when they are gone, all go out.
#
# Goes red when: idle connections are counted as taken; nobody says why nothing
# is sent; an attempt is sent that nginx has no connection for, and fails.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { CONNECTIONS => 96, CLIENTS => 80 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
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


# busy: half a request each

my ($answered, @busy) = clients("POST /v1/intents HTTP/1.1\r\nHost: test\r\n"
                                . "Content-Length: 100\r\n\r\n{");

wait_for('the worker has them all', sub {
    my $active = (split ' ', (fetch($a, 'GET', '/status')->{body} // '')
                             =~ tr/0-9/ /cr)[0];
    ($active // 0) > CLIENTS;
});

$run->post({ connections => 1 }, $run->ids('busy', 20));

wait_for('the log says why', sub { $a->log_count(qr/attempts_wait/) });
is($run->store->pending('busy-'), 20, 'busy: nothing goes out');
$gateway->quiet_for(0.5);
is($a->log_count(qr/attempts_wait/), 1, 'busy: that is said once');

$_->close for @busy;

$run->wait_terminal('busy-', 10);
is_deeply($run->statuses('busy-'), { accepted => 20 }, 'busy: until they go');
is_deeply([grep { $gateway->sends_of($_) != 1 } $run->ids('busy', 20)], [],
          'busy: once each');

$run->done;

# Clients of HTTP/2 that ask for large answers and read none: two connections with
# a window of 0 and 256 lists of 500 intents.  A worker keeps 32 MB of answers, and
# refuses reads beyond that with 503 and Retry-After; single POSTs go on.  When
# the clients have gone, all is as it was.  Waits over HTTP/2 are as many as if each
# had a connection.
#
# Goes red when: answers are not counted until their request has ended (all of it
# stays until send_timeout), are counted twice, or the bound is looked at before the call
# to the store only; when a POST is refused for it; when a wait over HTTP/2 does not
# count.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds qw(no_store no_checker);
use SubmissionCluster;
use SubmissionCluster::H2;

use constant { LISTS => 128, INTENTS => 500, BOUND => 32 << 20 };
use constant { CONNECTIONS => 256, WAITS => 240 };

my $cluster = SubmissionCluster->new;
my $port = SubmissionCluster::free_port();

my $instance = $cluster->instance('a', workers => 1, connections => CONNECTIONS,
    http => <<"END");
    server {
        listen 127.0.0.1:$port http2;
        send_timeout 1h;
        http2_max_concurrent_streams 1000;
        location /v1/ { submission_api main; }
    }
END

$cluster->start;


sub memory {
    my ($pid) = $instance->worker_pids;

    open(my $file, '<', "/proc/$pid/status") or die "$pid: $!";

    return (join('', <$file>) =~ /^VmRSS:\s+(\d+) kB/m)[0] << 10;
}


sub ask {
    my ($n, @request) = @_;

    my $client = SubmissionCluster::H2->open($port, window => 0);

    $client->send(map { SubmissionCluster::H2::request(2 * $_ + 1, @request) }
                  0 .. $n - 1);

    return $client;
}


post_intent($instance, sprintf('%s-%03d', 'x' x 100, $_)) for 1 .. INTENTS;

my $list = '/v1/intents?limit=' . INTENTS;

is(fetch($instance, 'GET', $list)->{status}, 200, 'a list');

my $before = memory();
my @clients = map { ask(LISTS, 'GET', $list) } 1, 2;

$_->headers(LISTS) for @clients;

my $grown = memory() - $before;

cmp_ok($grown, '<', BOUND, sprintf('%d MB are held', $grown >> 20));
cmp_ok($grown, '>', BOUND / 16, 'and some are');

my $refused = fetch($instance, 'GET', $list);

is($refused->{status}, 503, 'another list is refused');
like(substr($refused->{body}, 0, 100), qr/"code":"answers_unread"/, 'with the reason');
is($refused->{headers}{'retry-after'}, 1, 'and the time');

is(post_intent($instance, 'one-more')->{status}, 200, 'a POST is taken');

$_->close for @clients;

wait_for('lists are answered again', sub {
    fetch($instance, 'GET', $list)->{status} == 200;
});

pass('nothing is left');


# waits

my $wait = ask(WAITS + 50, 'GET', '/v1/intents/one-more?waitSeconds=600');

$wait->headers(50);
pass('what waits beyond the bound is answered at once');

my $next = 2 * (WAITS + 50) + 1;

$wait->send(SubmissionCluster::H2::request($next, 'GET', '/v1/intents/one-more'));
is($wait->headers(1), $next, 'and the others wait');

$wait->close;

$cluster->done;

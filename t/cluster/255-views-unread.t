# Clients of HTTP/2 that ask for what is shown and read none of it: two connections
# with a window of 0 and 1,800 requests.  What an answer is made of, such as a copy of
# all events, of all targets or of an hour of history, is larger than the answer, and
# goes when that is made.  Answers are counted, the text of /metrics among them.
#
# Goes red when: a view keeps what it has copied from the zone; /metrics is not
# counted, or not refused.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionNeeds qw(no_store no_checker);
use SubmissionCluster;
use SubmissionCluster::H2;

use constant { SOON => 30, TARGETS => 120, STREAMS => 900 };

# what a worker keeps of answers, and what nginx has for a request

use constant { BOUND => 32 << 20, REQUEST => 16 << 10 };

my $port = SubmissionCluster::free_port();
my @names = map { "sms.t$_" } 1 .. TARGETS;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'],
    targets => { map { $_ => { path => '/' } } @names },
    instance => {
        workers => 1, server => 'location /o/ { submission_api main access=operate; }',
        http => <<"END" });
    server {
        listen 127.0.0.1:$port http2;
        send_timeout 1h;
        http2_max_concurrent_streams 1000;
        location /v1/ { submission_api main; }
        location = /metrics { submission_metrics main; }
    }
    upstream gateway { server 127.0.0.1:1; }
END

my $instance = $run->start(record => 0);


sub memory {
    my ($pid) = $instance->worker_pids;

    open(my $file, '<', "/proc/$pid/status") or die "$pid: $!";

    return (join('', <$file>) =~ /^VmRSS:\s+(\d+) kB/m)[0] << 10;
}


sub ask {
    my ($path) = @_;

    my $client = SubmissionCluster::H2->open($port, window => 0);

    $client->send(map { SubmissionCluster::H2::request(2 * $_ + 1, 'GET', $path) }
                  0 .. STREAMS - 1);

    return $client;
}


# all targets have something to tell

fetch($instance, 'POST', "/o/targets/$_/pause", "{}") for @names;

wait_for('the feed has an event of each', sub {
    my $answer = fetch($instance, 'GET', '/v1/events?limit=500&kind=target_paused');
    @{decode_json($answer->{body})->{events}} == TARGETS;
}, SOON);

wait_for('there is a history', sub {
    @{decode_json(fetch($instance, 'GET', '/v1/stats')->{body})->{rows}};
}, SOON);


# each has a worker that has not grown before

for my $path ('/v1/events', '/v1/targets', '/v1/overview', '/v1/stats', '/metrics') {
    my $before = memory();
    my @clients = map { ask($path) } 1, 2;

    $_->headers(STREAMS) for @clients;

    my $grown = memory() - $before;
    my $most = BOUND + 2 * STREAMS * REQUEST;

    cmp_ok($grown, '<', $most,
           sprintf('%s: %.1f MB are held', $path, $grown / (1 << 20)));

    if ($path eq '/metrics') {
        is(fetch($instance, 'GET', $path)->{status}, 503, 'and another one is refused');
    }

    $_->close for @clients;
    wait_for('it is answered again', sub {
        fetch($instance, 'GET', $path)->{status} == 200;
    }, SOON);

    my $epoch = $run->leadership->row->{epoch};

    $instance->reload(wait_old => 1);
    $run->leadership->wait_leader($epoch);
}

$run->cluster->finish;
done_testing();

# Clients that do not read their answers, and leave, hold no connection: over
# HTTP/2 with a window of 0, with pipelines of HTTP/1.1 whose answers are not
# read, and where limit_rate sends an answer slowly.
#
# Answers of the API that are made at once (400, 404, 405, 503) go through the
# output filters, which say NGX_AGAIN while something is left to send.  Goes red
# when that is taken for "the intake has the request": the request is then never
# finalized, and its connection stays until the worker exits, with "open socket
# left in connection" in the log.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Socket qw(:DEFAULT SO_RCVBUF);
use Test::More;

use SubmissionCluster;
use SubmissionCluster::H2;

BEGIN { *request = \&SubmissionCluster::H2::request }

use constant { CLIENTS => 30 };

my $cluster = SubmissionCluster->new;
my $h2_port = SubmissionCluster::free_port();
my $pipeline_port = SubmissionCluster::free_port();
my $slow_port = SubmissionCluster::free_port();

my $instance = $cluster->instance('a', workers => 1, intake => 'queue=1',
    http => <<"END");
    server {
        listen 127.0.0.1:$h2_port http2;
        send_timeout 1h;
        location /v1/ { submission_api main; }
    }

    server {
        listen 127.0.0.1:$pipeline_port sndbuf=4k;
        send_timeout 1s;
        location /v1/ { submission_api main; }
    }

    server {
        listen 127.0.0.1:$slow_port;
        limit_rate 10;
        send_timeout 1h;
        location /v1/ { submission_api main; }
    }
END

$cluster->start;


sub connections {
    my $result = fetch($instance, 'GET', '/status');

    return $result->{body} =~ /Active connections: (\d+)/ ? $1 : undef;
}


sub none_left {
    my ($what) = @_;

    my $left;
    my $ok = eval {
        wait_for("no connection is left: $what",
                 sub { ($left = connections()) == 1 }, 10);
    };

    ok($ok, "no connection is left: $what")
        or diag($left - 1 . ' connections are left');
}


sub dial {
    my ($port, $rcvbuf) = @_;

    socket(my $sock, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";
    setsockopt($sock, SOL_SOCKET, SO_RCVBUF, $rcvbuf) if $rcvbuf;
    connect($sock, pack_sockaddr_in($port, INADDR_LOOPBACK))
        or die "connect(): $!";
    $sock->autoflush(1);

    return $sock;
}


sub h2_open { return SubmissionCluster::H2->open($h2_port, window => 0) }


sub post {
    my ($id) = @_;

    return SubmissionCluster::Client::intent($id, '1');
}


my %h2 = (
    '400 of a POST' => sub { request($_[0], 'POST', '/v1/intents', '{') },
    '404 of a POST' => sub { request($_[0], 'POST', '/v1/nothing', '{') },
    '405 of a PUT'  => sub { request($_[0], 'PUT', '/v1/intents', '{') },
    '400 of a GET'  => sub { request($_[0], 'GET', '/v1/intents?limit=0') },
    '200 of a POST' => sub { request($_[0], 'POST', '/v1/intents',
                                        post('one')) },
    '404 of a GET'  => sub { request($_[0], 'GET', '/v1/intents/none') },
    '200 of a GET'  => sub { request($_[0], 'GET', '/v1/intents') },
);

for my $what (sort keys %h2) {
    my @clients = map { h2_open() } 1 .. CLIENTS;

    # one after the other, as there is little room in the queue

    for my $client (@clients) {
        $client->send($h2{$what}->(1));
        $client->headers(1);
    }

    $_->close for @clients;

    none_left("HTTP/2, $what");
}


# what comes in one turn of the event loop does not fit into the queue: 503

sub overloads { return $instance->metric('requests_overloaded_total') }


my %many = (
    'POST' => sub { request($_[0], 'POST', '/v1/intents', post("p-$_[0]")) },
    'GET'  => sub { request($_[0], 'GET', "/v1/intents/p-$_[0]") },
    'list' => sub { request($_[0], 'GET', '/v1/intents') },
);

for my $what (sort keys %many) {
    my $before = overloads();
    my @clients = map { h2_open() } 1 .. 5;

    for my $client (@clients) {
        $client->send(map { $many{$what}->(2 * $_ + 1) } 0 .. 19);
        $client->headers(20);
    }

    cmp_ok(overloads(), '>', $before, "HTTP/2, $what: some are refused");

    $_->close for @clients;

    none_left("HTTP/2, 503 of a $what");
}


# Answers that fill all buffers between the two.  nginx closes after
# send_timeout: that it has a timer shows that it knows the request.

{
    my $n = 2000;
    my $bad = SubmissionCluster::Client::request('POST', '/v1/intents', '{');
    my @clients;

    for (1 .. CLIENTS) {
        my $sock = dial($pipeline_port, 4096);

        $sock->blocking(0);
        syswrite($sock, $bad x $n);
        push @clients, $sock;
    }

    none_left('HTTP/1.1, pipelines that are not read');

    is($instance->log_count(qr/client timed out/), CLIENTS,
       'they were closed after send_timeout');
}


# the rest of a slow answer

for my $how (qw(close reset)) {
    my @clients = map { dial($slow_port) } 1 .. CLIENTS;

    for my $sock (@clients) {
        print $sock SubmissionCluster::Client::request('POST', '/v1/intents',
                                                       '{');
        read($sock, my $byte, 1) == 1 or die "no answer\n";

        setsockopt($sock, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0))
            if $how eq 'reset';
    }

    close $_ for @clients;

    none_left("limit_rate, $how");
}

is(fetch($instance, 'GET', '/healthz')->{status}, 200, 'the worker answers');

$cluster->done;

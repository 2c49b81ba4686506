# The gate right before each send (G6).  An attempt is begun, and its connection
# to the gateway hangs: the gateway's queue is full.
#
# First its worker is held up for longer than the lease, in a write to a log that
# nobody reads, and the connection comes about meanwhile.  When the worker goes on
# it finds that it can send before it finds that its deadline has passed, since
# nginx looks at connections first.
#
# Then the lease is lost for a moment, and the same worker leads again when the
# connection comes about: it leads, but not in the epoch of the attempt.
#
# Last, the connection comes about while nobody leads, and before the deadline.
#
# Each time not a byte is sent.  The attempt is given back, and sent in a later
# epoch under the same number.
#
# Goes red when: the gate does not look at the deadline (held up), at the epoch
# (again), or at the role (lost).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Socket;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $port = SubmissionCluster::free_port();
my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '6s', instance => {
        workers => 1,
        server => SubmissionCluster::Fifo::location() },
    targets => { 'sms.gate' => { url => "http://127.0.0.1:$port" } });
my ($lease, $store) = ($run->leadership, $run->store);
my ($a) = $run->instances;

my $fifo = SubmissionCluster::Fifo->new($a);

$run->start;


# a gateway whose queue is full: whoever connects is kept waiting

sub full {
    socket(my $listen, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";
    setsockopt($listen, SOL_SOCKET, SO_REUSEADDR, 1);
    bind($listen, pack_sockaddr_in($port, INADDR_LOOPBACK)) or die "bind: $!";
    listen($listen, 0) or die "listen(): $!";
    $listen->blocking(0);

    socket(my $filler, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";
    connect($filler, pack_sockaddr_in($port, INADDR_LOOPBACK))
        or die "connect(): $!";

    return { listen => $listen, filler => $filler };
}


# connections to the port that have not come about

sub hanging {
    my $hex = sprintf '%04X', $port;

    open(my $file, '<', '/proc/net/tcp') or die "/proc/net/tcp: $!";

    return scalar grep { /^ *\d+: [0-9A-F]{8}:[0-9A-F]{4} 0100007F:$hex 02 / }
           <$file>;
}


# a kept one tries again after 1, 3, 7, 15 seconds

sub next_connection {
    my ($gateway) = @_;

    return wait_for('a connection comes about', sub {
        accept(my $socket, $gateway->{listen}) or return;
        $socket->blocking(0);
        $socket;
    }, 40);
}


# all that is sent on it until it ends, or until a request is complete

sub request {
    my ($socket) = @_;

    my $in = '';

    wait_for('it ends, or a request has come', sub {
        my $n = sysread($socket, $in, 65536, length $in);

        return 1 if defined $n && $n == 0;

        my ($head, $body) = split /\r\n\r\n/, $in, 2;
        my ($length) = ($head // '') =~ /Content-Length: *(\d+)/i;

        defined $length && length($body // '') >= $length;
    });

    return $in;
}


sub answer {
    my ($socket) = @_;

    my $body = '{"status":"accepted"}';

    syswrite($socket, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                      . 'Content-Length: ' . length($body)
                      . "\r\nConnection: close\r\n\r\n$body");
    close $socket;
}


sub gate {
    my ($name, $meanwhile) = @_;

    my $gateway = full();
    my $id = ($name =~ s/ /-/r) . '-1';
    my $epoch = $lease->row->{epoch};

    $run->post([$id, 'sms.gate']);
    wait_for('its connection hangs', sub { hanging() == 1 });
    is($store->intents($id)->{$id}{inflight_epoch}, $epoch,
       "$name: it is begun");

    my $connection;

    $meanwhile->($epoch, sub {
        accept(my $filler, $gateway->{listen}) or die "accept(): $!";
        $connection = next_connection($gateway);
    });

    is(request($connection), '', "$name: nothing is sent");

    $connection = next_connection($gateway);

    my $request = request($connection);
    my ($sent) = $request =~ /X-Submission-Epoch: *(\d+)/i;
    my ($number) = $request =~ /X-Submission-Attempt: *(\d+)/i;

    answer($connection);

    cmp_ok($sent, '>', $epoch, "$name: until it is, in a later epoch");
    is($number, 1, "$name: under the same number");

    $run->wait_terminal($id);
    is_deeply([map { "$_->{number} $_->{epoch} $_->{status}" }
               $store->attempts($id)],
              ["1 $sent accepted"], "$name: as it is recorded");
}


gate('held up', sub {
    my ($epoch, $connect) = @_;

    $fifo->block;

    # a renewal that was out may have come through

    wait_for('the lease is over', sub {
        time > $lease->row->{expires_at} / 1e6;
    });

    $connect->();

    $fifo->unblock;

    ok($run->wait_lost($a, $epoch), 'held up: the lease is lost');
});


gate('again', sub {
    my ($epoch, $connect) = @_;

    $store->fail_turns(1);
    $run->post('other-1');
    $run->wait_lost($a, $epoch);
    $store->fail_turns(0);
    $lease->wait_leader($epoch);
    $connect->();
});


gate('lost', sub {
    my ($epoch, $connect) = @_;

    $store->fail_pages(1);
    $run->wait_lost($a, $epoch);
    $connect->();
    $store->fail_pages(0);
});


is_deeply([$a->log_lines(qr/attempt_dropped|attempts_recovered/)], [],
          'nothing was dropped, nor in doubt');

$lease->done;

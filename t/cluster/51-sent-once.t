# An attempt that was sent passes the dispatch location once more: the gateway
# does not answer in time, and "error_page 504 = @fallback" leads elsewhere.
#
# What is one_shot stays on the way: it was sent.  What may be tried several
# times goes on, to a gateway that lets it wait in connect(); meanwhile the
# leader loses its lead, and the gate closes before a byte is written there.  It
# was sent before, for all that, and is not given back as if it had not been.
#
# Then "proxy_next_upstream ... non_idempotent" before two servers, where the
# first takes the request and closes its connection, a new one or one that was
# kept alive: nginx goes on to the next, and there a one_shot stays on the way.
#
# Goes red when: an attempt forgets that it was sent when it is hooked again; a
# one_shot is sent twice in one attempt, by the location or by the upstream.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use IO::Select;
use IO::Socket::INET;
use Socket;

use SubmissionCluster;

# A listener whose queue is full: whoever connects is not answered before it is
# emptied.

my $full = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1,
                                 ReuseAddr => 1)
    // die "listen: $!";
my @queue;

listen($full, 0) or die "listen(): $!";

while (@queue < 8) {
    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', Blocking => 0,
                                       PeerPort => $full->sockport)
        // die "connect: $!";

    last if !IO::Select->new($socket)->can_write(0.2);
    push @queue, $socket;
}

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '300ms',
    targets => { 'sms.shot' => { policy => 'one_shot', path => '/shot' },
                 'sms.last' => { policy => 'max_attempts 1',
                                 path => '/last' },
                 'sms.next' => { policy => 'one_shot',
                                 url => 'http://two/next' } },
    dispatch => 'proxy_read_timeout 300ms; error_page 504 = @fallback; '
                . 'proxy_next_upstream error non_idempotent;',
    instance => { store_timeout => '100ms', workers => 1,
                  server => 'location @fallback { proxy_pass $fallback; '
                            . 'proxy_read_timeout 300ms; }' });
my ($gateway, $store) = ($run->gateway, $run->store);
my ($a) = $run->instances;

$a->{http} .= ' map $submission_target $fallback { '
              . "sms.shot http://127.0.0.1:$gateway->{port}/again; "
              . 'sms.last http://127.0.0.1:' . $full->sockport . '/; }'
              . ' upstream two { keepalive 4; '
              . "server 127.0.0.1:$gateway->{port} max_fails=0; " x 2 . '}';

$run->start(record => 0);
$gateway->behave('/' => 'hang');

$run->post(['shot-1', 'sms.shot']);
$run->wait_terminal('shot-');

is(scalar(my @shots = $gateway->sends_of('shot-1')), 1, 'one_shot: sent once');
is_deeply($run->statuses('shot-'), { 'exhausted one_shot' => 1 },
          'one_shot: and that was its attempt');
is($run->history('shot-1')->{attempts}[0]{error},
   'no answer: HTTP 504 (timed out)', 'one_shot: which was not answered');
is($a->log_count(qr/not_sent_again manager=main intent_id="shot-1"/), 1,
   'one_shot: the log says what was not done');


# the next server of the upstream

for my $how (qw(new kept)) {
    if ($how eq 'kept') {
        $gateway->behave('/next' => 'accept');
        $run->post(['next-first', 'sms.next']);
        $run->wait_terminal('next-first');
    }

    $gateway->behave('/next' => 'close');
    $run->post(["next-$how", 'sms.next']);
    $run->wait_terminal("next-$how");

    is(scalar(my @sends = $gateway->sends_of("next-$how")), 1,
       "next, $how connection: sent once");
    is_deeply($run->statuses("next-$how"), { 'exhausted one_shot' => 1 },
              "next, $how connection: and that was its attempt");
    cmp_ok($a->log_count(qr/not_sent_again manager=main intent_id="next-$how"/),
           '>', 0, "next, $how connection: the log says what was not done");
}


$run->post(['last-1', 'sms.last']);
$gateway->wait_for_sends(1, which => sub { $_[0]{id} eq 'last-1' });

wait_for('it connects to the fallback', sub {
    open(my $file, '<', '/proc/net/tcp') or die "/proc/net/tcp: $!";
    my $port = sprintf '%04X', $full->sockport;

    # in SYN_SENT, and not one of ours

    my %ours = map { sprintf('%04X', $_->sockport) => 1 } @queue;

    grep { /^\s*\d+: \w+:(\w+) \w+:$port 02 / && !$ours{$1} } <$file>;
});

# no SQL, no lead; but the lease is not another's

my $lock = $store->lock;

wait_for('the lead is lost', sub { $a->log_count(qr/leader_lost/) });

# now it can connect; what comes is closed without a byte

my ($seen, $bytes) = (0, '');

wait_for('the fallback is connected to, and left', sub {
    my $socket = $full->accept // return;
    my $port = $socket->peerport;

    if (grep { $_->sockport == $port } @queue) {
        push @queue, $socket;
        return;
    }

    $bytes = '' if !defined sysread($socket, $bytes, 4096);
    $seen = 1;
});

is($bytes, '', 'max_attempts: nothing is written when the lead is lost');

$store->unlock($lock);
close $full;

$run->wait_terminal('last-');

is(scalar(my @lasts = $gateway->sends_of('last-1')), 1,
   'max_attempts 1: sent once');
is($run->history('last-1')->{intent}{attemptCount}, 1,
   'max_attempts 1: which was its attempt');

$run->done;

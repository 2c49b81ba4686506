# Until when the certificate of a gateway is valid is told of the one that it has
# now, and not of one that it had once (G22).  A gateway that goes on with the
# sessions of its old certificate, as many do that take a new one without being
# started again, has to show the new one before the old one expires.  A leader
# that has led before tells what the leader after it has seen.
#
# Goes red when: the certificate of a resumed session is taken for the gateway's;
# what a worker saw in an earlier epoch counts more than what it is told.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

# nginx does not free the sessions of an upstream when it exits

use SubmissionNeeds qw(openssl no_checker);
use SubmissionCluster;

use constant SOON => 10;

my $port = SubmissionCluster::free_port();
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], elsewhere => qr/^tls-/,
    targets => { 'http.tls' => { type => 'http', policy => 'one_shot',
                                 url => 'https://tls/' } });
my ($lease, $dir) = ($run->leadership, $run->cluster->{dir});

$_->{http} .= "upstream tls { server 127.0.0.1:$port; }\n" for $run->instances;


# one context takes one certificate after the other, and keeps its keys

sub certificate {
    my ($days) = @_;

    system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=gateway.test "
           . "-days $days -keyout '$dir/tls.key' -out '$dir/tls.pem' "
           . ">> '$dir/openssl.log' 2>&1") == 0 or die 'openssl';
}


open(my $script, '>', "$dir/gateway.py") or die "gateway.py: $!";
print $script <<"END";
import signal, socket, ssl

context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
load = lambda *a: context.load_cert_chain('$dir/tls.pem', '$dir/tls.key')
load()
signal.signal(signal.SIGUSR1, load)

s = socket.socket()
s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
s.bind(('127.0.0.1', $port))
s.listen(50)

reused = open('$dir/reused.log', 'a', buffering=1)

while True:
    c, a = s.accept()
    try:
        t = context.wrap_socket(c, server_side=True)
        if t.recv(65536):
            t.sendall(b'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n'
                      b'Connection: close\\r\\n\\r\\n')
            print(int(t.session_reused), file=reused)
        t.unwrap()
    except OSError:
        pass
    c.close()
END
close $script or die "gateway.py: $!";

certificate(9);

my $gateway = fork // die "fork(): $!";

if ($gateway == 0) {
    open(STDERR, '>', "$dir/gateway.log");
    { exec('python3', "$dir/gateway.py") }
    POSIX::_exit(127);
}

my $owner = $$;

END { kill('TERM', $gateway) if $gateway && $$ == $owner }


sub renew {
    my ($days) = @_;

    certificate($days);
    kill('USR1', $gateway);
}


my $leader = $run->start(record => 0);
my $n = 0;


sub shown {
    return decode_json(fetch($leader, 'GET', '/v1/targets/http.tls')->{body});
}


sub expires { return shown()->{certificateExpiresAt} // '' }


sub pass_by {
    my ($seconds) = @_;

    my $end = time + $seconds;

    wait_for('some time has passed', sub { time > $end });
}


# something is sent now and then, until another time is shown

sub expires_not {
    my ($old) = @_;

    return eval {
        wait_for('another certificate is shown', sub {
            $run->post(['tls-' . ++$n, 'http.tls']);
            $run->wait_terminal('tls-');
            pass_by(0.5);
            expires() ne $old;
        }, 3 * SOON);

        expires();
    };
}


sub reused {
    open(my $file, '<', "$dir/reused.log") or return 0;
    return scalar grep { /1/ } <$file>;
}


my $old = expires_not('');

ok($old, 'a certificate is shown');
renew(300);

my $new = expires_not($old);

ok($new, 'a new one is shown, too');
cmp_ok(reused(), '>', 0, 'though sessions were resumed');


# another one leads, sees a third certificate, and is followed by the first

sub other_leads {
    my ($before, $epoch) = ($leader, $lease->row->{epoch});
    my @stopped = $before->worker_pids;

    $before->pause(@stopped);
    wait_for('the other one leads', sub { $lease->row->{epoch} > $epoch }, 30);
    $before->signal('CONT', $_) for @stopped;
    $leader = $lease->wait_leader($epoch);

    for (1 .. 2) {
        my $told = shown()->{asOf} // '';
        wait_for('it tells', sub { (shown()->{asOf} // '') gt $told }, 2 * SOON);
    }
}


my $first = $leader;

other_leads();
is(expires(), $new, 'another leader tells the same');

renew(200);

my $third = expires_not($new);

ok($third, 'it sees the next one');

other_leads();
is($leader, $first, 'the first one leads again');
is(expires(), $third, 'and does not tell what it saw before');

$run->done;

package SubmissionCluster::Gateway::Server;

# The process behind SubmissionCluster::Gateway: one select() loop.
#
# What is readable when a turn begins is read in this turn, whole; then all
# that is complete is written to the record, in one write; then it is answered.
# So no answer is ahead of its record, and requests of one turn came at the
# same time, as far as anybody can tell.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use Errno qw(EAGAIN EINTR);
use Fcntl qw(O_APPEND O_CREAT O_WRONLY);
use Socket qw(:DEFAULT IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC CLOCK_REALTIME);

use constant { TRICKLE => 0.1, HUGE => 10 * 1024 * 1024, LONG => 100 * 1024,
               DEEP => 50_000 };

my ($readers, $writers) = ('', '');
my (%conns, $record, @complete, @timers, @rules, %tries, @held);
my ($lines, $turn, $order, $hung) = ('', 0, 0, 0);

my $accepted = '{"status":"accepted"}';


sub now { return clock_gettime(CLOCK_MONOTONIC) }


sub run {
    my ($port, $file) = @_;

    $SIG{PIPE} = 'IGNORE';
    $0 = "gateway of a test, port $port";

    sysopen($record, $file, O_WRONLY|O_APPEND|O_CREAT) or die "$file: $!";

    socket(my $listen, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";
    setsockopt($listen, SOL_SOCKET, SO_REUSEADDR, 1);
    bind($listen, pack_sockaddr_in($port, INADDR_LOOPBACK)) or die "bind: $!";
    listen($listen, 4096) or die "listen(): $!";
    $listen->blocking(0);

    my $fd = fileno $listen;

    vec($readers, $fd, 1) = 1;
    vec($readers, 0, 1) = 1;

    syswrite(STDOUT, "ready\n");

    while () {
        my $wait;

        if (@timers) {
            $wait = $timers[0][0] - now();
            $wait = 0 if $wait < 0;
        }

        # pipelined ones
        $wait = 0 if @complete;

        my $n = select(my $r = $readers, my $w = $writers, undef, $wait);

        $turn++;

        if ($n > 0) {
            # the test is gone, or wants this to end
            exit 0 if vec($r, 0, 1);

            if (vec($r, $fd, 1)) {
                vec($r, $fd, 1) = 0;
                accepting($listen);
            }

            writable($_) for grep { $_ } map { $conns{$_} } fds($w);
            readable($_) for grep { $_ } map { $conns{$_} } fds($r);
        }

        write_record() if length $lines;

        behave(@$_) for splice @complete;

        while (@timers && $timers[0][0] <= now()) {
            (shift @timers)->[1]->();
        }
    }
}


sub fds {
    my $bits = unpack('b*', $_[0]);
    my ($fd, @fds) = (-1);

    push @fds, $fd while ($fd = index($bits, '1', $fd + 1)) >= 0;

    return @fds;
}


sub accepting {
    my ($listen) = @_;

    while (accept(my $socket, $listen)) {
        $socket->blocking(0);
        setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);

        my $conn = { socket => $socket, fd => fileno $socket, in => '',
                     out => '' };

        $conns{$conn->{fd}} = $conn;
        vec($readers, $conn->{fd}, 1) = 1;

        readable($conn);
    }
}


sub after {
    my ($seconds, $code) = @_;

    my $at = now() + $seconds;
    my $i = @timers;

    $i-- while $i && $timers[$i - 1][0] > $at;

    splice @timers, $i, 0, [$at, $code];
}


sub readable {
    my ($conn) = @_;

    my $n = sysread($conn->{socket}, $conn->{in}, 262144, length $conn->{in});

    if (!$n) {
        drop($conn) if defined $n || ($! != EAGAIN && $! != EINTR);
        return;
    }

    request($conn) if !$conn->{busy};
}


sub writable {
    my ($conn) = @_;

    return if !$conn->{socket};

    if (length $conn->{out}) {
        my $n = syswrite($conn->{socket}, $conn->{out}, 1048576);

        if (defined $n) {
            substr($conn->{out}, 0, $n, '');

        } elsif ($! != EAGAIN && $! != EINTR) {
            drop($conn);
            return;
        }
    }

    my $more = length $conn->{out} ? 1 : 0;

    vec($writers, $conn->{fd}, 1) = $more;

    return if $more || $conn->{busy};

    if ($conn->{last}) {
        drop($conn);

    } elsif (length $conn->{in}) {
        request($conn);
    }
}


sub drop {
    my ($conn) = @_;

    my $socket = delete $conn->{socket} // return;

    $hung-- if $conn->{hung};

    delete $conns{$conn->{fd}};
    vec($readers, $conn->{fd}, 1) = 0;
    vec($writers, $conn->{fd}, 1) = 0;

    close $socket;
}


# a request whose head and body are complete

sub request {
    my ($conn) = @_;

    my $end = index($conn->{in}, "\r\n\r\n");
    return if $end < 0;

    my $head = substr($conn->{in}, 0, $end + 2);
    my ($length) = $head =~ /\r\nContent-Length: *(\d+)\r\n/i;

    $length //= 0;
    $end += 4;

    return if length $conn->{in} < $end + $length;

    my $body = substr($conn->{in}, $end, $length);

    substr($conn->{in}, 0, $end + $length, '');

    my ($method, $path, $version) = $head =~ m{^(\S+) (\S+) HTTP/1\.(\d)\r\n};

    $conn->{busy} = 1;
    $conn->{last} = !$version || $head =~ /\r\nConnection: *close\r\n/i;

    if (!defined $method || $head =~ /\r\nTransfer-Encoding:/i) {
        push @complete, [$conn, 'answer 400', ''];
        return;
    }

    if (substr($path, 0, 10) eq '/_gateway/') {
        push @complete, [$conn, undef, $path, $body];
        return;
    }

    my %field = (
        'idempotency-key' => '', 'x-submission-attempt' => '',
        'x-submission-epoch' => '', 'content-type' => '',
    );

    while ($head =~ /\r\n([^:\r]+): *([^\r]*)/g) {
        my $name = lc $1;
        $field{$name} .= $2 if exists $field{$name};
    }

    my $id = $field{'idempotency-key'} =~ s/%([0-9A-F]{2})/chr hex $1/ger;
    my $behaviour = behaviour($id, $path, \$body);

    $lines .= join("\t", ++$order, $turn, sprintf('%.6f', now()),
                   sprintf('%.0f', clock_gettime(CLOCK_REALTIME) * 1e6),
                   (map { s/([\x00-\x1f%\x7f])/sprintf '%%%02X', ord $1/ger }
                        $id, $field{'x-submission-attempt'},
                        $field{'x-submission-epoch'}, "$method $path",
                        $field{'content-type'}, $behaviour),
                   $length, md5_hex($body)) . "\n";

    push @complete, [$conn, $behaviour, $id];
}


sub write_record {
    while (length $lines) {
        my $n = syswrite($record, $lines) // die "the record: $!";
        substr($lines, 0, $n, '');
    }
}


# what the test has said last, or what the payload says itself

sub behaviour {
    my ($id, $path, $body) = @_;

    my $behaviour;

    for my $rule (@rules) {
        my ($what, $prefix, $does) = @$rule;

        if (index($what eq 'id' ? $id : $path, $prefix) == 0) {
            $behaviour = $does;
            last;
        }
    }

    $behaviour //= $$body =~ /"gateway" *: *"([^"\\]*)"/ ? $1 : 'accept';

    # the first so many times this, and then that

    if ($behaviour =~ /^fail (\d+) *([^,]*),? *(.*)/) {
        $behaviour = $tries{$id}++ < $1 ? $2 || 'answer 500' : $3 || 'accept';
    }

    return $behaviour;
}


sub respond {
    my ($conn, $status, $body, @headers) = @_;

    $conn->{busy} = 0;

    send_bytes($conn, join("\r\n", "HTTP/1.1 $status Status",
                           'Content-Type: application/json',
                           'Content-Length: ' . length $body, @headers,
                           $conn->{last} ? 'Connection: close' : (), '', '')
                      . $body);
}


sub send_bytes {
    my ($conn, $bytes) = @_;

    return if !$conn->{socket};

    $conn->{out} .= $bytes;
    writable($conn);
}


sub rejected { return '{"status":"rejected","reason":"' . $_[0] . '"}' }


my %behaviours = (
    accept => sub { respond($_[0], 200, $accepted) },

    reject => sub {
        my ($conn, $reason) = @_;
        respond($conn, 200, defined $reason ? rejected($reason)
                                            : '{"status":"rejected"}');
    },

    # with a Retry-After, if there is one
    answer => sub {
        my ($conn, $status, $after) = @_;
        respond($conn, $status,
                $status == 204 ? '' : '{"error":"as the test wants it"}',
                defined $after ? "Retry-After: $after" : ());
    },

    delay => sub {
        my ($conn, $ms, @then) = @_;
        after($ms / 1000, sub { behave($conn, "@then" || 'accept') });
    },

    hang => sub { $_[0]{hung} = 1; $hung++ },

    hold => sub { push @held, $_[0] },

    reset => sub {
        my ($conn) = @_;
        setsockopt($conn->{socket}, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
        drop($conn);
    },

    close => sub { drop($_[0]) },

    garbage => sub { respond($_[0], 200, "\x00\xff{\"status\":\xfe[[[") },

    empty => sub { respond($_[0], 200, '') },

    unknown => sub { respond($_[0], 200, '{"status":"perhaps"}') },

    long_reason => sub { respond($_[0], 200, rejected('x' x ($_[1] || LONG))) },

    bad_reason => sub {
        respond($_[0], 200, rejected("caf\xc3\xa9 \\u0000\\n\\ud800 \xf0\x9f"));
    },

    deep => sub { respond($_[0], 200, '[' x DEEP) },

    huge => sub {
        respond($_[0], 200, '{"status":"accepted","x":"' . 'x' x HUGE . '"}');
    },

    huge_head => sub {
        respond($_[0], 200, $accepted, 'X-Long: ' . 'x' x LONG);
    },

    not_http => sub {
        $_[0]{last} = 1;
        $_[0]{busy} = 0;
        send_bytes($_[0], "220 mail.example ESMTP\r\n" x 3);
    },

    short => sub {
        $_[0]{last} = 1;
        $_[0]{busy} = 0;
        send_bytes($_[0], "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n"
                          . $accepted);
    },

    short_chunked => sub {
        $_[0]{last} = 1;
        $_[0]{busy} = 0;
        send_bytes($_[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                          . "\r\n15\r\n$accepted\r\n");
    },

    chunked => sub {
        $_[0]{busy} = 0;
        send_bytes($_[0], "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n"
                          . "\r\n15\r\n$accepted\r\n0\r\n\r\n");
    },

    # the body, a byte at a time; "drip" has no end

    trickle => sub {
        my ($conn) = @_;
        send_bytes($conn, "HTTP/1.1 200 OK\r\nContent-Length: "
                          . length($accepted) . "\r\n\r\n");
        trickle($conn, $accepted);
    },

    drip => sub {
        my ($conn) = @_;
        send_bytes($conn, "HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n");
        trickle($conn, ' ' x 1_000_000);
    },
);


sub trickle {
    my ($conn, $rest) = @_;

    return if !$conn->{socket};

    $conn->{busy} = 0 if length $rest == 1;

    send_bytes($conn, substr($rest, 0, 1, ''));

    after(TRICKLE, sub { trickle($conn, $rest) }) if length $rest;
}


sub behave {
    my ($conn, $behaviour, @rest) = @_;

    return if !$conn->{socket};

    if (!defined $behaviour) {
        control($conn, @rest);
        return;
    }

    my ($name, @arguments) = split / /, $behaviour;
    my $does = $behaviours{$name}
        // sub { respond($_[0], 599, qq({"error":"no behaviour $name"})) };

    $does->($conn, @arguments);
}


# of the test

sub control {
    my ($conn, $path, $body) = @_;

    if ($path eq '/_gateway/behave') {
        for (split /\n/, $body) {
            my ($what, $prefix, $does) = split /\t/;

            @rules = grep { "@$_[0, 1]" ne "$what $prefix" } @rules;
            unshift @rules, [$what, $prefix, $does] if defined $does;
        }

    } elsif ($path eq '/_gateway/release') {
        my ($behaviour, $count) = split /\t/, $body;
        my @free = grep { $_->{socket} } @held;

        @held = splice @free, $count || @free;
        behave($_, $behaviour) for @free;
    }

    @held = grep { $_->{socket} } @held;

    respond($conn, 200, sprintf '%d %d %d %d', scalar @held, $hung, $order,
                                keys(%conns) - 1);
}


1;

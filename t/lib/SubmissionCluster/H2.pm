package SubmissionCluster::H2;

# HTTP/2 as far as tests need it, on a blocking socket: requests in one piece of
# bytes, so that they arrive together, and answers as far as their headers.
#
#   my $h2 = SubmissionCluster::H2->open($port, window => 0);
#   $h2->send(map { SubmissionCluster::H2::request($_, 'GET', '/') } 1, 3, 5);
#   $h2->headers(3);            # of so many answers: these take no window
#   my %bodies = $h2->answers(3);       # by their streams
#
# Headers are literal, without Huffman's code; nobody else's are decoded.

use strict;
use warnings;

use Socket;

use constant { DATA => 0, HEADERS => 1, SETTINGS => 4 };
use constant { END_STREAM => 1, END_HEADERS => 4 };
use constant { INITIAL_WINDOW_SIZE => 4 };


sub frame {
    my ($type, $flags, $stream, $payload) = @_;

    return substr(pack('N', length $payload), 1)
           . pack('CCN', $type, $flags, $stream) . $payload;
}


sub request {
    my ($stream, $method, $path, $body) = @_;

    my $headers = join '', map { pack('C C/a* C/a*', 0, @$_) }
        [':method', $method], [':scheme', 'http'], [':path', $path],
        [':authority', 'test'];

    return frame(HEADERS, END_HEADERS | (defined $body ? 0 : END_STREAM),
                 $stream, $headers)
           . (defined $body ? frame(DATA, END_STREAM, $stream, $body) : '');
}


# "window": of each stream, as the client grants it

sub open {
    my ($class, $port, %options) = @_;

    socket(my $sock, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";
    connect($sock, pack_sockaddr_in($port, INADDR_LOOPBACK))
        or die "connect(): $!";
    $sock->autoflush(1);

    my $self = bless { sock => $sock }, $class;

    $self->send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                frame(SETTINGS, 0, 0, pack('nN', INITIAL_WINDOW_SIZE,
                                           $options{window} // 65535)));

    return $self;
}


sub send {
    my ($self, @bytes) = @_;

    my $sock = $self->{sock};

    print $sock join('', @bytes) or die "send: $!";
}


sub next_frame {
    my ($self) = @_;

    read($self->{sock}, my $head, 9) == 9 or die "closed without an answer\n";

    my ($high, $low, $type, $flags, $stream) = unpack 'CnCCN', $head;
    my $length = ($high << 16) + $low;

    read($self->{sock}, my $payload, $length) == $length or die "torn\n";

    return ($type, $flags, $stream, $payload);
}


sub _within {
    my ($code) = @_;

    local $SIG{ALRM} = sub { die "no answer in time\n" };
    alarm 20 * SubmissionCluster::slow();

    my @result = $code->();

    alarm 0;

    return @result;
}


# returns the stream of the last

sub headers {
    my ($self, $n) = @_;

    my $last;

    _within(sub {
        while ($n) {
            my ($type, undef, $stream) = $self->next_frame;

            next if $type != HEADERS;

            $last = $stream;
            $n--;
        }
    });

    return $last;
}


sub answers {
    my ($self, $n) = @_;

    my %bodies;

    return _within(sub {
        while ($n) {
            my ($type, $flags, $stream, $payload) = $self->next_frame;

            next if $type != DATA && $type != HEADERS;

            $bodies{$stream} //= '';
            $bodies{$stream} .= $payload if $type == DATA;
            $n-- if $flags & END_STREAM;
        }

        return %bodies;
    });
}


sub close { CORE::close($_[0]{sock}) }


1;

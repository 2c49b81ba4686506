package SubmissionCluster::Client;

# HTTP clients for the cluster tests: many keep-alive connections in one
# process, on one select() loop, precise about what became of each request.
#
#   turn($seconds)      lets all connections go on for at most so long
#
#   SubmissionCluster::Connection    one connection, pipelining included
#   SubmissionCluster::Load          intents from many connections, and the
#                                    books about them
#
# What became of a request is a hash.  A complete answer has "status",
# "headers" (lower-case names), "body" and "seconds"; "complete" means the
# status line, all headers and Content-Length bytes of body.  Otherwise
# "lost" says why there is none:
#
#   refused      there was no connection, the server never saw the request
#   unanswered   the connection ended before the first byte of an answer
#   torn         it ended within the answer
#
# "reused" is the number of answers that the connection had given before.

use strict;
use warnings;

use Time::HiRes qw(sleep);

use SubmissionAnswers;

our %connections;

my ($readers, $writers) = ('', '');


sub turn {
    my ($seconds) = @_;

    if (!%connections) {
        sleep($seconds);
        return;
    }

    my $n = select(my $r = $readers, my $w = $writers, undef, $seconds);

    return if $n <= 0;

    # an event of one connection may close or open others

    for my $fd (keys %connections) {
        my $conn;

        if (vec($w, $fd, 1) && ($conn = $connections{$fd})) {
            $conn->writable;
        }

        if (vec($r, $fd, 1) && ($conn = $connections{$fd})) {
            $conn->readable;
        }
    }
}


# an HTTP/1.1 request as bytes

sub request {
    my ($method, $path, $body, @headers) = @_;

    my $head = "$method $path HTTP/1.1\r\nHost: test\r\n";

    $head .= "$_\r\n" for @headers;

    if (defined $body) {
        $head .= "Content-Type: application/json\r\n"
               . "Content-Length: " . length($body) . "\r\n";
    }

    return "$head\r\n" . ($body // '');
}


sub intent {
    my ($id, $payload, $target) = @_;

    $target //= 'sms.realtime';

    return qq({"intentId":"$id","submissionTarget":"$target",)
           . qq("payload":$payload});
}


package SubmissionCluster::Connection;

use Errno qw(EAGAIN EINPROGRESS EINTR);
use Socket qw(:DEFAULT IPPROTO_TCP TCP_NODELAY);
use Time::HiRes qw(time);


# receive: of its socket's buffer, bytes

sub open {
    my ($class, $port, %options) = @_;

    my $self = bless {
        port => $port, in => '', out => '', waiting => [], answers => 0,
    }, $class;

    socket(my $socket, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";

    $socket->blocking(0);
    setsockopt($socket, IPPROTO_TCP, TCP_NODELAY, 1);
    setsockopt($socket, SOL_SOCKET, SO_RCVBUF, $options{receive})
        if $options{receive};

    $self->{socket} = $socket;
    $self->{fd} = fileno $socket;

    $connections{$self->{fd}} = $self;
    vec($readers, $self->{fd}, 1) = 1;

    if (connect($socket, pack_sockaddr_in($port, INADDR_LOOPBACK))) {
        $self->{connected} = 1;

    } elsif ($! == EINPROGRESS) {
        vec($writers, $self->{fd}, 1) = 1;

    } else {
        $self->close;
    }

    return $self;
}


# $done->($result) is called once, when the answer is complete or cannot come

sub send {
    my ($self, $bytes, $done) = @_;

    my ($request) = $bytes =~ m{^([A-Z]+ \S+) HTTP/1\.1\r\n};

    push @{$self->{waiting}},
         [$done, time, $request && [split / /, $request]];

    if (!$self->{socket}) {
        $self->lose;
        return $self;
    }

    $self->{out} .= $bytes;
    $self->writable;

    return $self;
}


# the rest of what was sent last

sub more {
    my ($self, $bytes) = @_;

    return if !$self->{socket};

    $self->{out} .= $bytes;
    $self->writable;
}


sub writable {
    my ($self) = @_;

    if (!$self->{connected}) {
        return if !getpeername($self->{socket});
        $self->{connected} = 1;
    }

    if (length $self->{out}) {
        my $n = syswrite($self->{socket}, $self->{out});

        if (defined $n) {
            substr($self->{out}, 0, $n, '');

        } elsif ($! != EAGAIN && $! != EINTR) {
            # what was answered before may still be read
            $self->{out} = '';
        }
    }

    vec($writers, $self->{fd}, 1) = length $self->{out} ? 1 : 0;
}


sub readable {
    my ($self) = @_;

    my $n = sysread($self->{socket}, $self->{in}, 65536, length $self->{in});

    if ($n) {
        1 while @{$self->{waiting}} && $self->answer;
        return;
    }

    return if !defined $n && ($! == EAGAIN || $! == EINTR);

    $self->close;
}


sub answer {
    my ($self) = @_;

    my $end = index($self->{in}, "\r\n\r\n");
    return 0 if $end < 0;

    my ($first, @lines) = split /\r\n/, substr($self->{in}, 0, $end);
    my ($status) = $first =~ m{^HTTP/1\.1 (\d{3}) };

    my %headers;

    for (@lines) {
        my ($name, $value) = split /:\s*/, $_, 2;
        $headers{lc $name} = $value;
    }

    my $length = ($status // 0) =~ /^(?:204|304)$/ ? 0 : $headers{'content-length'};

    if (!$status || !defined $length) {
        # nothing here is sent in another way, so this is not an answer
        $self->close;
        return 0;
    }

    return 0 if length $self->{in} < $end + 4 + $length;

    my $body = substr($self->{in}, $end + 4, $length);
    substr($self->{in}, 0, $end + 4 + $length, '');

    my ($done, $since, $request) = @{shift @{$self->{waiting}}};

    SubmissionAnswers::record($request, $status, \%headers, $body);

    my $result = {
        status => $status, headers => \%headers, body => $body,
        seconds => time - $since, reused => $self->{answers}++,
        port => $self->{port}, pid => $headers{'x-pid'},
    };

    $self->{last_pid} = $result->{pid};

    $self->close if ($headers{connection} // '') eq 'close';

    $done->($result);

    return 1;
}


sub is_open { return defined $_[0]{socket} }


# reads nothing, or reads again

sub deaf { vec($readers, $_[0]{fd}, 1) = $_[1] ? 0 : 1 if $_[0]{socket} }


# no more requests will come, answers may

sub half_close { return shutdown($_[0]{socket}, 1) }


# as a client that vanishes: the kernel sends RST

sub reset {
    my ($self) = @_;

    return if !$self->{socket};

    setsockopt($self->{socket}, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
    $self->close;
}


sub close {
    my ($self) = @_;

    return if !$self->{socket};

    delete $connections{$self->{fd}};
    vec($readers, $self->{fd}, 1) = 0;
    vec($writers, $self->{fd}, 1) = 0;

    CORE::close(delete $self->{socket});

    $self->lose;
}


sub lose {
    my ($self) = @_;

    my $torn = length $self->{in};

    $self->{in} = '';

    while (my $waiting = shift @{$self->{waiting}}) {
        $waiting->[0]->({
            lost => $torn ? 'torn' : $self->{connected} ? 'unanswered'
                                                        : 'refused',
            reused => $self->{answers}, seconds => time - $waiting->[1],
            port => $self->{port}, pid => $self->{last_pid},
        });

        $torn = 0;
    }
}


package SubmissionCluster::Load;

# Posts intents "<prefix>-1", "<prefix>-2"... from many connections, each with
# one request at a time, and keeps the books:
#
#   {answered}{$id}   the body of the first 200
#   {created}{$id}    how many 200 without Idempotent-Replayed there were
#   {replayed}{$id}   how many with it
#   {statuses}{$code} how many answers with a status
#   {lost}{$why}      how many requests had no complete answer
#   {retried}{$id}    how often it was sent again without one
#
# Options: ports, connections, prefix, target, total (else it goes on until
# stopped), large (every n-th payload has 20 kB), rate (so many a second at the
# most), path (a sub that makes one of an id), split (head and body are sent one
# after the other, as many clients do), on_result, and which outcomes are tried
# again: retry => [...] of "refused", "unanswered", "unanswered_reused" (on a
# connection that had answered before), "torn", or a status.  Any other but 200
# is final, and in {final}{$id}.

use Time::HiRes qw(time);


sub new {
    my ($class, %options) = @_;

    my $self = bless {
        prefix => 'load', connections => 32, retry => [], %options,
        sent => 0, outstanding => 0, queue => [], paused => 0,
        answered => {}, created => {}, replayed => {}, statuses => {},
        lost => {}, retried => {}, final => {}, results => 0,
    }, $class;

    $self->{retry} = { map { $_ => 1 } @{$self->{retry}} };

    my @ports = @{$self->{ports}};

    for my $i (1 .. $self->{connections}) {
        push @{$self->{slots}}, { port => $ports[$i % @ports] };
    }

    return $self;
}


sub start {
    my ($self) = @_;

    my @idle = grep { !$_->{busy} } @{$self->{slots}};

    $self->{paused} = 0;

    if ($self->{rate}) {
        $self->{idle} = \@idle;
        $self->{since} = time - $self->{sent} / $self->{rate};

    } else {
        $self->_feed($_) for @idle;
    }

    return $self;
}


# nothing new is sent, what is out may still be answered

sub pause {
    my ($self) = @_;

    $self->{paused} = 1;

    return $self;
}


sub close {
    my ($self) = @_;

    $self->pause;
    $_->{conn} && $_->{conn}->close for @{$self->{slots}};
}


sub payload {
    my ($self, $id) = @_;

    my ($number) = $id =~ /(\d+)$/;
    my $more = $self->{large} && $number % $self->{large} == 0
               ? 'x' x 20_000 : '';

    return qq({"to":"+15550100", "text":"$id \\u00e9\xc3\xa9$more",)
           . ' "n":1.50e2}';
}


sub finished {
    my ($self) = @_;

    return !$self->{outstanding} && !@{$self->{queue}}
           && ($self->{paused} || ($self->{total}
                                   && $self->{sent} >= $self->{total}));
}


sub _next {
    my ($self) = @_;

    return shift @{$self->{queue}} if @{$self->{queue}};
    return if $self->{total} && $self->{sent} >= $self->{total};
    return $self->{prefix} . '-' . ++$self->{sent};
}


sub _feed {
    my ($self, $slot) = @_;

    return if $self->{paused};

    my $id = $self->_next // return;

    if (!$slot->{conn} || !$slot->{conn}->is_open) {
        $slot->{conn} = SubmissionCluster::Connection->open($slot->{port});
    }

    $slot->{busy} = 1;
    $self->{outstanding}++;

    my $path = $self->{path} ? $self->{path}->($id) : '/v1/intents';
    my $bytes = SubmissionCluster::Client::request('POST', $path,
        SubmissionCluster::Client::intent($id, $self->payload($id),
                                          $self->{target}));
    my $body = $self->{split} ? substr($bytes, index($bytes, "\r\n\r\n") + 4,
                                       length $bytes, '') : '';

    push @{$self->{bodies}}, [$slot->{conn}, $body] if $self->{split};

    $slot->{conn}->send($bytes, sub { $self->_result($slot, $id, @_) });
}


sub _result {
    my ($self, $slot, $id, $result) = @_;

    $slot->{busy} = 0;
    $self->{outstanding}--;
    $self->{results}++;

    my $what = $result->{lost} // $result->{status};

    if (defined $result->{lost}) {
        $self->{lost}{$what}++;

    } else {
        $self->{statuses}{$what}++;
    }

    if ($what eq '200') {
        my $replayed = defined $result->{headers}{'idempotent-replayed'};

        $self->{$replayed ? 'replayed' : 'created'}{$id}++;
        $self->{answered}{$id} //= $result->{body};

        push @{$self->{changed}}, $id
            if $self->{answered}{$id} ne $result->{body};

    } elsif ($self->{retry}{$what}
             || ($what eq 'unanswered' && $result->{reused}
                 && $self->{retry}{unanswered_reused}))
    {
        $self->{retried}{$id}++;
        push @{$self->{queue}}, $id;

    } else {
        $self->{final}{$id} = $what;
    }

    $self->{on_result}->($id, $result) if $self->{on_result};

    # a server that is away is not asked again in the same turn

    if (defined $result->{lost} || $self->{rate}) {
        push @{$self->{idle}}, $slot;
        return;
    }

    $self->_feed($slot);
}


# connections that lost theirs go on; called once in each turn

sub tick {
    my ($self) = @_;

    $_->[0]->more($_->[1]) for splice(@{$self->{bodies} //= []});

    my $idle = delete $self->{idle} // return;

    if ($self->{paused}) {
        $self->{idle} = $idle;
        return;
    }

    if ($self->{rate}) {
        my $n = int($self->{rate} * (time - $self->{since})) - $self->{sent};

        $n = 0 if $n < 0;
        push @{$self->{idle}}, splice(@$idle, $n) if $n < @$idle;
    }

    $self->_feed($_) for grep { !$_->{busy} } @$idle;
}


sub count { return scalar keys %{$_[0]{$_[1]}} }


1;

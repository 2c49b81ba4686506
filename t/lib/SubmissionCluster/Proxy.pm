package SubmissionCluster::Proxy;

# A TCP proxy before a server, in a process of its own, that does to its
# connections what the test says:
#
#   my $proxy = SubmissionCluster::Proxy->new($server_port);
#   $proxy->port
#   $proxy->pass                       bytes go through
#   $proxy->refuse                     whoever connects is reset
#   $proxy->blackhole                  accepts, and never answers again
#   $proxy->delay($seconds)            each answer is that late
#   $proxy->cut($way, $bytes)          each connection ends after so many bytes
#                                      "to" or "from" the server, from now on
#   $proxy->lose($pattern)             the server gets what matches, and has
#                                      answered it when the connection is reset
#   $proxy->hang($pattern)             the server gets it; nothing after that
#                                      goes either way
#   $proxy->choke($pattern)            the same, and the server's answer is not
#                                      even read: it cannot get rid of it
#   $proxy->reset                      all connections are, now
#   $proxy->stats                      { open, accepted, done }
#
# lose(), hang() and choke() are done once; "done" counts them.  What was in a
# blackhole stays there: it is as if the other end had gone without a word.
# pass() is for connections that come later, or have nothing of that.

use strict;
use warnings;

use IO::Handle;
use IO::Select;
use IO::Socket::INET;
use POSIX ();
use Socket;
use Time::HiRes qw(time);


sub new {
    my ($class, $to) = @_;

    my $listen = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 1024,
                                       ReuseAddr => 1)
        or die "proxy: $!";

    socketpair(my $ours, my $its, AF_UNIX, SOCK_STREAM, PF_UNSPEC)
        or die "socketpair(): $!";

    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        close $ours;
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
        $SIG{PIPE} = 'IGNORE';
        eval { _serve($listen, $its, $to); 1 } or print STDERR "proxy: $@";
        POSIX::_exit(0);
    }

    close $its;
    $ours->autoflush(1);

    return bless { pid => $pid, control => $ours, port => $listen->sockport },
                 $class;
}


sub port { return $_[0]{port} }

sub _say {
    my ($self, @words) = @_;

    print {$self->{control}} join("\t", @words), "\n";
    my $line = readline($self->{control}) // die "the proxy is gone\n";
    chomp $line;

    return $line;
}

sub pass      { $_[0]->_say('pass') }
sub refuse    { $_[0]->_say('refuse') }
sub blackhole { $_[0]->_say('blackhole') }
sub delay     { $_[0]->_say('delay', $_[1]) }
sub cut       { $_[0]->_say('cut', $_[1], $_[2]) }
sub lose      { $_[0]->_say('lose', $_[1]) }
sub hang      { $_[0]->_say('hang', $_[1]) }
sub choke     { $_[0]->_say('choke', $_[1]) }
sub reset     { $_[0]->_say('reset') }
sub server    { $_[0]->_say('server', $_[1]) }

sub stats {
    my ($self) = @_;

    my %stats;

    @stats{qw(open accepted done)} = split /\t/, $self->_say('stats');

    return \%stats;
}


sub stop {
    my ($self) = @_;

    my $pid = delete $self->{pid} // return;

    kill('KILL', $pid);
    waitpid($pid, 0);
}


# the process

my (%ends, $select, $mode, @mode, $to, $accepted, $done, @late);


sub _serve {
    my ($listen, $control);

    ($listen, $control, $to) = @_;

    $mode = 'pass';
    $accepted = $done = 0;
    $select = IO::Select->new($listen, $control);
    $control->autoflush(1);

    while () {
        my $wait = @late ? $late[0][0] - time : undef;

        $wait = 0 if defined $wait && $wait < 0;

        for my $ready ($select->can_read($wait)) {
            if ($ready == $listen) {
                _accept($listen);

            } elsif ($ready == $control) {
                my $line = readline $control;
                return if !defined $line;
                chomp $line;
                print $control _control(split /\t/, $line), "\n";

            } elsif ($ends{$ready}) {
                _read($ready);
            }
        }

        while (@late && $late[0][0] <= time) {
            my ($at, $code) = @{shift @late};
            $code->();
        }
    }
}


sub _control {
    my ($word, @arguments) = @_;

    return join("\t", scalar(keys %ends) / 2, $accepted, $done)
        if $word eq 'stats';

    if ($word eq 'reset') {
        _close_all();
        return 'ok';
    }

    if ($word eq 'server') {
        $to = $arguments[0];
        return 'ok';
    }

    ($mode, @mode) = ($word, @arguments);

    for my $end (values %ends) {
        my $conn = $end->{conn};

        $conn->{to} = $conn->{from} = 0;
        $conn->{dead} = 1 if $mode eq 'blackhole';
    }

    _close_all() if $mode eq 'refuse';

    return 'ok';
}


sub _close_all {
    for my $end (keys %ends) {
        _close($ends{$end}{conn}) if $ends{$end};
    }
}


sub _late {
    my ($seconds, $code) = @_;

    @late = sort { $a->[0] <=> $b->[0] } @late, [time + $seconds, $code];
}


sub _accept {
    my ($listen) = @_;

    my $client = $listen->accept // return;
    my $conn = { client => $client, to => 0, from => 0, seen => '' };

    $accepted++;

    if ($mode eq 'refuse') {
        _reset($client);
        return;
    }

    setsockopt($client, Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1);

    if ($mode eq 'blackhole') {
        $conn->{dead} = 1;

        # it counts as open, and is read to know when the client gives up

        $conn->{server} = IO::Handle->new;

    } else {
        $conn->{server} = IO::Socket::INET->new(PeerAddr => "127.0.0.1:$to");

        if (!$conn->{server}) {
            _reset($client);
            return;
        }

        setsockopt($conn->{server}, Socket::IPPROTO_TCP, Socket::TCP_NODELAY,
                   1);
        $select->add($conn->{server});
    }

    $select->add($client);

    $ends{$client} = { conn => $conn, way => 'to' };
    $ends{$conn->{server}} = { conn => $conn, way => 'from' };
}


sub _reset {
    my ($socket) = @_;

    setsockopt($socket, SOL_SOCKET, SO_LINGER, pack('ii', 1, 0));
    close $socket;
}


sub _close {
    my ($conn) = @_;

    for my $socket (@$conn{qw(client server)}) {
        delete $ends{$socket};
        $select->remove($socket);
        _reset($socket) if defined fileno $socket;
    }

    $conn->{closed} = 1;
}


sub _read {
    my ($socket) = @_;

    my ($conn, $way) = @{$ends{$socket}}{qw(conn way)};
    my $n = sysread($socket, my $bytes, 65536);

    if (!$n) {
        _close($conn);
        return;
    }

    return if $conn->{dead};

    if ($mode eq 'cut' && $mode[0] eq $way) {
        my $left = $mode[1] - $conn->{$way};

        $conn->{$way} += $n;

        if ($left <= $n) {
            _write($conn, $way, substr($bytes, 0, $left)) if $left > 0;
            _late(0.005, sub { _close($conn) if !$conn->{closed} });
            $conn->{dead} = 1;
            $done++;
            return;
        }
    }

    # what is asked for may come in parts

    if ($way eq 'to' && $mode =~ /^(?:lose|hang|choke)$/) {
        $conn->{seen} = substr($conn->{seen}, -200) . $bytes;

        if ($conn->{seen} =~ /$mode[0]/s) {
            $conn->{$mode} = 1;
            $conn->{dead} = 1 if $mode ne 'lose';
            $done++ if $mode ne 'lose';
            $select->remove(@$conn{qw(client server)}) if $mode eq 'choke';
            $mode = 'pass';
        }
    }

    # the whole answer has come when nothing more does

    if ($way eq 'from' && $conn->{lose}) {
        return if $conn->{losing}++;
        _late(0.1, sub {
            return if $conn->{closed};
            $done++;
            _close($conn);
        });
        return;
    }

    if ($way eq 'from' && $mode eq 'delay') {
        _late($mode[0], sub { _write($conn, $way, $bytes) });
        return;
    }

    _write($conn, $way, $bytes);
}


sub _write {
    my ($conn, $way, $bytes) = @_;

    return if $conn->{closed};

    my $socket = $conn->{$way eq 'to' ? 'server' : 'client'};

    while (length $bytes) {
        my $n = syswrite($socket, $bytes);

        if (!$n) {
            _close($conn);
            return;
        }

        substr($bytes, 0, $n, '');
    }
}


1;

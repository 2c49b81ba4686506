package SubmissionCluster::Raw;

# A gateway that does what gateways should not: the test has the connection.
#
#   my $raw = SubmissionCluster::Raw->new(sub {
#       my ($socket, $head) = @_;
#       syswrite($socket, "HTTP/1.1 200 OK\r\n\r\n") if $head =~ m{^POST /half };
#   });
#   my $port = $raw->port;
#
# The request has been read when the function is called, unless a pattern says
# of a head that this is enough (early => qr/.../); undef is the head of one that
# did not come.  The connection is closed after it.  Each has a process, which
# lives for a minute at the most; all end with the test.

use strict;
use warnings;

use IO::Socket::INET;
use POSIX ();


sub new {
    my ($class, $answer, %options) = @_;

    my $listener = IO::Socket::INET->new(LocalAddr => '127.0.0.1',
                                         Listen => 128, ReuseAddr => 1)
        // die "listen: $!";
    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        serve($listener, $answer, $options{early});
        POSIX::_exit(0);
    }

    return bless { port => $listener->sockport, pid => $pid, parent => $$ },
                 $class;
}


sub port { return $_[0]{port} }


sub serve {
    my ($listener, $answer, $early) = @_;

    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
    $SIG{$_} = 'IGNORE' for qw(CHLD PIPE);
    setpgrp(0, 0);

    while (my $socket = $listener->accept) {
        next if fork;

        alarm 60;
        $answer->($socket, request($socket, $early));
        close $socket;
        POSIX::_exit(0);
    }
}


# reads a request; its head

sub request {
    my ($socket, $early) = @_;

    my ($in, $head, $length) = ('');

    while (sysread($socket, $in, 65536, length $in)) {
        ($head) = $in =~ /^(.*?\r\n\r\n)/s or next;
        ($length) = $head =~ /\r\nContent-Length: (\d+)/i;
        last if $early && $head =~ $early;
        last if length $in >= length($head) + ($length // 0);
    }

    return $head;
}


sub DESTROY {
    my ($self) = @_;

    local ($?, $!);
    kill('KILL', -$self->{pid}) if $$ == $self->{parent};
}


1;

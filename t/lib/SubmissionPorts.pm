package SubmissionPorts;

# Ports for those whom a test starts.

use strict;
use warnings;

use Exporter qw(import);
use Socket;

our @EXPORT_OK = qw(free_port free_ports);

# ephemeral ports begin at 32768: those below are ours to choose from

use constant { FIRST_PORT => 21000, PORTS => 8000 };

my @claims;


# A port that nobody listens on, and that no other test takes: an abstract
# socket with its number is held until this process ends.

sub free_port {
    my $offset = ($$ * 37) % PORTS;

    for my $i (0 .. PORTS - 1) {
        my $port = FIRST_PORT + ($offset + $i) % PORTS;

        socket(my $claim, PF_UNIX, SOCK_DGRAM, 0) or die "socket(): $!";
        bind($claim, pack_sockaddr_un("\0submission-test-port-$port")) or next;

        socket(my $socket, PF_INET, SOCK_STREAM, 0) or die "socket(): $!";
        setsockopt($socket, SOL_SOCKET, SO_REUSEADDR, 1);
        bind($socket, pack_sockaddr_in($port, INADDR_ANY)) or next;
        listen($socket, 1) or next;

        push @claims, $claim;

        return $port;
    }

    die "no free port\n";
}


# The first of so many that follow one another.

sub free_ports {
    my ($n) = @_;

    my @ports;

    until (@ports == $n) {
        my $port = free_port();

        @ports = () if @ports && $port != $ports[-1] + 1;
        push @ports, $port;
    }

    return $ports[0];
}


1;

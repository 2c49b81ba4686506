package SubmissionCluster::Fifo;

# Holds up the event loop of an instance's only worker, in a write to a log that
# nobody reads, while its threads go on.
#
#   my $a = $cluster->instance('a', workers => 1,
#                              server => SubmissionCluster::Fifo::location());
#   my $fifo = SubmissionCluster::Fifo->new($a);      # before it is started
#   $fifo->block;
#   ...
#   $fifo->unblock;
#
# Not by SIGSTOP: that would stop the threads too, and a worker that goes on looks
# at its timers first then, as its epoll_wait() ends with EINTR.

use strict;
use warnings;

use Fcntl qw(O_NONBLOCK O_RDWR);
use POSIX qw(mkfifo);

BEGIN { *wait_for = \&SubmissionCluster::wait_for }


sub location {
    return 'location = /block { access_log logs/fifo; return 204; }';
}


# nginx opens it when it starts, which waits for a reader

sub new {
    my ($class, $instance) = @_;

    my $path = "$instance->{dir}/logs/fifo";

    mkfifo($path, 0600) or die "mkfifo: $!";
    sysopen(my $file, $path, O_RDWR|O_NONBLOCK) or die "$path: $!";

    return bless { instance => $instance, file => $file }, $class;
}


# returns when the worker has answered, and is about to log that

sub block {
    my ($self) = @_;

    my $filled = 0;

    for my $size (4096, 1) {
        $filled += $size while syswrite($self->{file}, 'x' x $size);
    }

    my $answered;
    my $conn = SubmissionCluster::Connection->open($self->{instance}{port});

    $conn->send(SubmissionCluster::Client::request('GET', '/block'),
                sub { $answered = 1 });

    wait_for('it is answered, before it is logged', sub { $answered });

    @$self{qw(filled conn)} = ($filled, $conn);
}


sub unblock {
    my ($self) = @_;

    sysread($self->{file}, my $bytes, delete $self->{filled});
    (delete $self->{conn})->close;
}


1;

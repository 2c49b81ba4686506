package SubmissionReceiver;

# A receiver of webhooks: it writes each request down when it is complete, and
# then answers as the test wants.
#
#   my $receiver = SubmissionReceiver->new("$dir/hooks", sub {
#       my ($request, $n) = @_;      # the n-th with this webhook-id
#       return $n == 1 ? (503, 'Retry-After: 1') : 204;
#   });
#   my @requests = $receiver->requests;   # {path, headers, body, status, time}
#
# undef answers nothing, and closes the connection.  It is a process of its own,
# which ends with the test.

use strict;
use warnings;

use IO::Select;
use IO::Socket::INET;
use JSON::PP;
use POSIX ();
use Time::HiRes qw(time);

my $json = JSON::PP->new->canonical->latin1;


sub new {
    my ($class, $file, $answer) = @_;

    my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 512,
                                       ReuseAddr => 1)
        or die "listen(): $!";

    open(my $out, '>', $file) or die "$file: $!";
    $out->autoflush(1);
    pipe(my $alive, my $hold) or die "pipe(): $!";

    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        close $hold;
        setpgrp(0, 0);
        eval { serve($socket, $out, $alive, $answer) };
        print STDERR $@ if $@;
        POSIX::_exit(0);
    }

    close $alive;

    return bless { pid => $pid, file => $file, hold => $hold,
                   port => $socket->sockport }, $class;
}


sub serve {
    my ($socket, $out, $alive, $answer) = @_;

    my $select = IO::Select->new($socket, $alive);
    my (%data, %times);

    while (1) {
        for my $ready ($select->can_read) {
            return if $ready == $alive;

            if ($ready == $socket) {
                my $client = $socket->accept or next;
                $select->add($client);
                $data{$client} = '';
                next;
            }

            my $got = sysread($ready, $data{$ready}, 65536,
                              length $data{$ready});
            my $request = parse($data{$ready});

            next if $got && !$request;

            if ($request) {
                my $id = $request->{headers}{'webhook-id'} // '';
                my ($status, @headers) = $answer->($request, ++$times{$id});

                $request->{status} = $status;
                $request->{time} = time;
                print $out $json->encode($request) . "\n";

                syswrite($ready, join("\r\n", "HTTP/1.1 $status X", @headers,
                                      'Content-Length: 0',
                                      'Connection: close', '', ''))
                    if $status;
            }

            $select->remove($ready);
            delete $data{$ready};
            close $ready;
        }
    }
}


sub parse {
    my ($text) = @_;

    $text =~ /\A(\S+) (\S+) \S+\r\n(.*?)\r\n\r\n/s or return;

    my ($method, $path, $lines, $end) = ($1, $2, $3, $+[0]);
    my %headers;

    for (split /\r\n/, $lines) {
        my ($name, $value) = /^([^:]+):\s*(.*)$/ or next;
        $headers{lc $name} = $value;
    }

    my $body = substr $text, $end;

    return if length $body < ($headers{'content-length'} // 0);
    return { method => $method, path => $path, headers => \%headers,
             body => $body };
}


sub requests {
    my ($self) = @_;

    open(my $in, '<', $self->{file}) or die "$self->{file}: $!";

    return map { /\n\z/ ? $json->decode($_) : () } <$in>;
}


sub port { return $_[0]{port} }


sub DESTROY {
    my ($self) = @_;

    close $self->{hold};
    waitpid($self->{pid}, 0);
}


1;

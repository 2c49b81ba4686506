package SubmissionCluster::Gateway;

# A gateway that records what it is sent, and behaves as the test wants.
#
#   my $gateway = SubmissionCluster::Gateway->new($dir);
#   $gateway->behave('/slow' => 'hold', 'vip-' => 'delay 200');
#   ...
#   $gateway->wait_for_sends(200);
#   $gateway->release;
#
# It is a process of its own (Gateway/Server.pm), which ends with the test.
# Each request is written down when its head and body are complete, before it
# is answered: what is not in sends() was not sent, or not whole.
#
# How it behaves is said for paths and intent ids that begin with something, the
# last said counts, or else by the payload, {"gateway":"reject no_such_number"},
# or else it accepts:
#
#   accept              {"status":"accepted"}
#   reject <reason>     {"status":"rejected","reason":...}; without one, none
#   answer <status> [<retry after>]
#   delay <ms> [<behaviour>]
#   hang                never answers
#   hold                answers when release() says so
#   fail <n> [<behaviour>[, <behaviour>]]
#                       the first n requests of an intent so (answer 500), and
#                       then so (accept)
#   reset, close        RST, or FIN, and no answer
#   not_http            speaks SMTP
#   long_reason [<bytes>]   rejects, with a reason of 100 KB
#   bad_reason          rejects, control characters and broken UTF-8 in it
#   garbage, empty, deep, unknown
#                       a body that is no JSON, none, nested 50,000 deep, with
#                       an unknown status
#   huge, huge_head     a body of 10 MB, a header of 100 KB
#   short, short_chunked    ends before the body does
#   chunked             accepts, chunked
#   trickle, drip       accepts, a byte every 100 ms; the same without an end

use strict;
use warnings;

use POSIX ();
use Time::HiRes qw(time);

BEGIN {
    *wait_for = \&SubmissionCluster::wait_for;
    *fetch = \&SubmissionCluster::fetch;
}

my @columns = qw(order turn monotonic time id attempt epoch request type
                 behaviour length md5);


sub new {
    my ($class, $dir) = @_;

    my $self = bless {
        file => "$dir/gateway.record", dir => $dir, sends => [], of => {},
        port => SubmissionCluster::free_port(),
    }, $class;

    return $self->start;
}


sub start {
    my ($self) = @_;

    pipe(my $stdin, my $hold) or die "pipe(): $!";
    pipe(my $ready, my $stdout) or die "pipe(): $!";

    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        setpgrp(0, 0);
        $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
        open(STDIN, '<&', $stdin);
        open(STDOUT, '>&', $stdout);
        open(STDERR, '>>', "$self->{dir}/gateway.stderr");
        { exec($^X, "-I$SubmissionCluster::top/t/lib",
               '-MSubmissionCluster::Gateway::Server',
               '-e', 'SubmissionCluster::Gateway::Server::run(@ARGV)',
               $self->{port}, $self->{file}) }
        POSIX::_exit(127);
    }

    close $stdin;
    close $stdout;

    $self->{pid} = $pid;
    $self->{hold} = $hold;

    my $line = <$ready> // '';

    die "the gateway did not start, see $self->{dir}/gateway.stderr\n"
        if $line ne "ready\n";

    return $self;
}


# connections to it are refused then; start() again

sub stop {
    my ($self) = @_;

    my $pid = delete $self->{pid} // return;

    close(delete $self->{hold});
    kill('KILL', $pid);
    waitpid($pid, 0);
}


sub control {
    my ($self, $what, $body) = @_;

    my $result = fetch($self, 'POST', "/_gateway/$what", $body // '');

    die "the gateway does not answer, see $self->{dir}/gateway.stderr\n"
        if !$result || ($result->{status} // 0) != 200;

    my %state;

    @state{qw(held hung requests connections)} = split / /, $result->{body};

    return \%state;
}


# paths begin with a slash, intent ids do not; undef undoes what was said

sub behave {
    my ($self, @rules) = @_;

    my $body = '';

    while (my ($prefix, $behaviour) = splice(@rules, 0, 2)) {
        $body .= join("\t", $prefix =~ m{^/} ? 'path' : 'id', $prefix,
                      $behaviour // ()) . "\n";
    }

    return $self->control('behave', $body);
}


sub state { return $_[0]->control('state') }

sub held { return $_[0]->state->{held} }


sub release {
    my ($self, $behaviour, $count) = @_;

    return $self->control('release', join("\t", $behaviour // 'accept',
                                                $count // 0));
}


# all requests so far, in the order in which they came

sub sends {
    my ($self) = @_;

    if (!$self->{record}) {
        open($self->{record}, '<', $self->{file}) or die "$self->{file}: $!";
        $self->{rest} = '';
    }

    while (sysread($self->{record}, $self->{rest}, 1 << 20,
                   length $self->{rest})) { }

    while ($self->{rest} =~ /\G([^\n]*)\n/gc) {
        my %send;

        @send{@columns} = map { s/%([0-9A-F]{2})/chr hex $1/ger }
                          split /\t/, $1, -1;
        $send{path} = (split / /, $send{request})[1];

        push @{$self->{sends}}, \%send;
        push @{$self->{of}{$send{id}}}, \%send;
    }

    substr($self->{rest}, 0, pos($self->{rest}) // 0, '');

    return @{$self->{sends}};
}


sub sends_of {
    my ($self, $id) = @_;

    $self->sends;

    return @{$self->{of}{$id} // []};
}


sub count { return scalar(my @sends = $_[0]->sends) }


# at least so many, of all or of those that a sub picks

sub wait_for_sends {
    my ($self, $n, %options) = @_;

    my $which = $options{which};

    return wait_for("the gateway is sent $n requests", sub {
        my @sends = $self->sends;
        @sends = grep { $which->($_) } @sends if $which;
        @sends >= $n;
    }, $options{timeout});
}


sub wait_for_held {
    my ($self, $n, $timeout) = @_;

    return wait_for("the gateway holds $n requests", sub { $self->held >= $n },
                    $timeout);
}


# no more sends come for so long: where nothing is what is expected

sub quiet_for {
    my ($self, $seconds) = @_;

    my ($count, $since) = ($self->count, time);

    wait_for('nothing is sent', sub {
        my $now = $self->count;

        ($count, $since) = ($now, time) if $now != $count;
        time - $since >= $seconds;
    });

    return $count;
}


1;

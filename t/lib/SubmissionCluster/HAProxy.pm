package SubmissionCluster::HAProxy;

# HAProxy before the instances of a cluster, in the foreground, with the text of
# haproxy.cfg.example: addresses and paths are replaced, nothing else.
#
#   my $proxy = $cluster->haproxy;
#   $proxy->start;
#   fetch($proxy, 'GET', '/v1/cluster');
#
# SUBMISSION_HAPROXY names another binary than Debian's, and
# SUBMISSION_HAPROXY_EXAMPLE another text, to see a test fail with it.

use strict;
use warnings;

use File::Path qw(make_path);
use IO::Socket::INET;
use POSIX qw(WNOHANG);

BEGIN { *wait_for = \&SubmissionCluster::wait_for }


sub new {
    my ($class, $dir, @instances) = @_;

    my $self = bless {
        dir => $dir, instances => \@instances,
        port => SubmissionCluster::free_port(),
        stats_port => SubmissionCluster::free_port(),
        admin_port => SubmissionCluster::free_port(),
    }, $class;

    make_path($dir);

    return $self;
}


sub binary { return $ENV{SUBMISSION_HAPROXY} // '/usr/sbin/haproxy' }


sub example {
    return $ENV{SUBMISSION_HAPROXY_EXAMPLE}
           // "$SubmissionCluster::top/haproxy.cfg.example";
}


# what HAProxy has to say against a file, be it a warning; nothing if all is well

sub complaints {
    my ($self, $file) = @_;

    my $output = `'@{[binary()]}' -c -dW -f '$file' 2>&1`;

    return $? == 0 ? () : ($output, "status $?");
}


sub configuration {
    my ($self) = @_;

    open(my $file, '<', example()) or die example() . ": $!";

    my $text = join '', <$file>;
    my $host = '127.0.0.1';

    my @replacements = (
        [qr{^    bind \K:80$}m, "$host:$self->{port}"],
        [qr{^    bind \K127\.0\.0\.1:8404$}m, "$host:$self->{stats_port}"],
        [qr{^    log \K/dev/log}m, 'stdout'],
        [qr{^    stats socket \K/\S+}m, "$host:$self->{admin_port}"],
        map({ [qr{^    server sm$_ \K\S+}m,
               "$host:$self->{instances}[$_ - 1]{port}"] }
            1 .. @{$self->{instances}}),
    );

    # only root becomes another, and has a root of its own

    push @replacements, map { [qr{^    $_ .*\n}m, ''] } qw(chroot user group)
        if $> != 0;

    for (@replacements) {
        my ($pattern, $with) = @$_;

        $text =~ s/$pattern/$with/g
            or die example() . " has nothing that is like $pattern\n";
    }

    return $text;
}


# returns when all instances are up, by HAProxy's own view

sub start {
    my ($self) = @_;

    my $conf = "$self->{dir}/haproxy.cfg";

    open(my $file, '>', $conf) or die "$conf: $!";
    print $file $self->configuration;
    close $file or die "$conf: $!";

    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        setpgrp(0, 0);
        $SIG{$_} = 'DEFAULT' for qw(PIPE INT TERM HUP);
        open(STDIN, '<', '/dev/null');
        open(STDOUT, '>>', "$self->{dir}/log");
        open(STDERR, '>>', "$self->{dir}/stderr.log");
        { exec(binary(), '-db', '-f', $conf) }
        POSIX::_exit(127);
    }

    $self->{pid} = $pid;

    wait_for('HAProxy has checked all instances', sub {
        waitpid($pid, WNOHANG) == 0
            or die "HAProxy did not start, see $self->{dir}\n";
        $self->up == @{$self->{instances}};
    });

    return $self;
}


sub stop {
    my ($self) = @_;

    my $pid = delete $self->{pid} // return;

    kill('KILL', $pid);
    waitpid($pid, 0);
}


# one by one, of the backend, "submission" unless it is named, in HAProxy's words:
# "status", "check_status", "stot"...

sub servers {
    my ($self, $backend) = @_;

    $backend //= 'submission';

    my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1', Timeout => 5,
                                       PeerPort => $self->{admin_port})
        or return;

    print $socket "show stat\n";

    my ($head, @lines) = <$socket>;
    my @names = split /,/, ($head // '') =~ s/^# //r;
    my @servers;

    for (@lines) {
        chomp;

        my %server;

        @server{@names} = split /,/, $_, -1;
        push @servers, \%server
            if ($server{pxname} // '') eq $backend
               && $server{svname} ne 'BACKEND';
    }

    return @servers;
}


# up, and checked: one that was not checked yet is taken for up

sub up {
    return scalar grep { $_->{status} eq 'UP' && $_->{check_status} eq 'L7OK' }
                  $_[0]->servers;
}


sub down { return scalar grep { $_->{status} =~ /^DOWN/ } $_[0]->servers }


# Requests that were logged: "server", "status", "retries", which begins with
# "+" if another server was tried, "termination" and "request".

sub requests {
    my ($self) = @_;

    open(my $file, '<', "$self->{dir}/log") or return;

    my @requests;

    for (<$file>) {
        my %request;

        @request{qw(server status termination retries request)} =
            m{ submission/(\S+)\ \S+\ (-?\d+)\ \S+\ \S+\ \S+\ (\S+)
               \ \S+/(\+?\d+)\ \S+\ "(.*)"$}x
            or next;

        push @requests, \%request;
    }

    return @requests;
}


1;

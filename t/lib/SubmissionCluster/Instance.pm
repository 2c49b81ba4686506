package SubmissionCluster::Instance;

# One nginx: its configuration, its processes, its log.

use strict;
use warnings;

use File::Path qw(make_path);
use List::Util qw(sum);
use POSIX qw(WNOHANG);
use Time::HiRes qw(time);

use SubmissionCluster::Process;

BEGIN { *wait_for = \&SubmissionCluster::wait_for }


# Options: workers, daemon, store_timeout; zone, its size; threads, arguments of
# thread_pool; store, that directive's arguments, if it is another than the
# cluster's; intake, an intake directive's arguments; connections, of a worker;
# targets, blocks in place of the usual ones; executor, that directive's
# arguments; main, events, http, manager, server, dispatch: lines for these
# blocks; wrapper, a command that runs nginx.
#
# Unless something else is said the executor is off: nobody leads, and intents
# stay as they were posted.

my $targets = <<'END';
        target sms.realtime {
            gateway_type  sms;
            gateway_url   http://127.0.0.1:9;
            policy        deadline 1h;
            retry_delay   30m;
        }

        target push.marketing {
            gateway_type  push;
            gateway_url   http://127.0.0.1:9;
            policy        max_attempts 3;
        }
END


sub new {
    my ($class, $cluster, $name, %options) = @_;

    my $self = bless {
        cluster => $cluster, name => $name, workers => 2, expected => [],
        connections => 1024, targets => $targets, executor => 'off',
        user => $cluster->{user}, dir => "$cluster->{dir}/$name",
        port => SubmissionCluster::free_port(), %options,
    }, $class;

    make_path("$self->{dir}/conf", "$self->{dir}/logs", "$self->{dir}/tmp");

    return $self;
}


sub error_log { return "$_[0]{dir}/logs/error.log" }


sub configure {
    my ($self, %options) = @_;

    $self->{$_} = $options{$_} for keys %options;

    open(my $file, '>', "$self->{dir}/conf/nginx.conf") or die "nginx.conf: $!";
    print $file $self->configuration;
    close $file or die "nginx.conf: $!";
}


sub configuration {
    my ($self) = @_;

    my %lines = map { $_ => $self->{$_} // '' }
                qw(main events http manager server dispatch);

    # without prove.sh: the nginx of the machine, and what was built for it

    my $module = $ENV{SUBMISSION_MODULE} // $SubmissionCluster::top
                                     . '/build/ngx_http_submission_module.so';
    my $load = $module ? "load_module $module;" : '';
    my $user = $self->{user} ? "user $self->{user};" : '';
    my $daemon = $self->{daemon} ? 'on' : 'off';

    # a new binary (USR2) has only the environment that is named, and without
    # this its sanitizers would know neither suppressions nor where to report

    my $env = join "\n", map { "env $_;" } grep { defined $ENV{$_} }
              qw(ASAN_OPTIONS LSAN_OPTIONS UBSAN_OPTIONS);
    my $threads = $self->{threads} // 'threads=4';
    my $zone = $self->{zone} // '1m';
    my $intake = $self->{intake} ? "intake $self->{intake};" : '';
    my $executor = $self->{executor} ? "executor $self->{executor};" : '';
    my $store = $self->{store} // $self->{cluster}->store->directive(
        timeout => $self->{store_timeout} // '5s');

    return <<"END";
$load
$user
$env
daemon $daemon;
worker_processes $self->{workers};
pid logs/nginx.pid;
error_log logs/error.log info;
thread_pool submission $threads;
$lines{main}

events {
    worker_connections $self->{connections};
    $lines{events}
}

http {
    access_log off;
    keepalive_requests 1000000;

    client_body_temp_path tmp/body;
    proxy_temp_path       tmp/proxy;
    fastcgi_temp_path     tmp/fastcgi;
    uwsgi_temp_path       tmp/uwsgi;
    scgi_temp_path        tmp/scgi;
    $lines{http}

    submission_manager main {
        zone $zone;
        thread_pool submission;
        store $store;
        $intake
        $executor
        $lines{manager}

$self->{targets}
    }

    server {
        listen 127.0.0.1:$self->{port};
        server_name test;

        # which worker answered
        add_header X-Pid \$pid always;

        location /v1/       { submission_api main; }
        location = /readyz  { submission_readyz main; }
        location = /metrics { submission_metrics main; }
        location = /healthz { return 200 "ok\\n"; }
        location = /status  { stub_status; }

        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass \$submission_gateway_url;
            $lines{dispatch}
        }
        $lines{server}
    }
}
END
}


sub command {
    my ($self) = @_;

    return (@{$self->{wrapper} // []},
            $ENV{SUBMISSION_NGINX} // '/usr/sbin/nginx', '-p', "$self->{dir}/",
            '-c', 'conf/nginx.conf', '-e', 'logs/error.log');
}


# Each instance leads a process group: so all of its processes can be ended at
# once, and no other.

sub spawn {
    my ($self) = @_;

    $self->configure;

    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        setpgrp(0, 0);
        $SIG{$_} = 'DEFAULT' for qw(PIPE INT TERM HUP);
        open(STDIN, '<', '/dev/null');
        open(STDOUT, '>>', "$self->{dir}/logs/stderr.log");
        open(STDERR, '>&', \*STDOUT);
        { exec($self->command) }
        POSIX::_exit(127);
    }

    setpgrp($pid, $pid);

    if (!$self->{daemon}) {
        $self->{pid} = $pid;
        return $self;
    }

    # it forks, leads a session, and the first process returns

    waitpid($pid, 0);

    $self->{pid} = wait_for("$self->{name} writes its pid file",
                            sub { $self->pid_file });

    return $self;
}


sub pid_file {
    my ($self, $suffix) = @_;

    open(my $file, '<', "$self->{dir}/logs/nginx.pid" . ($suffix // ''))
        or return;
    my $pid = <$file> // return;
    chomp $pid;

    return $pid;
}


sub start {
    my ($self) = @_;

    $self->spawn;
    $self->wait_ready;

    return $self;
}


sub wait_ready {
    my ($self) = @_;

    my $ok = eval {
        wait_for("$self->{name} is ready", sub {
            die "nginx is gone\n" if !$self->running;
            my $result = SubmissionCluster::fetch($self, 'GET', '/readyz');
            $result && ($result->{status} // 0) == 200
            && $self->worker_pids >= $self->{workers};
        });
    };

    return if $ok;

    die "$self->{name} did not start: $@", $self->log_tail;
}


sub running {
    my ($self) = @_;

    return $self->{pid} && SubmissionCluster::Process::alive($self->{pid});
}


# after an upgrade the process group is still that of the first master

sub adopt {
    my ($self, $pid) = @_;

    $self->{group} //= $self->{pid};
    $self->{pid} = $pid;
}


sub master { return $_[0]{pid} }

sub group { return $_[0]{group} // $_[0]{pid} }

sub processes { return SubmissionCluster::Process::group($_[0]->group) }


# pids of workers that run, those that are shutting down apart

sub worker_pids {
    my ($self, $master) = @_;

    my @pids = SubmissionCluster::Process::children($master // $self->{pid});

    # there, processes have no titles of their own
    return @pids if ($ENV{SUBMISSION_CHECK} // '') eq 'valgrind';

    return grep {
        SubmissionCluster::Process::title($_) =~ /worker process *$/;
    } @pids;
}


sub retiring_pids {
    my ($self) = @_;

    return grep { SubmissionCluster::Process::title($_) =~ /shutting down/ }
           $self->processes;
}


sub signal {
    my ($self, $signal, $pid) = @_;

    kill($signal, $pid // $self->{pid}) or die "kill $signal: $!";
}


# SIGSTOP, but not to one who has the lock of the store, for which all others
# would wait then

sub pause {
    my ($self, @pids) = @_;

    my $store = $self->{cluster}->store;
    my $lock = $store->lock;

    $self->signal('STOP', $_) for @pids;

    wait_for("processes of $self->{name} are stopped", sub {
        !grep {
            SubmissionCluster::Process::info($_)->{state} ne 'T';
        } @pids;
    });

    $store->unlock($lock);
}


# Returns when all workers are new ones; with wait_old, when the old are gone.

sub reload {
    my ($self, %options) = @_;

    $self->configure;

    my %old = map { $_ => 1 } $self->worker_pids;

    $self->signal('HUP');

    wait_for("$self->{name} has new workers after a reload", sub {
        my @new = grep { !$old{$_} } $self->worker_pids;
        @new == $self->{workers};
    });

    return if !$options{wait_old};

    wait_for("old workers of $self->{name} are gone after a reload", sub {
        !grep { SubmissionCluster::Process::alive($_) } keys %old;
    }, $options{wait_old} > 1 ? $options{wait_old} : undef);
}


# graceful; returns how many seconds it took

sub quit {
    my ($self, %options) = @_;

    my $start = time;

    $self->signal('QUIT');
    $self->wait_gone($options{timeout});

    return time - $start;
}


sub kill_group {
    my ($self) = @_;

    kill('KILL', -$self->group) if $self->{pid};
}


sub wait_gone {
    my ($self, $timeout) = @_;

    my $pid = $self->{pid} // return;
    my $group = $self->group;

    wait_for("all processes of $self->{name} are gone", sub {
        waitpid($pid, WNOHANG);
        !SubmissionCluster::Process::group($group);
    }, $timeout);

    delete @$self{qw(pid group)};
}


sub log_lines {
    my ($self, $pattern) = @_;

    open(my $file, '<', $self->error_log) or return;

    return grep { !defined $pattern || /$pattern/ } <$file>;
}


# What /metrics says, by series without the prefix: { 'leader' => 1, ... }.

sub metrics {
    my ($self, $path) = @_;

    my $result = SubmissionCluster::fetch($self, 'GET', $path // '/metrics');

    die "no metrics of $self->{name}\n" if ($result->{status} // 0) != 200;

    return { $result->{body} =~ /^submission_(\S+) (\S+)$/mg };
}


# the value of a series, or the sum of those that match a pattern

sub metric {
    my ($self, $series) = @_;

    my $values = $self->metrics;
    my @names = grep { ref $series ? /$series/ : $_ eq $series } keys %$values;

    die "there is no series $series\n" if !@names;

    return sum(@$values{@names});
}


# how often an operation was asked of the store

sub calls { return $_[0]->metric(qq(store_call_seconds_count{op="$_[1]"})) }


sub log_count { return scalar(() = $_[0]->log_lines($_[1])) }


sub log_tail {
    my ($self) = @_;

    my @lines = $self->log_lines;

    if (open(my $file, '<', "$self->{dir}/logs/stderr.log")) {
        push @lines, <$file>;
    }

    return splice(@lines, @lines > 20 ? -20 : 0);
}


# lines that would fail the test, but belong to what it does

sub expect_log { push @{$_[0]{expected}}, $_[1] }


sub bad_log_lines {
    my ($self) = @_;

    my @lines = $self->log_lines(qr/\[(?:alert|crit|emerg)\]|Sanitizer|
                                    runtime\ error:|==\d+==|
                                    exited\ with\ code\ [1-9]/x);

    if (open(my $file, '<', "$self->{dir}/logs/stderr.log")) {
        push @lines, grep { /Sanitizer|runtime error:|==\d+==/ } <$file>;
    }

    for my $expected (@{$self->{expected}}) {
        @lines = grep { !/$expected/ } @lines;
    }

    return @lines;
}


1;

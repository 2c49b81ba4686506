package SubmissionCluster;

# Real nginx instances for tests: each with a prefix, a port and a process
# group of its own, on one store.
#
#   my $cluster = SubmissionCluster->new;
#   my $a = $cluster->instance('a');
#   my $b = $cluster->instance('b', workers => 1, intake => 'queue=10');
#   $cluster->start;
#   ...
#   $cluster->done;           # instead of done_testing()
#
# done() stops what still runs and fails the test on [alert], [crit], [emerg]
# and sanitizers' reports in any instance's log, unless expect_log() has
# declared them.  Processes are ended, mounts undone and ports given back when
# the test ends, however it ends.  The directory stays if the test failed.
#
# Nothing sleeps: wait_for() turns the select() loop of the clients until a
# condition holds, so that load goes on meanwhile.

use strict;
use warnings;

use Cwd qw(abs_path);
use Exporter qw(import);
use File::Basename qw(basename dirname);
use File::Path qw(make_path remove_tree);
use IO::Handle;
use IPC::Open3;
use POSIX qw(WNOHANG);
use Socket;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster::Client;

our @EXPORT = qw(wait_for fetch post_intent intent_id slow);

# ephemeral ports begin at 32768: those below are ours to choose from

use constant { FIRST_PORT => 21000, PORTS => 8000, TIMEOUT => 20 };

our $top = abs_path(dirname(__FILE__) . '/../..');

my (@clusters, @loads, @claims, $ids);
my $owner = $$;

$SIG{PIPE} = 'IGNORE';
$SIG{$_} = sub { exit 1 } for qw(INT TERM HUP);

END {
    if ($$ == $owner) {
        my $status = $?;
        $_->cleanup for @clusters;
        $? = $status;
    }
}


# how many times slower things may be under a checker

sub slow { return $ENV{SUBMISSION_CHECK} ? 4 : 1 }


# the condition's value; dies when it does not hold in time

sub wait_for {
    my ($what, $condition, $timeout) = @_;

    $timeout = ($timeout // TIMEOUT) * slow();

    my $end = time + $timeout;
    my $value = _holds($condition, $end);

    return $value if $value;

    die sprintf "waited %.0f s in vain: %s\n", $timeout, $what;
}


sub _holds {
    my ($condition, $end) = @_;

    my $next = 0;

    while () {
        my $now = time;

        # conditions may be dear, turns are not

        if ($now >= $next) {
            my $value = $condition->();
            return $value if $value || $now >= $end;
            $next = time + 0.005;
        }

        $_->tick for @loads;
        SubmissionCluster::Client::turn(0.005);
    }
}


# one request on a connection of its own, at most $timeout seconds

sub fetch {
    my ($instance, $method, $path, $body, %options) = @_;

    my $result;
    my $conn = SubmissionCluster::Connection->open($instance->{port});
    my $bytes = SubmissionCluster::Client::request($method, $path, $body,
                                                   'Connection: close',
                                                   @{$options{headers} // []});

    $conn->send($bytes, sub { $result = $_[0] });

    _holds(sub { $result },
           time + ($options{timeout} // TIMEOUT) * slow());

    $conn->close;

    return $result;
}


sub post_intent {
    my ($instance, $id, %options) = @_;

    return fetch($instance, 'POST', '/v1/intents',
                 SubmissionCluster::Client::intent($id,
                     $options{payload} // qq({"for":"$id"}), $options{target}),
                 %options);
}


sub intent_id { return sprintf '%s-%d', $_[0], ++$ids }


sub new {
    my ($class, %options) = @_;

    my $name = basename($0, '.t');
    my $base = $ENV{SUBMISSION_TEST_DIR} // "$top/build";
    my $dir = "$base/cluster-$name.$$" . (@clusters ? '.' . @clusters : '');

    my $self = bless { dir => $dir, instances => [], mounts => [] }, $class;

    push @clusters, $self;

    make_path("$dir/store");

    # root's workers are not root, if they can get at their files then

    if ($> == 0 && !exists $options{user}) {
        $options{user} = _passable($dir) ? 'nobody nogroup' : 'root root';
    }

    $self->{user} = $options{user};
    $self->{store} = SubmissionCluster::Store->new($self);

    return $self;
}


sub _passable {
    my ($dir) = @_;

    for (my $path = $dir; $path ne '/'; $path = dirname($path)) {
        return 0 if !((stat $path)[2] & 1);
    }

    return 1;
}


sub store { return $_[0]{store} }

sub instances { return @{$_[0]{instances}} }

sub unprivileged { return ($_[0]{user} // '') ne 'root root' }


sub instance {
    my ($self, $name, %options) = @_;

    my $instance = SubmissionCluster::Instance->new($self, $name, %options);

    push @{$self->{instances}}, $instance;

    return $instance;
}


sub start {
    my ($self) = @_;

    $_->spawn for grep { !$_->running } $self->instances;
    $_->wait_ready for $self->instances;

    return $self;
}


# SIGKILL to all processes of all instances; does not wait

sub kill_now {
    my ($self) = @_;

    $_->kill_group for $self->instances;
}


sub wait_gone {
    my ($self) = @_;

    $_->wait_gone for $self->instances;
}


# load on these instances, which goes on whenever something is waited for

sub load {
    my ($self, %options) = @_;

    my $instances = delete $options{instances} // [$self->instances];

    my $load = SubmissionCluster::Load->new(
        ports => [map { $_->{port} } @$instances], %options);

    push @loads, $load;

    return $load;
}


# GETs all that was answered 200; what differs from the answer is a problem

sub verify {
    my ($self, $load, %options) = @_;

    my @ids = @{$options{ids} // [sort keys %{$load->{answered}}]};
    my @ports = map { $_->{port} } $self->instances;
    my $out = 0;
    my (@problems, $next);

    $next = sub {
        my ($conn) = @_;

        my $id = shift @ids // return;

        $out++;

        $conn->send(SubmissionCluster::Client::request('GET',
                                                       "/v1/intents/$id"),
                    sub {
                        my ($result) = @_;
                        my $what = $result->{lost} // $result->{status};

                        $out--;

                        push @problems, "$id: $what"
                            if $what ne '200'
                               || $result->{body} ne $load->{answered}{$id};

                        $next->($conn);
                    });
    };

    my @conns = map { SubmissionCluster::Connection->open($ports[$_ % @ports]) }
                1 .. 32;

    $next->($_) for @conns;

    wait_for('all intents are read back', sub { !$out && !@ids }, 60);

    $_->close for @conns;

    return @problems;
}


sub mount_tmpfs {
    my ($self, $dir, $size) = @_;

    return 'not root' if $> != 0;

    my $output = `mount -t tmpfs -o size=$size,mode=0755 tmpfs '$dir' 2>&1`;

    return "mount: $output" if $? != 0;

    push @{$self->{mounts}}, $dir;

    return;
}


# stops everything and looks at the logs

sub finish {
    my ($self) = @_;

    for my $instance ($self->instances) {
        $instance->quit if $instance->running;
    }

    for my $instance ($self->instances) {
        my @lines = $instance->bad_log_lines;

        is_deeply(\@lines, [], "nothing alarming in the log of $instance->{name}");
    }

    $self->{ok} = 1;
}


sub done {
    my ($self) = @_;

    $self->finish;
    done_testing();
}


sub cleanup {
    my ($self) = @_;

    return if $self->{clean}++;

    $_->kill_group for $self->instances;

    for my $instance ($self->instances) {
        eval { $instance->wait_gone; 1 } or warn $@;
    }

    $self->{store}->cleanup;

    for my $dir (@{$self->{mounts}}) {
        system('umount', $dir) == 0 or system('umount', '-l', $dir);
    }

    if ($self->{ok} && Test::More->builder->is_passing) {
        remove_tree($self->{dir});

    } else {
        diag("what the test left is in $self->{dir}");
    }
}


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


package SubmissionCluster::Process;

# processes by what /proc knows of them

sub info {
    my ($pid) = @_;

    open(my $file, '<', "/proc/$pid/stat") or return;
    my $line = <$file> // return;

    # the name may hold anything, parentheses too

    my ($state, $parent, $group) = $line =~ /^\d+ \(.*\) (\S) (\d+) (\d+)/s
        or return;

    return { state => $state, parent => $parent, group => $group };
}


sub alive {
    my $stat = SubmissionCluster::Process::info($_[0]) or return 0;

    return $stat->{state} !~ /[ZX]/;
}


sub all {
    opendir(my $dir, '/proc') or die "/proc: $!";

    return grep { /^\d+$/ } readdir $dir;
}


sub group {
    my ($group) = @_;

    return grep {
        my $stat = SubmissionCluster::Process::info($_);
        $stat && $stat->{group} == $group && $stat->{state} !~ /[ZX]/;
    } all();
}


sub children {
    my ($parent) = @_;

    return grep {
        my $stat = SubmissionCluster::Process::info($_);
        $stat && $stat->{parent} == $parent && $stat->{state} !~ /[ZX]/;
    } all();
}


sub title {
    my ($pid) = @_;

    open(my $file, '<', "/proc/$pid/cmdline") or return '';
    local $/;

    return (<$file> // '') =~ tr/\0/ /r;
}


# kilobytes that only this process has: no shared memory, no mapped files

sub memory {
    my ($pid) = @_;

    open(my $file, '<', "/proc/$pid/status") or return 0;

    for (<$file>) {
        return $1 if /^RssAnon:\s+(\d+) kB/;
    }

    return 0;
}


sub descriptors {
    my ($pid) = @_;

    opendir(my $dir, "/proc/$pid/fd") or return 0;

    return scalar grep { /^\d+$/ } readdir $dir;
}


package SubmissionCluster::Instance;

use File::Path qw(make_path);
use POSIX qw(WNOHANG);
use Time::HiRes qw(time);

use SubmissionCluster::Client;

BEGIN { *wait_for = \&SubmissionCluster::wait_for }


# Options: workers, daemon, busy_timeout; intake, an intake directive's
# arguments; main, events, http, manager, server: lines for these blocks.

sub new {
    my ($class, $cluster, $name, %options) = @_;

    my $self = bless {
        cluster => $cluster, name => $name, workers => 2, expected => [],
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
                qw(main events http manager server);

    # without prove.sh: the nginx of the machine, and what was built for it
    my $module = $ENV{SUBMISSION_MODULE}
                 // "$SubmissionCluster::top/build/ngx_http_submission_module.so";
    my $load = $module ? "load_module $module;" : '';
    my $user = $self->{user} ? "user $self->{user};" : '';
    my $daemon = $self->{daemon} ? 'on' : 'off';
    my $intake = $self->{intake} ? "intake $self->{intake};" : '';
    my $store = $self->{cluster}->store->directive($self->{busy_timeout});

    return <<"END";
$load
$user
daemon $daemon;
worker_processes $self->{workers};
pid logs/nginx.pid;
error_log logs/error.log info;
thread_pool submission threads=4;
$lines{main}

events {
    worker_connections 1024;
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
        zone 1m;
        thread_pool submission;
        $store
        $intake
        $lines{manager}

        target sms.realtime {
            gateway_type  sms;
            gateway_url   http://127.0.0.1:9;
            policy        deadline 1h;
        }

        target push.marketing {
            gateway_type  push;
            gateway_url   http://127.0.0.1:9;
            policy        max_attempts 3;
        }
    }

    server {
        listen 127.0.0.1:$self->{port};

        # which worker answered
        add_header X-Pid \$pid always;

        location /v1/       { submission_api main; }
        location = /readyz  { submission_readyz main; }
        location = /healthz { return 200 "ok\\n"; }
        location = /status  { stub_status; }

        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass \$submission_gateway_url;
        }
        $lines{server}
    }
}
END
}


sub command {
    my ($self) = @_;

    return ($ENV{SUBMISSION_NGINX} // '/usr/sbin/nginx', '-p', "$self->{dir}/",
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
            $result && ($result->{status} // 0) == 200;
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


# pids of workers, those that are shutting down apart

sub worker_pids {
    my ($self, $master) = @_;

    return grep { SubmissionCluster::Process::title($_) =~ /worker process *$/ }
           SubmissionCluster::Process::children($master // $self->{pid});
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
                                    runtime\ error:|==\d+==/x);

    if (open(my $file, '<', "$self->{dir}/logs/stderr.log")) {
        push @lines, grep { /Sanitizer|runtime error:|==\d+==/ } <$file>;
    }

    for my $expected (@{$self->{expected}}) {
        @lines = grep { !/$expected/ } @lines;
    }

    return @lines;
}


package SubmissionCluster::Store;

# The store that all instances share, of the kind that SUBMISSION_TEST_STORE
# names, and the test's own way to it.

use IPC::Open3;

BEGIN { *wait_for = \&SubmissionCluster::wait_for }


sub new {
    my ($class, $cluster) = @_;

    my $kind = $ENV{SUBMISSION_TEST_STORE} || 'sqlite';

    die "SUBMISSION_TEST_STORE=\"$kind\" is no store that tests know\n"
        if $kind ne 'sqlite';

    return bless {
        kind => $kind, dir => "$cluster->{dir}/store/data", others => [],
    }, $class;
}


sub kind { return $_[0]{kind} }

sub dir { return $_[0]{dir} }

sub file { return "$_[0]{dir}/submission.db" }


sub directive {
    my ($self, $busy_timeout) = @_;

    $busy_timeout //= '5s';

    return 'store sqlite ' . $self->file . " busy_timeout=$busy_timeout;";
}


# Rows of a query, as arrays.  While no nginx has the file open this process
# recovers it after a crash, in their place.

sub query {
    my ($self, $sql) = @_;

    open(my $pipe, '-|', 'sqlite3', '-batch', '-noheader', '-separator', "\t",
         '-cmd', '.timeout 20000', $self->file, $sql)
        or die "sqlite3: $!";

    my @rows = map { chomp; [split /\t/, $_, -1] } <$pipe>;

    close $pipe or die "sqlite3 failed: $sql\n";

    return @rows;
}


sub value {
    my ($self, $sql) = @_;

    my ($row) = $self->query($sql);

    return $row->[0];
}


# another process takes the write lock, and has it when this returns

sub lock { return $_[0]->_transaction('BEGIN IMMEDIATE; SELECT 1') }


# another process reads, and keeps what it sees from being overwritten

sub read_lock {
    return $_[0]->_transaction('BEGIN; SELECT 1 FROM submission_schema');
}


sub _transaction {
    my ($self, $sql) = @_;

    my $pid = open3(my $in, my $out, undef, 'sqlite3', '-batch', '-cmd',
                    '.timeout 20000', $self->file);

    print $in "$sql;\n";
    $in->flush;

    my $line = <$out> // '';

    die "sqlite3: $sql: $line\n" if $line ne "1\n";

    my $other = { pid => $pid, in => $in, out => $out };

    push @{$self->{others}}, $other;

    return $other;
}


sub unlock {
    my ($self, $other) = @_;

    my $pid = delete $other->{pid} // return;

    print {$other->{in}} "ROLLBACK;\n";

    close $other->{in};
    waitpid($pid, 0);
}


sub cleanup {
    my ($self) = @_;

    for my $other (@{$self->{others}}) {
        my $pid = delete $other->{pid} // next;

        kill('KILL', $pid);
        waitpid($pid, 0);
    }
}


1;

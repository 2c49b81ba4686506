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
# done() stops what still runs and fails the test on [alert], [crit], [emerg],
# workers that failed and sanitizers' reports in any instance's log, unless
# expect_log() declared them.  Processes are ended and mounts undone when
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
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster::Client;
use SubmissionCluster::Executor;
use SubmissionCluster::Fifo;
use SubmissionCluster::Gateway;
use SubmissionCluster::HAProxy;
use SubmissionCluster::Instance;
use SubmissionCluster::Lease;
use SubmissionCluster::Process;
use SubmissionPace qw(busy);
use SubmissionPorts qw(free_port);
use SubmissionStore;

our @EXPORT = qw(wait_for fetch post_intent intent_id pace slow seed);

use constant TIMEOUT => 20;

our $top = abs_path(dirname(__FILE__) . '/../..');

my (@clusters, @loads, $ids);
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


# How many times slower things are under a checker, and on a slow store: what
# times in a configuration are multiplied by.

sub pace {
    return SubmissionStore::kind_of()->pace
           * ($ENV{SUBMISSION_CHECK} ? 4 : 1);
}


# how many times slower things may be, here and now: a factor of bounds

sub slow { return pace() * busy() }


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


# What is done at random is done again with the seed that is told.

sub seed {
    my $seed = $ENV{SUBMISSION_SEED} || $$ + int(time);

    diag("SUBMISSION_SEED=$seed");
    srand($seed);

    return $seed;
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
    $self->{store} = SubmissionStore->new("$dir/store/data");

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

sub gateway {
    return $_[0]{gateway} //= SubmissionCluster::Gateway->new($_[0]{dir});
}

# before the instances that there are by now

sub haproxy {
    my ($self) = @_;

    return $self->{haproxy} //=
        SubmissionCluster::HAProxy->new("$self->{dir}/haproxy",
                                        $self->instances);
}

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


# $object->tick is called in each turn, whatever is waited for

sub each_turn {
    my ($self, $object) = @_;

    push @loads, $object;

    return $object;
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

        is_deeply(\@lines, [],
                  "nothing alarming in the log of $instance->{name}");
    }

    $self->{ok} = 1;
}


sub done {
    my ($self) = @_;

    $self->finish;
    done_testing();
}


# instead of all that, before anything is started

sub skip_test {
    my ($self, $why) = @_;

    $self->{ok} = 1;
    plan(skip_all => $why);
}


sub cleanup {
    my ($self) = @_;

    return if $self->{clean}++;

    $_->kill_group for $self->instances;

    for my $instance ($self->instances) {
        eval { $instance->wait_gone; 1 } or warn $@;
    }

    $self->{haproxy}->stop if $self->{haproxy};
    $self->{gateway}->stop if $self->{gateway};
    $self->{store}->cleanup if $self->{store};

    for my $dir (@{$self->{mounts}}) {
        system('umount', $dir) == 0 or system('umount', '-l', $dir);
    }

    if ($self->{ok} && Test::More->builder->is_passing) {
        remove_tree($self->{dir});

    } else {
        diag("what the test left is in $self->{dir}");
    }
}


1;

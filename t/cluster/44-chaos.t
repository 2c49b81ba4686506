# Everything at once, at random, for a while: workers and whole instances are
# killed, stopped for longer than the lease, reloaded; the gateway goes away and
# comes back; intents come in all the time.  When it is over, every intent that
# was taken comes to its end, and all that must hold does: see check() of
# SubmissionCluster::Executor and what SubmissionCluster::Lease looks at.
#
# SUBMISSION_SEED repeats what was done, though not when; SUBMISSION_SECONDS is
# for how long.
#
# Goes red when: any of the guarantees is broken in a way that nobody has
# thought of.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $seconds = $ENV{SUBMISSION_SECONDS} || 20;

seed();

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=64',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 2s;',
    targets => { 'sms.once' => { policy => 'one_shot', path => '/once' } },
    instance => { store_timeout => '1s',
                  main => 'worker_shutdown_timeout 1s;' });
my ($gateway, $lease, $cluster) = ($run->gateway, $run->leadership,
                                   $run->cluster);
my @instances = $run->instances;

$run->start;
$gateway->behave('/sms' => 'delay 30', '/once' => 'delay 50');

my @targets = qw(sms.realtime sms.once push.marketing);
my (@loads, %stopped, %done, $down, $n);


# until it is answered 200, whoever dies meanwhile

sub load {
    $n++;

    push @loads, $cluster->load(
        prefix => "load$n", total => 15, connections => 5,
        target => $targets[$n % @targets], instances => \@instances,
        retry => [qw(refused unanswered torn 500 502 503 504)])->start;
}


# one that is neither stopped nor gone

sub some {
    my @all = grep { $_->running && !$stopped{$_->{name}} } @instances;

    return $all[rand @all];
}


my %actions = (
    executor => sub {
        my $instance = some() // return;
        my ($pid) = $lease->executors($instance) or return;

        $lease->kill($instance, $pid);
    },

    worker => sub {
        my $instance = some() // return;
        my @pids = $instance->worker_pids or return;

        $lease->kill($instance, $pids[rand @pids]);
    },

    reload => sub {
        my $instance = some() // return;

        $instance->signal('HUP');
    },

    stop => sub {
        my $instance = some() // return;

        return if %stopped;

        kill('STOP', $instance->processes);
        $stopped{$instance->{name}} = time + 0.2 + rand 3.5;
    },

    gateway => sub {
        return if $down;

        $gateway->stop;
        $down = time + 0.1 + rand 1;
    },

    instance => sub {
        my $instance = some() // return;

        $lease->kill_tree($instance);
        $instance->spawn;
    },
);


# what is over by now, or all of it

sub undo {
    my ($all) = @_;

    for my $instance (grep { defined $stopped{$_->{name}} } @instances) {
        next if !$all && time < $stopped{$instance->{name}};

        kill('CONT', $instance->processes);
        delete $stopped{$instance->{name}};
    }

    if ($down && ($all || time >= $down)) {
        $gateway->start;
        $gateway->behave('/sms' => 'delay 30', '/once' => 'delay 50');
        $down = 0;
    }
}


# whole instances less often, and in the end all have come up

my @names = ((map { ($_) x 3 } grep { $_ ne 'instance' } sort keys %actions),
             'instance');
my $end = time + $seconds;

while (time < $end) {
    my $name = $names[rand @names];
    my $next = time + 0.1 + rand 0.5;

    load();
    $actions{$name}->();
    $done{$name}++;

    wait_for('the next one', sub { undo(); time >= $next });
}

undo(1);
note(join ', ', map { "$_: $done{$_}" } sort keys %done);

$_->wait_ready for @instances;

wait_for('all intents are taken', sub { !grep { !$_->finished } @loads }, 60);
$_->close for @loads;

$run->wait_terminal(undef, 60);

my $statuses = $run->statuses;
my $taken = 0;

$taken += $_->count('answered') for @loads;
note(join ', ', map { "$_: $statuses->{$_}" } sort keys %$statuses);

is($taken, 15 * $n, 'all intents were taken');
is($run->store->value('SELECT count(*) FROM submission_intents'), $taken,
   'and all are there');
is_deeply([grep { !/^accepted$|^exhausted\ (?:outcome_unknown|one_shot|
                     max_attempts)$/x } keys %$statuses], [],
          'they have ended as they may');
is($run->store->in_flight, 0, 'nothing is in flight');

# those who were killed, and a port that nginx had to try again for

$run->expect_kills;

$run->done;

# Targets are paused, resumed and broken at random, while the leader is killed
# and intents come in: nothing is sent to a paused target later than one refresh
# after the answer, no window at the gateway has more than a rate allows, and
# nothing is lost (G14, G15).
#
# SUBMISSION_SEED repeats what was done, though not when; SUBMISSION_SECONDS is
# for how long.  SUBMISSION_TEST_LONG=1: two minutes.
#
# Goes red when: any of these is broken in a way that nobody has thought of.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use List::Util qw(max);
use Test::More;
use Time::HiRes qw(time clock_gettime CLOCK_MONOTONIC);

use SubmissionCluster;

use constant { REFRESH => 0.2, RATE => 30, BURST => 10 };

my $seconds = $ENV{SUBMISSION_SECONDS}
              || ($ENV{SUBMISSION_TEST_LONG} ? 120 : 6);

seed();

my %more = (retry => '50ms', policy => 'max_attempts 100000',
            concurrency => 16);
my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '1s', renew => '200ms',
    acquire => '200ms', refresh => '200ms', executor => 'concurrency=48',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 2s;',
    targets => {
        'sms.plain' => { %more, path => '/plain' },
        'sms.limited' => { %more, path => '/limited',
                           limit => 'rate=' . RATE . 'r/s burst=' . BURST },
        'sms.circuit' => { %more, path => '/circuit',
            more => 'circuit failures=3 open=200ms max_open=500ms;' },
    },
    instance => { server => 'location /o/ { submission_api main '
                            . 'access=operate; }' });
my ($gateway, $lease, $cluster) = ($run->gateway, $run->leadership,
                                   $run->cluster);
my @instances = $run->instances;
my @targets = qw(plain limited circuit);
my (%paused, @pauses, @loads, %done, %broken, $n);

$run->start;


sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub pick { return $_[rand @_] }


# whoever is there answers

sub act {
    my ($target, $action) = @_;

    my ($began, $answer);

    wait_for("$target: $action", sub {
        my $instance = pick(grep { $_->running } @instances) // return;

        $began //= now();
        $answer = eval { fetch($instance, 'POST',
                               "/o/targets/sms.$target/$action", '') };

        return $answer && ($answer->{status} // 0) == 200;
    }, 30 * slow());

    return ($began, now());
}


sub resume {
    my ($target) = @_;

    # before it was asked, it was not sent for that

    my ($asked) = act($target, 'resume');

    push @pauses, [$target, delete $paused{$target}, $asked];
}


sub load {
    $n++;

    push @loads, $cluster->load(
        prefix => "load$n", total => 6, connections => 3,
        target => 'sms.' . $targets[$n % @targets], instances => \@instances,
        retry => [qw(refused unanswered torn 500 502 503 504)])->start;
}


my %actions = (
    pause => sub {
        my $target = pick(grep { !$paused{$_} } @targets) // return;

        $paused{$target} = (act($target, 'pause'))[1];
    },

    resume => sub {
        my $target = pick(keys %paused) // return;

        resume($target);
    },

    break => sub {
        my $target = pick(@targets);

        $broken{$target} = !$broken{$target};
        $gateway->behave("/$target" => $broken{$target}
                         ? pick('answer 500', 'answer 429', 'close') : undef);
    },

    executor => sub {
        my $instance = pick(grep { $_->running } @instances) // return;
        my ($pid) = $lease->executors($instance) or return;

        $lease->kill($instance, $pid);
    },

    instance => sub {
        my $instance = pick(grep { $_->running } @instances) // return;

        $lease->kill_tree($instance);
        $instance->spawn;
    },

    reload => sub {
        my $instance = pick(grep { $_->running } @instances) // return;

        $instance->signal('HUP');
    },
);

my @names = (qw(pause resume break) x 3, 'executor', 'executor', 'instance',
             'reload');
my $end = time + $seconds;

while (time < $end) {
    my $name = pick(@names);
    my $next = time + 0.1 + rand 0.4;

    load();
    $actions{$name}->();
    $done{$name}++;

    wait_for('the next one', sub { time >= $next });
}

note(join ', ', map { "$_: $done{$_}" } sort keys %done);

$gateway->behave(map { ("/$_" => undef) } @targets);
$_->wait_ready for @instances;

resume($_) for keys %paused;

wait_for('all intents are taken', sub { !grep { !$_->finished } @loads },
         60 * slow());
$_->close for @loads;

$run->wait_terminal(undef, 120 * slow());

my @late;
my %at;

push @{$at{$_->{path} =~ m{^/(\w+)} ? $1 : ''}}, $_->{monotonic}
    for $gateway->sends;

for my $pause (@pauses) {
    my ($target, $from, $to) = @$pause;

    push @late, grep { $_ > $from + REFRESH + 0.4 * slow() && $_ < $to }
                @{$at{$target} // []};
}

is(scalar @late, 0, @pauses . ' pauses: nothing later than it may be');

my ($worst, $base) = (-1e9, -1e9);
my @limited = @{$at{limited} // []};

for my $k (0 .. $#limited) {
    $base = max($base, RATE * $limited[$k] - $k);
    $worst = max($worst, $base + $k + 1 - RATE * $limited[$k]);
}

cmp_ok($worst, '<=', BURST + RATE * (0.1 + 0.1 * slow()),
       @limited . ' sends of the limited target: no window has too many');

my $statuses = $run->statuses;
my $taken = 0;

$taken += $_->count('answered') for @loads;

is($taken, 6 * $n, 'all intents were taken');
is_deeply($statuses, { accepted => $taken }, 'and all were accepted');
is($run->store->in_flight, 0, 'nothing is in flight');

$run->expect_kills;

$run->done;

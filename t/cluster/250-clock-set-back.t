# The clock of the store is set back, as SQLite's is with that of its host: what is
# shown is what is now, with its true age (G22).  Then the gateway dies, and every
# instance shows its target as ill within ten seconds; a leader that stands still is
# said to be silent.  The same after a clock that was a day ahead for a while.
#
# Goes red when: documents are dropped because their time is before that of the last
# one; an age is told by the difference of two clocks; history hides what comes
# after it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds qw(sqlite faketime no_checker);
use SubmissionCluster;

use constant { SOON => 10, TOLD => 20, YOUNG => 12, AHEAD => 12 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', renew => '3s', acquire => '5s',
    targets => { map { ("sms.$_" => { path => "/$_", policy => 'max_attempts 1000',
                                      retry => '500ms' }) } qw(first second) },
    instance => { main => 'worker_shutdown_timeout 3s; env LD_PRELOAD; '
                          . 'env FAKETIME_TIMESTAMP_FILE; env FAKETIME_NO_CACHE; '
                          . 'env FAKETIME_DONT_FAKE_MONOTONIC;' });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my @instances = $run->instances;
my $clock = $run->cluster->{dir} . '/clock';
my $leader;

sub ahead {
    my ($by) = @_;

    open my $out, '>', "$clock.new" or die "$clock: $!";
    print $out "$by\n";
    close $out or die "$clock: $!";
    rename "$clock.new", $clock or die "$clock: $!";
}

ahead('+0');

{
    local $ENV{LD_PRELOAD} = SubmissionNeeds::faketime();
    local $ENV{FAKETIME_TIMESTAMP_FILE} = $clock;
    local $ENV{FAKETIME_NO_CACHE} = 1;
    local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;

    $_->start for @instances;
}

$leader = $lease->wait_leader;


sub view {
    my ($instance, $path) = @_;

    return decode_json(fetch($instance, 'GET', "/v1/$path")->{body});
}

sub health { return (view($_[0], "targets/$_[1]")->{health} // {})->{state} // 'unknown' }

# new documents come in

sub told {
    my ($name) = @_;

    my %seen;

    for my $instance (@instances) {
        eval {
            wait_for("$name: documents", sub {
                $seen{$instance->{name}}{view($instance, 'overview')->{asOf} // ''} = 1;
                return keys %{$seen{$instance->{name}}} > 3;
            }, 2 * TOLD);
        };

        cmp_ok(keys %{$seen{$instance->{name}}}, '>', 3, "$name: $instance->{name} is told");
    }
}

sub young {
    my ($name) = @_;

    for my $instance (@instances) {
        my $age = view($instance, 'overview')->{statsAgeSeconds};

        ok(defined $age && $age <= YOUNG * slow(),
           "$name: $instance->{name} has young numbers: " . ($age // 'none'));
    }
}

sub ill {
    my ($name, $target) = @_;

    $gateway->behave('/' . $target =~ s/sms\.//r => 'reset');
    $run->post(map { ["$target-$_", $target] } 1 .. 5);

    my $began = time;

    for my $instance (@instances) {
        eval {
            wait_for("$name: ill", sub { health($instance, $target) =~ /^(?:down|degraded)$/ },
                     TOLD);
        };

        cmp_ok(time - $began, '<', SOON * slow(),
               "$name: $instance->{name} shows that the gateway is ill");
    }
}


$run->post(map { ["well-$_", 'sms.first'] } 1 .. 5);
$run->wait_terminal('well-', 30);
told('first');


# set back by ten minutes

ahead('-600');
told('set back');
$leader = $lease->wait_leader;
ill('set back', 'sms.first');
young('set back');

for my $instance (@instances) {
    my @rows = @{view($instance, 'stats?window=3600')->{rows}};

    is(scalar(grep { $rows[$_][0] <= $rows[$_ - 1][0] } 1 .. $#rows), 0,
       "$instance->{name}: the history is in order");
}


# a day ahead, and back

ahead('+86400');

my $until = time + AHEAD;

wait_for('a while', sub { time > $until }, 2 * AHEAD);
ahead('-600');
told('ahead, and back');
$leader = $lease->wait_leader;
ill('ahead, and back', 'sms.second');
young('ahead, and back');


# the leader stands still: the others say so, and how old its numbers are

ahead('-1200');
told('set back again');
$leader = $lease->wait_leader;

my ($other) = grep { $_ != $leader } @instances;
my @stopped = $leader->worker_pids;
my $overview;
my $stopped = time;

$leader->pause(@stopped);

ok(eval {
    wait_for('it is silent', sub {
        $overview = view($other, 'overview');
        $overview->{leader} && $overview->{leader}{silent};
    }, SOON);
}, 'a leader that stands still is silent');

my $age = $overview->{statsAgeSeconds} // -1;

cmp_ok($age, '>=', int(time - $stopped) - 1, "its numbers grow old: $age s");
cmp_ok($age, '<=', time - $stopped + YOUNG * slow(), 'as old as they are');

$leader->signal('CONT', $_) for @stopped;

# retries that were planned before the clock was set back come when they are due

$run->cluster->finish;
done_testing();

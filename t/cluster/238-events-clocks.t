# The store's clock is the only one: what an instance tells has the store's time,
# though its host is a day ahead and it has told something before it knew better.
# When the clock of the store is set back, as SQLite's is with that of its host,
# what comes then has the time of then.
#
# Goes red when: an event gets the time of its host; a time that was wrong once
# keeps those that come later ahead.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds qw(faketime no_checker);
use SubmissionCluster;

use constant { SOON => 10, NEAR => 60, DAY => 86400 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $sqlite = $cluster->store->kind eq 'sqlite';
my $clock = "$cluster->{dir}/clock";

sub ahead {
    my ($by) = @_;

    open my $out, '>', "$clock.new" or die "$clock: $!";
    print $out "$by\n";
    close $out or die "$clock: $!";
    rename "$clock.new", $clock or die "$clock: $!";
}

my ($early, $right) = $lease->instances(['a', 'b'],
    main => 'env LD_PRELOAD; env FAKETIME_TIMESTAMP_FILE; env FAKETIME_NO_CACHE; '
            . 'env FAKETIME_DONT_FAKE_MONOTONIC;');

ahead('+1d');

{
    local $ENV{LD_PRELOAD} = SubmissionNeeds::faketime();
    local $ENV{FAKETIME_TIMESTAMP_FILE} = $clock;
    local $ENV{FAKETIME_NO_CACHE} = 1;
    local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;

    $early->start;
}

$lease->wait_leader;


sub of {
    my ($instance, $kind) = @_;

    my $answer = fetch($instance, 'GET', "/v1/events?limit=500&kind=$kind");
    my @events = reverse @{decode_json($answer->{body})->{events}};

    return @events;
}


# how far the date of an event is from what it should be, in seconds

sub off {
    my ($event, $by) = @_;

    my ($day) = $event->{at} =~ /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)/;
    my @near = map { strftime('%Y-%m-%dT%H:%M:%S', gmtime($by + time + $_)) }
                   -NEAR, NEAR;

    return $day ge $near[0] && $day le $near[1];
}


wait_for('it tells that it leads', sub { of($early, 'leader_acquired') },
         SOON * slow());

my $by = $sqlite ? DAY : 0;

for my $kind (qw(instance_started leader_acquired)) {
    my ($event) = of($early, $kind);

    ok(off($event, $by), "$kind has the time of the store: $event->{at}");
}


# its host learns what time it is

ahead('+0');

wait_for('it is told so', sub {
    my $now = decode_json(fetch($early, 'GET', '/v1/events')->{body})->{now};
    off({ at => $now }, 0);
}, 30 * slow());

$early->reload(wait_old => 1);

wait_for('a reload is told', sub { of($early, 'reloaded') }, SOON * slow());

ok(off((of($early, 'reloaded'))[0], 0),
   'with the time of then: ' . (of($early, 'reloaded'))[0]{at});


# others get all of it

$right->start;

for my $instance ($early, $right) {
    wait_for("$instance->{name} knows of it", sub {
        of($instance, 'reloaded') && of($instance, 'instance_started') == 2;
    }, 3 * SOON * slow());
}

is_deeply([map { $_->{at} } of($right, 'reloaded')],
          [map { $_->{at} } of($early, 'reloaded')], 'with the same time');


# and what happens again is told again

for my $n (1 .. 3) {
    $right->quit;

    wait_for("it is told that it has left, $n", sub {
        of($early, 'instance_gone') == $n;
    }, SOON * slow());

    $right->start;

    wait_for('and that it was started', sub {
        of($early, 'instance_started') == 2 + $n;
    }, SOON * slow());
}

$lease->done;

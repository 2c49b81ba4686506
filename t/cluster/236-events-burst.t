# More happens at once than fits into any one message: all targets of the leader
# fail together, and an instance is reloaded again and again.  Every instance
# tells all of it, and a client that goes from one instance to another has missed
# nothing.  What no instance has any more is counted: "missed".
#
# Goes red when: a document carries only the last events; an instance takes what
# came later, and then never what came before it; what has gone is not counted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionNeeds 'no_valgrind';
use SubmissionCluster;

use constant { SOON => 10, TARGETS => 90, RELOADS => 30 };

my @names = map { "sms.t$_" } 1 .. TARGETS;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    targets => { map { $_ => { path => '/ill', policy => 'deadline 1h',
                               retry => '1s' } } @names });
my @instances = $run->instances;
my $leader = $run->start;
my ($follower) = grep { $_ != $leader } @instances;


sub events {
    my ($instance, $query) = @_;

    return decode_json(fetch($instance, 'GET',
                             "/v1/events?limit=500" . ($query // ''))->{body});
}


sub of {
    my ($instance, $kind) = @_;

    return grep { $_->{kind} =~ $kind } @{events($instance)->{events}};
}


# a client that follows at one instance, and then goes to the other one

my ($next, %seen);
my $twice = 0;

sub follow {
    my ($at) = @_;

    my $answer = events($at, $next ? "&after=$next" : '');

    $twice += grep { $seen{$_->{id}}++ } @{$answer->{events}};
    $next = $answer->{next};

    return $answer;
}


wait_for('the follower knows who leads', sub {
    of($follower, qr/^leader_acquired$/);
}, SOON * slow());

follow($follower);


# all targets are ill at once

$run->gateway->behave('/ill' => 'answer 500');
$run->post(map { ["$_-1", $_] } @names);

wait_for('the leader says of all targets that they are ill', sub {
    follow($follower);
    TARGETS == grep { $_->{kind} =~ /^target_(?:degraded|down)$/ }
               values %{{ map { $_->{target} => $_ }
                              of($leader, qr/^target_d/) }};
}, 30 * slow());

my @there = sort map { $_->{id} } of($leader, qr/^target_/);

cmp_ok(scalar @there, '>=', TARGETS, scalar(@there) . ' events of targets');

# what is in the leader's feed now goes to the other one within ten seconds

wait_for('the follower says so, too', sub {
    my %has = map { $_->{id} => 1 } of($follower, qr/^target_/);

    follow($follower);
    !grep { !$has{$_} } @there;
}, SOON * slow());

follow($leader);

is(scalar(grep { !$seen{$_} } @there), 0, 'a client that moves misses none');


# one instance has more to tell than its row has room for

$follower->reload for 1 .. RELOADS;

wait_for('the leader has heard of all reloads', sub {
    RELOADS == of($leader, qr/^(?:reloaded|configuration_changed)$/);
}, 60 * slow());

my @reloads = map { $_->{id} } of($follower, qr/^reloaded$/);

follow($leader);
follow($follower);

is(scalar(grep { !$seen{$_} } @reloads), 0, 'and a client again none');
is($twice, 0, 'nothing comes twice');
is(follow($leader)->{missed}, 0, 'and it says that nothing is missing');

$run->gateway->behave('/ill' => undef);
$run->wait_terminal('sms.', 60 * slow());
$run->done;

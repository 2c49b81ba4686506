# A target is paused: once the leader has read that, nothing of it is sent, by
# no leader, whatever becomes of the instances; what comes in is taken; other
# targets go on.  Then it goes on, and everything is sent, once, as its first
# attempt (G14).
#
# Goes red when: something is sent later than one refresh after the answer; a
# leader reads what is paused only in the beginning, or when it is woken; a
# new leader begins before it knows what is paused; what waited is lost, or has
# lost an attempt; a deadline stands still meanwhile.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

use SubmissionCluster;

use constant { REFRESH => 0.2, EARLY => 500 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], refresh => '200ms', executor => 'concurrency=64',
    targets => { 'sms.ill' => { path => '/ill', concurrency => 4 },
                 'sms.short' => { path => '/short', policy => 'deadline 1s' },
                 'sms.gone' => { path => '/gone' } },
    instance => { server => 'location /o/ { submission_api main '
                            . 'access=operate; submission_actor test; }' });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my @instances = $run->instances;
my $leader = $run->start;


sub now { return clock_gettime(CLOCK_MONOTONIC) }

sub sends { return grep { $_->{path} =~ m{^/$_[0]} } $gateway->sends }


sub act {
    my ($instance, $target, $action, $body) = @_;

    my $answer = fetch($instance, 'POST', "/o/targets/$target/$action",
                       $body // '');

    is($answer->{status}, 200, "$target: $action");

    return now();
}


# others are sent: so whoever leads has read what there is

sub works {
    my ($prefix) = @_;

    $run->post($run->ids($prefix, 5));
    $run->wait_terminal("$prefix-", 30 * slow());
}


my ($follower) = grep { $_ != $leader } @instances;

# nothing was submitted that would wake it, and what it reads in the beginning it
# has read two renewals later: after that it looks by itself

for (1, 2) {
    my $renewed = $lease->row->{renewed_at};

    wait_for('the lease is renewed',
             sub { $lease->row->{renewed_at} > $renewed });
}

act($follower, 'sms.gone', 'pause');

wait_for('the leader finds that', sub {
    $leader->log_count(qr/target_paused manager=main target="sms.gone" /);
});

act($follower, 'sms.gone', 'resume');

wait_for('and the end of it', sub {
    $leader->log_count(qr/target_resumed manager=main target="sms.gone" /);
});

$gateway->behave('/ill' => 'delay 30');
$run->post(map { [$_, 'sms.ill'] } $run->ids('early', EARLY));
$gateway->wait_for_sends(10, which => sub { $_[0]{path} =~ m{^/ill} });

my $paused = act($follower, 'sms.ill', 'pause', '{"reason":"it is ill"}');

wait_for('the leader says so', sub {
    $leader->log_count(qr/target_paused manager=main target="sms.ill" .*actor="test" reason="it is ill"/);
});

act($leader, 'sms.short', 'pause');

wait_for('this, too', sub {
    $leader->log_count(qr/target_paused manager=main target="sms.short" /);
});

$run->post(map { [$_, 'sms.ill'] } $run->ids('late', 20));
$run->post(map { [$_, 'sms.short'] } $run->ids('short', 3));
works('one');

my $before = sends('ill');

cmp_ok($before, '<', EARLY, "$before of them were sent by then");

my @late = grep { $_->{monotonic} > $paused + REFRESH + 1 * slow() }
           sends('ill');

is(scalar @late, 0, 'none later than it may be');

wait_for('nothing is in flight',
         sub { $run->store->in_flight == 0 }, 10 * slow());

# another leader, another worker, another process

$lease->kill_tree($leader);
$lease->wait_leader;
works('two');
is(scalar(sends('ill')), $before, 'another leader sends nothing of it');

$follower->reload;
works('three');
is(scalar(sends('ill')), $before, 'nor does it after a reload');

$lease->kill_tree($follower);
$_->spawn, $_->wait_ready for @instances;
$lease->wait_leader;
works('four');
is(scalar(sends('ill')), $before, 'nor does it after a restart');

is(scalar(grep { $_->{status} ne 'pending' }
          map { { status => $run->store->value(
                'SELECT status FROM submission_intents '
                . "WHERE intent_id = '$_'") } } $run->ids('late', 20)), 0,
   'what came in is pending');

# and on

act($instances[0], 'sms.ill', 'resume');
act($instances[1], 'sms.short', 'resume');

$run->wait_terminal('early-', 30 * slow());
$run->wait_terminal('late-', 30 * slow());
$run->wait_terminal('short-', 30 * slow());

is_deeply($run->statuses('late-'), { accepted => 20 }, 'it is sent');
is_deeply($run->statuses('early-'), { accepted => EARLY }, 'all of it');
is($run->store->value("SELECT max(attempt_count) FROM submission_intents "
                      . "WHERE intent_id LIKE 'late-%'"), 1,
   'by the first attempt');

is_deeply($run->statuses('short-'), { 'exhausted deadline_exceeded' => 3 },
          'a deadline goes on meanwhile');
is(scalar(sends('short')), 0, 'and then nothing is sent');

# a target that is not configured any more, and one that is unknown

is(fetch($instances[0], 'POST', '/o/targets/sms.none/pause', '')->{status},
   404, 'what nobody knows cannot be paused');

$run->expect_kills;

$run->done;

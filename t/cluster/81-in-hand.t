# The store fails for a moment while attempts are at a slow gateway, and the same
# worker leads again in a new epoch.  It knows what it has in hand: nothing of
# that is sent again, it counts for its target's concurrency, other targets go
# on, and what the gateway answers in the end is recorded as that, in the epoch in
# which it was begun.  One that is not answered stays in hand until its connection
# ends.
#
# Twice, so that attempts of two earlier epochs are in hand at once; and a third
# time, when some are answered while nobody leads.
#
# Goes red when: whoever leads again settles its own attempts as in doubt
# (unknown, leader_lost), sends them again, or beyond the bound of their target;
# waits for them before it leads.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { BOUND => 6, INTENTS => 20 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], executor => 'concurrency=64',
    targets => { 'sms.slow' => { path => '/slow', policy => 'one_shot',
                                 concurrency => BOUND },
                 'sms.late' => { path => '/late', policy => 'one_shot' } });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);

my $a = $run->start;
my $n = 0;

sub epoch { return $lease->row->{epoch} }


# an intent that cannot be begun tells the leader that the store fails

sub stumble {
    my ($meanwhile) = @_;

    my $epoch = epoch();
    my $id = 'stumble-' . ++$n;

    $store->fail_turns(1);
    $run->post($id);
    $run->wait_lost($a, $epoch);
    $meanwhile->() if $meanwhile;
    $store->fail_turns(0);

    $lease->wait_leader($epoch);
    $run->wait_terminal($id);

    is_deeply($run->statuses($id), { accepted => 1 },
              "$id: others are sent as soon as it leads again");
    is(scalar $gateway->sends_of($id), 1, "$id: once");
}


sub slow_sends {
    return grep { $_->{path} =~ m{^/slow} } $gateway->sends;
}


$gateway->behave('/slow' => 'hold', '/late' => 'hang');

my $first = epoch();

$run->post(map { [$_, 'sms.slow'] } $run->ids('s', INTENTS));
$run->post(['late-1', 'sms.late']);
$gateway->wait_for_held(BOUND);
wait_for('the hung one is sent', sub { $gateway->sends_of('late-1') });

my %first = map { $_->{id} => 1 } slow_sends();

stumble();
stumble();

cmp_ok(epoch(), '>=', $first + 2, 'two epochs later');
is($gateway->held, BOUND, 'as many are at the gateway as may be');
is(scalar slow_sends(), BOUND, 'and none was sent again');
is($store->in_flight, BOUND + 1, 'all of them are in flight');

# two are answered, so two more are sent; then all, while nobody leads

$gateway->release('accept', 2);
wait_for('two more are sent', sub { slow_sends() == BOUND + 2 });
$gateway->wait_for_held(BOUND);

stumble(sub {
    $gateway->behave('/slow' => undef);
    $gateway->release;
    wait_for('the gateway has answered', sub { $gateway->held == 0 });
});

$run->wait_terminal('s-');

is_deeply($run->statuses('s-'), { accepted => INTENTS }, 'all are accepted');
is(scalar slow_sends(), INTENTS, 'each was sent once');

my %epochs = map { $_->{id} => $_->{epoch} } $store->attempts('s-');

is_deeply([grep { $epochs{$_} != $first } keys %first], [],
          'what was in hand is recorded in its own epoch');

# the hung one

is_deeply($run->statuses('late-'), { pending => 1 }, 'one hangs');
is($store->in_flight, 1, 'and is in flight');
is_deeply([$a->log_lines(qr/attempt_dropped|attempts_recovered|
                            attempt_not_recorded/x)],
          [], 'nothing was dropped, nor in doubt');

# a connection that ends is an answer, too

$gateway->stop;
$run->wait_terminal('late-');

my ($late) = $store->attempts('late-');

isnt($late->{reason}, 'leader_lost', 'it ends by what the gateway did');
is($late->{epoch}, $first, 'in its own epoch');
is($run->store->intents('late-')->{'late-1'}{attempts}, 1, 'once');

$gateway->start;

$run->done;

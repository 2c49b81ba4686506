# The lease row is given to another holder in SQL, behind the leader's back,
# with 50 attempts in flight and hundreds due.  The leader would not look at the
# row by itself for five minutes: it is the fence that tells it (G2).  Nothing
# is sent after that, and the old epoch changes nothing: not even outcomes that
# it has received.  The next leader takes these for what they are to it, in
# doubt.
#
# Then the same while nothing is in flight, and hundreds come: the first begin
# is refused, and nothing is sent at all.
#
# And once more with another epoch of the same holder, while retries wait, which
# the queue has already: none of them is begun in the old one.
#
# Goes red when: begin or complete are not fenced, or look at the holder and not
# at the epoch; a failed fence fails one batch rather than the leadership.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '600s', renew => '300s', refresh => '10s',
    executor => 'concurrency=50',
    targets => { 'sms.later' => { retry => 5 * pace() . 's' } });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my @targets = qw(sms.realtime sms.once);

my $a = $run->start(record => 0);
my $epoch = $lease->row->{epoch};

$gateway->behave('/' => 'hold');

my $i = 0;

$run->post(map { [$_, $targets[$i++ % 2]] } $run->ids('x', 400));
$gateway->wait_for_held(50);

is($store->in_flight, 50, 'in flight: as many as may be');

$store->give_lease('thief', 3600);

my $state = $store->dump;

$gateway->release;
$run->wait_lost($a, $epoch);

# what it had begun when it was told, it had begun in vain

is($gateway->quiet_for(1), 50, 'in flight: nothing more is sent');
is($store->dump, $state, 'in flight: nothing is changed');
is_deeply([$lease->leaders], [], 'in flight: nobody says that it leads');

# to itself they are in doubt as soon as it has seen that another leads

wait_for('it knows of the thief', sub {
    $a->log_count(qr/leader_acquire_failed .* reason=held_by_another/) });

my %flew = map { $_->{id} => 1 } $gateway->sends;

$gateway->behave('/' => undef);
$store->end_lease;
$run->wait_terminal('x-');

# answers that came before it knew of its loss it may still have in hand

my @then = grep { $_->{epoch} == $epoch && $flew{$_->{id}} } $store->attempts;
my @doubt = grep { $_->{status} eq 'unknown' && $_->{reason} eq 'leader_lost' }
            @then;
my $once = grep { $run->{posted}{$_->{id}}{target} eq 'sms.once' } @doubt;

is(@doubt + grep({ $_->{status} eq 'accepted' } @then), 50,
   'in flight: what was is in doubt, or known');
is_deeply($run->statuses,
          { accepted => 400 - $once,
            $once ? ('exhausted outcome_unknown' => $once) : () },
          'in flight: as the records say, and the rest is done');


# nothing in flight

$epoch = $lease->row->{epoch};
$lease->wait_leader($epoch - 1);

my $count = $gateway->count;

$store->give_lease('thief', 3600);
$run->post($run->ids('y', 200));
$run->wait_lost($a, $epoch);

is($gateway->quiet_for(1), $count, 'idle: nothing is sent');
is_deeply($run->statuses('y-'), { pending => 200 }, 'idle: all wait');
is($store->in_flight, 0, 'idle: nothing was begun');

$store->end_lease;
$run->wait_terminal('y-');
is_deeply($run->statuses('y-'), { accepted => 200 }, 'idle: until it is over');


# the same holder, as if a call of its own had come late

$epoch = $lease->row->{epoch};
$lease->wait_leader($epoch - 1);

$gateway->behave('z-' => 'fail 1');
$run->post(map { [$_, 'sms.later'] } $run->ids('z', 50));
wait_for('each was tried once', sub {
    $store->attempts('z-') == 50 && !$store->in_flight;
});

$store->give_lease($a->{name}, 3600);
$run->wait_lost($a, $epoch);
$run->wait_terminal('z-');

is_deeply($run->statuses('z-'), { accepted => 50 }, 'itself: all are sent');
is_deeply([grep { $_->{number} == 2 && $_->{epoch} <= $epoch + 1 }
           $store->attempts('z-')],
          [], 'itself: in an epoch that it was granted');

$run->done;

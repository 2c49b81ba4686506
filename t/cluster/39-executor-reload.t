# The leader is reloaded every second, for a while, with hundreds of intents a
# second coming in and attempts in flight all the time.  No intent is lost, none
# is sent twice, and every attempt is recorded: a worker that retires finishes
# what it has sent, and gives back what it has not (DESIGN, 4.2).
#
# Goes red when: a retiring worker drops outcomes, or leaves before it has
# written them; what it has begun and not sent is taken for in doubt; the next
# worker begins before the old one has ended; the new one does not know of what
# is pending.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { RELOADS => 15, EVERY => 1, BURST => 25 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', executor => 'concurrency=64');
my ($gateway, $lease) = ($run->gateway, $run->leadership);

my $leader = $run->start;
my $epoch = $lease->row->{epoch};

# an attempt takes as long as a reload does, and longer

my $pace = $run->store->pace;

$gateway->behave('/sms' => 'delay ' . 60 * $pace,
                 '/once' => 'delay ' . 200 * $pace);

my ($n, $flying) = (0, 0);

# each on a connection of its own: one that idles may be closed by a reload

sub burst {
    my @intents = map { ++$n; [sprintf('load-%05d', $n),
                               $n % 4 ? 'sms.realtime' : 'sms.once'] }
                  1 .. BURST;

    $run->post({ connections => BURST }, @intents);
}

sub last_epoch {
    my ($last) = reverse $gateway->sends;

    return $last ? $last->{epoch} : 0;
}

for my $reload (1 .. RELOADS) {
    my $end = time + EVERY * $pace;
    my $epoch = $lease->row->{epoch};

    $flying++ if $run->store->in_flight;
    $leader->reload;

    # for a while, and until the new generation has sent

    while (time < $end
           || (time < $end + 20 * slow() && last_epoch() <= $epoch))
    {
        my $next = time + 0.08;

        burst();
        wait_for('the next one', sub { time >= $next });
    }
}

$run->wait_terminal('load-', 30);

is_deeply($run->statuses, { accepted => $n }, "all of $n are accepted");

my @sends = $gateway->sends;
my %epochs = map { $_->{epoch} => 1 } @sends;

is(scalar @sends, $n, 'as many sends as intents');
is_deeply([grep { $_->{attempt} != 1 } @sends], [], 'each the first attempt');
cmp_ok(scalar keys %epochs, '>=', RELOADS,
       'workers of all generations have sent');
cmp_ok($flying, '>', RELOADS / 2, 'attempts were in flight at the reloads');
is_deeply([grep { $_->{holder} ne $leader->{name} } $lease->grants], [],
          'the other instance never came to lead');

wait_for('old workers are gone', sub { !$leader->retiring_pids });

$run->done;

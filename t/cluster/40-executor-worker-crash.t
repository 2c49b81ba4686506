# The executor worker alone is killed, with attempts in flight: its instance
# goes on, with the next epoch, without waiting for the lease to expire.  What
# was in flight is recorded as unknown/leader_lost and tried again, but for
# one_shot, which is never sent twice (G3, G5).
#
# Then the same again and again under load: every other time when attempts are
# known to be in flight, else whenever it is.
#
# Goes red when: a new executor worker of the instance takes what is in flight
# for its own, or for pending; it begins before what is in doubt is settled; it
# waits for the expiry; what was in doubt is counted for no target; a wake-up that
# the dead one has not looked at keeps everybody from waking the next.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { IN_FLIGHT => 100, INTENTS => 150, BATCH => 30, KILLS => 12,
               BURST => 20 };

# nobody would wait for that lease, nor for a refresh

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '20s', refresh => '30s',
    executor => 'concurrency=' . IN_FLIGHT . ' batch=' . BATCH);
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my @targets = qw(sms.realtime push.marketing sms.once);

my $leader = $run->start;
my $epoch = $lease->row->{epoch};

$gateway->behave('/' => 'hold');

my @ids = $run->ids('fly', INTENTS);
my $i = 0;
my %target = map { $_ => $targets[$i++ % @targets] } @ids;

$run->post({ instances => [$leader] }, map { [$_, $target{$_}] } @ids);
$gateway->wait_for_held(IN_FLIGHT);

my %flew = map { $_->{id} => 1 } $gateway->sends;
my $once = grep { $target{$_} eq 'sms.once' } keys %flew;

$gateway->behave('/' => undef);
$lease->kill($leader, $lease->executor($leader));

my $next = $lease->wait_leader($epoch);

is($next->{name}, $leader->{name}, 'the same instance goes on');
is($lease->row->{epoch}, $epoch + 1, 'with the next epoch');

$run->wait_terminal('fly-');

is_deeply($run->statuses('fly-'),
          { accepted => INTENTS - $once,
            'exhausted outcome_unknown' => $once },
          'what was one_shot and in flight has ended, the rest is accepted');

is_deeply($run->recorded('fly-'), $run->in_doubt(\%flew, @ids),
          'how each attempt ended');
is_deeply([grep { $gateway->sends_of($_) != ($flew{$_} && $target{$_}
                                             ne 'sms.once' ? 2 : 1) } @ids],
          [], 'each was sent as often as it may be');

# what was in doubt counts for its target

my ($metrics, %doubt) = (fetch($leader, 'GET', '/metrics')->{body});

$doubt{$target{$_}}++ for keys %flew;

is_deeply({ $metrics =~ /^submission_attempts_total
                          \{target="([^"]+)",outcome_status="unknown"\}
                          \ ([1-9]\d*)$/xmg },
          \%doubt, 'attempts in doubt are counted, each for its target');
like($metrics, qr/^submission_intents_terminal_total\{target="sms.once",status="exhausted"\} $once$/m,
     'and so are those that ended');


# it is woken: no refresh comes for half a minute

$run->post({ instances => [$leader] }, 'woken-1');
$run->wait_terminal('woken-', 10);
pass('the new executor worker is woken');
$run->check('killed once');


# again and again, while intents come in

$gateway->behave('/' => 'delay 150');

my $n = 0;

for my $kill (1 .. KILLS) {
    my $before = $lease->row->{epoch};
    my $pid = $lease->executor($leader);

    $gateway->behave('/' => 'hold') if $kill % 2;

    # not many to the one that is killed: who talks to a worker that dies
    # hears nothing

    $run->post({ instances => [grep { $_ != $leader } $run->instances],
                 connections => BURST },
               map { ++$n; [sprintf('load-%04d', $n), $targets[$n % 3]] }
               1 .. BURST);

    # but some: the other instance does not wake this one

    $run->post({ instances => [$leader], connections => 1 },
               map { ++$n; [sprintf('load-%04d', $n), $targets[$n % 3]] }
               1 .. 3);

    if ($kill % 2) {
        wait_for('attempts are in flight', sub { $run->store->in_flight });
        $gateway->behave('/' => 'delay 150');
    }

    $lease->kill($leader, $pid);

    $lease->wait_leader($before);
}

$run->post({ instances => [$leader] }, 'load-end');
$run->wait_terminal('load-', 60);

my $statuses = $run->statuses('load-');
my %once = map { $_->{id} => 1 }
           grep { $_->{policy} eq 'one_shot' }
           values %{$run->store->intents('load-')};

is(delete($statuses->{accepted}) + ($statuses->{'exhausted outcome_unknown'}
                                    // 0)
   + ($statuses->{'exhausted max_attempts'} // 0), $n + 1,
   'all have ended');
is_deeply([grep { !/outcome_unknown|max_attempts/ } keys %$statuses], [],
          'in no other way');
is_deeply([grep { $once{$_} && $gateway->sends_of($_) > 1 } keys %once], [],
          'one_shot was sent once at most');
is_deeply([grep { $_->{holder} ne $leader->{name} } $lease->grants], [],
          'the other instance never came to lead');

cmp_ok(scalar(my @grants = $lease->grants), '>=', KILLS + 2,
       'an epoch for each');

$run->done;

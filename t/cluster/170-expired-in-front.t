# A leader finds many intents whose deadline has passed in front of some that are
# alive, of a target with a rate, a burst of one and a bound of two.  What has
# expired takes no token and no slot, so what is alive is sent at the rate of the
# target, at once; the others are ended in a few calls, each as an expiry is: with
# its reason, counted, told in the log, and none of them is sent (G21).
#
# Goes red when: what has expired waits for the gate of its target, one by one, and
# what is alive behind it; it takes a turn each; one of them is sent, lost, or not
# counted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { DEAD => 3000, ALIVE => 20 };

sub target {
    my ($policy) = @_;

    return { 'sms.slow' => { path => '/slow', policy => $policy,
                             concurrency => 2, limit => 'rate=20r/s' } };
}

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => target('deadline 1s'), instance => { workers => 1 });
my ($nginx) = $run->instances;
my ($gateway, $store) = ($run->gateway, $run->store);


sub executor {
    my ($executor, $policy) = @_;

    $run->{targets} = target($policy);
    $nginx->quit;
    $nginx->configure(executor => $executor, targets => $run->targets);
    $nginx->start;
}


$nginx->configure(executor => 'off');
$run->cluster->start;
$run->post(map { [$_, 'sms.slow'] } $run->ids('dead', DEAD));

my ($last) = sort { $b <=> $a } map { $_->{created_at} }
             values %{$store->intents('dead-')};

wait_for('the deadline passes', sub { time > $last / 1e6 + 1.1 });

executor('off', 'deadline 1h');
$run->post(map { [$_, 'sms.slow'] } $run->ids('alive', ALIVE));
executor('concurrency=64', 'deadline 1h');

$run->wait_terminal('alive-', 60 * slow());

my $turns = $nginx->calls('attempts_turn');

is_deeply($run->statuses('alive-'), { accepted => ALIVE }, 'what is alive is sent');
cmp_ok($turns, '>=', ALIVE, "by $turns turns");
cmp_ok($turns, '<', DEAD / 10, 'and no turn was used up by what has expired');

$run->wait_terminal('dead-', 60 * slow());

is_deeply($run->statuses('dead-'), { 'exhausted deadline_exceeded' => DEAD },
          'the others end as expired');
is($gateway->count, ALIVE, 'and are not sent');

my $calls = $nginx->calls('attempts_expire');

cmp_ok($calls, '>=', DEAD / 500, "by $calls calls");
cmp_ok($calls, '<', DEAD / 50, 'of many each');

wait_for('all are told', sub {
    my $n = 0;
    $n += $_ for map { / intents=(\d+)/ }
                 $nginx->log_lines(qr/\[warn\].* expired_unsent /);
    return $n == DEAD;
});

is($nginx->metric('expired_unsent_total{target="sms.slow"}'), DEAD, 'counted');
is($nginx->log_count(qr/ expired manager=main intent_id="dead-/), DEAD,
   'each has its line');
is($store->value('SELECT count(*) FROM submission_attempts '
                 . "WHERE intent_id LIKE 'dead-%'"), 0, 'and no attempt');

$run->done;

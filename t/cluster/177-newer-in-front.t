# A newer release has made many intents whose contracts this one does not understand,
# and others come that it does, of the same target, with a rate and a burst of one.  A
# leader finds out once, and puts the first ones aside: they take no token, no slot and
# no turn after that, however often it looks at the store, and do not stand in front of
# what is sent (G21).  Others are past their deadline by then: they are left to the
# newer release, too, and are not asked about again.
#
# Goes red when: what is not understood comes again with every look at the store, and
# waits for the gate of its target, one by one, and what is alive behind it; or ends at
# its deadline.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { NEWER => 1500, LATE => 50, ALIVE => 20 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.slow' => { path => '/slow', policy => 'deadline 1h',
                                 concurrency => 2, limit => 'rate=20r/s' },
                 'sms.late' => { path => '/late', policy => 'deadline 1s' } },
    instance => { workers => 1,
                  server => 'location /o/ { submission_api main '
                            . 'access=operate; submission_actor test; }' });
my ($nginx) = $run->instances;
my ($gateway, $store) = ($run->gateway, $run->store);


sub calls { return $nginx->calls($_[0]) }


$nginx->configure(executor => 'off');
$run->cluster->start;
$run->post(map { [$_, 'sms.slow'] } $run->ids('newer', NEWER));
$run->post(map { [$_, 'sms.late'] } $run->ids('late', LATE));
$store->query('UPDATE submission_intents SET contract_version = 9');
$run->post(map { [$_, 'sms.slow'] } $run->ids('alive', ALIVE));

$nginx->quit;

my $last = $store->value('SELECT max(created_at) FROM submission_intents '
                         . "WHERE intent_id LIKE 'late-%'");

wait_for('the deadline of the late ones passes',
         sub { $store->now > $last + 1.1e6 });

$nginx->configure(executor => 'concurrency=64');
$nginx->start;

wait_for('all that are newer are found', sub {
    $store->value('SELECT count(*) FROM submission_intents '
                  . "WHERE last_error LIKE '%of version 9%'") == NEWER + LATE;
}, 120 * slow());

$run->wait_terminal('alive-', 60 * slow());

my ($turns, $expiries) = map { calls($_) } qw(attempts_turn attempts_expire);

cmp_ok($expiries, '>', 0, 'the late ones were past their deadline');

# looks at the store, each of which has them all

$run->post(map { [$_, 'sms.slow'] } $run->ids('later', ALIVE));
$run->wait_terminal('later-', 120 * slow());
cmp_ok(calls('attempts_turn') - $turns, '<', NEWER / 10,
       'they take no turns any more');
is(calls('attempts_expire'), $expiries, 'nor are the late ones asked about again');

is_deeply($run->statuses('alive-'), { accepted => ALIVE }, 'what is alive is sent');
is_deeply($run->statuses('later-'), { accepted => ALIVE }, 'what comes later, too');
is_deeply($run->statuses('newer-'), { pending => NEWER }, 'the others wait');
is_deeply($run->statuses('late-'), { pending => LATE }, 'and so do the late ones');
is($gateway->count, 2 * ALIVE, 'and are not sent');

# one is canceled, one is made anew, and is sent

is(fetch($nginx, 'POST', '/o/intents/newer-0001/cancel')->{status}, 200, 'canceled');

my $now = $store->now;

$store->query('UPDATE submission_intents SET contract_version = NULL, '
              . "next_attempt_at = $now, last_modified_at = $now "
              . "WHERE intent_id = 'newer-0002'");
wait_for('the repaired one is sent', sub {
    ($run->statuses('newer-')->{accepted} // 0) == 1;
});
is_deeply($run->statuses('newer-'),
          { accepted => 1, canceled => 1, pending => NEWER - 2 }, 'no other is');

$run->done;

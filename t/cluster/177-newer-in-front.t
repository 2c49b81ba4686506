# A newer release has made many intents whose contracts this one does not understand,
# and others come that it does, of the same target, with a rate and a burst of one.  A
# leader finds out once, and puts the first ones aside: they take no token, no slot and
# no turn after that, however often it looks at the store, and do not stand in front of
# what is sent (G21).
#
# Goes red when: what is not understood comes again with every look at the store, and
# waits for the gate of its target, one by one, and what is alive behind it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { NEWER => 1500, ALIVE => 20 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.slow' => { path => '/slow', policy => 'deadline 1h',
                                 concurrency => 2, limit => 'rate=20r/s' } },
    instance => { workers => 1,
                  server => 'location /o/ { submission_api main '
                            . 'access=operate; submission_actor test; }' });
my ($nginx) = $run->instances;
my ($gateway, $store) = ($run->gateway, $run->store);


sub turns {
    my $body = fetch($nginx, 'GET', '/metrics')->{body};

    return $body =~ /^submission_store_call_seconds_count\{op="attempts_turn"\}
                     [ ](\d+)$/mx ? $1 : 0;
}


$nginx->configure(executor => 'off');
$run->cluster->start;
$run->post(map { [$_, 'sms.slow'] } $run->ids('newer', NEWER));
$store->query('UPDATE submission_intents SET contract_version = 9');
$run->post(map { [$_, 'sms.slow'] } $run->ids('alive', ALIVE));

$nginx->quit;
$nginx->configure(executor => 'concurrency=64');
$nginx->start;

wait_for('all that are newer are found', sub {
    $store->value('SELECT count(*) FROM submission_intents '
                  . "WHERE last_error LIKE '%of version 9%'") == NEWER;
}, 120 * slow());

$run->wait_terminal('alive-', 60 * slow());

my $turns = turns();

# looks at the store, each of which has them all

$run->post(map { [$_, 'sms.slow'] } $run->ids('later', ALIVE));
$run->wait_terminal('later-', 120 * slow());
cmp_ok(turns() - $turns, '<', NEWER / 10, 'they take no turns any more');

is_deeply($run->statuses('alive-'), { accepted => ALIVE }, 'what is alive is sent');
is_deeply($run->statuses('later-'), { accepted => ALIVE }, 'what comes later, too');
is_deeply($run->statuses('newer-'), { pending => NEWER }, 'the others wait');
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

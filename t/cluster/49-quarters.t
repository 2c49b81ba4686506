# No more than a quarter of all attempts that may be in flight is begun in one
# call, whatever is due: what is begun together is answered together, as a rule,
# and would wait for one another to be recorded, again and again.
#
# Goes red when: as many are begun at once as there is room for; or not all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant CONCURRENCY => 16;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    executor => 'concurrency=' . CONCURRENCY);
my ($gateway, $store) = ($run->gateway, $run->store);
my $a = $run->start;


# calls of the executor, and the attempts that were begun or recorded by them

sub turns {
    my $values = $a->metrics;

    return map { $values->{qq(batch_rows_$_\{op="attempts_turn"})} } qw(count sum);
}


# all are due at the same moment

$run->post({ connections => 1 }, 'like');
$run->wait_terminal('like', 10);

$gateway->behave('/sms' => 'hold');

my ($calls, $rows) = turns();

$store->insert_like('like', [$run->ids('due', 3 * CONCURRENCY)]);

$gateway->wait_for_sends(1 + CONCURRENCY);
$gateway->quiet_for(0.3);

is($store->in_flight, CONCURRENCY, 'as many are in flight as may be');

my ($calls_now, $rows_now) = turns();

is($rows_now - $rows, CONCURRENCY, 'all that the calls did was to begin them');
cmp_ok($calls_now - $calls, '>=', 4, 'four calls at least');

$gateway->behave('/sms' => 'accept');
$gateway->release;

$run->wait_terminal('due-', 30);
is_deeply($run->statuses('due-'), { accepted => 3 * CONCURRENCY },
          'and all are done in the end');

$run->done;

# A dispatch location that caches POSTs, under "proxy_cache_lock": the second of
# two attempts with one key passes the gate, and then waits until the first has
# its answer.  Meanwhile the leader loses its lead.  When the first is answered
# the second goes on by itself: the gate is asked again before a byte leaves.
#
# Goes red when: an attempt that waits for the cache is not hooked, and is sent
# by whoever does not lead any more.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '300ms',
    dispatch => 'proxy_cache cache; proxy_cache_methods POST; '
                . 'proxy_cache_key one; proxy_cache_lock on; '
                . 'proxy_cache_lock_timeout 1h; proxy_cache_lock_age 1h;',
    instance => { store_timeout => '100ms', workers => 1 });
my ($gateway, $store) = ($run->gateway, $run->store);
my ($a) = $run->instances;

$a->{http} .= ' proxy_cache_path tmp/cache keys_zone=cache:64k;';

$run->start(record => 0);
$gateway->behave('/' => 'hold');

# nothing is ever in the cache: the answers are not for keeping

$run->post('first-1');
$gateway->wait_for_held(1);

$run->post('second-1');
wait_for('both are under way', sub { $store->in_flight == 2 });
is($gateway->quiet_for(0.5), 1, 'the second waits for the first');

# no SQL, no lead; but the lease is not another's

my $lock = $store->lock;

wait_for('the lead is lost', sub { $a->log_count(qr/leader_lost/) });

$gateway->behave('/' => undef);
$gateway->release;

# nginx asks for the lock of the cache every half second

is($gateway->quiet_for(2 * slow()), 1, 'nothing is sent without the lead');

$store->unlock($lock);
$run->wait_terminal('');

is_deeply($run->statuses, { accepted => 2 }, 'both are done in the end');
is(scalar(my @sends = $gateway->sends_of('second-1')), 1,
   'the second is sent once');

$run->done;

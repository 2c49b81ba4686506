# A dispatch location that caches POSTs, under "proxy_cache_lock": an attempt does
# not wait for another one that happens to have the same key, and is not answered
# with what the other was told.
#
# Goes red when: an attempt goes through a cache.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s',
    dispatch => 'proxy_cache cache; proxy_cache_methods POST; '
                . 'proxy_cache_key one; proxy_cache_valid 200 1h; '
                . 'proxy_cache_lock on; proxy_cache_lock_timeout 1h; '
                . 'proxy_cache_lock_age 1h;',
    instance => { workers => 1 });
my ($gateway) = ($run->gateway);
my ($a) = $run->instances;

$a->{http} .= ' proxy_cache_path tmp/cache keys_zone=cache:64k;';

$run->start(record => 0);
$gateway->behave('/' => 'hold');

$run->post('first-1');
$gateway->wait_for_held(1);

$run->post('second-1');
$gateway->wait_for_held(2);
pass('the second does not wait for the first');

$gateway->behave('/' => undef);
$gateway->release;
$run->wait_terminal('');

# what the gateway said may be kept, and is not used

$run->post('third-1');
$run->wait_terminal('');

is_deeply($run->statuses, { accepted => 3 }, 'all are accepted');
is(scalar(my @sends = $gateway->sends_of("$_-1")), 1, "$_: it is sent once")
    for qw(first second third);

$run->done;

# A database server whose every answer takes 200 ms: slow is not down.  The
# leader keeps its lease, requests are answered, many in one call, attempts are
# begun and recorded in batches; the breaker stays closed, and nothing is tried
# again.
#
# Goes red when: requests are not batched (64 at 200 ms each would take 13 s); a
# slow call is taken for a failure.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { DELAY => 0.2, INTENTS => 640 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', renew => '3s', acquire => '3s');
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my $proxy = $server->proxy($cluster);

$run->start;

my $leader = $lease->wait_leader;
my $epoch = $lease->row->{epoch};

$proxy->delay(DELAY);

my $begun = time;
my $load = $cluster->load(prefix => 's', connections => 64,
                          total => INTENTS)->start;

wait_for('all are answered', sub { $load->finished }, 60);

my $seconds = time - $begun;

is_deeply($load->{statuses}, { 200 => INTENTS }, 'all are answered 200');
cmp_ok($seconds, '<', INTENTS * DELAY / 8 * slow(),
       sprintf 'in %.1f s, where one by one would take %.0f', $seconds,
               INTENTS * DELAY);

wait_for('all are sent', sub { $store->pending('s-') == 0 }, 60);

cmp_ok(time - $begun, '<', INTENTS * DELAY / 4 * slow(),
       sprintf 'and sent in %.1f s', time - $begun);

# several renewals

my $end = $begun + 12;

wait_for('it is slow for longer than a lease', sub { time > $end });

is($lease->row->{epoch}, $epoch, 'the lease stays where it is');
is($_->metric('store_breaker_opened_total'), 0,
   "$_->{name}: the breaker was closed"),
is($_->metric('store_retries_total'), 0,
   "$_->{name}: nothing was tried again") for $run->instances;
is($_->log_count(qr/store_down/), 0, "$_->{name}: no line in the log")
    for $run->instances;

$proxy->pass;

$run->done;

# A replay copies a payload that is in the store: its request is a few bytes, and the
# write is as large as the payload.  One transaction copies 4 MB, whatever waits, so
# that others write in between.
#
# Another process holds the write lock until all of them wait.
#
# Goes red when: a batch of replays is bounded by what its requests weigh; what a call
# has left is not asked for again, or is answered before it is done.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { REPLAYS => 24, LENGTH => 700_000, COPIES => 4 * 1024 * 1024 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $instance = $cluster->instance('a', workers => 1, store_timeout => '60s');

$cluster->start;

my (%results, @conns);

sub send_one {
    my ($id, $path, $body) = @_;

    push @conns, SubmissionCluster::Connection->open($instance->{port});
    $conns[-1]->send(SubmissionCluster::Client::request('POST', $path, $body),
                     sub { $results{$id} = $_[0] });
}

my $payload = '"' . 'x' x LENGTH . '"';

for my $n (1 .. REPLAYS) {
    is(fetch($instance, 'POST', '/v1/intents',
             SubmissionCluster::Client::intent("large-$n", $payload))->{status},
       200, "intent $n") or last;
    is(fetch($instance, 'POST', "/v1/intents/large-$n/cancel", '{}')->{status},
       200, 'it has ended');
}

my $lock = $store->lock;

send_one($_, "/v1/intents/large-$_/replay", '{}') for 1 .. REPLAYS;

is(fetch($instance, 'GET', '/v1/intents/large-1')->{status}, 200, 'a reader');
is(scalar keys %results, 0, 'all of them wait');

$store->unlock($lock);

wait_for('all are answered', sub { keys %results == REPLAYS });

is_deeply([map { $results{$_}{status} } 1 .. REPLAYS], [map { 200 } 1 .. REPLAYS],
          'all are made');
is_deeply([map { $results{$_}{body} =~ /"intentId":"([^"]*)"/ } 1 .. REPLAYS],
          [map { "large-$_~1" } 1 .. REPLAYS], 'each is answered with its own');

my $intents = $store->intents('large-');
my %bytes;

$bytes{$intents->{"large-$_~1"}{created_at}} += LENGTH for 1 .. REPLAYS;

is_deeply([grep { $_ > COPIES } values %bytes], [],
          'no transaction has copied more than it may')
    or diag(join ' ', sort { $a <=> $b } values %bytes);

$cluster->done;

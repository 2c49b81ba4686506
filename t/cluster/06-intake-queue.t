# The queue before the store is bounded: while another process holds the write
# lock, as many requests wait as "intake queue=" says, and those beyond it are
# answered 503 with Retry-After at once.  Those within are answered 200 when
# the lock goes.  Readers have a queue of their own.
#
# Goes red when: the bound is not kept; requests beyond it wait for the store;
# requests within it are dropped; a queue that was full once stays so.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { QUEUE => 10, BATCH => 1, CLIENTS => 40 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;

# one worker: the queue is each worker's own

my $instance = $cluster->instance('a', workers => 1, store_timeout => '60s',
    intake => 'queue=' . QUEUE . ' batch=' . BATCH);

$cluster->start;

is(post_intent($instance, 'before')->{status}, 200, 'one before');

for my $round (1 .. 3) {
    my $lock = $store->lock;
    my (%results, @conns);

    my $send = sub {
        my ($id) = @_;

        push @conns, SubmissionCluster::Connection->open($instance->{port});

        $conns[-1]->send(
            SubmissionCluster::Client::request('POST', '/v1/intents',
                SubmissionCluster::Client::intent($id, '1')),
            sub { $results{$id} = $_[0] });
    };

    $send->("queue-$round-$_") for 1 .. CLIENTS;

    wait_for('those beyond the queue are answered', sub {
        keys %results >= CLIENTS - QUEUE - BATCH;
    });

    # nor are there more of them later

    for (1 .. 5) {
        is(fetch($instance, 'GET', '/v1/intents/before')->{status}, 200,
           "round $round: readers do not wait");
    }

    my @refused = values %results;
    my @waiting = grep { !$results{$_} } map { "queue-$round-$_" } 1 .. CLIENTS;

    # a batch may be out of the queue already, waiting for the lock itself

    ok(@waiting >= QUEUE && @waiting <= QUEUE + BATCH,
       "round $round: as many wait as the queue holds")
        or diag(scalar @waiting);
    is_deeply([grep { ($_->{status} // 0) != 503 } @refused], [],
              "round $round: those beyond it get 503");
    is_deeply([grep {
                   ($_->{headers}{'retry-after'} // '') !~ /^[1-9]\d*$/
                   || $_->{body} !~ /"code":"store_unavailable"/
               } @refused],
              [], "round $round: with Retry-After and a reason");

    $store->unlock($lock);

    wait_for('those within are answered', sub { keys %results == CLIENTS });

    is_deeply([map { $results{$_}{lost} // $results{$_}{status} } @waiting],
              [map { 200 } @waiting],
              "round $round: those within get 200 when the lock goes");
    is($store->value('SELECT count(*) FROM submission_intents '
                     . "WHERE intent_id LIKE 'queue-$round-%'"),
       scalar @waiting,
       "round $round: and are in the store, the others are not");

    $_->close for @conns;
}

is(post_intent($instance, 'after')->{status}, 200, 'one after');
is($instance->log_count(qr/store_down/), 0,
   'a full queue is not taken for a store that is down');

$cluster->done;

# Bulk submissions leave an eighth of the queue to requests of one intent: a POST is
# taken while a bulk submission is refused, because there is no room for its lines.
#
# Another process holds the write lock, so that all of them wait.  What the worker's
# batch has taken meanwhile makes room for more, never for less.
#
# Goes red when: bulk submissions may fill the queue; the share has no bound.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { QUEUE => 80, SHARE => 10, LINES => 7, BATCH => 1 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;

# one worker: the queue is each worker's own

my $instance = $cluster->instance('a', workers => 1, store_timeout => '60s',
                                  intake => 'queue=' . QUEUE
                                            . ' batch=' . BATCH);

$cluster->start;

is(post_intent($instance, 'before')->{status}, 200, 'one before');

my (%results, @conns);

sub send_one {
    my ($name, $type, @ids) = @_;

    push @conns, SubmissionCluster::Connection->open($instance->{port});

    my $body = join '', map { SubmissionCluster::Client::intent($_, '1') . "\n" } @ids;

    $conns[-1]->send("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                     . "Content-Type: application/$type\r\n"
                     . 'Content-Length: ' . length($body) . "\r\n\r\n$body",
                     sub { $results{$name} = $_[0] });

    # its bytes were there before those of this request

    fetch($instance, 'GET', '/v1/intents/before');
}

my $lock = $store->lock;

# first many lines at once, then one by one, until there is no room for one more

for my $lines (LINES, 1) {
    for my $n (1 .. 2 * QUEUE) {
        send_one("bulk-$lines-$n", 'x-ndjson', map { "bulk-$lines-$n-$_" } 1 .. $lines);
        last if keys %results;
    }

    is_deeply([map { $_->{status} } values %results], [503],
              "a bulk submission of $lines is refused");
    %results = ();
}

send_one("single-$_", 'json', "single-$_") for 1 .. SHARE - 1;

is(scalar keys %results, 0, 'requests of one intent wait');

for my $n (SHARE .. SHARE + 10) {
    send_one("single-$n", 'json', "single-$n");
    last if keys %results;
}

is_deeply([map { $_->{status} } values %results], [503], 'so many, and not more');
%results = ();

$store->unlock($lock);

my $waiting = @conns - 3;

wait_for('all are answered', sub { keys %results == $waiting });

is_deeply([grep { $_->{status} != 200 } values %results], [], 'all are taken');

$cluster->done;

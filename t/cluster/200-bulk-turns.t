# Requests take turns at the store, not lines: a single POST that comes after three
# bulk submissions of a thousand lines each is in the next batch, and not in the one
# after theirs.  The lines of a bulk submission stay in their order.
#
# Another process holds the write lock until all of them wait, so the order in which
# they are taken does not depend on how fast anything is.
#
# Goes red when: what waits is taken line by line in the order in which it came; a
# request's lines are taken out of order, or not all of them.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { BULKS => 3, LINES => 1000, BATCH => 256 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;

# one worker: the queue is each worker's own

my $instance = $cluster->instance('a', workers => 1, store_timeout => '60s',
                                  intake => 'queue=3500 batch=' . BATCH);

$cluster->start;

is(post_intent($instance, 'before')->{status}, 200, 'one before');

my (%results, @conns);

sub bulk {
    my ($n) = @_;

    my $body = join '', map {
        SubmissionCluster::Client::intent(sprintf('bulk-%d-%04d', $n, $_), '1')
        . "\n"
    } 1 .. LINES;

    return "POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
           . "Content-Type: application/x-ndjson\r\n"
           . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
}

sub send_one {
    my ($name, $request) = @_;

    push @conns, SubmissionCluster::Connection->open($instance->{port});
    $conns[-1]->send($request, sub { $results{$name} = $_[0] });
}

my $lock = $store->lock;

# the queue has room for all but one of them: who is refused comes after the others

send_one("bulk-$_", bulk($_)) for 1 .. BULKS + 1;

wait_for('one is refused', sub { keys %results });

my ($refused) = keys %results;

is((delete $results{$refused})->{status}, 503, 'there is no room for all');
my @taken = grep { $_ ne $refused } map { "bulk-$_" } 1 .. BULKS + 1;

send_one('single', SubmissionCluster::Client::request('POST', '/v1/intents',
                       SubmissionCluster::Client::intent('single', '1')));

# its bytes were there before those of this request

is(fetch($instance, 'GET', '/v1/intents/before')->{status}, 200, 'a reader');
is(scalar keys %results, 0, 'all of them wait');

$store->unlock($lock);

wait_for('all are answered', sub { keys %results == BULKS + 1 });

is($results{single}{status}, 200, 'the single one is taken');

for my $bulk (@taken) {
    my @lines = $results{$bulk}{body} =~ /"line":(\d+),"status":200/g;

    is_deeply(\@lines, [1 .. LINES], "$bulk: all lines, in their order");
}

my $intents = $store->intents;
my %at = map { $_ => $intents->{$_}{created_at} } keys %$intents;
my $earlier = grep { /^bulk/ && $at{$_} < $at{single} } keys %at;

# what one batch had taken before is ahead of it

cmp_ok($earlier, '<=', 2 * BATCH, 'the single one did not wait for the bulks');

for my $bulk (@taken) {
    my @times = map { $at{sprintf '%s-%04d', $bulk, $_} } 1 .. LINES;

    is_deeply(\@times, [sort { $a <=> $b } @times], "$bulk: in its order");
}

$cluster->done;

# A look at what has failed reads up to 10,000 failures, so those who wait share one:
# a hundred who ask since a hundred different minutes cost a few looks, and an operator
# who asks after them is answered with the next one, as is who asks for anything else.
#
# Goes red when: each different "since" is a look of its own; an answer is of another
# time than was asked for.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use POSIX 'strftime';

use SubmissionCluster;

use constant { ASKED => 100, EACH => 100, LOOKS => 20,
               START => 1_780_000_020 };         # a whole minute

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;

# one worker: who waits, waits in a worker

my $instance = $cluster->instance('a', workers => 1, store_timeout => '60s');

$cluster->start;

is(post_intent($instance, 'like')->{status}, 200, 'an intent');

# a hundred failures in each of a hundred minutes; until they have failed, they wait
# for a time far ahead

my $ahead = 2_000_000_000;

for my $minute (0 .. ASKED - 1) {
    $store->insert_like('like', [map { "failure-$minute-$_" } 1 .. EACH],
                        at => ($ahead + START + 60 * $minute) . '000000');
}

$store->query("UPDATE submission_intents SET status = 'rejected', "
              . "final_outcome_reason = 'bad', next_attempt_at = NULL, "
              . "attempt_count = 1, completed_at = created_at - ${ahead}000000 "
              . "WHERE intent_id LIKE 'failure-%'");

my (%results, @conns);

sub ask {
    my ($name, $path) = @_;

    push @conns, SubmissionCluster::Connection->open($instance->{port});
    $conns[-1]->send(SubmissionCluster::Client::request('GET', $path),
                     sub { $results{$name} = $_[0] });
}

sub minute {
    return strftime('%Y-%m-%dT%H:%M:00', gmtime START + 60 * $_[0]);
}

ask($_, '/v1/failures?since=' . minute($_) . 'Z') for 0 .. ASKED - 1;
ask('operator', '/v1/failures');
ask('other', '/v1/intents?status=rejected&limit=1');

wait_for('all are answered', sub { keys %results == ASKED + 2 });

is_deeply([grep { $_->{status} != 200 } values %results], [], 'all of them well');

my (@wrong, %looks);

for my $minute (0 .. ASKED - 1, 'operator') {
    my $body = $results{$minute}{body};
    my $since = $minute eq 'operator' ? '' : minute($minute);
    my $count = EACH * ($since ? ASKED - $minute : ASKED);

    push @wrong, "$minute: $body"
        if $body !~ /"count":$count,/ || $body !~ /"complete":true/
           || ($since && $body !~ /"since":"$since/);

    $looks{$1} = 1 if $body =~ /"asOf":"([^"]*)"/;
}

is_deeply(\@wrong, [], 'each has the failures since its time');
cmp_ok(scalar keys %looks, '<=', LOOKS, 'by a few looks');

$cluster->done;

# Many intents in one request, on a store that goes away and comes back, and
# with clients that leave: every line that was answered 200 is in the store
# (G3), every request that stays is answered once, with a line for each of its
# own, and the worker lives and does not grow.
#
# Goes red when: a line is answered before its batch is committed, or with the
# outcome of another; a request that is gone is answered, or stays on the queue;
# what is left of a request after a part of it was tried again is forgotten.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { ROUNDS => 6, CLIENTS => 12, LINES => 50 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $instance = $cluster->instance('a', workers => 1, store_timeout => '1s',
                                  intake => 'queue=2000 batch=16');

$cluster->start;

my ($worker) = $instance->worker_pids;


sub request {
    my ($prefix) = @_;

    my $body = join "\n", map {
        SubmissionCluster::Client::intent("$prefix-$_", $_)
    } 1 .. LINES;

    return "POST /v1/intents HTTP/1.1\r\nHost: test\r\n"
           . "Content-Type: application/x-ndjson\r\n"
           . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
}


sub settle { return fetch($instance, 'GET', '/healthz')->{status} == 200 }


my (@problems, %good, %lines);

sub take {
    my ($prefix, $result) = @_;

    if ($result->{lost} || $result->{status} != 200) {
        push @problems, "$prefix: " . ($result->{lost} // $result->{status})
            if ($result->{status} // 0) != 503;
        return;
    }

    my @lines = map { JSON::PP->new->utf8->decode($_) }
                split /\n/, $result->{body};

    push @problems, "$prefix: " . @lines . ' lines' if @lines != LINES;

    for my $n (1 .. @lines) {
        my $line = $lines[$n - 1];

        $lines{$line->{status}}++;

        push @problems, "$prefix: line $n is $line->{line}"
            if $line->{line} != $n;

        if ($line->{status} == 200) {
            push @problems, "$prefix: line $n is of another"
                if $line->{intent}{intentId} ne "$prefix-$n";
            $good{"$prefix-$n"} = 1;

        } elsif ($line->{status} != 503) {
            push @problems, "$prefix: line $n: $line->{status}";
        }
    }
}


for my $round (1 .. ROUNDS) {
    my $lock = $store->lock;
    my ($n, $answers, @leave, @stay) = (0, 0);

    for my $i (1 .. CLIENTS) {
        my $conn = SubmissionCluster::Connection->open($instance->{port});
        my $prefix = "bulk-$round-$i";

        if ($i % 3 == 0) {
            push @leave, $conn;
            $conn->send(request($prefix), sub { });
            next;
        }

        push @stay, $conn;
        $n++;
        $conn->send(request($prefix), sub {
            $answers++;
            take($prefix, $_[0]);
        });
    }

    settle();

    # some while all wait, some in the middle of commits

    $leave[$_]->reset for grep { $_ % 2 } 0 .. $#leave;
    $store->unlock($lock);

    if ($round % 2) {
        $store->away;
        settle();
        $store->back;
    }

    $leave[$_]->reset for grep { !($_ % 2) } 0 .. $#leave;

    wait_for('those who stay are answered', sub { $answers == $n });
    $_->close for @stay;

    wait_for('the store is back', sub {
        post_intent($instance, intent_id('after'))->{status} == 200;
    });
}

is_deeply(\@problems, [], 'each is answered, with its own lines');
ok($lines{200}, 'with lines of 200') or diag(explain(\%lines));
note(join ', ', map { "$lines{$_} lines of $_" } sort keys %lines);

my %stored = map { $_ => 1 }
             split / /, $store->value("SELECT group_concat(intent_id, ' ') "
                                      . 'FROM submission_intents '
                                      . "WHERE intent_id LIKE 'bulk-%'");

is_deeply([grep { !$stored{$_} } sort keys %good], [],
          'every line that was answered 200 is in the store');
is_deeply([$instance->worker_pids], [$worker], 'the worker lives');


# whatever became of a request, the same one again has all of it

my $again;
my $conn = SubmissionCluster::Connection->open($instance->{port});

$conn->send(request('bulk-1-1'), sub { $again = $_[0] });
wait_for('it is answered', sub { $again });
is(scalar(() = $again->{body} =~ /"status":200/g), LINES,
   'the same request again has all');
$conn->close;

$cluster->done;

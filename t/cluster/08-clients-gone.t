# Clients that leave while their requests wait for the store cost nothing: no
# crash, no leak, no place in the queue, and others are answered.  Also those
# who leave within a request, who send several at once, and who close their
# half of the connection.
#
# Goes red when: a batch answers a request that is gone; a request that is gone
# stays on the queue; what a batch owns is freed with the request, or not at
# all; a pipelined request is lost or answered out of order.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { ROUNDS => 30, SETTLED => 10, CLIENTS => 60 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $instance = $cluster->instance('a', workers => 1, store_timeout => '60s',
                                  intake => 'queue=' . CLIENTS . ' batch=8',
                                  server => 'client_body_buffer_size 1k;');

$cluster->start;

my ($worker) = $instance->worker_pids;


sub post {
    my ($id, $payload) = @_;

    return SubmissionCluster::Client::request('POST', '/v1/intents',
               SubmissionCluster::Client::intent($id, $payload // '1'));
}


# the worker has seen all that was sent before

sub settle { return fetch($instance, 'GET', '/healthz')->{status} == 200 }


sub connections {
    my $result = fetch($instance, 'GET', '/status');

    return $result->{body} =~ /Active connections: (\d+)/ ? $1 : undef;
}


# The same ids in each round: replays, so that the store and SQLite's caches
# do not grow.

my (@problems, @memory);

for my $round (1 .. ROUNDS) {
    my $lock = $store->lock;
    my (%results, @stay, @leave);

    for my $i (1 .. CLIENTS) {
        my $conn = SubmissionCluster::Connection->open($instance->{port});
        my $id = "gone-$i";

        # some bodies go through a temporary file
        my $payload = $i % 7 ? '1' : '"' . 'x' x 5000 . '"';

        if ($i % 3 == 0) {
            push @stay, $conn;
            $conn->send(post($id, $payload), sub { $results{$id} = $_[0] });

        } else {
            push @leave, $conn;
            $conn->send(post($id, $payload), sub { });
        }
    }

    settle();

    # politely, and not

    $leave[$_]->reset for grep { $_ % 2 } 0 .. $#leave;
    $leave[$_]->close for grep { !($_ % 2) } 0 .. $#leave;

    wait_for('the worker has noticed', sub { connections() <= @stay + 1 });

    # their places are free: all of these fit in

    for my $i (1 .. @leave - 10) {
        my $conn = SubmissionCluster::Connection->open($instance->{port});
        my $id = "late-$i";

        push @stay, $conn;
        $conn->send(post($id), sub { $results{$id} = $_[0] });
    }

    settle();

    push @problems, "round $round: " . keys(%results) . ' answered early'
        if %results;

    $store->unlock($lock);

    wait_for('all that stay are answered', sub { keys %results == @stay });

    for my $id (sort keys %results) {
        my $what = $results{$id}{lost} // $results{$id}{status};
        push @problems, "round $round: $id: $what" if $what ne '200';
    }

    $_->close for @stay;

    wait_for('all connections are gone', sub { connections() == 1 });

    $memory[$round] = SubmissionCluster::Process::memory($worker);
}

# in the middle of commits: each stays for as long as the answers to so many
# others take

for my $round (1 .. 40) {
    my ($n, $answers, @leave) = (0, 0);

    for my $i (1 .. CLIENTS) {
        my $conn = SubmissionCluster::Connection->open($instance->{port});
        my $stay = $i % 2;

        push @leave, $conn if !$stay;
        $n++ if $stay;

        $conn->send(post("among-$i"), sub {
            my ($result) = @_;

            (shift @leave)->reset if @leave && $stay;
            return if !$stay;

            $answers++;
            push @problems, "round $round: $i: $result->{lost}"
                if $result->{lost};
            $conn->close;
        });

        # some at once
        $conn->reset if $i % 10 == 0;
    }

    wait_for('all that stay are answered', sub { $answers == $n });
    $_->reset for @leave;
}

wait_for('all connections are gone', sub { connections() == 1 });


# all of them leave: there is nothing to do when the lock goes

for my $round (1 .. 3) {
    my $lock = $store->lock;
    my @conns = map { SubmissionCluster::Connection->open($instance->{port}) }
                1 .. 20;

    $conns[$_]->send(post("nobody-$round-$_"), sub { }) for 0 .. $#conns;
    settle();
    $_->reset for @conns;
    wait_for('all connections are gone', sub { connections() == 1 });
    $store->unlock($lock);

    my $what = post_intent($instance, "somebody-$round")->{status};
    push @problems, "after nobody: $what" if $what != 200;
}

is_deeply(\@problems, [], 'those who stay are answered, once the lock goes');
is_deeply([$instance->worker_pids], [$worker], 'the worker lives');

my $grown = $memory[ROUNDS] - $memory[SETTLED];

note("the worker has $memory[SETTLED] kB of its own, and $grown kB more after "
     . (ROUNDS - SETTLED) . ' rounds');

SKIP: {
    skip("under $ENV{SUBMISSION_CHECK}", 1) if $ENV{SUBMISSION_CHECK};

    # 1600 requests, half of them gone
    cmp_ok($grown, '<', 500, 'and has not grown');
}


# within the request: in the header, in the body, in a chunk

{
    my $whole = post('cut', '"' . 'x' x 3000 . '"');
    my $chunked = "POST /v1/intents HTTP/1.1\r\nHost: test\r\n"
                  . "Transfer-Encoding: chunked\r\n\r\n10\r\n{\"intentId\"";

    for my $bytes ((map { substr($whole, 0, $_) }
                    10, 60, 120, 130, 1200, length($whole) - 1), $chunked)
    {
        my $result;
        my $conn = SubmissionCluster::Connection->open($instance->{port});

        $conn->send($bytes, sub { $result = $_[0] });
        settle();
        $conn->reset;
    }

    wait_for('all connections are gone', sub { connections() == 1 });

    is($store->value("SELECT count(*) FROM submission_intents "
                     . "WHERE intent_id = 'cut'"),
       0, 'a request that is cut short is not taken');
}


# several at once on one connection, all answered in their order

for my $locked (0, 1) {
    my $name = $locked ? 'locked' : 'unlocked';
    my $conn = SubmissionCluster::Connection->open($instance->{port});
    my $lock = $locked ? $store->lock : undef;
    my ($bytes, @ids, @results) = ('');

    for my $i (1 .. 50) {
        push @ids, "pipe-$name-$i";
        $bytes .= post($ids[-1], $i % 7 ? '1' : '"' . 'x' x 5000 . '"');
    }

    # all bytes go out with the first
    $conn->send($bytes, sub { push @results, $_[0] });
    $conn->send('', sub { push @results, $_[0] }) for 2 .. @ids;

    settle();

    if ($locked) {
        is(scalar @results, 0, 'pipelined: all wait for the store');
        $store->unlock($lock);
    }

    wait_for('all are answered', sub { @results == @ids });

    is_deeply([map { $_->{status} && $_->{body} =~ /"intentId":"([^"]+)"/
                     ? "$_->{status} $1" : $_->{lost} // $_->{body} } @results],
              [map { "200 $_" } @ids],
              "pipelined, $name: all are answered, in order");

    $conn->close;
}


# leaves after several at once, while the first waits

{
    my $lock = $store->lock;
    my $conn = SubmissionCluster::Connection->open($instance->{port});

    $conn->send(join('', map { post("pipe-gone-$_") } 1 .. 20), sub { });
    settle();
    $conn->reset;
    settle();
    $store->unlock($lock);

    wait_for('all connections are gone', sub { connections() == 1 });
}


# A client that closes its half is, to nginx, one that has left: it gets a whole
# answer or none.

{
    my (%results, @conns);

    for my $i (1 .. 20) {
        my $lock = $i % 2 ? $store->lock : undef;
        my $conn = SubmissionCluster::Connection->open($instance->{port});

        $conn->send(post("half-$i"), sub { $results{$i} = $_[0] });
        $conn->half_close;
        settle();
        $store->unlock($lock) if $lock;

        push @conns, $conn;
    }

    wait_for('all end', sub { keys %results == 20 });

    is_deeply([grep { !/^(?:200|unanswered)$/ }
               map { $_->{lost} // $_->{status} } values %results],
              [], 'half closed: a whole answer or none');
    note('half closed: ',
         scalar(grep { $_->{status} } values %results), ' of 20 answered');
}

is($instance->log_count(qr/store_down/), 0, 'the store was not blamed');
is(post_intent($instance, 'after')->{status}, 200, 'all is well');
is_deeply([$instance->worker_pids], [$worker], 'the worker lives');
wait_for('all connections are gone', sub { connections() == 1 });

$cluster->done;

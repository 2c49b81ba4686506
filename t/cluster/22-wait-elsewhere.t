# Requests that wait for an attempt, on several instances, whoever makes it:
# SQL does here, as another instance would.  Workers are killed, reloaded and
# told to quit while clients wait, and clients leave.
#
# Goes red when: only the instance that executes tells its own clients; a wait
# is longer than 30 seconds; a worker that dies takes others' waits along; a
# worker that shuts down drops those who wait, or stays for them; clients that
# leave leave something behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Socket qw(unpack_sockaddr_in);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { WAITERS => 60, RELOADS => 12, SETTLED => 4, ROUNDS => 30 };

my $cluster = SubmissionCluster->new;
my $one = $cluster->instance('a');
my $two = $cluster->instance('b');
my $three = $cluster->instance('c', workers => 1);
my $store = $cluster->store;

$cluster->start;


# a POST that waits; what became of it is in {result} some time later

sub post {
    my ($instance, $id, $seconds) = @_;

    my $waiter = { id => $id, since => time };

    $waiter->{conn} = SubmissionCluster::Connection->open($instance->{port});
    $waiter->{conn}->send(
        SubmissionCluster::Client::request('POST',
            '/v1/intents?waitSeconds=' . ($seconds // 25),
            SubmissionCluster::Client::intent($id, '1')),
        sub {
            $waiter->{result} = $_[0];
            $waiter->{seconds} = time - $waiter->{since};
            $waiter->{at} = time;
        });

    return $waiter;
}


sub stored {
    my @waiters = @_;

    my $ids = join ',', map { "'$_->{id}'" } @waiters;

    wait_for('all are stored', sub {
        @waiters == $store->value('SELECT count(*) FROM submission_intents '
                                  . "WHERE intent_id IN ($ids)");
    });
}


sub attempt {
    my $ids = join ',', map { "'$_->{id}'" } @_;

    $store->query('UPDATE submission_intents SET attempt_count = 1 '
                  . "WHERE intent_id IN ($ids)");
}


# which worker has a client's connection: the kernel knows

sub by_worker {
    my ($instance, @waiters) = @_;

    my (%worker, %inode, %by);

    for my $pid ($instance->worker_pids) {
        for (glob "/proc/$pid/fd/*") {
            $worker{$1} = $pid if (readlink // '') =~ /^socket:\[(\d+)\]/;
        }
    }

    open(my $file, '<', '/proc/net/tcp') or die "/proc/net/tcp: $!";

    for (<$file>) {
        my (undef, $local, $remote, @rest) = split;
        my ($port, $peer) = map { /:(\w+)$/ ? hex $1 : 0 } $local, $remote;

        $inode{$peer} = $rest[6] if $port == $instance->{port};
    }

    for my $waiter (@waiters) {
        my $socket = $waiter->{conn}{socket} // next;
        my ($port) = unpack_sockaddr_in(getsockname $socket);
        my $pid = $worker{$inode{$port} // ''} // next;

        push @{$by{$pid}}, $waiter;
    }

    return %by;
}


sub answered {
    my @waiters = @_;

    wait_for('all are answered', sub { !grep { !$_->{result} } @waiters });

    $_->{conn}->close for @waiters;
}


sub wrong {
    my ($count, @waiters) = @_;

    return map {
        my $result = $_->{result};
        my $what = $result->{lost} // $result->{status};

        $what eq '200' && $result->{body} =~ /"attemptCount":$count\b/
        && $result->{body} =~ /"intentId":"$_->{id}"/ ? ()
        : "$_->{id}: $what " . ($result->{body} // '');
    } @waiters;
}


# it ends by itself while all the rest happens

my $longest = post($two, 'longest', 3600);


# whoever executes

my @waiters = map { (post($one, "any-a$_"), post($two, "any-b$_"),
                     post($three, "any-c$_")) } 1 .. WAITERS;

stored(@waiters);
is_deeply([grep { $_->{result} } @waiters], [], 'all wait');

my $start = time;

attempt(@waiters);
answered(@waiters);

is_deeply([wrong(1, @waiters)], [], 'all are told of the attempt');

my ($slowest) = sort { $b <=> $a } map { $_->{at} - $start } @waiters;

cmp_ok($slowest, '<', 5 * slow(), 'soon after it');
note(sprintf 'the slowest after %.0f ms', 1000 * $slowest);


# the same intent from several clients of several instances

@waiters = map { post($_, 'shared') } ($one, $two, $three) x 5;
stored($waiters[0]);
attempt($waiters[0]);
answered(@waiters);

is_deeply([wrong(1, @waiters)], [], 'all clients of one intent are told');
is(scalar(grep { !$_->{result}{headers}{'idempotent-replayed'} } @waiters), 1,
   'one of them has made it');


# a worker dies

$one->expect_log(qr/worker process \d+ exited on signal 9/);

@waiters = ();

my @workers = $one->worker_pids;
my %by;

wait_for('both workers have some that wait', sub {
    push @waiters, map { post($one, 'killed-' . (@waiters + $_)) } 1 .. 20;

    %by = by_worker($one, @waiters);

    !grep { !$by{$_} || @{$by{$_}} < 3 } @workers;
});

# the last ones were not accepted yet when it was asked

stored(@waiters);
%by = by_worker($one, @waiters);

my ($victim, $other) = @workers;
my @lost = @{$by{$victim}};
my @kept = @{$by{$other}};

is(@lost + @kept, @waiters, 'each is with one of the two');

$one->signal('KILL', $victim);

wait_for('connections of the dead end', sub {
    !grep({ !$_->{result} } @lost) && $one->worker_pids == 2;
});

is_deeply([grep { ($_->{result}{lost} // '') ne 'unanswered' } @lost], [],
          'none had been answered');
is_deeply([grep { $_->{result} } @kept], [], 'others wait on');

# they ask again, and wait with the others

my @again = map { post($one, $_->{id}) } @lost;

wait_for('they wait again', sub {
    fetch($one, 'GET', '/healthz')->{status} == 200;
});

attempt(@waiters);
answered(@kept, @again);
$_->{conn}->close for @lost;

is_deeply([wrong(1, @kept)], [], 'others are told');
is_deeply([wrong(1, @again)], [], 'so are those that came again');
is_deeply([grep { ($_->{result}{headers}{'idempotent-replayed'} // '')
                  ne 'true' } @again], [], 'as duplicates');


# reloads: each answers those who wait, and leaves nothing behind

my (@problems, @times, $descriptors);

for my $reload (1 .. RELOADS) {
    my @waiters = map { post($one, "reload-$reload-$_") } 1 .. WAITERS;

    stored(@waiters);
    attempt(@waiters[0 .. WAITERS / 2 - 1]);

    my $start = time;

    $one->signal('HUP');
    answered(@waiters);

    push @times, time - $start;
    push @problems, wrong(1, @waiters[0 .. WAITERS / 2 - 1]),
                    wrong(0, @waiters[WAITERS / 2 .. WAITERS - 1]);

    wait_for('the old workers are gone', sub {
        !$one->retiring_pids && $one->worker_pids == 2
        && $one->log_count(qr/worker process \d+ exited with code 0/)
           == 2 * $reload;
    });

    $descriptors = SubmissionCluster::Process::descriptors($one->master)
        if $reload == SETTLED;
}

is_deeply(\@problems, [], 'a reload answers all, with what is so');
cmp_ok((sort { $b <=> $a } @times)[0], '<', 10 * slow(), 'at once');
ok(eval {
    wait_for('descriptors are closed', sub {
        SubmissionCluster::Process::descriptors($one->master) <= $descriptors;
    });
}, 'the master has no more descriptors than before');


# clients that leave

my ($worker) = $three->worker_pids;
my ($memory, $left);

for my $round (1 .. ROUNDS) {
    my @waiters = map { post($three, "gone-$_") } 1 .. WAITERS;

    # the same ids each time, so that they are replays that wait

    stored(@waiters);
    fetch($three, 'GET', '/healthz');
    $_->{conn}->close for @waiters;

    wait_for('nginx sees that they have left', sub {
        my $result = fetch($three, 'GET', '/status');
        $result->{body} =~ /Active connections: 1\b/;
    });

    $memory = SubmissionCluster::Process::memory($worker) if $round == 10;
}

my $grown = SubmissionCluster::Process::memory($worker) - $memory;

is_deeply([$three->worker_pids], [$worker], 'the worker is the same');

SKIP: {
    skip("under $ENV{SUBMISSION_CHECK}", 1) if $ENV{SUBMISSION_CHECK};

    cmp_ok($grown, '<', 200, 'it has not grown');
}


# quit

@waiters = map { (post($one, "quit-a$_"), post($three, "quit-c$_")) } 1 .. WAITERS;
stored(@waiters);

$start = time;

$_->signal('QUIT') for $one, $three;
answered(@waiters);

is_deeply([wrong(0, @waiters)], [], 'who waits is answered at quit');

$_->wait_gone for $one, $three;

cmp_ok(time - $start, '<', 10 * slow(), 'at once');


# the longest wait there is

wait_for('the longest wait is over', sub { $longest->{result} }, 40);
$longest->{conn}->close;

is_deeply([wrong(0, $longest)], [], 'it is answered, too');
cmp_ok($longest->{seconds}, '>=', 29.9, 'after 30 seconds');
cmp_ok($longest->{seconds}, '<', 30 + 5 * slow(), 'and not more');

$cluster->done;

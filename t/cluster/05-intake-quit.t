# "nginx -s quit" under load answers what it accepted: a request that reached a
# worker gets its whole answer, so that what is in the store and what clients
# know to be there are the same.  Workers leave in bounded time, also while
# another process holds the store's write lock.
#
# Clients also see requests end without an answer that no worker has read:
# those on connections that were idle, or not accepted yet.  None of these may
# be in the store.
#
# Goes red when: a worker does not wait for batches that are out (the guard
# timer in ngx_http_submission_task.c); their completions are not run; a timer
# of ours keeps a worker that has nothing left to do; a store call has no
# time-out.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { ROUNDS => 6, BUSY => 2 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $instance = $cluster->instance('a');
my %seen;

for my $round (1 .. ROUNDS) {
    $cluster->start;

    # some bodies are large enough to go through a temporary file

    my $load = $cluster->load(connections => 32, prefix => "quit-$round",
                              large => 8);

    $load->{on_result} = sub {
        $load->pause if ($_[1]{lost} // '') eq 'refused';
    };

    $load->start;

    wait_for('there is load', sub { $load->count('answered') >= 200 });

    my $seconds = $instance->quit;

    $load->pause;
    wait_for('all connections end', sub { !$load->{outstanding} });

    my %stored = map { $_->[0] => 1 }
                 $store->query('SELECT intent_id FROM submission_intents '
                               . "WHERE intent_id LIKE 'quit-$round-%'");

    is_deeply([grep { !$stored{$_} } keys %{$load->{answered}}], [],
              "round $round: all that was answered 200 is in the store");
    is_deeply([grep { !$load->{answered}{$_} } keys %stored], [],
              "round $round: all that is in the store was answered");
    is_deeply([grep { !/^(?:refused|unanswered)$/ } values %{$load->{final}}],
              [], "round $round: no answer was cut short");

    # nothing is waited for but a commit, and a noisy machine
    cmp_ok($seconds, '<', 5 * slow(), "round $round: it was quick");

    $seen{$_} += $load->{lost}{$_} for keys %{$load->{lost}};
    $seen{answered} += $load->count('answered');
}

note(join(', ', map { "$seen{$_} $_" } sort keys %seen));


# while the write lock is held: all wait, whether in a batch or before one

sub quit_locked {
    my ($name, $unlock) = @_;

    $instance->{store_timeout} = ($unlock ? 60 : BUSY) . 's';
    $cluster->start;

    my $lock = $store->lock;
    my (%results, @conns);

    for my $i (1 .. 16) {
        my $id = "$name-$i";

        push @conns, SubmissionCluster::Connection->open($instance->{port});

        $conns[-1]->send(
            SubmissionCluster::Client::request('POST', '/v1/intents',
                SubmissionCluster::Client::intent($id, '1')),
            sub { $results{$id} = $_[0] });
    }

    # each worker has read what was sent before

    my %answered;

    wait_for('all workers answer', sub {
        my $result = fetch($instance, 'GET', '/healthz');
        $answered{$result->{pid}} = 1 if $result->{pid};
        keys %answered == 2;
    });

    is_deeply(\%results, {}, "$name: all wait");

    my $started = time;

    $instance->signal('QUIT');
    wait_for('workers retire', sub {
        $instance->retiring_pids || !$instance->worker_pids;
    });

    $store->unlock($lock) if $unlock;

    $instance->wait_gone;

    my $seconds = time - $started;

    wait_for('all connections end', sub { keys %results == 16 });
    $store->unlock($lock) if !$unlock;

    return ($seconds, map { $results{"$name-$_"} } 1 .. 16);
}


{
    my ($seconds, @results) = quit_locked('unlocked', 1);

    is_deeply([map { $_->{lost} // $_->{status} } @results], [(200) x 16],
              'the lock goes: all that waited are answered 200');
    is($store->value('SELECT count(*) FROM submission_intents '
                     . "WHERE intent_id LIKE 'unlocked-%'"),
       16, 'the lock goes: all are in the store');
}

{
    my ($seconds, @results) = quit_locked('locked', 0);

    is_deeply([map { $_->{lost} // $_->{status} } @results], [(503) x 16],
              'the lock stays: all that waited are answered 503');
    is_deeply([grep { !$_->{headers}{'retry-after'} } @results], [],
              'the lock stays: each with Retry-After');
    cmp_ok($seconds, '<', 2 * BUSY + 5 * slow(),
           'the lock stays: workers do not wait for longer than two time-outs');
    is($store->value('SELECT count(*) FROM submission_intents '
                     . "WHERE intent_id LIKE 'locked-%'"),
       0, 'the lock stays: nothing of it is in the store');

    note(sprintf 'quit took %.1f s while the store was locked', $seconds);
}

$cluster->done;

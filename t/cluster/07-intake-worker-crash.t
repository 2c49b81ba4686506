# A worker is killed with SIGKILL under load: the other goes on and loses no
# connection, a new one takes its place, and nothing acknowledged is lost (G3).
# What the dead one had begun is begun again by its clients.
#
# Goes red when: a worker dies with another; shared memory or the store's
# file is left in a state that stops the others; a batch is answered before its
# commit.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant ROUNDS => 8;

my $cluster = SubmissionCluster->new;
my $instance = $cluster->instance('a');

$cluster->start;

$instance->expect_log(qr/worker process \d+ exited on signal 9/);

my $load = $cluster->load(connections => 32, prefix => 'worker',
                          retry => [qw(unanswered torn)]);
my (%answers, %lost);

$load->{on_result} = sub {
    my ($id, $result) = @_;

    if ($result->{lost}) {
        $lost{$result->{pid}}++ if $result->{pid};

    } else {
        $answers{$result->{pid}}++;
    }
};

$load->start;

my %killed;

for my $round (1 .. ROUNDS) {
    my @workers = $instance->worker_pids;

    wait_for('both workers answer', sub {
        my $result = post_intent($instance, intent_id('both'));
        !grep { !$answers{$_} && ($result->{pid} // 0) != $_ } @workers;
    });

    # in the last round both

    my @victims = $round < ROUNDS ? $workers[$round % 2] : @workers;
    my @others = $round < ROUNDS ? $workers[1 - $round % 2] : ();

    $killed{$_} = 1 for @victims;

    my $before = $load->count('answered');

    $instance->signal('KILL', $_) for @victims;

    my @new = @{wait_for('there are two workers again', sub {
        my @pids = grep { !$killed{$_} } $instance->worker_pids;
        @pids == 2 && \@pids;
    })};

    wait_for('the load goes on', sub {
        $load->count('answered') >= $before + 200;
    });

    for my $other (@others) {
        ok(scalar(grep { $_ == $other } @new),
           "round $round: the other goes on");
    }

    my ($new) = grep { my $pid = $_; !grep { $_ == $pid } @workers } @new;

    ok(wait_for('the new worker takes intents', sub {
        my $result = post_intent($instance, intent_id('new'));
        ($result->{pid} // 0) == $new && $result->{status} == 200;
    }), "round $round: a new worker takes intents");
}

$load->pause;
wait_for('all is answered', sub { !$load->{outstanding} });
$load->{total} = $load->{sent};
$load->start;
wait_for('all is answered', sub { $load->finished });

is_deeply($load->{final}, {}, 'no request failed for good');
is_deeply([grep { !$killed{$_} } keys %lost], [],
          'only connections of the dead were lost');
is($load->count('answered'), $load->{sent}, 'each was answered 200 in the end');
is_deeply([grep { !$load->{retried}{$_} } keys %{$load->{replayed}}], [],
          'none was there before it was posted');
is_deeply([$cluster->verify($load)], [], 'all are found');
is_deeply([$cluster->store->query(
               'SELECT count(*), count(DISTINCT intent_id) '
               . "FROM submission_intents WHERE intent_id LIKE 'worker-%'")],
          [[$load->{sent}, $load->{sent}]], 'and each is there once');
is($instance->log_count(qr/exited on signal/), scalar keys %killed,
   'no other worker has died');

note(sprintf '%d requests, %d posted again, %d of these had been committed',
     $load->{sent}, $load->count('retried'), $load->count('replayed'));

$cluster->done;

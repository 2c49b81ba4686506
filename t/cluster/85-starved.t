# The leader has no descriptor left to connect to gateways with, and intents are
# due.  Alone, it leads on: nobody could do better.  When another instance lives it
# gives its lease up, after as long as a lease lasts, does not ask for it again
# at once, and the other sends.
#
# Goes red when: a leader that cannot send keeps its lease although another lives;
# it gives it up when nobody does; it takes it back before the other has seen it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'prlimit';
use SubmissionCluster;

use constant { INTENTS => 5, LEASE => 3 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => LEASE . 's',
    instance => { workers => 1, threads => 'threads=1',
                  dispatch => 'proxy_set_header Connection close;' });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my ($a, $b) = $run->instances;

$a->start;
$lease->record;
$lease->wait_leader;

my $epoch = $lease->row->{epoch};
my ($worker) = $a->worker_pids;


# its one connection to the store, of its one thread, is open by then

$run->post(map { "warm-$_" } 1 .. 200);
$run->wait_terminal('warm-');

my $answered = 0;
my $client = SubmissionCluster::Connection->open($a->{port});

$client->send(SubmissionCluster::Client::request('GET', '/healthz'),
              sub { $answered++ });
wait_for('a client is connected', sub { $answered == 1 });

my $limit = SubmissionCluster::Process::limit_descriptors($worker, 3);

for my $i (1 .. INTENTS) {
    my $before = $answered;

    $client->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                      SubmissionCluster::Client::intent("x-$i", '{}')),
                  sub { $answered++ });
    wait_for("x-$i is taken", sub { $answered > $before });
}

my $begun = time;

wait_for('it cannot send', sub { $a->log_count(qr/attempt_unsent/) });
wait_for('it starves for two leases', sub {
    time > $begun + 2 * LEASE * $store->pace;
});

is($lease->row->{epoch}, $epoch, 'alone: it keeps its lease');
is_deeply([grep { $_->{kind} eq 'lost' } $lease->events($a)], [],
          'alone: and leads on');
is($store->pending('x-'), INTENTS, 'alone: all wait');

$b->start;

my $lost = $run->wait_lost($a, $epoch);

is($lost->{reason}, 'no_connections', 'two: it gives the lease up');

wait_for('the other leads', sub { $lease->readyz($b)->{mode} eq 'leader' });
$run->wait_terminal('x-');

is_deeply($run->statuses('x-'), { accepted => INTENTS }, 'two: all are sent');
is_deeply([map { "$_->{kind} $_->{holder} $_->{epoch}" }
           grep { $_->{kind} !~ /renew|fence/ } $lease->history(1)],
          ["release a $epoch", 'acquire b ' . ($epoch + 1)],
          'two: from the one to the other');
is_deeply([grep { $_->{number} != 1 || $_->{epoch} != $epoch + 1 }
           $store->attempts('x-')],
          [], 'two: with the first attempt, and none was in doubt');

SubmissionCluster::Process::limit_descriptors($worker, $limit);
$client->close;
$a->expect_log(qr/Too many open files/);
$run->done;

# The thread pool takes no more: one thread waits for the store, and its queue
# has one place.  Calls that the pool does not take, of the executor worker too,
# are refused at once, and are made again later: requests are answered, the lead
# is lost by its deadline, and when the store is back the same worker leads again
# and all that was acknowledged is sent.
#
# Goes red when: a call that could not be posted is waited for, and nobody of the
# instance ever asks for the lease again; a request is never answered.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instance => { workers => 1, threads => 'threads=1 max_queue=1',
                  store_timeout => '30s' });
my ($lease, $store) = ($run->leadership, $run->store);
my ($a) = $run->instances;

$run->start;
# a slow store has its one thread for the first calls of the leader

sub taken {
    my ($id) = @_;

    wait_for("$id is taken", sub { eval { $run->post($id); 1 } });
}

taken('before');
$run->wait_terminal('before');

my $epoch = $lease->row->{epoch};
my $lock = $store->lock;
my @paths = ('/v1/intents', '/v1/intents/before', '/v1/cluster',
             '/v1/intents/before/history');
my ($open, %status) = (0);


sub ask {
    my ($method, $path, $body) = @_;

    my $conn = SubmissionCluster::Connection->open($a->{port});

    $open++;
    $conn->send(SubmissionCluster::Client::request($method, $path, $body), sub {
        my ($result) = @_;

        $open--;
        $status{$result->{status} // 'lost'}++;
        $conn->close;
    });
}


ask('POST', '/v1/intents', SubmissionCluster::Client::intent('held', '1'));

# each of them wants a thread, again and again

wait_for('the lead is lost, and the pool is full for others still', sub {
    ask('GET', $_) for @paths;

    ($status{503} // 0) >= 50
    && (grep { $_->{kind} eq 'lost' } $lease->events($a))
    && $a->log_count(qr/queue overflow/) >= 50;
});

$store->unlock($lock);

wait_for('all are answered', sub { $open == 0 });
ok(!$status{lost}, 'every request has an answer');

$lease->wait_leader($epoch);

taken('after');
$run->wait_terminal($_) for qw(held after);
is_deeply($run->statuses('after'), { accepted => 1 }, 'it leads, and sends');

$run->done;

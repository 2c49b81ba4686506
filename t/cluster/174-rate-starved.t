# A leader that has no descriptor to send with, and is alone, leads on in its
# epoch.  It may send as soon as descriptors are free, so nothing that it writes
# before is the last document of the epoch: if it then sends its burst and is
# killed, the next leader must not send the burst again (G15).  When another
# instance is alive it gives the lease up, and the other one goes on with its
# bucket.
#
# Goes red when: a leader that leads on writes the last document of its epoch; a
# leader that gives its lease up for lack of connections does not write it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'prlimit';
use SubmissionCluster;

# the bucket is full again before a leader has starved for a lease

use constant { RATE => 7, BURST => 20, LEASE => 3 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => LEASE . 's',
    instance => { workers => 1, threads => 'threads=1',
                  dispatch => 'proxy_set_header Connection close;' },
    targets => { 'sms.rated' => { path => '/rated',
                                  limit => 'rate=' . RATE . 'r/s burst='
                                           . BURST } });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my ($a, $b) = $run->instances;


sub rated {
    return grep { $_->{path} =~ m{^/rated} } $gateway->sends;
}

# whether the last document of this epoch is in the store

sub last_written {
    my ($epoch) = @_;

    my ($row) = $store->query('SELECT stats FROM submission_stats '
                              . "WHERE lease_epoch = $epoch");

    return $row && decode_json($row->[0])->{last};
}

# Takes all descriptors from the leader, and gives it intents.  Returns a sub that
# gives the descriptors back.

sub starve {
    my ($prefix, $n) = @_;

    my $pid = $lease->executor($a);
    my $unsent = $a->log_count(qr/attempt_unsent/);
    my $answered = 0;
    my $client = SubmissionCluster::Connection->open($a->{port});

    $client->send(SubmissionCluster::Client::request('GET', '/healthz'),
                  sub { $answered++ });
    wait_for('a client is connected', sub { $answered == 1 });

    my $limit = SubmissionCluster::Process::limit_descriptors($pid, 3);

    for my $id ($run->ids($prefix, $n)) {
        my $before = $answered;

        $client->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                          SubmissionCluster::Client::intent($id, '{}',
                                                            'sms.rated')),
                      sub { $answered++ });
        wait_for("$id is taken", sub { $answered > $before });
    }

    wait_for('it cannot send', sub {
        $a->log_count(qr/attempt_unsent/) > $unsent;
    });

    return sub {
        SubmissionCluster::Process::limit_descriptors($pid, $limit);
        $client->close;
    };
}


$a->start;
$lease->record;
$lease->wait_leader;

my $epoch = $lease->row->{epoch};

# its one connection to the store, of its one thread, is open by then

$run->post(map { "warm-$_" } 1 .. 200);
$run->wait_terminal('warm-');


# alone

my $feed = starve('alone', 3 * BURST);
my ($begun, $last) = (time, 0);

wait_for('it starves for two leases', sub {
    $last ||= last_written($epoch);
    $last || time > $begun + 2 * LEASE * $store->pace;
}, 60 * slow());

is($lease->row->{epoch}, $epoch, 'alone: it keeps its lease');
ok(!$last, 'alone: and no document is the last one');

$feed->();
$gateway->wait_for_sends(BURST, timeout => 30 * slow(),
                         which => sub { $_[0]{path} =~ m{^/rated} });
$lease->kill($a, $lease->executor($a));
$run->wait_terminal('alone-', 60 * slow());

my @alone = rated();
my $over = $run->excess(RATE, BURST, @alone);

cmp_ok(scalar keys %{{ map { $_->{epoch} => 1 } @alone }}, '>=', 2,
       'alone: it is killed after its burst');
cmp_ok($over, '<=', 0, "alone: the next leader has no burst: $over");


# two

$lease->wait_leader;
$epoch = $lease->row->{epoch};

$feed = starve('two', BURST);
$b->start;

is($run->wait_lost($a, $epoch)->{reason}, 'no_connections',
   'two: it gives the lease up');

$run->wait_terminal('two-', 60 * slow());

my @two = grep { $_->{id} =~ /^two-/ } rated();

is_deeply([grep { $_->{epoch} != $epoch + 1 } @two], [],
          'two: the other one sends');
cmp_ok($two[-1]{monotonic} - $two[0]{monotonic}, '<', (BURST - 1) / RATE / 2,
       'two: the burst that was left');
cmp_ok($run->excess(RATE, BURST, rated()), '<=', 0,
       'two: and never more than it may');

$feed->();
$a->expect_log(qr/Too many open files/);
$run->done;

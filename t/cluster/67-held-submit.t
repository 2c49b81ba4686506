# A submission that another session holds up for longer than ten seconds, within
# its query_timeout: it is committed with the time when it began, which others
# have long passed by.  The leader, another instance, sends it all the same, and
# soon (G3, G7).
#
# The sweep would find it, too, after a minute: by then this test has failed.
#
# Goes red when: the window of a refresh does not follow query_timeout.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { HELD => 13, SOON => 15 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '2s', refresh => '2s',
    instance => { store_timeout => '30s' });
my ($gateway, $store) = ($run->gateway, $run->store);
my $proxy = $server->proxy($run->cluster);
my $leader = $run->start;
my ($follower) = grep { $_ != $leader } $run->instances;

$run->post('like');
$run->wait_terminal('like');


# one that inserts the same id, and does not commit: whoever else wants to waits

my $other = SubmissionStore::Postgres::_connect($store->{database});
my $same = SubmissionStore::SAME;

$other->do('BEGIN');
$other->do(<<"END");
INSERT INTO submission.submission_intents (lease_name, intent_id, status,
    attempt_count, created_at, last_modified_at, next_attempt_at, $same)
SELECT lease_name, 'held', 'pending', 0, now(), now(), now(), $same
FROM submission.submission_intents
WHERE intent_id = 'like'
END

my $answer;
my $conn = SubmissionCluster::Connection->open($follower->{port});

$conn->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                SubmissionCluster::Client::intent('held', '1')),
            sub { $answer = $_[0] });

wait_for('it waits', sub {
    $store->value("SELECT count(*) FROM pg_stat_activity "
                  . "WHERE query ~ 'intents_submit' "
                  . "AND wait_event_type = 'Lock'");
});

my ($begun, $n) = (time, 0);

while (time - $begun < HELD) {
    my $next = time + 0.2;

    $run->post({ instances => [$leader] }, sprintf('pass-%04d', ++$n));
    wait_for('the next one', sub { time >= $next });
}

ok(!$answer, 'it is held up');

$other->do('ROLLBACK');
$other->disconnect;

wait_for('it is answered', sub { $answer });
is($answer->{status}, 200, 'and acknowledged then');

my $acknowledged = time;
my $sent = eval {
    wait_for('it is sent', sub { $gateway->sends_of('held') }, SOON);
};

ok($sent, 'it is sent');
note(sprintf '%.1f s later', time - $acknowledged);

$run->wait_terminal($_) for 'held', 'pass-';

is(scalar($gateway->sends_of('held')), 1, 'once');

$run->done;

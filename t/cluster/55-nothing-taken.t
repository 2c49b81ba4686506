# A call that has been posted, and finds when it gets a thread that everyone who
# wanted it was answered meanwhile: it does not ask the store, so it says nothing
# about it.  A worker with one thread, a database server that never answers, and
# requests of several kinds: the first call times out and opens the breaker, all
# who wait are answered 503, and the calls behind it have nothing left to do.
#
# Goes red when: such a call counts as one that was answered, and closes the
# breaker, or says that the store is up, while the server still does not answer;
# a worker that quits goes on asking.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

my $server = SubmissionCluster::Server->start;
my $cluster = SubmissionCluster->new;
my $proxy = $server->proxy($cluster);

# nobody else asks: no lease is wanted, and the next probe is far away

$server->options('login_timeout=2s retry=2s');

my $a = $cluster->instance('a', workers => 1, threads => 'threads=1', executor => 'off',
                           store_timeout => '2s', manager => 'acquire_interval 60s;');

$cluster->start;

is(post_intent($a, 'before')->{status}, 200, 'before');

my @paths = ('/v1/intents/before', '/v1/intents?limit=1', '/v1/intents/before/history');
my ($open, @statuses) = (0);

sub ask {
    my ($method, $path, $body) = @_;

    my $conn = SubmissionCluster::Connection->open($a->{port});

    $open++;
    $conn->send(SubmissionCluster::Client::request($method, $path, $body), sub {
        $open--;
        push @statuses, $_[0]{status} // 'lost';
        $conn->close;
    });
}

$proxy->blackhole;

ask('GET', $_) for @paths;
ask('POST', '/v1/intents/before/cancel', '{}');

wait_for('all are answered', sub { !$open });

is_deeply(\@statuses, [(503) x 4], 'nobody gets an answer of the store');

# one thread: when a probe has failed, all that was posted before has ended, too

sub failed { return $a->metric(qr/^store_errors_total\{op="$_[0]",/) }

wait_for('a probe fails', sub { failed('ping') });

is($a->metric('store_breaker_open'), 1, 'the breaker is open');
is($a->log_count(qr/breaker_open/), 1, 'it has opened once');
is($a->log_count(qr/breaker_closed/), 0, 'nothing has closed it');
is($a->log_count(qr/store_up/), 1, 'and nothing says that the store is up again');

$proxy->pass;

wait_for('the store is found again', sub {
    !$a->metric('store_breaker_open');
});

is(post_intent($a, 'after')->{status}, 200, 'after');


# a worker that goes does not ask for the numbers of the leader any more: each call
# takes as long as it is until the next

my $failed = failed('stats_get');

$proxy->blackhole;

wait_for('it has asked in vain', sub { failed('stats_get') > $failed });

my $seconds = $a->quit(timeout => 60);

cmp_ok($seconds, '<', 3 * (2 + 1) * slow(), sprintf 'it has quit in %.1f s', $seconds);

$cluster->done;

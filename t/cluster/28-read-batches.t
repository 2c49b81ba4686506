# What is read from the store in one call is bounded, in bytes: a history has
# pages, and a batch of lists or of histories takes only as many requests as its
# weight allows.  A few clients who ask for much cost a worker neither memory
# without end nor the time in which it would renew its lease.
#
# Goes red when: a history is read whole; requests go into a batch by their
# number alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::H2;

# of one intent; what a history of all of them costs is seen in the memory

use constant { ATTEMPTS => 16_384, AT_ONCE => 60 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $port = SubmissionCluster::free_port();

my $instance = $cluster->instance('a', workers => 1, http => <<"END");
    server {
        listen 127.0.0.1:$port http2;
        location /v1/ { submission_api main; }
    }
END

$cluster->start;

my ($worker) = $instance->worker_pids;

is(post_intent($instance, 'much')->{status}, 200, 'an intent');

my $columns = $store->attempt_columns;

$store->query("INSERT INTO submission_attempts $columns VALUES "
              . "('submission-manager-executor', 'much', 1, 1, 'a', 1, 1, "
              . "'error', NULL, '" . 'x' x 300 . "')");

for (my $n = 1; $n < ATTEMPTS; $n *= 2) {
    $store->query("INSERT INTO submission_attempts $columns SELECT lease_name, "
                  . "intent_id, attempt_number + $n, lease_epoch, holder_id, "
                  . "started_at, finished_at, outcome_status, outcome_reason, "
                  . "error FROM submission_attempts");
}

$store->query('UPDATE submission_intents SET attempt_count = ' . ATTEMPTS);


# the most memory that it ever had, in kB

sub peak {
    open(my $file, '<', "/proc/$worker/status") or die "status: $!";

    my ($kb) = map { /^VmHWM:\s+(\d+)/ ? $1 : () } <$file>;

    return $kb;
}


# all in one piece: they are in the queue before the first call

sub ask {
    my ($path) = @_;

    my $h2 = SubmissionCluster::H2->open($port, window => 0x7fffffff);

    # the window of the connection, too

    $h2->send(SubmissionCluster::H2::frame(8, 0, 0, pack('N', 0x7fff0000)),
              map { SubmissionCluster::H2::request(2 * $_ + 1, 'GET', $path) }
              0 .. AT_ONCE - 1);

    my %answers = $h2->answers(AT_ONCE);

    $h2->close;

    return values %answers;
}


my $before = peak();

for my $what (
    # path, operation, answers that go into one call at the most
    ['/v1/intents/much/history', 'intent_history', 20, 50],
    ['/v1/intents/much/history?limit=500', 'intent_history', 2, 500],
    ['/v1/intents?limit=500', 'intents_list', 3, 1],
) {
    my ($path, $op, $most, $rows) = @$what;
    my $calls = $instance->calls($op);
    my @answers = ask($path);

    is(scalar(grep { (() = /"(?:attemptNumber|intentId)":/g)
                     == $rows + ($op eq 'intent_history') } @answers),
       AT_ONCE, "$path: all are answered, with $rows each");
    cmp_ok($instance->calls($op) - $calls, '>=', AT_ONCE / $most,
           "$path: no more than $most in a call");
}

my $grown = peak() - $before;

note("the worker has had $grown kB more");

SKIP: {
    skip("under $ENV{SUBMISSION_CHECK}", 1) if $ENV{SUBMISSION_CHECK};

    cmp_ok($grown, '<', 60_000, 'the worker has not needed much memory');
}

$cluster->done;

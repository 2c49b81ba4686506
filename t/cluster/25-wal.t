# SQLite's log, when a reader of long ago has kept it from being written from its
# beginning again: it has grown beyond its bound, and is cut soon after the reader
# has gone: by what is written next, or by the executor worker, which looks after
# it every few seconds (t/unit/store_sqlite_wal.c has what it does).
#
# Goes red when: nobody cuts it, or no worker looks after it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'sqlite';
use SubmissionCluster;

use constant { MB => 1 << 20, SIZE => 900_000 };

my $run = SubmissionCluster::Executor->new(lease => '10s');
my $store = $run->store;

my $a = $run->start;
my $wal = $store->file . '-wal';
my $reader = $store->read_lock;
my ($n, @wrong) = (0);

while (-s $wal < 70 * MB) {
    my $payload = '"' . 'x' x SIZE . '"';
    my $answer = post_intent($a, 'large-' . ++$n, payload => $payload);

    push @wrong, $answer->{status} if ($answer->{status} // 0) != 200;
    last if @wrong || $n > 200;
}

is_deeply(\@wrong, [], "$n large intents are taken");
cmp_ok(-s $wal, '>=', 70 * MB, 'the log is long');

$store->unlock($reader);

wait_for('the log is cut', sub { -s $wal < 33 * MB });
pass('it is cut when the reader has gone');

$run->wait_terminal('large-');
is_deeply($run->statuses('large-'), { accepted => $n }, 'all is there, and sent');
ok($store->sound, 'and sound');
is(post_intent($a, 'after')->{status}, 200, 'and goes on');
$run->wait_terminal('after');

my $metrics;

wait_for('the executor worker tidies up', sub {
    $metrics = fetch($a, 'GET', '/metrics')->{body};
    $metrics =~ /^submission_store_call_seconds_count\{op="tidy"\} [1-9]/m;
});

unlike($metrics, qr/^submission_store_errors_total\{.*\} [1-9]/m,
       'no call has failed');

$run->done;

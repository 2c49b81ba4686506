# Cancels of many intents that are being sent all the time, while executor workers
# and whole instances are killed (G13): an intent that a job has canceled is not at a
# gateway afterwards, and none was when it was canceled.  What is in flight is
# skipped, and counted; jobs go on until nothing is left.
#
# SUBMISSION_TEST_LONG=1 makes it 10,000 intents.  SUBMISSION_SEED repeats what was
# done, though not when.
#
# Goes red when: a job cancels what is in flight, or a turn begins what was canceled
# meanwhile; a leader that is gone can still write a batch; the counts of a job are
# not those of its batches.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $total = $ENV{SUBMISSION_TEST_LONG} ? 10000 : 1500;

seed();

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=48',
    targets => { 'sms.retried' => { path => '/retried', retry => '150ms',
                                    policy => 'max_attempts 10000' } },
    instance => { main => 'worker_shutdown_timeout 1s;',
                  server => 'location /operate/ { '
                            . 'submission_api main access=operate; }' });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my @instances = $run->instances;

$run->start;
$gateway->behave('/retried' => 'delay 20 answer 500');

$run->post(map { [$_, 'sms.retried'] } $run->ids('c', $total));


sub count {
    return $store->value('SELECT count(*) FROM submission_intents '
                         . "WHERE status = '$_[0]'");
}

my (%done, %job, $n);

# a part of them, and then all

while (++$n <= 40) {
    my $limit = $n < 4 ? ',"limit":' . int($total / 6) : '';

    $run->ask('POST', 'cancels', qq({"id":"c$n",)
                           . qq("filter":{"target":"sms.retried"}$limit}));

    my $next = time + rand 0.5;
    wait_for('a moment', sub { time >= $next });

    if ($n <= 5) {
        my $instance = $lease->wait_leader;

        if (rand() < 0.4) {
            $lease->kill_tree($instance);
            $instance->spawn;
            $done{instances}++;

        } elsif (my ($pid) = $lease->executors($instance)) {
            $lease->kill($instance, $pid);
            $done{workers}++;
        }
    }

    wait_for('the job is done', sub {
        ($job{"c$n"} = $run->ask('GET', "cancels/c$n"))->{state} eq 'done';
    }, 60);

    last if $n >= 5 && count('pending') == 0;
}

$_->wait_ready for @instances;


# the books

my ($canceled, $skipped) = (0, 0);

for (values %job) {
    $canceled += $_->{done};
    $skipped += $_->{skipped};
}

is(count('canceled'), $total, 'all are canceled in the end');
is($canceled, $total, 'each by one job');
cmp_ok($skipped, '>', 0, 'some were in flight at first');
is($store->in_flight, 0, 'nothing is in flight');

for (qw(c1 c2 c3)) {
    is($job{$_}{done}, int($total / 6), "$_ ends at its limit");
}

my %at = map { @$_ } $store->query('SELECT intent_id, completed_at '
                                   . 'FROM submission_intents');
my @late = map { "$_->{id}: $_->{time}, canceled $at{$_->{id}}" }
           grep { $_->{time} > $at{$_->{id}} } $gateway->sends;

is_deeply([@late[0 .. ($#late < 9 ? $#late : 9)]], [],
          'nothing was sent after it was canceled');

my $before = $gateway->count;

$gateway->quiet_for(1);
is($gateway->count, $before, 'and nothing is from now on');

note(join ', ', "jobs: $n", "skipped: $skipped",
     map { "$_ killed: $done{$_}" } sort keys %done);

$run->expect_kills;

$run->done;

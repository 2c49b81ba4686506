# Replays of many intents, while executor workers and whole instances are killed:
# whoever leads goes on where the last one was.  Each intent that a job finds is
# replayed once, and once only, and what the jobs have made is not replayed again,
# though it is exhausted, too, for a part of the time.
#
# SUBMISSION_TEST_LONG=1 makes it 20,000 intents and 40 jobs.  SUBMISSION_SEED
# repeats what was done, though not when.
#
# Goes red when: a batch is written without the place after it, or that without the
# batch; a leader that is gone can still write one; the id of a replay is not that
# of the job and the intent; the list of a job has no end.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my ($total, $jobs) = $ENV{SUBMISSION_TEST_LONG} ? (20000, 40) : (2400, 6);

seed();

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=64',
    targets => { 'sms.once' => { policy => 'one_shot', path => '/once' } },
    instance => { main => 'worker_shutdown_timeout 1s;',
                  server => 'location /operate/ { '
                            . 'submission_api main access=operate; }' });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my @instances = $run->instances;

$run->start;
$gateway->behave('/once' => 'answer 503');

my @groups;

for my $g (1 .. $jobs) {
    push @groups, [map { sprintf "g%02d-%05d", $g, $_ } 1 .. $total / $jobs];
}

$run->post(map { [$_, 'sms.once'] } map { @$_ } @groups);
$run->wait_terminal(undef, 120);


my (%done, %job);

for my $g (1 .. $jobs) {
    my $name = sprintf 'g%02d', $g;
    my $filter = $g % 2 ? qq({"idPrefix":"$name-"})
                 : '{"status":"exhausted","target":"sms.once"}';
    my $limit = $g % 2 ? '' : ',"limit":' . $total / $jobs;

    # half of the jobs find what is left of all of them; each is replayed by more
    # than one then, and what is made fails, until the last ones are there

    $gateway->behave('/once' => 'accept') if $g == $jobs - 1;

    $run->ask('POST', 'replays', qq({"id":"$name","again":true,"filter":$filter$limit}));
    $job{$name} = 1;

    my $next = time + rand 0.6;
    wait_for('a moment', sub { time >= $next });

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

$_->wait_ready for @instances;

wait_for('all jobs are done', sub {
    for my $name (grep { $job{$_} ne 'done' } keys %job) {
        $job{$name} = $run->ask('GET', "replays/$name")->{state};
    }

    return !grep { $_ ne 'done' } values %job;
}, 120);

$run->wait_terminal(undef, 120);


# the books

my (%made, @wrong, @twice, @unknown);

for my $row ($store->query('SELECT intent_id, replay_of FROM submission_intents '
                           . 'WHERE replay_of IS NOT NULL'))
{
    my ($id, $of) = @$row;

    $id =~ /^(.+)~(g\d\d)\z/ && $1 eq $of or push @wrong, "$id of $of";
    push @wrong, "$id by its own job" if $of =~ /~$2\z/;

    $made{$2}{$of}++;
}

for my $g (1 .. $jobs) {
    my $name = sprintf 'g%02d', $g;
    my $now = $run->ask('GET', "replays/$name");
    my $of = $made{$name} // {};

    is($now->{done}, scalar keys %$of, "$name: what it says is what there is");
    is($now->{skipped}, 0, "$name: nothing was skipped");

    if ($g % 2) {
        my @want = @{$groups[$g - 1]};

        is(scalar(grep { !$of->{$_} } @want), 0,
           "$name: each of its intents is replayed");
        is(scalar(grep { !/^$name-\d+(?:~|\z)/ } keys %$of), 0,
           "$name: and nothing else");

    } else {
        is(scalar keys %$of, $total / $jobs, "$name: as many as its limit");
    }
}

my $intents = $store->intents;
my %sent;

$sent{$_->{id}}++ for $gateway->sends;

@twice = grep { $sent{$_} > 1 } keys %sent;
@unknown = grep { !$intents->{$_} } keys %sent;

is_deeply(\@wrong, [], 'ids are those of the intent and the job');
is_deeply(\@twice, [], 'nothing was sent twice');
is_deeply(\@unknown, [], 'nothing was sent that is not there');
is(scalar(grep { $intents->{$_}{status} eq 'accepted' && !$sent{$_} }
          keys %$intents), 0, 'what was accepted was sent');
is($store->value('SELECT count(*) FROM submission_audit '
                 . "WHERE action = 'replay_job'"), $jobs,
   'each job is in the audit, once');

note(join ', ', map { "$_ killed: $done{$_}" } sort keys %done);

$run->expect_kills;

$run->done;

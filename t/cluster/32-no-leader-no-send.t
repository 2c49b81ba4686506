# Nobody sends who does not lead.  First the lease is held by somebody who is
# none of the instances: hundreds of intents are due, and nothing is sent until
# the lease ends.  Then a leader is stopped (SIGSTOP) with 50 attempts in flight
# and hundreds more in its memory; another leads and finishes them; the answers
# to the 50, and room for hundreds, are there when the first one wakes, past its
# lease.  It sends nothing, and changes nothing (G2, G6).
#
# Last, the store takes longer to begin a batch than the lease lasts: all of it
# is begun, by one who does not lead any more when it hears of that.  It is the
# gate before each send that keeps it from sending.
#
# Goes red when: a follower executes; the send gate is not there, or looks at a
# clock that stands still while the process does; a late outcome is written
# without a fence.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

# followers

{
    my $run = SubmissionCluster::Executor->new(instances => ['a' .. 'c']);
    my ($gateway, $lease) = ($run->gateway, $run->leadership);

    $run->start(record => 0);
    $run->store->give_lease('somebody', 3600);

    my $epoch = $lease->row->{epoch};

    wait_for('nobody leads', sub { !$lease->leaders });

    $run->post($run->ids('due', 400));

    # several times the interval of anything that could make them try

    is($gateway->quiet_for(2), 0, 'followers: nothing is sent');
    is_deeply($run->statuses, { pending => 400 }, 'followers: all wait');
    is($run->store->in_flight, 0, 'followers: nothing was begun');

    $run->store->end_lease;
    $run->wait_terminal('due-');

    is_deeply($run->statuses, { accepted => 400 },
              'followers: all are sent when the lease is over');
    is_deeply([grep { $_->{epoch} <= $epoch } $gateway->sends], [],
              'followers: by the next leader');

    $run->check('followers');
    $lease->quit;
    $lease->check;
    $run->cluster->finish;
}


# a batch that is begun too late

{
    my $run = SubmissionCluster::Executor->new(
        instances => ['g', 'h'], lease => '1500ms', renew => '200ms');
    my ($gateway, $lease) = ($run->gateway, $run->leadership);

    my $leader = $run->start;
    my $epoch = $lease->row->{epoch};

    # due at once, so that they are one batch or two
    my ($first, @ids) = $run->ids('slow', 60);

    $run->store->slow_begin('slow-late', $epoch, 2.5);
    $run->post($first);
    $run->wait_terminal($first);
    $run->store->insert_like($first, ['slow-late', @ids]);
    $run->wait_terminal('slow-', 30);

    is_deeply($run->statuses('slow-'), { accepted => @ids + 2 },
              'late: all are accepted');

    my ($send, @more) = $gateway->sends_of('slow-late');

    cmp_ok($send->{epoch}, '>', $epoch, 'late: it was sent by the next leader');
    is(scalar @more, 0, 'late: once');

    # to another it is in doubt; the one that has begun it knows that it was
    # not sent, and gives it back

    my ($attempt) = grep { $_->{status} eq 'accepted' }
                    $run->store->attempts('slow-late');

    is($run->outcomes('slow-late'),
       $attempt->{holder} eq $leader->{name} ? 'accepted'
       : 'unknown/leader_lost, accepted',
       'late: that it was begun is on record, unless it is known');

    $run->check('late');
    $lease->quit;
    $lease->check;
    $run->cluster->finish;
}


# a leader that sleeps

my $run = SubmissionCluster::Executor->new(
    instances => ['d' .. 'f'], executor => 'concurrency=50');
my ($gateway, $lease) = ($run->gateway, $run->leadership);

my $leader = $run->start;
my $epoch = $lease->row->{epoch};

$gateway->behave('/' => 'hold');
$run->post($run->ids('sleep', 400));
$gateway->wait_for_held(50);

# by now it has had the time to know of the others

my @pids = $leader->processes;

$leader->pause(@pids);

my @others = grep { $_ != $leader } $run->instances;

$gateway->behave('/' => undef);
$lease->wait_leader($epoch, @others);
$run->post({ instances => \@others }, $run->ids('more', 100));
$run->wait_terminal('sleep-');
$run->wait_terminal('more-');

is_deeply($run->statuses, { accepted => 500 }, 'asleep: another finishes all');

my $state = $run->store->dump;
my $count = $gateway->count;

is($gateway->held, 50, 'asleep: what it had sent is not answered');
$gateway->release;

$leader->signal('CONT', $_) for @pids;
$run->wait_lost($leader, $epoch);

is($gateway->quiet_for(1), $count, 'awake: it sends nothing');
is($run->store->dump, $state, 'awake: it changes nothing');

# and it is as good a follower as any

$run->post({ instances => [$leader] }, $run->ids('after', 20));
$run->wait_terminal('after-');
is_deeply($run->statuses('after-'), { accepted => 20 },
          'awake: what it takes is sent, by the other');
is_deeply([grep { $_->{epoch} == $epoch && $_->{order} > 50 }
           $gateway->sends], [], 'awake: nothing in its old epoch');

$run->done;

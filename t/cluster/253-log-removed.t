# Somebody removes SQLite's "-wal" and "-shm" while instances have them open (G1,
# G3, G9).  What the instances commit from then on nobody else can find, and
# whoever opens the database begins a second log, in which nothing of that has
# happened.
#
# Once one instance hangs meanwhile, so that it cannot let go of the log: the
# other one takes nothing and does not lead, also when it is started anew, and
# when an operator has had a look.  When the first goes on, both do, without a
# restart; nothing is lost, and a one_shot intent is sent once.
#
# Goes red when: a connection does not look for its log, a process opens the
# database beside those that have another log, a worker that nobody asks for
# anything keeps the log open.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'sqlite';
use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '3s', renew => '500ms',
    instance => { workers => 2 });
my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);

my $leader = $run->start;
my ($other) = grep { $_ != $leader } $run->instances;
my $wal = $store->file . '-wal';
my ($n, @taken) = (0);

sub take {
    my ($instance) = @_;

    my $id = sprintf 'new-%04d', ++$n;
    my $status = post_intent($instance, $id, target => 'sms.once')->{status} // 0;

    push @taken, $id if $status == 200;

    return $status;
}

sub remove {
    is(unlink($wal, $store->file . '-shm'), 2, "$_[0]: the files are removed");
}

sub back {
    my ($what) = @_;

    for my $instance ($run->instances) {
        wait_for("$what: $instance->{name} takes intents again",
                 sub { take($instance) == 200 }, 40);
    }

    $lease->wait_leader;
    $run->wait_terminal($_, 40) for 'before', 'hung', 'new-';
}


# both are alive

$run->post(map { [$_, 'sms.once'] } $run->ids('before', 30));
remove('both alive');
back('both alive');


# the leader hangs

$leader = $lease->wait_leader;
($other) = grep { $_ != $leader } $run->instances;

$_->expect_log(qr/-wal or -shm was removed/) for $run->instances;

$run->post(map { [$_, 'sms.once'] } $run->ids('hung', 20));
$run->wait_terminal('hung');

my @pids = SubmissionCluster::Process::children($leader->{pid});

$leader->pause(@pids);
remove('hung');

my $last = $gateway->count;

wait_for("$other->{name} knows", sub {
    (fetch($other, 'GET', '/readyz')->{status} // 0) == 503 });

is_deeply([map { take($other) == 200 } 1 .. 5], [('') x 5],
          'hung: the other takes nothing');

$store->query('SELECT count(*) FROM submission_intents');
$other->quit;
$other->spawn;

my $until = time + 5;       # longer than the lease

wait_for('the lease is over', sub {
    take($other) == 200 && die "it takes intents\n";
    (fetch($other, 'GET', '/readyz')->{status} // 0) == 200 && die "it is ready\n";
    time > $until;
});

is($gateway->count, $last, 'hung: nothing is sent');
like(($other->log_lines(qr/store_down/))[-1] // '',
     qr/-wal or -shm was removed.*every process/, 'hung: the log says what to do');

$leader->signal('CONT', $_) for @pids;
back('it goes on');

my %sends;

$sends{$_->{id}}++ for $gateway->sends;
is_deeply([grep { $sends{$_} != 1 } keys %sends], [], 'each is sent once');
is_deeply([grep { !$sends{$_} } $run->ids('before', 30), $run->ids('hung', 20),
                                @taken], [], 'and none is lost');
ok($store->sound, 'the store is sound');

$run->done;

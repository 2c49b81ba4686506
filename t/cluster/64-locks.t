# What other sessions of the database do to ours: one that has the lease row
# locked, a deadlock, statements that are canceled at their time-out.
#
# The leader's call ends at its time-out, or as the deadlock's victim: a loss of
# the lease (G8), which is held again in a new epoch within two seconds of the
# end of the trouble, although it would have lasted for much longer.  Clients do
# not see the lease's troubles; a submission that meets a lock is tried again.
#
# Goes red when: a call has no time-out; an error of any of these classes is
# taken for a permanent one, or is not a loss; a submission is not tried again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Handle;
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

# acquires come every two seconds; the lease would last for sixty

use constant SOON => 15;

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '2s', acquire => '2s',
    instance => { store_timeout => '2s' },
    targets => { 'sms.slow' => { path => '/slow', policy => 'deadline 1h' } });
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my $proxy = $server->proxy($cluster);

$server->options('login_timeout=2s retry=20s');

$run->start;


sub other {
    my $dbh = SubmissionStore::Postgres::_connect($store->{database});

    $dbh->do('BEGIN');

    return $dbh;
}


# in the log of an instance

sub losses {
    my ($instance) = @_;

    return grep { $_->{kind} eq 'lost' } $lease->events($instance);
}


# the lease's row

{
    my $leader = $lease->wait_leader;
    my $epoch = $lease->row->{epoch};
    my $before = losses($leader);
    my $other = other();

    $other->do('SELECT 1 FROM submission.submission_manager_leases FOR UPDATE');

    my $locked = time;
    my $event = wait_for('the lease is lost', sub {
        (losses($leader))[$before];
    });

    is($event->{reason}, 'store_error', 'row locked: it is a loss');
    like($event->{sql_error}, qr/statement timeout.*57014/,
         'row locked: at the time-out of a statement');
    cmp_ok(time - $locked, '<', SOON * slow(), 'row locked: soon');

    for my $instance ($run->instances) {
        my $answer = post_intent($instance, "row-$instance->{name}");

        is($answer->{status}, 200, "row locked: $instance->{name} takes intents");
        cmp_ok($answer->{seconds}, '<', 2 * slow(), 'row locked: at once');
    }

    for my $instance ($run->instances) {
        wait_for("$instance->{name} has tried", sub {
            grep { $_->{kind} eq 'acquire_failed' && $_->{sql_error} }
                 $lease->events($instance);
        });
    }

    is($_->metric('store_breaker_open'), 0,
       "row locked: no breaker for that, $_->{name}") for $run->instances;

    $other->do('ROLLBACK');
    $other->disconnect;

    my $free = time;

    $lease->wait_leader($epoch);

    cmp_ok(time - $free, '<', SOON * slow(),
           sprintf 'row locked: one leads %.1f s after it is free',
                   time - $free);
}


# A deadlock: the leader has its lease row and wants an intent, which another
# session has that waits for the lease row.  To record an attempt takes a while,
# so that the other one comes in time; ours finds the deadlock, and is its victim.

{
    $store->{admin}->do("ALTER ROLE submission_test "
                        . "SET deadlock_timeout = '100ms'");

    # one turn is looked at, that of the attempt

    wait_for('all is sent', sub { $store->pending == 0 });

    # For those who log in from now on.  It costs the lease, or does not: a
    # connection that was idle is replaced without a word.

    $proxy->reset;

    my $reset = time * 1e6;

    wait_for('the lease is renewed by a new connection', sub {
        $lease->row->{renewed_at} > $reset;
    });

    my $leader = $lease->wait_leader;

    $cluster->gateway->behave('/slow' => 'hold');
    is(post_intent($leader, 'dead-1', target => 'sms.slow')->{status}, 200,
       'deadlock: an intent');
    $cluster->gateway->wait_for_sends(1,
        which => sub { $_[0]{id} eq 'dead-1' });

    my $epoch = $lease->row->{epoch};
    my $before = losses($leader);

    # between the fence and the first row

    $store->{dbh}->do('CREATE FUNCTION t.test_sleep() RETURNS trigger '
                      . 'LANGUAGE plpgsql AS '
                      . '$$ BEGIN PERFORM pg_sleep(0.5); RETURN NULL; END $$');
    $store->{dbh}->do('CREATE TRIGGER test_sleep BEFORE UPDATE '
                      . 'ON submission.submission_intents '
                      . 'FOR EACH STATEMENT EXECUTE FUNCTION t.test_sleep()');

    my $other = session("SET deadlock_timeout = '1min'",
        'SELECT 1 FROM submission.submission_intents '
        . "WHERE intent_id = 'dead-1' FOR UPDATE");

    $cluster->gateway->release;

    wait_for('the attempt is being recorded', sub {
        $store->value('SELECT count(*) FROM pg_stat_activity '
                      . "WHERE wait_event = 'PgSleep' "
                      . "AND query ~ 'attempts_turn'");
    });

    print {$other->{in}} 'UPDATE submission.submission_manager_leases '
                         . "SET lease_epoch = lease_epoch; ROLLBACK\n";

    my $event = wait_for('the lease is lost', sub {
        (losses($leader))[$before];
    });

    my $lost = time;

    $store->{dbh}->do('DROP TRIGGER test_sleep '
                      . 'ON submission.submission_intents');

    is($event->{reason}, 'store_error', 'deadlock: it is a loss');
    like($event->{sql_error}, qr/deadlock detected.*40P01/,
         'deadlock: of ours');

    close $other->{in};
    waitpid($other->{pid}, 0);
    is($?, 0, 'deadlock: the other one goes on');

    $lease->wait_leader($epoch);

    cmp_ok(time - $lost, '<', SOON * slow(),
           sprintf 'deadlock: costs %.1f s, not a lease', time - $lost);

    wait_for('it is recorded', sub { $store->pending('dead-') == 0 });

    is_deeply([map { $_->{status} } $store->attempts('dead-1')], ['accepted'],
              'deadlock: what had been sent is recorded, and not sent again');
}


# a transaction in a process of its own, after these statements; it goes on with
# lines that it is given

sub session {
    my (@statements) = @_;

    pipe(my $read, my $in) or die "pipe(): $!";
    pipe(my $out, my $write) or die "pipe(): $!";

    my $pid = fork // die "fork(): $!";

    if ($pid == 0) {
        close $in;
        my $ok = eval {
            my $dbh = SubmissionStore::Postgres::_connect($store->{database});

            $dbh->do($_) for 'BEGIN', @statements;
            syswrite($write, "ok\n");

            while (my $line = readline $read) {
                $dbh->do($_) for split /;/, $line;
            }
            1;
        };
        print STDERR $@ if !$ok;
        POSIX::_exit($ok ? 0 : 1);
    }

    close $read;
    close $write;
    $in->autoflush(1);
    readline $out;

    return { pid => $pid, in => $in };
}


# a submission that meets a lock for longer than a statement may take

{
    my $lock = $store->lock;
    my ($answer, $begun) = (undef, time);
    my $conn = SubmissionCluster::Connection->open(($run->instances)[0]{port});

    $conn->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                    SubmissionCluster::Client::intent('locked', '1')),
                sub { $answer = $_[0] });

    wait_for('longer than a statement', sub { time - $begun > 2.5 });
    ok(!$answer, 'time-out: it is tried again');
    $store->unlock($lock);
    wait_for('it is answered', sub { $answer });
    is($answer->{status}, 200, 'time-out: and done');

    $lease->wait_leader;
}


wait_for('all is sent', sub { $store->pending == 0 }, 60);

$run->done;

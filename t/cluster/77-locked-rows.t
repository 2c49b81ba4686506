# A session of somebody else that has one row locked, and keeps it: an intent that
# is due, the intents of a job, a job, a schedule, a row of the inbox, the leader's
# numbers.  A psql that was left open in a transaction is enough.
#
# What else is due is sent as ever, and the leader stays: it passes over what is
# locked, and does it when the row is free.  A call that waited for such a row
# would have the lease's row locked itself, so that nothing else is sent, and would
# cost the lease at its time-out, again and again.  (That is what still happens where
# an attempt has ended whose intent is locked: nothing else goes on before it is
# recorded.)
#
# Goes red when: "SKIP LOCKED" is not in sql/postgres/attempts_turn.sql, job_next.sql,
# job_apply.sql, schedules_due.sql, inbox_page.sql or stats_put.sql; attempts_turn.sql
# finds the row of an attempt that has ended by its "ctid".

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

my $server = SubmissionCluster::Server->start;

# numbers are told every five seconds

use constant { TIMEOUT => 2, WHILE => 7 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '2s', acquire => '2s',
    refresh => '200ms',
    instance => { store_timeout => TIMEOUT . 's',
                  server => 'location /operate/ { '
                            . 'submission_api main access=operate; }' },
    targets => { 'sms.held' => { path => '/held', policy => 'deadline 1h' } });
my ($store, $lease) = ($run->store, $run->leadership);

$server->proxy($run->cluster);
$run->start;

my $leader = $lease->wait_leader;


sub ask {
    my ($method, $path, $body) = @_;

    my $answer = fetch($leader, $method, "/operate/$path", $body);

    like($answer->{status}, qr/^20[01]$/, "$method $path");

    return decode_json($answer->{body});
}

sub held { return map { "held-$_[0]-$_" } 1 .. 5 }

sub make_held {
    my ($name) = @_;

    $run->post(map { [$_, 'sms.held'] } held($name));
}

# and the leader knows it

sub pause_held {
    my $before = $leader->log_count(qr/target_paused/);

    ask('POST', 'targets/sms.held/pause', '{}');
    wait_for('the leader has read it', sub {
        $leader->log_count(qr/target_paused/) > $before;
    });
}


# a session that has these rows, and its end

sub locked {
    my ($sql, $what) = @_;

    my $other = SubmissionStore::Postgres::_connect($store->{database});

    $other->do('BEGIN');
    cmp_ok($other->do("SELECT 1 FROM submission.$sql FOR UPDATE"), '>', 0,
           "$what: locked");

    return $other;
}

sub free {
    my ($other) = @_;

    $other->do('ROLLBACK');
    $other->disconnect;
}


# some seconds beside such a session

sub beside {
    my ($what, $sql, $then) = @_;

    my $epoch = $lease->row->{epoch};
    my $other = locked($sql, $what);

    $then->();

    my ($end, $n, $slowest) = (time + WHILE, 0, 0);

    while (time < $end) {
        my ($id, $begun) = ("$what-" . $n++, time);

        post_intent($leader, $id);
        wait_for("$id is sent", sub { $store->pending($id) == 0 }, 20);

        my $took = time - $begun;
        $slowest = $took if $took > $slowest;
    }

    cmp_ok($n, '>', 0, sprintf '%s: %d are sent, the slowest in %.2f s', $what,
                               $n, $slowest);
    is($lease->row->{epoch}, $epoch, "$what: the leader stays");

    free($other);
}


# an intent that is due

pause_held();
make_held('due');
beside('due', "submission_intents WHERE intent_id = 'held-due-1'",
       sub { ask('POST', 'targets/sms.held/resume', '{}') });
wait_for('it is sent when it is free', sub { $store->pending('held-due-') == 0 });


# the intents of a job

pause_held();
make_held('items');

{
    my $other = locked("submission_intents WHERE intent_id LIKE 'held-items-%'",
                       'items');

    ask('POST', 'cancels', '{"id":"items","filter":{"idPrefix":"held-items-"}}');
    wait_for('they are skipped', sub {
        my $job = ask('GET', 'cancels/items');

        $job->{state} eq 'done' && $job->{skipped} == 5 && $job->{done} == 0;
    });
    free($other);
}


# a job that the leader has not seen yet: the next one does not wait for it

make_held('one');
make_held('two');

{
    my @pids = $leader->worker_pids;
    my ($follower) = grep { $_ != $leader } $run->instances;

    $leader->pause(@pids);
    is(fetch($follower, 'POST', '/operate/cancels',
             '{"id":"one","filter":{"idPrefix":"held-one-"}}')->{status}, 200,
       'a job, while the leader is stopped');

    beside('job', "submission_jobs WHERE job_id = 'one'", sub {
        $leader->signal('CONT', $_) for @pids;

        ask('POST', 'cancels', '{"id":"two","filter":{"idPrefix":"held-two-"}}');
        wait_for('the next job is done', sub {
            ask('GET', 'cancels/two')->{done} == 5;
        });
        is(ask('GET', 'cancels/one')->{state}, 'running', 'and not the first');
    });

    wait_for('it is done when it is free', sub {
        ask('GET', 'cancels/one')->{done} == 5;
    });
}


# a schedule that is due

ask('PUT', 'schedules/each', '{"submissionTarget":"sms.realtime",'
                             . '"every":"PT1S","misfire":"all",'
                             . '"overlap":"allow"}');
beside('schedule', "submission_schedules WHERE schedule_id = 'each'", sub { });
wait_for('what was missed is made', sub {
    ask('GET', 'schedules/each')->{fired} >= WHILE;
});
ask('DELETE', 'schedules/each');


# a row of the inbox that the leader has not seen yet: the next ones do not wait
# for it

{
    my @pids = $leader->worker_pids;

    $leader->pause(@pids);
    $store->unlock($store->begin(
        map { $store->submit_sql("row-$_", 'sms.realtime', '{"n":1}') } 1 .. 3));

    beside('inbox', "submission_inbox WHERE intent_id = 'row-1'", sub {
        $leader->signal('CONT', $_) for @pids;

        wait_for('those beside it are moved, and sent', sub {
            $store->pending('row-2') + $store->pending('row-3') == 0
            && $store->value('SELECT count(*) FROM submission_inbox') == 1;
        });
        $store->unlock($store->begin(
            $store->submit_sql('row-4', 'sms.realtime', '{"n":1}')));
        wait_for('and what comes later', sub {
            $store->value('SELECT count(*) FROM submission_intents WHERE '
                          . "intent_id = 'row-4' AND status = 'accepted'");
        });
    });

    wait_for('it is moved when it is free', sub {
        $store->value('SELECT count(*) FROM submission_intents WHERE '
                      . "intent_id LIKE 'row-%' AND status = 'accepted'") == 4;
    });
}


# the leader's numbers

beside('stats', 'submission_stats', sub { });


# An attempt ends while its row is being changed, as by somebody who moves intents
# to another gateway: it is recorded on the row as it is by then.  Those that the
# job has skipped are sent, too.

$run->gateway->behave('/held' => 'hold');
ask('POST', 'targets/sms.held/resume', '{}');
make_held('changed');
$run->gateway->wait_for_held(10);

{
    my $other = SubmissionStore::Postgres::_connect($store->{database});
    my $waits = 'SELECT count(*) FROM pg_stat_activity '
                . "WHERE wait_event_type = 'Lock' AND query LIKE '%attempts_turn%'";

    $other->do('BEGIN');
    is($other->do('UPDATE submission.submission_intents '
                  . "SET gateway_url = gateway_url || 'x' "
                  . "WHERE intent_id LIKE 'held-changed-%'"), 5, 'changed');

    $run->gateway->release;
    wait_for('a turn waits for them', sub { $store->value($waits) }, TIMEOUT);
    $other->do('COMMIT');
    $other->disconnect;
}

wait_for('they end', sub { $store->pending('held-changed-') == 0 });

is($store->value('SELECT count(*) FROM submission_intents AS i '
                 . 'JOIN submission_attempts AS a USING (lease_name, intent_id) '
                 . "WHERE intent_id LIKE 'held-changed-%' AND status = 'accepted' "
                 . "AND attempt_count = 1 AND outcome_status = 'accepted'"), 5,
   'each has its one attempt, with the outcome that it had');

ok(!(grep { $_->{kind} eq 'lost' } $lease->events($leader)), 'nothing was lost');

$run->done;

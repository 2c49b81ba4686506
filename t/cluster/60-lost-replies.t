# Connections to a database server that end in the middle, at every stage: within
# the login, within a call, before its answer and within it.  The worst is a
# commit whose answer is lost: the server has the intent, nginx does not know.
#
# A POST is tried again within its time, and is answered 200; an intent is never
# there twice; Idempotent-Replayed is said of what was there before the request
# came, and of nothing else; there is no 409 and no 500.  What could not be done
# in time is 503, and the same POST later is a duplicate if it was done after all.
#
# Goes red when: a transient error is answered 503 at once (connections cut); a
# retry is taken for a duplicate (lost answers); a run is tried again under the id of
# another second; the answer to an intent that was
# there loses its mark (the last block).

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant LOST => 20;

my $server = SubmissionCluster::Server->start;
my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $proxy = $server->proxy($cluster);

$server->options('login_timeout=2s retry=8s');

my $a = $cluster->instance('a', workers => 1, store_timeout => '2s',
                           server => 'location /o/v1/ { submission_api main access=operate; }');

$cluster->start;


sub rows {
    my ($id) = @_;

    return $store->value('SELECT count(*) FROM submission_intents '
                         . "WHERE intent_id = '$id'");
}


sub replayed { return $_[0]{headers}{'idempotent-replayed'} // 'no' }


# each time the server commits, and nginx does not hear of it

{
    my (%statuses, %replayed);

    is(post_intent($a, 'first')->{status}, 200, 'all is well at first');

    for my $i (1 .. LOST) {
        my $id = "lost-$i";

        $proxy->lose('lost-\d');

        my $answer = post_intent($a, $id);

        $statuses{$answer->{status}}++;
        $replayed{replayed($answer)}++;

        is(rows($id), 1, "lost $i: it is there once");
        cmp_ok($answer->{seconds}, '<', 4 * slow(), "lost $i: in time");
    }

    is($proxy->stats->{done}, LOST, 'so many answers were lost');
    is_deeply(\%statuses, { 200 => LOST }, 'each POST is answered 200');
    is_deeply(\%replayed, { no => LOST }, 'as what it is: created by it');
    is($a->metric('intents_created_total'), LOST + 1,
       'and counted as that');
    is($a->metric('duplicates_total'), 0, 'not as a duplicate');
    cmp_ok($a->metric('store_retries_total'), '>=', LOST,
           'retries are counted');

    my $again = post_intent($a, 'lost-1');

    is($again->{status}, 200, 'another POST of it');
    is(replayed($again), 'true', 'is a duplicate');
}


# an intent that was there, and the answer that says so is lost

{
    my $before = post_intent($a, 'there');
    my $sleep = time + 0.5;

    wait_for('it gets older', sub { time > $sleep });

    $proxy->lose('there');

    my $answer = post_intent($a, 'there');

    is($answer->{status}, 200, 'there: answered');
    is(replayed($answer), 'true', 'there: it was there before the request');
    is($answer->{body}, $before->{body}, 'there: as it was');

    $proxy->lose('there');
    $answer = post_intent($a, 'there', payload => '{"other":1}');

    is($answer->{status}, 409, 'there: another payload is a conflict');
}


# a run of a schedule without an id is named by its second: the one of the first try,
# although the answer is waited for until the time-out, in vain

{
    my $path = '/o/v1/schedules/daily';

    is(fetch($a, 'PUT', $path,
             '{"submissionTarget":"sms.realtime","payload":{"n":1},"every":"PT24H"}')->{status},
       201, 'run: there is a schedule');

    $proxy->hang('intentId.*daily@');

    my $answer = fetch($a, 'POST', "$path/run");

    is($answer->{status}, 200, 'run: answered');
    is(replayed($answer), 'no', 'run: as what it is: made by it');
    cmp_ok($answer->{seconds}, '>', 1, 'run: after a time-out');
    is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'daily\@%'"),
       1, 'run: there is one intent');
    is($store->value("SELECT count(*) FROM submission_audit WHERE action = 'schedule_run'"),
       1, 'run: and one entry in the audit');
}


# reads, each kind

{
    for my $path ('/v1/intents/first', '/v1/intents/first/history',
                  '/v1/intents?limit=2', '/v1/cluster')
    {
        my $want = fetch($a, 'GET', $path);

        $proxy->reset;

        my $answer = fetch($a, 'GET', $path);

        is($answer->{status}, 200, "$path: tried again");
        is($answer->{body} =~ s/"now":"[^"]+"//r,
           $want->{body} =~ s/"now":"[^"]+"//r, "$path: the same");
    }
}


# a connection that ends after so many bytes; the next one does as well, until
# the test lets them pass, well within the time of the request

{
    my %statuses;
    my $cuts = 0;
    my $n = 0;

    for my $way ('to', 'from') {
        for my $bytes (0, 1, 8, 60, 100, 150, 200, 250, 300, 400, 500, 700,
                       1000, 1500, 2500)
        {
            my $id = "cut-$way-$bytes";
            my $done = $proxy->stats->{done};
            my $answer;

            # half of the time, a new login is cut; otherwise a call

            $proxy->reset if $n++ % 2;
            $proxy->cut($way, $bytes);

            my $conn = SubmissionCluster::Connection->open($a->{port});

            $conn->send(SubmissionCluster::Client::request('POST',
                            '/v1/intents',
                            SubmissionCluster::Client::intent($id, '1')),
                        sub { $answer = $_[0] });

            my $end = time + 0.5;

            wait_for('it was cut', sub {
                $answer || (time > $end && $proxy->stats->{done} > $done);
            });
            $proxy->pass;
            wait_for("$id is answered", sub { $answer });

            $cuts++ if $proxy->stats->{done} > $done;
            $statuses{$answer->{status}}++;

            is(replayed($answer), 'no', "$id: not a duplicate");
            is(rows($id), 1, "$id: there once");
        }
    }

    is_deeply(\%statuses, { 200 => 30 }, 'cut: all are answered 200');
    cmp_ok($cuts, '>=', 20, "cut: $cuts times");
}


# a request that waits for its outcome, which the store cannot tell at the end: it is
# answered from what it has kept, while others have come and gone

{
    my $id = '4bf92f3577b34da6a3ce929d0e0e4736';
    my @asked;

    my $traced = sub {
        my ($name, $trace, $wait) = @_;

        my $ask = { conn => SubmissionCluster::Connection->open($a->{port}) };

        $ask->{conn}->send(SubmissionCluster::Client::request('POST', "/v1/intents$wait",
                               SubmissionCluster::Client::intent($name, '1'),
                               "traceparent: 00-$trace-00f067aa0ba902b7-01"),
                           sub { $ask->{answer} = $_[0] });
        return $ask;
    };

    my $waits = $traced->('trace-0', $id, '?waitSeconds=10');

    wait_for('it is there', sub { rows('trace-0') });

    for my $i (1 .. 9) {
        my $other = $traced->("trace-$i", 'f' x 32, '');

        wait_for('another one is answered', sub { $other->{answer} });
    }

    ok(!$waits->{answer}, 'wait: it still waits');
    $proxy->blackhole;
    wait_for('it is answered', sub { $waits->{answer} });

    is($waits->{answer}{status}, 200, 'wait: it is answered');
    like($waits->{answer}{body}, qr/"traceId": *"$id"/, 'wait: with the trace of its own');

    $proxy->pass;

    wait_for('the store is back', sub {
        post_intent($a, 'trace-after')->{status} == 200;
    });
}


# longer than its time: 503, and it may be there; the same POST again tells

{
    $proxy->lose('late');

    my ($answer, $second);
    my $conn = SubmissionCluster::Connection->open($a->{port});

    $conn->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                    SubmissionCluster::Client::intent('late', '1')),
                sub { $answer = $_[0] });

    wait_for('the server has it', sub { rows('late') });
    $proxy->refuse;
    wait_for('it is answered', sub { $answer });

    is($answer->{status}, 503, 'late: no 200 for what is not known');
    ok($answer->{headers}{'retry-after'}, 'late: with Retry-After');
    cmp_ok($answer->{seconds}, '<', 12 * slow(), 'late: when its time was over');

    $proxy->pass;

    wait_for('the store is back', sub {
        $second = post_intent($a, 'late', payload => '1');
        $second->{status} == 200;
    });

    is(replayed($second), 'true', 'late: then it is a duplicate');
    is(rows('late'), 1, 'late: there once');
}

$cluster->done;

# waitSeconds: a POST that is answered when there is something to tell.
#
# The intent is committed before anybody waits for it, so that whatever happens
# the answer is 200 and the intent; and waiting costs the store one small call
# every 250 ms and worker, however many wait, and nothing when nobody does.
# Breaks when a wait is not ended by an attempt, an end, or the time; when one
# that is over is not answered at once; when clients that went away are still
# asked for; or when a store's failure or a reload shows.
#
# The executor is played by SQL.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use IO::Select;
use Time::HiRes qw(sleep time);

workers(2);

our $bad = problem('invalid_request',
                   '"waitSeconds" must be a whole number of seconds, 0 or more',
                   '"field":"waitSeconds"');

sub settle {
    wait_for(sub { http('GET /readyz')->{body} =~ / store=up$/ })
        or die "the store is not up\n";
}

# sends an intent and does not wait for its answer

sub post {
    my ($id, $query, $target) = @_;

    my $body = (split /\n/, submit($id, $target), 2)[1];

    return http_open("POST /v1/intents$query HTTP/1.1\r\nHost: localhost\r\n"
                     . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
}

sub stored {
    my @ids = @_;
    my $ids = join ',', map { "'$_'" } @ids;

    wait_for(sub {
        @ids == sql("SELECT count(*) FROM submission_intents "
                  . "WHERE intent_id IN ($ids)");
    }) or die "not stored\n";
}

sub change {
    my ($set, @ids) = @_;

    my $ids = join ',', map { "'$_'" } @ids;

    sql("UPDATE submission_intents SET $set WHERE intent_id IN ($ids)");
}

our $attempt = 'attempt_count = 1';
our $accepted = "attempt_count = 1, status = 'accepted', next_attempt_at = NULL, "
                . 'completed_at = created_at';

# an answer that is not there yet

sub waits {
    my ($sock, $seconds) = @_;

    return !IO::Select->new($sock)->can_read($seconds);
}

sub metric {
    my $name = shift;

    my ($value) = http('GET /metrics')->{body}
                  =~ /^submission_\Q$name\E (\S+)$/m;

    return $value;
}

our $calls = 'store_call_seconds_count{op="intents_get"}';

# Nothing is asked of the store any more: whoever waits asks every 250 ms, and
# what is under way is counted when it ends.

sub quiet {
    return wait_for(sub {
        my $before = metric($calls);
        sleep 0.6;
        return metric($calls) == $before;
    });
}

run_tests();

__DATA__

=== TEST 1: what is no number of seconds
--- client eval
sub {
    for my $value ('', 'abc', '-1', '+1', '1.5', '1e1', '0x1', '1s', '%201',
                   '1%20', '1%00', '1,2', '%D9%A1', 'null', '"1"')
    {
        my $answer = http_read(post('a', "?waitSeconds=$value"));

        is($answer->{code}, 400, "\"$value\"");
        is($answer->{body}, $bad, "\"$value\" is told");
    }

    is(sql('SELECT count(*) FROM submission_intents'), 0, 'nothing is stored');
}



=== TEST 2: no time
--- client eval
sub {
    settle();

    my $start = time;

    like(http_read(post('a', '?waitSeconds=0'))->{body}, intent('a'), '0');
    like(http_read(post('b', '?waitSeconds=000'))->{body}, intent('b'), '000');

    cmp_ok(time - $start, '<', 10 * slow(), 'at once');
    is(metric($calls), 0, 'nothing is asked');
}



=== TEST 3: the time is over
--- client eval
sub {
    settle();

    my $start = time;
    my $answer = http_read(post('a', '?&waitSeconds=%31&'));
    my $seconds = time - $start;

    is($answer->{code}, 200, 'answered');
    like($answer->{body}, intent('a'), 'as it is: pending');
    is($answer->{headers}{'idempotent-replayed'}, undef, 'no duplicate');
    cmp_ok($seconds, '>=', 0.99, 'not before its time');
    cmp_ok($seconds, '<', 10 * slow(), 'nor long after');

    cmp_ok(metric($calls), '>', 1, 'the store was asked');
    cmp_ok(metric($calls), '<=', $seconds / 0.25 + 3, 'every now and then');

    ok(quiet(), 'and is no more');
}



=== TEST 4: the first attempt
--- client eval
sub {
    settle();

    my $sock = post('a', '?waitSeconds=20');

    stored('a');
    ok(waits($sock, 0.4), 'it waits');

    my $start = time;
    change($attempt, 'a');
    my $answer = http_read($sock);

    is($answer->{code}, 200, 'answered');
    is($answer->{json}{attemptCount}, 1, 'with the attempt');
    is($answer->{json}{status}, 'pending', 'there may be another');
    is($answer->{json}{intentId}, 'a', 'its own');
    cmp_ok(time - $start, '<', 8 * slow(), 'soon');
}



=== TEST 5: its end
--- client eval
sub {
    settle();

    my %socks = map { $_ => post($_, '?waitSeconds=20') } qw(a r e);

    stored(qw(a r e));
    ok(waits($socks{$_}, 0.1), "$_ waits") for qw(a r e);

    change($accepted, 'a');
    change("attempt_count = 1, status = 'rejected', next_attempt_at = NULL, "
           . "final_outcome_status = 'rejected', completed_at = created_at, "
           . "final_outcome_reason = 'invalid_recipient'", 'r');

    # the deadline had passed before the first attempt
    change("status = 'exhausted', exhausted_reason = 'deadline_exceeded', "
           . 'next_attempt_at = NULL, completed_at = created_at', 'e');

    my %answers = map { $_ => http_read($socks{$_}) } qw(a r e);

    is($answers{$_}{code}, 200, "$_: 200") for qw(a r e);
    is($answers{$_}{body}, http("GET /v1/intents/$_")->{body},
       "$_: what GET says") for qw(a r e);
    is($answers{a}{json}{status}, 'accepted', 'accepted');
    is($answers{r}{json}{rejectedReason}, 'invalid_recipient', 'rejected');
    is($answers{e}{json}{exhaustedReason}, 'deadline_exceeded', 'exhausted');
    is($answers{e}{json}{attemptCount}, 0, 'without an attempt');
}



=== TEST 6: replays
--- client eval
sub {
    settle();

    http(submit($_)) for qw(wait tried done conflict);
    change($attempt, 'tried');
    change($accepted, 'done');

    my $start = time;
    my $answer = http_read(post('tried', '?waitSeconds=20'));

    is($answer->{json}{attemptCount}, 1, 'one that was tried');
    is($answer->{headers}{'idempotent-replayed'}, 'true', 'is a duplicate');

    $answer = http_read(post('done', '?waitSeconds=20'));
    is($answer->{json}{status}, 'accepted', 'one that is done');
    is($answer->{headers}{'idempotent-replayed'}, 'true', 'is a duplicate');

    $answer = http_read(post('conflict', '?waitSeconds=20', 'push.bulk'));
    is($answer->{code}, 409, 'a conflict');
    cmp_ok(time - $start, '<', 10 * slow(), 'nobody waits');

    # one that was never tried: this waits, as if it were new

    my @socks = map { post('wait', '?waitSeconds=20') } 1 .. 3;

    ok(waits($_, 0.2), 'waits') for @socks;
    change($attempt, 'wait');

    for my $sock (@socks) {
        $answer = http_read($sock);
        is($answer->{json}{attemptCount}, 1, 'answered');
        is($answer->{headers}{'idempotent-replayed'}, 'true', 'a duplicate');
    }

    $answer = http_read(post('wait', '?waitSeconds=7'));
    is($answer->{code}, 200, 'it is not part of the intent');
}



=== TEST 7: a number beyond all bounds
--- client eval
sub {
    settle();

    my @socks = map { post("a$_", "?waitSeconds=$_") }
                31, 4294967297, '9' x 50;

    stored(qw(a31 a4294967297), 'a' . '9' x 50);
    ok(waits($_, 0.2), 'waits') for @socks;

    change($attempt, qw(a31 a4294967297), 'a' . '9' x 50);
    is(http_read($_)->{json}{attemptCount}, 1, 'answered') for @socks;
}



=== TEST 8: many wait, and the store is asked as if it were one
--- manager
        intake batch=1000;
--- client eval
sub {
    settle();

    my @ids = map { "id-$_" } 1 .. 80;
    my @socks = map { post($_, '?waitSeconds=20') } @ids;

    stored(@ids);
    ok(waits($socks[0], 0.3), 'it waits');

    my ($start, $before, $n, $seconds) = (time, metric($calls));

    ok(wait_for(sub {
        ($n, $seconds) = (metric($calls) - $before, time - $start);
        return $n >= 2 && $seconds >= 1.5;
    }), 'the store is asked');

    cmp_ok($n, '<=', 2 * ($seconds / 0.25 + 1),
           'once in 250 ms by each worker');

    # half of them

    change($attempt, @ids[0 .. 39]);
    is(http_read($_)->{json}{attemptCount}, 1, 'answered') for @socks[0 .. 39];
    ok(waits($_, 0), 'the others wait') for @socks[40 .. 79];

    change($accepted, @ids[40 .. 79]);
    is(http_read($socks[$_])->{json}{intentId}, $ids[$_], 'its own answer')
        for 40 .. 79;

    ok(quiet(), 'in the end nothing is asked');
}



=== TEST 9: more than go into a batch
--- manager
        intake batch=3;
--- client eval
sub {
    settle();

    my @ids = map { "id-$_" } 1 .. 20;
    my @socks = map { post($_, '?waitSeconds=20') } @ids;

    stored(@ids);
    ok(waits($_, 0), 'waits') for @socks;

    # those that wait longest are in front, and stay there

    change($attempt, @ids[10 .. 19]);
    is(http_read($socks[$_])->{json}{intentId}, $ids[$_], 'answered')
        for 10 .. 19;

    ok(waits($_, 0), 'waits on') for @socks[0 .. 9];
    change($attempt, @ids[0 .. 9]);
    is(http_read($socks[$_])->{json}{intentId}, $ids[$_], 'answered')
        for 0 .. 9;
}



=== TEST 10: clients that go away are not asked for
--- client eval
sub {
    settle();

    my @ids = map { "id-$_" } 1 .. 20;
    my @socks = map { post($_, '?waitSeconds=20') } @ids;
    my $stays = post('stays', '?waitSeconds=20');

    stored(@ids, 'stays');
    ok(waits($stays, 0.3), 'all wait');

    close $_ for @socks;

    # rows of a call are those that wait

    my $rows = 'batch_rows_sum{op="intents_get"}';
    my $alone = wait_for(sub {
        my @before = (metric($calls), metric($rows));
        sleep 0.3;
        my @after = (metric($calls), metric($rows));

        return $after[0] > $before[0]
               && $after[1] - $before[1] == $after[0] - $before[0];
    });

    ok($alone, 'one is left');

    close $stays;

    ok(quiet(), 'nobody');

    is(sql('SELECT count(*) FROM submission_intents'), 21, 'all are stored');
}



=== TEST 11: the store fails meanwhile
--- manager
        acquire_interval 100ms;
--- client eval
sub {
    settle();

    my $start = time;
    my @socks = (post('a', '?waitSeconds=5'), post('b', '?waitSeconds=30'));

    stored('a', 'b');
    ok(waits($socks[0], 0.3), 'it waits');

    store()->away;

    my $answer = http_read($socks[0]);
    my $seconds = time - $start;

    is($answer->{code}, 200, 'it is taken all the same');
    like($answer->{body}, intent('a'), 'and was pending');
    cmp_ok($seconds, '>=', 4.99, 'at its time');
    cmp_ok($seconds, '<', 15 * slow(), 'or soon after');

    store()->back;

    change($attempt, 'b');
    $answer = http_read($socks[1]);
    is($answer->{json}{attemptCount}, 1, 'another one outlasts the failure');
}



=== TEST 12: an intent that disappears
--- client eval
sub {
    settle();

    my $sock = post('a', '?waitSeconds=1');

    stored('a');
    sql("DELETE FROM submission_intents");

    my $answer = http_read($sock);

    is($answer->{code}, 200, 'it was taken');
    like($answer->{body}, intent('a'), 'and pending');
}



=== TEST 13: ids of all kinds, and a connection that goes on
--- client eval
sub {
    settle();

    my @ids = ('\\"quoted\\" \\\\', "\xc3\xa9\xe2\x82\xac", '%2F/ ?', 'x' x 200);
    my @socks = map { post($_, '?waitSeconds=20') } @ids;

    ok(waits($_, 0.1), 'waits') for @socks;
    wait_for(sub { @ids == sql('SELECT count(*) FROM submission_intents') })
        or die "not stored\n";
    sql("UPDATE submission_intents SET $attempt");

    for my $sock (@socks) {
        my $first = http_read($sock);

        is($first->{code}, 200, 'answered');
        is($first->{json}{attemptCount}, 1, 'with its attempt');

        print $sock "GET /v1/intents HTTP/1.1\r\nHost: localhost\r\n\r\n";
        is(http_read($sock)->{code}, 200, 'the connection goes on');
    }
}



=== TEST 14: pipelined
--- client eval
sub {
    settle();

    my $sock = post('a', '?waitSeconds=20');
    my $body = (split /\n/, submit('b'), 2)[1];

    print $sock "POST /v1/intents?waitSeconds=1 HTTP/1.1\r\nHost: localhost\r\n"
                . 'Content-Length: ' . length($body) . "\r\n\r\n$body";

    stored('a');
    ok(waits($sock, 0.3), 'waits');
    change($attempt, 'a');

    is(http_read($sock)->{json}{intentId}, 'a', 'the first');
    is(http_read($sock)->{json}{intentId}, 'b', 'then the second');
}



=== TEST 15: reload
--- client eval
sub {
    settle();

    open my $in, '<', server_root() . '/logs/nginx.pid' or die "$!\n";
    chomp(my $master = <$in>);

    my $descriptors = () = open_files('[eventfd]');

    for my $round (1 .. 3) {
        my @ids = map { "r$round-$_" } 1 .. 20;
        my @socks = map { post($_, '?waitSeconds=25') } @ids;

        stored(@ids);
        change($attempt, @ids[0 .. 9]);

        my $start = time;
        my $log = length error_log();

        kill HUP => $master;

        my @answers = map { http_read($_) } @socks;

        cmp_ok(time - $start, '<', 12 * slow(), "round $round: at once");
        is(join(' ', map { $_->{code} } @answers), join(' ', (200) x 20),
           "round $round: all");
        is(join(' ', map { $_->{json}{attemptCount} } @answers),
           join(' ', (1) x 10, (0) x 10), "round $round: as they are");
        is(join(' ', map { $_->{json}{intentId} } @answers), "@ids",
           "round $round: each its own");

        close $_ for @socks;

        ok(wait_for(sub {
            2 == (() = substr(error_log(), $log)
                       =~ /worker process \d+ exited with code 0/g);
        }), "round $round: the old workers go");
    }

    my $sock = post('after', '?waitSeconds=20');

    stored('after');
    ok(waits($sock, 0.3), 'the new ones wait, too');
    change($attempt, 'after');
    is(http_read($sock)->{json}{attemptCount}, 1, 'as ever');

    SKIP: {
        skip("each of FreeTDS's connections has one", 1)
            if store()->kind eq 'mssql';

        is(scalar(() = open_files('[eventfd]')), $descriptors,
           'there are as many descriptors as before');
    }
}



=== TEST 16: quit
--- client eval
sub {
    settle();

    open my $in, '<', server_root() . '/logs/nginx.pid' or die "$!\n";
    chomp(my $master = <$in>);

    my $sock = post('a', '?waitSeconds=30');

    stored('a');
    ok(waits($sock, 0.3), 'it waits');

    my $start = time;

    kill QUIT => $master;

    my $answer = http_read($sock);

    is($answer->{code}, 200, 'answered');
    like($answer->{body}, intent('a'), 'as it is');
    is($answer->{headers}{connection}, 'close', 'and the last one');
    close $sock;

    ok(wait_for(sub { !SubmissionTest::running($master) }, 10), 'nginx ends');
    cmp_ok(time - $start, '<', 15 * slow(), 'at once');
}




=== TEST 17: a GET waits for an intent that is not there yet
--- client eval
sub {
    settle();

    sub get {
        http_open("GET /v1/intents/$_[0] HTTP/1.1\r\nHost: localhost\r\n\r\n");
    }

    my $sock = get('a?waitSeconds=30');
    my $attempt = get('a?waitSeconds=30&until=attempt');

    ok(waits($sock, 0.3), 'it waits');

    http(submit('a'));
    change($main::attempt, 'a');
    is(http_read($attempt)->{json}{attemptCount}, 1, 'until the first attempt');
    ok(waits($sock, 0.3), 'or until the end');

    change($main::accepted, 'a');
    is(http_read($sock)->{json}{status}, 'accepted', 'and is answered with it');

    $sock = get('b?waitSeconds=2');
    http(submit('b'));

    my $answer = http_read($sock);
    is("$answer->{code} $answer->{json}{status}", '200 pending',
       'when the time is up, as it is');

    my $start = time;
    $answer = http_read(get('none?waitSeconds=2'));
    is("$answer->{code} $answer->{json}{error}{code}", '404 not_found',
       'what did not come is not found');
    cmp_ok(time - $start, '>=', 1.9, 'when the time is up, and not before');
    is(http('GET /v1/intents/none?waitSeconds=0')->{code}, 404, 'without a wait');
}



=== TEST 18: many that wait for what never comes cost one look each period
--- client eval
sub {
    settle();

    my $before = metric($main::calls);
    my @socks = map {
        http_open("GET /v1/intents/never-$_?waitSeconds=3 HTTP/1.1\r\n"
                  . "Host: localhost\r\n\r\n")
    } 1 .. 100;

    is(scalar(grep { http_read($_)->{code} == 404 } @socks), 100, 'none came');

    # 2 workers, a look every 250 ms for 3 s; the first and the last of each may
    # be alone, and without sharing there would be more than a thousand

    cmp_ok(metric($main::calls) - $before, '<', 300, 'in calls that they share');
}



=== TEST 19: the store fails while a GET waits for what is not there
--- manager
        acquire_interval 100ms;
--- client eval
sub {
    settle();

    my $sock = http_open("GET /v1/intents/a?waitSeconds=4 HTTP/1.1\r\n"
                         . "Host: localhost\r\n\r\n");

    ok(waits($sock, 0.3), 'it waits');

    store()->away;

    my $answer = http_read($sock);

    is("$answer->{code} $answer->{json}{error}{code}", '503 store_unavailable',
       'nobody knows whether it is there');

    store()->back;
}

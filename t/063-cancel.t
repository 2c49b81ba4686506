# POST /v1/intents/{id}/cancel.
#
# An application that has changed its mind must know for sure: either nothing was
# sent and nothing will be (200), or it is too late (409). Breaks when a cancel
# has another answer when it is repeated, when a canceled intent is sent, listed
# as something else or not counted, and when one who waits for it is not told.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

sub canceled {
    my ($id) = @_;

    return qr/^\{"intentId":"\Q$id\E","submissionTarget":"sms.realtime","createdAt":$time,"status":"canceled","attemptCount":0,"completedAt":$time\}\n\z/;
}

run_tests();

__DATA__

=== TEST 1: canceled, and again
--- request eval
[submit('a'), 'POST /v1/intents/a/cancel', "POST /v1/intents/a/cancel\n{}",
 'GET /v1/intents/a']
--- response_body_like eval
[intent('a'), (canceled('a')) x 3]
--- response_headers eval
["! Idempotent-Replayed", "! Idempotent-Replayed", "Idempotent-Replayed: true",
 "! Idempotent-Replayed"]



=== TEST 2: the intent stays what it is for its id
--- request eval
[submit('a', undef, '1'), 'POST /v1/intents/a/cancel', submit('a', undef, '1'),
 submit('a', undef, '2')]
--- error_code eval
[200, 200, 200, 409]
--- response_body_like eval
[intent('a'), canceled('a'), canceled('a'), qr/idempotency_conflict/]



=== TEST 3: there is none
--- request
POST /v1/intents/a/cancel
--- error_code: 404
--- response_body eval
problem('not_found', 'there is no such intent')



=== TEST 4: an attempt is in flight
--- client eval
sub {
    http(submit('a'));
    sql("UPDATE submission_intents SET inflight_epoch = 1, "
        . "inflight_holder = 'x', inflight_at = created_at, "
        . "next_attempt_at = NULL");

    my $answer = http('POST /v1/intents/a/cancel');

    is($answer->{code}, 409, 'it is too late');
    is($answer->{body}, problem('in_flight',
                                'an attempt of the intent is in flight',
                                '"status":"pending"'), 'why');
    is(sql('SELECT status FROM submission_intents'), 'pending', 'as it was');
    is(sql('SELECT count(*) FROM submission_audit'), 0, 'and not in the audit');
}



=== TEST 5: it has ended
--- client eval
sub {
    for my $status (qw(accepted rejected exhausted)) {
        http(submit($status));
        sql("UPDATE submission_intents SET status = '$status', "
            . "completed_at = created_at, next_attempt_at = NULL "
            . "WHERE intent_id = '$status'");

        my $answer = http("POST /v1/intents/$status/cancel");

        is($answer->{code}, 409, $status);
        is($answer->{body}, problem('already_terminal', 'the intent has ended',
                                    "\"status\":\"$status\""), 'why');
        is(sql("SELECT status FROM submission_intents "
               . "WHERE intent_id = '$status'"), $status, 'as it was');
    }
}



=== TEST 6: bad requests
--- request eval
["POST /v1/intents/%20/cancel", "POST /v1/intents/%01/cancel",
 "POST /v1/intents/" . 'x' x 201 . "/cancel", "POST /v1/intents/a/cancel?x=1",
 "POST /v1/intents/a/cancel\n{\"why\":1}", "POST /v1/intents/a/cancel\n[]",
 "POST /v1/intents/a/cancel\n{"]
--- error_code eval
[(400) x 7]
--- response_body_like eval
[qr/"invalid_request".*must not be empty.*"field":"intentId"/,
 qr/"invalid_request".*control characters.*"field":"intentId"/,
 qr/"invalid_request".*200 characters.*"field":"intentId"/,
 qr/unknown argument \\"x\\": none was expected/,
 qr/"invalid_request".*why/, qr/"invalid_request"/, qr/"invalid_request"/]



=== TEST 7: a body that is not JSON
--- request eval
[submit('a'), "POST /v1/intents/a/cancel\nx=1", 'GET /v1/intents/a']
--- more_headers
Content-Type: application/json
--- error_code eval
[200, 400, 200]
--- response_body_like eval
[intent('a'), qr/"invalid_request"/, intent('a')]



=== TEST 8: a form
--- client eval
sub {
    http(submit('a'));

    my $answer = http("POST /v1/intents/a/cancel\nx=1",
                      'Content-Type: application/x-www-form-urlencoded');

    is($answer->{code}, 415, 'is not taken');
    is($answer->{json}{error}{code}, 'unsupported_media_type', 'its code');
    is(sql('SELECT status FROM submission_intents'), 'pending', 'as it was');
}



=== TEST 9: an id with a slash
--- request eval
[submit('a/b'), 'POST /v1/intents/a%2Fb/cancel']
--- response_body_like eval
[intent('a/b'), canceled('a/b')]



=== TEST 10: many at once, some of them the same
--- client eval
sub {
    http_pipelined(map { submit("id-$_") } 1 .. 50);

    my @socks = map { http_open("POST /v1/intents/id-" . (1 + $_ % 50)
                                . "/cancel HTTP/1.1\r\nHost: a\r\n"
                                . "Content-Length: 0\r\n\r\n") } 1 .. 100;
    my @answers = map { http_read($_) } @socks;

    is(scalar(grep { $_->{code} == 200 && $_->{json}{status} eq 'canceled' }
              @answers), 100, 'all are canceled');
    is(scalar(grep { !$_->{headers}{'idempotent-replayed'} } @answers), 50,
       'each was once');
    is(sql('SELECT count(*), count(DISTINCT object) FROM submission_audit'),
       '50|50', 'and is so in the audit');
    like(http('GET /metrics')->{body},
         qr/^submission_intents_terminal_total\{target="[^"]+",status="canceled"\} 50$/m,
         'and in the metrics');
}



=== TEST 11: the list
--- request eval
[submit('a'), submit('b'), 'POST /v1/intents/a/cancel',
 'GET /v1/intents?status=canceled', 'GET /v1/intents', 'GET /v1/intents?status=x']
--- error_code eval
[(200) x 5, 400]
--- response_body_like eval
[(qr/./) x 3, qr/^\{"intents":\[\{"intentId":"a",[^\]]*"status":"canceled"[^\]]*\}\],"next":null\}/,
 qr/"b".*"a"/, qr/\\"exhausted\\" or \\"canceled\\"/]



=== TEST 12: who waits for a first attempt is told
--- client eval
sub {
    my $sock = http_open("POST /v1/intents?waitSeconds=30 HTTP/1.1\r\nHost: a\r\n"
                         . "Content-Length: 50\r\n\r\n"
                         . '{"intentId":"a","submissionTarget":"sms.realtime"}');

    ok(wait_for(sub { sql('SELECT count(*) FROM submission_intents') }),
       'it is there');

    is(http('POST /v1/intents/a/cancel')->{code}, 200, 'it is canceled');
    is(http_read($sock)->{json}{status}, 'canceled', 'and that is the answer');
}
--- timeout: 15



=== TEST 13: the store is not there
--- only: sqlite a file
--- client eval
sub {
    http(submit('a'));

    my $release = hold_writes();
    my $answer = http('POST /v1/intents/a/cancel');
    $release->();

    is($answer->{code}, 503, 'it is not known');
    ok(wait_for(sub { http('POST /v1/intents/a/cancel')->{code} == 200 }),
       'later it is');
}
--- hasty

# POST /v1/intents/{id}/replay and GET /v1/intents/{id}/payload.
#
# A replay is new work with the bytes of the old: whoever asks for it again, since
# the first answer was lost, must get the same one, or the gateway has it twice.
# Breaks when a duplicate makes another replay, when the old intent is changed, when
# the payload is not the same byte for byte, and when the contract is not today's.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

our $api = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /o/ {
            submission_api main access=operate;
        }
EOC

sub replayed {
    my ($id, $of) = @_;

    return qr/^\{"intentId":"\Q$id\E","submissionTarget":"sms.realtime","createdAt":($time),"status":"pending","attemptCount":0,"nextAttemptAt":\1,"replayOf":"\Q$of\E"\}\n\z/;
}

sub ended {
    my ($id, $status) = @_;

    sql("UPDATE submission_intents SET status = '$status', "
        . "completed_at = created_at, next_attempt_at = NULL "
        . "WHERE intent_id = '$id'");
}

run_tests();

__DATA__

=== TEST 1: a replay, and again
--- request eval
[submit('a', undef, '{"n": 1}'), 'POST /v1/intents/a/cancel',
 'POST /v1/intents/a/replay', "POST /v1/intents/a/replay\n{}",
 'GET /v1/intents/a']
--- response_body_like eval
[qr/pending/, qr/canceled/, (replayed('a~1', 'a')) x 2, qr/"status":"canceled"/]
--- response_headers eval
[("! Idempotent-Replayed") x 3, "Idempotent-Replayed: true",
 "! Idempotent-Replayed"]



=== TEST 2: a replay of a replay, and ids of one's own
--- request eval
[submit('a'), 'POST /v1/intents/a/cancel', 'POST /v1/intents/a/replay',
 'POST /v1/intents/a~1/cancel', 'POST /v1/intents/a~1/replay',
 "POST /v1/intents/a/replay\n{\"intentId\":\" mine \",\"again\":true}",
 "POST /v1/intents/a/replay\n{\"intentId\":\"mine\",\"contract\":\"original\"}"]
--- response_body_like eval
[(qr/./) x 2, replayed('a~1', 'a'), qr/canceled/, replayed('a~2', 'a~1'),
 (replayed('mine', 'a')) x 2]



=== TEST 3: what cannot be replayed
--- config eval: $::api
--- client eval
sub {
    my @t;

    http(submit('a', undef, '1'));
    http(submit('b', undef, '1'));

    @t = (http('POST /v1/intents/none/replay'), http('POST /v1/intents/a/replay'));
    is($t[0]{code}, 404, 'none');
    is($t[0]{body}, problem('not_found', 'there is no such intent'), 'why');
    is($t[1]{code}, 409, 'one that has not ended');
    is($t[1]{body}, problem('not_terminal', 'the intent has not ended',
                            '"status":"pending"'), 'why');

    ended('a', 'rejected');

    @t = (http("POST /v1/intents/a/replay\n{\"intentId\":\"b\"}"));
    is($t[0]{code}, 409, 'an id that is taken');
    is($t[0]{body}, problem('idempotency_conflict', 'another intent has the id '
                            . 'of the replay', '"field":"intentId"'), 'why');

    sql('UPDATE submission_intents SET stripped_at = created_at, payload = '
        . store()->no_bytes . " WHERE intent_id = 'a'");

    @t = (http('POST /v1/intents/a/replay'), http('GET /o/intents/a/payload'));
    is($_->{code}, 409, 'without its payload') for @t;
    is($_->{body}, problem('payload_stripped', 'the payload of the intent is '
                           . 'not kept any more', '"status":"rejected"'), 'why')
        for @t;

    sql("UPDATE submission_intents SET submission_target = 'gone' "
        . "WHERE intent_id = 'b'");
    ended('b', 'exhausted');

    @t = (http('POST /v1/intents/b/replay'),
          http("POST /v1/intents/b/replay\n{\"contract\":\"original\"}"));
    is($t[0]{code}, 409, 'a target that is not there any more');
    is($t[0]{json}{error}{code}, 'unknown_target', 'its code');
    is($t[0]{json}{error}{details}{field}, 'contract', 'what helps');
    is($t[1]{code}, 200, 'as it was it can be');

    is(sql('SELECT count(*) FROM submission_intents'), 3, 'nothing else is new');
}



=== TEST 4: bad requests
--- client eval
sub {
    http(submit('a'));
    http('POST /v1/intents/a/cancel');
    http(submit('l' x 199));
    http('POST /v1/intents/' . 'l' x 199 . '/cancel');

    for my $t (['{"intentId":""}', 'intentId'], ['{"intentId":" "}', 'intentId'],
               ['{"intentId":"' . 'x' x 201 . '"}', 'intentId'],
               ['{"intentId":"\u0001"}', 'intentId'],
               ['{"intentId":"a"}', 'intentId'], ['{"intentId":1}', 'intentId'],
               ['{"again":1}', 'again'], ['{"again":"true"}', 'again'],
               ['{"contract":"new"}', 'contract'], ['{"contract":null}', 'contract'],
               ['{"payload":1}', 'payload'], ['[]', undef], ['{', undef])
    {
        my $answer = http("POST /v1/intents/a/replay\n$t->[0]");

        is($answer->{code}, 400, $t->[0]);
        is($answer->{json}{error}{code}, 'invalid_request', 'its code');
        is($answer->{json}{error}{details}{field}, $t->[1], 'its field');
    }

    my $answer = http('POST /v1/intents/' . 'l' x 199 . '/replay');
    is($answer->{code}, 400, 'an id without room');
    is($answer->{json}{error}{details}{field}, 'intentId', 'what is needed');

    is(http("POST /v1/intents/a/replay?x=1")->{code}, 400, 'an argument');
    is(sql('SELECT count(*) FROM submission_intents'), 2, 'nothing is new');
    is(sql("SELECT count(*) FROM submission_audit WHERE action = 'replay'"), 0,
       'in the audit neither');
}



=== TEST 5: today's contract, and the original
--- client eval
sub {
    http(submit('a'));
    sql("UPDATE submission_intents SET gateway_url = 'http://old', "
        . "policy = 'max_attempts', max_attempts = 7, "
        . "max_acceptance_seconds = NULL");
    ended('a', 'exhausted');

    http('POST /v1/intents/a/replay');
    http("POST /v1/intents/a/replay\n"
         . '{"intentId":"o","contract":"original","again":true}');

    is(sql("SELECT gateway_url, policy, max_acceptance_seconds FROM "
           . "submission_intents WHERE intent_id = 'a~1'"),
       'http://127.0.0.1:1|deadline|300', 'as it is configured');
    is(sql("SELECT gateway_url, policy, max_attempts FROM "
           . "submission_intents WHERE intent_id = 'o'"),
       'http://old|max_attempts|7', 'as it was');
    is(sql('SELECT object, detail FROM submission_audit ORDER BY seq'),
       "a|{\"intentId\":\"a~1\"}\n"
       . "a|{\"intentId\":\"o\",\"contract\":\"original\"}", 'in the audit');
}



=== TEST 6: many of the same at once are one
--- client eval
sub {
    http(submit('a'));
    http('POST /v1/intents/a/cancel');

    my @socks = map { http_open("POST /v1/intents/a/replay HTTP/1.1\r\n"
                                . "Host: a\r\nContent-Length: 0\r\n\r\n") } 1 .. 30;
    my @answers = map { http_read($_) } @socks;

    is(scalar(grep { $_->{code} == 200 && $_->{json}{intentId} eq 'a~1' }
              @answers), 30, 'all got it');
    is(scalar(grep { !$_->{headers}{'idempotent-replayed'} } @answers), 1,
       'one made it');
    is(sql("SELECT count(*) FROM submission_audit WHERE action = 'replay'"), 1,
       'and that is in the audit');
}



=== TEST 7: the payload, as it was sent
--- config eval: $::api
--- client eval
sub {
    my $payload = "{ \"a\":\t1.0e0, \"b\":\"\xc3\xa4\\u00e4\",\n\"a\":[] }";

    http(submit('a', undef, $payload));
    http(submit('b'));
    http(submit('c', undef, '"' . 'x' x 300000 . '"'));
    http('POST /v1/intents/a/cancel');
    http('POST /v1/intents/a/replay');

    for my $id ('a', 'a~1') {
        my $answer = http("GET /o/intents/$id/payload");

        is($answer->{code}, 200, "of $id");
        is($answer->{body}, $payload, 'byte for byte');
        is($answer->{headers}{'content-type'}, 'application/json', 'its type');
    }

    is(length http('GET /o/intents/c/payload')->{body}, 300002, 'a long one');

    my $answer = http('GET /o/intents/b/payload');
    is($answer->{code}, 404, 'one without');
    is($answer->{json}{error}{code}, 'no_payload', 'its code');
    is(http('GET /o/intents/x/payload')->{json}{error}{code}, 'not_found', 'none');
    is(http('GET /o/intents/a/payload?x=1')->{code}, 400, 'an argument');
}



=== TEST 8: what was replayed says so, and is not replayed again by mistake
--- config eval: $::api
--- client eval
sub {
    my ($t, @ids);

    sub again { http("POST /v1/intents/a/replay\n$_[0]") }

    http(submit('a'));
    http('POST /v1/intents/a/cancel');
    unlike(http('GET /v1/intents/a')->{body}, qr/replayed/, 'it was not');

    is(again('{"intentId":"one"}')->{code}, 200, 'a replay');

    for my $body ('{"intentId":"two"}', '', '{}', '{"again":false}') {
        $t = again($body);
        is($t->{code}, 409, "another one: $body");
        is($t->{body}, problem('already_replayed', 'the intent was replayed '
                               . 'before: "again":true and an "intentId" replay it '
                               . 'once more, and '
                               . 'its gateway may act twice',
                               '"replayedAs":["one"],"replayedCount":1'), 'why');
    }

    $t = again('{"intentId":"one"}');
    is("$t->{code} $t->{headers}{'idempotent-replayed'}", '200 true',
       'the same id is a duplicate');

    for my $n (1 .. 11) {
        is(again(qq({"intentId":"more-$n","again":true}))->{code}, 200,
           "on purpose: $n");
    }

    $t = again('{"again":true}');
    is($t->{code}, 400, 'on purpose, without an id');
    is($t->{body}, problem('invalid_request', '"intentId" is needed with "again": a '
                           . 'request that is repeated must not make another replay',
                           '"field":"intentId"'), 'why');

    @ids = map { "more-$_" } reverse 2 .. 11;

    for my $url ('intents/a', 'intents/a/history', 'intents?status=canceled',
                 'intents?idPrefix=a&limit=1')
    {
        $t = http("GET /v1/$url")->{json};
        $t = $t->{intent} // ($t->{intents} ? $t->{intents}[0] : $t);
        is_deeply($t->{replayedAs}, \@ids, "$url: the ten newest first");
        is($t->{replayedCount}, 12, 'and how many there are');
    }

    $t = again('{"intentId":"x"}')->{json}{error}{details};
    is_deeply($t, { replayedAs => \@ids, replayedCount => 12 }, 'refused with them');
    is(sql("SELECT count(*) FROM submission_audit WHERE action = 'replay'"), 12,
       'each is in the audit once');
}



=== TEST 9: many at once under ids of their own are one
--- client eval
sub {
    http(submit('a'));
    http('POST /v1/intents/a/cancel');

    my @socks = map {
        my $body = qq({"intentId":"own-$_"});

        http_open("POST /v1/intents/a/replay HTTP/1.1\r\nHost: a\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 1 .. 30;
    my @answers = map { http_read($_) } @socks;
    my ($made) = grep { $_->{code} == 200 } @answers;
    my %codes;

    $codes{$_->{json}{error}{code} // 'made'}++ for @answers;

    is_deeply(\%codes, { made => 1, already_replayed => 29 }, 'one made it');
    is(scalar(grep { ($_->{json}{error}{details}{replayedAs}[0] // '')
                     eq $made->{json}{intentId} } @answers), 29,
       'and the others are told which');
    is(sql('SELECT count(*) FROM submission_intents'), 2, 'there is one');
}

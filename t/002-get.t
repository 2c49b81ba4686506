# GET and HEAD of an intent and of its history, by any id that can be created.
#
# nginx hands over a path that it has decoded and normalized, in which an id
# with a slash, or one that is "..", is no longer one part of the path. Breaks
# when the path is taken from the wrong one of the two, when a rewritten path
# is ignored, or when the answer for a stored state is not what DESIGN says.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $no_intent = problem('not_found', 'there is no such intent');
our $nothing = problem('not_found', 'there is nothing at this path');

sub bad_id {
    return problem('invalid_request', "the intent id $_[0]",
                   '"field":"intentId"');
}

# creates an intent, and finds it by these paths

sub found_at {
    my ($id, @paths) = @_;

    (my $text = $id) =~ s/(["\\])/\\$1/g;

    my $created = http(submit($text));
    is($created->{code}, 200, "\"$id\" is created");

    for my $path (@paths) {
        my $found = http("GET /v1/intents/$path");

        is($found->{body}, $created->{body}, "$path is \"$id\"");
        is(http("GET /v1/intents/$path/history")->{code}, 200,
           "$path has a history");
    }
}

run_tests();

__DATA__

=== TEST 1: an intent that is there, and one that is not
--- request eval
[submit('a', 'push.bulk'), 'GET /v1/intents/a', 'GET /v1/intents/a?',
 'GET /v1/intents/b']
--- error_code eval
[200, 200, 200, 404]
--- response_body eval
[(intent('a', 'push.bulk')) x 3, $no_intent]
--- response_headers eval
[("Content-Type: application/json\n! Idempotent-Replayed\n! Allow") x 4]



=== TEST 2: HEAD has the header of GET, and no body
--- client eval
sub {
    http(submit('a'));

    for my $path ('/v1/intents/a', '/v1/intents/a/history', '/v1/intents/b',
                  '/v1/intents', '/v1/nothing')
    {
        my $get = http("GET $path");
        my $sock = http_open("HEAD $path HTTP/1.1\r\nHost: localhost\r\n"
                             . "Connection: close\r\n\r\n");
        my $head = http_rest($sock);

        like($head, qr{^HTTP/1\.1 $get->{code} .*\r\n\r\n\z}s,
             "HEAD $path: $get->{code}, no body");
        like($head, qr{^Content-Length: $get->{headers}{'content-length'}\r$}m,
             "HEAD $path: the length of GET");
        like($head, qr{^Content-Type: application/json\r$}m,
             "HEAD $path: the type of GET");
    }
}



=== TEST 3: ids that need escapes in a path
--- client eval
sub {
    found_at('a/b', 'a%2Fb', 'a%2fb', '%61%2F%62');
    found_at('a//b', 'a%2F%2Fb');
    found_at('/', '%2F');
    found_at('%', '%25');
    found_at('100%25', '100%2525');
    found_at('a b', 'a%20b', '%20a%20b%20');
    found_at('a?b=c&d', 'a%3Fb=c&d', 'a%3fb%3Dc%26d');
    found_at('a#b', 'a%23b');
    found_at('a+b', 'a+b', 'a%2Bb');
    found_at('a;b,c:d@e!f$g\'h(i)*', 'a;b,c:d@e!f$g\'h(i)*');
    found_at('ключ', '%D0%BA%D0%BB%D1%8E%D1%87', 'ключ');
    found_at('😀', '%F0%9F%98%80');
}



=== TEST 4: ids that look like parts of a path
--- client eval
sub {
    found_at('...', '...');
    found_at('.hidden', '.hidden', '%2Ehidden');
    found_at('..hidden', '..hidden');
    found_at('../a', '%2E%2E%2Fa');
    found_at('a/..', 'a%2F%2E%2E');
    found_at('a/./b', 'a%2F%2E%2Fb');
    found_at('history', 'history');
    found_at('a/history', 'a%2Fhistory');
    found_at('intents', 'intents');
}



=== TEST 5: a dot at the start does not decode the slash
--- request eval
[submit('..a/b'), 'GET /v1/intents/..a%2Fb', submit('.a/b'),
 'GET /v1/intents/.a%2Fb']
--- response_body_like eval
[(intent('..a/b')) x 2, (intent('.a/b')) x 2]



=== TEST 6: 200 characters are an id, 201 are not
--- request eval
[submit('x' x 200), 'GET /v1/intents/' . 'x' x 200, 'GET /v1/intents/' . 'x' x 201,
 submit('ж' x 200), 'GET /v1/intents/' . '%D0%B6' x 200,
 'GET /v1/intents/' . '%D0%B6' x 201, 'GET /v1/intents/' . 'x' x 201 . '/history']
--- error_code eval
[200, 200, 400, 200, 200, 400, 400]
--- response_body eval
my $long = bad_id('must not be longer than 200 characters');
[(intent('x' x 200)) x 2, $long, (intent('ж' x 200)) x 2, $long, $long]



=== TEST 7: what no id can be
--- request eval
['GET /v1/intents/%20', 'GET /v1/intents/%20%20/history',
 'GET /v1/intents/%FF', 'GET /v1/intents/a%C3', 'GET /v1/intents/%C0%AF',
 'GET /v1/intents/%ED%A0%80', 'GET /v1/intents/%F4%90%80%80',
 'GET /v1/intents/a%0Ab', 'GET /v1/intents/%1F', 'GET /v1/intents/%7F',
 'GET /v1/intents/%C2%85', 'GET /v1/intents/%09a']
--- error_code eval
[(400) x 12]
--- response_body eval
[(bad_id('must not be empty')) x 2, (bad_id('must be valid UTF-8')) x 5,
 (bad_id('must not contain control characters')) x 5]



=== TEST 8: a NUL, and what is no escape, are refused by nginx itself
--- request eval
['GET /v1/intents/a%00', 'GET /v1/intents/%zz', 'GET /v1/intents/a%',
 'GET /v1/intents']
--- error_code eval
[400, 400, 400, 200]



=== TEST 9: nothing is there
--- request eval
[map { "GET $_" } '/v1/', '/v1/x', '/v1/intents/', '/v1/intents/a/',
                  '/v1/intents/a/x', '/v1/intents/a/history/',
                  '/v1/intents/a/history/x', '/v1/intents/a/histor',
                  '/v1/intentsx', '/v1/Intents', '/v1/intents/a/History',
                  '/v1/intents/..', '/v1/intents/.']
--- error_code eval
[(404) x 13]
--- response_body eval
[($nothing) x 13]



=== TEST 10: nothing is there for POST either
--- request eval
[map { submit('a') =~ s{/v1/intents}{$_}r } '/v1/', '/v1/intents/', '/v1/x']
--- error_code eval
[(404) x 3]
--- response_body eval
[($nothing) x 3]



=== TEST 11: paths that nginx normalizes
--- request eval
[submit('a'),
 map { "GET $_" } '//v1/intents/a', '/v1//intents/a', '/v1/intents//a',
                  '/v1/./intents/a', '/v1/x/../intents/a', '/x/../v1/intents/a',
                  '/v1/intents/b/../a', '/v1/intents/./a', '/%76%31/intents/a',
                  '/v1/intents/a#b', 'http://localhost/v1/intents/a']
--- response_body_like eval
[(intent('a')) x 12]



=== TEST 12: an escape that needs none is the same path
--- request eval
[submit('a'), 'GET /v1/%69ntents/a', 'GET /v1/%69ntents/%61']
--- response_body_like eval
[(intent('a')) x 3]



=== TEST 13: a whole URL in the request line
--- request eval
[submit('a/b'), 'GET http://localhost/v1/intents/a%2Fb',
 'GET HTTP://localhost:80/v1/intents/a%2Fb?']
--- response_body_like eval
[(intent('a/b')) x 3]



=== TEST 14: history of an intent that was not tried yet
--- request eval
[submit('a'), 'GET /v1/intents/a/history', 'GET /v1/intents/a/history?limit=1',
 'GET /v1/intents/b/history']
--- error_code eval
[200, 200, 200, 404]
--- response_body eval
[intent('a'),
 (qr/^\{"intent":\{"intentId":"a",[^{}]*"attemptCount":0,[^{}]*\},"attempts":\[\],"next":null\}\n\z/) x 2,
 $no_intent]



=== TEST 15: history with attempts, newest first
--- client eval
sub {
    http(submit($_)) for 'a', 'b';

    sql(q{UPDATE submission_intents SET attempt_count = 3 WHERE intent_id = 'a'});
    sql('INSERT INTO submission_attempts ' . store()->attempt_columns . q{ VALUES
          ('submission-manager-executor', 'a', 2, 7, 'sm-01', 1700000000000000,
           1700000000250001, 'error', NULL, 'connection "refused"'),
          ('submission-manager-executor', 'a', 1, 7, 'sm-01', 1600000000000000,
           1600000000000000, 'unknown', 'leader_lost', NULL),
          ('submission-manager-executor', 'a', 3, 8, 'sm-02', 1700000001000000,
           1700000002000000, 'accepted', NULL, NULL),
          ('submission-manager-executor', 'b', 1, 8, 'sm-02', 1700000001000000,
           1700000002000000, 'accepted', NULL, NULL),
          ('another', 'a', 1, 8, 'sm-02', 1700000001000000, 1700000002000000,
           'accepted', NULL, NULL)});

    like(http('GET /v1/intents/a/history')->{body},
         qr/"attemptCount":3,[^{}]*\},"attempts":\Q[{"attemptNumber":3,"leaseEpoch":8,"startedAt":"2023-11-14T22:13:21.000000Z","finishedAt":"2023-11-14T22:13:22.000000Z","outcomeStatus":"accepted","outcomeReason":null,"error":null},{"attemptNumber":2,"leaseEpoch":7,"startedAt":"2023-11-14T22:13:20.000000Z","finishedAt":"2023-11-14T22:13:20.250001Z","outcomeStatus":"error","outcomeReason":null,"error":"connection \"refused\""},{"attemptNumber":1,"leaseEpoch":7,"startedAt":"2020-09-13T12:26:40.000000Z","finishedAt":"2020-09-13T12:26:40.000000Z","outcomeStatus":"unknown","outcomeReason":"leader_lost","error":null}],"next":null}\E\n\z/,
         'the attempts of this intent');
}



=== TEST 16: the terminal states
--- client eval
sub {
    http(submit($_)) for qw(accepted rejected exhausted);

    sql(q{UPDATE submission_intents
          SET status = intent_id, attempt_count = 2, next_attempt_at = NULL,
              created_at = 1600000000000000, completed_at = 1700000000123456,
              final_outcome_status = CASE intent_id
                  WHEN 'exhausted' THEN 'error' ELSE intent_id END,
              final_outcome_reason = CASE intent_id
                  WHEN 'rejected' THEN 'invalid_recipient' END,
              exhausted_reason = CASE intent_id
                  WHEN 'exhausted' THEN 'max_attempts' END});

    my $common = '"submissionTarget":"sms.realtime",'
                 . '"createdAt":"2020-09-13T12:26:40.000000Z",'
                 . '"status":"%s","attemptCount":2,'
                 . '"completedAt":"2023-11-14T22:13:20.123456Z"';
    my %more = (
        accepted => '',
        rejected => ',"rejectedReason":"invalid_recipient"',
        exhausted => ',"exhaustedReason":"max_attempts"',
    );

    for (sort keys %more) {
        is(http("GET /v1/intents/$_")->{body},
           sprintf("{\"intentId\":\"$_\",$common$more{$_}}\n", $_), $_);
    }

    my $replay = http(submit('rejected'));

    is($replay->{json}{rejectedReason}, 'invalid_recipient',
       'a duplicate shows the state, too');
    is($replay->{headers}{'idempotent-replayed'}, 'true', 'as a duplicate');
}



=== TEST 17: locations of other prefixes
--- config
        location /api/v1/ {
            submission_api main;
        }

        location ^~ /first/ {
            submission_api main;
        }

        location /outer/ {
            location /outer/inner/ {
                submission_api main;
            }
        }

        location "/sp ace/" {
            submission_api main;
        }

        location /bare {
            submission_api main;
        }

        location / {
            submission_api main;
        }
--- request eval
[submit('a/b') =~ s{/v1}{/api/v1}r,
 'GET /api/v1/intents/a%2Fb', 'GET /first/intents/a%2Fb',
 'GET /outer/inner/intents/a%2Fb', 'GET /intents/a%2Fb',
 'GET /bare/intents/a%2Fb', 'GET /api/v1/intents/a%2Fb/history',
 'GET /sp%20ace/intents', 'GET /bareintents', 'GET /outer/intents',
 'GET /api/v1intents', 'GET /api/intents']
--- error_code eval
[(200) x 8, (404) x 4]



=== TEST 18: a rewritten path counts, not the one that was sent
--- not_api: paths that are rewritten
--- config
        location /v1/ {
            rewrite ^/v1/newest$ /v1/intents/a break;
            submission_api main;
        }

        location /old/ {
            rewrite ^/old/(.*)$ /v1/intents/$1 last;
        }

        location = /tried {
            try_files /nothing /v1/intents/a;
        }

        location /v1/intents/moved/ {
            rewrite ^ /v1/intents/a/history last;
        }
--- request eval
[submit('a'), 'GET /old/a', 'GET /old/a?', 'GET /v1/newest', 'GET /tried',
 'GET /v1/intents/moved/', 'GET /old/b', 'GET /old/%20']
--- error_code eval
[(200) x 6, 404, 400]
--- response_body eval
[(intent('a')) x 5, qr/^\{"intent":\{"intentId":"a",/, $no_intent,
 bad_id('must not be empty')]



=== TEST 19: an id of a quote and a backslash
--- only: escapes the store leaves JSON's escapes in strings
--- client eval
sub {
    found_at('"\\', '%22%5C');
}



=== TEST 20: a path that was rewritten out of its location
--- config
        location /v1/ {
            submission_api main;
            rewrite ^/v1/(one)$ / break;
            rewrite ^/v1/(two)$ /v1 break;
            rewrite ^/v1/(three)/(.*)$ /$2 break;
            rewrite ^/v1/(four)$ /w1/intents/a break;
        }
--- request eval
[submit('a'), map { "GET /v1/$_" } qw(one two three/intents four)]
--- error_code eval
[200, (404) x 4]
--- response_body eval
[intent('a'),
 (problem('not_found', 'there is nothing at this path')) x 4]

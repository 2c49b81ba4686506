# POST /v1/targets/{target}/pause and /resume.
#
# An operator who pauses a target must be told that it is so, by whom and why,
# and must not be told so of a name that is mistyped. Breaks when a second pause is
# answered with something else, when what was done is not in the audit, and when
# somebody who may only submit can do it.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $api = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /o/ {
            submission_api main access=operate;
            submission_actor $http_x_user;
        }
EOC

our $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

sub paused {
    my ($reason, $actor) = @_;

    return qr/^\{"target":"sms\.realtime","state":"paused","since":($time),"pause":\{"reason":\Q$reason\E,"actor":\Q$actor\E,"at":\1\}\}\n\z/;
}

run_tests();

__DATA__

=== TEST 1: paused, and again, and on
--- config eval: $::api
--- client eval
sub {
    my $pause = "POST /o/targets/sms.realtime/pause\n";
    my $answer = http($pause . '{"reason":"the gateway is ill"}',
                      'X-User: ann');

    is($answer->{code}, 200, 'paused');
    like($answer->{body}, paused('"the gateway is ill"', '"ann"'), 'how');
    is($answer->{headers}{'idempotent-replayed'}, undef, 'and was not before');

    my $first = $answer->{body};

    $answer = http($pause . '{"reason":"again"}', 'X-User: bob');

    is($answer->{body}, $first, 'again: the first one counts');
    is($answer->{headers}{'idempotent-replayed'}, 'true', 'and that is told');

    $answer = http("POST /o/targets/sms.realtime/resume", 'X-User: bob');

    like($answer->{body},
         qr/^\{"target":"sms\.realtime","state":"open","since":$time\}\n\z/,
         'it goes on');

    $answer = http("POST /o/targets/sms.realtime/resume\n{}");
    is($answer->{headers}{'idempotent-replayed'}, 'true', 'again');

    my @entries = reverse @{http('GET /o/audit')->{json}{entries}};

    is(join(', ', map { "$_->{actor} $_->{action} $_->{object} "
                        . ($_->{detail} ? $_->{detail}{reason} : '-') }
                  @entries),
       'ann pause sms.realtime the gateway is ill, bob resume sms.realtime -',
       'the audit has what was done, and nothing else');
}



=== TEST 2: without a reason, or a name
--- config eval: $::api
--- request eval
["POST /o/targets/sms.realtime/pause", "POST /o/targets/sms.realtime/resume"]
--- response_body_like eval
[paused('null', 'null'), qr/"state":"open"/]



=== TEST 3: never paused
--- config eval: $::api
--- request
POST /o/targets/sms.realtime/resume
--- response_body
{"target":"sms.realtime","state":"open"}
--- response_headers
Idempotent-Replayed: true



=== TEST 4: there is none
--- config eval: $::api
--- request eval
["POST /o/targets/sms.realtim/pause", "POST /o/targets/sms.realtim/resume"]
--- error_code eval
[404, 404]
--- response_body eval
[(problem('unknown_target', 'there is no such target: it is not configured, and no intent of it is pending')) x 2]



=== TEST 5: one that is left of an earlier configuration
--- config eval: $::api
--- client eval
sub {
    http(submit('a'));
    sql("UPDATE submission_intents SET submission_target = 'old'");

    is(http("POST /o/targets/old/pause")->{json}{state}, 'paused',
       'it has an intent: it can be paused');

    sql("UPDATE submission_intents SET status = 'canceled', "
        . "completed_at = created_at, next_attempt_at = NULL");

    is(http("POST /o/targets/old/resume")->{json}{state}, 'open',
       'it was paused: it can go on');
}



=== TEST 6: who may
--- config eval: $::api
--- request eval
["POST /v1/targets/sms.realtime/pause", "POST /v1/targets/sms.realtime/resume",
 "GET /o/targets/sms.realtime/pause"]
--- error_code eval
[403, 403, 405]
--- response_body_like eval
[qr/"forbidden".*operate/, qr/"forbidden".*operate/, qr/method_not_allowed/]



=== TEST 7: bodies that are not good
--- config eval: $::api
--- request eval
[map { "POST /o/targets/sms.realtime/pause\n$_" }
     '[]', '{"reason":1}', '{"why":"x"}', '{"reason":"' . 'x' x 501 . '"}',
     '{']
--- error_code eval
[(400) x 5]
--- response_body_like eval
[(qr/invalid_request/) x 2, qr/invalid_request.*why/,
 qr/longer than 500 characters.*"field":"reason"/, qr/invalid_request/]



=== TEST 8: a long reason, and one with what no log wants
--- config eval: $::api
--- client eval
sub {
    my $long = 'é' x 500;

    is(length(http("POST /o/targets/sms.realtime/pause\n{\"reason\":\"$long\"}")
              ->{json}{pause}{reason}), 500, 'all of it');

    http('POST /o/targets/sms.realtime/resume');

    is(http("POST /o/targets/sms.realtime/pause\n"
            . '{"reason":" a\\nb\\u0000c "}')->{json}{pause}{reason}, 'a b c',
       'cleaned');
}



=== TEST 9: a name that cannot be one
--- config eval: $::api
--- request
POST /o/targets/a%20b/pause
--- error_code: 400
--- response_body eval
problem('invalid_request', 'the target must not contain spaces or control characters', '"field":"target"')

# Methods that a resource does not have, and errors that are nginx's own: every
# answer in an API location is JSON, and none breaks the connection.
#
# Access control, limits and authentication are nginx's, and answer before the
# module sees a request; its clients parse JSON all the same. Breaks when an
# error page slips through, when its length is that of the page it replaced,
# when a header of nginx's (WWW-Authenticate) is lost, or when a body that
# nobody read is taken for the next request.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $denied = problem('forbidden', 'access is denied');

sub no_method {
    return problem('method_not_allowed', "the method must be one of $_[0]");
}

run_tests();

__DATA__

=== TEST 1: methods of the list
--- request eval
[map { "$_ /v1/intents" } qw(PUT DELETE PATCH OPTIONS MKCOL LOCK)]
--- error_code eval
[(405) x 6]
--- response_body eval
[(no_method('GET, HEAD, POST')) x 6]
--- response_headers eval
[("Allow: GET, HEAD, POST\nContent-Type: application/json") x 6]



=== TEST 2: methods of an intent, whether it is there or not
--- request eval
[submit('a'), map({ "$_ /v1/intents/a" } qw(POST PUT DELETE PATCH OPTIONS)),
 'DELETE /v1/intents/b']
--- error_code eval
[200, (405) x 6]
--- response_body eval
[intent('a'), (no_method('GET, HEAD')) x 6]
--- response_headers eval
["! Allow", ("Allow: GET, HEAD\nContent-Type: application/json") x 6]



=== TEST 3: methods of a history
--- request eval
[map { "$_ /v1/intents/a/history" } qw(POST PUT DELETE)]
--- error_code eval
[(405) x 3]
--- response_body eval
[(no_method('GET, HEAD')) x 3]
--- response_headers eval
[("Allow: GET, HEAD") x 3]



=== TEST 4: where nothing is, no method is
--- request eval
['PUT /v1/nothing', 'DELETE /v1/intents/']
--- error_code eval
[404, 404]
--- response_headers eval
["! Allow", "! Allow"]



=== TEST 5: a method with a body does not disturb what follows
--- pipelined_requests eval
["PUT /v1/intents\n" . 'x' x 5000, submit('a'),
 "DELETE /v1/intents/a\nGET /v1/nothing HTTP/1.1\r\n\r\n", 'GET /v1/intents/a',
 "POST /v1/nothing\n{}", "GET /v1/intents/a\n{\"a\":\"body\"}",
 "GET /v1/intents?limit=0\n[]", 'GET /v1/intents/a']
--- error_code eval
[405, 200, 405, 200, 404, 200, 400, 200]
--- response_body_like eval
[qr/"method_not_allowed"/, intent('a'), qr/"method_not_allowed"/, intent('a'),
 qr/"not_found"/, intent('a'), qr/"invalid_request"/, intent('a')]



=== TEST 6: an answer before the body has come
--- client eval
sub {
    my $sock = http_open("PUT /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                         . "Content-Length: 20000\r\n\r\n");

    is(http_read($sock)->{code}, 405, 'refused at once');

    print $sock 'x' x 20000;
    print $sock "GET /v1/intents HTTP/1.1\r\nHost: localhost\r\n\r\n";

    my $next = http_read($sock);

    is($next->{code}, 200, 'the next request is answered');
    is($next->{body}, "{\"intents\":[],\"next\":null}\n", 'as ever');
}



=== TEST 7: GET whose body comes later than its answer
--- client eval
sub {
    http(submit('a'));

    my $sock = http_open("GET /v1/intents/a HTTP/1.1\r\nHost: localhost\r\n"
                         . "Content-Length: 9000\r\n\r\nxxx");

    is(http_read($sock)->{json}{intentId}, 'a', 'answered');

    print $sock 'x' x 8997;
    print $sock "GET /v1/intents/b HTTP/1.1\r\nHost: localhost\r\n\r\n";

    is(http_read($sock)->{code}, 404, 'the next request is answered');
}



=== TEST 8: GET with a chunked body
--- client eval
sub {
    http(submit('a'));

    my $sock = http_open("GET /v1/intents/a HTTP/1.1\r\nHost: localhost\r\n"
                         . "Transfer-Encoding: chunked\r\n\r\n3\r\nxxx\r\n");

    is(http_read($sock)->{json}{intentId}, 'a', 'answered');

    print $sock "2\r\nyy\r\n0\r\n\r\n";
    print $sock "GET /v1/intents/b HTTP/1.1\r\nHost: localhost\r\n\r\n";

    is(http_read($sock)->{code}, 404, 'the next request is answered');
}



=== TEST 9: a hundred requests on one connection
--- client eval
sub {
    my @answers = http_pipelined(map { (submit("id-$_"), "GET /v1/intents/id-$_",
                                        "PUT /v1/intents/id-$_\n{}",
                                        submit("id-$_", 'nobody')) } 1 .. 25);

    is(join(' ', map { $_->{code} } @answers),
       join(' ', (200, 200, 405, 400) x 25), 'each in its turn');
    is(join(' ', map { $answers[4 * $_ + 1]{json}{intentId} } 0 .. 24),
       join(' ', map { "id-$_" } 1 .. 25), 'each has its own answer');
}



=== TEST 10: deny
--- api
            deny all;
--- config
        location = /text {
            return 200 "text\n";
        }
--- pipelined_requests eval
[submit('a'), 'GET /v1/intents', 'PUT /v1/nothing', 'GET /text']
--- error_code eval
[403, 403, 403, 200]
--- response_body eval
[($denied) x 3, "text\n"]
--- response_headers eval
[("Content-Type: application/json") x 3, "Content-Type: text/plain"]



=== TEST 11: auth_basic
--- api
            auth_basic "submission";
            auth_basic_user_file passwords;
--- user_files eval
[[server_root() . '/conf/passwords', "user:{PLAIN}secret\n"]]
--- request eval
[submit('a'), submit('a'), submit('a')]
--- more_headers eval
['', 'Authorization: Basic dXNlcjp3cm9uZw==', 'Authorization: Basic dXNlcjpzZWNyZXQ=']
--- error_code eval
[401, 401, 200]
--- response_body eval
[(problem('unauthorized', 'credentials are required')) x 2, intent('a')]
--- response_headers eval
[("Content-Type: application/json\nWWW-Authenticate: Basic realm=\"submission\"") x 2,
 "! WWW-Authenticate"]



=== TEST 12: limit_req
--- http_config
    limit_req_zone $server_name zone=one:1m rate=1r/m;
--- api
            limit_req zone=one;
--- pipelined_requests eval
[submit('a'), submit('a'), 'GET /v1/intents/a']
--- error_code eval
[200, 503, 503]
--- response_body eval
[intent('a'), (problem('service_unavailable', 'the service is unavailable')) x 2]
--- response_headers eval
[("Content-Type: application/json") x 3]



=== TEST 13: limit_req with another status
--- http_config
    limit_req_zone $server_name zone=one:1m rate=1r/m;
--- api
            limit_req zone=one;
            limit_req_status 429;
--- pipelined_requests eval
[submit('a'), submit('a')]
--- error_code eval
[200, 429]
--- response_body eval
[intent('a'), problem('too_many_requests', 'there are too many requests')]



=== TEST 14: HEAD of an error
--- api
            deny all;
--- client eval
sub {
    my $sock = http_open("HEAD /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                         . "Connection: close\r\n\r\n");
    my $length = length $denied;

    like(http_rest($sock),
         qr{^HTTP/1\.1 403 .*\r\nContent-Length: $length\r\n.*\r\n\r\n\z}s,
         'the header of GET, and no body');
}
--- request
GET /readyz
--- error_code_like: ^(?:200|503)$



=== TEST 15: errors that the operator returns
--- config
        location /v1/ {
            submission_api main;
            return 400;
        }

        location /v2/ {
            submission_api main;
            return 418;
        }

        location /v3/ {
            submission_api main;
            return 404 "a text\n";
        }

        location /v4/ {
            submission_api main;
            return 502;
        }

        location /v5/ {
            submission_api main;
            return 500;
        }
--- request eval
['GET /v1/intents', "POST /v2/intents\n{}", 'GET /v3/intents', 'GET /v4/',
 'GET /v5/']
--- error_code eval
[400, 418, 404, 502, 500]
--- response_body eval
my $bad = problem('invalid_request', 'the request is not valid');
my $failed = problem('internal_error', 'the server failed');
[$bad, $bad, problem('not_found', 'there is nothing at this path'), $failed,
 $failed]
--- response_headers eval
[("Content-Type: application/json") x 5]



=== TEST 16: an "if" in the location does not take the API away
--- api
            if ($http_x_trace) {
                set $traced 1;
            }

            if ($http_x_debug) {
                add_header X-Debug on always;
            }

            if ($arg_status = 402) {
                return 402;
            }
--- request eval
[submit('a'), 'GET /v1/intents/a', 'GET /v1/intents/a', 'GET /v1/intents/b',
 submit('b'), 'GET /v1/intents?status=402', 'GET /v1/intents/a']
--- more_headers eval
['', 'X-Trace: 1', ('X-Debug: 1') x 3, '', '']
--- error_code eval
[200, 200, 200, 404, 200, 402, 200]
--- response_body eval
[(intent('a')) x 3, problem('not_found', 'there is no such intent'), intent('b'),
 problem('invalid_request', 'the request is not valid'), intent('a')]
--- response_headers eval
["! X-Debug", "! X-Debug", ("X-Debug: on") x 3, "! X-Debug", "! X-Debug"]



=== TEST 17: limit_except lets the rest through
--- api
            limit_except GET {
                auth_basic "submission";
                auth_basic_user_file passwords;
            }
--- user_files eval
[[server_root() . '/conf/passwords', "user:{PLAIN}secret\n"]]
--- request eval
['GET /v1/intents/a', submit('a'), submit('a'), 'GET /v1/intents/a']
--- more_headers eval
['', '', 'Authorization: Basic dXNlcjpzZWNyZXQ=', '']
--- error_code eval
[404, 401, 200, 200]
--- response_body eval
[problem('not_found', 'there is no such intent'),
 problem('unauthorized', 'credentials are required'), intent('a'), intent('a')]



=== TEST 18: error_page is the operator's word
--- not_api: a page of the operator's
--- api
            error_page 403 = /sorry;
            error_page 404 /sorry;
            deny all;
--- config
        location = /sorry {
            return 200 "sorry\n";
        }
--- request
GET /v1/intents
--- response_body
sorry



=== TEST 19: headers that are added to every answer
--- api
            add_header X-Any yes always;
            add_header X-Good yes;
--- request eval
[submit('a'), submit('a', 'nobody'), 'PUT /v1/intents', 'GET /v1/nothing']
--- error_code eval
[200, 400, 405, 404]
--- response_headers eval
["X-Any: yes\nX-Good: yes", ("X-Any: yes\n! X-Good") x 3]



=== TEST 20: other locations keep their pages
--- not_api: another location within the API's
--- config
        location /text/ {
            return 404 "no JSON\n";
        }

        location /page/ {
            deny all;
        }

        location /v1/nested/ {
            deny all;
        }
--- request eval
['GET /text/', 'GET /page/', 'GET /v1/nested/']
--- error_code eval
[404, 403, 403]
--- response_body_like eval
[qr/^no JSON\n\z/, qr/^<html>/, qr/^<html>/]



=== TEST 21: compression of answers
--- http_config
    gzip on;
    gzip_types application/json;
    gzip_min_length 1;
--- client eval
sub {
    my $answer = http_raw("GET /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                          . "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n");

    is($answer->{code}, 200, 'answered');
    is($answer->{headers}{'content-encoding'}, 'gzip', 'compressed');

    $answer = http_raw("GET /v1/nothing HTTP/1.1\r\nHost: localhost\r\n"
                       . "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n");

    is($answer->{code}, 404, 'an error');
}



=== TEST 22: a subrequest to the API, in the middle of a page
--- config
        location /page/ {
            alias $TEST_NGINX_SERVER_ROOT/html/;
            ssi on;
            ssi_types *;
        }
--- user_files
>>> list.txt
before <!--# include virtual="/v1/intents?limit=1" wait="yes" --><!--# include virtual="/v1/intents/b" --> after
--- request eval
[submit('a'), 'GET /page/list.txt', 'GET /v1/intents/a']
--- response_body_like eval
[intent('a'),
 qr/^before \{"intents":\[\{"intentId":"a",[^\n]*\n\{"error":\{"code":"not_found",[^\n]*\n after\n\z/,
 intent('a')]



=== TEST 23: a subrequest that asks whether an intent is there
--- config
        location /guarded/ {
            auth_request /v1/intents/a;
            root $TEST_NGINX_SERVER_ROOT/html;
        }
--- user_files
>>> guarded/page
in
--- request eval
['GET /guarded/page', submit('a'), 'GET /guarded/page', submit('a')]
--- error_code eval
[500, 200, 200, 200]
--- response_body eval
[qr/^<html>/, intent('a'), "in\n", intent('a')]

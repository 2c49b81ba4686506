# What changes something through the console comes from its own page.
#
# The browser sends its credentials along with what any page asks for. Breaks
# when a form or a script of another site can cancel, replay or pause
# something, and when the page itself cannot.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $config = <<'EOC';
        location /console/ {
            submission_console main access=operate;
        }

        location /look/ {
            submission_console main;
        }

        location /v1/ {
            submission_api main;
        }
EOC

our $json = 'Content-Type: application/json';

run_tests();

__DATA__

=== TEST 1: from where
--- config eval: $::config
--- client eval
sub {
    my $n = 0;

    for my $case (
        [403, 'nothing said'],
        [200, 'the same origin', 'Sec-Fetch-Site: same-origin'],
        [403, 'the same site', 'Sec-Fetch-Site: same-site'],
        [403, 'another site', 'Sec-Fetch-Site: cross-site'],
        [403, 'a link', 'Sec-Fetch-Site: none'],
        [403, 'another site says otherwise', 'Sec-Fetch-Site: cross-site',
         'Origin: http://localhost'],
        [200, 'an old browser', 'Origin: http://localhost'],
        [200, 'behind TLS', 'Origin: https://LOCALHOST'],
        [403, 'another port', 'Origin: http://localhost:81'],
        [403, 'a longer name', 'Origin: http://localhost.example'],
        [403, 'a shorter name', 'Origin: http://local'],
        [403, 'a file', 'Origin: null'],
        [403, 'another scheme', 'Origin: ftp://localhost'],
        [200, 'a port that the scheme has', 'Origin: https://localhost',
         'Host: localhost:443'],
    ) {
        my ($code, $what, @headers) = @$case;
        my $id = 'from-' . $n++;

        http(submit($id));

        my $answer = http("POST /console/api/v1/intents/$id/cancel\n{}",
                          $::json, @headers);

        is($answer->{code}, $code, $what);
        is(http("GET /v1/intents/$id")->{json}{status},
           $code == 200 ? 'canceled' : 'pending', 'and what came of it');
        is($answer->{json}{error}{code}, 'cross_site', 'in words')
            if $code == 403;
    }
}



=== TEST 2: a body of JSON
--- config eval: $::config
--- client eval
sub {
    http(submit('a'));

    my $same = 'Sec-Fetch-Site: same-origin';
    my $path = 'POST /console/api/v1/intents/a/cancel';

    for my $case (
        ['no body', ''],
        ['no body, but a type', '', $::json],
        ['no type', '{}'],
        ['a form', '{}', 'Content-Type: application/x-www-form-urlencoded'],
        ['text', '{}', 'Content-Type: text/plain'],
        ['more than JSON', '{}', 'Content-Type: application/jsonp'],
    ) {
        my ($what, $body, @headers) = @$case;

        is(http("$path\n$body", $same, @headers)->{code}, 403, $what);
    }

    is(http("$path\n{}", $same, "$::json; charset=utf-8")->{code}, 200, 'JSON');
}



=== TEST 3: a console to look at
--- config eval: $::config
--- client eval
sub {
    http(submit('a'));

    my $same = 'Sec-Fetch-Site: same-origin';

    for my $path ('intents/a/cancel', 'intents/a/replay') {
        my $answer = http("POST /look/api/v1/$path\n{}", $same, $::json);

        is($answer->{code}, 403, "no $path");
        is($answer->{json}{error}{details}{level}, 'submit', 'the level');
    }

    is(http('GET /look/api/v1/intents/a')->{json}{status}, 'pending', 'as it was');
}



=== TEST 4: programs need nothing of this
--- config eval: $::config
--- client eval
sub {
    http(submit('a'));

    is(http('POST /v1/intents/a/cancel')->{code}, 200, 'the API itself');
}



=== TEST 5: in the log
--- config eval: $::config
--- request
POST /console/api/v1/intents/a/cancel
--- error_code: 403
--- response_body eval
main::problem('cross_site', 'at the console this needs "Sec-Fetch-Site: same-origin" or an "Origin" of this host; programs use "submission_api"')
--- error_log
submission: forbidden reason=cross_site

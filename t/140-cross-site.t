# A page of another site changes nothing through the API.
#
# Where only the network protects the API, any page in a browser of that network
# can send a POST: it needs no credentials, no body and no Content-Type. Breaks
# when what a browser says of such a request is not heard, when a program, which
# says nothing, is refused, and when the refusal does not name what permits it.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

our $config = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /operate/ {
            submission_api main access=operate;
        }

        location /any/ {
            submission_api main cross_site=allow;
        }

        location /deny/ {
            submission_api main cross_site=deny;
        }
EOC

refused('location /x/' => <<'EOT');
invalid parameter "{parameter}" of "{directive}": "cross_site=allow" or
"cross_site=deny" was expected
    submission_api main cross_site=on;

"{directive}" directive has a duplicate "{name}="
    submission_api main cross_site=allow cross_site=deny;
EOT

run_tests();

__DATA__

=== TEST 1: from where
--- config eval: $::config
--- client eval
sub {
    my $n = 0;

    for my $case (
        [200, 'a program'],
        [200, 'a page of ours', 'Sec-Fetch-Site: same-origin',
         'Origin: http://localhost'],
        [200, 'an extension, or a bookmark', 'Sec-Fetch-Site: none',
         'Origin: chrome-extension://abc'],
        [200, 'a page of ours, over plain HTTP', 'Origin: http://localhost'],
        [200, 'a page of ours, behind TLS', 'Origin: https://LOCALHOST'],
        [200, 'with a port', 'Host: localhost:8080',
         'Origin: http://localhost:8080'],
        [200, 'with the port of the scheme', 'Host: localhost:443',
         'Origin: https://localhost'],
        [200, 'an address of IPv6', 'Host: [::1]:8080',
         'Origin: http://[::1]:8080'],
        [403, 'another site', 'Sec-Fetch-Site: cross-site'],
        [403, 'the same site', 'Sec-Fetch-Site: same-site'],
        [403, 'a word that is not known', 'Sec-Fetch-Site: whatever'],
        [403, 'nothing in it', 'Sec-Fetch-Site: '],
        [403, 'another site says otherwise', 'Sec-Fetch-Site: cross-site',
         'Origin: http://localhost'],
        [403, 'another site, over plain HTTP', 'Origin: http://evil.example'],
        [403, 'another port', 'Origin: http://localhost:81'],
        [403, 'a longer name', 'Origin: http://localhost.evil.example'],
        [403, 'a file, or a frame in a sandbox', 'Origin: null'],
        [403, 'a view of an application', 'Origin: capacitor://localhost'],
        [403, 'nothing in it', 'Origin: '],
    ) {
        my ($code, $what, @headers) = @$case;

        for my $path ('/v1/', '/operate/', '/deny/') {
            my $id = 'from-' . $n++;

            http(submit($id));

            my $answer = http("POST ${path}intents/$id/cancel", @headers);

            is($answer->{code}, $code, "$what, at $path");
            is(http("GET /v1/intents/$id")->{json}{status},
               $code == 200 ? 'canceled' : 'pending', 'and what came of it');
            is($answer->{json}{error}{code}, 'cross_site', 'in words')
                if $code == 403;
            like($answer->{json}{error}{message},
                 qr/"cross_site=allow" of "submission_api"/, 'and what permits')
                if $code == 403;
        }
    }
}



=== TEST 2: whatever changes something
--- config eval: $::config
--- client eval
sub {
    http(submit('a'));

    for my $request (
        ['POST', 'intents', submit('b') =~ /\n(.*)/s],
        ['POST', 'intents/a/cancel'],
        ['POST', 'intents/a/replay'],
        ['POST', 'intents/a/webhooks/resend'],
        ['POST', 'targets/push.bulk/pause'],
        ['POST', 'targets/push.bulk/resume'],
        ['POST', 'replays', '{"filter":{"target":"push.bulk","status":"accepted"}}'],
        ['POST', 'cancels', '{"filter":{"target":"push.bulk"}}'],
        ['PUT', 'schedules/s', '{"submissionTarget":"push.bulk","every":"PT1H"}'],
        ['DELETE', 'schedules/s'],
        ['POST', 'schedules/s/run'],
    ) {
        my ($method, $path, $body) = @$request;

        my $answer = http("$method /operate/$path\n" . ($body || ''),
                          'Origin: http://evil.example',
                          'Content-Type: text/plain');

        is($answer->{code}, 403, "$method $path");
        is($answer->{json}{error}{code}, 'cross_site', 'for this reason');
    }

    for my $path ('intents', 'intents/a', 'config') {
        is(http("GET /operate/$path", 'Origin: http://evil.example')->{code},
           200, "GET $path changes nothing");
    }

    is(sql('SELECT count(*) FROM submission_audit'), 0, 'nothing was done');
}



=== TEST 3: where it is wanted
--- config eval: $::config
--- client eval
sub {
    http(submit('a'));

    is(http('POST /any/intents/a/cancel', 'Origin: http://evil.example')->{code},
       200, 'any page may');
}



=== TEST 4: the answer, and the log
--- config eval: $::config
--- request
POST /v1/intents/a/cancel
--- more_headers
Origin: http://evil.example
--- error_code: 403
--- response_body eval
main::problem('cross_site', 'a page of another site sent this, as "Origin: http://evil.example" says: "cross_site=allow" of "submission_api" would permit it')
--- error_log
submission: forbidden reason=cross_site: a page of another site sent this, as "Origin: http://evil.example"



=== TEST 5: a long header, and one that is no text
--- config eval: $::config
--- client eval
sub {
    my $answer = http('POST /v1/intents/a/cancel',
                      'Origin: http://' . "\x01\xff\"" x 1000);

    is($answer->{code}, 403, 'refused');
    like($answer->{json}{error}{message}, qr/as "Origin: http:\/\/ \?"/,
         'and cut');
    cmp_ok(length $answer->{body}, '<', 600, 'short');
}



=== TEST 6: the body of a refused request is not the next one
--- config eval: $::config
--- client eval
sub {
    my $body = '{"intentId":"b","submissionTarget":"push.bulk"}';
    my $one = "POST /v1/intents HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\n"
              . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
    my $sock = http_open($one . $one);

    is(http_read($sock)->{code}, 403, 'refused');
    is(http_read($sock)->{code}, 403, 'and the one after it');
}

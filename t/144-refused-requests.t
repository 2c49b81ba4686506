# What is refused with a word for it: ids that no path can have, packed bodies, and
# targets that nobody configured.
#
# Breaks when an intent is stored that no client can ask for, when a gzipped body
# is called malformed JSON, and when a misspelt target cannot be told from a
# misspelt body.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use Compress::Zlib ();

our $config = <<'EOC';
        location /v1/ {
            submission_api main access=operate;
        }
EOC

run_tests();

__DATA__

=== TEST 1: "." and ".." are no ids
--- config eval: $::config
--- client eval
sub {
    http(submit($_)) for 'a', '...', '.a';
    http('POST /v1/intents/a/cancel');
    http("PUT /v1/schedules/s\n"
         . '{"submissionTarget":"push.bulk","every":"PT1H"}');

    for my $dots ('.', '..') {
        (my $path = $dots) =~ s/\./%2E/g;

        for my $request (
            submit($dots), submit(" $dots "),
            "GET /v1/intents/$path",
            "GET /v1/intents/$path/history",
            "POST /v1/intents/$path/cancel",
            "POST /v1/intents/a/replay\n{\"intentId\":\"$dots\"}",
            "POST /v1/schedules/s/run\n{\"intentId\":\"$dots\"}",
        ) {
            my $answer = http($request);

            is($answer->{code}, 400, $request =~ s/\n/ /r);
            is($answer->{json}{error}{details}{field}, 'intentId', 'where');
            like($answer->{json}{error}{message},
                 qr/must not be "\." or "\.\."/, 'why');
        }

        is(http("POST /v1/cancels\n{\"id\":\"$dots\",\"filter\":"
                . '{"target":"push.bulk"}}')->{code}, 400, 'of a job');
        is(http("GET /v1/intents?idPrefix=$dots")->{code}, 200,
           'an id may begin with them');
    }

    is(join(' ', map { $_->{intentId} }
            @{http('GET /v1/intents?idPrefix=.')->{json}{intents}}),
       '... .a', 'as these do');
    is(http('GET /v1/intents/...')->{code}, 200, 'and can be asked for');
}



=== TEST 2: a packed body
--- config eval: $::config
--- client eval
sub {
    http(submit('a'));

    my ($intent) = submit('b') =~ /\n(.*)/s;
    my $gzip = Compress::Zlib::memGzip($intent);

    for my $request (
        ['POST /v1/intents', 'Content-Type: application/json'],
        ['POST /v1/intents', 'Content-Type: application/x-ndjson'],
        ['POST /v1/intents'],
        ['POST /v1/intents/a/cancel'],
        ['POST /v1/targets/push.bulk/pause'],
        ['PUT /v1/schedules/s'],
        ['POST /v1/replays'],
    ) {
        my ($line, @headers) = @$request;

        for my $coding ('gzip', 'GZIP', 'br', 'gzip, identity') {
            my $answer = http("$line\n$gzip", "Content-Encoding: $coding",
                              @headers);

            is($answer->{code}, 415, "$line as $coding");
            is($answer->{json}{error}{code}, 'unsupported_media_type', 'code');
            like($answer->{json}{error}{message}, qr/"Content-Encoding"/, 'why');
            is($answer->{headers}{'accept-encoding'}, 'identity', 'what is good');
        }
    }

    is(http("POST /v1/intents\n$intent", "Content-Encoding: $_")->{code}, 200,
       "\"$_\" is as it is") for 'identity', 'Identity', '';
    is(http('GET /v1/intents/a')->{json}{status}, 'pending', 'nothing was done');
}



=== TEST 3: a target that nobody configured
--- config eval: $::config
--- client eval
sub {
    for my $case (
        [400, "POST /v1/intents\n{\"intentId\":\"a\",\"submissionTarget\":\"sms\"}"],
        [400, "PUT /v1/schedules/s\n{\"every\":\"PT1H\",\"submissionTarget\":\"sms\"}"],
        [404, 'GET /v1/targets/sms'],
        [404, 'POST /v1/targets/sms/pause'],
    ) {
        my ($code, $request) = @$case;
        my $answer = http($request);

        is("$answer->{code} $answer->{json}{error}{code}",
           "$code unknown_target", $request =~ s/\n/ /r);
        is($answer->{json}{error}{details}{field}, 'submissionTarget', 'where')
            if $code == 400;
    }

    my $answer = http("POST /v1/intents\n{\"intentId\":\"a\",\"submissionTarget\""
                      . ":\"sms\"}", 'Content-Type: application/x-ndjson');

    is($answer->{code}, 200, 'many at once');
    like($answer->{body}, qr/^\{"line":1,"status":400,"error":\{"code":"unknown_target"/,
         'and one of them is not good');
}



=== TEST 4: keys that nobody knows
--- config eval: $::config
--- client eval
sub {
    for my $request (
        "POST /v1/intents\n{\"intentID\":\"a\"}",
        "PUT /v1/schedules/s\n{\"intentID\":\"a\"}",
        "POST /v1/intents/a/cancel\n{\"intentID\":\"a\"}",
        "POST /v1/intents/a/replay\n{\"intentID\":\"a\"}",
        "POST /v1/targets/push.bulk/pause\n{\"intentID\":\"a\"}",
        "POST /v1/replays\n{\"intentID\":\"a\"}",
        'GET /v1/intents?intentID=a',
    ) {
        my $error = http($request)->{json}{error};

        is("$error->{code} $error->{details}{field}", 'invalid_request intentID',
           $request =~ s/\n/ /r);
    }
}

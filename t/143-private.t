# What an answer shows only to those who may see payloads, and what no cache keeps.
#
# A gateway's answer often repeats what it was sent, and the path of a webhook's
# URL is all that its receiver asks for. Breaks when a history shows answers
# where payloads are hidden, when a URL shows more than its host below the level
# "operate", or an error of the store the path of its file, and when an answer, be
# it an error of nginx itself or a 304, may be kept by a browser or a proxy, or be
# taken for a page.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use File::Temp qw(tempdir);

our $locations = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /read/ {
            submission_api main access=read;
        }

        location /shown/ {
            submission_api main access=read payloads=on;
        }

        location /operate/ {
            submission_api main access=operate;
        }

        location /console/ {
            submission_console main;
        }

        location /denied/ {
            submission_api main;
            deny all;
        }

        location /denied-console/ {
            submission_console main;
            deny all;
        }

        location /moved/ {
            submission_api main;
            return 302 /elsewhere;
        }
EOC

our $manager = <<'EOC';
        target hooked {
            gateway_type  http;
            gateway_url   https://ann:s3cret@hooks.example:8443/T0/token;
            policy        one_shot;
        }

        target bare {
            gateway_type  http;
            gateway_url   http://hooks.example;
            policy        one_shot;
        }

        webhook told {
            url          https://hooks.example/T0/token;
            secret_file  %s;
        }
EOC

my $secret = tempdir(CLEANUP => 1) . '/secret';

open my $out, '>', $secret or die $!;
print $out "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n";
close $out;
chmod 0600, $secret;

$manager = sprintf $manager, $secret;

run_tests();

__DATA__

=== TEST 1: the answers of a history
--- config eval: $::locations
--- client eval
sub {
    http(submit('a'));

    (my $columns = store()->attempt_columns) =~ s/\)\s*\z/, http_status, answer)/;

    sql("INSERT INTO submission_attempts $columns VALUES "
        . "('submission-manager-executor', 'a', 1, 1, 'sm-01', 1, 1, 'error', "
        . "NULL, 'HTTP 503', 503, 'card 4111111111111111')");

    for my $at (['/v1', 0], ['/read', 0], ['/console/api/v1', 0],
                ['/shown', 1], ['/operate', 1])
    {
        my ($prefix, $shown) = @$at;
        my $attempt = http("GET $prefix/intents/a/history")->{json}{attempts}[0];

        is($attempt->{answer}, $shown ? 'card 4111111111111111' : undef,
           "at $prefix");
        is("$attempt->{httpStatus} $attempt->{error}", '503 HTTP 503',
           'with the rest');
    }
}



=== TEST 2: URLs
--- manager eval: $::manager
--- config eval: $::locations
--- client eval
sub {
    my %hosts = (hooked => 'https://hooks.example:8443',
                 bare => 'http://hooks.example',
                 ' told' => 'https://hooks.example');
    my %paths = (hooked => 'https://hooks.example:8443/T0/token',
                 bare => 'http://hooks.example',
                 ' told' => 'https://hooks.example/T0/token');

    for my $at (['/read', \%hosts], ['/v1', \%hosts], ['/shown', \%hosts],
                ['/console/api/v1', \%hosts], ['/operate', \%paths])
    {
        my ($prefix, $expected) = @$at;

        for my $path ('config', 'targets') {
            my $answer = http("GET $prefix/$path");

            my %urls = map { $_->{target} =~ /(hooked|bare|\ ?told)$/
                             ? ($1 => $_->{gatewayUrl}) : () }
                       @{$answer->{json}{targets}};

            is_deeply([map { $urls{$_} // () } 'hooked', 'bare'],
                      [@$expected{'hooked', 'bare'}], "$path at $prefix");
            like($answer->{body}, qr/"\Q$expected->{' told'}\E"/, 'a webhook');
            unlike($answer->{body}, qr/s3cret/, 'never a password');
            unlike($answer->{body}, qr/token/, 'and no path')
                if $expected == \%hosts;
        }

        is(http("GET $prefix/targets/hooked")->{json}{gatewayUrl},
           $expected->{hooked}, 'and of one target');
    }
}



=== TEST 3: nobody keeps an answer, or guesses what it is
--- config eval: $::locations
--- client eval
sub {
    http(submit('a', undef, '{"n":1}'));

    my $tag = http('GET /v1/overview')->{headers}{etag};

    for my $case (
        [200, 'GET /v1/intents/a'],
        [200, 'GET /v1/intents'],
        [200, submit('b')],
        [200, "POST /v1/intents\n" . '{"intentId":"c","submissionTarget":'
              . '"push.bulk"}', 'Content-Type: application/x-ndjson'],
        [200, 'GET /operate/intents/a/payload'],
        [200, 'GET /v1/config'],
        [200, 'GET /v1/overview'],
        [304, 'GET /v1/overview', "If-None-Match: $tag"],
        [200, 'GET /console/api/v1/config'],
        [304, 'GET /console/api/v1/overview', "If-None-Match: $tag"],
        [400, "POST /v1/intents\n{"],
        [403, 'GET /v1/audit'],
        [403, 'GET /denied/intents'],
        [403, 'GET /denied-console/'],
        [404, 'GET /v1/intents/nothing'],
        [404, 'GET /v1/nothing'],
        [404, 'GET /console/nothing'],
        [405, 'DELETE /v1/intents'],
        [405, 'POST /console/'],
        [413, "POST /v1/intents\n{}", 'Content-Length: 100000000'],
        [421, 'GET /operate/config', 'Host: evil.example'],
        [421, 'GET /console/', 'Host: evil.example'],
        [302, 'GET /moved/'],
    ) {
        my ($code, $request, @headers) = @$case;
        my $answer = http($request, @headers);
        my $what = "$code of " . $request =~ s/\n.*//sr;

        is($answer->{code}, $code, $what);
        is($answer->{headers}{'cache-control'}, 'no-store', "$what: not kept");
        is($answer->{headers}{'x-content-type-options'}, 'nosniff',
           "$what: not guessed");
    }

    my $sock = http_open("HEAD /v1/intents/a HTTP/1.1\r\nHost: localhost\r\n"
                         . "Connection: close\r\n\r\n");

    like(http_rest($sock), qr/^Cache-Control: no-store\r$/m, 'HEAD: not kept');

    my @there = http_rest(http_open("GET /console/api/v1/config HTTP/1.1\r\n"
                                    . "Host: localhost\r\n"
                                    . "Connection: close\r\n\r\n"))
                =~ /^(Cache-Control|X-Content-Type-Options):/mgi;

    is("@{[sort @there]}", 'Cache-Control X-Content-Type-Options', 'each once');

    my $file = http('GET /console/console.css');

    is($file->{headers}{'cache-control'}, 'no-cache', 'a file is asked for');
    is($file->{headers}{'x-content-type-options'}, 'nosniff', 'as what it is');
    is(http('GET /console/console.css',
            "If-None-Match: $file->{headers}{etag}")->{headers}{'cache-control'},
       'no-cache', 'and so is a file that is there');
}



=== TEST 4: the path of the store's file
--- only: sqlite it is a file
--- manager
        executor          concurrency=1;
        lease_duration    3s;
        renew_interval    500ms;
        acquire_interval  500ms;
--- config eval: $::locations . 'location = /readyz { submission_readyz main; }'
--- client eval
sub {
    http(submit('a'));
    ok(wait_for(sub { http('GET /readyz')->{body} =~ /mode=leader/ }), 'it leads');
    store()->away;

    ok(wait_for(sub { http('GET /operate/overview')->{json}{store}{state} eq 'down' }),
       'the store is away');

    my %errors = map { $_ => http("GET /$_/overview")->{json}{store}{lastError} }
                     qw(operate read);

    like($errors{operate}, qr{^/.*\.db: \w}, 'who operates sees where it should be');
    unlike($errors{read}, qr{/}, 'others do not');
    like($errors{read}, qr{^\w}, 'and see why');

    my @lost;

    ok(wait_for(sub {
        @lost = grep { $_->{kind} =~ /^(?:leader_lost|store_down)$/ }
                     @{http('GET /read/events')->{json}{events}};
        return @lost >= 2;
    }), 'the feed says that it is away, and that the leader has lost its lease');

    unlike($_->{text}, qr{/}, "$_->{kind}: without the path") for @lost;

    store()->back;
}

# Access levels: what a location lets do, route by route, and who did it.
#
# One manager is often reached by applications, by people who look and by people
# who act, each through a location of their own. Breaks when a route has no level
# or a lower one than it needs, when a refusal does not name the level, when a
# refused request is carried out or its body is taken for the next request, and
# when the audit names somebody else.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

our $locations = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /read/ {
            submission_api main access=read;
        }

        location /read-payloads/ {
            submission_api main access=read payloads=on;
        }

        location /submit/ {
            submission_api main access=submit payloads=off;
        }

        location /default/ {
            submission_api main;
        }

        location /operate/ {
            submission_api main access=operate;
        }
EOC

# every route, the level that it needs, and what it answers then

our @routes = (
    ['POST', 'intents', 'submit', 200,
     '{"intentId":"new-%s","submissionTarget":"push.bulk"}'],
    ['GET', 'intents', 'read', 200],
    ['HEAD', 'intents', 'read', 200],
    ['GET', 'intents/a', 'read', 200],
    ['GET', 'intents/a/history', 'read', 200],
    ['GET', 'cluster', 'read', 200],
    ['POST', 'intents/a/cancel', 'submit', 200],
    ['POST', 'intents/a/replay', 'submit', 200, '{}'],
    ['GET', 'intents/a/payload', 'payload', 200],
    ['HEAD', 'intents/a/payload', 'payload', 200],
    ['GET', 'audit', 'operate', 200],
);

our %rank = (read => 1, submit => 2, operate => 3);

sub forbidden {
    my ($has, $needs) = @_;

    return problem('forbidden', "this needs the level \"$needs\", and this "
                   . "location has \"$has\"", "\"level\":\"$needs\"");
}

refused('location /x/' => <<'EOT');
invalid parameter "{parameter}" of "{directive}": "access=read",
"access=submit" or "access=operate" was expected
    submission_api main access=write;
    submission_api main access=;

invalid parameter "{parameter}" of "{directive}": "payloads=on" or
"payloads=off" was expected
    submission_api main payloads=yes;

invalid parameter "{parameter}" of "{directive}": "access=", "payloads=",
"hosts=" or "cross_site=" was expected
    submission_api main level=read;

"{directive}" directive has a duplicate "{name}="
    submission_api main access=read access=read;
EOT

run_tests();

__DATA__

=== TEST 1: every route at every level
--- config eval: $::locations
--- client eval
sub {
    http(submit('a', undef, '{"n":1}'));

    for my $at (['read', 'read'], ['read-payloads', 'read'],
                ['submit', 'submit'], ['default', 'submit'],
                ['operate', 'operate'])
    {
        my ($location, $has) = @$at;

        for my $route (@routes) {
            my ($method, $path, $needs, $code, $body) = @$route;

            $body = sprintf $body, $location if $body && $body =~ /%s/;

            $needs = $location =~ /payloads/ ? 'read' : 'operate'
                if $needs eq 'payload';

            my $good = $rank{$has} >= $rank{$needs};
            my $what = "$method $path at $location";

            # an answer to HEAD has no body, and the length of one

            if ($method eq 'HEAD') {
                my $sock = http_open("HEAD /$location/$path HTTP/1.1\r\n"
                                     . "Host: localhost\r\n"
                                     . "Connection: close\r\n\r\n");
                my ($got) = http_rest($sock) =~ m{^HTTP/1\.1 (\d+)};
                is($got, $good ? $code : 403, $what);
                next;
            }

            my $answer = http("$method /$location/$path\n" . ($body || ''));

            is($answer->{code}, $good ? $code : 403, $what);
            is($answer->{body}, forbidden($has, $needs), "$what: why")
                unless $good;
        }
    }

    is(sql("SELECT count(*) FROM submission_intents "
           . "WHERE intent_id LIKE 'new-read%'"), 0, 'nothing that was refused');
    is(sql('SELECT count(*) FROM submission_audit'), 2, 'one cancel, one replay');
}



=== TEST 2: the body of a refused request is not the next one
--- config eval: $::locations
--- client eval
sub {
    my $body = '{"intentId":"b","submissionTarget":"push.bulk"}';
    my $one = "POST /read/intents HTTP/1.1\r\nHost: a\r\nContent-Length: "
              . length($body) . "\r\n\r\n$body";
    my $sock = http_open($one . $one);

    is(http_read($sock)->{code}, 403, 'refused');
    is(http_read($sock)->{code}, 403, 'and the one after it');
}



=== TEST 3: a method that is not there comes first, and so does a path
--- config eval: $::locations
--- request eval
["DELETE /read/intents", "GET /read/audits", "GET /read/intents/a/cancel"]
--- error_code eval
[405, 404, 405]



=== TEST 9: who: $remote_user, what submission_actor says, and nobody
--- http_config
    submission_actor "http $http_x_user";
--- config
        location /v1/ {
            submission_api main;
        }

        location /user/ {
            submission_api main;
            submission_actor $remote_user;
        }

        location /header/ {
            submission_api main access=operate;
            submission_actor $http_x_user;
        }

        location /outer/ {
            submission_api main;
        }
--- client eval
sub {
    http(submit($_)) for 'a' .. 'e';

    my $long = 'l' x 300;

    # "ann:secret"

    http('POST /user/intents/a/cancel', 'Authorization: Basic YW5uOnNlY3JldA==');
    http('POST /user/intents/b/cancel');
    http('POST /header/intents/c/cancel', "X-User: \xc3\xa4nn\x01\xff \"x\" ");
    http('POST /header/intents/d/cancel', "X-User: $long");
    http('POST /outer/intents/e/cancel', 'X-User: eve');

    is(sql('SELECT object, actor, address FROM submission_audit ORDER BY seq'),
       join("\n", 'a|ann|127.0.0.1', 'b||127.0.0.1',
            "c|\xc3\xa4nn ? \"x\"|127.0.0.1",
            'd|' . 'l' x 200 . '|127.0.0.1', 'e|http eve|127.0.0.1'),
       'who, and from where');

    my $audit = http('GET /header/audit?limit=2')->{json};
    is($audit->{entries}[0]{actor}, 'http eve', 'as it is shown');

    $audit = http('GET /header/audit?limit=1&after='
                  . http('GET /header/audit?limit=3')->{json}{next})->{json};
    is($audit->{entries}[0]{actor}, undef, 'nobody is null');
}



=== TEST 10: who, without a directive
--- client eval
sub {
    http(submit($_)) for 'a' .. 'b';
    http('POST /v1/intents/a/cancel', 'Authorization: Basic YW5uOnNlY3JldA==');
    http('POST /v1/intents/b/cancel');

    is(sql('SELECT object, actor FROM submission_audit ORDER BY seq'),
       "a|ann\nb|", 'it is $remote_user');
}

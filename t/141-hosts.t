# A host that is not this server's gets nothing of what operators have.
#
# A name server of an attacker may say that a name of theirs is here. Then their
# page has the origin that the request is sent to, and a check of the origin
# alone lets it through. Breaks when the console, or the API at the level
# "operate", answers a request for a host that is none of the server's names;
# when it does not answer one for a host that is; and when a program that is
# not in a browser notices anything below that level.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

our $locations = <<'EOC';
        location /console/ {
            submission_console main access=operate;
        }

        location /look/ {
            submission_console main;
        }

        location /v1/ {
            submission_api main;
        }

        location /operate/ {
            submission_api main access=operate;
        }

        location /named/ {
            submission_api main hosts=API.example,*.api.example,old.*;
        }

        location /anything/ {
            submission_api main access=operate hosts=*;
        }

        location /page/ {
            submission_console main hosts=page.example;
        }
EOC

our $names = 'a.example *.b.example .c.example d.* ~^e[0-9]+\.example$ "" _';

# the code of a GET at a path, for a host

sub code {
    my ($path, $host, @headers) = @_;

    return http("GET $path", "Host: $host", @headers)->{code};
}

our @checked = ('/console/', '/console/console.css', '/console/api/v1/config',
                '/look/', '/look/api/v1/config', '/operate/config');

refused('location /x/' => <<'EOT');
invalid parameter "{parameter}" of "{directive}": "hosts=" and names without
ports, with "," between them, such as "a.example", "*.a.example" or "*", was
expected
    submission_api main hosts=a.example:80;
    submission_console main hosts=a.example,;

"{directive}" directive has a duplicate "{name}="
    submission_api main hosts=a hosts=b;
EOT

run_tests();

__DATA__

=== TEST 1: the names of the server
--- http_config eval
"    server {
        listen \$TEST_NGINX_SERVER_PORT;
        server_name $::names;

$::locations
    }"
--- config
--- client eval
sub {
    for my $host ('a.example', 'A.EXAMPLE', 'a.example:8080', 'a.example.',
                  'x.b.example', 'x.y.b.example', 'c.example', 'x.c.example',
                  'd.example', 'd.anything', 'e7.example')
    {
        is(join(' ', map { main::code($_, $host) } @::checked),
           join(' ', (200) x @::checked), "$host is one");
    }
}



=== TEST 2: others
--- http_config eval
"    server {
        listen 127.0.0.2:\$TEST_NGINX_SERVER_PORT;
        server_name $::names;

$::locations
    }"
--- config
--- client eval
sub {
    my $get = sub {
        my ($path, $host, $version) = @_;

        my $head = "GET $path HTTP/" . ($version || '1.1') . "\r\n"
                   . (defined $host ? "Host: $host\r\n" : '')
                   . "Connection: close\r\n\r\n";

        return http_raw($head, undef, '127.0.0.2')->{code};
    };

    for my $host ('evil.example', 'a.example.evil', 'b.example', 'xa.example',
                  'xc.example', 'e.example', 'e7.example.evil', '_', 'test',
                  '127.0.0.1.evil.example', 'localhost.evil.example', 'd',
                  '0x7f.1')
    {
        is(join(' ', map { $get->($_, $host) } @::checked),
           join(' ', (421) x @::checked), "$host is none");
        is($get->('/v1/intents', $host), 200, 'below the level it is not asked');
        is($get->('/anything/config', $host), 200, 'hosts=*');
        is($get->('/named/config', $host), 421, 'hosts=');
    }

    # no name server has a say in these

    for my $host ('127.0.0.1', '127.0.0.1:1985', '10.0.0.11', '[::1]',
                  '[::1]:8080', 'localhost', 'LOCALHOST:80', 'x.localhost')
    {
        is(join(' ', map { $get->($_, $host) } @::checked),
           join(' ', (200) x @::checked), "$host is what it says");
    }

    is($get->('/operate/config', undef, '1.0'), 200, 'no host at all');
}



=== TEST 3: hosts=
--- config eval: $::locations
--- client eval
sub {
    is(main::code('/named/config', $_), 200, "$_ is one")
        for 'api.example', 'x.api.example', 'old.example', 'localhost';
    is(main::code('/named/config', $_), 421, "$_ is none")
        for 'a.example', 'xapi.example', 'test';

    is(main::code('/page/', 'page.example'), 200, 'the page');
    is(main::code('/page/api/v1/config', 'page.example'), 200, 'its API');
    is(main::code('/page/', 'a.example'), 421, 'not another one');
}



=== TEST 4: a page of a name that leads here
--- http_config eval
"    server {
        listen 127.0.0.2:\$TEST_NGINX_SERVER_PORT;

$::locations
    }"
--- config
--- client eval
sub {
    http(submit($_)) for 'a' .. 'c';

    my $post = sub {
        my ($path, $host, @headers) = @_;

        return http_raw(join("\r\n", "POST $path HTTP/1.1", "Host: $host",
                             @headers, 'Connection: close',
                             'Content-Type: application/json',
                             'Content-Length: 2', '', '{}'), undef, '127.0.0.2');
    };

    my $evil = 'evil.example:1985';
    my @page = ("Origin: http://$evil", 'Sec-Fetch-Site: same-origin');

    for my $path ('/console/api/v1/', '/operate/', '/v1/', '/named/') {
        for my $headers ([$page[0]], [$page[1]], \@page) {
            my $answer = $post->("${path}intents/a/cancel", $evil, @$headers);

            is($answer->{code}, 421, "$path of a page with @$headers");
            is($answer->{json}{error}{code}, 'unknown_host', 'in words');
        }
    }

    is(http('GET /v1/intents/a')->{json}{status}, 'pending', 'nothing was done');

    is($post->('/v1/intents/a/cancel', 'evil.example')->{code}, 200,
       'a program, by any name');
    is($post->('/v1/intents/b/cancel', '127.0.0.1:1985',
               'Origin: http://127.0.0.1:1985')->{code}, 200,
       'a page by the address');
    is($post->('/console/api/v1/intents/c/cancel', 'localhost:1985',
               'Origin: http://localhost:1985')->{code}, 200,
       'the console by "localhost"');
}



=== TEST 5: the URI of a request line goes before its "Host"
--- config eval: $::locations
--- client eval
sub {
    my $get = sub {
        my ($uri, $host) = @_;

        return http_raw("GET $uri HTTP/1.1\r\nHost: $host\r\n"
                        . "Connection: close\r\n\r\n")->{code};
    };

    is($get->('http://evil.example/operate/config', 'localhost'), 421, 'none');
    is($get->('http://localhost/operate/config', 'evil.example'), 200, 'one');
}



=== TEST 6: the answer, and the log
--- config eval: $::locations
--- raw_request eval
"GET /operate/config HTTP/1.1\r
Host: evil.example\r
Connection: close\r
\r
"
--- error_code: 421
--- response_body eval
main::problem('unknown_host', 'the host "evil.example" is not one of this server: "server_name", or "hosts=" of "submission_api", names those that are')
--- error_log
submission: forbidden reason=host: the host "evil.example" is not one of this server



=== TEST 7: the answer of a file, and of what is in an "if"
--- config
        location /console/ {
            submission_console main;

            if ($arg_x) {
                set $y 1;
            }

            limit_except GET {
                deny 10.0.0.1;
            }
        }
--- client eval
sub {
    for my $request ('GET /console/', 'GET /console/?x=1', 'POST /console/',
                     'GET /console/nothing')
    {
        my $answer = http($request, 'Host: evil.example');

        is($answer->{code}, 421, $request);
        like($answer->{json}{error}{message}, qr/"hosts=" of "submission_console"/,
             'and what permits it');
        like($answer->{headers}{'content-security-policy'}, qr/default-src/,
             'with its headers');
    }

    is(http('GET /console/?x=1')->{code}, 200, 'its own host');
}



=== TEST 8: not locations of others
--- http_config
    server {
        listen 127.0.0.2:$TEST_NGINX_SERVER_PORT;

        location = /readyz  { submission_readyz main; }
        location = /metrics { submission_metrics main; }
        location = /_wake   { submission_wake main; }
    }
--- client eval
sub {
    for my $path ('/readyz', '/metrics', '/_wake') {
        my $method = $path eq '/_wake' ? 'POST' : 'GET';

        like(http_raw("$method $path HTTP/1.1\r\nHost: anything\r\n"
                      . "Origin: http://x\r\nContent-Length: 0\r\n"
                      . "Connection: close\r\n\r\n", undef, '127.0.0.2')->{code},
             qr/^(?:20\d|503)\z/, "$path for any host");
    }
}

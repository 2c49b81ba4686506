# Bodies, however they arrive: the payload's bytes are stored exactly.
#
# nginx gives a body in one buffer, in several, or in a file, depending on its
# size, on the pieces in which it came and on the configuration. Breaks when
# one of these ways loses, repeats or reorders bytes, or refuses what the others
# take; when a file is left open; or when a large body is not refused as JSON.

use lib 't/lib';
use Digest::SHA qw(sha256_hex);
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

# a payload of so many bytes, no two parts of which are alike

sub payload {
    my $size = shift;

    my $text = '';
    my $n = 0;

    $text .= sprintf '%d \u00e9 ж 😀 1.50e+3;', $n++ while length $text < $size;

    $text = substr $text, 0, $size - 2;
    $text =~ s/[^ -~]*(?:\\[^ ]*)?\z//;

    return '"' . $text . 'x' x ($size - 2 - length $text) . '"';
}

sub stored_is {
    my ($id, $payload) = @_;

    is(sql("SELECT payload_hash FROM submission_intents "
           . "WHERE intent_id = '$id'"),
       sha256_hex($payload), "\"$id\": the hash of its payload");

    # the bytes themselves, as the database gives them
    my $stored = store()->payload($id);

    is(length $stored, length $payload, "\"$id\": the length of its payload");
    is(sha256_hex($stored), sha256_hex($payload),
       "\"$id\": the bytes of its payload");
}

# sizes around those of nginx's buffers

sub sizes_are_stored {
    for my $size (10, 100, 1000, 1024, 4095 .. 4097, 8192, 16383 .. 16385, 40000) {
        my $payload = payload($size);

        is(http(submit("id-$size", undef, $payload))->{code}, 200,
           "$size bytes");
        is(http(submit("id-$size", undef, $payload))
               ->{headers}{'idempotent-replayed'}, 'true', "$size bytes again");

        (my $other = $payload) =~ s/."\z/~"/;

        is(http(submit("id-$size", undef, $other))->{code}, 409,
           "$size bytes, one of them other");

        stored_is("id-$size", $payload);
    }
}

# in pieces; each is sent when nginx has taken what came before

sub send_in_pieces {
    my ($head, @pieces) = @_;

    my $sock = http_open("$head\r\n");

    for my $piece (@pieces) {

        # an answer to somebody else: nginx has been round its event loop
        http('GET /v1/nothing');

        print $sock $piece;
    }

    return http_read($sock);
}

sub chunked {
    my ($body, $size) = @_;

    my $text = '';

    for (my $i = 0; $i < length $body; $i += $size) {
        my $chunk = substr $body, $i, $size;
        $text .= sprintf "%x\r\n%s\r\n", length $chunk, $chunk;
    }

    return "${text}0\r\n\r\n";
}

sub body {
    return (split /\n/, submit(@_), 2)[1];
}

our $too_large = problem('payload_too_large',
                         'the body is larger than this server takes');

run_tests();

__DATA__

=== TEST 1: the bytes of a payload
--- client eval
sub {
    my @payloads = ('null', '1.00', '1E+2', '-0', '"\u0041\/\ud83d\ude00"',
                    "{ \"b\" : 1 ,\t\"a\":[ ]\n}", '{"a":1,"a":1}', '"ж"',
                    '[0.1000000000000000055511151231257827021181583404541015625]',
                    "[\r\n1\r\n,2 ]", '"' . '\\\\' x 9 . '\""', '{}', '""',
                    "\"\x7f\xc2\x80\"");

    for my $n (0 .. $#payloads) {
        is(http(submit("id-$n", undef, " \t$payloads[$n]\n "))->{code}, 200,
           $payloads[$n]);
        stored_is("id-$n", $payloads[$n]);
    }

    http(submit('none'));
    is(sql("SELECT hex(payload), typeof(payload), payload_hash "
           . "FROM submission_intents WHERE intent_id = 'none'"),
       '|blob|' . sha256_hex(''), 'no payload is no bytes');
}



=== TEST 2: bodies in nginx's own buffers
--- client eval
\&sizes_are_stored



=== TEST 3: small buffers, and files for the rest
--- api
            client_body_buffer_size 1k;
--- client eval
sub {
    sizes_are_stored();
    like(error_log(), qr/a client request body is buffered to a temporary file/,
         'some were in files');
}



=== TEST 4: every body in a file
--- api
            client_body_in_file_only clean;
--- client eval
sub {
    sizes_are_stored();
    ok(wait_for(sub { !open_files('client_body_temp') }),
       'no file is left open');
}



=== TEST 5: every body in a file that is kept
--- api
            client_body_in_file_only on;
--- client eval
\&sizes_are_stored



=== TEST 6: every body in a single buffer
--- api
            client_body_buffer_size 64k;
            client_body_in_single_buffer on;
--- client eval
\&sizes_are_stored



=== TEST 7: bodies through a small header buffer
--- http_config
    client_header_buffer_size 512;
--- client eval
\&sizes_are_stored



=== TEST 8: an empty body, where bodies are in files
--- api
            client_body_in_file_only clean;
--- request eval
["POST /v1/intents\n", "POST /v1/intents\n", submit('a')]
--- more_headers eval
['Content-Length: 0', '', '']
--- error_code eval
[400, 400, 200]
--- response_body eval
[(problem('invalid_request', 'an object was expected, not an empty document')) x 2,
 intent('a')]



=== TEST 9: bad JSON in a file
--- api
            client_body_in_file_only clean;
--- pipelined_requests eval
[submit('a', undef, '['), submit('b', undef, '[]'), 'GET /v1/intents/b']
--- error_code eval
[400, 200, 200]
--- response_body_like eval
[qr/"malformed JSON at byte/, intent('b'), intent('b')]



=== TEST 10: 1 MB, in a file
--- http_config
    client_max_body_size 2m;
--- client eval
sub {
    my $payload = payload(1024 * 1024);

    is(http(submit('a', undef, $payload))->{code}, 200, 'created');
    stored_is('a', $payload);
    is(http(submit('a', undef, $payload))->{headers}{'idempotent-replayed'},
       'true', 'as a duplicate');
}



=== TEST 11: 1 MB, in memory
--- api
            client_max_body_size 2m;
            client_body_buffer_size 2m;
--- client eval
sub {
    my $payload = payload(1024 * 1024);

    is(http(submit('a', undef, $payload))->{code}, 200, 'created');
    stored_is('a', $payload);
}



=== TEST 12: several large ones at once
more than one batch takes
--- api
            client_body_buffer_size 16k;
--- client eval
sub {
    my $payload = payload(1024 * 1024);

    my @socks = map {
        my $body = body("id-$_", undef, $payload);

        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 1 .. 12;

    is(join(' ', map { http_read($_)->{code} } @socks), join(' ', (200) x 12),
       'all are created');
    is(sql("SELECT count(*) FROM submission_intents WHERE payload_hash = '"
           . sha256_hex($payload) . "' AND length(hex(payload)) = 2097152"), 12,
       'all are stored');
}



=== TEST 13: a body that is exactly as large as allowed, and one byte more
--- api
            client_max_body_size 1000;
--- request eval
my $more = 1000 - length body('a', undef, '""');
[submit('a', undef, '"' . 'x' x $more . '"'),
 submit('b', undef, '"' . 'x' x ($more + 1) . '"'), 'GET /v1/intents/b']
--- error_code eval
[200, 413, 404]
--- response_body eval
[intent('a'), $too_large, qr/"not_found"/]
--- response_headers eval
[("Content-Type: application/json") x 3]



=== TEST 14: too large, told by the length before the body comes
--- api
            client_max_body_size 1k;
--- client eval
sub {
    my $answer = http_raw("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                          . "Content-Length: 1000000000\r\n\r\n");

    is($answer->{code}, 413, 'refused');
    is($answer->{body}, $too_large, 'as JSON');
    is($answer->{headers}{'content-type'}, 'application/json', 'that says so');
}



=== TEST 15: too large, chunked
--- api
            client_max_body_size 1k;
--- client eval
sub {
    my $answer = http_raw("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                          . "Transfer-Encoding: chunked\r\n\r\n"
                          . chunked(body('a', undef, payload(2000)), 100));

    is($answer->{code}, 413, 'refused');
    is($answer->{body}, $too_large, 'as JSON');
    is(http('GET /v1/intents/a')->{code}, 404, 'and not stored');
}



=== TEST 16: chunked bodies
--- client eval
sub {
    for my $size (1, 7, 100, 5000, 100000) {
        my $payload = payload(20000);
        my $answer = http_raw("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                              . "Transfer-Encoding: chunked\r\n\r\n"
                              . chunked(body("id-$size", undef, $payload), $size));

        is($answer->{code}, 200, "chunks of $size");
        stored_is("id-$size", $payload);
    }
}



=== TEST 17: an empty chunked body, and one that is cut off
--- client eval
sub {
    my $head = "POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
               . "Transfer-Encoding: chunked\r\n\r\n";

    my $answer = http_raw("${head}0\r\n\r\n");

    is($answer->{code}, 400, 'no chunk');
    like($answer->{body}, qr/"an object was expected, not an empty document"/,
         'an empty document');

    is(http_raw($head . "zz\r\n")->{code}, 400, 'not a chunk');

    my $sock = http_open($head . "20\r\n{\"intentId\":");
    shutdown $sock, 1;

    my $rest = http_rest($sock);

    unlike($rest, qr{ 200 }, 'half of a chunk makes no intent');
    is(http('GET /v1/intents')->{body}, "{\"intents\":[],\"next\":null}\n",
       'and nothing is stored');
}



=== TEST 18: a client that goes away in its body
--- client eval
sub {
    my $body = body('a', undef, payload(5000));

    my $sock = http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                         . 'Content-Length: ' . length($body) . "\r\n\r\n"
                         . substr $body, 0, 3000);
    close $sock;

    is(http(submit('b'))->{code}, 200, 'others go on');
    is(http('GET /v1/intents/a')->{code}, 404, 'nothing is stored');
}



=== TEST 19: a body in pieces
--- client eval
sub {
    my $payload = payload(6000);
    my $body = body('a', undef, $payload);
    my @pieces = $body =~ /(.{1,500})/gs;

    my $answer = send_in_pieces("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                                . 'Content-Length: ' . length($body) . "\r\n",
                                @pieces);

    is($answer->{code}, 200, 'created');
    stored_is('a', $payload);
}



=== TEST 20: a body in pieces, into small buffers and a file
--- api
            client_body_buffer_size 1k;
--- client eval
sub {
    my $payload = payload(6000);
    my $body = body('a', undef, $payload);
    my @pieces = $body =~ /(.{1,700})/gs;

    my $answer = send_in_pieces("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                                . 'Content-Length: ' . length($body) . "\r\n",
                                @pieces);

    is($answer->{code}, 200, 'created');
    stored_is('a', $payload);
}



=== TEST 21: a chunked body in pieces that cut its chunks
--- client eval
sub {
    my $payload = payload(3000);
    my $text = chunked(body('a', undef, $payload), 333);
    my @pieces = $text =~ /(.{1,250})/gs;

    my $answer = send_in_pieces("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                                . "Transfer-Encoding: chunked\r\n", @pieces);

    is($answer->{code}, 200, 'created');
    stored_is('a', $payload);
}



=== TEST 22: Expect: 100-continue
--- client eval
sub {
    my $body = body('a', undef, payload(3000));
    my $head = "POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
               . "Expect: 100-continue\r\n";

    my $sock = http_open($head . 'Content-Length: ' . length($body)
                         . "\r\n\r\n");

    is(http_read($sock)->{code}, 100, 'nginx asks for the body');

    print $sock $body;

    is(http_read($sock)->{code}, 200, 'and gets it');

    # refused for its type: nothing of the body is stored, or taken for a request

    print $sock $head, "Content-Type: text/plain\r\nContent-Length: ",
          length($body), "\r\n\r\n";

    my $answer = http_read($sock);
    $answer = http_read($sock) if $answer->{code} == 100;

    is($answer->{code}, 415, 'a refusal is not held up by the body');

    print $sock $body, "GET /v1/intents/a HTTP/1.1\r\nHost: localhost\r\n\r\n";

    is(http_read($sock)->{code}, 200, 'the connection goes on');
}



=== TEST 23: too large with Expect: 100-continue is refused before the body
--- api
            client_max_body_size 1k;
--- client eval
sub {
    my $answer = http_raw("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                          . "Expect: 100-continue\r\n"
                          . "Content-Length: 5000\r\n\r\n");

    is($answer->{code}, 413, 'at once');
    is($answer->{body}, $too_large, 'as JSON');
}



=== TEST 24: a body that does not come in time
nginx closes the connection, or answers 408 first, as its version has it
--- api
            client_body_timeout 50ms;
--- client eval
sub {
    my $sock = http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                         . "Content-Length: 100\r\n\r\n{");
    my $answer = http_rest($sock);

    like($answer, qr{^(?:HTTP/1\.1 408 .*"request_timeout".*)?\z}s, 'refused');
    is(http(submit('a'))->{code}, 200, 'others go on');
    is(scalar @{http('GET /v1/intents')->{json}{intents}}, 1,
       'nothing else is stored');
}



=== TEST 25: HTTP/1.0
--- client eval
sub {
    my $body = body('a', undef, '1');
    my $sock = http_open("POST /v1/intents HTTP/1.0\r\nContent-Length: "
                         . length($body) . "\r\n\r\n$body");
    my $answer = http_rest($sock);

    like($answer, qr{^HTTP/1\.1 200 .*\r\n\r\n\{"intentId":"a",.*\}\n\z}s,
         'answered, and closed');
}



=== TEST 26: HTTP/2
--- http_config
    server {
        listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1 http2;
        server_name h2;

        location /v1/ {
            submission_api main;
            client_body_buffer_size 1k;
        }
    }
--- client eval
sub {
    my $url = "http://127.0.0.1:$Test::Nginx::Util::RandPorts->{TEST_NGINX_RAND_PORT_1}/v1/intents";
    my $file = server_root() . '/html/body';

    my $curl = sub {
        open my $out, '-|', 'curl', '-sS', '--http2-prior-knowledge', '-o',
             '/dev/null', '-w', '%{http_code} %{http_version}', @_
            or die "curl: $!\n";
        local $/;
        return scalar <$out>;
    };

    for my $size (10, 1000, 100000) {
        my $payload = payload($size);

        open my $out, '>:raw', $file or die "$!\n";
        print $out body("id-$size", undef, $payload);
        close $out;

        is($curl->($url, '--data-binary', "\@$file", '-H',
                   'Content-Type: application/json'), '200 2', "$size bytes");
        stored_is("id-$size", $payload);
    }

    is($curl->("$url/id-10"), '200 2', 'GET');
    is($curl->('-I', "$url/id-10"), '200 2', 'HEAD');
    is($curl->("$url/id-11"), '404 2', 'not found');
    is($curl->('-X', 'DELETE', $url), '405 2', 'DELETE');
    is($curl->($url, '--data-binary', '{', '-H',
               'Content-Type: application/json'), '400 2', 'bad JSON');
}



=== TEST 27: a subrequest, with the body of its parent and without
A mirror that is not to have the body has none at all: nginx has not even made a
place for it.
--- config
    location /with/ {
        mirror /v1/intents;
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/done;
    }

    location /without/ {
        mirror /v1/intents;
        mirror_request_body off;
        proxy_pass http://127.0.0.1:$TEST_NGINX_SERVER_PORT/done;
    }

    location /done {
        return 200 "done\n";
    }
--- client eval
sub {
    for my $size (10, 100000) {
        my $payload = payload($size);
        my $request = submit("id-$size", undef, $payload);

        is(http($request =~ s{/v1/intents}{/without/}r)->{code}, 200,
           "$size bytes, without it");
        is(http($request =~ s{/v1/intents}{/with/}r)->{code}, 200,
           "$size bytes, with it");
        wait_for(sub {
            sql("SELECT count(*) FROM submission_intents "
                . "WHERE intent_id = 'id-$size'");
        });
        stored_is("id-$size", $payload);
    }

    is(scalar @{http('GET /v1/intents')->{json}{intents}}, 2,
       'nothing else is stored');
}

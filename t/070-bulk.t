# POST /v1/intents as application/x-ndjson: many intents in one request.
#
# Each line is answered as its own POST would have been, in the order of the
# lines, whatever is wrong with others; a request that is refused has stored
# nothing. Breaks when lines are mixed up between batches, when one bad line
# costs others, when a part of a refused request is stored, or when a request
# that goes away leaves rows behind that are answered to nobody.

use lib 't/lib';
use JSON::PP;
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $type = 'Content-Type: application/x-ndjson';

sub line { return (split /\n/, submit(@_), 2)[1] }

sub bulk {
    my ($lines, @headers) = @_;

    my $answer = http("POST /v1/intents\n" . join("\n", @$lines),
                      @headers ? @headers : $type);

    $answer->{lines} = [map { JSON::PP->new->utf8->decode($_) }
                        split /\n/, $answer->{body}]
        if ($answer->{headers}{'content-type'} || '') eq 'application/x-ndjson';

    return $answer;
}

sub raw_bulk {
    my $body = join "\n", @_;

    return "POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n$type\r\n"
           . 'Content-Length: ' . length($body) . "\r\n\r\n$body";
}

# statuses and ids of the result lines

sub told {
    my $answer = shift;

    return join ' ', map {
        $_->{status} . ':' . ($_->{intent} ? $_->{intent}{intentId}
                                           : $_->{error}{code})
    } @{$answer->{lines} || [{ status => $answer->{code},
                              error => { code => 'all' } }]};
}

sub hold {
    wait_for(sub { http('GET /readyz')->{code} == 200 }) or die "not ready\n";

    my $release = hold_writes();

    return $release if store()->kind eq 'sqlite';

    # a server's batch has what it waits with, which is no longer in the queue

    my $body = line('out');
    my $out = http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                        . 'Content-Length: ' . length($body)
                        . "\r\n\r\n$body");
    http('GET /v1/intents');

    return sub { $release->(); http_read($out) };
}

sub stored { return sql("SELECT count(*) FROM submission_intents "
                        . "WHERE intent_id LIKE 'id-%'") }

our $between = 'the body must have between 1 and 1000 intents, one on each line';

run_tests();

__DATA__

=== TEST 1: one line for each, in order, as the single POST
--- client eval
sub {
    my $single = http(submit('a', 'push.bulk', '{"n":1}'));

    my $answer = bulk([line('b', undef, '1'), line('a', 'push.bulk', '{"n":1}'),
                       line('a', 'push.bulk', '{"n":2}'),
                       line('c', 'http.once', '[2]'), line('b', undef, '1')]);

    is($answer->{code}, 200, 'the request');
    is($answer->{headers}{'content-type'}, 'application/x-ndjson', 'its type');
    is(told($answer), '200:b 200:a 409:idempotency_conflict 200:c 200:b',
       'each line has its own');

    is(join(' ', map { $_->{line} } @{$answer->{lines}}), '1 2 3 4 5',
       'with its number');
    is(join(' ', map { exists $_->{replayed} ? $_->{replayed} ? 1 : 0 : '-' }
                 @{$answer->{lines}}), '0 1 - 0 1', 'a duplicate is told');

    my @text = split /^/, $answer->{body};

    like($text[0], qr/^\{"line":1,"status":200,"replayed":false,"intent":\{/,
         'the order of keys');
    is($text[1], '{"line":2,"status":200,"replayed":true,"intent":'
                 . ($single->{body} =~ s/\n//r) . "}\n",
       'the intent is the one of the single POST, byte for byte');

    (my $conflict = http(submit('a', 'push.bulk', '{"n":2}'))->{body})
        =~ s/^\{//;
    is($text[2], "{\"line\":3,\"status\":409,$conflict", 'so is the error');

    is(sql('SELECT count(*) FROM submission_intents'), 3, 'three intents');
    is(http('GET /v1/intents/c')->{json}{submissionTarget}, 'http.once',
       'of its own target');
    is(store()->payload('c'), '[2]', 'and payload');
}



=== TEST 2: what is wrong with one line is its answer alone
--- client eval
sub {
    my $answer = bulk([line('id-1'), '{"intentId":', line('id-2', 'no.such'),
                       line('id-3'), '[]', "\xff", line(''), '{"intentId":"x"}',
                       line('id-4'), line('id-5') . line('id-6')]);

    is(told($answer),
       join(' ', '200:id-1', '400:invalid_request', '400:unknown_target',
            '200:id-3', ('400:invalid_request') x 4, '200:id-4',
            '400:invalid_request'), 'each has its own');
    is($answer->{lines}[2]{error}{details}{field}, 'submissionTarget',
       'with the field');
    is($answer->{lines}[2]{error}{message},
       http(submit('id-2', 'no.such'))->{json}{error}{message}, 'the message');
    is(stored(), 3, 'the good ones are stored');

    is(told(bulk(['{}'])), '400:invalid_request', 'none is good');
    is(told(bulk([('{') x 1000])), join(' ', ('400:invalid_request') x 1000),
       'a thousand times');
}



=== TEST 3: blank lines, and ends of lines
--- client eval
sub {
    my $answer = bulk(['', line('a') . "\r", " \t\r", '', line('b'), '', '']);

    is(told($answer), '200:a 200:b', 'blank lines are passed by');
    is(join(' ', map { $_->{line} } @{$answer->{lines}}), '2 5',
       'and have a number');

    for my $body ('', "\n", "\n\n \r\n\t") {
        my $answer = bulk([$body]);
        is($answer->{code}, 400, 'nothing but blank lines');
        is($answer->{body}, problem('invalid_request', $main::between),
           'told so');
    }
}



=== TEST 4: up to a thousand, and no part of more
--- client eval
sub {
    my @lines = map { line("id-$_", $_ % 2 ? 'push.bulk' : undef, $_) } 1 .. 1001;

    my $answer = bulk(\@lines);
    is($answer->{code}, 400, '1,001 lines');
    is($answer->{body}, problem('invalid_request', $main::between), 'told so');
    is(stored(), 0, 'nothing of it is stored');

    pop @lines;
    $answer = bulk(\@lines);
    is(told($answer), join(' ', map { "200:id-$_" } 1 .. 1000), '1,000 lines');
    is(stored(), 1000, 'are stored');
    is(join(' ', map { $_->{intent}{submissionTarget} } @{$answer->{lines}}),
       join(' ', ('push.bulk', 'sms.realtime') x 500), 'each with its target');

    $answer = bulk([reverse @lines]);
    is(told($answer), join(' ', map { "200:id-$_" } reverse 1 .. 1000), 'again');
    is(scalar(grep { $_->{replayed} } @{$answer->{lines}}), 1000,
       'as duplicates');

    # two requests of 1,000, in batches of up to 256; the first may be smaller

    my ($calls) = http('GET /metrics')->{body}
        =~ /batch_rows_count\{[^}]*op="intents_submit"[^}]*\} (\d+)/;

    ok($calls && $calls <= 12, 'few commits') or diag($calls);
}



=== TEST 5: the type, and the arguments
--- client eval
sub {
    for my $type ('application/x-ndjson', 'Application/X-NDJSON; charset=utf-8',
                  'application/x-ndjson ;a=b')
    {
        is(told(bulk([line('a'), line('b')], "Content-Type: $type")),
           '200:a 200:b', $type);
    }

    for my $type ('application/x-ndjsons', 'application/ndjson', 'text/x-ndjson') {
        is(bulk([line('a')], "Content-Type: $type")->{code}, 415, $type);
    }

    is(bulk([line('a'), line('b')], 'Content-Type: application/json')->{code},
       400, 'two lines are not one JSON');

    for my $args ('waitSeconds=5', 'waitSeconds=0', 'waitSeconds=1&until=terminal')
    {
        my $answer = http("POST /v1/intents?$args\n" . line('id-1'), $main::type);
        is($answer->{code}, 400, $args);
        is($answer->{body},
           problem('invalid_request', 'a bulk submission takes no arguments: '
                   . 'it does not wait for attempts', '"field":"waitSeconds"'),
           'told so');
    }

    is(stored(), 0, 'nothing of it is stored');
}



=== TEST 6: the queue has room for all, or takes none
# One of the eleven is for requests of one intent.
--- manager
        intake queue=11 batch=3;
--- client eval
sub {
    my $release = hold();

    my $first = http_open(raw_bulk(map { line("id-$_") } 1 .. 6));
    http('GET /v1/intents');

    my $answer = bulk([map { line("id-$_") } 11 .. 15]);
    is($answer->{code}, 503, 'no room for five more');
    is($answer->{body}, problem('store_unavailable',
                                'too many requests wait for the store'),
       'told so');
    is($answer->{headers}{'retry-after'}, 1, 'and when to come back');
    is($answer->{headers}{'content-type'}, 'application/json', 'as JSON');

    my $second = http_open(raw_bulk('{', map { line("id-$_") } 21 .. 24));
    http('GET /v1/intents');

    is(bulk([line('id-30')])->{code}, 503, 'then it is full for them');

    $release->();

    is(scalar(() = http_read($first)->{body} =~ /"status":200/g), 6,
       'those that wait are answered');
    is(scalar(() = http_read($second)->{body} =~ /"status":200/g), 4,
       'all of them');
    is(stored(), 10, 'and stored, nothing else is');

    $answer = bulk([map { line("id-$_") } 1 .. 11]);
    is($answer->{code}, 400, 'more than the queue can ever hold of them');
    is($answer->{body}, problem('invalid_request', $main::between =~ s/1000/10/r),
       'told so');
}



=== TEST 7: a client that goes away leaves nothing behind
--- manager
        intake queue=11 batch=4;
--- client eval
sub {
    my $release = hold();

    my $gone = http_open(raw_bulk(map { line("id-$_") } 1 .. 10));
    http('GET /v1/intents');
    is(bulk([line('x')])->{code}, 503, 'the queue is full for them');
    close $gone;

    # nginx sees that it went; then there is room for all of these

    my $next;
    ok(wait_for(sub {
        $next = http_open(raw_bulk(map { line("next-$_") } 1 .. 10));
        http('GET /v1/intents');

        my $in = '';
        vec($in, fileno $next, 1) = 1;
        return !select $in, undef, undef, 0.05;
    }), 'another one waits in its place');

    $release->();

    is(scalar(() = http_read($next)->{body} =~ /"status":200/g), 10,
       'which is answered');
    is(stored(), 0, 'what went away is not stored');
}



=== TEST 8: a store that fails: each line says so
--- manager
        intake queue=10 batch=2;
--- hasty
--- request
GET /readyz
--- error_code_like: ^(?:200|503)$
--- client eval
sub {
    ok(wait_for(sub { http('GET /v1/intents')->{code} == 200 }),
       'a good start');

    my $release = hold();
    my $answer = bulk([line('id-1'), '{', line('id-2'), line('id-3')]);

    is($answer->{code}, 200, 'the request itself');
    is(told($answer), '503:store_unavailable 400:invalid_request '
                      . '503:store_unavailable 503:store_unavailable',
       'its lines');
    is($answer->{lines}[0]{error}{message},
       'the store did not complete the request', 'told so');

    $release->();

    # where a call may be as late by itself, not at once

    my $told;

    wait_for(sub {
        $told = told(bulk([map { line("id-$_") } 1 .. 3]));
        return $told !~ /503/;
    });

    is($told, '200:id-1 200:id-2 200:id-3', 'it goes on by itself');
}



=== TEST 9: several at once on one connection, with others between
--- client eval
sub {
    my $sock = http_open(join '', map {
        my $n = $_;
        my $body = line("single-$n");

        raw_bulk(map { line("p-$n-$_", undef, $_) } 1 .. 50),
        "POST /v1/intents HTTP/1.1\r\nHost: localhost\r\nContent-Length: "
        . length($body) . "\r\n\r\n$body"
    } 1 .. 5);

    for my $n (1 .. 5) {
        is(join(' ', http_read($sock)->{body} =~ /"intentId":"([^"]+)"/g),
           join(' ', map { "p-$n-$_" } 1 .. 50), "bulk $n");
        is(http_read($sock)->{json}{intentId}, "single-$n", "single $n");
    }
}



=== TEST 10: bodies in files and in pieces
--- api
    client_body_buffer_size 1k;
    client_max_body_size 1m;
--- client eval
sub {
    my @lines = map { line("id-$_", undef, '"' . $_ x 1000 . '"') } 1 .. 100;

    is(told(bulk(\@lines)), join(' ', map { "200:id-$_" } 1 .. 100), 'a file');
    is(store()->payload('id-77'), '"' . '77' x 1000 . '"', 'byte for byte');

    my $body = join "\n", @lines;
    my $text = '';

    for (my $i = 0; $i < length $body; $i += 777) {
        my $chunk = substr $body, $i, 777;
        $text .= sprintf "%x\r\n%s\r\n", length $chunk, $chunk;
    }

    my $answer = http_raw("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                          . "$main::type\r\nTransfer-Encoding: chunked\r\n\r\n"
                          . "${text}0\r\n\r\n");
    is(scalar(() = $answer->{body} =~ /"replayed":true/g), 100, 'chunks');

    is(bulk([map { line("id-$_", undef, '"' . 'x' x 2000 . '"') } 1 .. 600])
       ->{code}, 413, 'client_max_body_size');
}



=== TEST 11: HTTP/2
--- http_config
    server {
        listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1 http2;
        server_name h2;
        location /v1/ { submission_api main; }
    }
--- client eval
sub {
    my $file = server_root() . '/html/bulk.ndjson';

    open my $out, '>', $file or die "$file: $!\n";
    print $out map { line("id-$_") . "\n" } 1 .. 1000;
    close $out;

    my $port = $Test::Nginx::Util::RandPorts->{TEST_NGINX_RAND_PORT_1};

    open my $in, '-|', 'curl', '-sS', '--http2-prior-knowledge', '-H',
         $main::type, '--data-binary', "\@$file",
         "http://127.0.0.1:$port/v1/intents"
        or die "curl: $!\n";

    my $text = join '', <$in>;

    is(join(' ', $text =~ /"intentId":"([^"]+)"/g),
       join(' ', map { "id-$_" } 1 .. 1000), 'all lines');
}



=== TEST 12: no other route takes it
--- config
        location /v1/      { submission_api main; }
        location /operate/ { submission_api main access=operate; }
--- not_api: the path is another one
--- client eval
sub {
    open my $in, '<', 'docs/reference/openapi.yaml' or die "openapi.yaml: $!\n";

    my ($path, @routes);

    while (<$in>) {
        $path = $1 if m{^  /v1/(\S+):$};
        push @routes, [uc $1, $path =~ s/\{\w+\}/x/gr]
            if $path && /^    (post|put):$/;
        last if /^components:/;
    }

    http(submit('x'));

    my @lines = map { line("id-$_") } 1 .. 200;

    for my $route (grep { $_->[1] ne 'intents' } @routes) {
        my $answer = http("$route->[0] /operate/$route->[1]\n" . join("\n", @lines),
                          $main::type);

        is($answer->{code}, 415, "@$route");
    }

    cmp_ok(scalar @routes, '>=', 3, 'there are some');
    is(sql('SELECT count(*) FROM submission_intents'), 1, 'nothing was made');
}



=== TEST 13: an answer that is not sent at once
--- config
        location /v1/ { limit_rate 20k; submission_api main; }
--- client eval
sub {
    my $answer = bulk([map { line("id-$_") } 1 .. 150]);

    is($answer->{code}, 200, 'answered');
    is(scalar(() = $answer->{body} =~ /"replayed":false/g), 150, 'to the end');
}

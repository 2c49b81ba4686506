# What POST /v1/intents refuses: the status, the code, the message and the field
# of each refusal, and that nothing of it is stored.
#
# Every client sends something broken one day; it must learn what, and nobody
# else may notice. So each row sends the bad body, a good one and a look at
# the list over one connection. Breaks when a check is lost, when a message
# names the wrong field or place, when a refused body is stored, or when a
# connection does not survive it.
#
# A table has a message, whose rest is free when it ends in "...", with
# details.field in brackets, and below it the bodies; or an id that is stored.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTable qw(rows clip);
use SubmissionTest;

my %words = (T => '"submissionTarget":"sms.realtime"',
             flat => join(',', ('[{}]') x 20000));

my @stored;             # the ids, as JSON

sub check_bodies {
    my ($table, $check) = @_;

    for my $row (rows($table, %words)) {
        (my $body = join "\n", @{$row->{lines}}) =~ s/^ {4}//;

        push @stored, 'good-' . @stored;

        my $good = $stored[-1];
        my $sock = http_open(
            join '', map({ SubmissionTest::raw("POST /v1/intents\n$_",
                                               'Content-Length: ' . length) }
                         $body, submit($good) =~ /\n(.*)/s),
                     SubmissionTest::raw('GET /v1/intents?limit=500'));
        my ($answer, $next, $list) = map { http_read($sock) } 1 .. 3;
        my $name = clip($body);

        $check->($row->{message}, $answer, $name);

        is("$answer->{headers}{'content-type'}, "
           . ($answer->{headers}{'retry-after'} // 'no retry'),
           'application/json, no retry', "$name: headers");
        like($next->{body}, intent($good), "$name: what follows is answered");
        is(join("\n", sort map { $_->{intentId} } @{$list->{json}{intents}}),
           join("\n", sort map { JSON::PP->new->utf8->decode("[\"$_\"]")->[0] }
                      @stored),
           "$name: what is stored");
    }
}

sub refused {
    my ($message, $answer, $name) = @_;

    my $free = $message =~ s/\.\.\.\z//;
    my $field = $message =~ s/ \[(.*)\]\z// ? $1 =~ s/(["\\])/\\$1/gr : undef;
    my $expected = problem($message =~ /names no target/ ? 'unknown_target'
                                                         : 'invalid_request',
                           $message, defined $field ? "\"field\":\"$field\"" : ());

    if ($free) {
        my ($start) = $expected =~ /^(.*)","details"/s;
        $expected = quotemeta($start) . '.*","details":\{\}\}\}\n';

    } else {
        $expected = quotemeta $expected;
    }

    is($answer->{code}, 400, "$name: refused");
    like($answer->{body}, qr/\A$expected\z/, "$name: the message");
}

sub stored {
    my ($id, $answer, $name) = @_;

    push @stored, $id;

    is($answer->{code}, 200, "$name: stored");
    like($answer->{body}, intent($id), "$name: the answer");
}

our $refused = <<'EOT';
an object was expected, not an empty document
    {0 x}

malformed JSON at byte 4: ...
    {x20}{x0d}{x0a}{x09}

malformed JSON at byte 1: parse error: premature EOF
    {

malformed JSON at byte 14: parse error: premature EOF
    {"intentId":"a

malformed JSON at byte 50: parse error: premature EOF
    {"intentId":"a",{T},

malformed JSON at byte 69: parse error: premature EOF
    {"intentId":"a",{T},"payload":{"x":[1,2

malformed JSON at byte 62: parse error: premature EOF
    {"intentId":"a",{T},"payload":{}

malformed JSON at byte 51: parse error: trailing garbage
    {"intentId":"a",{T}}x
    {"intentId":"a",{T}}{x00}

malformed JSON at byte 52: parse error: trailing garbage
    {"intentId":"a",{T}} {"intentId":"b",{T}}

malformed JSON at byte 1: ...
    {xef}{xbb}{xbf}{"intentId":"a",{T}}
    intentId=a&submissionTarget=sms.realtime

duplicate key "intentId" [intentId]
    {"intentId":"a","intentId":"a",{T}}
    {"intentId":"a",{T},"intent\u0049d":"b"}

duplicate key "submissionTarget" [submissionTarget]
    {"intentId":"a",{T},"submissionTarget":"push.bulk"}

duplicate key "payload" [payload]
    {"payload":null,"intentId":"a",{T},"payload":1}

unknown key "priority" [priority]
    {"intentId":"a",{T},"priority":1}

unknown key ""\x" ["\x]
    {"intentId":"a",{T},"\"\\x":1}

unknown key "x{31 ж}" [x{31 ж}]
    {"intentId":"a",{T},"x{100 ж}":1}

unknown key "intentid" [intentid]
    {"intentid":"a",{T}}

"intentId" is missing [intentId]
    {{T},"payload":{}}
    {}

"submissionTarget" is missing [submissionTarget]
    {"intentId":"a"}

"intentId" must be a string [intentId]
    {"intentId":7,{T}}
    {"intentId":null,{T}}
    {"intentId":["a"],{T}}

"submissionTarget" must be a string [submissionTarget]
    {"intentId":"a","submissionTarget":{"name":"sms.realtime"}}
    {"submissionTarget":true,"intentId":"a"}

an object was expected
    [{"intentId":"a",{T}}]
    "a"
    1
    null
    {10000 [}

malformed JSON at byte 2: ...
    {'intentId':'a'}

malformed JSON at byte 51: ...
    {"intentId":"a",{T},}
    {"intentId":"a",{T}}{x0c}

malformed JSON at byte 18: ...
    {"intentId":"a" {T}}
    {"intentId":"a\u00",{T}}

malformed JSON at byte 49: ...
    {"intentId":"a",{T}/* why not */}

malformed JSON at byte 61: ...
    {"intentId":"a",{T},"payload":NaN}
    {"intentId":"a",{T},"payload":01}
    {"intentId":"a",{T},"payload":}

malformed JSON at byte 74: ...
    {"intentId":"a",{T},"payload":{"a":[1,{"b" 2}]}}

malformed JSON at byte 62: ...
    {"intentId":"a",{T},"payload":"\x41"}

"intentId" must not be empty [intentId]
    {"intentId":"",{T}}
    {"intentId":"   ",{T}}
    {"intentId":"","submissionTarget":"sms.nobody"}

"intentId" must not contain control characters [intentId]
    {"intentId":"a\u0000b",{T}}
    {"intentId":"a\u0000",{T}}
    {"intentId":"a\nb",{T}}
    {"intentId":"a\t",{T}}
    {"intentId":"a{x7f}",{T}}
    {"intentId":"\u0085a",{T}}
    {"intentId":"a{xc2}{x9f}",{T}}

malformed JSON at byte 14: ...
    {"intentId":"a{x00}b",{T}}
    {"intentId":"a{x0a}b",{T}}

"intentId" must not be longer than 200 characters [intentId]
    {"intentId":"{201 x}",{T}}
    {"intentId":"{201 ж}",{T}}
    {"intentId":"{201 😀}",{T}}
    {"intentId":"{100000 x}",{T}}

invalid UTF-8 at byte 14
    {"intentId":"a{xff}",{T}}
    {"intentId":"a{xf0}{x9f}{x98}

invalid UTF-8 at byte 36
    {"intentId":"a","submissionTarget":"{xc3}("}

invalid UTF-8 at byte 61
    {"intentId":"a",{T},"payload":"{xc0}{xaf}"}

invalid UTF-8 at byte 63
    {"intentId":"a",{T},"payload":{"k{xed}{xa0}{x80}":1}}

invalid UTF-8 at byte 62
    {"intentId":"a",{T},"payload":["{xf4}{x90}{x80}{x80}"]}

invalid UTF-8 at byte 50
    {"intentId":"a",{T}}{xff}

a string at byte 12 has a lone surrogate [intentId]
    {"intentId":"a\ud83d",{T}}
    {"intentId":"\ude00a",{T}}
    {"intentId":"\ude00\ud83d",{T}}
    {"intentId":"\ud83d\ud83d\ude00",{T}}

a string at byte 35 has a lone surrogate [submissionTarget]
    {"intentId":"a","submissionTarget":"sms\uD83D.realtime"}

nested deeper than 128 levels
    {"intentId":"a",{T},"payload":{128 [}{128 ]}}
    {"intentId":"a",{T},"payload":{128 {"a":}1{129 }}
    {"intentId":"a",{T},"payload":{10000 [}{10000 ]}}
    {"intentId":"a",{T},"payload":{10000 {"a":}1{10001 }}
    {"intentId":"a",{T},"payload":{10000 [}

"submissionTarget" names no target of this manager: "sms.nobody"
[submissionTarget]
    {"intentId":"a","submissionTarget":"sms.nobody"}

"submissionTarget" names no target of this manager: ""
[submissionTarget]
    {"intentId":"a","submissionTarget":""}

"submissionTarget" names no target of this manager: "sms.realtime"
[submissionTarget]
    {"intentId":"a","submissionTarget":"sms.realtime\u0000"}

"submissionTarget" names no target of this manager: "{64 x}"
[submissionTarget]
    {"intentId":"a","submissionTarget":"{100000 x}"}

malformed JSON at byte 17: ...
    {"intentId":"a",{x0b}{T}}

malformed JSON at byte 52: ...
    {"intentId":"a",{T}} "more

"intentId" must not be "." or ".." [intentId]
    {"intentId":".",{T}}
    {"intentId":" .. ",{T}}
EOT

our $good = <<'EOT';
w
    {x0d}{x0a}{x09} {"intentId":"w",{T}} {x09}{x0d}{x0a}{x0a}

{200 x}
    {"intentId":"{200 x}",{T}}

{200 y}
    {"intentId":"   {200 y}   ",{T}}

{200 ж}
    {"intentId":"{200 ж}",{T}}

{200 😀}
    {"intentId":"{200 \ud83d\ude00}",{T}}

a{xc2}{xa0}~
    {"intentId":"a{xc2}{xa0}~",{T}}

...
    {"intentId":"...",{T}}

a
    {"intentId":"a",{T},"payload":["\ud83d\u0000",{"\ude00":"\u0007"}]}

b
    {"intentId":"b",{T},"payload":"\ud83d\u0000"}

c
    {"intentId":"c",{T},"payload":{"intentId":1,"intentId":2}}

d
    {"intentId":"d",{T},"payload":{127 [}{127 ]}}

e
    {"intentId":"e",{T},"payload":{127 {"a":}1{128 }}

f
    {"intentId":"f",{T},"payload":[{flat}]}
EOT

# not where the store leaves JSON's escapes in strings

our $escaped = <<'EOT';
\\ud83d
    {"intentId":"\\ud83d",{T}}
EOT

run_tests();

__DATA__

=== TEST 1: bodies that are refused, and others that are stored
escapes, and keys that are there twice, are the payload's own business: it is
kept as it was sent, and nobody here decodes it
--- client eval
sub {
    check_bodies($main::refused, \&main::refused);
    check_bodies($main::good, \&main::stored);
    check_bodies($main::escaped, \&main::stored)
        if SubmissionTest::store()->escapes;
}



=== TEST 2: content types that are JSON, or none
--- request eval
[map { submit("id-$_", undef, '"text/plain"') } 1 .. 8]
--- more_headers eval
['Content-Type: application/json', 'Content-Type: application/json; charset=utf-8',
 'Content-Type: Application/JSON;charset="utf-8"',
 'Content-Type: application/json ; q=1', 'Content-Type: application/vnd.api+json',
 'Content-Type: application/problem+json; x=y', 'Content-Type: application/JSON',
 '']
--- response_body_like eval
[map { intent("id-$_") } 1 .. 8]



=== TEST 3: content types that are not
--- request eval
[map { submit("id-$_") } 1 .. 12]
--- more_headers eval
[map { "Content-Type: $_" }
     'text/plain', 'application/x-www-form-urlencoded', 'application/jsonx',
     'application/xjson', 'text/json', 'application/octet-stream', 'json',
     'application/xml; x=application/json', 'multipart/form-data; boundary=json',
     'application', 'application/', '*/*']
--- error_code eval
[(415) x 12]
--- response_body eval
[(problem('unsupported_media_type', 'the body must be "application/json" or "application/x-ndjson"')) x 12]
--- response_headers eval
[("Content-Type: application/json") x 12]



=== TEST 4: a wrong content type does not disturb what follows
--- pipelined_requests eval
[submit('a'), submit('b'), 'GET /v1/intents/a', 'GET /v1/intents/b']
--- more_headers eval
['Content-Type: text/plain', 'Content-Type: application/json', '', '']
--- error_code eval
[415, 200, 404, 200]
--- response_body_like eval
[qr/"unsupported_media_type"/, intent('b'), qr/"not_found"/, intent('b')]



=== TEST 5: many bad ones beside many good ones
--- client eval
sub {
    my @bad = (map({ submit('a', 'nobody') } 1 .. 5), submit('\u0000'),
               submit('a', undef, '['), submit('a', undef, "\"\xff\""),
               submit('\ud83d'), submit('x' x 201), submit('a', undef, '1,"x":2'));

    my @socks = map {
        my $i = $_;
        my $body = (split /\n/, $i % 2 ? $bad[$i % @bad] : submit("id-$i"), 2)[1];

        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 1 .. 120;

    is(join(' ', map { http_read($_)->{code} } @socks),
       join(' ', map { $_ % 2 ? 400 : 200 } 1 .. 120), 'each has its own answer');

    is(scalar @{http('GET /v1/intents?limit=500')->{json}{intents}}, 60,
       'the good ones are stored');
}

# What POST /v1/intents refuses: the status, the code, the message and the field
# of each refusal, and that nothing of it is stored.
#
# Every client sends something broken one day; it must learn what, and nobody
# else may notice. So each block sends the bad body, a good one and a look at
# the list over one connection. Breaks when a check is lost, when a message
# names the wrong field or place, when a refused body is stored, or when a
# connection does not survive it.
#
#   --- body      what is sent, without the last line feed
#   --- message   what the answer says; its rest is free when it ends in "..."
#   --- field     details.field
#   --- stored    instead of a message: the body is good, and this is its id

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $T = '"submissionTarget":"sms.realtime"';

add_block_preprocessor(sub {
    my $block = shift;

    defined(my $body = $block->body) or return;
    my $good = submit('good');
    my ($code, $answer, $list);

    chomp $body;

    if (defined $block->message) {
        (my $message = $block->message) =~ s/\n\z//;
        my $free = $message =~ s/\.\.\.\z//;
        (my $field = $block->field || '') =~ s/(\w+)\s*/"field":"$1"/;
        ($field = $block->details) =~ s/\n\z// if defined $block->details;

        $code = 400;
        $answer = problem($message =~ /names no target/ ? 'unknown_target'
                                                        : 'invalid_request',
                          $message, $field);

        if ($free) {
            my ($start) = $answer =~ /^(.*)","details"/s;
            $answer = qr/^\Q$start\E.*","details":\{\}\}\}\n\z/;
        }

        $list = qr/^\{"intents":\[\{"intentId":"good",[^{}]*\}\],"next":null\}/;

    } else {
        (my $id = $block->stored) =~ s/\n\z//;

        $code = 200;
        $answer = intent($id);
        $list = qr/^\{"intents":\[\{[^{}]*\},\{[^{}]*\}\],"next":null\}/;
    }

    $block->set_value('pipelined_requests',
                      ["POST /v1/intents\n$body", $good, 'GET /v1/intents']);
    $block->set_value('more_headers',
                      ['Content-Length: ' . length $body,
                       'Content-Length: ' . length(($good =~ /\n(.*)/s)[0]),
                       '']);
    $block->set_value('error_code', [$code, 200, 200]);
    $block->set_value('response_body', [$answer, intent('good'), $list]);
    $block->set_value('response_headers',
                      [("Content-Type: application/json\n! Retry-After") x 3]);
});

run_tests();

__DATA__

=== TEST 1: an empty body
--- body eval
''
--- message
an object was expected, not an empty document



=== TEST 2: a body of white space
--- body eval
" \r\n\t"
--- message
malformed JSON at byte 4: ...



=== TEST 3: an object that ends after its brace
--- body
{
--- message
malformed JSON at byte 1: parse error: premature EOF



=== TEST 4: an object that ends in a string
--- body
{"intentId":"a
--- message
malformed JSON at byte 14: parse error: premature EOF



=== TEST 5: an object that ends after a comma
--- body
{"intentId":"a","submissionTarget":"sms.realtime",
--- message
malformed JSON at byte 50: parse error: premature EOF



=== TEST 6: an object that ends in the payload
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":{"x":[1,2
--- message
malformed JSON at byte 69: parse error: premature EOF



=== TEST 7: an object that lacks its last brace
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":{}
--- message
malformed JSON at byte 62: parse error: premature EOF



=== TEST 8: a byte after the object
--- body
{"intentId":"a","submissionTarget":"sms.realtime"}x
--- message
malformed JSON at byte 51: parse error: trailing garbage



=== TEST 9: another object after the object
--- body
{"intentId":"a","submissionTarget":"sms.realtime"} {"intentId":"b","submissionTarget":"sms.realtime"}
--- message
malformed JSON at byte 52: parse error: trailing garbage



=== TEST 10: a NUL after the object
--- body eval
"{\"intentId\":\"a\",$T}\0"
--- message
malformed JSON at byte 51: parse error: trailing garbage



=== TEST 11: white space around the object is fine
--- body eval
"\r\n\t {\"intentId\":\"a\",$T} \t\r\n\n"
--- stored
a



=== TEST 12: a byte order mark
--- body eval
"\xef\xbb\xbf{\"intentId\":\"a\",$T}"
--- message
malformed JSON at byte 1: ...



=== TEST 13: intentId twice
--- body
{"intentId":"a","intentId":"a","submissionTarget":"sms.realtime"}
--- message
duplicate key "intentId"
--- field
intentId



=== TEST 14: intentId twice, once with an escape
--- body
{"intentId":"a","submissionTarget":"sms.realtime","intent\u0049d":"b"}
--- message
duplicate key "intentId"
--- field
intentId



=== TEST 15: submissionTarget twice
--- body
{"intentId":"a","submissionTarget":"sms.realtime","submissionTarget":"push.bulk"}
--- message
duplicate key "submissionTarget"
--- field
submissionTarget



=== TEST 16: payload twice
--- body
{"payload":null,"intentId":"a","submissionTarget":"sms.realtime","payload":1}
--- message
duplicate key "payload"
--- field
payload



=== TEST 17: an unknown key
--- body
{"intentId":"a","submissionTarget":"sms.realtime","priority":1}
--- message
unknown key "priority"
--- field
priority



=== TEST 18: an unknown key with bytes that JSON escapes
--- body
{"intentId":"a","submissionTarget":"sms.realtime","\"\\x":1}
--- message
unknown key ""\x"
--- details
"field":"\"\\x"



=== TEST 19: an unknown key is clipped between characters
--- body eval
"{\"intentId\":\"a\",$T,\"x" . 'ж' x 100 . '":1}'
--- message eval
'unknown key "x' . 'ж' x 31 . '"'
--- details eval
'"field":"x' . 'ж' x 31 . '"'



=== TEST 20: keys are not found by case or spaces
--- body
{"intentid":"a","submissionTarget":"sms.realtime"}
--- message
unknown key "intentid"
--- field
intentid



=== TEST 21: no intentId
--- body
{"submissionTarget":"sms.realtime","payload":{}}
--- message
"intentId" is missing
--- field
intentId



=== TEST 22: no submissionTarget
--- body
{"intentId":"a"}
--- message
"submissionTarget" is missing
--- field
submissionTarget



=== TEST 23: an empty object
--- body
{}
--- message
"intentId" is missing
--- field
intentId



=== TEST 24: intentId is a number
--- body
{"intentId":7,"submissionTarget":"sms.realtime"}
--- message
"intentId" must be a string
--- field
intentId



=== TEST 25: intentId is null
--- body
{"intentId":null,"submissionTarget":"sms.realtime"}
--- message
"intentId" must be a string
--- field
intentId



=== TEST 26: intentId is an array
--- body
{"intentId":["a"],"submissionTarget":"sms.realtime"}
--- message
"intentId" must be a string
--- field
intentId



=== TEST 27: submissionTarget is an object
--- body
{"intentId":"a","submissionTarget":{"name":"sms.realtime"}}
--- message
"submissionTarget" must be a string
--- field
submissionTarget



=== TEST 28: submissionTarget is a boolean
--- body
{"submissionTarget":true,"intentId":"a"}
--- message
"submissionTarget" must be a string
--- field
submissionTarget



=== TEST 29: an array
--- body
[{"intentId":"a","submissionTarget":"sms.realtime"}]
--- message
an object was expected



=== TEST 30: a string
--- body
"a"
--- message
an object was expected



=== TEST 31: a number
--- body
1
--- message
an object was expected



=== TEST 32: null
--- body
null
--- message
an object was expected



=== TEST 33: no JSON at all
--- body
intentId=a&submissionTarget=sms.realtime
--- message
malformed JSON at byte 1: ...



=== TEST 34: single quotes
--- body
{'intentId':'a'}
--- message
malformed JSON at byte 2: ...



=== TEST 35: a comma too many
--- body
{"intentId":"a","submissionTarget":"sms.realtime",}
--- message
malformed JSON at byte 51: ...



=== TEST 36: a comma too few
--- body
{"intentId":"a" "submissionTarget":"sms.realtime"}
--- message
malformed JSON at byte 18: ...



=== TEST 37: a comment
--- body
{"intentId":"a","submissionTarget":"sms.realtime"/* why not */}
--- message
malformed JSON at byte 49: ...



=== TEST 38: NaN as payload
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":NaN}
--- message
malformed JSON at byte 61: ...



=== TEST 39: a number with a leading zero as payload
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":01}
--- message
malformed JSON at byte 61: ...



=== TEST 40: a payload that is missing after its colon
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":}
--- message
malformed JSON at byte 61: ...



=== TEST 41: a malformed payload, deep inside
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":{"a":[1,{"b" 2}]}}
--- message
malformed JSON at byte 74: ...



=== TEST 42: a bad escape in the payload
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":"\x41"}
--- message
malformed JSON at byte 62: ...



=== TEST 43: an escape that is cut short
--- body
{"intentId":"a\u00","submissionTarget":"sms.realtime"}
--- message
malformed JSON at byte 18: ...



=== TEST 44: an empty id
--- body
{"intentId":"","submissionTarget":"sms.realtime"}
--- message
"intentId" must not be empty
--- field
intentId



=== TEST 45: an id of spaces
--- body
{"intentId":"   ","submissionTarget":"sms.realtime"}
--- message
"intentId" must not be empty
--- field
intentId



=== TEST 46: a NUL in an id, escaped
--- body
{"intentId":"a\u0000b","submissionTarget":"sms.realtime"}
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 47: a NUL in an id, raw
--- body eval
"{\"intentId\":\"a\0b\",$T}"
--- message
malformed JSON at byte 14: ...



=== TEST 48: a NUL at the end of an id
--- body
{"intentId":"a\u0000","submissionTarget":"sms.realtime"}
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 49: a line feed in an id, escaped
--- body
{"intentId":"a\nb","submissionTarget":"sms.realtime"}
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 50: a line feed in an id, raw
--- body eval
"{\"intentId\":\"a\nb\",$T}"
--- message
malformed JSON at byte 14: ...



=== TEST 51: a tab at the end of an id
--- body
{"intentId":"a\t","submissionTarget":"sms.realtime"}
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 52: DEL in an id
--- body eval
"{\"intentId\":\"a\x7f\",$T}"
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 53: a C1 control in an id, escaped
--- body
{"intentId":"\u0085a","submissionTarget":"sms.realtime"}
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 54: a C1 control in an id, raw
--- body eval
"{\"intentId\":\"a\xc2\x9f\",$T}"
--- message
"intentId" must not contain control characters
--- field
intentId



=== TEST 55: what is next to the C1 controls is fine
--- body eval
"{\"intentId\":\"a\xc2\xa0~\",$T}"
--- stored eval
"a\xc2\xa0~"



=== TEST 56: 200 characters
--- body eval
'{"intentId":"' . 'x' x 200 . "\",$T}"
--- stored eval
'x' x 200



=== TEST 57: 201 characters
--- body eval
'{"intentId":"' . 'x' x 201 . "\",$T}"
--- message
"intentId" must not be longer than 200 characters
--- field
intentId



=== TEST 58: 200 characters of two bytes
--- body eval
'{"intentId":"' . 'ж' x 200 . "\",$T}"
--- stored eval
'ж' x 200



=== TEST 59: 201 characters of two bytes
--- body eval
'{"intentId":"' . 'ж' x 201 . "\",$T}"
--- message
"intentId" must not be longer than 200 characters
--- field
intentId



=== TEST 60: 200 characters of four bytes, by surrogate pairs
--- body eval
'{"intentId":"' . '\ud83d\ude00' x 200 . "\",$T}"
--- stored eval
'😀' x 200



=== TEST 61: 201 characters of four bytes
--- body eval
'{"intentId":"' . '😀' x 201 . "\",$T}"
--- message
"intentId" must not be longer than 200 characters
--- field
intentId



=== TEST 62: spaces around 200 characters do not count
--- body eval
'{"intentId":"   ' . 'x' x 200 . "   \",$T}"
--- stored eval
'x' x 200



=== TEST 63: an id of 100,000 characters
--- body eval
'{"intentId":"' . 'x' x 100000 . "\",$T}"
--- message
"intentId" must not be longer than 200 characters
--- field
intentId



=== TEST 64: invalid UTF-8 in an id
--- body eval
"{\"intentId\":\"a\xff\",$T}"
--- message
invalid UTF-8 at byte 14



=== TEST 65: invalid UTF-8 in a target
--- body eval
"{\"intentId\":\"a\",\"submissionTarget\":\"\xc3(\"}"
--- message
invalid UTF-8 at byte 36



=== TEST 66: an overlong form in the payload
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":\"\xc0\xaf\"}"
--- message
invalid UTF-8 at byte 61



=== TEST 67: a surrogate as UTF-8, deep in the payload
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":{\"k\xed\xa0\x80\":1}}"
--- message
invalid UTF-8 at byte 63



=== TEST 68: beyond the last character of Unicode
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":[\"\xf4\x90\x80\x80\"]}"
--- message
invalid UTF-8 at byte 62



=== TEST 69: a character that is cut off by the end of the body
--- body eval
"{\"intentId\":\"a\xf0\x9f\x98"
--- message
invalid UTF-8 at byte 14



=== TEST 70: invalid UTF-8 after the object
--- body eval
"{\"intentId\":\"a\",$T}\xff"
--- message
invalid UTF-8 at byte 50



=== TEST 71: a high surrogate alone in an id
--- body
{"intentId":"a\ud83d","submissionTarget":"sms.realtime"}
--- message
a string at byte 12 has a lone surrogate
--- field
intentId



=== TEST 72: a low surrogate alone in an id
--- body
{"intentId":"\ude00a","submissionTarget":"sms.realtime"}
--- message
a string at byte 12 has a lone surrogate
--- field
intentId



=== TEST 73: surrogates in the wrong order
--- body
{"intentId":"\ude00\ud83d","submissionTarget":"sms.realtime"}
--- message
a string at byte 12 has a lone surrogate
--- field
intentId



=== TEST 74: two high surrogates
--- body
{"intentId":"\ud83d\ud83d\ude00","submissionTarget":"sms.realtime"}
--- message
a string at byte 12 has a lone surrogate
--- field
intentId



=== TEST 75: a lone surrogate in a target
--- body
{"intentId":"a","submissionTarget":"sms\uD83D.realtime"}
--- message
a string at byte 35 has a lone surrogate
--- field
submissionTarget



=== TEST 76: an escaped backslash is no surrogate
--- body
{"intentId":"\\ud83d","submissionTarget":"sms.realtime"}
--- stored
\\ud83d



=== TEST 77: escapes in a payload are the payload's own business
it is kept as it was sent, and nobody here decodes it
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":["\ud83d\u0000",{"\ude00":"\u0007"}]}
--- stored
a



=== TEST 78: so they are in a payload that is nothing but a string
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":"\ud83d\u0000"}
--- stored
a



=== TEST 79: a repeated key in a payload is the payload's own business
--- body
{"intentId":"a","submissionTarget":"sms.realtime","payload":{"intentId":1,"intentId":2}}
--- stored
a



=== TEST 80: arrays, just not too deep
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '[' x 127 . ']' x 127 . '}'
--- stored
a



=== TEST 81: arrays, one too deep
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '[' x 128 . ']' x 128 . '}'
--- message
nested deeper than 128 levels



=== TEST 82: objects, just not too deep
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '{"a":' x 127 . '1' . '}' x 127 . '}'
--- stored
a



=== TEST 83: objects, one too deep
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '{"a":' x 128 . '1' . '}' x 128 . '}'
--- message
nested deeper than 128 levels



=== TEST 84: 10,000 arrays
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '[' x 10000 . ']' x 10000 . '}'
--- message
nested deeper than 128 levels



=== TEST 85: 10,000 objects
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '{"a":' x 10000 . '1' . '}' x 10000 . '}'
--- message
nested deeper than 128 levels



=== TEST 86: 10,000 brackets that are never closed
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":" . '[' x 10000
--- message
nested deeper than 128 levels



=== TEST 87: 10,000 brackets from the start
--- body eval
'[' x 10000
--- message
an object was expected



=== TEST 88: much beside each other is not deep
--- body eval
"{\"intentId\":\"a\",$T,\"payload\":[" . join(',', ('[{}]') x 20000) . ']}'
--- stored
a



=== TEST 89: an unknown target
--- body
{"intentId":"a","submissionTarget":"sms.nobody"}
--- message
"submissionTarget" names no target of this manager: "sms.nobody"
--- field
submissionTarget



=== TEST 90: an empty target
--- body
{"intentId":"a","submissionTarget":""}
--- message
"submissionTarget" names no target of this manager: ""
--- field
submissionTarget



=== TEST 91: a target with a NUL after its name
--- body
{"intentId":"a","submissionTarget":"sms.realtime\u0000"}
--- message
"submissionTarget" names no target of this manager: "sms.realtime"
--- field
submissionTarget



=== TEST 92: a target of 100,000 characters
--- body eval
'{"intentId":"a","submissionTarget":"' . 'x' x 100000 . '"}'
--- message
"submissionTarget" names no target of this manager: "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
--- field
submissionTarget



=== TEST 93: the id is checked before the target
--- body
{"intentId":"","submissionTarget":"sms.nobody"}
--- message
"intentId" must not be empty
--- field
intentId



=== TEST 94: content types that are JSON, or none
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



=== TEST 95: content types that are not
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



=== TEST 96: a wrong content type does not disturb what follows
--- pipelined_requests eval
[submit('a'), submit('b'), 'GET /v1/intents/a', 'GET /v1/intents/b']
--- more_headers eval
['Content-Type: text/plain', 'Content-Type: application/json', '', '']
--- error_code eval
[415, 200, 404, 200]
--- response_body_like eval
[qr/"unsupported_media_type"/, intent('b'), qr/"not_found"/, intent('b')]



=== TEST 97: many bad ones beside many good ones
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



=== TEST 98: a vertical tab is not white space
--- body eval
"{\"intentId\":\"a\",\x0b$T}"
--- message
malformed JSON at byte 17: ...



=== TEST 99: nor is a form feed, after the object
--- body eval
"{\"intentId\":\"a\",$T}\x0c"
--- message
malformed JSON at byte 51: ...



=== TEST 100: a string that begins after the object
--- body
{"intentId":"a","submissionTarget":"sms.realtime"} "more
--- message
malformed JSON at byte 52: ...



=== TEST 101: an id that is gone from a path
--- body
{"intentId":".","submissionTarget":"sms.realtime"}
--- message
"intentId" must not be "." or ".."
--- field
intentId



=== TEST 102: another one
--- body
{"intentId":" .. ","submissionTarget":"sms.realtime"}
--- message
"intentId" must not be "." or ".."
--- field
intentId



=== TEST 103: no such id
--- body
{"intentId":"...","submissionTarget":"sms.realtime"}
--- stored
...

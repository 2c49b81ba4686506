# POST /v1/intents: an intent is created once, and a duplicate gets it back.
#
# Clients retry without knowing whether their first try arrived, so the same id
# must never make a second intent, and never silently stand for other work:
# what is compared is the target and the payload's bytes. Breaks when ids or
# payloads are normalized on one side only, when a batch mixes up its rows, or
# when managers see each other's intents.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

sub conflict {
    my ($what, $existing, $incoming) = @_;

    return problem('idempotency_conflict',
                   "the intent exists with another $what",
                   "\"existingTarget\":\"$existing\","
                   . "\"incomingTarget\":\"$incoming\"");
}

our $other_payload = conflict('payload', 'sms.realtime', 'sms.realtime');

run_tests();

__DATA__

=== TEST 1: create
--- request eval
submit('a', 'sms.realtime', '{"to":"+4912345","text":"hello"}')
--- response_body_like eval
intent('a')
--- response_headers
Content-Type: application/json
! Idempotent-Replayed



=== TEST 2: replay
--- request eval
[submit('a', 'push.bulk', '{"n":1}'), submit('a', 'push.bulk', '{"n":1}'),
 submit('a', 'push.bulk', '{"n":1}')]
--- response_body_like eval
[(intent('a', 'push.bulk')) x 3]
--- response_headers eval
["! Idempotent-Replayed", ("Idempotent-Replayed: true") x 2]



=== TEST 3: a duplicate is the stored intent, byte for byte
--- client eval
sub {
    my ($first, $second) = map { http(submit('a', 'http.once', '[1]')) } 1 .. 2;

    is($second->{body}, $first->{body}, 'the same body');
    is(sql('SELECT count(*) FROM submission_intents'), 1, 'one row');
}



=== TEST 4: another target is a conflict
--- request eval
[submit('a', 'sms.realtime', '{}'), submit('a', 'push.bulk', '{}'),
 submit('a', 'sms.realtime', '{}')]
--- error_code eval
[200, 409, 200]
--- response_body eval
[intent('a'), conflict('target', 'sms.realtime', 'push.bulk'), intent('a')]
--- response_headers eval
["! Idempotent-Replayed",
 "Content-Type: application/json\n! Idempotent-Replayed",
 "Idempotent-Replayed: true"]



=== TEST 5: another payload is a conflict
--- request eval
[submit('a', undef, '{"n":1}'), submit('a', undef, '{"n":2}'), "GET /v1/intents/a"]
--- error_code eval
[200, 409, 200]
--- response_body eval
[intent('a'), $other_payload, intent('a')]
--- response_headers eval
["! Idempotent-Replayed", "! Idempotent-Replayed", "! Idempotent-Replayed"]



=== TEST 6: another target and another payload
--- request eval
[submit('a', 'http.once', '1'), submit('a', 'push.bulk', '2')]
--- error_code eval
[200, 409]
--- response_body eval
[intent('a', 'http.once'), conflict('target', 'http.once', 'push.bulk')]



=== TEST 7: no payload, null, and what is empty are all different
--- request eval
my @payloads = (undef, 'null', '{}', '[]', '""', '0', 'false');
[map { my $id = $_; map { submit($id, undef, $_) } @payloads } 0]
--- error_code eval
[200, (409) x 6]
--- response_body eval
[intent('0'), ($other_payload) x 6]



=== TEST 8: each of them is its own replay
--- request eval
my @payloads = (undef, 'null', '{}', '[]', '""', '0', 'false');
[map { my $n = $_; (submit("id-$n", undef, $payloads[$n])) x 2 } 0 .. 6]
--- response_headers eval
[("! Idempotent-Replayed", "Idempotent-Replayed: true") x 7]



=== TEST 9: payloads are compared byte for byte, not by meaning
--- request eval
[map { submit('a', undef, $_) }
     '{"n":1,"s":"A/"}', '{"n": 1,"s":"A/"}', '{ "n":1,"s":"A/"}',
     '{"n":1.0,"s":"A/"}', '{"n":1e0,"s":"A/"}', '{"n":1,"s":"\u0041/"}',
     '{"n":1,"s":"A\/"}', '{"s":"A/","n":1}', '{"n":1,"s":"A/","n":1}',
     '{"n":1,"s":"A/"}']
--- error_code eval
[200, (409) x 8, 200]
--- response_body eval
[intent('a'), ($other_payload) x 8, intent('a')]



=== TEST 10: numbers that no double can hold are kept apart
--- request eval
[map { submit('a', undef, $_) }
     '9007199254740993', '9007199254740992', '9007199254740993.0',
     '1E400', '9007199254740993']
--- error_code eval
[200, 409, 409, 409, 200]
--- response_body eval
[intent('a'), ($other_payload) x 3, intent('a')]



=== TEST 11: what stands around the payload does not count
--- request eval
["POST /v1/intents\n"
 . '{"intentId":"a","submissionTarget":"sms.realtime","payload":{"n":1}}',
 "POST /v1/intents\n"
 . "{ \"payload\"\t:\r\n {\"n\":1}\n ,\n\"submissionTarget\" : "
 . "\"sms.\\u0072ealtime\" , \"intent\\u0049d\":\"\\u0061\" }"]
--- response_body_like eval
[(intent('a')) x 2]
--- response_headers eval
["! Idempotent-Replayed", "Idempotent-Replayed: true"]



=== TEST 12: spaces around an id are not part of it
--- request eval
[submit('  order 7 '), submit('order 7'), 'GET /v1/intents/order%207',
 submit('order  7')]
--- response_body_like eval
[(intent('order 7')) x 3, intent('order  7')]
--- response_headers eval
["! Idempotent-Replayed", "Idempotent-Replayed: true",
 "! Idempotent-Replayed", "! Idempotent-Replayed"]



=== TEST 13: ids are compared byte for byte
case, a no-break space, and the two ways to write an accent all tell ids apart
--- request eval
[map { submit($_) } 'a', 'A', "a\xc2\xa0", "\xc3\xa4", "a\xcc\x88", 'a.', '0',
                    '00', '0.0', 'null', '%61', 'a%20']
--- response_headers eval
[("! Idempotent-Replayed") x 12]
--- client eval
sub {
    is(sql('SELECT count(*) FROM submission_intents'), 12, 'twelve rows');
}



=== TEST 14: ids of any script, as they are or escaped
--- request eval
[submit('ключ-漢字-😀'),
 submit('\u043a\u043b\u044e\u0447-\u6F22\u5b57-\ud83D\uDE00'),
 'GET /v1/intents/%D0%BA%D0%BB%D1%8E%D1%87-%E6%BC%A2%E5%AD%97-%F0%9F%98%80']
--- response_body_like eval
[(intent('ключ-漢字-😀')) x 3]
--- response_headers eval
["! Idempotent-Replayed", "Idempotent-Replayed: true", "! Idempotent-Replayed"]



=== TEST 15: an id that looks like SQL
--- request eval
[submit("x'); DROP TABLE submission_intents; --"), submit('%'), submit('_'),
 'GET /v1/intents/%25', 'GET /v1/intents/z']
--- error_code eval
[200, 200, 200, 200, 404]
--- response_body_like eval
[intent("x'); DROP TABLE submission_intents; --"), intent('%'), intent('_'),
 intent('%'), qr/"not_found"/]



=== TEST 16: two managers are two namespaces
--- other
        store sqlite data/other.db;
--- request eval
[submit('a', 'sms.realtime', '1'),
 submit('a', 't', '2') =~ s/v1/other/r,
 submit('a', 'sms.realtime', '1'),
 submit('b', 't', '2'),
 submit('b', 'sms.realtime', '2') =~ s/v1/other/r,
 'GET /v1/intents/a', 'GET /other/intents/a']
--- error_code eval
[200, 200, 200, 400, 400, 200, 200]
--- response_body_like eval
[intent('a'), intent('a', 't'), intent('a'), qr/names no target/,
 qr/names no target/, intent('a'), intent('a', 't')]
--- response_headers eval
["! Idempotent-Replayed", "! Idempotent-Replayed", "Idempotent-Replayed: true",
 ("! Idempotent-Replayed") x 4]



=== TEST 17: two managers on one database are two namespaces, too
--- other
        store $TEST_NGINX_STORE;
        lease_name other;

        target sms.realtime {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- request eval
[submit('a', 'sms.realtime', '1'),
 submit('a', 'sms.realtime', '2') =~ s/v1/other/r,
 submit('b', 'sms.realtime', '2') =~ s/v1/other/r,
 'GET /v1/intents/b', 'GET /v1/intents/b/history', 'GET /v1/intents',
 'GET /other/intents', 'GET /v1/intents?target=sms.realtime']
--- error_code eval
[200, 200, 200, 404, 404, 200, 200, 200]
--- response_body_like eval
[intent('a'), intent('a'), intent('b'), qr/"not_found"/, qr/"not_found"/,
 qr/^\{"intents":\[\{"intentId":"a",[^{}]*\}\],"next":null\}\n\z/,
 qr/^\{"intents":\[(\{"intentId":"[ab]",[^{}]*\},?){2}\],"next":null\}\n\z/,
 qr/^\{"intents":\[\{"intentId":"a",[^{}]*\}\],"next":null\}\n\z/]
--- response_headers eval
[("! Idempotent-Replayed") x 8]



=== TEST 18: rows of one batch do not mix up
what waits while nobody may write goes into one batch
--- client eval
sub {
    my $release = hold_writes();

    my @socks = map {
        my $body = sprintf '{"intentId":"id-%d","submissionTarget":"%s",'
                           . '"payload":"%s"}',
                           $_ % 20, $_ % 2 ? 'push.bulk' : 'sms.realtime',
                           'x' x ($_ % 20);

        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 0 .. 59;

    http('GET /v1/intents');

    $release->();

    my @answers = map { http_read($_) } @socks;

    is(join(' ', map { $_->{code} } @answers), join(' ', (200) x 60),
         'all are answered');
    is(scalar(grep { $_->{headers}{'idempotent-replayed'} } @answers), 40,
         'each is created once');
    is(join(' ', map { $_->{json}{intentId} } @answers),
         join(' ', map { 'id-' . $_ % 20 } 0 .. 59),
         'each has its own answer');
    is(join(' ', map { $_->{json}{submissionTarget} } @answers),
         join(' ', map { $_ % 2 ? 'push.bulk' : 'sms.realtime' } 0 .. 59),
         'with its own target');
    is(sql("SELECT group_concat(length(payload), ' ') FROM (SELECT payload "
             . 'FROM submission_intents ORDER BY length(payload)) AS p'),
         join(' ', map { $_ + 2 } 0 .. 19),
         'and its own payload');
}



=== TEST 19: quotes and backslashes in an id, as they are or escaped
--- only: escapes the store leaves JSON's escapes in strings
--- request eval
[submit('\\"q\\"-\\\\'), submit('\u0022q\u0022-\u005c'),
 'GET /v1/intents/%22q%22-%5C']
--- response_body_like eval
[(intent('\\"q\\"-\\\\')) x 3]
--- response_headers eval
["! Idempotent-Replayed", "Idempotent-Replayed: true", "! Idempotent-Replayed"]



=== TEST 20: preconditions of HTTP do not turn a stored intent into a 304 or 412
--- request eval
[submit('a'), submit('b'), submit('c'), 'GET /v1/intents/a']
--- more_headers eval
['If-None-Match: *', 'If-Match: "x"',
 'If-Unmodified-Since: Thu, 01 Jan 1970 00:00:01 GMT', 'If-None-Match: *']
--- response_body_like eval
[intent('a'), intent('b'), intent('c'), intent('a')]

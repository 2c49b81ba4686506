# The target block: what nginx refuses to start with.
#
# A contract is copied onto every intent that is accepted under it and never
# looked up again, so a wrong one must not get that far. There is a block for
# each message, and for each directive one for every way in which its value can
# be wrong. Breaks when a check or a line number is lost.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: no name
--- manager
        target { # here
        }
--- refused
invalid number of arguments in "target" directive



=== TEST 2: no block
--- manager
        target x; # here
--- refused
directive "target" has no opening "{"



=== TEST 3: an empty name
--- manager
        target "" {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        } # here
--- refused
target "": the target's name must not be empty



=== TEST 4: a name that is too long
--- manager
        target xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        } # here
--- refused
target "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx": the target's name must not be longer than 128 characters



=== TEST 5: a name that is too long, of two bytes a character
--- manager
        target жжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжж {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        } # here
--- refused
target "жжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжжж": the target's name must not be longer than 128 characters



=== TEST 6: a name with a space
--- manager
        target "a b" {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        } # here
--- refused
target "a b": the target's name must not contain spaces or control characters



=== TEST 7: a name with a control character
--- manager
        target "a" {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        } # here
--- refused
target "a": the target's name must not contain spaces or control characters



=== TEST 8: a name that is not UTF-8
--- manager eval
"        target \xff {\n"
. "            gateway_type sms; gateway_url http://127.0.0.1:1; policy one_shot;\n"
. "        } # here\n"
--- refused eval
"target \"\xff\": the target's name must be valid UTF-8"



=== TEST 9: a name twice
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
        target x { # here
        }
--- refused
duplicate target "x"



=== TEST 10: an unknown parameter
--- manager
        target x limit=4 { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid parameter "limit=4" in "target": "concurrency=", "rate=" or "burst=" was expected



=== TEST 11: a second name
--- manager
        target x y { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid parameter "y" in "target": "concurrency=", "rate=" or "burst=" was expected



=== TEST 12: concurrency twice
--- manager
        target x concurrency=4 concurrency=4 { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
duplicate parameter "concurrency" in "target"



=== TEST 13: concurrency: zero
--- manager
        target x concurrency=0 { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "0" of parameter "concurrency" in "target": a number between 1 and 65535 was expected



=== TEST 14: concurrency: too many
--- manager
        target x concurrency=65536 { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "65536" of parameter "concurrency" in "target": a number between 1 and 65535 was expected



=== TEST 15: concurrency: empty
--- manager
        target x concurrency= { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "" of parameter "concurrency" in "target": a number between 1 and 65535 was expected



=== TEST 16: concurrency: no number
--- manager
        target x concurrency=many { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "many" of parameter "concurrency" in "target": a number between 1 and 65535 was expected



=== TEST 17: concurrency: absurd
--- manager
        target x concurrency=99999999999999999999 { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "99999999999999999999" of parameter "concurrency" in "target": a number between 1 and 65535 was expected



=== TEST 18: concurrency: negative
--- manager
        target x concurrency=-1 { # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "-1" of parameter "concurrency" in "target": a number between 1 and 65535 was expected



=== TEST 19: no gateway_type
--- manager
        target x {
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        } # here
--- refused
target "x": no gateway type is given: "sms", "push" or "http" was expected



=== TEST 20: gateway_type: unknown
--- manager
        target x {
            gateway_type mail; # here
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "mail" of "gateway_type": "sms", "push" or "http" was expected



=== TEST 21: gateway_type: other case
--- manager
        target x {
            gateway_type SMS; # here
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "SMS" of "gateway_type": "sms", "push" or "http" was expected



=== TEST 22: gateway_type: empty
--- manager
        target x {
            gateway_type ""; # here
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "" of "gateway_type": "sms", "push" or "http" was expected



=== TEST 23: gateway_type twice
--- manager
        target x {
            gateway_type sms;
            gateway_type sms; # here
        }
--- refused
"gateway_type" directive is duplicate



=== TEST 24: gateway_type: no argument
--- manager
        target x {
            gateway_type; # here
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid number of arguments in "gateway_type" directive



=== TEST 25: gateway_type: two
--- manager
        target x {
            gateway_type sms push; # here
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid number of arguments in "gateway_type" directive



=== TEST 26: no gateway_url
--- manager
        target x {
            gateway_type sms;
            policy one_shot;
        } # here
--- refused
target "x": the gateway URL must be "http://host..." or "https://host..."



=== TEST 27: gateway_url: empty
--- manager
        target x {
            gateway_url ""; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "" of "gateway_url": it must be "http://host..." or "https://host..."



=== TEST 28: gateway_url: no scheme
--- manager
        target x {
            gateway_url gateway:9090; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "gateway:9090" of "gateway_url": it must be "http://host..." or "https://host..."



=== TEST 29: gateway_url: another scheme
--- manager
        target x {
            gateway_url ftp://gateway; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "ftp://gateway" of "gateway_url": it must be "http://host..." or "https://host..."



=== TEST 30: gateway_url: other case
--- manager
        target x {
            gateway_url HTTP://gateway; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "HTTP://gateway" of "gateway_url": it must be "http://host..." or "https://host..."



=== TEST 31: gateway_url: a scheme alone
--- manager
        target x {
            gateway_url http://; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://" of "gateway_url": it must be "http://host..." or "https://host..."



=== TEST 32: gateway_url: a scheme alone, with TLS
--- manager
        target x {
            gateway_url https://; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "https://" of "gateway_url": it must be "http://host..." or "https://host..."



=== TEST 33: gateway_url: no host
--- manager
        target x {
            gateway_url http:///sms; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http:///sms" of "gateway_url": it must name a host



=== TEST 34: gateway_url: a port alone
--- manager
        target x {
            gateway_url http://:9090; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://:9090" of "gateway_url": it must name a host



=== TEST 35: gateway_url: a query
--- manager
        target x {
            gateway_url http://gateway/sms?key=1; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://gateway/sms?key=1" of "gateway_url": it must be of plain URL characters, without query or fragment



=== TEST 36: gateway_url: a fragment
--- manager
        target x {
            gateway_url "http://gateway/#a"; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://gateway/#a" of "gateway_url": it must be of plain URL characters, without query or fragment



=== TEST 37: gateway_url: a variable
--- manager
        target x {
            gateway_url http://$gateway; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://$gateway" of "gateway_url": it must be of plain URL characters, without query or fragment



=== TEST 38: gateway_url: a space
--- manager
        target x {
            gateway_url "http://gate way"; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://gate way" of "gateway_url": it must be of plain URL characters, without query or fragment



=== TEST 39: gateway_url: not ASCII
--- manager
        target x {
            gateway_url http://gäteway; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://gäteway" of "gateway_url": it must be of plain URL characters, without query or fragment



=== TEST 40: gateway_url: braces
--- manager
        target x {
            gateway_url "http://gateway/{id}"; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://gateway/{id}" of "gateway_url": it must be of plain URL characters, without query or fragment



=== TEST 41: gateway_url: too long
--- manager
        target x {
            gateway_url http://xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid value "http://{any}" of "gateway_url": it must not be longer than 1024 bytes



=== TEST 42: gateway_url twice
--- manager
        target x {
            gateway_url http://gateway;
            gateway_url http://gateway; # here
        }
--- refused
"gateway_url" directive is duplicate



=== TEST 43: gateway_url: no argument
--- manager
        target x {
            gateway_url; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid number of arguments in "gateway_url" directive



=== TEST 44: gateway_url: two
--- manager
        target x {
            gateway_url http://a http://b; # here
            gateway_type sms;
            policy one_shot;
        }
--- refused
invalid number of arguments in "gateway_url" directive



=== TEST 45: no policy
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        } # here
--- refused
target "x": no policy is given: "deadline", "max_attempts" or "one_shot" was expected



=== TEST 46: policy: unknown
--- manager
        target x {
            policy forever; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
unknown policy "forever": "deadline", "max_attempts" or "one_shot" was expected



=== TEST 47: policy: other case
--- manager
        target x {
            policy One_Shot; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
unknown policy "One_Shot": "deadline", "max_attempts" or "one_shot" was expected



=== TEST 48: policy: empty
--- manager
        target x {
            policy ""; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
unknown policy "": "deadline", "max_attempts" or "one_shot" was expected



=== TEST 49: policy deadline: no time
--- manager
        target x {
            policy deadline; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 50: policy deadline: zero
--- manager
        target x {
            policy deadline 0; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 51: policy deadline: a part of a second
--- manager
        target x {
            policy deadline 500ms; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 52: policy deadline: too long
--- manager
        target x {
            policy deadline 31536001s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 53: policy deadline: no time at all
--- manager
        target x {
            policy deadline soon; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 54: policy deadline: absurd
--- manager
        target x {
            policy deadline 99999999999999999999d; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 55: policy deadline: negative
--- manager
        target x {
            policy deadline -1s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 56: policy deadline: two times
--- manager
        target x {
            policy deadline 30s 40s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 57: policy deadline: empty
--- manager
        target x {
            policy deadline ""; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy deadline" takes one argument, a time of whole seconds between 1s and 365d



=== TEST 58: policy max_attempts: no number
--- manager
        target x {
            policy max_attempts; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 59: policy max_attempts: zero
--- manager
        target x {
            policy max_attempts 0; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 60: policy max_attempts: too many
--- manager
        target x {
            policy max_attempts 1000001; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 61: policy max_attempts: no number at all
--- manager
        target x {
            policy max_attempts some; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 62: policy max_attempts: absurd
--- manager
        target x {
            policy max_attempts 99999999999999999999; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 63: policy max_attempts: negative
--- manager
        target x {
            policy max_attempts -1; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 64: policy max_attempts: two numbers
--- manager
        target x {
            policy max_attempts 3 4; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 65: policy max_attempts: a time
--- manager
        target x {
            policy max_attempts 3s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 66: policy max_attempts: empty
--- manager
        target x {
            policy max_attempts ""; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy max_attempts" takes one argument, a number between 1 and 1000000



=== TEST 67: policy one_shot: an argument
--- manager
        target x {
            policy one_shot 1; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy one_shot" takes no argument, but "1" is given



=== TEST 68: policy one_shot: two arguments
--- manager
        target x {
            policy one_shot 30s 3; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
"policy one_shot" takes no argument, but "30s" is given



=== TEST 69: policy twice
--- manager
        target x {
            policy one_shot;
            policy one_shot; # here
        }
--- refused
"policy" directive is duplicate



=== TEST 70: policy: no argument
--- manager
        target x {
            policy; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
        }
--- refused
invalid number of arguments in "policy" directive



=== TEST 71: terminal_outcomes: unknown
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes invalid_request nothing;
        } # here
--- refused
target "x": terminal outcome "nothing" is not of gateway type "sms": "invalid_request", "invalid_recipient" or "invalid_message" was expected



=== TEST 72: terminal_outcomes: of push for sms
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes invalid_token;
        } # here
--- refused
target "x": terminal outcome "invalid_token" is not of gateway type "sms": "invalid_request", "invalid_recipient" or "invalid_message" was expected



=== TEST 73: terminal_outcomes: of sms for push
--- manager
        target x {
            gateway_type push;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes unregistered_token invalid_recipient;
        } # here
--- refused
target "x": terminal outcome "invalid_recipient" is not of gateway type "push": "invalid_request", "invalid_token", "unregistered_token" or "invalid_message" was expected



=== TEST 74: terminal_outcomes: of sms for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes invalid_request;
        } # here
--- refused
target "x": terminal outcome "invalid_request" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 75: terminal_outcomes: http_408 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_408;
        } # here
--- refused
target "x": terminal outcome "http_408" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 76: terminal_outcomes: http_425 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_425;
        } # here
--- refused
target "x": terminal outcome "http_425" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 77: terminal_outcomes: http_429 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_429;
        } # here
--- refused
target "x": terminal outcome "http_429" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 78: terminal_outcomes: http_399 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_399;
        } # here
--- refused
target "x": terminal outcome "http_399" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 79: terminal_outcomes: http_500 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_500;
        } # here
--- refused
target "x": terminal outcome "http_500" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 80: terminal_outcomes: http_4000 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_4000;
        } # here
--- refused
target "x": terminal outcome "http_4000" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 81: terminal_outcomes: http_40 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_40;
        } # here
--- refused
target "x": terminal outcome "http_40" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 82: terminal_outcomes: HTTP_404 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 HTTP_404;
        } # here
--- refused
target "x": terminal outcome "HTTP_404" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 83: terminal_outcomes: http_4x4 for http
--- manager
        target x {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes http_404 http_4x4;
        } # here
--- refused
target "x": terminal outcome "http_4x4" is not of gateway type "http": "http_400" to "http_499", except 408, 425 and 429 was expected



=== TEST 84: terminal_outcomes: a word that is clipped
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx;
        } # here
--- refused
target "x": terminal outcome "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" is not of gateway type "sms": "invalid_request", "invalid_recipient" or "invalid_message" was expected



=== TEST 85: terminal_outcomes: too many
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            terminal_outcomes invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient invalid_recipient;
        } # here
--- refused
target "x": the list of terminal outcomes is longer than 1000 bytes



=== TEST 86: terminal_outcomes twice
--- manager
        target x {
            terminal_outcomes invalid_request;
            terminal_outcomes invalid_request; # here
        }
--- refused
"terminal_outcomes" directive is duplicate



=== TEST 87: terminal_outcomes: no argument
--- manager
        target x {
            terminal_outcomes; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid number of arguments in "terminal_outcomes" directive



=== TEST 88: retry_delay: zero
--- manager
        target x {
            retry_delay 0; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "0" of "retry_delay": a time between 1ms and 1d was expected



=== TEST 89: retry_delay: no time
--- manager
        target x {
            retry_delay soon; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "soon" of "retry_delay": a time between 1ms and 1d was expected



=== TEST 90: retry_delay: too long
--- manager
        target x {
            retry_delay 86401s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "86401s" of "retry_delay": a time between 1ms and 1d was expected



=== TEST 91: retry_delay: absurd
--- manager
        target x {
            retry_delay 99999999999999999999d; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "99999999999999999999d" of "retry_delay": a time between 1ms and 1d was expected



=== TEST 92: retry_delay: negative
--- manager
        target x {
            retry_delay -1s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "-1s" of "retry_delay": a time between 1ms and 1d was expected



=== TEST 93: retry_delay: empty
--- manager
        target x {
            retry_delay ""; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "" of "retry_delay": a time between 1ms and 1d was expected



=== TEST 94: retry_delay: an unknown parameter
--- manager
        target x {
            retry_delay 5s factor=2; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid parameter "factor=2" in "retry_delay": "backoff=", "max=" or "jitter=" was expected



=== TEST 95: retry_delay: a second time
--- manager
        target x {
            retry_delay 5s 10s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid parameter "10s" in "retry_delay": "backoff=", "max=" or "jitter=" was expected



=== TEST 96: retry_delay: backoff twice
--- manager
        target x {
            retry_delay 5s backoff=2 backoff=2; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
duplicate parameter "backoff" in "retry_delay"



=== TEST 97: retry_delay: max twice
--- manager
        target x {
            retry_delay 5s max=1m max=1m; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
duplicate parameter "max" in "retry_delay"



=== TEST 98: retry_delay: jitter twice
--- manager
        target x {
            retry_delay 5s jitter=0.5 jitter=0.5; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
duplicate parameter "jitter" in "retry_delay"



=== TEST 99: retry_delay: backoff below one
--- manager
        target x {
            retry_delay 5s backoff=0.99; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "0.99" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 100: retry_delay: backoff zero
--- manager
        target x {
            retry_delay 5s backoff=0; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "0" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 101: retry_delay: backoff too large
--- manager
        target x {
            retry_delay 5s backoff=100.01; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "100.01" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 102: retry_delay: backoff no number
--- manager
        target x {
            retry_delay 5s backoff=twice; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "twice" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 103: retry_delay: backoff empty
--- manager
        target x {
            retry_delay 5s backoff=; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 104: retry_delay: backoff negative
--- manager
        target x {
            retry_delay 5s backoff=-2; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "-2" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 105: retry_delay: backoff too exact
--- manager
        target x {
            retry_delay 5s backoff=1.005; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "1.005" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 106: retry_delay: backoff a percentage
--- manager
        target x {
            retry_delay 5s backoff=150%; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "150%" of parameter "backoff" in "retry_delay": a factor between 1 and 100 was expected



=== TEST 107: retry_delay: max zero
--- manager
        target x {
            retry_delay 5s max=0; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "0" of parameter "max" in "retry_delay": a time between 1ms and 1d was expected



=== TEST 108: retry_delay: max too long
--- manager
        target x {
            retry_delay 5s max=86401s; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "86401s" of parameter "max" in "retry_delay": a time between 1ms and 1d was expected



=== TEST 109: retry_delay: max no time
--- manager
        target x {
            retry_delay 5s max=later; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "later" of parameter "max" in "retry_delay": a time between 1ms and 1d was expected



=== TEST 110: retry_delay: max empty
--- manager
        target x {
            retry_delay 5s max=; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "" of parameter "max" in "retry_delay": a time between 1ms and 1d was expected



=== TEST 111: retry_delay: jitter too large
--- manager
        target x {
            retry_delay 5s jitter=1.01; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "1.01" of parameter "jitter" in "retry_delay": a fraction between 0 and 1 was expected



=== TEST 112: retry_delay: jitter no number
--- manager
        target x {
            retry_delay 5s jitter=some; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "some" of parameter "jitter" in "retry_delay": a fraction between 0 and 1 was expected



=== TEST 113: retry_delay: jitter empty
--- manager
        target x {
            retry_delay 5s jitter=; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "" of parameter "jitter" in "retry_delay": a fraction between 0 and 1 was expected



=== TEST 114: retry_delay: jitter negative
--- manager
        target x {
            retry_delay 5s jitter=-0.1; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "-0.1" of parameter "jitter" in "retry_delay": a fraction between 0 and 1 was expected



=== TEST 115: retry_delay: jitter a percentage
--- manager
        target x {
            retry_delay 5s jitter=20%; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid value "20%" of parameter "jitter" in "retry_delay": a fraction between 0 and 1 was expected



=== TEST 116: retry_delay: max below the delay
--- manager
        target x {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
            retry_delay 5s backoff=2 max=4s;
        } # here
--- refused
target "x": the largest retry delay must be between the first one and 1 day



=== TEST 117: retry_delay twice
--- manager
        target x {
            retry_delay 5s;
            retry_delay 5s; # here
        }
--- refused
"retry_delay" directive is duplicate



=== TEST 118: retry_delay: no argument
--- manager
        target x {
            retry_delay; # here
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- refused
invalid number of arguments in "retry_delay" directive



=== TEST 119: an unknown directive
--- manager
        target x {
            gateway http://a; # here
        }
--- refused
unknown directive "gateway"



=== TEST 120: a directive of the manager
--- manager
        target x {
            lease_name x; # here
        }
--- refused
"lease_name" directive is not allowed here



=== TEST 121: a target in a target
--- manager
        target x {
            target y { # here
            }
        }
--- refused
"target" directive is not allowed here



=== TEST 122: a directive of a location
--- manager
        target x {
            proxy_pass http://a; # here
        }
--- refused
"proxy_pass" directive is not allowed here



=== TEST 123: an included file
--- manager
        target x {
            include gateway.conf;
        }
--- user_files eval
[[server_root() . '/conf/gateway.conf', "gateway_type  sms;\n\ngateway_url  gw;  # here\n"]]
--- refused
invalid value "gw" of "gateway_url": it must be "http://host..." or "https://host..."

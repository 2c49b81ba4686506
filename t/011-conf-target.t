# The target block: what nginx refuses to start with.
#
# A contract is copied onto every intent that is accepted under it and never
# looked up again, so a wrong one must not get that far. There is a row for
# each message, and for each directive one for every way in which its value can
# be wrong. Breaks when a check or a line number is lost.

use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

put('conf/gateway.conf', "gateway_type  sms;\n\ngateway_url  gw;\n");

refused(manager => <<'EOT');
invalid number of arguments in "{directive}" directive
    target {                               # no name

directive "target" has no opening "{"
    target x;

target "": the target's name must not be empty
    target "" {
        {contract}
    }

target "{129 x}": the target's name must not be longer than 128 characters
    target {129 x} {
        {contract}
    }

target "{129 ж}": the target's name must not be longer than 128 characters
    target {129 ж} {                       # two bytes a character
        {contract}
    }

target "a b": the target's name must not contain spaces or control characters
    target "a b" {
        {contract}
    }

target "a{x01}": the target's name must not contain spaces or control
characters
    target "a{x01}" {
        {contract}
    }

target "{xff}": the target's name must be valid UTF-8
    target {xff} {
        {contract}
    }

duplicate target "x"
    target x {
        {contract}
    }
        target x {

invalid parameter "{parameter}" in "{directive}": "concurrency=", "rate=" or
"burst=" was expected
    target x limit=4 {                     # an unknown parameter
    target x y {                           # a second name

duplicate parameter "{name}" in "{directive}"
    target x concurrency=4 concurrency=4 {

invalid value "{value}" of parameter "{name}" in "{directive}": a number
between 1 and 65535 was expected
    target x concurrency=0 {
    target x concurrency=65536 {           # too many
    target x concurrency= {
    target x concurrency=many {
    target x concurrency=99999999999999999999 {
    target x concurrency=-1 {

target "x": no gateway type is given: "sms", "push" or "http" was expected
    target x {
        gateway_url http://127.0.0.1:1;
        policy one_shot;
    }

target "x": the gateway URL must be "http://host..." or "https://host..."
    target x {                             # none is given
        gateway_type sms;
        policy one_shot;
    }

target "x": no policy is given: "deadline", "max_attempts" or "one_shot" was
expected
    target x {
        gateway_type sms;
        gateway_url http://127.0.0.1:1;
    }
EOT

refused(target => <<'EOT');
invalid value "{value}" of "{directive}": "sms", "push" or "http" was expected
    gateway_type mail;
    gateway_type SMS;                      # case counts
    gateway_type "";

invalid value "{value}" of "{directive}": it must be "http://host..." or
"https://host..."
    gateway_url "";
    gateway_url gateway:9090;              # no scheme
    gateway_url ftp://gateway;
    gateway_url HTTP://gateway;            # case counts
    gateway_url http://;                   # a scheme alone
    gateway_url https://;

invalid value "gw" of "gateway_url": it must be "http://host..." or
"https://host..." in {root}/conf/gateway.conf:3
    include gateway.conf;

invalid value "{value}" of "{directive}": it must name a host
    gateway_url http:///sms;
    gateway_url http://:9090;

invalid value "{value}" of "{directive}": it must be of plain URL characters,
without query or fragment
    gateway_url http://gateway/sms?key=1;
    gateway_url "http://gateway/#a";
    gateway_url http://$gateway;
    gateway_url "http://gate way";
    gateway_url http://gäteway;
    gateway_url "http://gateway/{id}";

invalid value "http://{any}" of "{directive}": it must not be longer than 1024
bytes
    gateway_url http://{1018 x};

unknown policy "{value}": "deadline", "max_attempts" or "one_shot" was expected
    policy forever;
    policy One_Shot;                       # case counts
    policy "";

"policy deadline" takes one argument, a time of whole seconds between 1s and
365d
    policy deadline;
    policy deadline 0;
    policy deadline 500ms;                 # a part of a second
    policy deadline 31536001s;             # too long
    policy deadline soon;
    policy deadline 99999999999999999999d;
    policy deadline -1s;
    policy deadline 30s 40s;
    policy deadline "";

"policy max_attempts" takes one argument, a number between 1 and 1000000
    policy max_attempts;
    policy max_attempts 0;
    policy max_attempts 1000001;           # too many
    policy max_attempts some;
    policy max_attempts 99999999999999999999;
    policy max_attempts -1;
    policy max_attempts 3 4;
    policy max_attempts 3s;                # a time
    policy max_attempts "";

"policy one_shot" takes no argument, but "1" is given
    policy one_shot 1;

"policy one_shot" takes no argument, but "30s" is given
    policy one_shot 30s 3;

target "x": terminal outcome "{value}" is not of gateway type "sms":
"invalid_request", "invalid_recipient" or "invalid_message" was expected in
{end}
    terminal_outcomes invalid_request nothing;
    terminal_outcomes invalid_token;       # one of push

target "x": terminal outcome "{64 x}" is not of gateway type "sms":
"invalid_request", "invalid_recipient" or "invalid_message" was expected in
{end}
    terminal_outcomes {100 x};             # the message clips it

target "x": terminal outcome "{value}" is not of gateway type "push":
"invalid_request", "invalid_token", "unregistered_token" or "invalid_message"
was expected in {end}
    gateway_type push;                     # one of sms
        terminal_outcomes unregistered_token invalid_recipient;

target "x": terminal outcome "{value}" is not of gateway type "http":
"http_400" to "http_499", except 408, 425 and 429 was expected in {end}
    gateway_type http;                     # one of sms
        terminal_outcomes invalid_request;
    gateway_type http;
        terminal_outcomes http_404 http_408;
    gateway_type http;
        terminal_outcomes http_404 http_425;
    gateway_type http;
        terminal_outcomes http_404 http_429;
    gateway_type http;
        terminal_outcomes http_404 http_399;
    gateway_type http;
        terminal_outcomes http_404 http_500;
    gateway_type http;
        terminal_outcomes http_404 http_4000;
    gateway_type http;
        terminal_outcomes http_404 http_40;
    gateway_type http;
        terminal_outcomes http_404 HTTP_404;
    gateway_type http;
        terminal_outcomes http_404 http_4x4;

target "x": the list of terminal outcomes is longer than 1000 bytes in {end}
    terminal_outcomes {56 invalid_recipient };

invalid value "{value}" of "{directive}": a time between 1ms and 1d was
expected
    retry_delay 0;
    retry_delay soon;
    retry_delay 86401s;                    # too long
    retry_delay 99999999999999999999d;
    retry_delay -1s;
    retry_delay "";

invalid parameter "{parameter}" in "{directive}": "backoff=", "max=" or
"jitter=" was expected
    retry_delay 5s factor=2;               # an unknown parameter
    retry_delay 5s 10s;                    # a second time

invalid value "{value}" of parameter "{name}" in "{directive}": a factor
between 1 and 100 was expected
    retry_delay 5s backoff=0.99;           # below one
    retry_delay 5s backoff=0;
    retry_delay 5s backoff=100.01;         # too large
    retry_delay 5s backoff=twice;
    retry_delay 5s backoff=;
    retry_delay 5s backoff=-2;
    retry_delay 5s backoff=1.005;          # too exact
    retry_delay 5s backoff=150%;

invalid value "{value}" of parameter "{name}" in "{directive}": a time between
1ms and 1d was expected
    retry_delay 5s max=0;
    retry_delay 5s max=86401s;             # too long
    retry_delay 5s max=later;
    retry_delay 5s max=;

invalid value "{value}" of parameter "{name}" in "{directive}": a fraction
between 0 and 1 was expected
    retry_delay 5s jitter=1.01;            # too large
    retry_delay 5s jitter=some;
    retry_delay 5s jitter=;
    retry_delay 5s jitter=-0.1;
    retry_delay 5s jitter=20%;

target "x": the largest retry delay must be between the first one and 1 day in
{end}
    retry_delay 5s backoff=2 max=4s;

duplicate parameter "{name}" in "{directive}"
    retry_delay 5s backoff=2 backoff=2;
    retry_delay 5s max=1m max=1m;
    retry_delay 5s jitter=0.5 jitter=0.5;

invalid number of arguments in "{directive}" directive
    gateway_type;
    gateway_type sms push;
    gateway_url;
    gateway_url http://a http://b;
    policy;
    terminal_outcomes;
    retry_delay;

"{directive}" directive is duplicate
    gateway_type sms;
        gateway_type sms;
    gateway_url http://gateway;
        gateway_url http://gateway;
    policy one_shot;
        policy one_shot;
    terminal_outcomes invalid_request;
        terminal_outcomes invalid_request;
    retry_delay 5s;
        retry_delay 5s;

unknown directive "gateway"
    gateway http://a;

"{directive}" directive is not allowed here
    lease_name x;                          # a directive of the manager
    target y {                             # a target in a target
    proxy_pass http://a;                   # a directive of a location
EOT

done_testing();

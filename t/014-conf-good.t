# Configurations that must work: defaults, limits, order, includes, registries.
#
# The other configuration suites show what is refused; without this one they
# would pass if everything were. Breaks when a good value is refused, when the
# order of blocks matters, or when a default is not what DESIGN says.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: nothing but a target
the store is data/submission.db, the pool nginx's default one
--- block
--- request eval
[submit('a', 't'), 'GET /v1/intents/a', 'GET /readyz']
--- response_body_like eval
[(intent('a', 't')) x 2, qr/^mode=\w+ holder_id=\S+-\d+-[0-9a-f]{8} .* store=up$/]
--- client eval
sub {
    is(sql('SELECT lease_name, intent_id FROM submission_intents'),
       'submission-manager-executor|a', 'the default lease');
    is(sql('PRAGMA journal_mode'), 'wal', 'in WAL mode');
    is(sprintf('%o', (stat server_root() . '/data')[2] & 0777), '700',
       'the directory is for nginx alone');
}



=== TEST 2: the contract of a block
--- block
        target full concurrency=65535 {
            gateway_type       push;
            gateway_url        https://gateway.example:8443/v2;
            policy             deadline 365d;
            terminal_outcomes  invalid_request unregistered_token;
            retry_delay        250ms backoff=1.5 max=1d jitter=0.25;
        }

        target attempts {
            gateway_type       sms;
            gateway_url        http://[::1]:9090;
            policy             max_attempts 1000000;
        }
--- request eval
[submit('a', 'full'), submit('b', 'attempts'), submit('c', 't')]
--- response_body_like eval
[intent('a', 'full'), intent('b', 'attempts'), intent('c', 't')]
--- client eval
sub {
    is(sql(q{SELECT intent_id, submission_target, gateway_type, gateway_url,
                    policy, max_acceptance_seconds, max_attempts,
                    terminal_outcomes, retry_delay_ms, retry_max_ms,
                    retry_backoff_pct, retry_jitter_pct
             FROM submission_intents ORDER BY intent_id}), <<'EOC' =~ s/\n\z//r,
a|full|push|https://gateway.example:8443/v2|deadline|31536000||invalid_request unregistered_token|250|86400000|150|25
b|attempts|sms|http://[::1]:9090|max_attempts||1000000||5000|0|100|0
c|t|http|http://127.0.0.1:1|one_shot||||5000|0|100|0
EOC
       'is copied onto each intent');
}



=== TEST 3: a registry beside blocks
comments, blank lines, any order of keys, escapes
--- manager
        targets targets.json;
--- registry
# targets of the second team
   	# indented, with a "quote

{
#   "commented": out,
    "targets": [
        {"submissionTarget": "reg.sms", "gatewayType": "sms",
         "gatewayUrl": "http://sms_gateways", "policy": "deadline",
         "maxAcceptanceSeconds": 30, "terminalOutcomes": []},
# {"submissionTarget": "x"},
        {
            "maxAttempts": 7,
            "terminalOutcomes": ["http_404", "http_410"],
            "policy": "max_attempts",
            "gatewayUrl": "http:\/\/hooks",
            "gatewayType": "http",
            "submissionTarget": "reg.h\u0074tp-\u00e9"
        }
    ]
}
# the end
--- request eval
[submit('a', 'reg.sms'), submit('b', 'reg.http-é'), submit('c', 'sms.realtime')]
--- response_body_like eval
[intent('a', 'reg.sms'), intent('b', 'reg.http-é'), intent('c')]
--- client eval
sub {
    is(sql(q{SELECT intent_id, gateway_type, gateway_url, policy,
                    max_acceptance_seconds, max_attempts, terminal_outcomes,
                    retry_delay_ms, retry_backoff_pct
             FROM submission_intents WHERE intent_id < 'c' ORDER BY intent_id}),
       "a|sms|http://sms_gateways|deadline|30|||5000|100\n"
       . 'b|http|http://hooks|max_attempts||7|http_404 http_410|5000|100',
       'the contracts');
}



=== TEST 4: a registry instead of blocks, by an absolute path
--- http_config
    submission_manager main {
        targets $TEST_NGINX_SERVER_ROOT/conf/targets.json;
    }
--- registry
{"targets":[{"submissionTarget":"t","gatewayType":"push","gatewayUrl":"http://a","policy":"one_shot"}]}
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')



=== TEST 5: a registry of 2,000 targets, with carriage returns
--- manager
        targets targets.json;
--- registry eval
"# one a line\r\n{\"targets\":[\r\n" . join(",\r\n", map {
    "{\"submissionTarget\":\"t$_\",\"gatewayType\":\"http\","
    . '"gatewayUrl":"http://a","policy":"one_shot"}' } 1 .. 2000) . "\r\n]}\r\n"
--- request eval
[submit('a', 't1'), submit('b', 't2000'), submit('c', 't2001')]
--- error_code eval
[200, 200, 400]
--- response_body_like eval
[intent('a', 't1'), intent('b', 't2000'), qr/names no target/]



=== TEST 6: the server before the manager
--- http_config
    server {
        listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;

        location /v1/ {
            submission_api main;
        }

        location = /_d {
            internal;
            submission_dispatch main;
            proxy_pass $submission_gateway_url;
        }
    }

    submission_manager main {
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- bare
--- config
        location /v1/ {
            submission_api main;
        }
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')



=== TEST 7: includes in all blocks
--- http_config
    include manager.conf;
--- bare
--- config
        include api.conf;
--- user_files eval
my $conf = server_root() . '/conf';
[["$conf/manager.conf", "submission_manager main { include inner/*.conf; }\n"],
 ["$conf/inner/1.conf", "zone 1m;\nlease_name included;\n"],
 ["$conf/inner/2.conf", "target t { include target.conf; }\n"],
 ["$conf/target.conf", "gateway_type http; gateway_url http://127.0.0.1:1;\npolicy one_shot;"],
 ["$conf/api.conf", 'location /v1/ { submission_api main; } location = /_d { '
                    . 'internal; submission_dispatch main; '
                    . 'proxy_pass $submission_gateway_url; }']]
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')
--- client eval
sub {
    is(sql('SELECT lease_name FROM submission_intents'), 'included',
       'what is included counts');
}



=== TEST 8: the least of everything
--- block
        zone                       128k;
        thread_pool                submission;
        store                      sqlite data/submission.db busy_timeout=1ms
                                   migrate_backup=off;
        lease_name                 x;
        lease_duration             100ms;
        renew_interval             10ms;
        acquire_interval           10ms;
        queue_refresh_interval  10ms;
        holder_id                  y;
        release_on_exit            off;
        executor                   concurrency=1 batch=1;
        intake                     queue=1 batch=1;

        target x concurrency=1 {
            gateway_type  http;
            gateway_url   http://127.0.0.1:1;
            policy        deadline 1s;
            retry_delay   1ms backoff=1 max=1ms jitter=0;
        }
--- request
GET /readyz
--- error_code_like: ^(?:200|503)$
--- response_body_like eval
qr/^mode=\w+ holder_id=y /
--- client eval
sub {
    ok(wait_for(sub { http(submit('a', 'x'))->{code} == 200 }),
       'a client that comes back gets through');
}



=== TEST 9: the most of everything
--- http_config eval
my $long = 'x' x 128;
"submission_manager main {\n"
. "zone 64m; lease_name " . 'n' x 64 . "; holder_id $long; lease_duration 1d;\n"
. "renew_interval 86399s; acquire_interval 1d; queue_refresh_interval 1d;\n"
. "store sqlite data/submission.db busy_timeout=10m migrate_backup=on;\n"
. "executor batch=1000 concurrency=65535; intake batch=1000 queue=1000000;\n"
. "target $long concurrency=65535 { gateway_type http;\n"
. 'gateway_url http://' . 'h' x 1017 . ";\n"
. 'terminal_outcomes ' . join(' ', map { "http_4$_" } 30 .. 99, 10 .. 24) . ";\n"
. "policy max_attempts 1; retry_delay 1d backoff=100 max=1d jitter=1; } }"
--- config
        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass $submission_gateway_url;
            resolver 127.0.0.1;
        }
--- suppress_stderr
--- request eval
[submit('a', 'x' x 128), 'GET /readyz']
--- response_body_like eval
[intent('a', 'x' x 128), 'holder_id=' . 'x' x 128 . ' lease_epoch=\d+ .* store=up$']



=== TEST 10: a store by an absolute path, in a directory that is there
--- http_config
    submission_manager main {
        store sqlite $TEST_NGINX_SERVER_ROOT/html/intents.db;

        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')
--- client eval
sub {
    ok(-s html_dir() . '/intents.db', 'the file is there');
    is(sprintf('%o', (stat html_dir())[2] & 0777), '755',
       'its directory is as it was');
}



=== TEST 11: a manager that no location uses but to dispatch
--- block
--- bare
--- config
        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass $submission_gateway_url;
        }

        location = /text {
            return 200 "text\n";
        }
--- request
GET /text
--- response_body
text



=== TEST 12: the module without a manager
--- bare
--- config
        location = /text {
            return 200 "text\n";
        }

        location /denied {
            deny all;
        }
--- request eval
['GET /text', 'GET /denied']
--- error_code eval
[200, 403]
--- response_body eval
["text\n", qr/^<html>/]



=== TEST 13: the dispatch location is internal, and its variables are empty
--- config
        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass $submission_gateway_url;
        }

        location = /variables {
            return 200 "[$submission_gateway_url|$submission_target|$submission_intent_id|$submission_attempt]\n";
        }
--- request eval
['GET /_dispatch', 'GET /variables']
--- error_code eval
[404, 200]
--- response_body eval
[qr/^<html>/, "[|||]\n"]



=== TEST 14: the API in several servers and locations
--- http_config
    server {
        listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
        server_name second;

        location /v1/ {
            submission_api main;
        }
    }
--- config
        location /v1/ {
            submission_api main;
        }

        location /v2/ {
            submission_api main;
        }
--- client eval
sub {
    my $port = $Test::Nginx::Util::RandPorts->{TEST_NGINX_RAND_PORT_1};

    http(submit('a'));

    is(http('GET /v2/intents/a')->{code}, 200, 'another location');
    is(http_raw("GET /v1/intents/a HTTP/1.1\r\nHost: second\r\n"
                . "Connection: close\r\n\r\n", $port)->{code}, 200,
       'another server');
}



=== TEST 15: names of managers
--- http_config
    submission_manager "смс & co" {
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- bare
--- config
        location /v1/ {
            submission_api "смс & co";
        }

        location = /_d {
            internal;
            submission_dispatch "смс & co";
            proxy_pass $submission_gateway_url;
        }
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')



=== TEST 16: gateways by name: an upstream, or a resolver
--- http_config
    upstream pay.example {
        server 127.0.0.1:1;
    }

    submission_manager main {
        executor concurrency=16;

        target t {
            gateway_type http;
            gateway_url https://PAY.example/capture;
            policy one_shot;
        }
    }

    submission_manager other {
        store sqlite data/other.db;
        executor concurrency=16;

        target t {
            gateway_type http;
            gateway_url http://gateway.example:8080;
            policy one_shot;
        }
    }
--- config
        location = /_other {
            internal;
            submission_dispatch other;
            proxy_pass $submission_gateway_url;
            resolver 127.0.0.1;
        }
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')



=== TEST 17: gateways by name, where nobody asks for their URL
--- http_config
    submission_manager main {
        store sqlite data/submission.db;
        executor concurrency=16;

        target t {
            gateway_type http;
            gateway_url http://gateway.example;
            policy one_shot;
        }
    }
--- config
        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass http://127.0.0.1:1;
        }
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')
--- suppress_stderr
--- error_log
sends the attempts of all targets to the same place



=== TEST 18: a deadline that a crash of the leader outlasts
--- http_config
    submission_manager main {
        executor        concurrency=16;
        lease_duration  10s;
        renew_interval  3s;

        target long {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy deadline 11s;
        }

        target short {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy deadline 10s;
        }
    }
--- suppress_stderr
--- error_log eval
qr/\[warn\] .*: the deadline of 10s of target "short" is not longer than the "lease_duration" of 10000ms of submission_manager "main" in \S+:\d+: when a leader dies, its intents expire before another one can send them/
--- no_error_log
of target "long"



=== TEST 19: more attempts than connections
--- manager
        executor concurrency=113;
--- suppress_stderr
--- error_log eval
qr/\[warn\] .*: "executor concurrency=113" of submission_manager "main" in \S+:\d+ is more than 256 "worker_connections" can carry: at most 112 attempts will be at gateways at once/



=== TEST 20: as many attempts as there are connections for
--- manager
        executor concurrency=112;
--- no_error_log
can carry



=== TEST 21: another handler in an "if" of an API's location
--- config
        location /v1/ {
            submission_api main;

            if ($arg_elsewhere) {
                proxy_pass http://127.0.0.1:1;
            }
        }
--- request eval
submit('a', 'sms.realtime')
--- response_body_like eval
intent('a', 'sms.realtime')

# The lease's own directives: what nginx refuses to start with, beyond what
# 010-conf-manager.t shows of each.
#
# A time of zero would ask the store without a pause, an absurd one never; two
# managers on one row would follow each other for ever. Breaks when a bound is
# lost, or when a store is told apart from itself by how its path is written.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: renew_interval: zero
--- block
        renew_interval 0; # here
--- refused
invalid value "0" of "renew_interval": a time between 10ms and 1d was expected



=== TEST 2: renew_interval: absurd
--- block
        renew_interval 99999999999999999999d; # here
--- refused
invalid value "99999999999999999999d" of "renew_interval": a time between 10ms and 1d was expected



=== TEST 3: acquire_interval: zero
--- block
        acquire_interval 0; # here
--- refused
invalid value "0" of "acquire_interval": a time between 10ms and 1d was expected



=== TEST 4: acquire_interval: absurd
--- block
        acquire_interval 99999999999999999999d; # here
--- refused
invalid value "99999999999999999999d" of "acquire_interval": a time between 10ms and 1d was expected



=== TEST 5: renew_interval and lease_duration, both the longest
--- block
        lease_duration 1d;
        renew_interval 1d;
--- refused
"renew_interval" of 86400000ms must be less than "lease_duration" of 86400000ms in submission_manager "main" in {end}



=== TEST 6: lease_name: a tab
--- block
        lease_name "a\tb"; # here
--- refused
invalid value "a	b" of "lease_name": 1 to 64 visible ASCII characters were expected



=== TEST 7: two managers with one lease, the store by an absolute path
--- http_config
    submission_manager main { # there
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }

    submission_manager other { # here
        store sqlite $TEST_NGINX_SERVER_ROOT/data/submission.db;

        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- config
        location = /_dispatch_other {
            internal;
            submission_dispatch other;
            proxy_pass $submission_gateway_url;
        }
--- refused
submission_manager "other" in {here} has the same store and "lease_name" as "main" in {there}: another "lease_name" was expected



=== TEST 8: the first and the last of three
--- http_config
    submission_manager main { # there
        lease_name a;
        target t { gateway_type http; gateway_url http://127.0.0.1:1; policy one_shot; }
    }

    submission_manager other {
        lease_name b;
        target t { gateway_type http; gateway_url http://127.0.0.1:1; policy one_shot; }
    }

    submission_manager third { # here
        lease_name a;
        target t { gateway_type http; gateway_url http://127.0.0.1:1; policy one_shot; }
    }
--- config
        location = /_dispatch_other {
            internal;
            submission_dispatch other;
            proxy_pass $submission_gateway_url;
        }

        location = /_dispatch_third {
            internal;
            submission_dispatch third;
            proxy_pass $submission_gateway_url;
        }
--- refused
submission_manager "third" in {here} has the same store and "lease_name" as "main" in {there}: another "lease_name" was expected

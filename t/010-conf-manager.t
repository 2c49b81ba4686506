# The submission_manager block: what nginx refuses to start with.
#
# An operator meets these messages at three in the morning. Each must name the
# file, the line, the directive, what is wrong and what was expected. There is
# a block for each message, and for each directive one for every way in which
# its value can be wrong. Breaks when a check or a line number is lost.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: lease_duration: no time
--- block
        lease_duration soon; # here
--- refused
invalid value "soon" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 2: lease_duration: zero
--- block
        lease_duration 0; # here
--- refused
invalid value "0" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 3: lease_duration: too short
--- block
        lease_duration 99ms; # here
--- refused
invalid value "99ms" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 4: lease_duration: too long
--- block
        lease_duration 86401s; # here
--- refused
invalid value "86401s" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 5: lease_duration: absurd
--- block
        lease_duration 99999999999999999999d; # here
--- refused
invalid value "99999999999999999999d" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 6: lease_duration: negative
--- block
        lease_duration -1s; # here
--- refused
invalid value "-1s" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 7: lease_duration: a fraction
--- block
        lease_duration 0.5s; # here
--- refused
invalid value "0.5s" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 8: lease_duration: an unknown unit
--- block
        lease_duration 5x; # here
--- refused
invalid value "5x" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 9: lease_duration: empty
--- block
        lease_duration ""; # here
--- refused
invalid value "" of "lease_duration": a time between 100ms and 1d was expected



=== TEST 10: lease_duration twice
--- block
        lease_duration 90s;
        lease_duration 90s; # here
--- refused
"lease_duration" directive is duplicate



=== TEST 11: lease_duration: no argument
--- block
        lease_duration; # here
--- refused
invalid number of arguments in "lease_duration" directive



=== TEST 12: lease_duration: two arguments
--- block
        lease_duration 30s 40s; # here
--- refused
invalid number of arguments in "lease_duration" directive



=== TEST 13: renew_interval: no time
--- block
        renew_interval soon; # here
--- refused
invalid value "soon" of "renew_interval": a time between 10ms and 1d was expected



=== TEST 14: renew_interval: too short
--- block
        renew_interval 9ms; # here
--- refused
invalid value "9ms" of "renew_interval": a time between 10ms and 1d was expected



=== TEST 15: renew_interval: too long
--- block
        renew_interval 86401s; # here
--- refused
invalid value "86401s" of "renew_interval": a time between 10ms and 1d was expected



=== TEST 16: renew_interval twice
--- block
        renew_interval 30s;
        renew_interval 30s; # here
--- refused
"renew_interval" directive is duplicate



=== TEST 17: renew_interval: no argument
--- block
        renew_interval; # here
--- refused
invalid number of arguments in "renew_interval" directive



=== TEST 18: renew_interval: two arguments
--- block
        renew_interval 30s 40s; # here
--- refused
invalid number of arguments in "renew_interval" directive



=== TEST 19: acquire_interval: no time
--- block
        acquire_interval soon; # here
--- refused
invalid value "soon" of "acquire_interval": a time between 10ms and 1d was expected



=== TEST 20: acquire_interval: too short
--- block
        acquire_interval 9ms; # here
--- refused
invalid value "9ms" of "acquire_interval": a time between 10ms and 1d was expected



=== TEST 21: acquire_interval: too long
--- block
        acquire_interval 86401s; # here
--- refused
invalid value "86401s" of "acquire_interval": a time between 10ms and 1d was expected



=== TEST 22: acquire_interval twice
--- block
        acquire_interval 30s;
        acquire_interval 30s; # here
--- refused
"acquire_interval" directive is duplicate



=== TEST 23: acquire_interval: no argument
--- block
        acquire_interval; # here
--- refused
invalid number of arguments in "acquire_interval" directive



=== TEST 24: acquire_interval: two arguments
--- block
        acquire_interval 30s 40s; # here
--- refused
invalid number of arguments in "acquire_interval" directive



=== TEST 25: schedule_refresh_interval: no time
--- block
        schedule_refresh_interval soon; # here
--- refused
invalid value "soon" of "schedule_refresh_interval": a time between 10ms and 1d was expected



=== TEST 26: schedule_refresh_interval: too short
--- block
        schedule_refresh_interval 9ms; # here
--- refused
invalid value "9ms" of "schedule_refresh_interval": a time between 10ms and 1d was expected



=== TEST 27: schedule_refresh_interval: too long
--- block
        schedule_refresh_interval 86401s; # here
--- refused
invalid value "86401s" of "schedule_refresh_interval": a time between 10ms and 1d was expected



=== TEST 28: schedule_refresh_interval twice
--- block
        schedule_refresh_interval 30s;
        schedule_refresh_interval 30s; # here
--- refused
"schedule_refresh_interval" directive is duplicate



=== TEST 29: schedule_refresh_interval: no argument
--- block
        schedule_refresh_interval; # here
--- refused
invalid number of arguments in "schedule_refresh_interval" directive



=== TEST 30: schedule_refresh_interval: two arguments
--- block
        schedule_refresh_interval 30s 40s; # here
--- refused
invalid number of arguments in "schedule_refresh_interval" directive



=== TEST 31: renew_interval as long as lease_duration
--- block
        lease_duration 30s;
        renew_interval 30s;
--- refused
"renew_interval" of 30000ms must be less than "lease_duration" of 30000ms in submission_manager "main" in {end}



=== TEST 32: renew_interval longer than lease_duration
--- block
        renew_interval 1m;
        lease_duration 30s;
--- refused
"renew_interval" of 60000ms must be less than "lease_duration" of 30000ms in submission_manager "main" in {end}



=== TEST 33: renew_interval by default as long as lease_duration
--- block
        lease_duration 20s;
--- refused
"renew_interval" of 20000ms must be less than "lease_duration" of 20000ms in submission_manager "main" in {end}



=== TEST 34: renew_interval as long as lease_duration by default
--- block
        renew_interval 60s;
--- refused
"renew_interval" of 60000ms must be less than "lease_duration" of 60000ms in submission_manager "main" in {end}



=== TEST 35: lease_name: empty
--- block
        lease_name ""; # here
--- refused
invalid value "" of "lease_name": 1 to 64 visible ASCII characters were expected



=== TEST 36: lease_name: too long
--- block
        lease_name xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; # here
--- refused
invalid value "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" of "lease_name": 1 to 64 visible ASCII characters were expected



=== TEST 37: lease_name: a space
--- block
        lease_name "a b"; # here
--- refused
invalid value "a b" of "lease_name": 1 to 64 visible ASCII characters were expected



=== TEST 38: lease_name: a control character
--- block
        lease_name "ab"; # here
--- refused
invalid value "ab" of "lease_name": 1 to 64 visible ASCII characters were expected



=== TEST 39: lease_name: not ASCII
--- block
        lease_name "häuser"; # here
--- refused
invalid value "häuser" of "lease_name": 1 to 64 visible ASCII characters were expected



=== TEST 40: lease_name twice
--- block
        lease_name a;
        lease_name a; # here
--- refused
"lease_name" directive is duplicate



=== TEST 41: lease_name: no argument
--- block
        lease_name; # here
--- refused
invalid number of arguments in "lease_name" directive



=== TEST 42: lease_name: two arguments
--- block
        lease_name a b; # here
--- refused
invalid number of arguments in "lease_name" directive



=== TEST 43: holder_id: empty
--- block
        holder_id ""; # here
--- refused
invalid value "" of "holder_id": 1 to 128 visible ASCII characters were expected



=== TEST 44: holder_id: too long
--- block
        holder_id xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; # here
--- refused
invalid value "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" of "holder_id": 1 to 128 visible ASCII characters were expected



=== TEST 45: holder_id: a space
--- block
        holder_id "a b"; # here
--- refused
invalid value "a b" of "holder_id": 1 to 128 visible ASCII characters were expected



=== TEST 46: holder_id: a control character
--- block
        holder_id "ab"; # here
--- refused
invalid value "ab" of "holder_id": 1 to 128 visible ASCII characters were expected



=== TEST 47: holder_id: not ASCII
--- block
        holder_id "häuser"; # here
--- refused
invalid value "häuser" of "holder_id": 1 to 128 visible ASCII characters were expected



=== TEST 48: holder_id twice
--- block
        holder_id a;
        holder_id a; # here
--- refused
"holder_id" directive is duplicate



=== TEST 49: holder_id: no argument
--- block
        holder_id; # here
--- refused
invalid number of arguments in "holder_id" directive



=== TEST 50: holder_id: two arguments
--- block
        holder_id a b; # here
--- refused
invalid number of arguments in "holder_id" directive



=== TEST 51: zone: zero
--- block
        zone 0; # here
--- refused
invalid value "0" of "zone": a size of at least 64k was expected



=== TEST 52: zone: too small
--- block
        zone 63k; # here
--- refused
invalid value "63k" of "zone": a size of at least 64k was expected



=== TEST 53: zone: no size
--- block
        zone big; # here
--- refused
invalid value "big" of "zone": a size of at least 64k was expected



=== TEST 54: zone: negative
--- block
        zone -8m; # here
--- refused
invalid value "-8m" of "zone": a size of at least 64k was expected



=== TEST 55: zone: absurd
--- block
        zone 99999999999999999999m; # here
--- refused
invalid value "99999999999999999999m" of "zone": a size of at least 64k was expected



=== TEST 56: zone: an unknown unit
--- block
        zone 8t; # here
--- refused
invalid value "8t" of "zone": a size of at least 64k was expected



=== TEST 57: zone: empty
--- block
        zone ""; # here
--- refused
invalid value "" of "zone": a size of at least 64k was expected



=== TEST 58: zone twice
--- block
        zone 1m;
        zone 1m; # here
--- refused
"zone" directive is duplicate



=== TEST 59: zone: no argument
--- block
        zone; # here
--- refused
invalid number of arguments in "zone" directive



=== TEST 60: zone: two arguments
--- block
        zone main 8m; # here
--- refused
invalid number of arguments in "zone" directive



=== TEST 61: thread_pool: one that is not defined
--- block
        thread_pool nobody; # here
--- refused
unknown thread pool "nobody" in {here}



=== TEST 62: thread_pool twice
--- block
        thread_pool submission;
        thread_pool submission; # here
--- refused
"thread_pool" directive is duplicate



=== TEST 63: thread_pool: no argument
--- block
        thread_pool; # here
--- refused
invalid number of arguments in "thread_pool" directive



=== TEST 64: thread_pool: two arguments
--- block
        thread_pool submission threads=4; # here
--- refused
invalid number of arguments in "thread_pool" directive



=== TEST 65: store: unknown
--- block
        store mysql host; # here
--- refused
unknown store "mysql": "sqlite", "postgres" or "odbc" was expected



=== TEST 66: store: case counts
--- block
        store SQLite data/x.db; # here
--- refused
unknown store "SQLite": "sqlite", "postgres" or "odbc" was expected



=== TEST 67: store: empty
--- block
        store "" data/x.db; # here
--- refused
unknown store "": "sqlite", "postgres" or "odbc" was expected



=== TEST 68: store: no file
--- block
        store sqlite; # here
--- refused
no file is given in "store sqlite": the path of the database was expected



=== TEST 69: store: an empty file
--- block
        store sqlite ""; # here
--- refused
no file is given in "store sqlite": the path of the database was expected



=== TEST 70: store: a directory
--- block
        store sqlite data/; # here
--- refused
no file is given in "store sqlite": the path of the database was expected



=== TEST 71: store: an unknown parameter
--- block
        store sqlite data/x.db timeout=1s; # here
--- refused
invalid parameter "timeout=1s" in "store": "busy_timeout=" or "migrate_backup=" was expected



=== TEST 72: store: a parameter without a value
--- block
        store sqlite data/x.db busy_timeout; # here
--- refused
invalid parameter "busy_timeout" in "store": "busy_timeout=" or "migrate_backup=" was expected



=== TEST 73: store: a parameter twice
--- block
        store sqlite data/x.db busy_timeout=1s busy_timeout=1s; # here
--- refused
duplicate parameter "busy_timeout" in "store"



=== TEST 74: store: busy_timeout zero
--- block
        store sqlite data/x.db busy_timeout=0; # here
--- refused
invalid value "0" of parameter "busy_timeout" in "store": a time between 1ms and 10m was expected



=== TEST 75: store: busy_timeout empty
--- block
        store sqlite data/x.db busy_timeout=; # here
--- refused
invalid value "" of parameter "busy_timeout" in "store": a time between 1ms and 10m was expected



=== TEST 76: store: busy_timeout too long
--- block
        store sqlite data/x.db busy_timeout=601s; # here
--- refused
invalid value "601s" of parameter "busy_timeout" in "store": a time between 1ms and 10m was expected



=== TEST 77: store: busy_timeout no time
--- block
        store sqlite data/x.db busy_timeout=soon; # here
--- refused
invalid value "soon" of parameter "busy_timeout" in "store": a time between 1ms and 10m was expected



=== TEST 78: store: busy_timeout absurd
--- block
        store sqlite data/x.db busy_timeout=99999999999999999999d; # here
--- refused
invalid value "99999999999999999999d" of parameter "busy_timeout" in "store": a time between 1ms and 10m was expected



=== TEST 79: store: busy_timeout negative
--- block
        store sqlite data/x.db busy_timeout=-1s; # here
--- refused
invalid value "-1s" of parameter "busy_timeout" in "store": a time between 1ms and 10m was expected



=== TEST 79a: store: migrate_backup
--- block
        store sqlite data/x.db migrate_backup=never; # here
--- refused
invalid value "never" of parameter "migrate_backup" in "store": "on" or "off" was expected



=== TEST 79b: store: migrate_backup empty
--- block
        store sqlite data/x.db migrate_backup=; # here
--- refused
invalid value "" of parameter "migrate_backup" in "store": "on" or "off" was expected



=== TEST 80: store: only a parameter
--- block
        store sqlite busy_timeout=1s extra; # here
--- refused
invalid parameter "extra" in "store": "busy_timeout=" or "migrate_backup=" was expected



=== TEST 81: store twice
--- block
        store sqlite data/submission.db;
        store sqlite data/submission.db; # here
--- refused
"store" directive is duplicate



=== TEST 82: store: no argument
--- block
        store; # here
--- refused
invalid number of arguments in "store" directive



=== TEST 83: store: a directory that cannot be made
--- block
        store sqlite data/no/such/x.db;
--- refused
mkdir() "{root}/data/no/such" failed (2: No such file or directory)



=== TEST 84: executor: an unknown parameter
--- block
        executor threads=4; # here
--- refused
invalid parameter "threads=4" in "executor": "concurrency=", "batch=" or "timeout=" was expected



=== TEST 85: executor: a plain number
--- block
        executor 256; # here
--- refused
invalid parameter "256" in "executor": "concurrency=", "batch=" or "timeout=" was expected



=== TEST 86: executor: a name that only begins alike
--- block
        executor concurrencys=4; # here
--- refused
invalid parameter "concurrencys=4" in "executor": "concurrency=", "batch=" or "timeout=" was expected



=== TEST 87: executor: a parameter twice
--- block
        executor concurrency=4 concurrency=5; # here
--- refused
duplicate parameter "concurrency" in "executor"



=== TEST 88: executor: concurrency zero
--- block
        executor concurrency=0; # here
--- refused
invalid value "0" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 89: executor: concurrency empty
--- block
        executor concurrency=; # here
--- refused
invalid value "" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 90: executor: concurrency too many
--- block
        executor concurrency=65536; # here
--- refused
invalid value "65536" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 91: executor: concurrency no number
--- block
        executor concurrency=many; # here
--- refused
invalid value "many" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 92: executor: concurrency absurd
--- block
        executor concurrency=99999999999999999999; # here
--- refused
invalid value "99999999999999999999" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 93: executor: concurrency negative
--- block
        executor concurrency=-1; # here
--- refused
invalid value "-1" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 94: executor: concurrency a fraction
--- block
        executor concurrency=1.5; # here
--- refused
invalid value "1.5" of parameter "concurrency" in "executor": a number between 1 and 65535 was expected



=== TEST 95: executor: batch zero
--- block
        executor batch=0; # here
--- refused
invalid value "0" of parameter "batch" in "executor": a number between 1 and 1000 was expected



=== TEST 96: executor: batch too many
--- block
        executor batch=1001; # here
--- refused
invalid value "1001" of parameter "batch" in "executor": a number between 1 and 1000 was expected



=== TEST 97: executor: batch no number
--- block
        executor batch=x; # here
--- refused
invalid value "x" of parameter "batch" in "executor": a number between 1 and 1000 was expected



=== TEST 98: executor twice
--- block
        executor batch=1;
        executor batch=1; # here
--- refused
"executor" directive is duplicate



=== TEST 99: executor twice, each with another parameter
--- block
        executor batch=1;
        executor concurrency=1; # here
--- refused
"executor" directive is duplicate



=== TEST 100: executor: no argument
--- block
        executor; # here
--- refused
invalid number of arguments in "executor" directive



=== TEST 101: intake: an unknown parameter
--- block
        intake threads=4; # here
--- refused
invalid parameter "threads=4" in "intake": "queue=" or "batch=" was expected



=== TEST 102: intake: a plain number
--- block
        intake 256; # here
--- refused
invalid parameter "256" in "intake": "queue=" or "batch=" was expected



=== TEST 103: intake: a name that only begins alike
--- block
        intake queues=4; # here
--- refused
invalid parameter "queues=4" in "intake": "queue=" or "batch=" was expected



=== TEST 104: intake: a parameter twice
--- block
        intake queue=4 queue=5; # here
--- refused
duplicate parameter "queue" in "intake"



=== TEST 105: intake: queue zero
--- block
        intake queue=0; # here
--- refused
invalid value "0" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 106: intake: queue empty
--- block
        intake queue=; # here
--- refused
invalid value "" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 107: intake: queue too many
--- block
        intake queue=1000001; # here
--- refused
invalid value "1000001" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 108: intake: queue no number
--- block
        intake queue=many; # here
--- refused
invalid value "many" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 109: intake: queue absurd
--- block
        intake queue=99999999999999999999; # here
--- refused
invalid value "99999999999999999999" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 110: intake: queue negative
--- block
        intake queue=-1; # here
--- refused
invalid value "-1" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 111: intake: queue a fraction
--- block
        intake queue=1.5; # here
--- refused
invalid value "1.5" of parameter "queue" in "intake": a number between 1 and 1000000 was expected



=== TEST 112: intake: batch zero
--- block
        intake batch=0; # here
--- refused
invalid value "0" of parameter "batch" in "intake": a number between 1 and 1000 was expected



=== TEST 113: intake: batch too many
--- block
        intake batch=1001; # here
--- refused
invalid value "1001" of parameter "batch" in "intake": a number between 1 and 1000 was expected



=== TEST 114: intake: batch no number
--- block
        intake batch=x; # here
--- refused
invalid value "x" of parameter "batch" in "intake": a number between 1 and 1000 was expected



=== TEST 115: intake twice
--- block
        intake batch=1;
        intake batch=1; # here
--- refused
"intake" directive is duplicate



=== TEST 116: intake twice, each with another parameter
--- block
        intake batch=1;
        intake queue=1; # here
--- refused
"intake" directive is duplicate



=== TEST 117: intake: no argument
--- block
        intake; # here
--- refused
invalid number of arguments in "intake" directive



=== TEST 118: release_on_exit: no flag
--- block
        release_on_exit maybe; # here
--- refused
invalid value "maybe" in "release_on_exit" directive, it must be "on" or "off"



=== TEST 119: release_on_exit twice
--- block
        release_on_exit on;
        release_on_exit on; # here
--- refused
"release_on_exit" directive is duplicate



=== TEST 120: release_on_exit: no argument
--- block
        release_on_exit; # here
--- refused
invalid number of arguments in "release_on_exit" directive



=== TEST 121: release_on_exit: two arguments
--- block
        release_on_exit on off; # here
--- refused
invalid number of arguments in "release_on_exit" directive



=== TEST 122: an unknown directive
--- block
        lease 60s; # here
--- refused
unknown directive "lease"



=== TEST 123: a directive of a location
--- block
        root html; # here
--- refused
"root" directive is not allowed here



=== TEST 124: a directive of a server
--- block
        listen 80; # here
--- refused
"listen" directive is not allowed here



=== TEST 125: a directive of a target
--- block
        gateway_type sms; # here
--- refused
"gateway_type" directive is not allowed here



=== TEST 126: a manager in a manager
--- block
        submission_manager other { # here
--- refused
"submission_manager" directive is not allowed here



=== TEST 127: no semicolon
--- block
        zone 8m } # here
--- refused
unexpected "}"



=== TEST 128: a block after a directive that has none
--- block
        zone 8m { # here
--- refused
directive "zone" is not terminated by ";"



=== TEST 129: no target
--- http_config
    submission_manager main {
    } # here
--- refused
submission_manager "main" has no target: a "target" block or a "targets" file was expected



=== TEST 130: a manager twice
--- http_config
    submission_manager main { # there
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }

    submission_manager main { # here
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- refused
duplicate submission_manager "main", it is already defined in {there} in {here}



=== TEST 131: a manager without a name
--- http_config
    submission_manager { # here
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- refused
invalid number of arguments in "submission_manager" directive



=== TEST 132: a manager with two names
--- http_config
    submission_manager main other { # here
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- refused
invalid number of arguments in "submission_manager" directive



=== TEST 133: a manager without a block
--- http_config
    submission_manager main; # here
--- refused
directive "submission_manager" has no opening "{"



=== TEST 134: a manager in a server
--- config
        submission_manager other { # here
        }
--- refused
"submission_manager" directive is not allowed here



=== TEST 135: a manager outside of http
--- main_config
submission_manager other { # here
}
--- refused
"submission_manager" directive is not allowed here



=== TEST 136: zone outside of a manager
--- http_config
    zone 8m; # here
--- refused
"zone" directive is not allowed here



=== TEST 137: lease_name outside of a manager
--- http_config
    lease_name a; # here
--- refused
"lease_name" directive is not allowed here



=== TEST 138: executor outside of a manager
--- http_config
    executor batch=1; # here
--- refused
"executor" directive is not allowed here



=== TEST 139: intake outside of a manager
--- http_config
    intake batch=1; # here
--- refused
"intake" directive is not allowed here



=== TEST 140: targets outside of a manager
--- http_config
    targets x.json; # here
--- refused
"targets" directive is not allowed here



=== TEST 141: store outside of a manager
--- http_config
    store sqlite x.db; # here
--- refused
"store" directive is not allowed here



=== TEST 142: target outside of a manager
--- http_config
    target t { # here
--- refused
"target" directive is not allowed here



=== TEST 143: two managers with one lease
--- http_config
    submission_manager main { # there
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }

    submission_manager other { # here
        store sqlite data/submission.db;
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
        }
--- refused
submission_manager "other" in {here} has the same store and "lease_name" as "main" in {there}: another "lease_name" was expected



=== TEST 144: two managers with one lease that is named
--- http_config
    submission_manager main { # there
        lease_name mine;
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }

    submission_manager other { # here
        lease_name mine;
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
        }
--- refused
submission_manager "other" in {here} has the same store and "lease_name" as "main" in {there}: another "lease_name" was expected



=== TEST 145: the second file of three
--- http_config
    include good.conf;
--- user_files eval
[[server_root() . '/conf/good.conf', "include bad.conf;\n"],
 [server_root() . '/conf/bad.conf', <<'EOC']]
submission_manager main {
    zone  big;  # here
}
EOC
--- bare
--- config
--- refused
invalid value "big" of "zone": a size of at least 64k was expected



=== TEST 146: executor: off is the only word
--- block
        executor off batch=1; # here
--- refused
invalid parameter "off" in "executor": "concurrency=", "batch=" or "timeout=" was expected



=== TEST 147: executor: on
--- block
        executor on; # here
--- refused
invalid parameter "on" in "executor": "concurrency=", "batch=" or "timeout=" was expected



=== TEST 148: executor off, and with a parameter
--- block
        executor off;
        executor batch=1; # here
--- refused
"executor" directive is duplicate



=== TEST 149: executor with a parameter, and off
--- block
        executor batch=1;
        executor off; # here
--- refused
"executor" directive is duplicate



=== TEST 150: executor: timeout zero
--- block
        executor timeout=0; # here
--- refused
invalid value "0" of parameter "timeout" in "executor": a time between 1ms and 1d was expected



=== TEST 151: executor: timeout no time
--- block
        executor timeout=soon; # here
--- refused
invalid value "soon" of parameter "timeout" in "executor": a time between 1ms and 1d was expected



=== TEST 152: executor twice, each with another parameter
--- block
        executor timeout=1s;
        executor batch=1; # here
--- refused
"executor" directive is duplicate

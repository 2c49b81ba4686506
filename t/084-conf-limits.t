# rate=, burst=, circuit and retry_schedule of a target: what nginx refuses to
# start with, and what it takes.
#
# A limit that is not the one that was meant is found out by the gateway. There
# is a block for each message. Breaks when a check or a line number is lost.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: a rate without a unit
--- manager
        target x rate=50 { # here
        }
--- refused
invalid value "50" of parameter "rate" in "target": a rate such as "50r/s" or "30r/m" was expected



=== TEST 2: a rate of another unit
--- manager
        target x rate=50r/h { # here
        }
--- refused
invalid value "50r/h" of parameter "rate" in "target": a rate such as "50r/s" or "30r/m" was expected



=== TEST 3: no rate at all
--- manager
        target x rate=0r/s { # here
        }
--- refused
invalid value "0r/s" of parameter "rate" in "target": a rate such as "50r/s" or "30r/m" was expected



=== TEST 4: a rate that nothing could keep
--- manager
        target x rate=1000001r/s { # here
        }
--- refused
invalid value "1000001r/s" of parameter "rate" in "target": a rate such as "50r/s" or "30r/m" was expected



=== TEST 5: half a rate
--- manager
        target x rate=r/s { # here
        }
--- refused
invalid value "r/s" of parameter "rate" in "target": a rate such as "50r/s" or "30r/m" was expected



=== TEST 6: a burst of none
--- manager
        target x rate=1r/s burst=0 { # here
        }
--- refused
invalid value "0" of parameter "burst" in "target": a number between 1 and 1000000 was expected



=== TEST 7: a burst without a rate
--- manager
        target x burst=5 { # here
        }
--- refused
parameter "burst" in "target" needs "rate="



=== TEST 8: a rate twice
--- manager
        target x rate=1r/s rate=2r/s { # here
        }
--- refused
duplicate parameter "rate" in "target"



=== TEST 9: a circuit that does not say when
--- manager
        target x {
            circuit open=30s; # here
        }
--- refused
invalid number of arguments in "circuit" directive



=== TEST 10: a circuit that does not say for how long
--- manager
        target x {
            circuit failures=5 max_open=30s; # here
        }
--- refused
"circuit" needs both "failures=" and "open="



=== TEST 11: a circuit of no failures
--- manager
        target x {
            circuit failures=0 open=30s; # here
        }
--- refused
invalid value "0" of parameter "failures" in "circuit": a number between 1 and 1000000 was expected



=== TEST 12: a circuit that is open for ever
--- manager
        target x {
            circuit failures=5 open=2d; # here
        }
--- refused
invalid value "2d" of parameter "open" in "circuit": a time between 1ms and 1d was expected



=== TEST 13: a circuit that would shrink
--- manager
        target x {
            circuit failures=5 open=30s max_open=29s; # here
        }
--- refused
"max_open" in "circuit" must not be less than "open"



=== TEST 14: two circuits
--- manager
        target x {
            circuit failures=5 open=30s;
            circuit failures=5 open=30s; # here
        }
--- refused
"circuit" directive is duplicate



=== TEST 15: something else in a circuit
--- manager
        target x {
            circuit failures=5 close=30s; # here
        }
--- refused
invalid parameter "close=30s" in "circuit": "failures=", "open=" or "max_open=" was expected



=== TEST 16: a delay that is none
--- manager
        target x {
            retry_schedule 5s 0 30m; # here
        }
--- refused
invalid value "0" of "retry_schedule": a time between 1ms and 1d was expected



=== TEST 17: a delay that is too long
--- manager
        target x {
            retry_schedule 5s 2d; # here
        }
--- refused
invalid value "2d" of "retry_schedule": a time between 1ms and 1d was expected



=== TEST 18: both kinds of delays
--- manager
        target x {
            retry_delay 5s;
            retry_schedule 5s; # here
        }
--- refused
"retry_schedule" directive cannot be used together with "retry_delay"



=== TEST 19: both kinds of delays, the other way around
--- manager
        target x {
            retry_schedule 5s;
            retry_delay 5s; # here
        }
--- refused
"retry_delay" directive cannot be used together with "retry_schedule"



=== TEST 20: two lists
--- manager
        target x {
            retry_schedule 5s;
            retry_schedule 5s; # here
        }
--- refused
"retry_schedule" directive is duplicate



=== TEST 21: a list that is too long
--- manager eval
"        target x {\n            retry_schedule" . ' 1d' x 60 . "; # here\n        }\n"
--- refused
"retry_schedule" has too many delays



=== TEST 22: a jitter that is none
--- manager
        target x {
            retry_schedule 5s jitter=2; # here
        }
--- refused
invalid value "2" of parameter "jitter" in "retry_schedule": a fraction between 0 and 1 was expected

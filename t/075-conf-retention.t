# retention and inbox_max_payload: what nginx refuses to start with.
#
# A time that is misread removes data that nobody has anywhere else. Breaks when a
# value that is no time, a status that has not ended, or a "forget" before a "strip" is
# taken.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: forget before strip
--- block
        retention strip=30d forget=29d; # here
--- refused
"retention" would forget accepted intents after 2505600s, before they are stripped after 2592000s: "forget" must not be less than "strip"



=== TEST 2: forget before strip, of one status
--- block
        retention strip=30d forget=1y exhausted=60d:50d; # here
--- refused
"retention" would forget exhausted intents after 4320000s, before they are stripped after 5184000s: "forget" must not be less than "strip"



=== TEST 3: a status whose strip is after the others' forget
--- block
        retention strip=30d forget=60d rejected=90d; # here
--- refused
"retention" would forget rejected intents after 5184000s, before they are stripped after 7776000s: "forget" must not be less than "strip"



=== TEST 4: no time
--- block
        retention strip=soon; # here
--- refused
invalid parameter "strip=soon" of "retention": "strip=", "forget=", "audit=", "refused=" or "jobs=" with a time between 1s and 100y or "never" was expected, or "accepted=", "rejected=", "exhausted=" or "canceled=" with one or two of them, as in "30d:1y"



=== TEST 5: a time of nothing
--- block
        retention strip=0; # here
--- refused
invalid parameter "strip=0" of "retention": "strip=", "forget=", "audit=", "refused=" or "jobs=" with a time between 1s and 100y or "never" was expected, or "accepted=", "rejected=", "exhausted=" or "canceled=" with one or two of them, as in "30d:1y"



=== TEST 6: pending is never touched
--- block
        retention pending=30d; # here
--- refused
invalid parameter "pending=30d" of "retention": "strip=", "forget=", "audit=", "refused=" or "jobs=" with a time between 1s and 100y or "never" was expected, or "accepted=", "rejected=", "exhausted=" or "canceled=" with one or two of them, as in "30d:1y"



=== TEST 7: a status with a bad second time
--- block
        retention accepted=30d:x; # here
--- refused
invalid parameter "accepted=30d:x" of "retention": "strip=", "forget=", "audit=", "refused=" or "jobs=" with a time between 1s and 100y or "never" was expected, or "accepted=", "rejected=", "exhausted=" or "canceled=" with one or two of them, as in "30d:1y"



=== TEST 8: twice in one
--- block
        retention strip=30d strip=31d; # here
--- refused
"retention" directive has a duplicate parameter



=== TEST 9: twice
--- block
        retention strip=30d;
        retention strip=30d; # here
--- refused
"retention" directive is duplicate



=== TEST 10: all that there is
--- block
        retention strip=30d forget=1y accepted=7d:90d rejected=never:2y exhausted=60d canceled=1d:never audit=5y refused=90d jobs=1y;
        inbox_max_payload 64m;
--- request eval
[submit('a', 't')]
--- response_body_like eval
[intent('a', 't')]



=== TEST 11: inbox_max_payload: nothing
--- block
        inbox_max_payload 0; # here
--- refused
invalid value "0" of "inbox_max_payload": a size between 1 and 64m was expected



=== TEST 12: inbox_max_payload: too much
--- block
        inbox_max_payload 65m; # here
--- refused
invalid value "65m" of "inbox_max_payload": a size between 1 and 64m was expected

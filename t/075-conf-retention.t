# retention and inbox_max_payload: what nginx refuses to start with.
#
# A time that is misread removes data that nobody has anywhere else. Breaks when a
# value that is no time, a status that has not ended, or a "forget" before a "strip" is
# taken.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

refused(manager => <<'EOT');
"retention" would forget accepted intents after 2505600s, before they are
stripped after 2592000s: "forget" must not be less than "strip"
    retention strip=30d forget=29d;

"retention" would forget exhausted intents after 4320000s, before they are
stripped after 5184000s: "forget" must not be less than "strip"
    retention strip=30d forget=1y exhausted=60d:50d;

"retention" would forget rejected intents after 5184000s, before they are
stripped after 7776000s: "forget" must not be less than "strip"
    retention strip=30d forget=60d rejected=90d;

invalid parameter "{parameter}" of "{directive}": "strip=", "forget=",
"audit=", "refused=" or "jobs=" with a time between 1s and 100y or "never" was
expected, or "accepted=", "rejected=", "exhausted=" or "canceled=" with one or
two of them, as in "30d:1y"
    retention strip=soon;
    retention strip=0;
    retention pending=30d;                 # pending is never touched
    retention accepted=30d:x;

"{directive}" directive has a duplicate parameter
    retention strip=30d strip=31d;

"{directive}" directive is duplicate
    retention strip=30d;
        retention strip=30d;

invalid value "{value}" of "{directive}": a size between 1 and 64m was expected
    inbox_max_payload 0;
    inbox_max_payload 65m;
EOT

run_tests();

__DATA__

=== TEST 10: all that there is
--- block
        retention strip=30d forget=1y accepted=7d:90d rejected=never:2y exhausted=60d canceled=1d:never audit=5y refused=90d jobs=1y;
        inbox_max_payload 64m;
--- request eval
[submit('a', 't')]
--- response_body_like eval
[intent('a', 't')]

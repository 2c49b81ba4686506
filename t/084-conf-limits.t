
use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

refused(manager => <<'EOT');
invalid value "{value}" of parameter "{name}" in "{directive}": a rate such as
"50r/s" or "30r/m" was expected
    target x rate=50 {                     # without a unit
    target x rate=50r/h {                  # of another unit
    target x rate=0r/s {
    target x rate=1000001r/s {             # nothing could keep it
    target x rate=r/s {

invalid value "{value}" of parameter "{name}" in "{directive}": a number
between 1 and 1000000 was expected
    target x rate=1r/s burst=0 {

parameter "{name}" in "{directive}" needs "rate="
    target x burst=5 {

duplicate parameter "{name}" in "{directive}"
    target x rate=1r/s rate=2r/s {
EOT

refused(target => <<'EOT');
invalid number of arguments in "{directive}" directive
    circuit open=30s;                      # does not say when

"circuit" needs both "failures=" and "open="
    circuit failures=5 max_open=30s;       # does not say for how long

invalid value "0" of parameter "failures" in "{directive}": a number between 1
and 1000000 was expected
    circuit failures=0 open=30s;

invalid value "{value}" of parameter "{name}" in "{directive}": a time between
1ms and 1d was expected
    circuit failures=5 open=2d;

"max_open" in "{directive}" must not be less than "open"
    circuit failures=5 open=30s max_open=29s;

invalid parameter "{parameter}" in "{directive}": "failures=", "open=" or
"max_open=" was expected
    circuit failures=5 close=30s;

invalid value "0" of "{directive}": a time between 1ms and 1d was expected
    retry_schedule 5s 0 30m;

invalid value "{value}" of "{directive}": a time between 1ms and 1d was
expected
    retry_schedule 5s 2d;

"retry_schedule" has too many delays
    retry_schedule {60 1d };

invalid value "{value}" of parameter "{name}" in "{directive}": a fraction
between 0 and 1 was expected
    retry_schedule 5s jitter=2;

"{directive}" directive cannot be used together with "retry_delay"
    retry_delay 5s;
        retry_schedule 5s;

"{directive}" directive cannot be used together with "retry_schedule"
    retry_schedule 5s;
        retry_delay 5s;

"{directive}" directive is duplicate
    circuit failures=5 open=30s;
        circuit failures=5 open=30s;
    retry_schedule 5s;
        retry_schedule 5s;
EOT

done_testing();

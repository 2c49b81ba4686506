
use strict;
use warnings;

use lib 't/lib';
use POSIX qw(mkfifo);
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

put('empty', '');
put('keys', "{\"n\":1},\"overlap\":\"allow\"\n");
put('large', ' ' x (1024 * 1024) . '1');
mkfifo(root() . '/pipe', 0600) or die "pipe: $!";

refused(manager => <<'EOT');
schedule "a": "every" or "cron" is needed
    schedule a target=t;

schedule "a": "every" and "cron" exclude each other
    schedule a target=t every=10m "cron=* * * * *";

invalid value "{value}" of "every": a time between 1s and 365d was expected
    schedule a target=t every=soon;
    schedule a target=t every=366d;        # too long

schedule "a": "cron" has "25" as hour: numbers from 0 to 23, ranges, lists and
steps were expected
    schedule a target=t "cron=0 25 * * *";

invalid "timezone=Europe/Nowhere" of schedule "a": a name of the IANA database
such as "Europe/Stockholm" was expected
    schedule a target=t "cron=0 2 * * *" timezone=Europe/Nowhere;

"start=02:00" of schedule "a" is a time of day in UTC from which "every"
counts: use "cron=" for local times
    schedule a target=t every=1d start=02:00 timezone=Europe/Stockholm;

schedule "a": "startAt" is a date or a time of day that does not exist
    schedule a target=t every=1d start=25:00;

schedule "a" of submission_manager "main" in {begin} has the target "reports",
which it does not define
    schedule a target=reports every=1d;

schedule "a": "target=" is missing
    schedule a every=1d;

duplicate schedule "a"
    schedule a target=t every=1d;
        schedule a target=t every=2d;

the id of schedule "a@b" must be letters, digits, ".", "_", "-", ":" and "~"
    schedule a@b target=t every=1d;

the id of schedule ".." must not be "." or ".."
    schedule .. every=10m target=t;        # an id that no path has

directive "schedule" is not terminated by ";"
    schedule a target=t every=1d payload={;

the payload of schedule "a": malformed JSON at byte 1: parse error: premature
EOF
    schedule a target=t every=1d 'payload={';

the payload of schedule "a": malformed JSON at byte 2: lexical error: invalid
char in json text.
    schedule a target=t every=1d 'payload={x}';

"payload_file" "{root}/conf/none.json" cannot be opened (2: No such file or
directory)
    schedule a target=t every=1d payload_file=none.json;

"payload_file" "{value}" is not a file of up to 1m
    schedule a every=1d target=t payload_file={root}/pipe;
    schedule a every=1d target=t payload_file={root};
    schedule a every=1d target=t payload_file={root}/large;

"payload_file" "{value}" is empty
    schedule a every=1d target=t payload_file={root}/empty;

the payload of schedule "a": malformed JSON at byte 8: parse error: trailing
garbage
    schedule a every=1d target=t payload_file={root}/keys;

the payload of schedule "a": malformed JSON at byte 2: parse error: trailing
garbage
    schedule a target=t every=1d 'payload=1,"misfire":"all"';

invalid parameter "{parameter}" of "{directive}": "every=" or "cron=",
"target=", "payload=" or "payload_file=", "start=", "end=", "timezone=",
"misfire=" or "overlap=" with a value was expected
    schedule a target=t every=1d policy=x;

schedule "a": "misfire" must be "once", "skip" or "all"
    schedule a target=t every=1d misfire=maybe;
EOT

done_testing();

# The submission_manager block: what nginx refuses to start with.
#
# An operator meets these messages at three in the morning. Each must name the
# file, the line, the directive, what is wrong and what was expected. There is
# a row for each message, and for each directive one for every way in which
# its value can be wrong. Breaks when a check or a line number is lost.

use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

refused(manager => <<'EOT');
invalid value "{value}" of "{directive}": a time between 100ms and 1d was
expected
    lease_duration soon;                   # no time
    lease_duration 0;
    lease_duration 99ms;                   # too short
    lease_duration 86401s;                 # too long
    lease_duration 99999999999999999999d;  # absurd
    lease_duration -1s;
    lease_duration 0.5s;
    lease_duration 5x;                     # an unknown unit
    lease_duration "";

invalid value "{value}" of "{directive}": a time between 10ms and 1d was
expected
    renew_interval soon;                   # no time
    renew_interval 9ms;                    # too short
    renew_interval 86401s;                 # too long
    acquire_interval soon;
    acquire_interval 9ms;
    acquire_interval 86401s;
    queue_refresh_interval soon;
    queue_refresh_interval 9ms;
    queue_refresh_interval 86401s;

"renew_interval" of 30000ms must be less than "lease_duration" of 30000ms in
submission_manager "main" in {end}
    lease_duration 30s;                    # as long as the lease
        renew_interval 30s;

"renew_interval" of 60000ms must be less than "lease_duration" of 30000ms in
submission_manager "main" in {end}
    renew_interval 1m;                     # longer than the lease
        lease_duration 30s;

"renew_interval" of 20000ms must be less than "lease_duration" of 20000ms in
submission_manager "main" in {end}
    lease_duration 20s;                    # as long as renew_interval by default

"renew_interval" of 60000ms must be less than "lease_duration" of 60000ms in
submission_manager "main" in {end}
    renew_interval 60s;                    # as long as lease_duration by default

invalid value "{value}" of "{directive}": 1 to 64 visible ASCII characters were
expected
    lease_name "";
    lease_name {65 x};
    lease_name "a b";
    lease_name "a{x01}b";                  # a control character
    lease_name "häuser";

invalid value "{value}" of "{directive}": 1 to 128 visible ASCII characters
were expected
    holder_id "";
    holder_id {129 x};
    holder_id "a b";
    holder_id "a{x01}b";                   # a control character
    holder_id "häuser";

invalid value "{value}" of "{directive}": a size of at least 128k was expected
    zone 0;
    zone 127k;                             # too small
    zone big;                              # no size
    zone -8m;
    zone 99999999999999999999m;            # absurd
    zone 8t;                               # an unknown unit
    zone "";

unknown thread pool "nobody"
    thread_pool nobody;

unknown store "mysql": "sqlite", "postgres" or "odbc" was expected
    store mysql host;

unknown store "SQLite": "sqlite", "postgres" or "odbc" was expected
    store SQLite data/x.db;                # case counts

unknown store "": "sqlite", "postgres" or "odbc" was expected
    store "" data/x.db;

no file is given in "store sqlite": the path of the database was expected
    store sqlite;
    store sqlite "";
    store sqlite data/;

the directory of the "store" of submission_manager "main" in {here} cannot be
made: mkdir() "{root}/data/no/such" failed (2: No such file or directory)
    store sqlite data/no/such/x.db;        # a directory that cannot be made

invalid parameter "{parameter}" in "{directive}": "busy_timeout=" or
"migrate_backup=" was expected
    store sqlite data/x.db timeout=1s;     # an unknown parameter
    store sqlite data/x.db busy_timeout;   # without a value
    store sqlite busy_timeout=1s extra;    # the file has the name of a parameter

invalid value "{value}" of parameter "{name}" in "{directive}": a time between
1ms and 10m was expected
    store sqlite data/x.db busy_timeout=0;
    store sqlite data/x.db busy_timeout=;
    store sqlite data/x.db busy_timeout=601s;
    store sqlite data/x.db busy_timeout=soon;
    store sqlite data/x.db busy_timeout=99999999999999999999d;
    store sqlite data/x.db busy_timeout=-1s;

invalid value "{value}" of parameter "{name}" in "{directive}": "on" or "off"
was expected
    store sqlite data/x.db migrate_backup=never;
    store sqlite data/x.db migrate_backup=;

invalid parameter "{parameter}" in "{directive}": "concurrency=", "batch=" or
"timeout=" was expected
    executor threads=4;                    # an unknown parameter
    executor 256;
    executor concurrencys=4;               # a name that only begins alike
    executor on;                           # "off" is the only word

invalid parameter "off" in "{directive}": "concurrency=", "batch=" or
"timeout=" was expected
    executor off batch=1;                  # "off" is alone

invalid value "{value}" of parameter "{name}" in "{directive}": a time between
1ms and 1d was expected
    executor timeout=0;
    executor timeout=soon;

invalid value "{value}" of parameter "{name}" in "{directive}": a number
between 1 and 65535 was expected
    executor concurrency=0;
    executor concurrency=;
    executor concurrency=65536;            # too many
    executor concurrency=many;
    executor concurrency=99999999999999999999;
    executor concurrency=-1;
    executor concurrency=1.5;

invalid value "{value}" of parameter "{name}" in "{directive}": a number
between 1 and 1000 was expected
    executor batch=0;
    executor batch=1001;                   # too many
    executor batch=x;
    intake batch=0;
    intake batch=1001;
    intake batch=x;

invalid parameter "{parameter}" in "{directive}": "queue=" or "batch=" was
expected
    intake threads=4;                      # an unknown parameter
    intake 256;
    intake queues=4;                       # a name that only begins alike

invalid value "{value}" of parameter "{name}" in "{directive}": a number
between 1 and 1000000 was expected
    intake queue=0;
    intake queue=;
    intake queue=1000001;                  # too many
    intake queue=many;
    intake queue=99999999999999999999;
    intake queue=-1;
    intake queue=1.5;

duplicate parameter "{name}" in "{directive}"
    store sqlite data/x.db busy_timeout=1s busy_timeout=1s;
    executor concurrency=4 concurrency=5;
    intake queue=4 queue=5;

invalid value "{value}" in "{directive}" directive, it must be "on" or "off"
    release_on_exit maybe;

invalid number of arguments in "{directive}" directive
    lease_duration;
    lease_duration 30s 40s;
    renew_interval;
    renew_interval 30s 40s;
    acquire_interval;
    acquire_interval 30s 40s;
    queue_refresh_interval;
    queue_refresh_interval 30s 40s;
    lease_name;
    lease_name a b;
    holder_id;
    holder_id a b;
    zone;
    zone main 8m;
    thread_pool;
    thread_pool submission threads=4;
    store;
    executor;
    intake;
    release_on_exit;
    release_on_exit on off;

"{directive}" directive is duplicate
    lease_duration 90s;
        lease_duration 90s;
    renew_interval 30s;
        renew_interval 30s;
    acquire_interval 30s;
        acquire_interval 30s;
    queue_refresh_interval 30s;
        queue_refresh_interval 30s;
    lease_name a;
        lease_name a;
    holder_id a;
        holder_id a;
    zone 1m;
        zone 1m;
    thread_pool submission;
        thread_pool submission;
    store sqlite data/submission.db;
        store sqlite data/submission.db;
    executor batch=1;
        executor batch=1;
    executor batch=1;                      # each with another parameter
        executor concurrency=1;
    executor timeout=1s;
        executor batch=1;
    executor off;
        executor batch=1;
    executor batch=1;
        executor off;
    intake batch=1;
        intake batch=1;
    intake batch=1;                        # each with another parameter
        intake queue=1;
    release_on_exit on;
        release_on_exit on;

unknown directive "lease"
    lease 60s;

"{directive}" directive is not allowed here
    root html;                             # a directive of a location
    listen 80;                             # a directive of a server
    gateway_type sms;                      # a directive of a target
    submission_manager other {             # a manager in a manager

unexpected "}"
    zone 8m }                              # no semicolon

directive "zone" is not terminated by ";"
    zone 8m {
EOT

put('conf/good.conf', "include bad.conf;\n");
put('conf/bad.conf', "submission_manager main {\n    zone  big;\n}\n");

refused(http => <<'EOT');
submission_manager "main" has no target: a "target" block or a "targets" file
was expected
    submission_manager main {
    }

duplicate submission_manager "main", it is already defined in {there} in {here}
    submission_manager main {              # there
        target t { {contract} }
    }
        submission_manager main {          # here
            target t { {contract} }
        }

invalid number of arguments in "{directive}" directive
    submission_manager {                   # here: no name
        target t { {contract} }
    }
    submission_manager main other {        # here: two names
        target t { {contract} }
    }

directive "submission_manager" has no opening "{"
    submission_manager main;

"{directive}" directive is not allowed here
    zone 8m;
    lease_name a;
    executor batch=1;
    intake batch=1;
    targets x.json;
    store sqlite x.db;
    target t {

invalid value "big" of "zone": a size of at least 128k was expected in
{root}/conf/bad.conf:2
    include good.conf;                     # the second file of three
EOT

refused(http => <<'EOT', server => dispatch('other'));
submission_manager "other" in {here} has the same store and "lease_name" as
"main" in {there}: another "lease_name" was expected
    submission_manager main {              # there
        target t { {contract} }
    }
        submission_manager other {         # here
            store sqlite data/submission.db;
            target t { {contract} }
        }
    submission_manager main {              # there: a lease that is named
        lease_name mine;
        target t { {contract} }
    }
        submission_manager other {         # here
            lease_name mine;
            target t { {contract} }
        }
EOT

for my $where (qw(main server)) {
    refused($where => <<'EOT');
"{directive}" directive is not allowed here
    submission_manager other {             # here
    }
EOT
}

# root has a right less

SKIP: {
    my @by = qw(setpriv --inh-caps=-chown --bounding-set=-chown);

    skip 'not as root', 1 if $> != 0 || system(@by, 'true');

    refused(manager => <<'EOT', main => 'user nobody nogroup;', by => \@by);
the directory of the "store" of submission_manager "main" in {here} cannot be
made: chown() "{root}/alien" failed (1: Operation not permitted)
    store sqlite alien/x.db;
EOT
}

done_testing();


use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

refused(manager => <<'EOT');
invalid value "{value}" of "{directive}": a time between 10ms and 1d was
expected
    renew_interval 0;
    renew_interval 99999999999999999999d;
    acquire_interval 0;
    acquire_interval 99999999999999999999d;

"renew_interval" of 86400000ms must be less than "lease_duration" of 86400000ms
in submission_manager "main" in {end}
    lease_duration 1d;
        renew_interval 1d;

invalid value "{value}" of "{directive}": 1 to 64 visible ASCII characters were
expected
    lease_name "a\tb";
EOT

refused(http => <<'EOT', server => dispatch('other'));
submission_manager "other" in {here} has the same store and "lease_name" as
"main" in {there}: another "lease_name" was expected
    submission_manager main {              # there: by an absolute path
        target t { {contract} }
    }
        submission_manager other {         # here
            store sqlite {root}/data/submission.db;
            target t { {contract} }
        }
EOT

refused(http => <<'EOT', server => dispatch('other') . dispatch('third'));
submission_manager "third" in {here} has the same store and "lease_name" as
"main" in {there}: another "lease_name" was expected
    submission_manager main {              # there
        lease_name a;
        target t { {contract} }
    }
        submission_manager other {
            lease_name b;
            target t { {contract} }
        }
        submission_manager third {         # here
            lease_name a;
            target t { {contract} }
        }
EOT

done_testing();

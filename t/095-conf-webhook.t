
use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

put('good', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", 0600);
put('short', "whsec_MfKQ9r8GKYqrTwjUPD8I\n", 0600);
put('plain', "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", 0600);
put('empty', "\n", 0600);
put('open', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", 0644);

refused(manager => <<'EOT');
webhook "ops": "url" is missing
    webhook ops { secret_file {root}/good; }

webhook "ops": "secret_file" is missing
    webhook ops { url http://127.0.0.1:9; }

the webhook's name "a b" must be of letters, digits, ".", "_" and "-"
    webhook "a b" { url http://127.0.0.1:9; }

a secret in secret_file "{root}/short" must have 24 to 64 bytes after "whsec_",
as base64
    webhook ops { url http://127.0.0.1:9; secret_file {root}/short; }

a secret in secret_file "{root}/plain" must begin with "whsec_"
    webhook ops { url http://127.0.0.1:9; secret_file {root}/plain; }

a secret in secret_file "{root}/empty" is missing: the file is empty
    webhook ops { url http://127.0.0.1:9; secret_file {root}/empty; }

secret_file "{root}/open" can be read by everybody: mode 0600 or 0640 was
expected
    webhook ops { url http://127.0.0.1:9; secret_file {root}/open; }

invalid value "{value}" of "{directive}": "accepted", "rejected", "exhausted"
or "canceled" was expected
    webhook ops {
        url http://127.0.0.1:9; secret_file {root}/good;
        events accepted done;              # here
    }

webhook "ops": "policy one_shot" would not tell it at least once
    webhook ops {
        url http://127.0.0.1:9; secret_file {root}/good;
        policy one_shot;
    }

invalid value "ftp://127.0.0.1" of "url": it must be "http://host..." or
"https://host..."
    webhook ops { url ftp://127.0.0.1; }

duplicate target "webhook ops"
    webhook ops { url http://127.0.0.1:9; secret_file {root}/good; }
        webhook ops { url http://127.0.0.1:9; secret_file {root}/good; }

invalid value "webhook" of "gateway_type": "sms", "push" or "http" was expected
    target t { gateway_type webhook;       # a client's target is no webhook

invalid parameter "{parameter}" of "{directive}": "on=" and "accepted",
"rejected", "exhausted" or "canceled", separated by commas, was expected
    notify ops on=accepted,soon;

unknown webhook "{value}" of "{directive}" in {here}: the name of a webhook
block of submission_manager "main" was expected
    notify none;

"notify ops" in {here} has an end in "on=" that is not among the "events" of
the webhook
    webhook ops {
        url http://127.0.0.1:9; secret_file {root}/good;
        events rejected;
    }
        notify ops on=accepted;            # here
EOT

done_testing();


use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

refused(manager => <<'EOT');
invalid value "{value}" of "{directive}": it must begin with "http://"
    wake_url 127.0.0.1:8080/_wake;
    wake_url https://127.0.0.1:8080/_wake;
    wake_url http://;                      # nothing but the scheme

invalid value "{value}" of "{directive}": it names an address that cannot be
used, no host
    wake_url http://:8080/_wake;

invalid value "{value}" of "{directive}": it names an address that cannot be
used, host not found
    wake_url http://nobody.invalid/_wake;

invalid value "{value}" of "{directive}": it names an address that cannot be
used, invalid port
    wake_url http://127.0.0.1:99999/_wake;

invalid value "{value}" of "{directive}": it must have a host that other
instances can reach
    wake_url http://0.0.0.0:8080/_wake;
    wake_url http://[::]:8080/_wake;
    wake_url http://unix:/tmp/socket:/_wake;

invalid value "{value}" of "{directive}": it has a character that is not
expected in it
    wake_url "http://127.0.0.1/_wake HTTP/1.0";
    wake_url http://me@127.0.0.1/_wake;

invalid value "{value}" of "{directive}": it must have a path after the host
    wake_url http://127.0.0.1?a;

invalid value "http://127.0.0.1/{239 a}" of "{directive}": it is longer than
512 characters
    wake_url http://127.0.0.1/{496 a};

"{directive}" directive is duplicate
    wake_url http://127.0.0.1:8080/_wake;
        wake_url http://127.0.0.1:8081/_wake;
EOT

refused('location = /_wake' => <<'EOT');
unknown submission_manager "{value}" in {here}: the name of a
submission_manager block was expected
    submission_wake other;

"{directive}" directive is duplicate
    submission_wake main;
        submission_wake main;

"{directive}" directive stands beside another directive that answers requests,
such as "proxy_pass": only one of them was expected
    proxy_pass http://127.0.0.1:1;
        submission_wake main;

location "/_wake" has a "submission_..." directive and another one that answers
requests, such as "proxy_pass": only one of them was expected{nowhere}
    submission_wake main;
        proxy_pass http://127.0.0.1:1;
EOT

refused(server => <<'EOT');
"{directive}" directive is not allowed here
    submission_wake main;
EOT

done_testing();

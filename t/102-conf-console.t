
use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

refused('location /console/' => <<'EOT');
invalid parameter "{parameter}" of "{directive}": "access=read" or
"access=operate" was expected
    submission_console main access=submit;

invalid parameter "{parameter}" of "{directive}": "access=", "payloads=",
"hosts=" or "root=" was expected
    submission_console main theme=dark;
    submission_console main cross_site=allow;  # which the API alone has

invalid parameter "{parameter}" of "{directive}": "root=" and a directory was
expected
    submission_console main root=;

"{directive}" directive has a duplicate "{name}="
    submission_console main root=a payloads=on root=b;

"{directive}" directive is duplicate
    submission_console main;
        submission_console main;
    submission_console main;
        submission_api main;

"{directive}" directive stands beside "submission_api": only one of them was
expected
    submission_api main;
        submission_console main;

location "/console/" has a "submission_..." directive and another one that
answers requests, such as "proxy_pass": only one of them was expected{nowhere}
    submission_console main;
        proxy_pass http://127.0.0.1:1;
EOT

refused(server => <<'EOT');
"submission_console" needs a location given by a prefix that ends with a slash,
such as "location /console/", not "/console"
    location /console {
        submission_console main;           # here
    }

"submission_console" needs a location given by a prefix that ends with a slash,
such as "location /console/", not "/console/"
    location = /console/ {
        submission_console main;           # here
    }
    location ~ /console/ {
        submission_console main;           # here
    }
EOT

done_testing();

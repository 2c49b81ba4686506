
use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

refused('location /other/' => <<'EOT');
unknown submission_manager "{value}" in {here}: the name of a
submission_manager block was expected
    submission_api other;
    submission_api Main;                   # names differ by case
    submission_api "";

"{directive}" directive is not allowed here
    if ($arg_x) {
        submission_api main;               # here
    }

invalid number of arguments in "{directive}" directive
    submission_api;

invalid parameter "{parameter}" of "{directive}": "access=", "payloads=",
"hosts=" or "cross_site=" was expected
    submission_api main other;             # a second name

location "/other/" has a "submission_..." directive and another one that
answers requests, such as "proxy_pass": only one of them was expected{nowhere}
    submission_api main;
        proxy_pass http://127.0.0.1:1;

"{directive}" directive stands beside another directive that answers requests,
such as "proxy_pass": only one of them was expected
    proxy_pass http://127.0.0.1:1;
        submission_api main;

"{directive}" directive is duplicate
    submission_api main;
        submission_api main;
EOT

refused('location = /other' => <<'EOT');
unknown submission_manager "{value}" in {here}: the name of a
submission_manager block was expected
    submission_readyz other;
    submission_dispatch other;
    submission_metrics other;

invalid number of arguments in "{directive}" directive
    submission_readyz;
    submission_dispatch;
    submission_dispatch main other;
    submission_metrics;

"{directive}" directive stands beside another directive that answers requests,
such as "proxy_pass": only one of them was expected
    submission_metrics main;
        submission_readyz main;

"{directive}" directive is duplicate
    submission_metrics main;
        submission_metrics main;
    submission_readyz main;
        submission_readyz main;

submission_manager "main" already has a "submission_dispatch" location,
"/other"
    submission_dispatch main;
        submission_dispatch main;

location "/other" with "submission_dispatch main" sends nothing:
"proxy_pass $submission_gateway_url" or another "..._pass" was expected in it{nowhere}
    internal;
        submission_dispatch main;
EOT

put('conf/api.conf', "location /other/ {\n    submission_api  other;\n}\n");

refused(server => <<'EOT');
"{directive}" directive is not allowed here
    submission_api main;
    submission_readyz main;
    submission_dispatch main;
    submission_metrics main;

submission_manager "main" already has a "submission_dispatch" location,
"/first"
    location = /first {
        internal;
        submission_dispatch main;
    }
        location = /second {
            internal;
            submission_dispatch main;      # here
        }

"submission_api" needs a location given by a prefix, such as "location /v1/",
not "/v1/intents"
    location = /v1/intents {
        submission_api main;               # here
    }

"submission_api" needs a location given by a prefix, such as "location /v1/",
not "@api"
    location @api {
        submission_api main;               # here
    }

"submission_api" needs a location given by a prefix, such as "location /v1/",
not "^/v\d/"
    location ~ ^/v\d/ {
        submission_api main;               # here
    }

"submission_dispatch" needs a location of its own, such as "location =
/_dispatch", not "/_dispatch"
    location /_dispatch {                  # others may match it
        submission_dispatch main;          # here
    }

"submission_dispatch" needs a location of its own, such as "location =
/_dispatch", not "@dispatch"
    location @dispatch {
        submission_dispatch main;          # here
    }

"submission_dispatch" needs a location of its own, such as "location =
/_dispatch", not "^/_dispatch$"
    location ~ ^/_dispatch$ {
        submission_dispatch main;          # here
    }

unknown submission_manager "other" in {root}/conf/api.conf:2: the name of a
submission_manager block was expected{nowhere}
    include api.conf;
EOT

refused(http => <<'EOT', bare => 1);
submission_manager "main" in {here} has no way to its gateways: a location with
"submission_dispatch main" was expected
    submission_manager main {              # here
        target t { {contract} }
    }
EOT

refused(http => <<'EOT');
submission_manager "other" in {here} has no way to its gateways: a location
with "submission_dispatch other" was expected
    submission_manager main {
        target t { {contract} }
    }
        submission_manager other {         # here
            lease_name other;
            target t { {contract} }
        }

"{directive}" directive is not allowed here
    submission_api main;

host "pay.example" in the gateway URL of target "t" of submission_manager
"main" in {here} cannot be resolved: an "upstream pay.example" block, or a
"resolver" in location "/_dispatch" was expected
    submission_manager main {              # here
        target t {
            gateway_type http;
            gateway_url https://pay.example:8443/capture;
            policy one_shot;
        }
    }
    upstream pay {                         # of another name
        server 127.0.0.1:1;
    }
        submission_manager main {          # here
            target t {
                gateway_type http;
                gateway_url http://pay.example;
                policy one_shot;
            }
        }

invalid port in the gateway URL "http://127.0.0.1:99999" of target "t" of
submission_manager "main"
    submission_manager main {              # here
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:99999;
            policy one_shot;
        }
    }
EOT

# the attempt of an intent that was accepted would fail by it, and be made again

refused(http => <<'EOT', server => 'location = /done { return 405; }');
location "/_dispatch" with "submission_dispatch main" has a "post_action",
whose answer would be taken for the gateway's: none was expected{nowhere}
    post_action /done;
EOT

done_testing();

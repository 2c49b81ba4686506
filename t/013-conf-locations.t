# submission_api, submission_readyz, submission_metrics and submission_dispatch:
# what nginx refuses to start with.
#
# These directives name a manager, which may stand later in the file, so some
# mistakes are known only when all is read; the message must still lead to the
# line. Breaks when a name without a manager is accepted, when a location is
# one in which the API cannot find its paths, or when attempts would have no
# way out.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: submission_api of an unknown manager
--- config
        location /other/ {
            submission_api other; # here
        }
--- refused
unknown submission_manager "other" in {here}: the name of a submission_manager block was expected



=== TEST 2: submission_readyz of an unknown manager
--- config
        location = /other {
            submission_readyz other; # here
        }
--- refused
unknown submission_manager "other" in {here}: the name of a submission_manager block was expected



=== TEST 3: submission_dispatch of an unknown manager
--- config
        location = /other {
            submission_dispatch other; # here
        }
--- refused
unknown submission_manager "other" in {here}: the name of a submission_manager block was expected



=== TEST 4: names differ by case
--- config
        location /other/ {
            submission_api Main; # here
        }
--- refused
unknown submission_manager "Main" in {here}: the name of a submission_manager block was expected



=== TEST 5: an unknown manager in an included file
--- config
        include api.conf;
--- user_files eval
[[server_root() . '/conf/api.conf',
  "location /other/ {\n    submission_api  other;  # here\n}\n"]]
--- refused
unknown submission_manager "other" in {here}: the name of a submission_manager block was expected



=== TEST 6: no submission_dispatch
--- http_config
    submission_manager main { # here
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- bare
--- config
        location /v1/ {
            submission_api main;
        }
--- refused
submission_manager "main" in {here} has no way to its gateways: a location with "submission_dispatch main" was expected



=== TEST 7: submission_dispatch of another manager only
--- http_config
    submission_manager main {
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }

    submission_manager other { # here
        lease_name other;

        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
    }
--- refused
submission_manager "other" in {here} has no way to its gateways: a location with "submission_dispatch other" was expected



=== TEST 8: submission_dispatch in two locations
--- config
        location = /first {
            internal;
            submission_dispatch main;
        }

        location = /second {
            internal;
            submission_dispatch main; # here
        }
--- refused
submission_manager "main" already has a "submission_dispatch" location, "/first"



=== TEST 9: submission_dispatch twice in a location
--- config
        location = /first {
            submission_dispatch main;
            submission_dispatch main; # here
        }
--- refused
submission_manager "main" already has a "submission_dispatch" location, "/first"



=== TEST 10: submission_api twice
--- config
        location /v1/ {
            submission_api main;
            submission_api main; # here
        }
--- refused
"submission_api" directive is duplicate



=== TEST 11: submission_readyz twice
--- config
        location = /readyz {
            submission_readyz main;
            submission_readyz main; # here
        }
--- refused
"submission_readyz" directive is duplicate



=== TEST 12: submission_api in an exact location
--- config
        location = /v1/intents {
            submission_api main; # here
        }
--- refused
"submission_api" needs a location given by a prefix, such as "location /v1/", not "/v1/intents"



=== TEST 13: submission_api in a location by regular expression
--- config
        location ~ ^/v\d/ {
            submission_api main; # here
        }
--- refused
"submission_api" needs a location given by a prefix, such as "location /v1/", not "^/v\d/"



=== TEST 14: submission_api in a named location
--- config
        location @api {
            submission_api main; # here
        }
--- refused
"submission_api" needs a location given by a prefix, such as "location /v1/", not "@api"



=== TEST 15: submission_api in a server
--- config
        submission_api main; # here
--- refused
"submission_api" directive is not allowed here



=== TEST 16: submission_api in http
--- http_config
    submission_api main; # here
--- refused
"submission_api" directive is not allowed here



=== TEST 17: submission_api in an "if"
--- config
        location /other/ {
            if ($arg_x) {
                submission_api main; # here
            }
        }
--- refused
"submission_api" directive is not allowed here



=== TEST 18: submission_readyz in a server
--- config
        submission_readyz main; # here
--- refused
"submission_readyz" directive is not allowed here



=== TEST 19: submission_dispatch in a server
--- config
        submission_dispatch main; # here
--- refused
"submission_dispatch" directive is not allowed here



=== TEST 20: submission_api without a name
--- config
        location /other/ {
            submission_api; # here
        }
--- refused
invalid number of arguments in "submission_api" directive



=== TEST 21: submission_api with two names
--- config
        location /other/ {
            submission_api main other; # here
        }
--- refused
invalid parameter "other" of "submission_api": "access=", "payloads=", "hosts=" or "cross_site=" was expected



=== TEST 22: submission_readyz without a name
--- config
        location = /other {
            submission_readyz; # here
        }
--- refused
invalid number of arguments in "submission_readyz" directive



=== TEST 23: submission_dispatch without a name
--- config
        location = /other {
            submission_dispatch; # here
        }
--- refused
invalid number of arguments in "submission_dispatch" directive



=== TEST 24: submission_dispatch with two names
--- config
        location = /other {
            submission_dispatch main other; # here
        }
--- refused
invalid number of arguments in "submission_dispatch" directive



=== TEST 25: an empty name, when no manager has it
--- config
        location /other/ {
            submission_api ""; # here
        }
--- refused
unknown submission_manager "" in {here}: the name of a submission_manager block was expected



=== TEST 26: submission_metrics of an unknown manager
--- config
        location = /other {
            submission_metrics other; # here
        }
--- refused
unknown submission_manager "other" in {here}: the name of a submission_manager block was expected



=== TEST 27: submission_metrics twice
--- config
        location = /metrics {
            submission_metrics main;
            submission_metrics main; # here
        }
--- refused
"submission_metrics" directive is duplicate



=== TEST 28: submission_metrics in a server
--- config
        submission_metrics main; # here
--- refused
"submission_metrics" directive is not allowed here



=== TEST 29: submission_metrics without a name
--- config
        location = /other {
            submission_metrics; # here
        }
--- refused
invalid number of arguments in "submission_metrics" directive



=== TEST 30: submission_dispatch in a location that others may match
--- config
        location /_dispatch {
            submission_dispatch main; # here
        }
--- refused
"submission_dispatch" needs a location of its own, such as "location = /_dispatch", not "/_dispatch"



=== TEST 31: submission_dispatch in a named location
--- config
        location @dispatch {
            submission_dispatch main; # here
        }
--- refused
"submission_dispatch" needs a location of its own, such as "location = /_dispatch", not "@dispatch"



=== TEST 32: submission_dispatch in a location given by an expression
--- config
        location ~ ^/_dispatch$ {
            submission_dispatch main; # here
        }
--- refused
"submission_dispatch" needs a location of its own, such as "location = /_dispatch", not "^/_dispatch$"



=== TEST 33: submission_api before proxy_pass
--- config
        location /other/ {
            submission_api main;
            proxy_pass http://127.0.0.1:1;
        }
--- refused
location "/other/" has a "submission_..." directive and another one that answers requests, such as "proxy_pass": only one of them was expected{any}



=== TEST 34: submission_api after proxy_pass
--- config
        location /other/ {
            proxy_pass http://127.0.0.1:1;
            submission_api main; # here
        }
--- refused
"submission_api" directive stands beside another directive that answers requests, such as "proxy_pass": only one of them was expected



=== TEST 35: submission_readyz after submission_metrics
--- config
        location = /other {
            submission_metrics main;
            submission_readyz main; # here
        }
--- refused
"submission_readyz" directive stands beside another directive that answers requests, such as "proxy_pass": only one of them was expected



=== TEST 36: submission_dispatch without a way out
--- config
        location = /_dispatch {
            internal;
            submission_dispatch main;
        }
--- refused
location "/_dispatch" with "submission_dispatch main" sends nothing: "proxy_pass $submission_gateway_url" or another "..._pass" was expected in it{any}



=== TEST 37: a gateway's host that nobody resolves
--- http_config
    submission_manager main { # here
        target t {
            gateway_type http;
            gateway_url https://pay.example:8443/capture;
            policy one_shot;
        }
    }
--- refused
host "pay.example" in the gateway URL of target "t" of submission_manager "main" in {here} cannot be resolved: an "upstream pay.example" block, or a "resolver" in location "/_dispatch" was expected



=== TEST 38: an upstream of another name
--- http_config
    upstream pay {
        server 127.0.0.1:1;
    }

    submission_manager main { # here
        target t {
            gateway_type http;
            gateway_url http://pay.example;
            policy one_shot;
        }
    }
--- refused
host "pay.example" in the gateway URL of target "t" of submission_manager "main" in {here} cannot be resolved: an "upstream pay.example" block, or a "resolver" in location "/_dispatch" was expected



=== TEST 39: a gateway URL with a port that is none
--- http_config
    submission_manager main { # here
        target t {
            gateway_type http;
            gateway_url http://127.0.0.1:99999;
            policy one_shot;
        }
    }
--- refused
invalid port in the gateway URL "http://127.0.0.1:99999" of target "t" of submission_manager "main" in {here}



=== TEST 40: submission_dispatch with a post_action
The attempt of an intent that was accepted would fail by it, and be made again.
--- http_config
    post_action /done;
--- config
        location = /_dispatch {
            internal;
            submission_dispatch main;
            proxy_pass $submission_gateway_url;
        }

        location = /done {
            return 405;
        }
--- refused
location "/_dispatch" with "submission_dispatch main" has a "post_action", whose answer would be taken for the gateway's: none was expected{any}

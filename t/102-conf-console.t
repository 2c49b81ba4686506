# What "submission_console" is refused with.
#
# Breaks when a mistake in the directive goes unnoticed: a page without its
# files, a level that was not meant.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: a location without a slash at its end
--- config
        location /console {
            submission_console main; # here
        }
--- refused
"submission_console" needs a location given by a prefix that ends with a slash, such as "location /console/", not "/console"



=== TEST 2: an exact location
--- config
        location = /console/ {
            submission_console main; # here
        }
--- refused
"submission_console" needs a location given by a prefix that ends with a slash, such as "location /console/", not "/console/"



=== TEST 3: a regular expression
--- config
        location ~ /console/ {
            submission_console main; # here
        }
--- refused
"submission_console" needs a location given by a prefix that ends with a slash, such as "location /console/", not "/console/"



=== TEST 4: a level that it does not have
--- config
        location /console/ {
            submission_console main access=submit; # here
        }
--- refused
invalid parameter "access=submit" of "submission_console": "access=read" or "access=operate" was expected



=== TEST 5: another parameter
--- config
        location /console/ {
            submission_console main theme=dark; # here
        }
--- refused
invalid parameter "theme=dark" of "submission_console": "access=", "payloads=", "hosts=" or "root=" was expected



=== TEST 6: what the API alone has
--- config
        location /console/ {
            submission_console main cross_site=allow; # here
        }
--- refused
invalid parameter "cross_site=allow" of "submission_console": "access=", "payloads=", "hosts=" or "root=" was expected



=== TEST 7: no directory
--- config
        location /console/ {
            submission_console main root=; # here
        }
--- refused
invalid parameter "root=" of "submission_console": "root=" and a directory was expected



=== TEST 8: a parameter twice
--- config
        location /console/ {
            submission_console main root=a payloads=on root=b; # here
        }
--- refused
"submission_console" directive has a duplicate "root="



=== TEST 9: twice
--- config
        location /console/ {
            submission_console main;
            submission_console main; # here
        }
--- refused
"submission_console" directive is duplicate



=== TEST 10: beside the API
--- config
        location /console/ {
            submission_api main;
            submission_console main; # here
        }
--- refused
"submission_console" directive stands beside "submission_api": only one of them was expected



=== TEST 11: the API beside it
--- config
        location /console/ {
            submission_console main;
            submission_api main; # here
        }
--- refused
"submission_api" directive is duplicate



=== TEST 12: a handler after it
--- config
        location /console/ {
            submission_console main;
            proxy_pass http://127.0.0.1:1;
        }
--- refused
location "/console/" has a "submission_..." directive and another one that answers requests, such as "proxy_pass": only one of them was expected{any}

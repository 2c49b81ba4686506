# wake_url and submission_wake: what nginx refuses to start with.
#
# The URL is published to other instances, which send requests to it: it has to
# be one that they can use as it is. Breaks when a URL is taken that nobody can
# be reached at, or one that could change the request.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: no scheme
--- block
        wake_url 127.0.0.1:8080/_wake; # here
--- refused
invalid value "127.0.0.1:8080/_wake" of "wake_url": it must begin with "http://"



=== TEST 2: https
--- block
        wake_url https://127.0.0.1:8080/_wake; # here
--- refused
invalid value "https://127.0.0.1:8080/_wake" of "wake_url": it must begin with "http://"



=== TEST 3: nothing but the scheme
--- block
        wake_url http://; # here
--- refused
invalid value "http://" of "wake_url": it must begin with "http://"



=== TEST 4: no host
--- block
        wake_url http://:8080/_wake; # here
--- refused
invalid value "http://:8080/_wake" of "wake_url": it names an address that cannot be used, no host



=== TEST 5: a name that is not known
--- block
        wake_url http://nobody.invalid/_wake; # here
--- refused
invalid value "http://nobody.invalid/_wake" of "wake_url": it names an address that cannot be used, host not found



=== TEST 6: a port that is none
--- block
        wake_url http://127.0.0.1:99999/_wake; # here
--- refused
invalid value "http://127.0.0.1:99999/_wake" of "wake_url": it names an address that cannot be used, invalid port



=== TEST 7: any address
--- block
        wake_url http://0.0.0.0:8080/_wake; # here
--- refused
invalid value "http://0.0.0.0:8080/_wake" of "wake_url": it must have a host that other instances can reach



=== TEST 8: any address, of the other family
--- block
        wake_url http://[::]:8080/_wake; # here
--- refused
invalid value "http://[::]:8080/_wake" of "wake_url": it must have a host that other instances can reach



=== TEST 9: a socket of this host
--- block
        wake_url http://unix:/tmp/socket:/_wake; # here
--- refused
invalid value "http://unix:/tmp/socket:/_wake" of "wake_url": it must have a host that other instances can reach



=== TEST 10: a space
--- block
        wake_url "http://127.0.0.1/_wake HTTP/1.0"; # here
--- refused
invalid value "http://127.0.0.1/_wake HTTP/1.0" of "wake_url": it has a character that is not expected in it



=== TEST 11: a user
--- block
        wake_url http://me@127.0.0.1/_wake; # here
--- refused
invalid value "http://me@127.0.0.1/_wake" of "wake_url": it has a character that is not expected in it



=== TEST 12: no path before the arguments
--- block
        wake_url http://127.0.0.1?a; # here
--- refused
invalid value "http://127.0.0.1?a" of "wake_url": it must have a path after the host



=== TEST 13: too long
--- block eval
'        wake_url http://127.0.0.1/' . 'a' x 496 . '; # here'
--- refused eval
'invalid value "http://127.0.0.1/' . 'a' x 239 . '" of "wake_url": it is longer than 512 characters'



=== TEST 14: twice
--- block
        wake_url http://127.0.0.1:8080/_wake;
        wake_url http://127.0.0.1:8081/_wake; # here
--- refused
"wake_url" directive is duplicate



=== TEST 15: submission_wake of an unknown manager
--- config
        location = /other {
            submission_wake other; # here
        }
--- refused
unknown submission_manager "other" in {here}: the name of a submission_manager block was expected



=== TEST 16: submission_wake twice
--- config
        location = /_wake {
            submission_wake main;
            submission_wake main; # here
        }
--- refused
"submission_wake" directive is duplicate



=== TEST 17: submission_wake after another handler
--- config
        location = /_wake {
            proxy_pass http://127.0.0.1:1;
            submission_wake main; # here
        }
--- refused
"submission_wake" directive stands beside another directive that answers requests, such as "proxy_pass": only one of them was expected



=== TEST 18: submission_wake before another handler
--- config
        location = /_wake {
            submission_wake main;
            proxy_pass http://127.0.0.1:1;
        }
--- refused
location "/_wake" has a "submission_..." directive and another one that answers requests, such as "proxy_pass": only one of them was expected{any}



=== TEST 19: submission_wake in a server
--- config
        submission_wake main; # here
--- refused
"submission_wake" directive is not allowed here

# submission_wake: who may call it, and what it answers; and wake_url: what is
# published is an address.
#
# Breaks when a wake changes more than a counter on an instance that has nothing
# to do, when access rules of the location do not hold, or when other instances
# would have to resolve a name.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: POST
--- config
        location = /_wake {
            submission_wake main;
        }
--- request
POST /_wake
--- error_code: 204
--- response_body:



=== TEST 2: a body is not read
--- config
        location = /_wake {
            submission_wake main;
        }
--- request eval
"POST /_wake\n" . 'x' x 100000
--- error_code: 204



=== TEST 3: GET
--- config
        location = /_wake {
            submission_wake main;
        }
--- request
GET /_wake
--- error_code: 405



=== TEST 4: access rules
--- config
        location = /_wake {
            submission_wake main;
            deny all;
        }
--- request
POST /_wake
--- error_code: 403



=== TEST 5: within limit_except
--- config
        location = /_wake {
            submission_wake main;
            limit_except GET { allow all; }
        }
--- request
POST /_wake
--- error_code: 204



=== TEST 6: it is counted
--- config
        location = /_wake {
            submission_wake main;
        }
--- client eval
sub {
    is(http('POST /_wake')->{code}, 204, 'once') for 1 .. 2;
    like(http('GET /metrics')->{body}, qr/^submission_wakes_received_total 2$/m,
         'twice');
}

# "store postgres": what nginx refuses to start with, and that it keeps a secret.
#
# Breaks when a connection string that libpq cannot use is found out only at run
# time, or when a password is taken from the string, which "nginx -T" shows.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: no connection string
--- block
        store postgres; # here
--- refused
no connection string is given in "store postgres": such as "host=... dbname=..." or "postgresql://..." was expected



=== TEST 2: an empty one
--- block
        store postgres ""; # here
--- refused
no connection string is given in "store postgres": such as "host=... dbname=..." or "postgresql://..." was expected



=== TEST 3: one that is none
--- block
        store postgres data/submission.db; # here
--- refused
the connection string of "store postgres" cannot be used: missing "=" after "data/submission.db" in connection info string



=== TEST 4: a keyword that libpq does not know
--- block
        store postgres "host=db1 databse=submission"; # here
--- refused
the connection string of "store postgres" cannot be used: invalid connection option "databse"



=== TEST 5: ODBC's string
--- block
        store postgres "Driver={PostgreSQL Unicode};Server=db1"; # here
--- refused
the connection string of "store postgres" cannot be used: invalid connection option "Driver"



=== TEST 6: a password
--- block
        store postgres "host=db1 user=nginx password=s3cret"; # here
--- refused
the connection string of "store postgres" cannot be used: it has a "password", which belongs into "password_file="
--- no_error_log
s3cret



=== TEST 7: a password in a URI
--- block
        store postgres postgresql://nginx:s3cret@db1/submission; # here
--- refused
the connection string of "store postgres" cannot be used: it has a "password", which belongs into "password_file="
--- no_error_log
s3cret



=== TEST 8: an option of another store
--- block
        store postgres "host=db1" busy_timeout=1s; # here
--- refused
invalid parameter "busy_timeout=1s" in "store": "pool=", "query_timeout=", "login_timeout=", "retry=" or "password_file=" was expected



=== TEST 9: a time-out that is too short
--- block
        store postgres "host=db1" query_timeout=999ms; # here
--- refused
invalid value "999ms" of parameter "query_timeout" in "store": a time between 1s and 10m was expected



=== TEST 10: a server that is not there
nginx starts, and says so when it is asked
--- block
        store postgres "host=127.0.0.1 port=1 dbname=submission user=nginx" retry=0;
--- request
GET /v1/intents
--- error_code: 503
--- response_body_like: "store_unavailable"
--- error_log eval
qr/store_down manager=main store=postgres.* sql_error="postgres: connection to server at .*127\.0\.0\.1.*, port 1 failed: Connection refused/

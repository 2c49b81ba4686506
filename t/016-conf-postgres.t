# "store postgres": what nginx refuses to start with, and that it keeps a secret.
#
# Breaks when a connection string that libpq cannot use is found out only at run
# time, or when a password is taken from the string, which "nginx -T" shows.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

refused(manager => <<'EOT');
no connection string is given in "store postgres": such as "host=...
dbname=..." or "postgresql://..." was expected
    store postgres;
    store postgres "";

the connection string of "store postgres" cannot be used: missing "=" after
"data/submission.db" in connection info string
    store postgres data/submission.db;

the connection string of "store postgres" cannot be used: invalid connection
option "databse"
    store postgres "host=db1 databse=submission";

the connection string of "store postgres" cannot be used: invalid connection
option "Driver"
    store postgres "Driver={PostgreSQL Unicode};Server=db1";

the connection string of "store postgres" cannot be used: it has a "password",
which belongs into "password_file="
    store postgres "host=db1 user=nginx password=s3cret";
    store postgres postgresql://nginx:s3cret@db1/submission;

invalid parameter "{parameter}" in "{directive}": "pool=", "query_timeout=",
"login_timeout=", "retry=" or "password_file=" was expected
    store postgres "host=db1 sslmode=verify-full" busy_timeout=1s;

invalid value "{value}" of parameter "{name}" in "{directive}": a time between
1s and 10m was expected
    store postgres "host=db1 sslmode=verify-full" query_timeout=999ms;
EOT

run_tests();

__DATA__

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

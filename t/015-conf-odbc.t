
use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

put('open', "s3cret\n", 0644);
put('good', "s3cret\n", 0600);
put('empty', "\n", 0600);
put('lines', "s3cret\nmore\n", 0600);
put('long', 'x' x 2000, 0600);
put('both', "a;b}\n", 0600);
put('brace', "a}b\n", 0600);

refused(manager => <<'EOT');
no connection string is given in "store odbc": such as
"Driver=FreeTDS;Server=..." was expected
    store odbc;
    store odbc "";
    store odbc data/submission.db;

a password is given in the connection string of "store odbc": "password_file="
was expected
    store odbc "Driver=FreeTDS;UID=nginx;PWD=s3cret";
    store odbc "PassWord = {s3cret};Driver=FreeTDS";
    store odbc "Driver={PostgreSQL;Unicode};pwd=s3cret";

password_file "/nowhere/pw" cannot be opened (2: No such file or directory)
    store odbc "Driver=FreeTDS" password_file=/nowhere/pw;

password_file "{value}" can be read by everybody: mode 0600 or 0640 was
expected
    store odbc "Driver=FreeTDS" password_file={root}/open;

password_file "/tmp" is not a file
    store odbc "Driver=FreeTDS" password_file=/tmp;

password_file "{value}" has nothing in it: one line with the password was
expected
    store odbc "Driver=FreeTDS" password_file={root}/empty;

password_file "{value}" has several lines: one line with the password was
expected
    store odbc "Driver=FreeTDS" password_file={root}/lines;

password_file "{value}" is too long: one line was expected
    store odbc "Driver=FreeTDS" password_file={root}/long;

duplicate parameter "{name}" in "{directive}"
    store odbc Driver=x password_file={root}/good password_file={root}/good;

invalid parameter "{parameter}" in "{directive}": "pool=", "query_timeout=",
"login_timeout=", "retry=" or "password_file=" was expected
    store odbc "Driver=FreeTDS" timeout=1s;

invalid value "{value}" of parameter "{name}" in "{directive}": a number
between 1 and 1000 was expected
    store odbc "Driver=FreeTDS" pool=0;

invalid value "{value}" of parameter "{name}" in "{directive}": a time between
1s and 10m was expected
    store odbc "Driver=FreeTDS" query_timeout=100ms;  # ODBC has seconds only
    store odbc "Driver=FreeTDS" login_timeout=0;

"{directive}" directive is duplicate
    store odbc "Driver=FreeTDS" password_file={root}/good;
        store odbc "Driver=FreeTDS";

the password in the "password_file" has both a "}" and a ";", or begins with a
"{" and has a "}", which FreeTDS cannot be given: another password was expected
    store odbc "Driver=FreeTDS;Server=a;UID=b" password_file={root}/both;

the password in the "password_file" has a "}", which not all drivers take in
the same way: "Driver=" in the connection string, with "FreeTDS" or "SQL
Server" in its name, or another password was expected
    store odbc "DSN=mine;UID=b" password_file={root}/brace;
EOT

done_testing();

# "store odbc": what nginx refuses to start with, and that it keeps a secret.
#
# The password has one place, a file that only its reader may read. Breaks when
# it is taken from the connection string, which "nginx -T" shows, or from a file
# that everybody can read.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

sub password {
    my ($name, $mode, $text) = @_;

    my $path = "$ENV{SUBMISSION_TEST_DIR}/$name";

    open my $file, '>', $path or die "$path: $!";
    print $file $text;
    close $file;
    chmod $mode, $path or die "$path: $!";

    $ENV{"TEST_NGINX_PW_$name"} = $path;
}

password('GOOD', 0600, "s3cret\n");
password('OPEN', 0644, "s3cret\n");
password('EMPTY', 0600, "\n");
password('LINES', 0600, "s3cret\nmore\n");
password('LONG', 0600, 'x' x 2000);
password('BOTH', 0600, "a;b}\n");
password('BRACE', 0600, "a}b\n");

run_tests();

__DATA__

=== TEST 1: no connection string
--- block
        store odbc; # here
--- refused
no connection string is given in "store odbc": such as "Driver=FreeTDS;Server=..." was expected



=== TEST 2: an empty one
--- block
        store odbc ""; # here
--- refused
no connection string is given in "store odbc": such as "Driver=FreeTDS;Server=..." was expected



=== TEST 3: an option in its place
--- block
        store odbc data/submission.db; # here
--- refused
no connection string is given in "store odbc": such as "Driver=FreeTDS;Server=..." was expected



=== TEST 4: a password in it
--- block
        store odbc "Driver=FreeTDS;UID=nginx;PWD=s3cret"; # here
--- refused
a password is given in the connection string of "store odbc": "password_file=" was expected



=== TEST 5: a password in it, at its beginning, by another name and case
--- block
        store odbc "PassWord = {s3cret};Driver=FreeTDS"; # here
--- refused
a password is given in the connection string of "store odbc": "password_file=" was expected



=== TEST 6: a password after a value in braces
--- block
        store odbc "Driver={PostgreSQL;Unicode};pwd=s3cret"; # here
--- refused
a password is given in the connection string of "store odbc": "password_file=" was expected



=== TEST 7: no such password file
--- block
        store odbc "Driver=FreeTDS" password_file=/nowhere/pw; # here
--- refused
password_file "/nowhere/pw" cannot be opened (2: No such file or directory)



=== TEST 8: a password file that everybody can read
--- block
        store odbc "Driver=FreeTDS" password_file=$TEST_NGINX_PW_OPEN; # here
--- refused
password_file "{any}/OPEN" can be read by everybody: mode 0600 or 0640 was expected



=== TEST 9: a password file that is a directory
--- block
        store odbc "Driver=FreeTDS" password_file=/tmp; # here
--- refused
password_file "/tmp" is not a file



=== TEST 10: an empty password file
--- block
        store odbc "Driver=FreeTDS" password_file=$TEST_NGINX_PW_EMPTY; # here
--- refused
password_file "{any}/EMPTY" has nothing in it: one line with the password was expected



=== TEST 11: a password file of several lines
--- block
        store odbc "Driver=FreeTDS" password_file=$TEST_NGINX_PW_LINES; # here
--- refused
password_file "{any}/LINES" has several lines: one line with the password was expected



=== TEST 12: a long password file
--- block
        store odbc "Driver=FreeTDS" password_file=$TEST_NGINX_PW_LONG; # here
--- refused
password_file "{any}/LONG" is too long: one line was expected



=== TEST 13: two password files
--- block
        store odbc "Driver=FreeTDS" password_file=$TEST_NGINX_PW_GOOD password_file=$TEST_NGINX_PW_GOOD; # here
--- refused
duplicate parameter "password_file" in "store"



=== TEST 14: an unknown parameter
--- block
        store odbc "Driver=FreeTDS" timeout=1s; # here
--- refused
invalid parameter "timeout=1s" in "store": "pool=", "query_timeout=", "login_timeout=", "retry=" or "password_file=" was expected



=== TEST 15: no pool
--- block
        store odbc "Driver=FreeTDS" pool=0; # here
--- refused
invalid value "0" of parameter "pool" in "store": a number between 1 and 1000 was expected



=== TEST 16: a query time-out that ODBC cannot express
--- block
        store odbc "Driver=FreeTDS" query_timeout=100ms; # here
--- refused
invalid value "100ms" of parameter "query_timeout" in "store": a time between 1s and 10m was expected



=== TEST 17: a login time-out that is none
--- block
        store odbc "Driver=FreeTDS" login_timeout=0; # here
--- refused
invalid value "0" of parameter "login_timeout" in "store": a time between 1s and 10m was expected



=== TEST 18: two stores
--- block
        store odbc "Driver=FreeTDS" password_file=$TEST_NGINX_PW_GOOD;
        store odbc "Driver=FreeTDS"; # here
--- refused
"store" directive is duplicate



=== TEST 19: a password that FreeTDS cannot be given
--- block
        store odbc "Driver=FreeTDS;Server=a;UID=b" password_file=$TEST_NGINX_PW_BOTH; # here
--- refused
the password in the "password_file" has both a "}" and a ";", or begins with a "{" and has a "}", which FreeTDS cannot be given: another password was expected



=== TEST 20: one that depends on the driver, which is not named
--- block
        store odbc "DSN=mine;UID=b" password_file=$TEST_NGINX_PW_BRACE; # here
--- refused
the password in the "password_file" has a "}", which not all drivers take in the same way: "Driver=" in the connection string, with "FreeTDS" or "SQL Server" in its name, or another password was expected

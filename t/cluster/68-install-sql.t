# sql/install.sh: what it cannot do it says, and has done nothing; and what it
# installs on PostgreSQL is sound by plpgsql_check (G18: a database that a newer
# release has made is left as it is).  Rights are those of one database.
#
# Goes red when: a login of one database may call a function of another, or of a copy;
# whoever may create a function in "public" has it called by install.sh; functions run
# as a superuser, or lose their search path; one of them may be planned with scans; a
# file that cannot be read is passed over; a path with a space is two; a newer schema is
# overwritten, or a type of rows that is not that of these files is kept; the client's
# failure is lost; a function names a column or a table that is not there, or never
# reads a variable.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Cwd qw(abs_path);
use File::Path qw(make_path remove_tree);
use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

my $server = SubmissionCluster::Server->start;

my $top = abs_path("$FindBin::Bin/../..");
my $dir = "$ENV{SUBMISSION_TEST_DIR}/a copy of sql.$$";
my @psql = ('-X', '-A', '-t', '-v', 'ON_ERROR_STOP=1');

$ENV{PGOPTIONS} = '-c client_min_messages=warning';


# the exit status and the output of a command, without a shell

sub run {
    my (@command) = @_;

    open(my $out, '-|') // do { die "fork: $!" } or do {
        open(STDERR, '>&', \*STDOUT);
        exec(@command) or exit 127;
    };

    my $text = do { local $/; <$out> } // '';
    close $out;

    return ($? >> 8, $text);
}


# the server's connection string, with another database

sub database {
    my ($name) = @_;

    (my $string = $ENV{SUBMISSION_TEST_STORE}) =~ s/\bdbname=\S+//;

    return ('-d', "$string dbname=$name");
}


sub sql {
    my ($database, $sql) = @_;

    my ($status, $text) = run('psql', @psql, database($database), '-c', $sql);

    die "$sql: $text" if $status != 0;
    chomp $text;

    return $text;
}


sub install {
    my ($database, $from) = @_;

    return run("$from/install.sh", 'postgres', database($database));
}


sub has_schema {
    return sql($_[0], "SELECT count(*) FROM pg_namespace "
                      . "WHERE nspname = 'submission'");
}


make_path($dir);
system('cp', '-r', "$top/sql/.", $dir) == 0 or die "cp failed\n";
sql('postgres', "CREATE DATABASE $_") for qw(one two three);


# a path with a space

my ($status, $text) = install('one', $dir);

is($status, 0, "installed from a path with a space: $text");
is(sql('one', 'SELECT version FROM submission.submission_schema'), 1,
   'it is there');
like($text, qr/^the schema is of version 1 \(it is new\)$/m, 'and says so');

($status, $text) = install('one', $dir);
is($status, 0, "once more: $text");


# A login of one database has no right in another, nor to a table; and what the
# functions may do is not what the one who installed them may.

($status, $text) = install('three', $dir);
is($status, 0, "another database: $text");
like($text, qr/^logins of nginx need the role "submission_nginx_three"$/m,
     'which has a role of its own');

sql('postgres', "CREATE ROLE login_$_ LOGIN PASSWORD 'pw' "
                . "IN ROLE submission_nginx_$_") for qw(one three);

sub as_login {
    my ($login, $database, $sql) = @_;

    local $ENV{PGPASSWORD} = 'pw';
    my @to = database($database);

    $to[1] =~ s/\b(?:user|password)=\S+//g;

    return run('psql', @psql, '-d', "$to[1] user=$login", '-c', $sql);
}

my $acquire = "SELECT o_held FROM submission.submission_lease_acquire('main', "
              . "'a', 1000)";

for (['login_one', 'one'], ['login_three', 'three']) {
    is((as_login(@$_, $acquire))[0], 0, "$_->[0] may use $_->[1]");
    like((as_login(@$_, 'SELECT 1 FROM submission.submission_intents'))[1],
         qr/permission denied for table/, 'and no table');
}

for (['login_one', 'three'], ['login_three', 'one']) {
    like((as_login(@$_, $acquire))[1], qr/permission denied for schema/,
         "$_->[0] may not use $_->[1]");
}

is(sql('one', 'SELECT count(*) FROM pg_proc AS p JOIN pg_roles AS r '
              . 'ON r.oid = p.proowner '
              . "WHERE p.pronamespace = 'submission'::regnamespace "
              . "AND r.rolname <> 'submission_definer_one'"), 0,
   'all functions belong to one role');
is(sql('one', 'SELECT rolcanlogin OR rolsuper OR rolcreaterole '
              . 'OR rolcreatedb OR rolreplication OR rolbypassrls '
              . "FROM pg_roles WHERE rolname = 'submission_definer_one'"), 'f',
   'which nobody logs in as, and which is nobody');
is(sql('one', 'SELECT string_agg(DISTINCT a.privilege_type, \' \' '
              . 'ORDER BY a.privilege_type) FROM pg_class AS c '
              . 'CROSS JOIN LATERAL aclexplode(c.relacl) AS a '
              . "WHERE a.grantee = 'submission_definer_one'::regrole"),
   'DELETE INSERT SELECT UPDATE', 'and changes no table but its rows');
is(sql('one', "SELECT has_schema_privilege('submission_definer_one', "
              . "'submission', 'CREATE')"), 'f', 'nor makes one');
is(sql('one', 'SELECT count(*) FROM pg_proc '
              . "WHERE pronamespace = 'submission'::regnamespace "
              . "AND prosecdef AND NOT 'search_path=submission, pg_temp' "
              . '= ANY (coalesce(proconfig, \'{}\'))'), 0,
   'and nobody puts another name before theirs');
is(sql('one', 'SELECT count(*) FROM pg_proc AS p '
              . 'JOIN pg_language AS l ON l.oid = p.prolang '
              . "WHERE p.pronamespace = 'submission'::regnamespace "
              . "AND l.lanname = 'plpgsql' AND p.prosecdef "
              . "AND p.prorettype <> 'trigger'::regtype "
              . "AND NOT p.proconfig @> ARRAY['enable_seqscan=off', "
              . "'enable_bitmapscan=off', 'enable_hashjoin=off', "
              . "'enable_mergejoin=off', 'jit=off']"), 0,
   'and all of them seek in indexes');


# A copy has the rights of the database that it was copied from, until install.sh has
# run; one that was renamed has no other, and its logins go on.

sql('postgres', 'CREATE DATABASE copy TEMPLATE three');
is((as_login('login_three', 'copy', $acquire))[0], 0,
   'a copy has the rights of the other');

($status, $text) = install('copy', $dir);
is($status, 0, "until it is installed: $text");
like($text, qr/submission_nginx_three .* has no rights in this one/,
     'which says whose rights are gone');
like((as_login('login_three', 'copy', $acquire))[1],
     qr/permission denied for schema/, 'a login of the other has none');
is(sql('copy', 'SELECT count(*) FROM pg_class AS c '
               . 'CROSS JOIN LATERAL aclexplode(c.relacl) AS a '
               . "WHERE a.grantee = 'submission_definer_three'::regrole"), 0,
   'nor has the role that owns its functions');
is((as_login('login_three', 'three', $acquire))[0], 0, 'there it goes on');

sql('postgres', 'ALTER DATABASE three RENAME TO renamed');
($status, $text) = install('renamed', $dir);
is($status, 0, "a database that was renamed: $text");
is((as_login('login_three', 'renamed', $acquire))[0], 0, 'goes on, too');


# On PostgreSQL before 15 everybody may create something in "public".  While install.sh
# waits for another one, it calls a function with a number that has a better match there.

sql('postgres', 'CREATE DATABASE shared');
sql('postgres', "CREATE ROLE guest LOGIN PASSWORD 'pw'");
sql('shared', 'GRANT CREATE ON SCHEMA public TO PUBLIC');

is((as_login('guest', 'shared', <<'END'))[0], 0, 'a guest lays a trap');
CREATE TABLE public.caught (who text);
GRANT INSERT ON public.caught TO PUBLIC;
CREATE FUNCTION public.pg_sleep(numeric) RETURNS void LANGUAGE sql AS $$
    INSERT INTO public.caught VALUES (current_user);
    SELECT pg_catalog.pg_sleep(0.2);
$$;
END

{
    my $other = DBI->connect('dbi:Pg:' . (database('shared'))[1] =~ tr/ /;/r,
                             undef, undef, { RaiseError => 1, PrintError => 0 });

    $other->do('SELECT pg_advisory_lock(7002, 1)');

    my $pid = open(my $out, '-|') // die "fork: $!";

    if (!$pid) {
        open(STDERR, '>&', \*STDOUT);
        exec("$dir/install.sh", 'postgres', database('shared')) or exit 127;
    }

    wait_for('install.sh waits', sub {
        return sql('shared', "SELECT count(*) FROM pg_stat_activity "
                             . "WHERE datname = 'shared' "
                             . "AND wait_event = 'PgSleep'");
    });
    $other->disconnect;

    $text = do { local $/; <$out> };
    ok(close $out, "it had to wait: $text");
}

is(sql('shared', 'SELECT count(*) FROM public.caught'), 0,
   'it calls no function that is not its own');


# Somebody who is no superuser, and may create roles.

sql('postgres', "CREATE ROLE landlord LOGIN CREATEROLE PASSWORD 'pw'");
sql('postgres', 'CREATE DATABASE four OWNER landlord');

for my $time ('first', 'second') {
    local $ENV{PGPASSWORD} = 'pw';
    my @to = database('four');

    $to[1] =~ s/\b(?:user|password)=\S+//g;
    ($status, $text) = run("$dir/install.sh", 'postgres', '-d',
                           "$to[1] user=landlord");
    is($status, 0, "by the database's owner, the $time time: $text");
}

sql('postgres', "CREATE ROLE poor LOGIN PASSWORD 'pw'");
sql('postgres', 'CREATE DATABASE five OWNER poor');

{
    local $ENV{PGPASSWORD} = 'pw';
    my @to = database('five');

    $to[1] =~ s/\b(?:user|password)=\S+//g;
    ($status, $text) = run("$dir/install.sh", 'postgres', '-d',
                           "$to[1] user=poor");
}

isnt($status, 0, 'who may not create roles');
like($text, qr/no role submission_definer_five, and poor may not create roles/,
     'is told what is missing');


# a newer one

sql('one', 'UPDATE submission.submission_schema SET version = 2');
sql('one', 'DROP FUNCTION submission.submission_ping(bigint)');

($status, $text) = install('one', $dir);
isnt($status, 0, 'a newer schema is not touched');
like($text, qr/newer than these files/, 'in words');
is(sql('one', "SELECT count(*) FROM pg_proc WHERE proname = "
              . "'submission_ping'"), 0, 'nothing was made');
sql('one', 'UPDATE submission.submission_schema SET version = 1');
install('one', $dir);


# a type of rows that is not the one of these files

sql('one', 'ALTER TYPE submission.submission_row_job '
           . 'RENAME ATTRIBUTE o_kind TO o_sort');

($status, $text) = install('one', $dir);
isnt($status, 0, 'functions that answer with other columns are refused');
like($text, qr/submission_row_job in this database has other columns .*\bo_sort/,
     'in words');
sql('one', 'ALTER TYPE submission.submission_row_job '
           . 'RENAME ATTRIBUTE o_sort TO o_kind');


# a database that cannot have every character

sql('postgres', "CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' "
                . "LC_COLLATE 'C' LC_CTYPE 'C'");

($status, $text) = install('latin', $dir);
isnt($status, 0, 'another encoding is refused');
like($text, qr/the encoding of this database is LATIN1, and has to be UTF8/,
     'in words');
is(has_schema('latin'), 0, 'nothing was made');


# a file that is missing

symlink("$dir/nowhere", "$dir/postgres/lost.sql") or die "symlink: $!";

($status, $text) = install('two', $dir);
isnt($status, 0, 'a file that cannot be read');
like($text, qr/lost\.sql/, 'in words');
is(has_schema('two'), 0, 'nothing was made');

unlink("$dir/postgres/lost.sql");


# an error of SQL

open(my $file, '>', "$dir/postgres/zz.sql") or die "zz.sql: $!";
print $file "SELECT 1 / 0;\n";
close $file;

($status, $text) = install('two', $dir);
isnt($status, 0, 'an error of the server');
is(has_schema('two'), 0, 'nothing was made');

unlink("$dir/postgres/zz.sql");


# SQL Server's client, by one that keeps what it is given

open($file, '>', "$dir/client") or die "client: $!";
print $file <<'END';
#!/bin/sh
echo "$@" > "$0.args"
while [ "$1" != -i ]; do shift; done
cp "$2" "$0.sql"
exit ${CLIENT_STATUS:-0}
END
close $file;
chmod(0755, "$dir/client") or die "chmod: $!";

$ENV{SQLCMD} = "$dir/client";

sub given {
    my ($name) = @_;

    open(my $given, '<', "$dir/client.$name") or die "$name: $!";

    return do { local $/; <$given> };
}

($status, $text) = run("$dir/install.sh", 'mssql', '-S', 'db1');
is($status, 0, "SQL Server, with a client: $text");
like(given('args'), qr/^-b -I -S db1 -i /, 'which stops at an error');
like(given('sql'), qr/CREATE\ TABLE.*
                      ^BEGIN\ TRANSACTION;\nGO\n.*CREATE\ OR\ ALTER\ PROCEDURE.*
                      CREATE\ ROLE.*GRANT\ EXECUTE.*
                      ^COMMIT\ TRANSACTION;\nGO\n/msx,
     'tables, then procedures and rights in one transaction');
unlike(given('sql'), qr/^DROP (?:PROCEDURE|FUNCTION)/m,
       'no procedure is dropped');

($status, $text) = run("$dir/install.sh", 'babelfish', '-S', 'db1');
is($status, 0, "Babelfish: $text");
unlike(given('sql'), qr/CREATE OR ALTER/, 'has no CREATE OR ALTER');

my $made = () = given('sql') =~ /^CREATE PROCEDURE/mg;
my $dropped = () = given('sql') =~ /^DROP PROCEDURE IF EXISTS [\w.]+;\nGO$/mg;

ok($made > 10 && $made == $dropped, "$made procedures, dropped before");


# a release to which the tests migrate

system("$top/t/schema/next.pl", "$dir/next") == 0 or die "next.pl failed\n";

for my $kind (qw(mssql babelfish)) {
    ($status, $text) = run("$dir/next/install.sh", $kind, '-S', 'db1');
    is($status, 0, "a migration, $kind: $text");
    like(given('sql'), qr/ADD\ label.*CREATE\ TABLE/sx,
         'what version 1 lacks is added first');
}

unlike(given('sql'), qr/LOCK_TIMEOUT|ONLINE = ON/, 'as Babelfish can');


# a table that is in use

open($file, '>', "$dir/client.busy") or die "client.busy: $!";
print $file <<'END';
#!/bin/sh
if [ ! -e "$0.seen" ]; then
    touch "$0.seen"
    echo "Msg 1222, Level 16, State 56: Lock request time out period exceeded."
    exit 1
fi
echo "done"
END
close $file;
chmod(0755, "$dir/client.busy") or die "chmod: $!";

{
    local $ENV{SQLCMD} = "$dir/client.busy";

    ($status, $text) = run("$dir/install.sh", 'mssql', '-S', 'db1');
}

is($status, 0, 'a table that is in use is waited for');
is($text, "a table is in use: trying again\ndone\n", 'in words');

$ENV{CLIENT_STATUS} = 3;
($status, $text) = run("$dir/install.sh", 'mssql', '-S', 'db1');
isnt($status, 0, 'its failure is ours');

($status, $text) = run("$dir/install.sh", 'oracle');
is($status, 2, 'another database');
like($text, qr/install\.sh postgres/, 'how it is used');


# what is there is sound

SKIP: {
    skip('no plpgsql_check (Debian: postgresql-15-plpgsql-check)', 2)
        if !sql('one', "SELECT count(*) FROM pg_available_extensions "
                       . "WHERE name = 'plpgsql_check'");

    sql('one', 'CREATE EXTENSION plpgsql_check');

    my $functions = 'FROM pg_proc AS p JOIN pg_language AS l '
                    . 'ON l.oid = p.prolang '
                    . "WHERE p.pronamespace = 'submission'::regnamespace "
                    . "AND l.lanname = 'plpgsql' "
                    . "AND p.prorettype <> 'trigger'::regtype";

    cmp_ok(sql('one', "SELECT count(*) $functions"), '>', 5,
           'functions in PL/pgSQL');

    # The text of one statement is made of constants, by the index and the way,
    # which cannot be seen.

    my $plain = "p.proname <> 'submission_intents_search'";

    is(sql('one', "SELECT string_agg(c, E'\\n') FROM (SELECT p.proname || ': ' "
                  . '|| plpgsql_check_function(p.oid, '
                  . 'performance_warnings => false, '
                  . "extra_warnings => $plain, other_warnings => true, "
                  . "security_warnings => $plain) AS c $functions) AS f"),
       '', 'nothing is said of them');
}

remove_tree($dir);

done_testing();

package SubmissionStore::MSSQL;

# A SQL Server, or a Babelfish, through FreeTDS: a database and a login for each
# store.  nginx logs in with no more than the role of sql/mssql/role.sql.
#
# Views of dbo show the tables as SQLite has them, and are written to by their
# triggers.  Of SQLite's functions those are translated that tests use.
#
# Of a Babelfish, SUBMISSION_TEST_SQL is its PostgreSQL, as a connection string of
# libpq: T-SQL's hints lock nothing there, a function does.

use strict;
use warnings;

use parent 'SubmissionStore';

use Cwd qw(abs_path);
use DBI;
use Encode qw(encode_utf8);
use File::Basename qw(dirname);
use File::Glob qw(:bsd_glob);
use File::Path qw(make_path);
use POSIX qw(ceil);
use Time::HiRes qw(sleep);

# with what means something in connection strings, as far as FreeTDS takes it

use constant PASSWORD => q(Pw {1;2=3" 'x);

# SQL_BINARY, SQL_VARBINARY, SQL_LONGVARBINARY

use constant BINARY => { -2 => 1, -3 => 1, -4 => 1 };

use constant TABLES => qw(manager_leases manager_candidates
                          manager_target_names intents attempts schema
                          inbox inbox_refused targets stats audit jobs
                          schedules);

my $top = abs_path(dirname(__FILE__) . '/../../..');
my $count = 0;


# the connection string of the test, with another database, and login

sub _string {
    my ($database, $login) = @_;

    my @parts = SubmissionStore::string() =~ /((?:\{(?:[^}]|\}\})*\}|[^;{])+)/g;

    @parts = grep { !/^\s*Database\s*=/i } @parts;
    @parts = grep { !/^\s*(?:UID|PWD)\s*=/i } @parts if $login;

    return join ';', @parts, "Database=$database", $login ? "UID=$login" : ();
}


sub _connect {
    my ($database) = @_;

    return DBI->connect('dbi:ODBC:' . _string($database), undef, undef,
                        { RaiseError => 1, PrintError => 0,
                          AutoInactiveDestroy => 1,
                          LongReadLen => 1 << 20,
                          odbc_ignore_named_placeholders => 1 })
           || die "connection failed: $DBI::errstr\n";
}


# An error behind a result is reported when that is asked for.  Bytes are shown
# in hexadecimal when they are to be.

sub _query {
    my ($dbh, $sql, $hex) = @_;

    my $sth = $dbh->prepare($sql, { odbc_exec_direct => 1 });
    my @rows;

    $sth->execute;

    do {
        if ($sth->{NUM_OF_FIELDS}) {
            my @bytes = grep { $hex && BINARY->{$sth->{TYPE}[$_]} }
                        0 .. $#{$sth->{TYPE}};

            for my $row (@{$sth->fetchall_arrayref}) {
                $_ //= '' for @$row;
                $_ = uc unpack('H*', $_) for @$row[@bytes];
                push @rows, $row;
            }
        }
    } while ($sth->{odbc_more_results});

    return @rows;
}


sub _us {
    my ($at) = @_;

    return "DATEDIFF_BIG(microsecond, CAST('1970-01-01' AS datetime2(6)), $at)";
}


sub _install {
    my ($dbh, $babelfish) = @_;

    open(my $print, '-|', "$top/sql/install.sh", 'print',
         $babelfish ? 'babelfish' : 'mssql') or die "install.sh: $!";
    my $text = do { local $/; <$print> };
    close $print or die "install.sh failed\n";

    my $alone;

    for my $batch (grep { /\S/ } split /^GO$/m, $text) {
        $alone //= _alone() if $batch =~ /^\s*(?:CREATE ROLE|GRANT|REVOKE)\b/m;
        _query($dbh, $batch);
    }

    undef $alone;

    # by table: the key, and what the server numbers, which is nobody's to write

    my %columns;

    push @{$columns{key}{$_->[0]}}, $_->[1]
        for _query($dbh, 'SELECT TABLE_NAME, COLUMN_NAME '
                         . 'FROM INFORMATION_SCHEMA.KEY_COLUMN_USAGE '
                         . "WHERE TABLE_SCHEMA = 'submission'");
    $columns{numbered}{$_->[0]} = $_->[1]
        for _query($dbh, 'SELECT OBJECT_NAME(object_id), name '
                         . 'FROM sys.columns WHERE is_identity = 1');

    _view($dbh, $_, \%columns) for TABLES;
}


# times as microseconds, both ways

sub _view {
    my ($dbh, $table, $columns) = @_;

    my $of = "submission.submission_$table";
    my $view = "dbo.submission_$table";

    my @columns = _query($dbh, 'SELECT COLUMN_NAME, DATA_TYPE '
                               . 'FROM INFORMATION_SCHEMA.COLUMNS '
                               . "WHERE TABLE_SCHEMA = 'submission' "
                               . "AND TABLE_NAME = 'submission_$table' "
                               . 'ORDER BY ORDINAL_POSITION');

    my %is_time = map { $_->[0] => $_->[1] eq 'datetime2' } @columns;
    my @names = map { $_->[0] } @columns;

    my @key = @{$columns->{key}{"submission_$table"} // []};
    my $numbered = $columns->{numbered}{"submission_$table"} // '';
    my @written = grep { $_ ne $numbered } @names;

    my %in = map {
        $_ => $is_time{$_} ? "submission.submission_at(i.$_)" : "i.$_";
    } @names;

    _query($dbh, "CREATE VIEW $view AS SELECT "
                 . join(', ', map { $is_time{$_} ? _us($_) . " AS $_" : $_ }
                              @names)
                 . " FROM $of"
                 . ($table eq 'manager_leases' ? ' WHERE lease_epoch > 0' : ''));

    return if !@key;

    _query($dbh, "CREATE TRIGGER dbo.${table}_insert ON $view "
                 . "INSTEAD OF INSERT AS\nBEGIN\n    SET NOCOUNT ON;\n"
                 . "    INSERT INTO $of (" . join(', ', @written) . ') SELECT '
                 . join(', ', map { $in{$_} } @written)
                 . " FROM inserted AS i;\nEND");
    _query($dbh, "CREATE TRIGGER dbo.${table}_update ON $view "
                 . "INSTEAD OF UPDATE AS\nBEGIN\n    SET NOCOUNT ON;\n"
                 . '    UPDATE t SET '
                 . join(', ', map { "$_ = $in{$_}" } @written)
                 . " FROM $of AS t JOIN inserted AS i ON "
                 . join(' AND ', map { "$in{$_} = t.$_" } @key) . ";\nEND");
}


sub _postgres {
    my $string = $ENV{SUBMISSION_TEST_SQL}
        // die "SUBMISSION_TEST_SQL, Babelfish's PostgreSQL, was expected\n";

    return DBI->connect("dbi:Pg:$string", undef, undef,
                        { RaiseError => 1, PrintError => 0,
                          AutoInactiveDestroy => 1 });
}


# Databases and logins of a Babelfish are rows of one catalogue, and of two
# sessions that change the same one, one fails: nobody else does while what this
# returns is kept.

sub _alone {
    return if !defined $ENV{SUBMISSION_TEST_SQL};

    my $dbh = _postgres();

    $dbh->do('SELECT pg_advisory_lock(1)');

    return $dbh;
}


# dbo.test_lock(): all tables, for the transaction's time

sub _lock_function {
    my ($database) = @_;

    my $dbh = _postgres();
    my $tables = join ', ', map { "\"${database}_submission\".submission_$_" }
                            TABLES;

    $dbh->do("CREATE FUNCTION \"${database}_dbo\".test_lock() RETURNS int "
             . 'LANGUAGE plpgsql SECURITY DEFINER AS $$ '
             . "BEGIN LOCK TABLE $tables IN EXCLUSIVE MODE; RETURN 1; END \$\$");
    $dbh->disconnect;
}


sub create {
    my ($class, $dir, %options) = @_;

    my $alone = _alone();
    my $admin = _connect('master');
    my $database = "submission_t${$}_" . $count++;

    _drop($admin, $database);
    _query($admin, "CREATE DATABASE $database");

    (my $quoted = PASSWORD) =~ s/'/''/g;
    _query($admin, "CREATE LOGIN $database WITH PASSWORD = '$quoted'");

    undef $alone;

    my $dbh = _connect($database);
    my $babelfish = (_query($dbh, 'SELECT @@VERSION'))[0][0] =~ /^Babelfish/;

    _install($dbh, $babelfish);

    $alone = _alone();

    _query($dbh, "CREATE USER $database FOR LOGIN $database");
    _query($dbh, "ALTER ROLE submission_nginx ADD MEMBER $database");

    # no ownership chains there, and no EXECUTE AS OWNER: who may call a
    # procedure needs the rights on its tables, and on what it calls, too

    if ($babelfish) {
        _query($dbh, 'GRANT SELECT, INSERT, UPDATE, DELETE, EXECUTE '
                     . 'ON SCHEMA::submission TO submission_nginx');
        _lock_function($database);
    }

    # beside the directory, which may be made anew

    my $password_file = $options{password_file} // "$dir.password";

    make_path(dirname($password_file));
    open(my $file, '>', $password_file) or die "$password_file: $!";
    chmod(0600, $password_file) or die "chmod: $!";
    print $file PASSWORD, "\n";
    close $file or die "$password_file: $!";

    return bless {
        dir => $dir, database => $database, admin => $admin, dbh => $dbh,
        password_file => $password_file, others => [], owner => $$,
        babelfish => $babelfish,
    }, $class;
}


sub kind { return 'mssql' }


# On Babelfish a procedure's first call on a connection takes seconds.

sub pace { return $ENV{SUBMISSION_TEST_PACE} // 5 }


# OPENJSON leaves them as they are on Babelfish

sub escapes { return !$_[0]{babelfish} }


# DATEADD overflows there in the last three milliseconds

sub last_time { return !$_[0]{babelfish} }


sub directive {
    my ($self, %options) = @_;

    my $timeout = $options{timeout};

    # whole seconds; those of a test are as many times longer, and milliseconds
    # are what it means

    $timeout = ($2 ? ceil($1 / 1000) : $1 * $self->pace) . 's'
        if $timeout && $timeout =~ /^(\d+)(m?)s$/;

    return 'odbc "' . _string($self->{database}, $self->{database}) . '"'
           . " password_file=$self->{password_file}"
           . ($timeout ? " query_timeout=$timeout" : '');
}


sub query {
    my ($self, $sql) = @_;

    $sql =~ s/\blength\(hex\((\w+)\)\)/2 * DATALENGTH($1)/g;
    $sql =~ s/\bsubstr\((\w+), (\d+)\)/SUBSTRING($1, $2, 4000)/g;
    $sql =~ s/\bsubstr\(/SUBSTRING(/g;
    $sql =~ s/\blength\(/DATALENGTH(/g;
    $sql =~ s/\binstr\(('\w+'), (\w+)\)/CHARINDEX($2, $1)/g;
    $sql =~ s/\bgroup_concat\(/STRING_AGG(/g;
    $sql =~ s/\btypeof\(payload\)/'blob'/g;

    my $hex = $sql =~ s/\bhex\(payload\)/payload/g;

    return _query($self->{dbh}, $sql, $hex);
}


sub payload {
    my ($self, $id) = @_;

    return $self->value('SELECT payload FROM submission_intents '
                        . "WHERE intent_id = '$id'");
}


sub hex_text { return $_[1] }

sub no_bytes { return '0x' }

sub unhex { return encode_utf8($_[1]) }

sub now_sql { return _us('SYSUTCDATETIME()') }


# the tests' own triggers go with the tables' contents

sub empty {
    my ($self) = @_;

    $self->unlock($_) for @{$self->{others}};
    $self->back if $self->{away};

    _query($self->{dbh}, "DROP TRIGGER IF EXISTS submission.test_$_")
        for qw(slow_begin brief fail insert update);
    _query($self->{dbh}, 'ALTER TABLE submission.submission_intents '
                         . 'DROP CONSTRAINT test_refuse')
        if delete $self->{refuses};
    $self->refuse_begin if $self->{refuses_begin};
    _query($self->{dbh}, 'DROP TABLE IF EXISTS dbo.test_history');
    _query($self->{dbh}, "DELETE FROM submission.submission_$_")
        for grep { $_ ne 'schema' } TABLES;

    $self->set_version(1);
}


sub set_version {
    my ($self, $version) = @_;

    _query($self->{dbh}, 'UPDATE submission.submission_schema '
                         . "SET version = $version, compatible_from = "
                         . ($version > 2 ? $version : 1));
}


sub _begin_locked {
    my ($self, $dbh) = @_;

    _query($dbh, 'BEGIN TRANSACTION');

    if ($self->{babelfish}) {
        _query($dbh, 'SELECT dbo.test_lock()');

    } else {
        _query($dbh, "SELECT TOP (0) 1 FROM submission.submission_$_ "
                     . 'WITH (TABLOCKX, HOLDLOCK)') for TABLES;
    }
}


# Another session keeps all others from writing, and has done so when this
# returns.

sub lock {
    my ($self) = @_;

    my $other = { dbh => _connect($self->{database}) };

    $self->_begin_locked($other->{dbh});

    push @{$self->{others}}, $other;

    return $other;
}


# Lock time-outs are for each lock, and a call may wait for several.

sub locked_out {
    return qr/lock timeout|Lock request time out|Timeout expired|no answer from/;
}


sub unlock {
    my ($self, $other, @statements) = @_;

    my $dbh = delete $other->{dbh} // return;

    _query($dbh, $_) for @statements, 'COMMIT TRANSACTION';
    $dbh->disconnect;
}


# an application's transaction: unlock() commits it

sub begin {
    my ($self, @statements) = @_;

    my $other = { dbh => _connect($self->{database}) };

    _query($other->{dbh}, $_) for 'BEGIN TRANSACTION', @statements;

    push @{$self->{others}}, $other;

    return $other;
}


sub rollback {
    my ($self, $other) = @_;

    my $dbh = delete $other->{dbh} // return;

    _query($dbh, 'ROLLBACK TRANSACTION');
    $dbh->disconnect;
}


sub submit_sql {
    my ($self, $id, $target, $payload, $trace) = @_;

    return "EXECUTE submission.submit N'$id', N'$target', N'$payload'"
           . ($trace ? ", \@traceparent = N'$trace'" : '');
}


# its login is closed, and its sessions end

sub away {
    my ($self) = @_;

    _query($self->{admin}, "ALTER LOGIN $self->{database} DISABLE");
    $self->_kill($self->{database});
    $self->{away} = 1;
}


sub back {
    my ($self) = @_;

    _query($self->{admin}, "ALTER LOGIN $self->{database} ENABLE");
    delete $self->{away};
}


sub _kill {
    my ($self, $login) = @_;

    for my $row (_query($self->{admin}, 'SELECT session_id '
                                        . 'FROM sys.dm_exec_sessions '
                                        . "WHERE login_name = '$login'"))
    {
        eval { _query($self->{admin}, "KILL $row->[0]") };
    }
}


sub sessions {
    my ($self) = @_;

    return (_query($self->{admin}, 'SELECT COUNT(*) FROM sys.dm_exec_sessions '
                                   . "WHERE login_name = '$self->{database}'")
           )[0][0];
}


sub sound {
    my ($self) = @_;

    my @problems = eval {
        map { _query($self->{dbh}, "DBCC CHECKTABLE "
                                   . "('submission.submission_$_') "
                                   . 'WITH NO_INFOMSGS') } TABLES;
    };

    return $@ =~ /not.*supported|syntax/i ? 1 : !@problems && !$@;
}


# as insert_like of all stores

sub insert_like {
    my ($self, $like, $ids, %options) = @_;

    my $at = $options{at}
             // $self->now_sql . ' - ' . int(1e6 * ($options{ago} // 0));
    my $same = SubmissionStore::SAME;
    my $json = '[' . join(',', map { "\"$_\"" } @$ids) . ']';

    _query($self->{dbh}, <<"END");
SET NOCOUNT ON;
DECLARE \@t datetime2(6);
SET \@t = submission.submission_at($at);
INSERT INTO submission.submission_intents (
    lease_name, intent_id, status, attempt_count, created_at, last_modified_at,
    next_attempt_at, $same
)
SELECT i.lease_name, CAST(new.value AS nvarchar(400)), 'pending', 0, \@t, \@t,
       \@t, $same
FROM submission.submission_intents AS i CROSS JOIN OPENJSON(N'$json') AS new
WHERE i.intent_id = '$like';
END
}


# the row first: its epoch is read when nobody can change it any more

sub give_lease {
    my ($self, $holder, $seconds) = @_;

    my $duration = int(1e3 * $seconds);

    _query($self->{dbh}, <<"END");
SET NOCOUNT ON;
DECLARE \@t datetime2(6);
BEGIN TRANSACTION;
UPDATE submission.submission_manager_leases SET lease_epoch = lease_epoch;
SET \@t = SYSUTCDATETIME();
UPDATE submission.submission_manager_leases
SET holder_id = '$holder', lease_epoch = lease_epoch + 1, acquired_at = \@t,
    renewed_at = \@t, expires_at = DATEADD(millisecond, $duration, \@t);
COMMIT TRANSACTION;
END
}


sub end_lease {
    my ($self, $at) = @_;

    $at = $at ? "submission.submission_at($at)" : 'SYSUTCDATETIME()';

    _query($self->{dbh}, <<"END");
SET NOCOUNT ON;
DECLARE \@t datetime2(6);
SET \@t = $at;
UPDATE submission.submission_manager_leases SET expires_at = \@t
WHERE expires_at > \@t;
END
}


sub _trigger {
    my ($self, $name, $when, $table, $action) = @_;

    _query($self->{dbh}, "CREATE TRIGGER submission.$name "
                         . "ON submission.submission_$table $when AS\n"
                         . "BEGIN\n    SET NOCOUNT ON;\n    $action;\nEND");
}


sub refuse {
    my ($self, $id) = @_;

    $self->{refuses} = 1;
    _query($self->{dbh}, 'ALTER TABLE submission.submission_intents '
                         . 'ADD CONSTRAINT test_refuse '
                         . "CHECK (intent_id <> N'$id')");
}


sub refuse_begin {
    my ($self, $id) = @_;

    $self->{refuses_begin} = defined $id;
    _query($self->{dbh}, 'ALTER TABLE submission.submission_intents '
                         . (defined $id
                            ? 'ADD CONSTRAINT test_refuse_begin CHECK '
                              . "(intent_id <> N'$id' OR inflight_epoch IS NULL)"
                            : 'DROP CONSTRAINT test_refuse_begin'));
}


# WAITFOR is not everywhere

sub slow_begin {
    my ($self, $id, $epoch, $seconds) = @_;

    my $ms = int(1000 * $seconds * $self->pace);

    $self->_trigger('test_slow_begin', 'AFTER UPDATE', 'intents', <<"END");
DECLARE \@end datetime2(6);
    SET \@end = DATEADD(millisecond, $ms, SYSUTCDATETIME());
    IF EXISTS (SELECT 1 FROM inserted
               WHERE intent_id = '$id' AND inflight_epoch = $epoch)
        WHILE SYSUTCDATETIME() < \@end
            SET \@end = \@end
END
}


sub void_grants {
    my ($self, $on) = @_;

    if (!$on) {
        _query($self->{dbh}, 'DROP TRIGGER submission.test_brief');
        return;
    }

    $self->_trigger('test_brief', 'AFTER UPDATE', 'manager_leases', <<'END');
UPDATE l SET expires_at = i.acquired_at
    FROM submission.submission_manager_leases AS l
         JOIN inserted AS i ON i.lease_name = l.lease_name
         JOIN deleted AS d ON d.lease_name = i.lease_name
    WHERE i.lease_epoch <> d.lease_epoch
END
}


sub fail_turns {
    my ($self, $on) = @_;

    if (!$on) {
        _query($self->{dbh}, 'DROP TRIGGER submission.test_fail');
        return;
    }

    $self->_trigger('test_fail', 'AFTER UPDATE', 'intents',
                    "THROW 51000, 'no', 1");
}


sub fail_pages {
    my ($self, $on) = @_;

    my @names = ('submission_intents', 'test_away');

    @names = reverse @names if !$on;

    _query($self->{dbh}, "EXEC sp_rename N'submission.$names[0]', "
                         . "N'$names[1]', N'OBJECT'");
}


# The lease's row is locked by whoever changes it until that is committed: ids
# are in the order of the changes.  A row of epoch 0 is nobody's.

sub record_lease {
    my ($self, @columns) = @_;

    my $row = sub {
        my ($from) = @_;

        return join ', ', map { /_at$/ ? _us("$from.$_") : "$from.$_" }
                          @columns;
    };

    my $columns = join ', ', @columns;
    my $was = join ', ', map { "was_$_" } @columns;
    my $table = join ', ',
                map { $_ . (/holder/ ? ' nvarchar(128)' : ' bigint') . ' NULL' }
                @columns, map { "was_$_" } @columns;
    my $now = $self->now_sql;
    my $dbh = $self->{dbh};

    _query($dbh, 'CREATE TABLE dbo.test_history (id bigint IDENTITY(1, 1) '
                 . "PRIMARY KEY, at bigint NOT NULL, $table)");
    _query($dbh, 'GRANT SELECT, INSERT ON dbo.test_history '
                 . 'TO submission_nginx') if $self->{babelfish};
    $self->_begin_locked($dbh);
    _query($dbh, "INSERT INTO dbo.test_history (at, $columns) SELECT $now, "
                 . $row->('l')
                 . ' FROM submission.submission_manager_leases AS l '
                 . 'WHERE l.lease_epoch > 0');
    $self->_trigger('test_insert', 'AFTER INSERT', 'manager_leases',
                    "INSERT INTO dbo.test_history (at, $columns) "
                    . "SELECT $now, " . $row->('i') . ' FROM inserted AS i '
                    . 'WHERE i.lease_epoch > 0');
    $self->_trigger('test_update', 'AFTER UPDATE', 'manager_leases',
                    "INSERT INTO dbo.test_history (at, $columns, $was) "
                    . "SELECT $now, " . $row->('i') . ', ' . $row->('d')
                    . ' FROM inserted AS i JOIN deleted AS d '
                    . 'ON d.lease_name = i.lease_name '
                    . 'WHERE i.lease_epoch > 0');
    _query($dbh, 'COMMIT TRANSACTION');
}


sub record_schedules {
    my ($self) = @_;

    my ($names, $values) = $self->change_columns(sub {
        my $column = $_[0] =~ s/^OLD\./d./r =~ s/^NEW\./i./r;

        return $column =~ /_at$/ ? _us($column) : $column;
    });
    my $table = join ', ', map { $_ . (/_id$/ ? ' nvarchar(400)' : ' bigint')
                                 . ' NULL' } split /, /, $names;
    my $now = $self->now_sql;

    _query($self->{dbh}, 'CREATE TABLE dbo.test_schedules '
                         . '(id bigint IDENTITY(1, 1) PRIMARY KEY, '
                         . "at bigint NOT NULL, $table)");
    _query($self->{dbh}, 'GRANT SELECT, INSERT ON dbo.test_schedules '
                         . 'TO submission_nginx') if $self->{babelfish};
    $self->_trigger('test_schedule', 'AFTER UPDATE', 'schedules',
                    "INSERT INTO dbo.test_schedules (at, $names) "
                    . "SELECT $now, $values "
                    . 'FROM inserted AS i JOIN deleted AS d '
                    . 'ON d.lease_name = i.lease_name '
                    . 'AND d.schedule_id = i.schedule_id');
}


sub would_change {
    my ($self, $name, $holder, $epoch) = @_;

    my $dbh = $self->{dbh};
    my $arguments = "N'submission-manager-executor', N'$holder', $epoch";
    my $changes;

    _query($dbh, 'BEGIN TRANSACTION');

    if ($name eq 'lease_fence') {
        $changes = eval {
            _query($dbh, 'DECLARE @now datetime2(6); EXECUTE '
                         . "submission.submission_fence $arguments, "
                         . '@now OUTPUT');
            1;
        } ? 1 : 0;

        die $@ if !$changes && $@ !~ /LEASE_LOST/;

    } else {
        $arguments .= ', 2000' if $name ne 'lease_release';

        my ($row) = _query($dbh, "EXECUTE submission.submission_$name "
                                 . $arguments);

        $changes = $row->[1];
    }

    _query($dbh, 'IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION');

    return $changes;
}


# sessions that were left in the middle of a call end when that does

sub _drop {
    my ($admin, $database) = @_;

    eval { _query($admin, "ALTER DATABASE $database SET SINGLE_USER "
                          . 'WITH ROLLBACK IMMEDIATE') };

    for (1 .. 50) {
        last if eval { _query($admin, "DROP DATABASE IF EXISTS $database"); 1 };
        sleep 0.2;
    }

    eval { _query($admin, "DROP LOGIN $database") };
}


sub cleanup {
    my ($self) = @_;

    return if $self->{owner} != $$ || !$self->{dbh};

    for my $dbh (grep { $_ } delete $self->{dbh},
                 map { delete $_->{dbh} } @{$self->{others}})
    {
        eval { $dbh->disconnect };
    }

    eval {
        my $alone = _alone();

        $self->_kill($self->{database});
        _drop($self->{admin}, $self->{database});
        $self->{admin}->disconnect;
        1;
    } or warn $@;

    unlink $self->{password_file};
}


1;

package SubmissionStore::Postgres;

# A PostgreSQL: a database for each store, copied from one that
# has the schema and the views of t/unit/store_postgres.sql, and is made once
# for each state of the SQL.  nginx logs in with no more than the role of
# sql/postgres/role.sql.

use strict;
use warnings;

use parent 'SubmissionStore';

use Cwd qw(abs_path);
use DBI;
use Digest::MD5 qw(md5_hex);
use File::Basename qw(dirname);
use File::Glob qw(:bsd_glob);
use File::Path qw(make_path);

use constant { LOGIN => 'submission_test', PASSWORD => 'pw{1};2=3' };

use constant LOCK => 'LOCK TABLE submission.submission_manager_leases, '
                     . 'submission.submission_manager_candidates, '
                     . 'submission.submission_intents, '
                     . 'submission.submission_attempts, '
                     . 'submission.submission_schema IN EXCLUSIVE MODE';

my $top = abs_path(dirname(__FILE__) . '/../../..');
my $count = 0;


# the connection string of the test, with another database, and login

sub _string {
    my ($database, $login) = @_;

    my @parts = grep { !/^dbname=/ } split ' ', SubmissionStore::string();

    @parts = grep { !/^(?:user|password)=/ } @parts if $login;

    return join ' ', @parts, "dbname=$database", $login ? "user=$login" : ();
}


sub _connect {
    my ($database) = @_;

    (my $string = _string($database)) =~ tr/ /;/;

    my $dbh = DBI->connect("dbi:Pg:$string", undef, undef,
                           { RaiseError => 1, PrintError => 0, PrintWarn => 0,
                             AutoInactiveDestroy => 1, pg_enable_utf8 => 0,
                             pg_server_prepare => 0,
                             pg_placeholder_dollaronly => 1 })
        or die "connection failed: $DBI::errstr\n";

    $dbh->do('SET client_min_messages = warning');

    # what is written beside the module need not survive a crash

    $dbh->do('SET search_path = t, submission, public');
    $dbh->do('SET synchronous_commit = off');

    return $dbh;
}


# The one that all are copied from.  Its name tells the SQL that it has, and
# is there when it is whole.

sub _template {
    my ($admin) = @_;

    open(my $print, '-|', "$top/sql/install.sh", 'print', 'postgres')
        or die "install.sh: $!";
    my @texts = do { local $/; <$print> };
    close $print or die "install.sh failed\n";

    for my $name ("$top/t/unit/store_postgres.sql",
                  "$top/t/unit/store_functions.sql")
    {
        open(my $file, '<', $name) or die "$name: $!";
        local $/;
        push @texts, scalar <$file>;
    }

    $texts[-1] =~ s/"@"/t/g;

    my $template = 'submission_test_' . substr(md5_hex(@texts), 0, 24);
    my $there = "SELECT 1 FROM pg_database WHERE datname = '$template'";

    return $template if $admin->selectrow_array($there);

    $admin->do('SELECT pg_advisory_lock(7002)');

    if (!$admin->selectrow_array($there)) {
        $admin->do("DROP DATABASE IF EXISTS ${template}_new");
        $admin->do("CREATE DATABASE ${template}_new");

        my $dbh = _connect("${template}_new");
        my $role = "submission_nginx_${template}_new";

        $dbh->do('BEGIN');
        $dbh->do($_) for @texts;
        $dbh->do('COMMIT');
        $dbh->disconnect;

        $admin->do('DO $$ BEGIN CREATE ROLE ' . LOGIN . ' LOGIN PASSWORD \''
                   . PASSWORD . '\'; EXCEPTION '
                   . 'WHEN duplicate_object OR unique_violation THEN NULL; '
                   . 'END $$');
        $admin->do("GRANT $role TO " . LOGIN);
        $admin->do("ALTER DATABASE ${template}_new RENAME TO $template");
    }

    $admin->do('SELECT pg_advisory_unlock(7002)');

    return $template;
}


sub create {
    my ($class, $dir, %options) = @_;

    my $admin = _connect('postgres');
    my $template = _template($admin);
    my $database = "submission_t${$}_" . $count++;

    $admin->do("DROP DATABASE IF EXISTS $database WITH (FORCE)");
    $admin->do("CREATE DATABASE $database TEMPLATE $template");

    # beside the directory, which may be made anew

    my $password_file = $options{password_file} // "$dir.password";

    make_path(dirname($password_file));
    open(my $file, '>', $password_file) or die "$password_file: $!";
    chmod(0600, $password_file) or die "chmod: $!";
    print $file PASSWORD, "\n";
    close $file or die "$password_file: $!";

    return bless {
        dir => $dir, database => $database, admin => $admin,
        dbh => _connect($database), password_file => $password_file,
        others => [], owner => $$,
    }, $class;
}


sub kind { return 'postgres' }


# a call's time is one second at the least

sub directive {
    my ($self, %options) = @_;

    my $timeout = $options{timeout};

    $timeout = '1s' if $timeout && $timeout =~ /ms$/;

    return 'postgres "' . _string($self->{database}, LOGIN) . '"'
           . " password_file=$self->{password_file}"
           . ($timeout ? " query_timeout=$timeout" : '');
}


sub query { return _query($_[0]{dbh}, $_[1]) }


sub _query {
    my ($dbh, $sql) = @_;

    my $sth = $dbh->prepare($sql);

    $sth->execute;

    return if !$sth->{NUM_OF_FIELDS};
    return map { [map { $_ // '' } @$_] } @{$sth->fetchall_arrayref};
}


# the tests' own triggers go with the tables' contents

sub empty {
    my ($self) = @_;

    $self->unlock($_) for @{$self->{others}};
    $self->back if $self->{away};

    my $dbh = $self->{dbh};

    for my $row (_query($dbh, 'SELECT tgname, tgrelid::regclass '
                              . 'FROM pg_trigger '
                              . "WHERE tgname LIKE 'test_%'"))
    {
        $dbh->do("DROP TRIGGER $row->[0] ON $row->[1]");
    }

    $dbh->do("DELETE FROM submission.submission_$_")
        for qw(manager_leases manager_candidates manager_target_names
               intents attempts targets
               stats audit jobs schedules inbox inbox_refused);

    $self->set_version(1);
}


sub now_sql { return 'submission.submission_us(submission.submission_now())' }

sub hex_text { return "encode(convert_to($_[1], 'UTF8'), 'hex')" }

sub json_each { return "json_array_elements_text('$_[1]')" }


# Another session keeps all others from writing, or from what that statement
# locks, and has done so when this returns.  Readers may read.

sub lock {
    my ($self, $statement) = @_;

    my $other = { dbh => _connect($self->{database}) };

    $other->{dbh}->do('BEGIN');
    $other->{dbh}->do($statement // LOCK);

    push @{$self->{others}}, $other;

    return $other;
}


# a role of the template's, which the database has from it

sub role { return "submission_$_[1]_" . _template($_[0]{admin}) . '_new' }


sub locked_out { return qr/canceling statement due to statement timeout/ }


# an application's transaction, which has no right but to submit: unlock() commits
# it

sub begin {
    my ($self, @statements) = @_;

    my $other = { dbh => _connect($self->{database}) };

    $other->{dbh}->do($_)
        for 'SET ROLE ' . $self->role('client'), 'BEGIN', @statements;

    push @{$self->{others}}, $other;

    return $other;
}


sub rollback {
    my ($self, $other) = @_;

    my $dbh = delete $other->{dbh} // return;

    $dbh->do('ROLLBACK');
    $dbh->disconnect;
}


sub submit_sql {
    my ($self, $id, $target, $payload, $trace) = @_;

    return "SELECT submission.submit('$id', '$target', '$payload'"
           . ($trace ? ", p_traceparent => '$trace')" : ')');
}


sub unlock {
    my ($self, $other, @statements) = @_;

    my $dbh = delete $other->{dbh} // return;

    $dbh->do($_) for @statements, 'COMMIT';
    $dbh->disconnect;
}


# the row first: its epoch is read when nobody can change it any more

sub give_lease {
    my ($self, @arguments) = @_;

    $self->{dbh}->do('BEGIN');
    $self->{dbh}->do('SELECT 1 FROM submission.submission_manager_leases '
                     . 'FOR UPDATE');
    $self->SUPER::give_lease(@arguments);
    $self->{dbh}->do('COMMIT');
}


# no connections but that of the test

sub away {
    my ($self) = @_;

    my ($pid) = $self->{dbh}->selectrow_array('SELECT pg_backend_pid()');

    $self->{admin}->do("ALTER DATABASE $self->{database} "
                       . 'ALLOW_CONNECTIONS false');
    $self->{admin}->do('SELECT pg_terminate_backend(pid) '
                       . 'FROM pg_stat_activity WHERE datname = '
                       . "'$self->{database}' AND pid <> $pid");
    $self->{away} = 1;
}


sub back {
    my ($self) = @_;

    $self->{admin}->do("ALTER DATABASE $self->{database} "
                       . 'ALLOW_CONNECTIONS true');
    delete $self->{away};
}


# all sessions but that of the test are, and those to come

sub read_only {
    my ($self, $on) = @_;

    my ($pid) = $self->{dbh}->selectrow_array('SELECT pg_backend_pid()');

    $self->{admin}->do("ALTER DATABASE $self->{database} "
                       . 'SET default_transaction_read_only = ' . ($on ? 'on' : 'off'));
    $self->{admin}->do('SELECT pg_terminate_backend(pid) '
                       . 'FROM pg_stat_activity WHERE datname = '
                       . "'$self->{database}' AND pid <> $pid");
}


sub set_version {
    my ($self, $version) = @_;

    $self->{dbh}->do('UPDATE submission.submission_schema '
                     . "SET version = $version, compatible_from = "
                     . ($version > 2 ? $version : 1));
}


# of nginx

sub sessions {
    my ($self) = @_;

    my $login = LOGIN;

    return ($self->{admin}->selectrow_array(
        'SELECT count(*) FROM pg_stat_activity WHERE '
        . "datname = '$self->{database}' AND usename = '$login'"))[0];
}


# every index has what its table has, as far as a login may ask for that

sub sound {
    my ($self) = @_;

    my $dbh = $self->{dbh};

    return 1 if !eval { $dbh->do('CREATE EXTENSION IF NOT EXISTS amcheck SCHEMA public') };

    return eval {
        $dbh->do('SELECT public.bt_index_check(indexrelid, true) FROM pg_index '
                 . 'WHERE indrelid IN (SELECT oid FROM pg_class '
                 . "WHERE relnamespace = 'submission'::regnamespace)");
    } // do { warn $@; 0 };
}


# every commit is refused as on a full disk, or those that write to some tables, or
# none any more

my @FULL = qw(intents attempts manager_leases manager_candidates schema stats);

sub fill {
    my ($self, @tables) = @_;

    my $dbh = $self->{dbh};

    $dbh->do('CREATE OR REPLACE FUNCTION t.test_full() RETURNS trigger '
             . 'LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '
             . "'could not extend file: No space left on device' "
             . "USING ERRCODE = 'disk_full'; END \$\$");

    $dbh->do("CREATE TRIGGER test_full_$_ BEFORE INSERT OR UPDATE "
             . "ON submission.submission_$_ FOR EACH STATEMENT "
             . 'EXECUTE FUNCTION t.test_full()') for @tables ? @tables : @FULL;
}


sub make_room {
    my ($self, @tables) = @_;

    $self->{dbh}->do("DROP TRIGGER test_full_$_ ON submission.submission_$_")
        for @tables ? @tables : @FULL;
}


sub _trigger {
    my ($self, $name, $when, $table, $condition, $action) = @_;

    $self->{dbh}->do(<<"SQL");
CREATE OR REPLACE FUNCTION t.$name() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = t, submission AS \$\$
BEGIN
    $action;
    RETURN NEW;
END
\$\$
SQL
    $self->{dbh}->do("CREATE TRIGGER $name $when ON submission.$table "
                     . 'FOR EACH ROW ' . ($condition ? "WHEN ($condition) " : '')
                     . "EXECUTE FUNCTION t.$name()");
}


sub refuse {
    my ($self, $id, $message) = @_;

    $message //= 'no';

    $self->_trigger('test_refuse', 'BEFORE INSERT', 'submission_intents',
                    "NEW.intent_id = '$id'",
                    "RAISE EXCEPTION USING MESSAGE = '$message', "
                    . "ERRCODE = 'check_violation'");
}


sub refuse_begin {
    my ($self, $id) = @_;

    if (!defined $id) {
        $self->{dbh}->do('DROP TRIGGER test_refuse_begin '
                         . 'ON submission.submission_intents');
        return;
    }

    $self->_trigger('test_refuse_begin', 'BEFORE UPDATE', 'submission_intents',
                    "NEW.intent_id = '$id' AND NEW.inflight_epoch IS NOT NULL",
                    "RAISE EXCEPTION USING MESSAGE = 'test_refuse_begin', "
                    . "ERRCODE = 'check_violation'");
}


sub slow_begin {
    my ($self, $id, $epoch, $seconds) = @_;

    $self->_trigger('test_slow_begin', 'AFTER UPDATE', 'submission_intents',
                    "NEW.intent_id = '$id' AND NEW.inflight_epoch = $epoch",
                    "PERFORM pg_sleep($seconds)");
}


sub void_grants {
    my ($self, $on) = @_;

    if (!$on) {
        $self->{dbh}->do('DROP TRIGGER test_brief '
                         . 'ON submission.submission_manager_leases');
        return;
    }

    $self->_trigger('test_brief', 'AFTER UPDATE', 'submission_manager_leases',
                    'NEW.lease_epoch <> OLD.lease_epoch',
                    'UPDATE submission.submission_manager_leases '
                    . 'SET expires_at = NEW.acquired_at '
                    . 'WHERE lease_name = NEW.lease_name');
}


sub fail_turns {
    my ($self, $on) = @_;

    if (!$on) {
        $self->{dbh}->do('DROP TRIGGER test_fail '
                         . 'ON submission.submission_intents');
        return;
    }

    $self->_trigger('test_fail', 'BEFORE UPDATE', 'submission_intents', '',
                    "RAISE EXCEPTION 'no' USING ERRCODE = 'internal_error'");
}


sub fail_pages {
    my ($self, $on) = @_;

    $self->{dbh}->do('ALTER TABLE submission.'
                     . ($on ? 'submission_intents RENAME TO test_away'
                            : 'test_away RENAME TO submission_intents'));
}


# The lease's row is locked by whoever changes it until that is committed: ids
# are in the order of the changes.

sub record_lease {
    my ($self, @columns) = @_;

    my $us = sub {
        my ($column) = @_;

        return $column =~ /_at$/ ? "submission.submission_us($column)" : $column;
    };

    my $columns = join ', ', @columns;
    my $was = join ', ', map { "was_$_" } @columns;
    my $row = join ', ', map { $us->($_) } @columns;
    my $new = join ', ', map { $us->("NEW.$_") } @columns;
    my $old = join ', ', map { $us->("OLD.$_") } @columns;
    my $table = join ', ', map { $_ . (/holder/ ? ' text' : ' bigint') }
                           @columns, map { "was_$_" } @columns;
    my $now = $self->now_sql;
    my $dbh = $self->{dbh};

    $dbh->do('BEGIN');
    $dbh->do('LOCK TABLE submission.submission_manager_leases '
             . 'IN EXCLUSIVE MODE');
    $dbh->do('CREATE TABLE t.test_history (id bigserial PRIMARY KEY, '
             . "at bigint, $table)");
    $dbh->do("INSERT INTO t.test_history (at, $columns) SELECT $now, $row "
             . 'FROM submission.submission_manager_leases');
    $self->_trigger('test_insert', 'AFTER INSERT', 'submission_manager_leases',
                    '', "INSERT INTO t.test_history (at, $columns) "
                        . "VALUES ($now, $new)");
    $self->_trigger('test_update', 'AFTER UPDATE', 'submission_manager_leases',
                    '', "INSERT INTO t.test_history (at, $columns, $was) "
                        . "VALUES ($now, $new, $old)");
    $dbh->do('COMMIT');
}


sub record_schedules {
    my ($self) = @_;

    my ($names, $values) = $self->change_columns(sub {
        return $_[0] =~ /_at$/ ? "submission.submission_us($_[0])" : $_[0];
    });
    my $table = join ', ', map { $_ . (/_id$/ ? ' text' : ' bigint') }
                           split /, /, $names;
    my $now = $self->now_sql;

    $self->{dbh}->do('CREATE TABLE t.test_schedules '
                     . "(id bigserial PRIMARY KEY, at bigint, $table)");
    $self->_trigger('test_schedule', 'AFTER UPDATE', 'submission_schedules', '',
                    "INSERT INTO t.test_schedules (at, $names) "
                    . "VALUES ($now, $values)");
}


sub would_change {
    my ($self, $name, $holder, $epoch) = @_;

    my $dbh = $self->{dbh};
    my $arguments = "'submission-manager-executor', '$holder', $epoch";
    my $changes;

    $dbh->do('BEGIN');

    if ($name eq 'lease_fence') {
        $changes = eval {
            $dbh->do("SELECT submission.submission_fence($arguments)");
            1;
        } ? 1 : 0;

        die $@ if !$changes && $@ !~ /LEASE_LOST/;

    } else {
        $arguments .= ', 2000' if $name ne 'lease_release';
        ($changes) = $dbh->selectrow_array(
            "SELECT o_held FROM submission.submission_$name($arguments)");
    }

    $dbh->do('ROLLBACK');

    return $changes;
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
        $self->{admin}->do("DROP DATABASE $self->{database} WITH (FORCE)");
        $self->{admin}->disconnect;
        1;
    } or warn $@;

    unlink $self->{password_file};
}


1;

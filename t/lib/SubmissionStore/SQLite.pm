package SubmissionStore::SQLite;

# The embedded store: a file, and sqlite3.

use strict;
use warnings;

use parent 'SubmissionStore';

use File::Path qw(remove_tree);
use IPC::Open3;


# path: of the file for nginx, if not the same

sub create {
    my ($class, $dir, %options) = @_;

    return bless { dir => $dir, path => "$dir/submission.db", others => [],
                   %options }, $class;
}


sub kind { return 'sqlite' }

sub dir { return $_[0]{dir} }

sub file { return "$_[0]{dir}/submission.db" }


sub directive {
    my ($self, %options) = @_;

    return "sqlite $self->{path}"
           . ($options{timeout} ? " busy_timeout=$options{timeout}" : '');
}


# While no nginx has the file open this process recovers it after a crash, in
# their place.

sub query {
    my ($self, $sql) = @_;

    open(my $pipe, '-|', 'sqlite3', '-batch', '-noheader', '-separator', "\t",
         '-cmd', '.timeout 20000', $self->file, $sql)
        or die "sqlite3: $!";

    my @rows = map { chomp; [split /\t/, $_, -1] } <$pipe>;

    close $pipe or die "sqlite3 failed: $sql\n";

    return @rows;
}


sub empty { remove_tree($_[0]{dir}) }


sub now_sql {
    return q{CAST(round((julianday('now') - 2440587.5) * 86400000)}
           . q{ AS INTEGER) * 1000};
}


sub hex_text { return "hex($_[1])" }

sub json_each { return "json_each('$_[1]')" }


# another process takes the write lock, and has it when this returns

sub lock { return $_[0]->_transaction('BEGIN IMMEDIATE; SELECT 1') }


# another process reads, and keeps what it sees from being overwritten

sub read_lock {
    return $_[0]->_transaction('BEGIN; SELECT 1 FROM submission_schema');
}


sub locked_out { return qr/database is locked/ }


# an application's transaction: unlock() commits it

sub begin {
    my ($self, @statements) = @_;

    return $self->_transaction(join ";\n", 'BEGIN IMMEDIATE', @statements,
                               'SELECT 1');
}


sub rollback {
    my ($self, $other) = @_;

    my $pid = delete $other->{pid} // return;

    print {$other->{in}} "ROLLBACK;\n";
    close $other->{in};
    waitpid($pid, 0);
}


# as an application submits

sub submit_sql {
    my ($self, $id, $target, $payload, $trace) = @_;

    return 'INSERT INTO submission_inbox (intent_id, submission_target, payload'
           . ($trace ? ', traceparent)' : ')')
           . " VALUES ('$id', '$target', '$payload'"
           . ($trace ? ", '$trace')" : ')');
}


sub _transaction {
    my ($self, $sql) = @_;

    my $pid = open3(my $in, my $out, undef, 'sqlite3', '-batch', '-cmd',
                    '.timeout 20000', $self->file);

    print $in "$sql;\n";
    $in->flush;

    my $line = <$out> // '';

    die "sqlite3: $sql: $line\n" if $line ne "1\n";

    my $other = { pid => $pid, in => $in, out => $out };

    push @{$self->{others}}, $other;

    return $other;
}


# with statements to be committed, if there are any

sub unlock {
    my ($self, $other, @statements) = @_;

    my $pid = delete $other->{pid} // return;

    print {$other->{in}} "$_;\n" for @statements;
    print {$other->{in}} "COMMIT;\n";

    close $other->{in};
    waitpid($pid, 0);
}


sub away {
    my ($self) = @_;

    rename($self->{dir}, "$self->{dir}.away") or die "rename: $!";
}


sub back {
    my ($self) = @_;

    rename("$self->{dir}.away", $self->{dir}) or die "rename: $!";
}


# with 2 a module of version 1 may use it, too; what is newer is for its own

sub set_version {
    my ($self, $version) = @_;

    my $from = $version > 2 ? $version : 1;

    my $moved = !-e $self->{dir} && -e "$self->{dir}.away";
    local $self->{dir} = "$self->{dir}.away" if $moved;

    mkdir $self->{dir};

    $self->query('CREATE TABLE IF NOT EXISTS submission_schema '
                 . '(version INTEGER NOT NULL, '
                 . 'compatible_from INTEGER NOT NULL); '
                 . 'DELETE FROM submission_schema; '
                 . "INSERT INTO submission_schema VALUES ($version, $from)");
}


# The disk is full, and what is in the write-ahead log stays there, and the log has
# no room left of what was there before, so that every commit needs more room; or there is room again.  It should be a small disk, see
# mount_tmpfs() of a cluster.

sub fill {
    my ($self) = @_;

    SubmissionCluster::wait_for('the log is empty', sub {
        $self->value('PRAGMA wal_checkpoint(TRUNCATE)') == 0 });

    $self->{reader} = $self->read_lock;

    open(my $filler, '>', "$self->{dir}/filler") or die "filler: $!";
    1 while syswrite($filler, 'x' x 4096);
    close $filler;
}


sub make_room {
    my ($self) = @_;

    unlink "$self->{dir}/filler" or die "unlink: $!";
    $self->unlock(delete $self->{reader});
}


sub sound { return $_[0]->value('PRAGMA integrity_check') eq 'ok' }


# an intent of this id breaks a constraint

sub refuse {
    my ($self, $id, $message) = @_;

    $message //= 'no';

    $self->query("CREATE TRIGGER test_refuse BEFORE INSERT "
                 . "ON submission_intents WHEN NEW.intent_id = '$id' "
                 . "BEGIN SELECT RAISE(ABORT, '$message'); END");
}


# no attempt of this intent can begin, as that breaks a constraint; or no longer

sub refuse_begin {
    my ($self, $id) = @_;

    $self->query(defined $id ? <<"END" : 'DROP TRIGGER test_refuse_begin');
CREATE TRIGGER test_refuse_begin BEFORE UPDATE OF inflight_epoch
ON submission_intents
WHEN NEW.intent_id = '$id' AND NEW.inflight_epoch IS NOT NULL BEGIN
    SELECT RAISE(ABORT, 'test_refuse_begin');
END;
END
}


# a statement of a trigger that takes at least so long: WITH may not begin one,
# but stand within

sub _slow {
    my ($self, $seconds) = @_;

    my $count = sub {
        return 'WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 '
               . "FROM c WHERE x < $_[0]) SELECT count(*) FROM c";
    };

    # by the processor's time, which is the same however busy the machine is

    my $n = 2_000_000;
    my $before = (times)[2];

    $self->query($count->($n));
    $n = int($n * $seconds / ((times)[2] - $before + 0.01) * 1.2);

    return 'SELECT (' . $count->($n) . ')';
}


# To begin an attempt of this intent in this epoch takes at least so long.

sub slow_begin {
    my ($self, $id, $epoch, $seconds) = @_;

    my $slow = $self->_slow($seconds);

    $self->query(<<"END");
CREATE TRIGGER test_slow_begin AFTER UPDATE OF inflight_epoch
ON submission_intents
WHEN NEW.intent_id = '$id' AND NEW.inflight_epoch = $epoch BEGIN
    $slow;
END;
END
}


# from now on a lease is over when it is granted; or no longer

sub void_grants {
    my ($self, $on) = @_;

    $self->query($on ? <<'END' : 'DROP TRIGGER test_brief');
CREATE TRIGGER test_brief AFTER UPDATE OF lease_epoch
ON submission_manager_leases WHEN NEW.lease_epoch <> OLD.lease_epoch BEGIN
    UPDATE submission_manager_leases SET expires_at = NEW.acquired_at
    WHERE lease_name = NEW.lease_name;
END;
END
}


# from now on an intent cannot be changed, as if the disk were full: no attempt
# is begun or recorded, and the lease is renewed all the same; or no longer

sub fail_turns {
    my ($self, $on) = @_;

    $self->query($on ? <<'END' : 'DROP TRIGGER test_fail');
CREATE TRIGGER test_fail BEFORE UPDATE ON submission_intents BEGIN
    SELECT abs(-9223372036854775807 - 1);
END;
END
}


# intents cannot be read or written from now on, and the lease can; or no longer

sub fail_pages {
    my ($self, $on) = @_;

    $self->query('ALTER TABLE ' . ($on ? 'submission_intents RENAME TO test_away'
                                       : 'test_away RENAME TO submission_intents'));
}


# every change of the lease goes into test_history: see SubmissionCluster::Lease

sub record_lease {
    my ($self, @columns) = @_;

    my $columns = join ', ', @columns;
    my $new = join ', ', map { "NEW.$_" } @columns;
    my $old = join ', ', map { "OLD.$_" } @columns;
    my $was = join ', ', map { "was_$_" } @columns;
    my $now = $self->now_sql;

    $self->query(<<"END");
BEGIN IMMEDIATE;
CREATE TABLE test_history (id INTEGER PRIMARY KEY, at, $columns, $was);
INSERT INTO test_history (at, $columns)
    SELECT $now, $columns FROM submission_manager_leases;
CREATE TRIGGER test_insert AFTER INSERT ON submission_manager_leases BEGIN
    INSERT INTO test_history (at, $columns) VALUES ($now, $new);
END;
CREATE TRIGGER test_update AFTER UPDATE ON submission_manager_leases BEGIN
    INSERT INTO test_history (at, $columns, $was) VALUES ($now, $new, $old);
END;
COMMIT;
END
}


# every change of a schedule goes into test_schedules: see changes()

sub record_schedules {
    my ($self) = @_;

    my ($names, $values) = $self->change_columns(sub { $_[0] });
    my $now = $self->now_sql;

    $self->query(<<"END");
CREATE TABLE test_schedules (id INTEGER PRIMARY KEY, at, $names);
CREATE TRIGGER test_schedule AFTER UPDATE ON submission_schedules BEGIN
    INSERT INTO test_schedules (at, $names) VALUES ($now, $values);
END;
END
}


# How many rows a statement of the module would change, now.

sub would_change {
    my ($self, $name, $holder, $epoch) = @_;

    open(my $file, '<', "$SubmissionCluster::top/sql/sqlite/$name.sql")
        or die "$name.sql: $!";

    my $sql = join '', <$file>;
    my %values = (
        lease_name => "'submission-manager-executor'",
        holder_id => "'$holder'", lease_epoch => $epoch,
        now => '(SELECT ' . $self->now_sql . ')', duration => 2_000_000,
    );

    $sql =~ s/:(\w+)/$values{$1}/g;

    return $self->value("BEGIN IMMEDIATE; $sql SELECT changes(); ROLLBACK;");
}


sub cleanup {
    my ($self) = @_;

    for my $other (@{$self->{others}}) {
        my $pid = delete $other->{pid} // next;

        kill('KILL', $pid);
        waitpid($pid, 0);
    }
}


1;

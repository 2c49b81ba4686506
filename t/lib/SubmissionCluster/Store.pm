package SubmissionCluster::Store;

# The store that all instances share, of the kind that SUBMISSION_TEST_STORE
# names, and the test's own way to it.

use strict;
use warnings;

use IPC::Open3;
use Time::HiRes qw(time);


sub new {
    my ($class, $cluster) = @_;

    my $kind = $ENV{SUBMISSION_TEST_STORE} || 'sqlite';

    die "SUBMISSION_TEST_STORE=\"$kind\" is no store that tests know\n"
        if $kind ne 'sqlite';

    return bless {
        kind => $kind, dir => "$cluster->{dir}/store/data", others => [],
    }, $class;
}


sub kind { return $_[0]{kind} }

sub dir { return $_[0]{dir} }

sub file { return "$_[0]{dir}/submission.db" }


sub directive {
    my ($self, $busy_timeout) = @_;

    $busy_timeout //= '5s';

    return 'store sqlite ' . $self->file . " busy_timeout=$busy_timeout;";
}


# Rows of a query, as arrays.  While no nginx has the file open this process
# recovers it after a crash, in their place.

sub query {
    my ($self, $sql) = @_;

    open(my $pipe, '-|', 'sqlite3', '-batch', '-noheader', '-separator', "\t",
         '-cmd', '.timeout 20000', $self->file, $sql)
        or die "sqlite3: $!";

    my @rows = map { chomp; [split /\t/, $_, -1] } <$pipe>;

    close $pipe or die "sqlite3 failed: $sql\n";

    return @rows;
}


sub value {
    my ($self, $sql) = @_;

    my ($row) = $self->query($sql);

    return $row->[0];
}


# Intents by id, all or those that begin with something; what is NULL is ''.

sub intents {
    my ($self, $prefix) = @_;

    my @names = qw(id target policy status outcome reason exhausted attempts
                   created_at completed_at modified_at next_attempt_at
                   inflight_epoch inflight_holder inflight_at);
    my %intents;

    for my $row ($self->query(
        'SELECT intent_id, submission_target, policy, status, '
        . 'final_outcome_status, final_outcome_reason, exhausted_reason, '
        . 'attempt_count, created_at, completed_at, last_modified_at, '
        . 'next_attempt_at, inflight_epoch, inflight_holder, inflight_at '
        . 'FROM submission_intents WHERE ' . _begins($prefix)))
    {
        @{$intents{$row->[0]}}{@names} = @$row;
    }

    return \%intents;
}


# in the order of their numbers

sub attempts {
    my ($self, $prefix) = @_;

    my @names = qw(id number epoch holder started_at finished_at status reason
                   error);
    my @attempts;

    for my $row ($self->query(
        'SELECT intent_id, attempt_number, lease_epoch, holder_id, '
        . 'started_at, finished_at, outcome_status, '
        . 'hex(outcome_reason), hex(error) FROM submission_attempts '
        . 'WHERE ' . _begins($prefix) . ' ORDER BY intent_id, attempt_number'))
    {
        my %attempt;

        @attempt{@names} = @$row;
        $_ = pack('H*', $_) for @attempt{qw(reason error)};

        push @attempts, \%attempt;
    }

    return @attempts;
}


sub pending {
    my ($self, $prefix) = @_;

    return $self->value('SELECT count(*) FROM submission_intents '
                        . "WHERE status = 'pending' AND " . _begins($prefix));
}


sub in_flight {
    return $_[0]->value('SELECT count(*) FROM submission_intents '
                        . 'WHERE inflight_epoch IS NOT NULL');
}


sub _begins {
    my ($prefix) = @_;

    return defined $prefix ? "intent_id GLOB '$prefix*'" : '1';
}


# microseconds, as all times of the store

use constant NOW => q{CAST(round((julianday('now') - 2440587.5) * 86400000)}
                    . q{ AS INTEGER) * 1000};

sub now { return $_[0]->value('SELECT ' . NOW) }


# New intents like an old one, as if submitted so many seconds ago, all in the
# same microsecond; or "at" a time.

sub insert_like {
    my ($self, $like, $ids, %options) = @_;

    my $at = $options{at} // NOW . ' - ' . int(1e6 * ($options{ago} // 0));
    my $ids_json = '[' . join(',', map { "\"$_\"" } @$ids) . ']';
    my $same = 'submission_target, payload_hash, gateway_type, gateway_url, '
               . 'policy, max_acceptance_seconds, max_attempts, '
               . 'terminal_outcomes, retry_delay_ms, retry_max_ms, '
               . 'retry_backoff_pct, retry_jitter_pct, payload';

    $self->query(<<"END");
INSERT INTO submission_intents (lease_name, intent_id, status, attempt_count,
                                created_at, last_modified_at, next_attempt_at,
                                $same)
SELECT lease_name, new.value, 'pending', 0, t, t, t, $same
FROM submission_intents, json_each('$ids_json') AS new, (SELECT $at AS t)
WHERE intent_id = '$like';
END
}


# the lease is another's from now on, in the next epoch

sub give_lease {
    my ($self, $holder, $seconds) = @_;

    my $now = NOW;
    my $duration = int(1e6 * $seconds);

    $self->query(<<"END");
BEGIN IMMEDIATE;
UPDATE submission_manager_leases
SET holder_id = '$holder', lease_epoch = lease_epoch + 1, acquired_at = t,
    renewed_at = t, expires_at = t + $duration
FROM (SELECT $now AS t);
COMMIT;
END
}


# it is over now

sub end_lease {
    $_[0]->query('UPDATE submission_manager_leases SET expires_at = ' . NOW);
}


# To begin an attempt of this intent in this epoch takes at least so long.

sub slow_begin {
    my ($self, $id, $epoch, $seconds) = @_;

    my $count = sub {
        return 'WITH RECURSIVE c (x) AS (SELECT 1 UNION ALL SELECT x + 1 '
               . "FROM c WHERE x < $_[0]) SELECT count(*) FROM c";
    };

    my $n = 500_000;
    my $start = time;

    $self->query($count->($n));
    $n = int($n * $seconds / (time - $start) * 1.2);

    # WITH may not begin a statement of a trigger, but stand within one

    $self->query(<<"END");
CREATE TRIGGER test_slow_begin AFTER UPDATE OF inflight_epoch
ON submission_intents
WHEN NEW.intent_id = '$id' AND NEW.inflight_epoch = $epoch BEGIN
    SELECT (@{[$count->($n)]});
END;
END
}


# all that execution changes, as text

sub dump {
    my ($self) = @_;

    return join "\n", map { join "\t", @$_ }
        $self->query('SELECT intent_id, status, attempt_count, '
                     . 'last_modified_at, next_attempt_at, inflight_epoch, '
                     . 'completed_at FROM submission_intents ORDER BY 1'),
        $self->query('SELECT * FROM submission_attempts ORDER BY 2, 3');
}


# another process takes the write lock, and has it when this returns

sub lock { return $_[0]->_transaction('BEGIN IMMEDIATE; SELECT 1') }


# another process reads, and keeps what it sees from being overwritten

sub read_lock {
    return $_[0]->_transaction('BEGIN; SELECT 1 FROM submission_schema');
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


sub unlock {
    my ($self, $other) = @_;

    my $pid = delete $other->{pid} // return;

    print {$other->{in}} "ROLLBACK;\n";

    close $other->{in};
    waitpid($pid, 0);
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

package SubmissionStore;

# A store of a test's own, empty, and the test's way to it beside the module.
#
# SUBMISSION_TEST_STORE: "sqlite", which it is unless told, or the connection
# string of a login that may make databases, such as t/tools/postgres.sh prints;
# of ODBC for SQL Server.
#
#   my $store = SubmissionStore->new($dir);     # for what is files
#   print "store ", $store->directive(timeout => '1s'), ";\n";
#   $store->query('SELECT ...');
#   $store->cleanup;
#
# What differs between stores is in SubmissionStore::SQLite,
# SubmissionStore::Postgres and SubmissionStore::MSSQL.  SQL of tests is SQLite's, and sees the
# tables as SQLite has them, times as microseconds: a server shows them so by
# views.  That goes for plain statements; what is more is a method here.

use strict;
use warnings;


sub string {
    my $string = $ENV{SUBMISSION_TEST_STORE} // '';

    return $string eq '' || $string eq 'sqlite' ? undef : $string;
}


sub new {
    my ($class, $dir, %options) = @_;

    return kind_of()->create($dir, %options);
}


# the class of the stores that new() makes

sub kind_of {
    my $kind = 'SubmissionStore::' . _kind(string() // 'sqlite');

    eval "require $kind; 1" or die $@;

    return $kind;
}


sub _kind {
    my ($string) = @_;

    return $string eq 'sqlite' ? 'SQLite'
           : $string =~ /FreeTDS|SQL Server/i ? 'MSSQL' : 'Postgres';
}


# how many times slower than others it is: times of tests are as much longer

sub pace { return 1 }

# whether it reads \" and \\ in JSON as they are meant

sub escapes { return 1 }

# a text as it was written, where the store has left \" in it

sub unescaped {
    my ($self, $text) = @_;

    return $self->escapes ? $text : $text =~ s/\\+"/"/gr;
}

# whether it computes times up to the last microsecond of the year 9999

sub last_time { return 1 }

# how many sessions of nginx are at the server; one whose client was killed may
# be in the middle of a call, and finish it

sub sessions { return 0 }

# an empty payload, in SQL

sub no_bytes { return "''" }

sub unhex { return pack('H*', $_[1]) }


# the columns of rows that tests write, in the order in which they do

sub attempt_columns {
    return '(lease_name, intent_id, attempt_number, lease_epoch, holder_id, '
           . 'started_at, finished_at, outcome_status, outcome_reason, error)';
}

sub candidate_columns {
    return '(lease_name, holder_id, started_at, heartbeat_at, expires_at, '
           . 'role, version)';
}


# Each kind has:
#
#   create            makes it
#   kind              its name: "sqlite", "postgres", "mssql"
#   directive         the arguments of "store"; timeout: a call's at the most
#   query             rows of a statement, as arrays; what is NULL is ''
#   empty             as it was in the beginning
#   cleanup           ends what was begun, and removes it
#   now_sql           SQL: the store's clock, microseconds
#   hex_text          SQL: the bytes of a text; json_each: the rows of an array
#   lock, read_lock   see there; unlock ends either
#   locked_out        what the log says of a call that met a lock
#   away, back        it cannot be reached, and is there again
#   refuse, refuse_begin, slow_begin, void_grants, fail_turns, fail_pages, record_lease,
#   record_schedules, would_change


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
        . $self->hex_text('outcome_reason') . ', '
        . $self->hex_text('error') . ' FROM submission_attempts WHERE ' . _begins($prefix) . ' ORDER BY intent_id, attempt_number'))
    {
        my %attempt;

        @attempt{@names} = @$row;
        $_ = $self->unhex($_) for @attempt{qw(reason error)};

        push @attempts, \%attempt;
    }

    return @attempts;
}


# the bytes of an intent's payload

sub payload {
    my ($self, $id) = @_;

    return pack('H*', $self->value('SELECT hex(payload) FROM submission_intents '
                                   . "WHERE intent_id = '$id'"));
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

    return '1 = 1' if !defined $prefix;
    return 'substr(intent_id, 1, ' . length($prefix) . ") = '$prefix'";
}


sub now { return $_[0]->value('SELECT ' . $_[0]->now_sql) }


# New intents like an old one, as if submitted so many seconds ago, all in the
# same microsecond; or "at" a time.

use constant SAME => 'submission_target, payload_hash, gateway_type, '
                     . 'gateway_url, policy, max_acceptance_seconds, '
                     . 'max_attempts, terminal_outcomes, retry_delay_ms, '
                     . 'retry_max_ms, retry_backoff_pct, retry_jitter_pct, '
                     . 'payload';

sub insert_like {
    my ($self, $like, $ids, %options) = @_;

    my $at = $options{at}
             // $self->now_sql . ' - ' . int(1e6 * ($options{ago} // 0));
    my $same = SAME;
    my $json = '[' . join(',', map { "\"$_\"" } @$ids) . ']';
    my $new = $self->json_each($json);

    $self->query(<<"END");
INSERT INTO submission_intents (lease_name, intent_id, status, attempt_count,
                                created_at, last_modified_at, next_attempt_at,
                                $same)
SELECT lease_name, new.value, 'pending', 0, t, t, t, $same
FROM submission_intents, $new AS new, (SELECT $at AS t) AS time
WHERE intent_id = '$like'
END
}


# Changes of schedules since record_schedules(), in order, written down inside the
# transactions that made them: "was_" is what was there before.

my @changed = qw(next_run_at last_intent_id fired_count skipped_count
                 missed_count paused_at);

sub change_columns {
    my ($self, $sql) = @_;

    return (join(', ', 'schedule_id', @changed, map { "was_$_" } @changed),
            join(', ', map { $sql->($_) } 'NEW.schedule_id',
                       (map { "NEW.$_" } @changed), map { "OLD.$_" } @changed));
}


sub changes {
    my ($self) = @_;

    my ($names) = $self->change_columns(sub { $_[0] });
    my @changes;

    for my $row ($self->query("SELECT at, $names FROM test_schedules "
                              . 'ORDER BY id'))
    {
        my %change;

        @change{'at', split /, /, $names} = @$row;
        push @changes, \%change;
    }

    return @changes;
}


# the lease is another's from now on, in the next epoch

sub give_lease {
    my ($self, $holder, $seconds) = @_;

    my $now = $self->now_sql;
    my $duration = int(1e6 * $seconds);

    $self->query(<<"END");
UPDATE submission_manager_leases
SET holder_id = '$holder', lease_epoch = lease_epoch + 1, acquired_at = t,
    renewed_at = t, expires_at = t + $duration
FROM (SELECT $now AS t) AS time
END
}


# it is over now, or at a time, if that is sooner than it would have been

sub end_lease {
    my ($self, $at) = @_;

    $at //= $self->now_sql;

    $self->query("UPDATE submission_manager_leases SET expires_at = $at "
                 . "WHERE expires_at > $at");
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


1;

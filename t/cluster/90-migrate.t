# A PostgreSQL of this release, version 1, with an intent in every state, is migrated
# by sql/install.sh of a made-up version 2 (t/schema) while version 1 submits and
# executes: nothing fails for it, nothing waits for long, nothing is lost (G18).
# Afterwards it has the same schema as a new one, and version 1 goes on beside version
# 2: it is played by its own calls, on connections from before and after.
#
# Goes red when: a function of version 1 is not there any more, or has other parameters
# or columns; an old INSERT misses a column; a table is locked while something long
# runs, or waits behind a reader; what an interruption has left is taken for whole; a
# second run fails or changes something.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Cwd qw(abs_path);
use IO::Handle;
use Test::More;
use Time::HiRes qw(sleep time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { WRITERS => 3, LEASE => 'main', HOLDER => 'sm-01' };

# whoever is left behind when the test fails would keep it from ending, as would a
# lexical with the output of one: it is closed before END

my ($owner, @children) = ($$);

our @processes;

END { kill('KILL', @children) if $$ == $owner }

my $server = SubmissionCluster::Server->start;
my $top = abs_path("$FindBin::Bin/../..");
my $next = "$ENV{SUBMISSION_TEST_DIR}/next.$$";

system("$top/t/schema/next.pl", $next) == 0 or die "next.pl failed\n";

$ENV{PGOPTIONS} = '-c client_min_messages=warning';


sub string {
    my ($database, $login) = @_;

    my @parts = grep { !/^dbname=/ } split ' ', $ENV{SUBMISSION_TEST_STORE};

    @parts = grep { !/^(?:user|password)=/ } @parts if $login;

    return join ' ', @parts, "dbname=$database",
                     $login ? ("user=$login", 'password=pw') : ();
}


sub connect_to {
    my ($database, $login) = @_;

    (my $string = string($database, $login)) =~ tr/ /;/;

    return DBI->connect("dbi:Pg:$string", undef, undef,
                        { RaiseError => 1, PrintError => 0, PrintWarn => 0,
                          AutoInactiveDestroy => 1, pg_server_prepare => 1,
                          pg_switch_prepared => 1 });
}


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


sub psql {
    my ($database, @arguments) = @_;

    my ($status, $text) = run('psql', '-X', '-q', '-A', '-t', '-v',
                              'ON_ERROR_STOP=1', '-d', string($database),
                              @arguments);

    die "psql @arguments: $text" if $status != 0;
    chomp $text;

    return $text;
}


sub install { return run("$next/install.sh", 'postgres', '-d', string($_[0])) }


# an install.sh that goes on meanwhile: its pid, and where its words are

sub install_beside {
    my ($database) = @_;

    my $pid = open(my $out, '-|') // do { die "fork: $!" };

    if (!$pid) {
        open(STDERR, '>&', \*STDOUT);
        exec("$next/install.sh", 'postgres', '-d', string($database))
            or exit 127;
    }

    push @children, $pid;

    return ($pid, $out);
}


sub make_v1 {
    my ($database) = @_;

    psql('postgres', '-c', "CREATE DATABASE $database");

    my ($status, $text) = run("$top/sql/install.sh", 'postgres', '-d',
                              string($database));

    die "install.sh: $text" if $status != 0;

    psql($database, '-1', '-f', "$top/t/unit/store_postgres.sql");
    psql($database, '-1', '-c', 'SET search_path = t', '-f',
         "$top/t/schema/kept.sql");
}


# all that is known of what is kept

sub kept {
    my ($database) = @_;

    return psql($database, '-c', <<'END');
SELECT lease_name, intent_id, submission_target, payload_hash, gateway_type,
       gateway_url, policy, max_acceptance_seconds, max_attempts,
       terminal_outcomes, retry_delay_ms, retry_max_ms, retry_backoff_pct,
       retry_jitter_pct, status, final_outcome_status, final_outcome_reason,
       exhausted_reason, attempt_count, created_at, completed_at,
       last_modified_at, next_attempt_at, inflight_epoch, inflight_holder,
       inflight_at, payload
FROM submission.submission_intents WHERE lease_name = 'kept' ORDER BY 1, 2;
SELECT lease_name, intent_id, attempt_number, lease_epoch, holder_id, started_at,
       finished_at, outcome_status, outcome_reason, error
FROM submission.submission_attempts WHERE lease_name = 'kept' ORDER BY 1, 2, 3;
SELECT * FROM submission.submission_manager_leases WHERE lease_name = 'kept'
END
}


sub catalogue {
    my ($database) = @_;

    my ($status, $text) = run('pg_dump', '-s', '-n', 'submission', '-d',
                              string($database));

    die "pg_dump: $text" if $status != 0;

    # roles are named after their database

    $text =~ s/(submission_(?:definer|nginx|client)_)\Q$database\E\b/$1/g;

    return join '', grep { !/^\\/ } split /^/, $text;
}


sub version {
    return psql($_[0], '-c', 'SELECT * FROM submission.submission_schema');
}


# Version 1: one call of its module.  What a function gives has the same names and
# types as ever.

my (%columns, $slowest);

sub call {
    my ($db, $name, @arguments) = @_;

    my $start = time;
    my $places = join ', ', map { "\$$_" } 1 .. @arguments;
    my $sth = $db->prepare_cached(
        "SELECT * FROM submission.submission_$name($places)");

    $sth->execute(@arguments);

    my $rows = $sth->fetchall_arrayref({});
    my $columns = join ' ', @{$sth->{NAME}}, @{$sth->{pg_type}};

    $columns{$name} //= $columns;
    die "$name gives $columns, and gave $columns{$name}\n"
        if $columns{$name} ne $columns;

    my $took = time - $start;
    $slowest = $took if $took > ($slowest // 0);

    return $rows;
}


sub login {
    my $db = connect_to('old', 'v1');
    my ($row) = @{call($db, 'schema_get')};

    die "version 1 refuses $row->{o_version}\n"
        if $row->{o_version} < 1 || $row->{o_compatible_from} > 1;

    return $db;
}


use constant CONTRACT => '{"c":0,"target":"sms","type":"sms",'
                         . '"url":"http://sms","policy":"one_shot",'
                         . '"outcomes":"invalid","delay":1000,"max":0,'
                         . '"backoff":100,"jitter":0}';

sub submit {
    my ($db, $id) = @_;

    my $rows = call($db, 'intents_submit', LEASE,
                    '{"contracts":[' . CONTRACT . '],"rows":[{"n":0,"id":"'
                    . "$id\",\"c\":0,\"hash\":\"0\",\"at\":0,\"len\":2}]}", '{}', 1);

    die "$id was there\n" if @$rows != 1;
}


# one process of version 1; what it did, or why it could not

sub process {
    my ($work) = @_;

    my $pid = open(my $out, '-|') // do { die "fork: $!" };

    if ($pid) {
        push @children, $pid;
        return { pid => $pid, out => $out };
    }

    my $stop = 0;

    $SIG{TERM} = sub { $stop = 1 };

    my $n = 0;
    my $db;

    STDOUT->autoflush(1);
    print "begins\n";

    until ($stop) {
        eval {
            if ($n % 30 == 0) {
                $db->disconnect if $db;
                $db = login();
            }

            $work->($db, $n++);
            1;
        } or do { print "failed: $@"; last };
    }

    printf "did %d, in %.0f ms at the most\n", $n, 1000 * $slowest;

    require POSIX;
    POSIX::_exit(0);
}


sub writer {
    my ($number) = @_;

    return process(sub {
        my ($db, $n) = @_;

        submit($db, "w$number-$n");

        if ($n % 10 == 0) {
            my $rows = call($db, 'intents_get', LEASE, "[\"w$number-$n\"]");

            die "w$number-$n is lost\n" if @$rows != 1;

            call($db, 'intents_list', LEASE, undef, undef, 20, undef, undef);
            call($db, 'intent_history', LEASE, "w$number-$n", 10, undef);
            call($db, 'candidate_heartbeat', LEASE, "c$number", 10000, 'follower',
                 '1.0', 0, undef, undef, undef, undef, 1,
                 undef);
            call($db, 'cluster_get', LEASE, undef);
            call($db, 'ping');
        }

        sleep 0.005;
    });
}


sub leader {
    return process(sub {
        my ($db, $n) = @_;

        my $lease = call($db, 'lease_acquire', LEASE, HOLDER, 60000)->[0];
        my @fence = (LEASE, HOLDER, $lease->{o_lease_epoch});

        call($db, 'lease_renew', @fence, 60000);

        my $page = call($db, 'queue_page', @fence, 0, 0, '', 20);
        my @ids = map { $_->{o_intent_id} } grep { $_->{o_intent_id} } @$page;

        return sleep(0.01) if !@ids;

        my $begun = call($db, 'attempts_turn', @fence, '[]',
                         '["' . join('","', @ids) . '"]', 1);
        my @ended = map {
            my $good = $_->{o_n} % 2;

            sprintf '{"n":%d,"id":"%s","number":%d,"epoch":%d,"holder":"%s",'
                    . '"started":1,"finished":2,"outcome":"%s","reason":%s,'
                    . '"status":"%s"}', $_->{o_n}, $ids[$_->{o_n}],
                    $_->{o_number}, $fence[2], HOLDER,
                    $good ? 'accepted' : 'rejected',
                    $good ? 'null' : '"invalid"',
                    $good ? 'accepted' : 'rejected';
        } grep { ($_->{o_outcome} // 0) == 1 } @$begun;

        my $rows = call($db, 'attempts_turn', @fence,
                        '[' . join(',', @ended) . ']', '[]', 1);

        die "not all was recorded\n" if @$rows != 1 + @ended;

        call($db, 'attempts_in_doubt', @fence, 0, '', 10);
    });
}


sub finish {
    my ($process) = @_;

    kill('TERM', $process->{pid});

    my $text = do { local $/; readline $process->{out} };

    close $process->{out};

    return $text;
}


sub count {
    return psql('old', '-c', 'SELECT count(*) FROM '
                             . "submission.submission_$_[0] "
                             . "WHERE lease_name = 'main'");
}


sub grows {
    my ($what) = @_;

    my $before = count($what);

    return if eval {
        wait_for("$what grow", sub { sleep 0.1; count($what) > $before + 20 });
    };

    my $error = $@;

    diag(finish($_)) for @processes;
    die $error;
}


# whether something of install.sh waits for a lock, or for others to end

sub waits {
    my ($database, $query) = @_;

    return psql('postgres', '-c', 'SELECT pid FROM pg_stat_activity '
                . "WHERE datname = '$database' AND wait_event_type = 'Lock' "
                . "AND query LIKE '%$query%' LIMIT 1");
}


make_v1('old');
psql('postgres', '-c', "CREATE ROLE v1 LOGIN PASSWORD 'pw' "
                       . 'IN ROLE submission_nginx_old');

my $kept = kept('old');

like($kept, qr/in-doubt-once/, 'there is something to keep');
is(version('old'), '1|1', 'of version 1');

@processes = ((map { writer($_) } 1 .. WRITERS), leader());

grows('attempts');


# A transaction that has the table, as that of a backup does: the migration waits
# for it, and nobody waits for the migration.

my $long = connect_to('old');

$long->begin_work;
$long->do('SELECT 1 FROM submission.submission_intents LIMIT 1');

my ($pid, $out) = install_beside('old');

wait_for('it waits', sub { waits('old', 'ADD COLUMN') });
grows('attempts');
is(version('old'), '1|1', 'a long transaction is waited for, and others go on');
psql('postgres', '-c', 'SELECT pg_terminate_backend(pid) '
                       . 'FROM pg_stat_activity WHERE datname = \'old\' '
                       . "AND query LIKE '%ADD COLUMN%'");
ok(!close $out, 'interrupted before anything was done');
$long->rollback;


# An index that is not done yet is left behind when its session ends.

$long->begin_work;
$long->do('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
$long->do('SELECT 1');

($pid, $out) = install_beside('old');

my $session = wait_for('an index waits',
                       sub { waits('old', 'CREATE INDEX CONCURRENTLY') });

grows('attempts');
psql('postgres', '-c', "SELECT pg_terminate_backend($session)");

my $text = do { local $/; readline $out };

ok(!close $out, 'interrupted while an index was made');
like($text, qr/migrating to version 2/, 'it had said what it was about to do');
$long->rollback;
$long->disconnect;

my $invalid = 'SELECT count(*) FROM pg_index AS i '
              . "WHERE NOT i.indisvalid AND i.indrelid::regclass::text "
              . "LIKE 'submission.%'";

is(psql('old', '-c', $invalid), 1, 'the index is there, and is not valid');
is(version('old'), '1|1', 'it is still of version 1');


# once more, and to the end

(my $status, $text) = install('old');
is($status, 0, "migrated: $text");
like($text, qr/^the schema is of version 2 \(it was of version 1\)$/m,
     'it says what it did');
is(version('old'), '2|1', 'of version 2, for version 1, too');
is(psql('old', '-c', $invalid), 0, 'all indexes are valid');

grows('intents');
grows('attempts');

# version 2 beside version 1

cmp_ok(psql('old', '-c', 'WITH l AS (UPDATE submission.submission_intents '
            . "SET label = 'new' WHERE lease_name = 'main' RETURNING 1) "
            . 'SELECT count(*) FROM l'), '>', 0, 'version 2 has what is new');

($status, $text) = install('old');
is($status, 0, 'and again');
like($text, qr/^the schema is of version 2 \(as it was/m, 'it was done');

grows('attempts');


# A reader has the table: where columns and indexes are there, nothing of it waits.

my $reader = connect_to('old');

psql('old', '-c', 'DROP TRIGGER submission_intents_ended '
                  . 'ON submission.submission_intents');
psql('old', '-c', 'UPDATE submission.submission_schema SET version = 1');

$reader->begin_work;
$reader->do('SELECT 1 FROM submission.submission_intents LIMIT 1');

($status, $text) = install('old');
is($status, 0, 'the rest of a migration, beside a reader');
like($text, qr/^migrating.*\n.*\(it was of version 1\)$/m, 'it was one');
unlike($text, qr/trying again/, 'nothing was waited for');

$reader->rollback;
$reader->disconnect;

grows('attempts');


# version 1 has noticed nothing

my ($done, $took) = (0, 0);

for my $process (@processes) {
    my $text = finish($process);

    unlike($text, qr/failed/, 'nothing failed for version 1');

    if ($text =~ /did (\d+), in (\d+) ms/) {
        $done += $1 if $process != $processes[-1];
        $took = $2 if $2 > $took;
    }
}

is(count('intents'), $done, "all $done that were submitted are there");
is(count('attempts'), psql('old', '-c', 'SELECT count(*) FROM '
                           . 'submission.submission_intents '
                           . "WHERE lease_name = 'main' AND attempt_count > 0"),
   'and what was executed has its attempt');
cmp_ok($took, '<', 1500 * slow(), "its slowest call took $took ms");
is(kept('old'), $kept, 'what was there before is as it was');


# the same as a new one

psql('postgres', '-c', 'CREATE DATABASE new');
($status, $text) = install('new');
is($status, 0, "a new one: $text");

my ($new, $old) = (catalogue('new'), catalogue('old'));

like($new, qr/label character varying\(64\)/, 'a catalogue');
ok($new eq $old, 'has the same schema') or do {
    for ([new => $new], [old => $old]) {
        open(my $file, '>', "$ENV{SUBMISSION_TEST_DIR}/$_->[0].sql");
        print $file $_->[1];
        close $file;
    }
    diag((run('diff', map { "$ENV{SUBMISSION_TEST_DIR}/$_.sql" } qw(new old)))[1]);
};

done_testing();

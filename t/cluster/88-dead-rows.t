# A long transaction elsewhere, as of pg_dump, keeps what is dead from being
# removed: thousands of attempts leave thousands of rows that were in flight.  A
# new leader must not pass by all of them before it leads: its recovery begins at
# the oldest that is in flight.  What is in doubt is found all the same, also when
# the clock was set back; and where reading takes its time, a recovery and a
# rebuild may take longer than query_timeout, or nobody would ever lead.
#
# Goes red when: recovery begins at the first epoch, the place where it begins is
# not moved up while one leads, or moved too far, or not back with the clock; the
# time-out of a recovery or of a rebuild is that of any other call.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { MANY => 3000, FEW => 300 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '8s', renew => '2s',
    instance => { store_timeout => '2s' },
    targets => { 'sms.slow' => { path => '/slow', policy => 'deadline 1h' } });
my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);
my $proxy = $server->proxy($run->cluster);

$server->options('login_timeout=2s');
$run->start;


# how many entries of indexes a recovery of the present leader reads

sub entries {
    my ($holder, $epoch) = @{$lease->row}{qw(holder epoch)};
    my $dbh = $store->{dbh};

    $dbh->do('BEGIN');
    $dbh->do('SELECT count(*) FROM submission.submission_attempts_in_doubt('
             . "'submission-manager-executor', '$holder', $epoch, 0, '', 128)");
    my ($n) = $dbh->selectrow_array(
        'SELECT sum(pg_stat_get_xact_tuples_returned(indexrelid)) '
        . 'FROM pg_index '
        . "WHERE indrelid = 'submission.submission_intents'::regclass");
    $dbh->do('COMMIT');

    return $n;
}


sub wait_renewed {
    my ($n) = @_;

    for (1 .. $n // 1) {
        my $now = $store->now;

        wait_for('a renewal', sub { $lease->row->{renewed_at} > $now });
    }
}


# the leader dies while it has these at the gateway; the other one leads then

sub fail_over {
    my (@ids) = @_;

    my $leader = $lease->wait_leader;
    my $epoch = $lease->row->{epoch};

    $gateway->behave('/slow' => 'hold');
    $run->post(map { [$_, 'sms.slow'] } @ids);
    $gateway->wait_for_sends(scalar @ids, which => sub {
        my ($send) = @_;

        grep { $_ eq $send->{id} } @ids;
    });

    $lease->kill_tree($leader);
    $gateway->behave('/slow' => 'accept');

    my $other = $lease->wait_leader($epoch);

    $gateway->release;
    $run->wait_terminal($_) for @ids;

    is_deeply([map { $run->outcomes($_) } @ids],
              [map { 'unknown/leader_lost, accepted' } @ids],
              "$ids[0]: what was in doubt is found");

    $leader->wait_gone;
    $leader->start;

    return $other;
}


my $dump = SubmissionStore::Postgres::_connect($store->{database});

$dump->do('BEGIN ISOLATION LEVEL REPEATABLE READ');
$dump->do('SELECT count(*) FROM submission.submission_intents');

$run->post($run->ids('many', MANY));
$run->wait_terminal('many-', 60);

# what is in flight for longer holds the place back, and no more

wait_renewed(2);

fail_over($run->ids('held', 5));

cmp_ok(entries(), '<', FEW, 'a recovery does not pass by what is dead');

{
    my ($n) = $store->{dbh}->selectrow_array(
        'SELECT count(*) FROM submission.submission_attempts');

    cmp_ok($n, '>=', MANY, "of $n attempts");
}


# The clock goes back by seconds, right after a renewal: what is begun now is older
# than the place to which that has moved.

wait_renewed();

$store->{dbh}->do('CREATE OR REPLACE FUNCTION submission.submission_now() '
                  . 'RETURNS timestamptz LANGUAGE sql VOLATILE AS '
                  . q{$$ SELECT clock_timestamp() - interval '3 seconds' $$});

fail_over($run->ids('back', 5));

$dump->do('COMMIT');
$dump->disconnect;


# reads that take longer than query_timeout

for my $function (['attempts_in_doubt', 'p_lease_name text, p_holder_id text, '
                   . 'p_lease_epoch bigint, p_after_at bigint, '
                   . 'p_after_id text, p_limit bigint'],
                  ['queue_page', 'p_lease_name text, p_holder_id text, '
                   . 'p_lease_epoch bigint, p_order bigint, p_after_at bigint, '
                   . 'p_after_id text, p_limit bigint'])
{
    my ($name, $parameters) = @$function;
    my $arguments = join ', ', $parameters =~ /(p_\w+)/g;
    my $types = join ', ', $parameters =~ /p_\w+ (\w+)/g;
    my ($result) = $store->{dbh}->selectrow_array(
        'SELECT pg_get_function_result('
        . "'submission.submission_$name($types)'::regprocedure)");

    $store->{dbh}->do($_) for
        "ALTER FUNCTION submission.submission_$name($types) RENAME TO test_$name",
        "CREATE FUNCTION submission.submission_$name($parameters) "
        . "RETURNS $result LANGUAGE plpgsql SECURITY DEFINER AS \$\$ BEGIN "
        . 'IF p_after_at <= 0 THEN PERFORM pg_sleep(2.5); END IF; RETURN QUERY '
        . "SELECT * FROM submission.test_$name($arguments); END \$\$",
        "GRANT EXECUTE ON FUNCTION submission.submission_$name($types) "
        . 'TO ' . $store->role('nginx');
}

{
    my $leader = $lease->wait_leader;
    my $epoch = $lease->row->{epoch};

    $run->post({ instances => [grep { $_ != $leader } $run->instances] },
               'before');
    $leader->quit;
    $lease->wait_leader($epoch);
    $run->post('after');
    $run->wait_terminal($_) for qw(before after);
    is_deeply($run->statuses('after'), { accepted => 1 },
              'slow reads: one leads, and sends');
    is($lease->row->{epoch}, $epoch + 1, 'slow reads: in one epoch');
}

$run->done;

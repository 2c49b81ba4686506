# docs/howto/backup-and-restore.md, as it is written: a copy by VACUUM INTO while
# clients post, which is sound and has all that was acknowledged before it; then
# the database is lost, and the copy takes its place.  What was pending in it is
# sent again, but never a one_shot that may have been sent since; what was in
# flight is settled; and no epoch is seen twice.
#
# Goes red when: the copy does not end while others write; restored.sql leaves a
# one_shot pending, or the epoch where it was; or nginx does not take the copy.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Copy qw(copy);
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'sqlite';
use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s',
    targets => { 'sms.slow' => { path => '/slow' } });
my ($gateway, $store) = ($run->gateway, $run->store);

my $file = $store->file;
my $copy = $run->cluster->{dir} . '/copy.db';

$run->start;


# the commands of the document

my $howto = do {
    open(my $in, '<', "$SubmissionCluster::top/docs/howto/backup-and-restore.md")
        or die $!;
    local $/;
    <$in>;
};

like($howto, qr/sqlite3 .*VACUUM INTO/, 'the document has VACUUM INTO');
like($howto, qr{< sql/sqlite/restored\.sql}, 'and restored.sql');


# of all kinds: done, in flight, waiting, and one_shot

my $large = '"' . 'x' x 200_000 . '"';

$run->post(map { [$_, 'sms.realtime', $large] } $run->ids('done', 150));
$run->post('like', ['once', 'sms.once']);
$run->wait_terminal($_) for qw(done- like once);

$gateway->behave('/slow' => 'hold');
$run->post(map { [$_, 'sms.slow'] } $run->ids('flying', 3));
$gateway->wait_for_sends(3, which => sub { $_[0]{id} =~ /^flying/ });

# due when the copy has long been made

my $soon = $store->now + 15e6;

$store->insert_like('like', [$run->ids('later', 3)], at => $soon);
$store->insert_like('once', [$run->ids('once', 3)], at => $soon);


# while clients post

my $pid = fork // die "fork(): $!";

if ($pid == 0) {
    open(STDIN, '<', '/dev/null');
    exec('sqlite3', '-bail', '-cmd', '.timeout 10000', $file,
         "VACUUM INTO '$copy'") or POSIX::_exit(1);
}

my ($n, $ended, $until) = (0, 0, time + 60);

while (!$ended && time < $until) {
    $run->post(sprintf('during-%04d', ++$n));
    $ended = waitpid($pid, POSIX::WNOHANG()) == $pid;
}

ok($ended && $? == 0, "the copy is made, in $n POSTs");

if (!$ended) {
    kill('KILL', $pid);
    waitpid($pid, 0);
}

sub in_copy {
    my ($sql) = @_;

    open(my $pipe, '-|', 'sqlite3', '-batch', '-noheader', $copy, $sql)
        or die "sqlite3: $!";
    chomp(my @rows = <$pipe>);
    close $pipe or die "sqlite3 failed: $sql\n";

    return @rows;
}

is_deeply([in_copy('PRAGMA integrity_check')], ['ok'], 'it is sound');
is_deeply([in_copy("SELECT count(*) FROM submission_intents WHERE status = "
                   . "'accepted' AND submission_target = 'sms.realtime' "
                   . "AND intent_id NOT LIKE 'during%'")], [151],
          'it has all that was done');
is_deeply([in_copy("SELECT count(*) FROM submission_intents "
                   . "WHERE status = 'pending' AND inflight_epoch IS NULL "
                   . "AND intent_id NOT LIKE 'during%'")], [6],
          'and what was waiting');
is_deeply([in_copy('SELECT count(*) FROM submission_intents WHERE '
                   . "inflight_epoch IS NOT NULL AND intent_id LIKE 'flying%'")],
          [3], 'and what was in flight');


# life goes on, with a leader or two

$gateway->release;
$gateway->behave('/slow' => 'accept');
$run->wait_terminal($_, 40) for qw(flying- later- once- during-);

my $epoch = $run->leadership->row->{epoch};

$run->leadership->wait_leader->quit;
$run->leadership->wait_leader($epoch);
$run->post('last');
$run->wait_terminal('last');

my ($newest) = sort { $b <=> $a } map { $_->{epoch} } $gateway->sends;
my $sends = $gateway->count;


# it is lost

$_->quit for grep { $_->running } $run->instances;

my ($user, $group) = (stat $file)[4, 5];

rename($file, "$file.lost") or die $!;
unlink "$file-wal", "$file-shm";

is(system("sqlite3 -bail $copy < $SubmissionCluster::top/sql/sqlite/restored.sql"),
   0, 'restored.sql');
copy($copy, $file) or die $!;
chown($user, $group, $file) or die $!;
chmod(0600, $file) or die $!;

$run->cluster->start;
$run->leadership->wait_leader;
$run->wait_terminal($_) for qw(flying- later- once- during-);

cmp_ok($run->leadership->row->{epoch}, '>', $newest, 'the epoch is a new one');

{
    my @sends = $gateway->sends;

    is_deeply([grep { $_->{epoch} <= $newest } @sends[$sends .. $#sends]], [],
              'nothing is sent under an old one');
}

is_deeply($run->statuses('once-'), { 'exhausted outcome_unknown' => 3 },
          'one_shot: nobody knows');
is_deeply([map { scalar $gateway->sends_of($_) } $run->ids('once', 3)],
          [1, 1, 1], 'and it is sent no second time');
is_deeply([map { scalar $gateway->sends_of($_) } $run->ids('later', 3)],
          [2, 2, 2], 'all others that were pending are sent again');
is_deeply([map { $run->outcomes($_) } $run->ids('flying', 3)],
          [('unknown/leader_lost, accepted') x 3],
          'what was in flight was in doubt');

# what the copy does not have, clients post again

is(post_intent(($run->instances)[0], 'last')->{status}, 200,
   'what it does not have is taken again');
$run->wait_terminal('last');

ok($store->sound, 'the store is sound');


# what an operator asks, of this database

is(system("sqlite3 -readonly -bail -box $file "
          . "< $SubmissionCluster::top/sql/sqlite/monitor.sql "
          . "> $run->{cluster}{dir}/monitor.out 2>&1"), 0, 'monitor.sql runs');

{
    open(my $in, '<', "$run->{cluster}{dir}/monitor.out") or die $!;
    my $text = join '', <$in>;

    like($text, qr/lease_epoch.*\b\Q@{[$run->leadership->row->{epoch}]}\E\b/s,
         'and tells who leads');
}

$run->cluster->done;

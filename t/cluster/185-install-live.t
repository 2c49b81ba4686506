# sql/install.sh on a database that is in use: a reader's transaction stays open, as
# that of a report or of a psql that nobody looks at, and clients post.  What is up to
# date is not touched; a change that needs a table for itself waits for the reader,
# and nobody waits for the change: no POST fails, and no lease is lost.
#
# Goes red when: install.sh locks a table that has nothing to change; a lock is waited
# for without an end, or is not tried again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Cwd qw(abs_path);
use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '4s', renew => '1s', acquire => '2s');
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);

$server->proxy($cluster);

my $top = abs_path("$FindBin::Bin/../..");
my $string = SubmissionStore::Postgres::_string($store->{database});

my ($epoch, $load);

sub goes_on {
    my ($what) = @_;

    my $n = $load->count('answered');

    wait_for($what, sub { $load->count('answered') > $n + 50 });
}


# install.sh, while the load goes on: its status, and what it said

sub install {
    my (%during) = @_;

    my $pid = open(my $out, '-|') // do { die "fork: $!" };

    if (!$pid) {
        open(STDERR, '>&', \*STDOUT);
        exec("$top/sql/install.sh", 'postgres', '-d', $string) or exit 127;
    }

    $out->blocking(0);

    my $text = '';

    wait_for('install.sh ends', sub {
        my $n = sysread($out, $text, 65536, length $text);

        $during{said}->($text) if $during{said};

        return defined $n && $n == 0;
    }, 60);

    close $out;

    return ($? >> 8, $text);
}


# the owner of the functions, which a call that is under way must not lose

is((install())[0], 0, 'roles are those of install.sh');

$run->start;

$epoch = $lease->row->{epoch};
$load = $cluster->load(prefix => 's', connections => 4)->start;

goes_on('intents are taken');

my $reader = SubmissionStore::Postgres::_connect($store->{database});

$reader->begin_work;
$reader->do('SELECT 1 FROM submission.submission_intents LIMIT 1');
$reader->do('SELECT 1 FROM submission.submission_manager_leases LIMIT 1');

for my $time ('first', 'second') {
    my ($status, $text) = install();

    is($status, 0, "beside a reader, the $time time: $text");
    unlike($text, qr/trying again/, 'nothing was in its way');
    goes_on("intents are taken after the $time time");
}


# a trigger that is another one has to go, and the reader has its table

$store->{dbh}->do('COMMENT ON TRIGGER submission_intents_ended '
                  . 'ON submission.submission_intents IS NULL');

my $tries = 0;

my ($status, $text) = install(said => sub {
    my ($text) = @_;

    $tries = () = $text =~ /trying again/g;

    if ($reader && $tries >= 2) {
        goes_on('intents are taken meanwhile');
        $reader->rollback;
        $reader->disconnect;
        undef $reader;
    }
});

is($status, 0, "a change waits for the reader: $text");
cmp_ok($tries, '>=', 2, 'and lets others pass');
is(($store->query("SELECT obj_description(oid, 'pg_trigger') IS NOT NULL "
                  . "FROM pg_trigger WHERE tgname = 'submission_intents_ended'"
    ))[0][0], 1, 'it is done then');
goes_on('intents are taken in the end');

$load->pause;
wait_for('the load ends', sub { $load->finished || !$load->{outstanding} });
$load->close;

is_deeply($load->{final}, {}, 'no POST failed');
is($lease->row->{epoch}, $epoch, 'and no lease was lost');

wait_for('all is sent', sub { $store->pending('s-') == 0 }, 60);

$run->done;

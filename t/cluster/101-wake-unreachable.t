# A leader that cannot be told costs nobody anything: its URL leads to a port
# that is closed, to one that does not answer, or to one that answers something
# else.  POSTs through a follower are as fast as ever,
# one line of the log tells of it, however often it is tried, and one request is
# out at a time.  When the URL works again, the follower says so, and what is
# posted then is sent at once, long before the next refresh.
#
# Goes red when: an answer waits for the wake; each failure is a line; a failure
# is followed by the next try at once, or by none ever; a request has no time-out.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Select;
use IO::Socket::INET;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', refresh => '10m');
my ($gateway, $lease) = ($run->gateway, $run->leadership);

for my $instance ($run->instances) {
    $instance->{server} = 'location = /_wake { submission_wake main; }';
    $instance->{manager} .= " wake_url http://127.0.0.1:$instance->{port}/_wake;";
}

my $leader = $run->start;
my ($follower) = grep { $_ != $leader } $run->instances;


sub metric { return $follower->metric("wakes_$_[0]_total") }


# the leader is told elsewhere from now on

sub move {
    my ($url) = @_;

    my $epoch = $lease->row->{epoch};

    $leader->{manager} =~ s/wake_url \S+;/wake_url $url;/;
    $leader->reload(wait_old => 1);
    $lease->wait_leader($epoch, $leader);
}


sub posts {
    my ($prefix, $seconds) = @_;

    my ($n, $begun, @took) = (0, time);

    while (time - $begun < $seconds) {
        my $id = sprintf '%s-%04d', $prefix, ++$n;

        $run->post({ instances => [$follower] }, $id);
        push @took, $run->{posted}{$id}{answered} - $run->{posted}{$id}{sent};
    }

    @took = sort { $a <=> $b } @took;

    note(sprintf '%s: %d answers, p50 %.1f ms, p99 %.1f ms', $prefix, $n,
         map { 1000 * $took[$_ * @took] } 0.5, 0.99);

    return $took[@took / 2];
}


wait_for('the follower tells', sub { metric('sent') });

my $usual = posts('usual', 1);

my $silent = IO::Socket::INET->new(Listen => 128, LocalAddr => '127.0.0.1')
    or die "listen: $!";
my $closed = SubmissionCluster::free_port();

my @cases = (
    ['closed', "http://127.0.0.1:$closed/_wake", qr/connect\(\) failed/],
    ['silent', 'http://127.0.0.1:' . $silent->sockport . '/_wake',
     qr/timed out/],
    ['missing', "http://127.0.0.1:$leader->{port}/none", qr/status 404/],
);

for my $case (@cases) {
    my ($name, $url, $why) = @$case;

    my $lines = $follower->log_count(qr/wake_failed/);
    my $restored = $follower->log_count(qr/wake_restored/);
    my $failed = metric('failed');

    move($url);
    wait_for("$name: it fails", sub { metric('failed') > $failed });

    my $begun = time;
    my $median = posts($name, 3);
    my $tries = metric('failed') - $failed;

    cmp_ok($median, '<', 3 * $usual + 0.02 * slow(),
           "$name: answers are as fast as ever");
    cmp_ok($tries, '<=', 3 + (time - $begun) / 0.4, "$name: it is tried now and then");
    cmp_ok($tries, '>=', 2, "$name: and again");

    my @said = $follower->log_lines(qr/wake_failed/);

    is(@said - $lines, 1, "$name: one line");
    like($said[-1], qr/\[warn\].*\Q url="$url" error="\E.*$why/,
         "$name: that says what and why");

    move("http://127.0.0.1:$leader->{port}/_wake");
    wait_for("$name: one line says that it works again", sub {
        $follower->log_count(qr/wake_restored/) > $restored;
    });

    $run->post({ instances => [$follower] }, "$name-again");
    $run->wait_terminal("$name-", 30);
    is($follower->log_count(qr/wake_restored/), $restored + 1,
       "$name: then the leader is told again, and one line says so");
}


# connections that nobody took: one at a time

{
    my $select = IO::Select->new($silent);
    my $n = 0;

    while ($select->can_read(0)) {
        my $conn = $silent->accept or last;
        $n++;
        close $conn;
    }

    note("$n connections to the silent one");
    cmp_ok($n, '<=', 8 * slow(), 'one connection at a time');
}


# a reload while a request is out that nobody answers: the worker that sends it
# goes when it has timed out, and leaves no socket behind

{
    my $failed = metric('failed');

    move('http://127.0.0.1:' . $silent->sockport . '/_wake');
    wait_for('it fails', sub { metric('failed') > $failed });

    $run->post({ instances => [$follower] }, "out-$_") for 1 .. 20;
    $follower->reload(wait_old => 10 * slow());

    is($follower->log_count(qr/open socket|\[alert\]/), 0,
       'no connection is forgotten');

    move("http://127.0.0.1:$leader->{port}/_wake");
    $run->wait_terminal('', 30);
}

$run->done;

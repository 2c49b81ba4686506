# Submissions that another session holds up for longer than ten seconds, within
# their query_timeout: they are committed with the time when they began, which
# others have long passed by.  The leader, another instance, sends them all the
# same, with its next refresh (G3, G7).  They begin at different times between
# two refreshes, so that for one of them the next is almost a whole interval
# away when it is committed.
#
# The sweep would find them, too, after a minute of leadership: what is sent
# later than that has not been found by a refresh.
#
# Goes red when: the window of a refresh does not follow query_timeout, or not
# the time until the next refresh.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { HELD => 14, REFRESH => 12, APART => 3, SWEEP => 60 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'e'], lease => '60s', renew => '2s',
    refresh => REFRESH . 's', instance => { store_timeout => '18s' });
my ($gateway, $store) = ($run->gateway, $run->store);
my $proxy = $server->proxy($run->cluster);
my $swept = time + SWEEP;
my $leader = $run->start;
my @followers = grep { $_ != $leader } $run->instances;
my $same = SubmissionStore::SAME;
my (@held, $last);

$run->post({ instances => [$leader] }, 'like');
$run->wait_terminal('like');


# one that inserts the same id, and does not commit: whoever else wants to waits

sub hold {
    my ($follower) = @_;

    my $held = { id => 'held-' . (@held + 1),
                 other => SubmissionStore::Postgres::_connect(
                              $store->{database}) };

    $held->{other}->do('BEGIN');
    $held->{other}->do(<<"END");
INSERT INTO submission.submission_intents (lease_name, intent_id, status,
    attempt_count, created_at, last_modified_at, next_attempt_at, $same)
SELECT lease_name, '$held->{id}', 'pending', 0, now(), now(), now(), $same
FROM submission.submission_intents
WHERE intent_id = 'like'
END

    $held->{conn} = SubmissionCluster::Connection->open($follower->{port});
    $held->{conn}->send(
        SubmissionCluster::Client::request('POST', '/v1/intents',
            SubmissionCluster::Client::intent($held->{id}, '1')),
        sub { $held->{answer} = $_[0] });

    push @held, $held;

    wait_for("$held->{id} waits", sub {
        $store->value("SELECT count(*) FROM pg_stat_activity "
                      . "WHERE query ~ 'intents_submit' "
                      . "AND wait_event_type = 'Lock'")
        == grep { !$_->{let} } @held;
    });

    $held->{begun} = time;
}


sub let {
    my ($held) = @_;

    ok(!$held->{answer}, "$held->{id}: it is held up");

    $held->{let} = 1;
    $held->{other}->do('ROLLBACK');
    $held->{other}->disconnect;

    wait_for("$held->{id} is answered", sub { $held->{answer} });
    is($held->{answer}{status}, 200, "$held->{id}: and acknowledged then");

    $last = time;
}


my ($begun, $n) = (time, 0);

while (@held < @followers || grep { !$_->{let} } @held) {
    my $next = time + 0.2;

    if (@held < @followers && time >= $begun + @held * APART) {
        hold($followers[@held]);
    }

    for my $held (grep { !$_->{let} && time >= $_->{begun} + HELD } @held) {
        let($held);
    }

    # what others pass them by with

    $run->post({ instances => [$leader] }, sprintf('pass-%04d', ++$n));
    wait_for('the next one', sub { time >= $next });
}

for my $held (@held) {
    my $sent = eval {
        wait_for('it is sent', sub { $gateway->sends_of($held->{id}) },
                 $last + REFRESH + 5 - time);
    };

    ok($sent, "$held->{id}: it is sent");

    SKIP: {
        skip('too slow: a sweep may come first', 1)
            if $last + REFRESH + 2 > $swept;

        my ($send) = $gateway->sends_of($held->{id});

        cmp_ok($send ? $send->{time} / 1e6 : 'inf', '<', $swept,
               "$held->{id}: before a sweep");
    }
}

$run->wait_terminal($_) for 'held-', 'pass-';

is(scalar($gateway->sends_of($_->{id})), 1, "$_->{id}: once") for @held;

$run->done;

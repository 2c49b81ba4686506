# What a leader has counted since its last document but one is in the history of
# every instance, whoever leads next: the leader before was reloaded or told to
# quit, or has lost the lease and got it again before it could tell anything.  The
# next leader goes on with the counts of the one before.  Of a leader that is killed
# only what it had not told is missing, and on both instances the same.
#
# Goes red when: a new leader counts from nothing; it begins with what the leader
# before has told, although it knows better itself; something is counted twice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

# numbers are written every five seconds, and read every two

use constant { TOLD => 20, MANY => 40 };

my $run = SubmissionCluster::Executor->new(instances => ['a', 'b']);
my ($lease, $store) = ($run->leadership, $run->store);
my @instances = $run->instances;
my $leader = $run->start;


sub follower {
    my ($other) = grep { $_ != $leader } @instances;

    return $other;
}


sub sum {
    my ($instance, $target) = @_;

    my $answer = fetch($instance, 'GET',
                       '/v1/stats?window=3600' . ($target ? "&target=$target" : ''));
    my $stats = decode_json($answer->{body});
    my ($i) = grep { $stats->{columns}[$_] eq 'accepted' } 0 .. $#{$stats->{columns}};
    my $sum = 0;

    $sum += $_->[$i] for @{$stats->{rows}};

    return $sum;
}


my $posted = 0;

sub work {
    my ($name) = @_;

    $run->post($run->ids($name, MANY));
    $run->wait_terminal("$name-", 30);
    $posted += MANY;
}


# what both have in the end; nothing more can be seen after one that has not

sub told {
    my ($name, $expected) = @_;
    my $wrong;

    for my $instance (@instances) {
        for my $target (undef, 'sms.realtime') {
            eval {
                wait_for("$name: $instance->{name} tells of all", sub {
                    sum($instance, $target) == $expected;
                }, TOLD);
            } or $wrong = 1;

            is(sum($instance, $target), $expected,
               "$name: $instance->{name} tells " . ($target // 'in all'));
        }
    }

    die "the rest would be wrong, too\n" if $wrong;
}


sub documents {
    my ($n) = @_;

    my %seen;

    wait_for("$n documents", sub {
        my $stats = decode_json(fetch($leader, 'GET', '/v1/overview')->{body});
        $seen{$stats->{asOf} // ''} = 1;
        return keys %seen > $n;
    }, 30);
}


sub next_leader {
    my ($epoch) = @_;

    $leader = $lease->wait_leader($epoch);
}


wait_for('the leader has read what there is', sub {
    $leader->log_count(qr/submission: queue_rebuilt /) });
documents(1);
work('first');
told('one leader', $posted);


# a reload: its last document is there for less than a second

for my $n (1, 2) {
    my $epoch = $lease->row->{epoch};

    documents(1);
    work("reload$n");
    $leader->reload(wait_old => 1);
    next_leader($epoch);
    work("reloaded$n");
    told('a reload', $posted);
}


# the same worker leads again, with counts that it could not tell

my $epoch = $lease->row->{epoch};
my @stopped = follower()->worker_pids;

documents(1);
work('lost');
follower()->pause(@stopped);
$store->end_lease;
$run->wait_lost($leader, $epoch);
next_leader($epoch);
follower()->signal('CONT', $_) for @stopped;
work('again');
told('it leads again', $posted);


# a leader that leaves: the other one has read what it could

$epoch = $lease->row->{epoch};
documents(1);
work('leave');

my $left = $leader;

$left->quit;
next_leader($epoch);
work('left');
@instances = ($leader);
told('it has left', $posted);
$left->start;
@instances = $run->instances;


# a leader that is killed, with what it had not told

documents(2);
$epoch = $lease->row->{epoch};
work('killed');
$lease->kill($leader, $lease->executors($leader));
next_leader($epoch);
work('after');
documents(2);

my ($mine) = map { sum($_) } grep { $_ != $left } @instances;
my $lost = $posted - $mine;

cmp_ok($lost, '>=', 0, 'nothing is counted twice');
cmp_ok($lost, '<=', MANY, "no more is lost than was not told: $lost");

work('last');
@instances = grep { $_ != $left } @instances;
told('and it goes on', $posted - $lost);

$run->expect_kills;
$run->done;

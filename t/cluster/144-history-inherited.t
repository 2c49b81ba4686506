# An instance that was just started shows the hour of the leader: with one of the
# leader's next documents it hears what happened before it was there, by target,
# and goes on from that.  Nothing is counted twice.
#
# What it does not know is no row: not one in which nothing happened.
#
# Goes red when: a fresh instance begins with an empty chart; what it inherits is
# added again by the next document; the history of one target is that of another;
# its own first row counts nothing while the leader's does.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Views;

use constant TOLD => 15;

my $run = SubmissionCluster::Executor->new(instances => ['a', 'b']);
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my $views = SubmissionCluster::Views->new($run->instances);

my $leader = $run->start;
my ($fresh) = grep { $_ != $leader } $run->instances;

sub sum {
    my ($instance, $column, $target) = @_;

    my $stats = $views->view($instance, 'stats' . ($target ? "?target=$target" : ''));
    my ($i) = grep { $stats->{columns}[$_] eq $column } 0 .. $#{$stats->{columns}};
    my $sum = 0;

    $sum += $_->[$i] for @{$stats->{rows}};

    return $sum;
}

wait_for('the leader has read what there is', sub {
    $leader->log_count(qr/submission: queue_rebuilt /) });

$gateway->behave('/' => undef);
$run->post({ instances => [$leader] }, $run->ids('before', 30));
$run->post({ instances => [$leader] },
           map { [$_, 'sms.once'] } $run->ids('once', 7));
$run->wait_terminal('before-', 30);
$run->wait_terminal('once-', 30);

wait_for('the leader has told of it', sub { sum($leader, 'accepted') == 37 }, TOLD);

# what a young epoch has counted so far is in the first row that anybody reads

wait_for('the epoch is not young any more', sub {
    @{$views->view($leader, 'stats')->{rows}} > 3 }, 40);


# all the time something is submitted

my $n = 0;
my $wait = sub {
    my ($what, $condition, $seconds) = @_;

    wait_for($what, sub {
        $run->post({ instances => [$leader] }, 'on-' . $n++);
        return $condition->();
    }, $seconds);
};

my $rows = @{$views->view($leader, 'stats')->{rows}};

$wait->('each row counts something', sub {
    @{$views->view($leader, 'stats')->{rows}} > $rows + 1 }, 2 * TOLD);


# the other one starts anew, and the leader's next epoch begins with its history

$lease->kill_tree($fresh);
$fresh->start;

$wait->('it has numbers', sub { @{$views->view($fresh, 'stats')->{rows}} > 2 }, 2 * TOLD);

my %rows = map { $_->[0] => $_ } @{$views->view($leader, 'stats')->{rows}};

is_deeply([map { [$_, $rows{$_->[0]}] }
           grep { !$_->[1] && $rows{$_->[0]} && $rows{$_->[0]}[1] }
           @{$views->view($fresh, 'stats')->{rows}}], [],
          'no row is empty that is not so on the leader');

$run->wait_terminal('on-', 30);
wait_for('the leader has told of all', sub { sum($leader, 'accepted') == 37 + $n }, TOLD);
$leader->reload(wait_old => 1);

wait_for('it has the history of the leader',
         sub { sum($fresh, 'accepted') == 37 + $n }, 70);
is(sum($fresh, 'accepted', 'sms.realtime'), 30 + $n, 'of a target');
is(sum($fresh, 'accepted', 'sms.once'), 7, 'and of another one');

my @at = map { $_->[0] } @{$views->view($fresh, 'stats')->{rows}};

is_deeply(\@at, [sort { $a <=> $b } @at], 'in the order of time');
is(scalar @at, scalar keys %{{ map { $_ => 1 } @at }}, 'each time once');

$run->post({ instances => [$leader] }, $run->ids('after', 5));
$run->wait_terminal('after-', 30);

wait_for('it goes on', sub { sum($fresh, 'accepted') >= 42 + $n }, TOLD);
is(sum($fresh, 'accepted'), 42 + $n, 'and counts nothing twice');
is(sum($leader, 'accepted'), 42 + $n, 'as the leader');

$run->done;

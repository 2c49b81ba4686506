# A rate is used across leaders, and not only kept (G15).  A target of which a
# token comes every three seconds is sent to although no leader lasts that long:
# the instance is reloaded and its leading worker killed again and again, and then
# two instances take turns, of which one or the other quits, or is stopped.
# A target that is removed from the configuration keeps its rate, its circuit and
# its bound while intents of it are left: after a reload, and on an instance that
# never had it.
#
# Goes red when: a new leader begins with an empty bucket after a reload, after a
# crash of the worker, or after another one that left in good order; it begins with more than there was; what
# is left of a target that was removed is sent without its rate.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { RATE => 1 / 3, GONE => 5, LEFT => 12 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', acquire => '200ms',
    targets => {
        'sms.rare' => { path => '/rare', limit => 'rate=20r/m burst=2' },
        'sms.gone' => { path => '/gone',
                        limit => 'rate=' . GONE . 'r/s burst=2' } });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my ($a, $b) = $run->instances;

sub sent {
    my ($path) = @_;

    return grep { $_->{path} =~ m{^/$path} } $gateway->sends;
}

# until so many more were sent, with another leader as often as can be; how
# many leaders there were

sub hand_over {
    my ($more, $next) = @_;

    my ($leaders, $end) = (0, time + 30 * slow());
    my $enough = $more + sent('rare');

    while (sent('rare') < $enough && time < $end) {
        my $epoch = $lease->row->{epoch};

        $next->($lease->wait_leader);
        $lease->wait_leader($epoch);
        $leaders++;
    }

    return $leaders;
}


my $leader = $run->start;

$run->post(map { [$_, 'sms.rare'] } $run->ids('rare', 30));

my $began = time;
my $crashes = 0;
my $leaders = hand_over(3, sub {
    my ($leads) = @_;
    my ($pid) = $lease->executors($leads);

    if ($crashes++ % 2 && $pid) {
        $lease->kill($leads, $pid);

    } else {
        $leads->reload;
    }
});
my @rare = sent('rare');

cmp_ok(scalar @rare, '>=', 3, "$leaders reloads and crashes in " . (time - $began)
                              . ' seconds, and yet it is sent to');
cmp_ok(scalar keys %{{ map { $_->{epoch} => 1 } @rare }}, '>=', 2,
       'by more than one leader');

$began = time;
my $stops = 0;
$leaders = hand_over(3, sub {
    my ($leads) = @_;

    if ($stops++ % 2) {
        $leads->signal('TERM');
        $leads->wait_gone;

    } else {
        $leads->quit;
    }

    $leads->start;
});

cmp_ok(scalar(sent('rare')) - @rare, '>=', 3,
       "$leaders times the other one led, in " . (time - $began)
       . ' seconds, and yet it is sent to');
cmp_ok($run->excess(RATE, 2, sent('rare')), '<=', 0,
       'and never more than it may be');


# both lose the target while intents of it are left, the leader by a reload

$gateway->behave('/gone' => 'accept');
$leader = $lease->wait_leader;

my ($other) = grep { $_ != $leader } $a, $b;

$run->post(map { [$_, 'sms.gone'] } $run->ids('gone', 2 * LEFT));
$gateway->wait_for_sends(1, which => sub { $_[0]{path} =~ m{^/gone} });

for my $instance ($leader, $other) {
    $instance->{targets} =~ s/target sms\.gone .*?\n        \}\n//s
        or die 'no such target';
}

$leader->reload(wait_old => 1);
$gateway->wait_for_sends(LEFT, timeout => 30 * slow(),
                         which => sub { $_[0]{path} =~ m{^/gone} });

# one that never had it: its zone does not know it

$other->quit;
$other->start;
$leader->quit;
$lease->wait_leader;
$run->wait_terminal('gone-', 60 * slow());

my @gone = sent('gone');

is_deeply($run->statuses('gone-'), { accepted => 2 * LEFT },
          'what is left of a target that was removed is sent');
cmp_ok($run->excess(GONE, 2, @gone), '<=', 0, 'at its rate');
cmp_ok(scalar keys %{{ map { $_->{epoch} => 1 } @gone }}, '>=', 3,
       'by three leaders, on both instances');

$leader->start;
$_->expect_log(qr/exited on signal 9/) for $a, $b;
$run->done;

# The host of the leader is suspended for an hour, and goes on: the timers of
# its processes have stood still, and so has CLOCK_MONOTONIC (by
# t/tools/suspend.c).  From the first moment the instance does not say that it
# leads, and nothing is sent in its old epoch: neither what comes up now, nor
# what was being begun when it fell asleep.  As nobody else has led meanwhile,
# it goes on in the next epoch.
#
# Goes red when: the deadline, the gate before a send, or what is published for
# /readyz and the metrics goes by a clock that does not know of it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Fcntl;
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'no_checker';
use SubmissionCluster;

use constant HOUR => 3600;

# renewals are far apart: no answer of the store comes to its help

my $run = SubmissionCluster::Executor->new(
    lease => '120s', renew => '60s', acquire => '60s',
    targets => { 'sms.again' => { path => '/again', retry => '1s' } },
    instance => { main => 'env LD_PRELOAD; env SUBMISSION_SUSPENDED;' });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my ($a) = $run->instances;
my $shim = "$run->{cluster}{dir}/suspend.so";
my $file = "$run->{cluster}{dir}/suspended";
my $slept = 0;

is(system('cc', '-shared', '-fPIC', '-o', $shim,
          "$FindBin::Bin/../tools/suspend.c"), 0, 'the shim is built');


sub suspend {
    my ($seconds) = @_;

    $slept += $seconds;

    sysopen(my $out, $file, O_WRONLY | O_CREAT) or die "$file: $!";
    syswrite($out, pack('q', $slept)) == 8 or die "$file: $!";
    close $out;
}


suspend(0);

{
    local $ENV{LD_PRELOAD} = $shim;
    local $ENV{SUBMISSION_SUSPENDED} = $file;
    $run->start;
}

$run->post('before');
$run->wait_terminal('before');

my $epoch = $lease->row->{epoch};

is($a->metric('leader'), 1, 'before: it leads');


# what comes up now

suspend(HOUR);

is($lease->readyz($a)->{mode}, 'follower', 'after: it does not say so');

suspend(HOUR);

is($a->metric('leader'), 0, 'after: nor do its metrics');

$run->post('after');
$run->wait_terminal('after');

my ($send) = $gateway->sends_of('after');

is($send->{epoch}, $lease->row->{epoch}, 'after: it is sent in an epoch');
cmp_ok($send->{epoch}, '>', $epoch, 'after: that is another one');

my ($lost) = grep { $_->{kind} eq 'lost' } $lease->events($a);

is("$lost->{reason} $lost->{lease_epoch}", "deadline $epoch",
   'after: the log says why the old one has ended');


# what is being begun: the store is locked, so that it takes its time

$lease->wait_leader($epoch);
$epoch = $lease->row->{epoch};

$gateway->behave('/again' => 'answer 503');
$run->post(['again', 'sms.again']);

wait_for('it has failed once', sub {
    @{$run->history('again')->{attempts}} == 1;
});

$gateway->behave('/again' => undef);

my $lock = $run->store->lock;
my $since = time;

wait_for('it is due, and the executor waits for the store',
         sub { time - $since > 1.5 });

suspend(HOUR);

$run->store->unlock($lock);
$run->wait_terminal('again');

my @sends = $gateway->sends_of('again');

is(scalar @sends, 2, 'begun before: it is sent again');
is($sends[0]{epoch}, $epoch, 'begun before: at first in the old epoch');
cmp_ok($sends[1]{epoch}, '>', $epoch, 'begun before: then in another one');

$run->done;

# Intents with notBefore: sent at their time, by whoever leads then.
#
# On time: never before it, and 50 ms late at the most (more on a slow store), where
# the machine lets it.  Whether it was posted to the leader or to another one makes
# no difference.  What is due after a failover is sent by the next leader, once; a
# deadline counts from notBefore, or it would have passed before the first attempt.
#
# Goes red when: the queue takes an intent for due when it comes; the store's
# begin does not look at the time; a rebuild loses what is delayed; a deadline counts
# from the creation.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use POSIX qw(strftime);
use Test::More;
use Time::Local qw(timegm);
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { INTENTS => 20, LATE => 0.05, TRIES => 8, AHEAD => 2 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '3s',
    targets => { 'sms.short' => { policy => 'deadline 4s' } });
my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);

$run->start;

my $leader = $lease->wait_leader;
my ($other) = grep { $_ != $leader } $run->instances;


# microseconds since 1970 by the store's clock

sub text {
    my ($usec) = @_;

    return strftime('%Y-%m-%dT%H:%M:%S', gmtime(int($usec / 1e6)))
           . sprintf('.%06dZ', $usec % 1_000_000);
}


sub post {
    my ($instance, $id, $usec, $target) = @_;

    my $body = encode_json({ intentId => $id, notBefore => text($usec),
                             submissionTarget => $target // 'sms.realtime',
                             payload => { for => $id } });
    my $answer = fetch($instance, 'POST', '/v1/intents', $body);

    is($answer->{status}, 200, "$id is taken") or diag($answer->{body} // '');
}


# how late the first attempt of each was begun, by the store's clock, in seconds

sub lateness {
    my (%due) = @_;

    return map {
        my ($first) = @{$run->history($_)->{attempts}};
        my ($date, $clock) = $first->{startedAt} =~ /^(.*)T(.*)Z$/;
        my ($y, $m, $d) = split /-/, $date;
        my ($hour, $minute, $second) = split /:/, $clock;

        1e6 * timegm(0, $minute, $hour, $d, $m - 1, $y)
            + 1e6 * $second - $due{$_};
    } sort keys %due;
}


for my $instance ($leader, $other) {
    my $name = $instance == $leader ? 'to the leader' : 'to a follower';
    my @late;

    for my $try (1 .. TRIES) {
        my $first = $store->now + AHEAD * slow() * 1e6;
        my %due;

        for my $id ($run->ids('due' . $try . $instance->{name}, INTENTS)) {
            $due{$id} = int($first + 37_000 * keys %due);
            post($instance, $id, $due{$id});
        }

        my $prefix = 'due' . $try . $instance->{name};

        is(scalar(grep { $_->{id} =~ /^\Q$prefix\E-/ } $gateway->sends), 0,
           "$name: nothing is sent before its time")
            if $store->now < $first;

        $run->wait_terminal("$prefix-");

        @late = sort { $a <=> $b } map { $_ / 1e6 } lateness(%due);

        cmp_ok($late[0], '>=', 0, "$name: none is early");

        last if $late[-2] <= LATE * pace();
    }

    cmp_ok($late[-2], '<=', LATE * pace(),
           "$name: none is late, but one at the most")
        or diag("@late");
}


# a deadline of four seconds, five seconds ahead

my $start = $store->now;

post($leader, 'short-1', $start + 5e6, 'sms.short');
post($leader, 'short-2', $start - 3600e6, 'sms.short');
$run->wait_terminal('short-');

is($run->history("short-$_")->{intent}{status}, 'accepted',
   "short-$_: a deadline counts from the later one") for 1, 2;


# a leader that dies before they are due

my %due = map { $_ => int($store->now + 1e6 * (5 * slow() + rand 2)) }
          $run->ids('failover', 30);

post($other, $_, $due{$_}) for sort keys %due;

$lease->kill_tree($leader);
$run->wait_terminal('failover-');

my @late = lateness(%due);

is(scalar(grep { $_ < 0 } @late), 0, 'none is sent before its time');
is(scalar(grep { $gateway->sends_of($_) != 1 } keys %due), 0, 'each once');

$run->done;

# Three instances start at once, 2,000 intents go to all of them in turn: each
# is sent exactly once, by the one that leads, in its one epoch (G1, G4), byte
# for byte and with the headers that gateways are promised.
#
# Goes red when: two instances execute, or two workers of one; an attempt is
# begun twice; an intent that came in by a follower is not picked up; what is
# recorded is of another epoch or holder than what was sent.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant INTENTS => 2000;

my $run = SubmissionCluster::Executor->new(instances => ['a' .. 'c']);
my $leader = $run->start;
my $epoch = $run->leadership->row->{epoch};

$run->post($run->ids('one', INTENTS));
$run->wait_terminal('one-', 30);

is_deeply($run->statuses('one-'), { accepted => INTENTS }, 'all are accepted');

my @sends = $run->gateway->sends;
my (%ids, %of);

$ids{$_->{id}}++ for @sends;

for my $send (@sends) {
    $of{$_}{$send->{$_}}++ for qw(attempt epoch request type);
}

is(scalar @sends, INTENTS, 'as many requests as intents');
is(keys %ids, INTENTS, 'one of each');
is_deeply(\%of, { attempt => { 1 => INTENTS }, epoch => { $epoch => INTENTS },
                  request => { 'POST /sms/send' => INTENTS },
                  type => { 'application/json' => INTENTS } },
          'all are first attempts of one epoch');

my %by;

$by{"$_->{number} $_->{epoch} $_->{holder} $_->{status}"}++
    for $run->store->attempts;

is_deeply(\%by, { "1 $epoch $leader->{name} accepted" => INTENTS },
          'and are recorded as such');

my $history = $run->history('one-0001');
my $attempt = $history->{attempts}[0];

is($history->{intent}{status}, 'accepted', 'the API says so too');
is($history->{intent}{attemptCount}, 1, 'after one attempt');
ok($history->{intent}{completedAt}, 'at a time');
ok(!exists $history->{intent}{nextAttemptAt}, 'and nothing is to come');
is_deeply([@$attempt{qw(attemptNumber outcomeStatus outcomeReason error)}],
          [1, 'accepted', undef, undef], 'with its history');

$run->done;

# The leader's whole process tree is killed with 200 attempts in flight at a
# gateway that does not answer, and 100 more that are due.  The next leader
# finishes all of it: what was in flight is recorded as unknown/leader_lost,
# and sent again with the same key, unless it is one_shot, which is never sent
# twice and ends as exhausted/outcome_unknown (G3, G5).
#
# Goes red when: an attempt is sent before it is begun, or begun without a
# trace; the next leader takes what is in flight for pending, or leaves it in
# flight for ever; one_shot is tried again; the next one sends before the lease
# of the first has expired; what ended in doubt is missing in the leader's numbers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { INTENTS => 300, IN_FLIGHT => 200 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=' . IN_FLIGHT);
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my @targets = qw(sms.realtime push.marketing sms.once);

my $leader = $run->start;
my $epoch = $lease->row->{epoch};

$gateway->behave('/' => 'hold');

my @ids = $run->ids('fly', INTENTS);
my $i = 0;
my %target = map { $_ => $targets[$i++ % @targets] } @ids;

$run->post(map { [$_, $target{$_}] } @ids);
$gateway->wait_for_held(IN_FLIGHT);

is($gateway->count, IN_FLIGHT, 'as many are sent as may be in flight');
is($run->store->in_flight, IN_FLIGHT, 'which is what the store knows');
$run->check('in flight');

my %flew = map { $_->{id} => 1 } $gateway->sends;

$lease->kill_tree($leader);

my $expires = $lease->row->{expires_at};

$gateway->behave('/' => undef);
$run->wait_terminal('fly-', 30);

my ($first) = grep { $_->{epoch} > $epoch } $gateway->sends;

cmp_ok($first->{time}, '>=', $expires - 2000,
       'nothing was sent while the lease of the dead one lasted');
cmp_ok($first->{time}, '<', $expires + 3e6 * slow(), 'but soon after');

my (%expected, %seen, @problems);

for my $id (@ids) {
    my $once = $target{$id} eq 'sms.once';
    my $what = $flew{$id} ? $once ? 'once, in flight' : 'in flight' : 'due';
    my @sends = $gateway->sends_of($id);
    my $expected = $flew{$id} ? $once ? 1 : 2 : 1;

    push @problems, "$id, $what: sent " . @sends . ' times'
        if @sends != $expected;

    $seen{$what}++;
}

is_deeply(\@problems, [], 'each was sent as often as it may be');
cmp_ok($seen{$_}, '>', 20, "$seen{$_} were $_")
    for 'in flight', 'once, in flight', 'due';

is_deeply($run->statuses('fly-'),
          { accepted => INTENTS - $seen{'once, in flight'},
            'exhausted outcome_unknown' => $seen{'once, in flight'} },
          'what became of them');

is_deeply($run->recorded('fly-'), $run->in_doubt(\%flew, @ids),
          'how each attempt ended');

my ($twice) = grep { $flew{$_} && $target{$_} eq 'sms.realtime' } @ids;
my ($once) = grep { $flew{$_} && $target{$_} eq 'sms.once' } @ids;

is($run->outcomes($twice), 'unknown/leader_lost, accepted', 'by the API');
is($run->history($once)->{intent}{exhaustedReason}, 'outcome_unknown',
   'by the API, one_shot');

# the leader's numbers have every end, and every attempt, those in doubt, too

my ($next) = grep { $_->{name} eq $lease->row->{holder} } $run->instances;

sub sum {
    my ($column) = @_;

    my $stats = decode_json(fetch($next, 'GET', '/v1/stats')->{body});
    my ($i) = grep { $stats->{columns}[$_] eq $column }
              0 .. $#{$stats->{columns}};
    my $sum = 0;

    $sum += $_->[$i] for @{$stats->{rows}};

    return $sum;
}

wait_for('the numbers have what was sent by the next leader',
         sub { sum('accepted') == INTENTS - $seen{'once, in flight'} }, 15);
is(sum('exhausted'), $seen{'once, in flight'}, 'and what ended in doubt');
is(sum('failedAttempts'), IN_FLIGHT, 'and the attempts in doubt');

$run->done;

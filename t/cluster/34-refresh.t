# What the leader has not heard of by itself it finds in the store: intents
# that came in by a follower, no later than the next refresh; thousands of rows
# of the very same last_modified_at, across the borders of pages, both when they
# come up while it leads and when they are there before; and rows that were
# committed late, so that they are older than others that have long been
# seen and sent (G7).
#
# Goes red when: there is no refresh, or only when idle; the cursor is a time
# without an id, or its comparison is of one where it must be of both; the
# cursor follows the newest row, rather than stay a while behind the clock; what
# is read a second time is sent a second time.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { REFRESH => 0.5, SAME => 2500 };

# What is there when it comes to lead.  The next refresh would be after the end
# of the test: all of it must be read at the first time.

{
    my $run = SubmissionCluster::Executor->new(instances => ['d'],
                                               lease => '10s',
                                               refresh => '10m');
    my $d = $run->start;

    $run->post('like');
    $run->wait_terminal('like');
    $d->quit;

    $run->store->insert_like('like', [$run->ids('there', SAME)]);
    $d->start;
    $run->wait_terminal('there-', 15);

    is_deeply($run->statuses('there-'), { accepted => SAME },
              'all rows of one time are sent that were there before');
    is($run->gateway->count, SAME + 1, 'once each');

    $run->check('before');
    $run->leadership->quit;
    $run->leadership->check;
    $run->cluster->finish;
}


my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '10s',
    refresh => 1000 * REFRESH . 'ms');
my ($gateway, $store) = ($run->gateway, $run->store);
my $leader = $run->start;
my @followers = grep { $_ != $leader } $run->instances;


# one after the other, as each wakes nobody but the follower

my @late;

for my $id ($run->ids('follower', 8)) {
    $run->post({ instances => [$followers[@late % 2]] }, $id);
    wait_for("$id is sent", sub { $gateway->sends_of($id) });
    push @late, ($gateway->sends_of($id))[0]{time} / 1e6
                - $run->{posted}{$id}{answered};
}

my ($latest) = sort { $b <=> $a } @late;

cmp_ok($latest, '<', REFRESH + 3 * slow(),
       'what a follower took is sent after the next refresh');
note(sprintf 'at most %.0f ms after the answer', 1000 * $latest);


# the same microsecond

$run->wait_terminal('follower-');
$store->insert_like('follower-0001', [$run->ids('same', SAME)]);
$run->wait_terminal('same-', 30);

is_deeply($run->statuses('same-'), { accepted => SAME },
          'all rows of one time are sent');
is(scalar(grep { $_->{id} =~ /^same-/ } $gateway->sends), SAME, 'once each');


# and late, while others pass by

my $begun = time;
my $n = 0;

while (time - $begun < 4) {
    my $next = time + 0.1;

    $run->post(sprintf('pass-%04d', ++$n));
    wait_for('the next one', sub { time >= $next });
}

$store->insert_like('follower-0001', [$run->ids('late1', 30)], ago => 1);
$store->insert_like('follower-0001', [$run->ids('late3', 30)], ago => 3);

my $inserted = time;

$run->post($run->ids('after', 50));
$run->wait_terminal($_) for qw(after- pass-);

for my $late (qw(late1 late3)) {
    $run->wait_terminal("$late-");
    is_deeply($run->statuses("$late-"), { accepted => 30 },
              "$late: what was committed late is not missed");
}

($latest) = sort { $b <=> $a } map { $_->{time} / 1e6 - $inserted }
            grep { $_->{id} =~ /^late/ } $gateway->sends;

cmp_ok($latest, '<', REFRESH + 3 * slow(), 'nor late by more than a refresh');
is_deeply([grep { $gateway->sends_of($_->{id}) != 1 } $gateway->sends], [],
          'nothing is sent twice');

$run->done;

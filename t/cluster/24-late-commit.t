# A row that comes into the store with a time of an hour ago, as a commit that
# waited for a standby all that time would: no refresh looks back that far.  The
# slow sweep finds it (G3, G7), and sends nothing twice that is there already:
# what waits for its next attempt, and more of it than a page has.
#
# Goes red when: there is no sweep, it does not begin again after its end, it
# stops at its first page, or what it reads a second time is sent a second time.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

# more than two pages

use constant WAITING => 2500;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', refresh => '100ms',
    targets => { 'sms.later' => { path => '/later', retry => '1h',
                                 policy => 'deadline 1d' } });
my ($gateway, $store) = ($run->gateway, $run->store);
my $leader = $run->start;

$gateway->behave('/later' => 'answer 503');

$run->post('like', ['later', 'sms.later']);
$run->wait_terminal('like');
$store->insert_like('later', [$run->ids('later', WAITING)]);

wait_for('all of them wait for an hour', sub {
    $store->value('SELECT count(*) FROM submission_intents WHERE '
                  . "submission_target = 'sms.later' AND attempt_count = 1 "
                  . 'AND next_attempt_at IS NOT NULL') == WAITING + 1;
}, 60);


for my $round (qw(first second)) {
    $store->insert_like('like', [$run->ids($round, 30)], ago => 3600 - 5);
    $run->wait_terminal("$round-", 30);

    is_deeply($run->statuses("$round-"), { accepted => 30 },
              "$round: what was committed an hour late is found");
}

# behind all that waits, where a sweep comes last

my $at = $store->value('SELECT max(last_modified_at) FROM submission_intents '
                       . "WHERE submission_target = 'sms.later'");

$run->post('after');
$run->wait_terminal('after');

wait_for('the place is out of the window', sub {
    $store->now > $at + 11e6;
}, 30);

$store->insert_like('like', [$run->ids('behind', 30)], at => $at + 1);
$run->wait_terminal('behind-', 30);

is_deeply($run->statuses('behind-'), { accepted => 30 },
          'so is what is on a later page');

is_deeply([grep { $gateway->sends_of($_->{id}) != 1 } $gateway->sends], [],
          'nothing is sent twice');
is($run->leadership->row->{epoch}, 1, 'and nobody has lost the lease');

$run->done;

# A bucket in the zone is that of the epoch before, or it is nobody's (G15).  The
# lease is given to another holder and ends there: whatever that one has sent, an
# instance that leads again two epochs later begins with an empty bucket.
#
# Goes red when: a leader goes on with a bucket of an epoch that was not the one
# before.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '3s',
    targets => { 'sms.rated' => { path => '/rated',
                                  limit => 'rate=60r/m burst=3' } });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);

my $a = $run->start(record => 0);
my $epoch = $lease->row->{epoch};

$run->post(map { [$_, 'sms.rated'] } $run->ids('first', 1));
$gateway->wait_for_sends(1);

# longer than it takes to fill the bucket

$store->give_lease('thief', 4);
$run->wait_lost($a, $epoch);
$run->post(map { [$_, 'sms.rated'] } $run->ids('then', 3));
$run->wait_terminal('then-', 30 * slow());

my @sends = $gateway->sends;

cmp_ok($sends[1]{epoch}, '>=', $epoch + 2, 'another has led in between');
cmp_ok($sends[3]{monotonic} - $sends[1]{monotonic}, '>', 1,
       'a second for each token, from the first on');

$run->done;

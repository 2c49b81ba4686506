# A fail-over of the database: the primary is killed with SIGKILL while an
# instance leads, sends, and clients post through all of them, and its
# synchronous standby is promoted.  The connection string names both.  Nothing
# that was answered 200 is lost (G3), the next leader has a new epoch, and all
# that was posted is sent, under the bounds of G5.
#
# Goes red when: only the first host of a connection string is tried; a standby
# that takes no writes is taken for the store; an answer is believed before the
# commit.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '4s', renew => '1s', acquire => '2s');
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);

$server->standby($cluster);
$server->options('login_timeout=2s');

$run->start;

my $epoch = $lease->row->{epoch};
my $load = $cluster->load(prefix => 's', connections => 16,
                          retry => [503, 'unanswered', 'torn'])->start;

wait_for('intents are taken', sub { $load->count('answered') > 300 });

$server->kill;

# a standby that is promoted between two calls of the leader changes nothing

wait_for('nobody leads', sub {
    !grep { (($lease->readyz($_) // {})->{mode} // '') eq 'leader' }
          $cluster->instances
});

$server->promote;
$store->reconnect;

my $n = $load->count('answered');

$lease->wait_leader($epoch);
pass('one leads in a new epoch');

wait_for('intents are taken again', sub { $load->count('answered') > $n + 300 });

$load->pause;
wait_for('the load ends', sub { $load->finished || !$load->{outstanding} });
$load->close;

is_deeply($load->{final}, {}, 'no answer but 200, and 503 meanwhile');
is_deeply($load->{changed} // [], [], 'answers to one intent do not differ');

my %stored = map { $_->[0] => 1 }
             $store->query('SELECT intent_id FROM submission_intents');

is_deeply([grep { !$stored{$_} } keys %{$load->{answered}}], [],
          'all that was answered 200 is there');

wait_for('all is sent', sub { $store->pending('s-') == 0 }, 60);

$run->done;

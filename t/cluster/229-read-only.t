# A PostgreSQL server that takes no writes any more, as after a failover that has
# not promoted a standby (G22).  Connections are made to servers that take writes
# alone: every instance says "down", and why, and answers no read; it is up again
# within ten seconds of the server taking writes.
#
# Goes red when: the store is shown as up, or as failing, which would promise that
# reads are answered; the reason is not told; an instance does not come back.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'postgres';
use SubmissionCluster;
use SubmissionCluster::Views;

my $run = SubmissionCluster::Executor->new(instances => ['a', 'b'], lease => '6s');
my $store = $run->store;

$run->start;

my @instances = $run->instances;
my $views = SubmissionCluster::Views->new(@instances);

$run->post('there');
$run->wait_terminal('there', 30);
$views->all_say('up', 'before');

$store->read_only(1);
$views->all_say('down', 'read-only');

for my $instance (@instances) {
    wait_for("$instance->{name} says why", sub {
        $views->overview($instance)->{store}{lastError} =~ /session is read-only/;
    }, 10);
    is(fetch($instance, 'GET', '/v1/intents/there')->{status}, 503,
       "read-only: $instance->{name} reads nothing");
}

$store->read_only(0);
$views->all_say('up', 'back');
$views->check('all the time');

$run->done;

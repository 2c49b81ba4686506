# A server whose disk is full takes small commits, which find room in pages that
# are there: leases, numbers, probes.  Intents are refused (G22).  It is failing on
# every instance that was refused one, as long as intents are refused, whatever
# else is committed and though nobody posts any more; and it is up within ten
# seconds of there being room, though nobody posts.
#
# Goes red when: small commits end what refused intents have begun; a probe does
# not find out whether intents are refused; it leaves rows behind.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'postgres';
use SubmissionCluster;
use SubmissionCluster::Views;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '6s', renew => '500ms');
my ($store, $lease) = ($run->store, $run->leadership);

$run->start;

my @instances = $run->instances;
my $views = SubmissionCluster::Views->new(@instances);

$run->post('there');
$run->wait_terminal('there', 30);
$views->all_say('up', 'before');


sub renewed {
    return ($store->query('SELECT renewed_at FROM submission.submission_manager_leases'))[0][0];
}

my %before = map { $_ => $views->said($_) } @instances;
my %failed = map { $_ => $_->metric('store_commits_failed_total') } @instances;
my $renewed = renewed();

$store->fill('intents');

is(post_intent($_, intent_id('new'))->{status}, 503, "$_->{name}: an intent is refused")
    for @instances;
$views->all_say('failing', 'no room');

for my $instance (@instances) {
    wait_for('probes are refused, one after the other', sub {
        $instance->metric('store_commits_failed_total') >= $failed{$instance} + 12;
    }, 60);
    is($views->said($instance), "$before{$instance} failing",
       "$instance->{name}: it is failing all the time");
    like($views->overview($instance)->{store}{lastError}, qr/No space/,
         "$instance->{name}: and says why");
}

isnt(renewed(), $renewed, 'the lease was renewed meanwhile');
$views->all_say('failing', 'still no room');

$store->make_room('intents');
$views->all_say('up', 'room again');

is(($store->query('SELECT count(*) FROM submission.submission_intents'))[0][0], 1,
   'probes leave nothing behind');
is(post_intent($_, intent_id('later'))->{status}, 200, "$_->{name}: an intent is taken")
    for @instances;
$run->wait_terminal('later', 30);

$run->done;

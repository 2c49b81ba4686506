# A store that can be read and does not commit, as one whose disk is full (G22).
# Nobody posts anything.  Within ten seconds every instance says "failing" in all
# of its views, in /readyz with 503, in the metrics and in one line of its log;
# what is there can be read.  A commit that goes through between others does not
# end it.  When there is room again, all say "up" within ten seconds.  A store that
# was taken away is "down", and not "failing".
#
# Goes red when: a store whose disk is full is called up or down; an instance
# that commits nothing by itself does not notice; one commit is taken for the end;
# an intent that was not taken is not counted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Views;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '60s', renew => '5s', acquire => '30s');
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);

$cluster->skip_test('no way to fill this store') if !$store->can('fill');

if ($store->kind eq 'sqlite') {
    my $why = $cluster->mount_tmpfs("$cluster->{dir}/store", '64m');

    $cluster->skip_test("no small disk: $why") if $why;
}

# the status of each line

sub bulk {
    my ($instance, @ids) = @_;

    my $body = join '', map { SubmissionCluster::Client::intent($_, '{}') . "\n" } @ids;
    my $request = SubmissionCluster::Client::request('POST', '/v1/intents', $body);
    my $conn = SubmissionCluster::Connection->open($instance->{port});
    my $answer;

    $request =~ s{application/json}{application/x-ndjson};

    $conn->send($request, sub { $answer = $_[0] });
    wait_for('a bulk is answered', sub { $answer });
    $conn->close;

    return ($answer->{status}) x @ids if $answer->{status} != 200;
    return map { decode_json($_)->{status} } split /\n/, $answer->{body};
}


$run->start;

my @instances = $run->instances;
my $views = SubmissionCluster::Views->new(@instances);

$run->post('there');
$run->wait_terminal('there', 30);

my %before = map { $_ => $views->said($_) } @instances;

$views->all_say('up', 'before');

my %failed = map { $_ => $_->metric('store_commits_failed_total') } @instances;


# no room for anything

$store->fill;
$views->all_say('failing', 'full');

for my $instance (@instances) {
    my $overview = $views->overview($instance);

    like($overview->{store}{lastError}, qr/full|No space|3906|read-only/i,
         "full: $instance->{name} says why");
    is($instance->metric('store_up'), 0, 'full: it is not up');
    cmp_ok($instance->metric('store_commits_failed_total'), '>', $failed{$instance},
           'full: failed commits are counted');
    wait_for('/readyz is 503', sub {
        fetch($instance, 'GET', '/readyz')->{status} == 503 });
    is(fetch($instance, 'GET', '/v1/intents/there')->{status}, 200,
       'full: what is there can be read');

    my $untaken = $instance->metric('intents_not_taken_total');

    is(post_intent($instance, intent_id('new'))->{status}, 503,
       'full: nothing is taken');
    is(join(' ', bulk($instance, map { intent_id('line') } 1 .. 3)), '503 503 503',
       'full: nor are lines of a bulk');
    is($instance->metric('intents_not_taken_total'), $untaken + 4,
       'full: what was not taken is counted, whether the breaker is open or not');
    is($views->said($instance), "$before{$instance} failing", 'full: one line says so');
}

# room for a moment, in which something may be committed, and none again

SKIP: {
    skip('SQLite has room in its log then', 1) if $store->kind eq 'sqlite';

    my $instance = $instances[0];
    my $longest = 0;

    for my $i (1 .. 3) {
        my $begun = time;

        $store->make_room;
        wait_for('something is committed', sub {
            post_intent($instance, intent_id('between'))->{status} == 200 });
        $store->fill;

        my $took = time - $begun;

        $longest = $took if $took > $longest;
    }

    $views->all_say('failing', 'full still');

    skip("there was room for $longest s", 1) if $longest > 2.5;

    is($views->said($instance), "$before{$instance} failing",
       'full: a commit between is not the end');
}

$views->check('full');

$store->make_room;
$views->all_say('up', 'room again');
$lease->wait_leader;

like($views->said($_), qr/^$before{$_}( failing working)+$/, "room again: $_->{name} says so")
    for @instances;
wait_for("/readyz is 200", sub {
    2 == grep { fetch($_, 'GET', '/readyz')->{status} == 200 } @instances });

for my $instance (@instances) {
    ok($views->overview($instance)->{store}{lastError},
       'room again: the last error is remembered');
}


# away

$store->away;
$views->all_say('down', 'away');
$views->check('away');
$store->back;
$views->all_say('up', 'back');

$run->done;

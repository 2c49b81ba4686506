# Applications submit in transactions of their own, by SQL: what is committed
# becomes an intent, once, and reaches the gateway; what is rolled back does not.
# A transaction that commits late is not missed, the same id by HTTP and by SQL is
# one intent, a client may wait for it before it is there, and the leader may be killed
# in the middle of moving (G3, G7, G10).
#
# Goes red when: a place in the inbox is remembered; a row is moved in one
# transaction and removed in another; the id is not looked for among the intents; a
# refusal has no trace; what nobody can read stops what comes after it; who asks for an
# intent that is only in the inbox is told that there is none.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use List::Util qw(sum);
use Test::More;

use SubmissionCluster;

use constant { MANY => 3000, BOTH => 60 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '5s', refresh => '200ms',
    executor => 'concurrency=64',
    instance => { manager => 'inbox_max_payload 1k;' });
my ($gateway, $store) = ($run->gateway, $run->store);
my $leader = $run->start;


sub count {
    my ($table, $where) = @_;

    return $store->value("SELECT count(*) FROM submission_$table WHERE $where");
}

sub inbox_empty { return count('inbox', '1 = 1') == 0 }

sub submit { return map { $store->submit_sql($_, 'sms.realtime', '{"n":1}') } @_ }

sub metric {
    my ($name) = @_;

    return sum(map { $_->metric($name) } grep { $_->running } $run->instances);
}


# one that commits, one that does not

my @ids = $run->ids('app', 20);

$store->unlock($store->begin(submit(@ids)));

wait_for('what was committed is sent', sub {
    inbox_empty() && count('intents', "intent_id LIKE 'app-%' AND "
                                      . "status = 'accepted'") == @ids;
}, 30);

is_deeply([grep { scalar(my @s = $gateway->sends_of($_)) != 1 } @ids], [],
          'each once');

$store->rollback($store->begin(submit('rolled-back')));


# a transaction that began early and commits late; on SQLite nobody else writes
# meanwhile, so it is short

my $late = $store->begin(submit('late'));

if ($store->kind ne 'sqlite') {
    $store->unlock($store->begin(submit('overtakes')));

    wait_for('what came after it is sent', sub {
        $gateway->sends_of('overtakes');
    }, 30);

    my $at = $store->now;

    wait_for('looks pass', sub { $store->now > $at + 5e6 * pace() }, 60);
    is(scalar(my @none = $gateway->sends_of('late')), 0,
       'what is not committed is not sent');
}

$store->unlock($late);

wait_for('what was committed late is sent', sub {
    $gateway->sends_of('late');
}, 30);


# by HTTP and by SQL at once

@ids = $run->ids('both', BOTH);
$store->unlock($store->begin(submit(@ids[0 .. BOTH / 2 - 1])));

# the payload is what submit() above has

$run->post(map { [$_, 'sms.realtime', '{"n":1}'] } @ids);
$store->unlock($store->begin(submit(@ids[BOTH / 2 .. BOTH - 1])));

wait_for('both ways are at their end', sub {
    inbox_empty() && count('intents', "intent_id LIKE 'both-%' AND "
                                      . "status = 'accepted'") == BOTH;
}, 30);

is(count('intents', "intent_id LIKE 'both-%'"), BOTH, 'one intent each');
is_deeply([grep { scalar(my @s = $gateway->sends_of($_)) != 1 } @ids], [],
          'which is sent once');
is(count('inbox_refused', '1 = 1'), 0, 'and nothing is refused');


# clients that wait for an intent that is not there yet, on the leader and elsewhere

my %asked = map { $_->{name} => $_->calls('intents_get') } $run->instances;
my (%waits, @conns);

for my $instance ($run->instances) {
    my $id = "awaited-$instance->{name}";
    my $conn = SubmissionCluster::Connection->open($instance->{port});

    $conn->send(SubmissionCluster::Client::request('GET',
                    "/v1/intents/$id?waitSeconds=30", ''),
                sub { $waits{$id} = $_[0] });
    push @conns, $conn;
}

wait_for('the store was asked for each', sub {
    !grep { $_->calls('intents_get') == $asked{$_->{name}} } $run->instances;
});
is(scalar keys %waits, 0, 'and none is answered');

$store->unlock($store->begin(submit(map { "awaited-$_->{name}" } $run->instances)));

wait_for('each has an answer', sub { keys %waits == @conns }, 30);
is(join(' ', map { ($_->{body} // '') =~ /"status":"(\w+)"/ ? "$_->{status} $1"
                                                          : $_->{status} }
             values %waits),
   join(' ', ('200 accepted') x @conns), 'which is the end of the intent');
$_->close for @conns;


# what POST would refuse, and what comes after it

my @bad = (
    $store->submit_sql('bad-json', 'sms.realtime', '{'),
    $store->submit_sql('bad-target', 'sms.unknown', '1'),
    $store->submit_sql('bad-size', 'sms.realtime', '"' . 'x' x 2000 . '"'),
    $store->submit_sql('i' x 3000, 'sms.realtime', '1'),
    $store->submit_sql($ids[0], 'sms.realtime', '{"n":2}'),
);

$store->unlock($store->begin(@bad, submit('after-bad')));

wait_for('what comes after it is sent', sub {
    inbox_empty() && $gateway->sends_of('after-bad');
}, 30);

is_deeply([map { $_->[0] } $store->query('SELECT reason FROM '
                                         . 'submission_inbox_refused '
                                         . 'ORDER BY seq')],
          [qw(invalid_request invalid_request payload_too_large invalid_request
              idempotency_conflict)], 'each refusal has its reason');
is(metric('inbox_refused_total'), @bad, 'and is counted');
cmp_ok(scalar($leader->log_lines(qr/inbox_refused manager=main/)), '>=', 1,
       'and told');
is(count('intents', "intent_id LIKE 'bad-%'"), 0, 'none is an intent');


# the leader dies while it moves

@ids = $run->ids('kill', MANY);
$store->unlock($store->begin(submit(@ids)));

my $killed = 0;

wait_for('it has begun', sub {
    count('intents', "intent_id LIKE 'kill-%'") > 0;
}, 30);

if (count('inbox', '1 = 1') > 0) {
    $run->leadership->kill_tree($leader);
    $killed = 1;
}

wait_for('another one has moved the rest', sub {
    inbox_empty() && count('intents', "intent_id LIKE 'kill-%' AND "
                                      . "status = 'accepted'") == MANY;
}, 90);

note($killed ? 'killed while it moved' : 'it was too fast to be killed');
is(count('intents', "intent_id LIKE 'kill-%'"), MANY, 'one intent each');

my %sent = map { $_->{id} => 1 } $gateway->sends;

is_deeply([grep { !$sent{$_} } @ids], [], 'and each has reached the gateway');
is(count('inbox_refused', "intent_id LIKE 'kill-%'"), 0, 'none is refused');
ok(!$sent{'rolled-back'}, 'what was rolled back never did');
is(count('intents', "intent_id = 'rolled-back'"), 0, 'and is no intent');

$run->done;

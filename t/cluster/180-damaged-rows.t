# A row whose contract this release does not understand, because somebody has
# damaged it or a newer release has made it, is dealt with alone (G10): it is
# given back with an error that GET shows, is not tried again soon, and the others
# of its batch are sent; one that is in doubt stays so; lists, searches, cancels
# and jobs go on.
#
# Goes red when: a damaged row fails the turn, or the page, in which it is; the
# lease is lost for it, and one_shot intents end as leader_lost; it is tried again
# and again; an attempt is counted that was none; nobody can see why it waits.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.shot' => { policy => 'one_shot', path => '/shot' } },
    instance => { workers => 1,
                  server => 'location /o/ { submission_api main '
                            . 'access=operate; submission_actor test; }' });
my ($gateway, $store) = ($run->gateway, $run->store);
my $a = $run->start;

# where OPENJSON leaves escapes as they are, so does what GET shows

my $quote = $store->escapes ? '"' : '\\\\+"';
my $fax = qr/gateway type ${quote}fax$quote is unknown/;
my $twice = qr/policy ${quote}twice$quote is unknown/;

my %damage = (
    'bad-delays' => ["retry_schedule = '1000 soon'", qr/each retry delay must/],
    'bad-url' => ["gateway_url = 'http://a/?b=c'", qr/the gateway URL must/],
    'bad-type' => ["gateway_type = 'fax'", $fax],
    'bad-policy' => ["policy = 'twice'", $twice],
    'bad-time' => ["policy = 'deadline', "
                   . 'max_acceptance_seconds = 9223372036854775807',
                   qr/the deadline must be between/],
    'bad-webhook' => ["notify = 'rejected:\"'", qr/the list of webhooks/],
);
my @bad = sort keys %damage;
my @good = map { "good-$_" } 1 .. 10;


sub operate {
    my ($method, $path, $body) = @_;

    my $answer = fetch($a, $method, "/o/$path", $body // '');

    is($answer->{status}, 200, "$method $path");

    return decode_json($answer->{body});
}


sub look { return decode_json(fetch($a, 'GET', "/o/$_[0]")->{body}) }


sub damage { $store->query("UPDATE submission_intents SET $_[1] "
                           . "WHERE intent_id = '$_[0]'") }


# nothing is sent while they are damaged

operate('POST', 'targets/sms.shot/pause');
wait_for('it is paused', sub { $a->log_count(qr/target_paused/) });
$run->post(map { [$_, 'sms.shot'] } 'bad-canceled', 'bad-newer', @bad, @good);

damage($_, $damage{$_}[0]) for @bad;
damage('bad-newer', 'contract_version = 9');
damage('bad-canceled', "notify = 'canceled:\"'");

operate('POST', 'intents/bad-canceled/cancel');

my $epoch = $run->leadership->row->{lease_epoch};

operate('POST', 'targets/sms.shot/resume');

wait_for('the others are sent', sub {
    my $statuses = $run->statuses('good-');
    ($statuses->{accepted} // 0) == @good;
});

for my $id ('bad-newer', @bad) {
    my $what = $id eq 'bad-newer' ? qr/of version 9/ : $damage{$id}[1];

    wait_for("$id says why", sub {
        (look("intents/$id")->{lastError} // '') =~ $what;
    });

    my $intent = operate('GET', "intents/$id");

    is($intent->{status}, 'pending', "$id is pending");
    is($intent->{attemptCount}, 0, 'it was not tried');
    is($a->log_count(qr/contract_not_understood .*intent_id="$id"/), 1,
       'the log says it once');
}

# a look at the queue after that finds nothing to do

$run->post(['later-1', 'sms.shot']);
$run->wait_terminal('later-');

is(scalar(grep { $_->{id} =~ /^bad/ } $store->attempts), 0, 'no attempt');
is(scalar(grep { $_->{id} =~ /^bad/ } $gateway->sends), 0, 'nothing was sent');
is($a->log_count(qr/contract_not_understood/), 1 + @bad, 'nothing more is said');
is($run->leadership->row->{lease_epoch}, $epoch, 'the same leader');

# whoever reads them

is(scalar(@{operate('GET', 'intents?target=sms.shot&status=pending')->{intents}}),
   1 + @bad, 'the list has them');
is(scalar(@{operate('GET', 'intents?idPrefix=bad-')->{intents}}), 2 + @bad,
   'the search has them');
operate('GET', 'failures');
operate('GET', "intents/bad-url/history");
operate('GET', "intents/bad-url/payload");

# one is repaired, and is sent as if nothing had been

my $now = $store->now;

damage('bad-type', "gateway_type = 'sms', next_attempt_at = $now, "
                   . "last_modified_at = $now");
wait_for('the repaired one is sent', sub {
    ($run->statuses('bad-type')->{accepted} // 0) == 1;
});
is($store->intents->{'bad-type'}{attempts}, 1, 'with its first attempt');

# one is damaged while it is at the gateway, and its leader is gone

$gateway->behave('/shot' => 'hold');
$run->post(['doubt-bad', 'sms.shot'], ['doubt-good', 'sms.shot']);
$gateway->wait_for_held(2);
damage('doubt-bad', "gateway_type = 'fax'");
$gateway->behave('/shot' => 'accept');

$run->leadership->kill($a, $a->worker_pids);

wait_for('what was in doubt is settled', sub {
    $store->intents->{'doubt-good'}{status} ne 'pending';
}, 60);

my $doubt = operate('GET', 'intents/doubt-bad');

is($doubt->{status}, 'pending', 'the damaged one is not');
is($doubt->{inFlight}, JSON::PP::true(), 'it may have been sent');
like($doubt->{lastError}, $fax, 'and says why');
is($doubt->{attemptCount}, 0, 'no attempt is made up');

# a job cancels what can be canceled

operate('POST', 'cancels', '{"id":"j","filter":{"target":"sms.shot"}}');
wait_for('the job is done', sub { look('cancels/j')->{state} eq 'done' });
is($run->statuses('bad-')->{canceled}, 1 + @bad, 'they are canceled');

$run->done;


# What operators do by clicking, and what came of it in the store and in the
# audit: cancel, replay, a selection, a pause, a job.  A console to look at has
# no buttons for it, and its API refuses.
#
# Goes red when: a button does nothing, or something else; a mistake is not told
# in words; a read-only page shows a button that changes something.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use Test::More;

use SubmissionCluster;
use SubmissionConsole;

my ($run, $leader, $follower) = pair(
    targets => { 'sms.stuck' => { path => '/stuck', concurrency => 2 },
                 'sms.bad' => { path => '/bad', policy => 'one_shot' } });
my ($gateway, $store) = ($run->gateway, $run->store);

$gateway->behave('/stuck' => 'hold', '/bad' => 'answer 500');

my $browser = browser($run);


sub status {
    my ($id) = @_;

    return $store->value("SELECT status FROM submission_intents WHERE intent_id = '$id'");
}


sub audit {
    my ($action) = @_;

    return $store->value("SELECT count(*) FROM submission_audit WHERE action = '$action'");
}


# the one with that text

sub push_button {
    my ($text, $within) = @_;

    $within //= 'main';

    wait_for("\"$text\" can be clicked", sub {
        $browser->run('const b = [...document.querySelectorAll(arguments[0] + " button")]
                           .find((el) => el.textContent === arguments[1] && !el.disabled);
                       if (b) b.click();
                       return Boolean(b)', $within, $text);
    });
}


sub told { $browser->wait_text('#toasts', $_[0]) }


# one that waits for its turn is canceled

post_intent($leader, 'later-1', target => 'sms.realtime');
$run->wait_terminal('later-1');

post_intent($leader, "wait-$_", target => 'sms.stuck') for 1 .. 6;
wait_for('two are in flight', sub { $store->in_flight == 2 });

my ($idle) = grep { !$store->value("SELECT inflight_epoch FROM submission_intents WHERE intent_id = '$_'") }
             map { "wait-$_" } 1 .. 6;

visit($browser, $follower, "#/intents/$idle", qr/pending/);
push_button('Cancel…');
$browser->wait_text('dialog', qr/never sent/);
fit($browser, 'a dialog');
push_button('Cancel the intent', 'dialog');
$browser->wait_text('.head', qr/canceled/);
is(status($idle), 'canceled', 'canceled by a click');
is(audit('cancel'), 1, 'and written down');


# one that is at the gateway is not: in words

my ($flying) = grep { $store->value("SELECT inflight_epoch FROM submission_intents WHERE intent_id = '$_'") }
               map { "wait-$_" } 1 .. 6;

$browser->expect(qr/409 \(Conflict\)/);
visit($browser, $follower, "#/intents/$flying", qr/in flight/);
push_button('Cancel…');
push_button('Cancel the intent', 'dialog');
$browser->wait_text('dialog', qr/Wait until it has ended/);
$browser->press('Escape');


# replay of one that has ended

visit($browser, $follower, '#/intents/later-1', qr/accepted/);
push_button('Replay…');
$browser->wait_text('dialog', qr/it will get it twice/);
push_button('Replay it', 'dialog');
$browser->wait_text('main h1', qr/later-1~1/);
$browser->wait_text('.head', qr/accepted/, 20);
is(status('later-1~1'), 'accepted', 'replayed by a click');
is(audit('replay'), 1, 'and written down');
like($browser->text('main'), qr/Replay of\s+later-1\b/, 'says of what');


# a selection

post_intent($leader, "bad-$_", target => 'sms.bad') for 1 .. 5;
$run->wait_terminal('bad-');

visit($browser, $follower, '#/intents?target=sms.bad', qr/bad-5/);
$browser->click('thead input');
$browser->wait_text('main', qr/5 selected/);
$browser->click('tr[data-key="i-bad-2"] input');
push_button('Replay 4…');
push_button('Replay them', 'dialog');
$browser->wait_text('dialog', qr/4 replayed/, 20);
push_button('Close', 'dialog');
is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'bad-%~1'"), 4,
   'all that were selected');
is(status('bad-2~1') // 'none', 'none', 'and no other');
is(audit('replay'), 5, 'each written down');


# in the audit's page

visit($browser, $follower, '#/audit', qr/replay/);
is($browser->has('main tbody tr'), 6, 'all of it');
$browser->type('#action', 'cancel');
$browser->press('Enter');
wait_for('one is left', sub { $browser->has('main tbody tr') == 1 });
like($browser->text('main tbody'), qr/cancel\s+\Q$idle\E/, 'the cancel');
fit($browser, 'the audit');


# a job: the group of those that failed, after a dry run

my $failed = $store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.bad' AND status = 'exhausted'");

$gateway->behave('/bad' => 'accept');
visit($browser, $follower, '#/failures', qr/sms\.bad\s+exhausted/);
push_button('Replay…');
$browser->wait_text('dialog h2', qr/^Replay $failed intents\?/);
$browser->wait_text('dialog', qr/bad-1/);
fit($browser, 'a dry run');
is(audit('replay_job'), 0, 'a dry run does nothing');
push_button("Replay $failed", 'dialog');
$browser->wait_text('tr[data-key^="replay-"]', qr/done\s+$failed\b/, 30);
is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'bad-%~console-%'"),
   $failed, 'each is replayed');
is(audit('replay_job'), 1, 'the job is written down');
$run->wait_terminal('bad-');
fit($browser, 'with a job');


# another one: what is pending of a target

my $waiting = $store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.stuck' AND status = 'pending' AND inflight_epoch IS NULL");

visit($browser, $follower, '#/targets', qr/sms\.stuck/);
$browser->click('button[aria-label="Cancel what is pending of sms.stuck"]');
$browser->wait_text('dialog h2', qr/^Cancel \d+ intents/);
$browser->click('dialog .danger');
$browser->wait_text('tr[data-key^="cancel-"]', qr/\bdone\b/, 30);
is($store->pending('wait-'), 2, 'what is in flight is left');
is($store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.stuck' AND status = 'canceled'"),
   $waiting + 1, 'all others are canceled');
is(audit('cancel_job'), 1, 'and it is written down');


# a pause: nothing of the target is sent until it is resumed

visit($browser, $follower, '#/targets', qr/push\.marketing/);
$browser->click('button[aria-label="Pause push.marketing"]');
$browser->wait_text('dialog', qr/nothing is lost/);
$browser->type('#reason', '<b>repaired</b>');
fit($browser, 'the dialog of a pause');
push_button('Pause', 'dialog');
$browser->wait_text('#banners', qr/push\.marketing is paused\..*<b>repaired<\/b>/, 30);
is($store->value("SELECT state || ' ' || reason FROM submission_targets WHERE submission_target = 'push.marketing'"),
   'paused <b>repaired</b>', 'paused by a click');
is(audit('pause'), 1, 'and written down');
fit($browser, 'with a banner');

wait_for('the leader has read it', sub {
    fetch($leader, 'GET', '/v1/targets/push.marketing')->{body} =~ /"state":"paused"/;
});
post_intent($leader, "held-$_", target => 'push.marketing') for 1 .. 3;
$browser->wait_text('tr[data-key="push.marketing"]', qr/paused.*\b3\b/s, 30);
is($store->pending('held-'), 3, 'nothing is sent');

$browser->click('button[aria-label="Resume push.marketing"]');
$run->wait_terminal('held-');
wait_for('the banner goes', sub { ($browser->text('#banners') // '') !~ /push\.marketing/ }, 30);
is(audit('resume'), 1, 'resumed by a click');


# a schedule

like(fetch($leader, 'PUT', '/console/api/v1/schedules/nightly',
           '{"submissionTarget":"sms.realtime","payload":{"n":1},"every":"PT6H"}',
           headers => ['Origin: http://test'])->{status}, qr/^20/, 'there is a schedule');

visit($browser, $follower, '#/schedules', qr/nightly\s+sms\.realtime\s+PT6H\s+active/);
fit($browser, 'a schedule');
$browser->click('button[aria-label="Pause nightly"]');
$browser->wait_text('main tbody', qr/paused/);
is(audit('schedule_pause'), 1, 'paused by a click');
$browser->click('button[aria-label="Resume nightly"]');
$browser->wait_text('main tbody', qr/active/);
$browser->click('button[aria-label="Run nightly now"]');
push_button('Run now', 'dialog');
wait_for('it has run', sub { $store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'nightly@%'") == 1 });
$browser->wait_text('main tbody', qr/ago|just now/);
is($browser->problems, '', 'nothing was wrong');
$run->wait_terminal('nightly@');


# to look only

for my $page (@pages, 'intents/bad-1') {
    $browser->expect(qr/403 \(Forbidden\)/);
    visit($browser, $follower, "#/$page", qr/./, 'look');

    my $buttons = join ' ', grep { !/^(Search|Refresh|First page|Previous|Next page|Newest|Older|Try again)/ }
        @{$browser->run('return [...document.querySelectorAll("main button")].map((b) => b.textContent)')};

    is($buttons, '', "$page has nothing that changes something");
    is($browser->has('main input[type=checkbox]'), 0, 'and no selection');
}

visit($browser, $follower, '#/audit', qr/level "operate"/, 'look');
like($browser->text('main'), qr/access=operate/, 'says what to do');
visit($browser, $follower, '#/intents/bad-1', qr/Payloads are not shown here/, 'look');

my $refused = $browser->run_async('const done = arguments[arguments.length - 1];
    fetch("api/v1/intents/bad-1/replay", {method: "POST", body: "{}",
          headers: {"Content-Type": "application/json"}}).then((r) => done(r.status))');
is($refused, 403, 'the server refuses, too');

is($browser->problems, '', 'nothing else was wrong');

$gateway->behave('/stuck' => 'accept');
$gateway->release;
$run->wait_terminal('wait-');

finish($run, $browser);

# What operators do by clicking, and what came of it in the store and in the
# audit: cancel, replay, a selection, a pause, a job, a webhook that is told once
# more.  A console to look at has no buttons for it, and its API refuses.
#
# Goes red when: a button does nothing, or something else; a mistake is not told
# in words; what was accepted is replayed by a key, or unsaid; what was not sent is
# told to be; a webhook is told again of what it was told since; a read-only page
# shows a button that changes something.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use File::Temp qw(tempdir);
use MIME::Base64 qw(encode_base64);
use POSIX qw(strftime);
use Test::More;

use SubmissionCluster;
use SubmissionConsole;
use SubmissionReceiver;

my $dir = tempdir(CLEANUP => 1);

open(my $file, '>', "$dir/secret") or die "$dir/secret: $!";
print $file 'whsec_' . encode_base64('k' x 24, '') . "\n";
close $file;
chmod 0600, "$dir/secret";

# one that is told of each intent that is exhausted, and is broken at first

my $receiver = SubmissionReceiver->new("$dir/told", sub { $_[1] > 2 ? 204 : 500 });
my $port = $receiver->port;

my ($run, $leader, $follower) = pair(
    elsewhere => qr/^ /,
    targets => { 'sms.stuck' => { path => '/stuck', concurrency => 2 },
                 'sms.bad' => { path => '/bad', policy => 'one_shot' },
                 'sms.told' => { path => '/told', policy => 'one_shot', more => 'notify ops;' } },
    manager => <<"END");
        webhook ops {
            url          http://127.0.0.1:$port/ops;
            secret_file  $dir/secret;
            events       exhausted;
            policy       max_attempts 2;
            retry_delay  50ms;
        }
END
my ($gateway, $store) = ($run->gateway, $run->store);

$gateway->behave('/stuck' => 'hold', '/bad' => 'answer 500', '/told' => 'answer 500');

my $browser = browser($run);


sub status {
    my ($id) = @_;

    return $store->value("SELECT status FROM submission_intents WHERE intent_id = '$id'");
}


sub audit {
    my ($action) = @_;

    return $store->value("SELECT count(*) FROM submission_audit WHERE action = '$action'");
}


# the first one with that text

sub push_button {
    my ($text, $within) = @_;

    $within //= 'main';

    $browser->press_text($within, $text);
}


# of the group of failures of sms.bad: what else can be done

sub cancel_pending {
    $browser->click('button[aria-label^="More for sms.bad"]');
    push_button('Cancel what is still pending of this target…', 'dialog');
}


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
$browser->wait_text('.head', qr/accepted/);
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
$browser->wait_text('dialog', qr/4 replayed/);
push_button('Close', 'dialog');
is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'bad-%~1'"), 4,
   'all that were selected');
is(status('bad-2~1') // 'none', 'none', 'and no other');

# once more: they were replayed before, so nothing is sent

visit($browser, $follower, '#/intents?sel=bad-1&sel=bad-2&sel=bad-3', qr/3 selected/);
fetch($leader, 'POST', '/v1/intents/bad-2/replay', '{"intentId":"bad-2~1"}');
push_button('Replay 3…');
push_button('Replay them', 'dialog');
$browser->wait_text('dialog', qr/0 replayed, 3 were replayed before: nothing was done\./);
push_button('Close', 'dialog');
is(audit('replay'), 6, 'each written down');


# of those that were accepted the dialog says so, and no key replays them

sub accepted_said {
    my ($what, $like, $button) = @_;

    $browser->wait_text('dialog', $like);
    is($browser->text('dialog .danger'), $button, "$what: the button is a warning");
    is($browser->run('return document.activeElement.textContent'), 'Back', "$what: and not by a key");
    fit($browser, $what);
    push_button('Back', 'dialog');
}

visit($browser, $follower, '#/intents?idPrefix=later-1', qr/later-1~1/);
$browser->click('tr[data-key="i-later-1"] input');
$browser->wait_text('main', qr/1 selected/);
is($browser->has('.tools .primary'), 0, 'to replay it is not what is offered first');
push_button('Replay 1…');
accepted_said('one that was accepted', qr/The gateway has accepted this one: it will get it twice\./, 'Replay them');

visit($browser, $follower, '#/intents?sel=later-1&sel=bad-2', qr/2 selected/);
push_button('Replay 2…');
accepted_said('one of two', qr/1 of them was accepted\. What was charged or sent is charged or sent again\./, 'Replay them');

visit($browser, $follower, '#/intents?status=accepted&target=sms.realtime&by=completed', qr/later-1/);
push_button('Replay all of these…');
accepted_said('a job', qr/All of them were accepted\.|accepted this one/, 'Replay 1');

visit($browser, $follower, '#/intents?idPrefix=l', qr/later-1/);
push_button('Replay all of these…');
accepted_said('a job of ids', qr/will get it twice/, 'Replay 1');


# in the audit's page

sub pick_action {
    my ($words) = @_;

    $browser->run('const el = document.getElementById("action");
                   el.value = [...el.options].find((one) => one.text === arguments[0]).value;
                   el.dispatchEvent(new Event("change"))', $words);
}

visit($browser, $follower, '#/audit', qr/replay/);
is($browser->has('main tbody tr'), 7, 'all of it');
pick_action('cancel');
wait_for('one is left', sub { $browser->has('main tbody tr') == 1 }, 60);
like($browser->text('main tbody'), qr/cancel\s+\Q$idle\E/, 'the cancel');
fit($browser, 'the audit');


# a job: the group of those that failed, after a dry run

my $failed = $store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.bad' AND status = 'exhausted' AND replayed_as IS NULL");

$gateway->behave('/bad' => 'accept');
visit($browser, $follower, '#/failures', qr/sms\.bad\s+exhausted/);
push_button('Replay…');
$browser->wait_text('dialog h2', qr/^Replay $failed intents\?/);
$browser->wait_text('dialog', qr/bad-1/);
fit($browser, 'a dry run');
is(audit('replay_job'), 0, 'a dry run does nothing');
push_button("Replay $failed", 'dialog');
$browser->wait_text('tr[data-key^="replay-"]', qr/done\s+$failed\b/);
is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'bad-%~console-%'"),
   $failed, 'each is replayed');
is(audit('replay_job'), 1, 'the job is written down');
$run->wait_terminal('bad-');
fit($browser, 'with a job');


# what is shown is what is replayed: not what failed before that time

$gateway->behave('/bad' => 'answer 500');
post_intent($leader, "worse-$_", target => 'sms.bad') for 1 .. 3;
$run->wait_terminal('worse-');
$gateway->behave('/bad' => 'accept');

$store->query("UPDATE submission_intents SET completed_at = completed_at - 7200000000 WHERE intent_id = 'worse-1'");
visit($browser, $follower, '#/failures?since=1', qr/sms\.bad\s+exhausted/);
my $lately = 2;
like($browser->text('main tbody'), qr/sms\.bad\s+exhausted\s+one_shot\s+(?:HTTP 500\s+)?$lately\b/, 'of the last hour');
push_button('Replay…');
$browser->wait_text('dialog h2', qr/^Replay $lately intents\?/);
unlike($browser->text('dialog'), qr/worse-1\b/, 'as many as are shown');
push_button('Back', 'dialog');


# what has failed cannot be canceled, but what is pending there can: a dry run
# says how many that are

my $pending = $store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.bad' AND status = 'pending'");

is($pending, 0, 'nothing is pending');
cancel_pending();
$browser->wait_text('dialog', qr/Nothing to cancel.*has ended, and cannot be canceled\. Nothing else of this target is pending/s);
is($browser->has('dialog .danger'), 0, 'and nothing can be done');
push_button('Close', 'dialog');

my $later = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(time + 3600));

is(fetch($leader, 'POST', '/v1/intents', qq({"intentId":"bad-later-$_","submissionTarget":"sms.bad",)
         . qq("notBefore":"$later","payload":{}}))->{status}, 200, 'one for later') for 1 .. 3;
cancel_pending();
$browser->wait_text('dialog h2', qr/^Cancel 3 intents\?/);
$browser->wait_text('dialog', qr/These have not: they are pending.*bad-later-1/s);
fit($browser, 'a dry run of a cancel');
is(audit('cancel_job'), 0, 'a dry run cancels nothing');
push_button('Cancel 3', 'dialog');
$browser->wait_text('tr[data-key^="cancel-"]', qr/\bdone\s+3\b/);
is(status("bad-later-$_"), 'canceled', "bad-later-$_ is canceled") for 1 .. 3;
is(audit('cancel_job'), 1, 'the job is written down');


# another one: what is pending of a target

my $waiting = $store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.stuck' AND status = 'pending' AND inflight_epoch IS NULL");

visit($browser, $follower, '#/targets', qr/sms\.stuck/);
$browser->click('button[aria-label="More for sms.stuck"]');
push_button('Cancel what is pending…', 'dialog');
$browser->wait_text('dialog h2', qr/^Cancel \d+ intents/);
$browser->click('dialog .danger');
wait_for('both jobs are done', sub {
    $browser->run('return [...document.querySelectorAll("tr[data-key^=cancel-] .pill")]
                   .filter((el) => el.textContent === "done").length') == 2;
}, 60);
is($store->pending('wait-'), 2, 'what is in flight is left');
is($store->value("SELECT count(*) FROM submission_intents WHERE submission_target = 'sms.stuck' AND status = 'canceled'"),
   $waiting + 1, 'all others are canceled');
is(audit('cancel_job'), 2, 'and it is written down');


# a pause: nothing of the target is sent until it is resumed

visit($browser, $follower, '#/targets', qr/push\.marketing/);
$browser->click('button[aria-label="Pause push.marketing"]');
$browser->wait_text('dialog', qr/nothing is lost/);
$browser->type('#reason', '<b>repaired</b>');
fit($browser, 'the dialog of a pause');
$browser->press('Enter');
$browser->wait_text('tr[data-key="push.marketing"]', qr/paus(?:ing…|ed)/);

# a banner of more than two targets has no reasons: sms.stuck is down, too, in a minute

$browser->wait_text('#banners', qr/push\.marketing is paused\./);
$browser->wait_text('tr[data-key="push.marketing"]', qr/paused.*<b>repaired<\/b>/s);
is($store->value("SELECT state || ' ' || reason FROM submission_targets WHERE submission_target = 'push.marketing'"),
   'paused <b>repaired</b>', 'paused by a click');
is(audit('pause'), 1, 'and written down');
fit($browser, 'with a banner');

wait_for('the leader has read it', sub {
    fetch($leader, 'GET', '/v1/targets/push.marketing')->{body} =~ /"state":"paused"/;
});
post_intent($leader, "held-$_", target => 'push.marketing') for 1 .. 3;
$browser->wait_text('tr[data-key="push.marketing"]', qr/paused.*\b3\b/s);
is($store->pending('held-'), 3, 'nothing is sent');

$browser->click('button[aria-label="Resume push.marketing"]');
$run->wait_terminal('held-');
$browser->wait_not('#banners', qr/push\.marketing/);
is(audit('resume'), 1, 'resumed by a click');


# a webhook that could not be told is told once more, under the same id

post_intent($leader, 'told-1', target => 'sms.told');
$run->wait_terminal('told-1');
wait_for('the webhook is given up', sub {
    fetch($leader, 'GET', '/v1/intents/told-1/history')->{body} =~ /"webhook":"ops".*?"status":"exhausted"/;
}, 60);

visit($browser, $follower, '#/intents/told-1', qr/Webhooks.*ops\s+given up\s+2\b.*HTTP 500/s);
fit($browser, 'an intent with a webhook');
push_button('Send again');
$browser->wait_text('main', qr/Webhooks.*ops\s+delivered\s+1\b.*ops\s+given up\s+2\b/s);
is($browser->has('button[aria-label="Tell ops again"]'), 1, 'one button, of the newest');

my @told = $receiver->requests;

is(scalar @told, 3, 'told once more');
is(scalar(keys %{{ map { $_->{headers}{'webhook-id'} => 1 } @told }}), 1, 'under the same id');


# the page of the webhook has it, too, and tells it again

sub told { return scalar(() = $receiver->requests) }

visit($browser, $follower, '#/webhooks', qr/told-1\s+given up.*HTTP 500/s);
like($browser->text('main tbody'), qr/told-1\s+given up\s+was delivered since\s+2\b/, 'what was delivered since says so');
is($browser->has('main .acts button'), 0, 'and is not sent once more by mistake');
fit($browser, 'messages of a webhook');

visit($browser, $follower, '#/webhooks?status=accepted', qr/told-1\s+delivered/);
push_button('Send again');
wait_for('told again', sub { told() == 4 }, 60);
$browser->wait_until('the newest message has the button', sub {
    $browser->press('r');
    $browser->text('main tbody') =~ /told-1\s+delivered\s+1\b.*told-1\s+delivered\s+was delivered since/s;
});
is($browser->has('main .acts button'), 1, 'and it alone');

# somebody else was faster

is(fetch($leader, 'POST', '/v1/intents/told-1/webhooks/resend', '{"webhook":"ops"}')->{status}, 200, 'it is sent elsewhere');
wait_for('told again', sub { told() == 5 }, 60);
wait_for('it is known', sub {
    fetch($leader, 'GET', '/v1/intents/told-1/history')->{body} !~ /"status":"pending"/;
}, 60);
push_button('Send again');
$browser->wait_text('#toasts', qr/Nothing was sent: the message was delivered since/);
is(told(), 5, 'nobody is told twice');

# it is still to be delivered: the answer says that no message was made

fake($browser, 'POST intents\/told-1\/webhooks' => '() => ({ intentId: "told-1", made: 0, webhooks: [] })');
visit($browser, $follower, '#/webhooks?status=accepted', qr/told-1\s+delivered/);
push_button('Send again');
$browser->wait_text('#toasts', qr/Nothing was sent: the message for ops is still to be delivered/);
unlike($browser->text('#toasts'), qr/told again/, 'and nothing else');
unfake($browser);


# a schedule

like(fetch($leader, 'PUT', '/console/api/v1/schedules/nightly',
           '{"submissionTarget":"sms.realtime","payload":{"n":1},"every":"PT6H"}',
           headers => ['Origin: http://test'])->{status}, qr/^20/, 'there is a schedule');

visit($browser, $follower, '#/schedules', qr/nightly\s+sms\.realtime\s+every 6 h\s+active/);
fit($browser, 'a schedule');
$browser->click('button[aria-label="Pause nightly"]');
$browser->wait_text('main tbody', qr/paused/);
is(audit('schedule_pause'), 1, 'paused by a click');
$browser->click('button[aria-label="Resume nightly"]');
$browser->wait_text('main tbody', qr/active/);
$browser->click('button[aria-label="More for nightly"]');
push_button('Run it now…', 'dialog');
push_button('Run now', 'dialog');
wait_for('it has run', sub { $store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'nightly@%'") == 1 }, 60);
$browser->wait_text('main tbody', qr/ago|just now/);

visit($browser, $follower, '#/audit', qr/schedule run/);
pick_action('schedule pause');
wait_for('the words that are shown are those that are asked for', sub { $browser->has('main tbody tr') == 1 }, 60);
like($browser->text('main tbody'), qr/schedule pause\s+nightly/, 'the pause');
is($browser->problems, '', 'nothing was wrong');
$run->wait_terminal('nightly@');


# to look only

for my $page (@pages, 'intents/bad-1', 'intents/told-1') {
    visit($browser, $follower, "#/$page", qr/./, 'look');

    my $buttons = join ' ', grep { !/^(Search|Refresh|First page|Previous|Next page|Newest|Older|Try again)/ }
        @{$browser->run('return [...document.querySelectorAll("main button")].map((b) => b.textContent)')};

    is($buttons, '', "$page has nothing that changes something");
    is($browser->has('main input[type=checkbox]'), 0, 'and no selection');
}

visit($browser, $follower, '#/audit', qr/not shown here.*access=operate/s, 'look');
visit($browser, $follower, '#/intents/bad-1', qr/Payloads are not shown here/, 'look');

is($browser->problems, '', 'nothing was wrong, or asked in vain');
$browser->expect(qr/403 \(Forbidden\)/);

my $refused = $browser->run_async('const done = arguments[arguments.length - 1];
    fetch("api/v1/intents/bad-1/replay", {method: "POST", body: "{}",
          headers: {"Content-Type": "application/json"}}).then((r) => done(r.status))');
is($refused, 403, 'the server refuses, too');

is($browser->problems, '', 'nothing else was wrong');

$gateway->behave('/stuck' => 'accept');
$gateway->release;
$run->wait_terminal('wait-');

finish($run, $browser);

# What operators make and do again with the console: a schedule by a form that shows
# its next times first, a test intent, a job of a search; and what keeps them from
# doing it twice: a second click does nothing, and what was replayed before is said.
#
# Goes red when: the times that are shown are not those that are planned; a form
# changes the digits of a payload, or what somebody else has changed meanwhile; a
# double click acts twice; a replay that was made before is made again unasked.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use JSON::PP;
use Test::More;

use SubmissionCluster;
use SubmissionConsole;

my ($run, $leader, $follower) = pair(
    targets => { 'sms.bad' => { path => '/bad', policy => 'one_shot' } });
my ($gateway, $store) = ($run->gateway, $run->store);

$gateway->behave('/bad' => 'answer 500');

my $browser = browser($run);


sub set {
    my ($id, $value) = @_;

    $browser->wait_has("#$id");
    $browser->run('const el = document.getElementById(arguments[0]); el.value = arguments[1];
                   el.dispatchEvent(new Event("input", { bubbles: true }))', $id, $value);
}


sub schedule {
    my ($id) = @_;

    return JSON::PP->new->utf8->decode(fetch($leader, 'GET', "/console/api/v1/schedules/$id",
                                             undef, headers => ['Origin: http://test'])->{body});
}


# a schedule is made: its next times are shown before it is

visit($browser, $follower, '#/schedules', qr/No schedule yet/);
$browser->press_text('main', 'Create a schedule…');
$browser->wait_text('.preview', qr/Enter when it runs/);
fit($browser, 'the form of a schedule');

$browser->expect(qr/400 \(Bad Request\)|409 \(Conflict\)|412 \(Precondition Failed\)/);
set('s-id', 'leap');
set('s-when', 'cron');
set('s-rule', 'every day');
$browser->wait_text('.preview', qr/cron/);
is($browser->has('.preview .wrong'), 1, 'what is wrong is said while it is typed');

set('s-rule', '30 2 29 2 *');
set('s-zone', 'Europe/Stockholm');
set('s-target', 'sms.realtime');
set('s-start', '2030-01-01T00:00:00');
set('s-payload', '{"amount": 12345678901234567890.10}');
$browser->wait_text('.preview', qr/It would run next.*2032-02-29.*2036-02-29.*2040.*2044.*2048/s);
$browser->press_text('dialog', 'Create');
$browser->wait_text('main tbody', qr/leap\s+sms\.realtime\s+30 2 29 2 \*\s+Europe\/Stockholm\s+active/);
is(schedule('leap')->{nextRunAt}, '2032-02-29T01:30:00.000000Z', 'the first of them is planned');


# it is edited: what was not touched stays, to the last digit

$browser->click('button[aria-label="More for leap"]');
$browser->press_text('dialog', 'Edit…');
$browser->wait_text('.preview', qr/2032-02-29/);
is($browser->run('return document.getElementById("s-payload").value'), '{"amount": 12345678901234567890.10}',
   'the payload as it is stored');
set('s-overlap', 'allow');
$browser->press_text('dialog', 'Save');
wait_for('it is saved', sub { schedule('leap')->{overlap} eq 'allow' }, 60);
like($store->value("SELECT payload FROM submission_schedules WHERE schedule_id = 'leap'"), qr/12345678901234567890\.10/,
     'every digit of it');


# somebody else was faster

$browser->wait_until('the form is closed', sub { !$browser->has('dialog') });
$browser->click('button[aria-label="More for leap"]');
$browser->press_text('dialog', 'Edit…');
$browser->wait_text('.preview', qr/2032-02-29/);
like(fetch($leader, 'PUT', '/console/api/v1/schedules/leap', '{"submissionTarget":"sms.realtime","every":"P1D"}',
           headers => ['Origin: http://test'])->{status}, qr/^200/, 'it is changed elsewhere');
$browser->press_text('dialog', 'Save');
$browser->wait_text('dialog', qr/Somebody else has changed it meanwhile/);
is(schedule('leap')->{every}, 'P1D', 'which is not undone');
$browser->press('Escape');


# it is run by hand; the answer is lost, and it is asked for once more

$browser->wait_until('the form is closed', sub { !$browser->has('dialog') });
$browser->expect(qr/503 \(Service Unavailable\)/);
$browser->run('window.lost = false; const ask = window.fetch;
               window.fetch = async (path, options) => {
                   const answer = await ask(path, options);
                   if (!/run$/.test(path) || lost) return answer;
                   lost = true;
                   return new Response(JSON.stringify({ error: { code: "store_unavailable", message: "gone" } }), { status: 503 });
               }');
$browser->click('button[aria-label="More for leap"]');
$browser->press_text('dialog', 'Run it now…');
$browser->press_text('dialog', 'Run now');
$browser->wait_text('dialog', qr/may or may not have been done/);
$browser->run_async('setTimeout(arguments[0], 1100)');
$browser->press_text('dialog', 'Run now');
$browser->wait_until('it is answered', sub { !$browser->has('dialog') });
is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'leap@%'"), 1, 'it runs once');


# and deleted

$browser->wait_until('the form is closed', sub { !$browser->has('dialog') });
$browser->click('button[aria-label="More for leap"]');
$browser->press_text('dialog', 'Delete…');
$browser->press_text('dialog', 'Delete');
$browser->wait_text('main', qr/No schedule yet/);


# a test intent

visit($browser, $follower, '#/targets', qr/sms\.bad/);
$browser->click('button[aria-label="More for sms.bad"]');
$browser->press_text('dialog', 'Submit a test intent…');
set('test-id', 'try-1');
set('test-payload', '{');
fit($browser, 'the form of a test');
$browser->press_text('dialog', 'Submit it');
$browser->wait_text('dialog', qr/The payload is not JSON/);
set('test-payload', '{"n": 1}');
$browser->press_text('dialog', 'Submit it');
$browser->wait_text('main h1', qr/^try-1$/);
$browser->wait_text('main', qr/Attempt 1\s+error/);
pass('a test shows what became of it');


# two clicks are one

post_intent($leader, "bad-$_", target => 'sms.bad') for 1 .. 4;
$run->wait_terminal('bad-');

my $twice = 'const el = [...document.querySelectorAll(arguments[0])].find((b) => b.textContent === arguments[1]);
             el.click(); el.click(); el.dispatchEvent(new MouseEvent("dblclick", { bubbles: true }))';

visit($browser, $follower, '#/failures', qr/sms\.bad/);
$browser->press_text('main', 'Replay…');
$browser->wait_text('dialog', qr/may act twice/);
$browser->run($twice, 'dialog button', 'Replay 5');
$browser->wait_text('tr[data-key^="replay-"]', qr/done\s+5 done/);
is($store->value('SELECT count(*) FROM submission_jobs'), 1, 'one job');
is($store->value("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'bad-%~%'"), 4, 'which replays each once');
fit($browser, 'jobs');

visit($browser, $follower, '#/targets', qr/push\.marketing/);
$browser->click('button[aria-label="Pause push.marketing"]');
$browser->wait_text('dialog', qr/nothing is lost/);
$browser->run($twice, 'dialog button', 'Pause');
$browser->wait_text('tr[data-key="push.marketing"]', qr/paused/);
$browser->run('window.posts = 0; const ask = window.fetch;
               window.fetch = (path, options) => { posts += options.method === "POST"; return ask(path, options); }');
$browser->run($twice, 'tr[data-key="push.marketing"] button', 'Resume');
$browser->wait_text('tr[data-key="push.marketing"]', qr/active/);
is($browser->run('return posts'), 1, 'one request');


# a job of a search

visit($browser, $follower, '#/intents?target=sms.bad&status=exhausted', qr/bad-1/);
is($browser->run('return [...document.querySelectorAll(".tools button")].find((b) => /^Cancel all/.test(b.textContent)).title'),
   'What has ended cannot be canceled.', 'why there is no job of it');
$browser->press_text('main', 'Replay all of these…');
$browser->wait_text('dialog h2', qr/^Replay \d+ intents?\?/);
$browser->press_text('dialog', 'Back');

visit($browser, $follower, '#/intents?idPrefix=bad-', qr/bad-1/);
$browser->press_text('main', 'Cancel all of these…');
$browser->wait_text('dialog', qr/Nothing to cancel/);
$browser->press_text('dialog', 'Close');


# what was replayed before is said, and is not done again unasked

fake($browser, 'GET failures' => <<'END', 'POST replays$' => <<'END',
    (d) => ({ ...d, failures: d.failures.map((f) => ({ ...f, count: 3, replayed: 2 })) })
END
    () => ({ dryRun: true, count: 3, countIsBound: false, replayed: 2, sample: ['bad-1'] })
END
     'GET intents\/bad-2\/history' => '(d) => ({ ...d, intent: { ...d.intent, replayedAs: undefined } })',
     'GET intents\/bad-1\/history' => <<'END', 'POST intents\/bad-2\/replay' => <<'END');
    (d) => ({ ...d, intent: { ...d.intent, replayedAs: ['bad-1~2', 'bad-1~1'] } })
END
    () => (window.agreed = window.agreed ? true : false,
           new Response(JSON.stringify({ error: { code: 'already_replayed', message: 'the intent was replayed before',
               details: { replayedAs: ['bad-2~1'] } } }), { status: 409 }))
END

visit($browser, $follower, '#/failures', qr/sms\.bad.*\b3\s+2 replayed/s);
$browser->press_text('main', 'Replay…');
$browser->wait_text('dialog', qr/Replay 3 intents\?.*2 intents were replayed before and will be skipped.*may act twice/s);
unlike($browser->text('dialog'), qr/groups/, 'of one group');
$browser->press_text('dialog', 'Back');

# a search knows no errors: two groups that differ in theirs are replayed together

fake($browser, 'GET failures' => <<'END');
    (d) => ({ ...d, failures: ['HTTP 500', 'no answer'].map((lastError) => ({ ...d.failures[0], count: 3, lastError })) })
END
visit($browser, $follower, '#/failures?since=1', qr/HTTP 500.*no answer/s);
$browser->press_text('main', 'Replay…');
$browser->wait_text('dialog', qr/These are the intents of 2 groups: all that ended alike/);
$browser->press_text('dialog', 'Back');

visit($browser, $follower, '#/intents/bad-1', qr/Replayed as\s+bad-1~2, bad-1~1/);
is($browser->has('main .head .primary'), 0, 'to replay it is not what is offered first');
$browser->press_text('main', 'Replay…');
$browser->wait_text('dialog', qr/again\?.*It was replayed before, as bad-1~2, bad-1~1/s);
fit($browser, 'replayed before');
$browser->press_text('dialog', 'Back');

visit($browser, $follower, '#/intents/bad-2', qr/exhausted/);
$browser->press_text('main', 'Replay…');
$browser->press_text('dialog', 'Replay it');
$browser->wait_text('dialog', qr/Replay this intent again\?.*It was replayed before, as bad-2~1/s);
is($browser->text('dialog .danger'), 'Replay again', 'it has to be said once more');
is($browser->run('return document.activeElement.textContent'), 'Back', 'and not by a second key');
unfake($browser);

# once more, though a replay of a replay has the next number

sub replay {
    my ($id, $body) = @_;

    return fetch($leader, 'POST', "/console/api/v1/intents/$id/replay", $body,
                 headers => ['Origin: http://test'])->{status};
}

post_intent($leader, 'more-1', target => 'sms.bad');
$run->wait_terminal('more-1');
is(replay('more-1', '{}'), 200, 'a replay');
$run->wait_terminal('more-1~1');
is(replay('more-1~1', '{}'), 200, 'and one of it');
is($store->value("SELECT replay_of FROM submission_intents WHERE intent_id = 'more-1~2'"), 'more-1~1',
   'which has the next number');
visit($browser, $follower, '#/intents/more-1', qr/Replayed as\s+more-1~1/);
$browser->press_text('main', 'Replay…');
$browser->press_text('dialog', 'Replay again');
$browser->wait_text('main h1', qr/^more-1~again-2$/);
is($store->value("SELECT replay_of FROM submission_intents WHERE intent_id = 'more-1~again-2'"), 'more-1',
   'it is replayed once more');

is($browser->problems, '', 'nothing was wrong');

finish($run, $browser);

# The console on screens from 320 to 2560 pixels, with names as nginx makes them of a
# host.
#
# Goes red when: the header needs two lines on a usual screen; a column of Targets,
# and with it Pause and Resume, is out of sight; a word is broken on any page; two
# buttons of a row are not side by side; the audit shows JSON; a part of what is
# configured of retries is not shown.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(no_store browser);

use JSON::PP;
use Test::More;

use SubmissionAnswers;
use SubmissionCluster;
use SubmissionConsole;

# as long as those that nginx makes of a host

my ($run, $leader, $follower) = pair(instances => ['vm-32338-1bf3f17f', 'vm-32338-2ce4a28a']);
my $browser = browser($run);

sub ago { return "new Date(Date.now() - $_[0] * 1000).toISOString()" }


# on any screen: what is there is seen

fake($browser, 'GET targets$' => sprintf(<<'END', ago(65), ago(65), ago(3), ago(3)), 'GET audit' => sprintf(<<'END', ago(3), ago(3)));
    (d) => {
        Object.assign(d.targets[0], { target: 'payments.reimbursements', due: 790, oldestDueSeconds: 1300, gatewayUrl: 'http://gateways.internal.example/rejects', health: { state: 'down', since: %s, why: 'The last 187 attempts got no usable answer.' },
            lastError: { at: %s, reason: 'error', detail: 'connection refused by 127.0.0.1:9090' } });
        Object.assign(d.targets[1], { state: 'paused', health: { state: 'degraded', since: null, why: 'Every third attempt fails.' }, pause: { actor: 'ann', at: %s, reason: 'the campaign was stopped, ticket 4711' } });
        for (const t of d.targets) { Object.assign(t, { perSecond: { '1m': 124.7, '5m': 99 }, successRatio: { '1m': 0.987, '5m': 0.98 },
            p50Ms: { '1m': 0.4, '5m': 1 }, p99Ms: { '1m': 1830, '5m': 1830 }, lastError: { at: %s, reason: 'invalid_recipient' } }); }
        return d;
    }
END
    () => ({ next: null, entries: [
        { at: %s, actor: 'ann', address: '127.0.0.1', action: 'replay_job', object: 'j1', detail: { filter: { target: 'sms.flaky', status: 'exhausted' }, limit: 3 } },
        { at: %s, actor: 'configuration', address: null, action: 'schedule_put', object: 'report', detail: { every: 'PT60S', misfire: 'once' } }] })
END

for my $width (320, 700, 768, 980, 981, 1024, 1101, 1200, 1280, 1440, 2560) {
    $browser->size($width, 900);
    visit($browser, $follower, '#/targets', qr/invalid_recipient/);
    is($browser->run('return [...document.querySelectorAll("main .wide")].filter((el) => el.scrollWidth > el.clientWidth).length'),
       0, "$width pixels: no column of Targets is out of sight");
    is($browser->run('return document.documentElement.scrollWidth'), $width, 'nor anything else');
}

$browser->size(1280, 900);
visit($browser, $follower, '#/targets', qr/invalid_recipient/);
is($browser->run('const [a, b] = [".brand", ".tools"].map((s) => document.querySelector(s).getBoundingClientRect());
                  return b.top < a.bottom'), JSON::PP::true, 'the header is one line');
like($browser->text('#who'), qr/^\Q$follower->{name}\E\s+follower/, 'with the name of the instance');
is($browser->run('const { scrollWidth, clientWidth } = document.querySelector("#who bdi"); return scrollWidth - clientWidth'), 0, 'all of it');

# words are whole: each is on one line

sub broken {
    return join ' ', @{$browser->run(<<'END')};
        const found = [];
        const walk = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
        const range = document.createRange();
        while (walk.nextNode()) {
            const text = walk.currentNode;
            if (!text.parentElement.checkVisibility() || text.parentElement.closest(".unseen, .wide.plain, option, details")) continue;
            for (const { 0: one, index } of text.data.matchAll(/[A-Za-z]{3,}/g)) {
                range.setStart(text, index);
                range.setEnd(text, index + one.length);
                const tops = new Set([...range.getClientRects()].filter((r) => r.width > 0).map((r) => Math.round(r.top)));
                tops.size > 1 && found.push(one);
            }
        }
        return found;
END
}

# something for each page

my %has = (targets => qr/invalid_recipient/, intents => qr/lost-1/, 'intents/lost-1' => qr/Timeline/, failures => qr/http_404/,
           jobs => qr/friday/, schedules => qr/nightly/, audit => qr/replay job/);

$run->gateway->behave('/hook' => 'answer 404');
post_intent($leader, 'lost-1', target => 'http.hook');
$run->wait_terminal('lost-1');
like(fetch($leader, @$_, headers => ['Origin: http://test'])->{status}, qr/^20/, "$_->[1]") for
    ['POST', '/console/api/v1/replays', '{"id":"friday","filter":{"target":"http.hook","status":"rejected"}}'],
    ['PUT', '/console/api/v1/schedules/nightly',
     '{"submissionTarget":"sms.realtime","cron":"30 2 * * mon-fri","timeZone":"Europe/Stockholm"}'];

for my $width (320, 1280, 2560) {
    $browser->size($width, 900);

    for my $page (@pages, 'intents/lost-1') {
        visit($browser, $follower, "#/$page", $has{$page} // qr/./);
        $browser->wait_until("$page is there", sub { !$browser->has('.loading') });
        is(broken(), '', "$page, $width pixels: no word is broken");
    }
}

# two buttons of a row are side by side

$browser->size(1280, 900);

for my $page (qw(targets failures schedules)) {
    visit($browser, $follower, "#/$page", $has{$page});
    is_deeply($browser->run('return [...document.querySelectorAll(".acts")].map((el) => [...el.children].map((b) => b.getBoundingClientRect()))
                                 .filter((list) => list.length > 1 && list.some((b) => b.top >= list[0].bottom)).length'),
              0, "$page: what can be done is one line");
    cmp_ok($browser->has('.acts > :nth-child(2)'), '>', 0, 'of two buttons');
}

$browser->size(320, 900);
visit($browser, $follower, '#/targets', qr/invalid_recipient/);
cmp_ok($browser->run('return Math.max(...[...document.querySelectorAll("td .pill")].map((el) => el.offsetWidth))'), '<', 120, 'no pill is as wide as the page');
visit($browser, $follower, '#/audit', qr/replay job/);
like($browser->text('main tbody'), qr/target sms\.flaky, status exhausted; 3 at most.*every 1 min; missed times: once/s, 'which is no JSON');
unfake($browser);


# what a form is sent by is seen without scrolling

visit($browser, $follower, '#/schedules', qr/nightly/);
$browser->press_text('main', 'Create a schedule…');
$browser->wait_has('dialog[open]');
$browser->size(320, 640);
cmp_ok($browser->run('return [...document.querySelectorAll("dialog .buttons button")].pop().getBoundingClientRect().bottom'), '<', 640,
       'the button of a long form is on a small screen');
$browser->press('Escape');
$browser->size(320, 900);


# when it is tried again, with all that the configuration says of it

fake($browser, 'GET config$' => <<'END');
    (d) => { Object.assign(d.targets.find((t) => t.target === 'http.hook'), { retryScheduleMs: null, retryDelayMs: 2000, retryBackoffPercent: 150,
             retryMaxMs: 60000, retryJitterPercent: 20 }); return d; }
END
for my $page ('config', 'intents/lost-1') {
    visit($browser, $follower, "#/$page", qr/2 s, × 1\.5 each time, at most 1 min, up to 20 % less at random/);
    pass("$page: the longest delay, and by how much it is shorter at random");
}
unfake($browser);

fake($browser, 'GET intents\?' => sprintf(<<'END', ago(9), ago(-4), ago(-0.5), ago(30), ago(5)));
    () => ({ next: null, intents: [
        { intentId: 'one-1', submissionTarget: 'push.marketing', status: 'pending', attemptCount: 1, createdAt: %s, nextAttemptAt: %s },
        { intentId: 'one-2', submissionTarget: 'push.marketing', status: 'pending', attemptCount: 1, createdAt: new Date(), nextAttemptAt: %s },
        { intentId: 'one-3', submissionTarget: 'push.marketing', status: 'accepted', attemptCount: 1, createdAt: %s, completedAt: %s }] })
END
visit($browser, $follower, '#/intents', qr/one-1/);

my $labels = $browser->run('return [...document.querySelectorAll("main tbody tr")].map((tr) => {
    const td = tr.querySelectorAll("td.num")[2];
    return `${td.dataset.label} ${td.textContent}`; })');

like($labels->[0], qr/^Next in \d/, 'when what is pending is tried again');
like($labels->[1], qr/^Next (?:in a moment|due now)$/, 'or is at once');
like($labels->[2], qr/^Ended \d+(?:\.\d)? s ago$/, 'and when what has ended did');
cmp_ok($browser->run('return document.querySelector("main tbody tr").getBoundingClientRect().height'), '<', 110, 'an intent is four lines');
unfake($browser);

finish($run, $browser);

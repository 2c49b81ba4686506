# Every page of the console, in a real browser, with the data of a live pair of
# instances: it shows what there is, is readable in both colours, by keyboard
# and by programs, is not wider than a small screen, and takes nothing that a
# client sends for anything but text.
#
# Goes red when: a page fails or logs an error; something violates the policy;
# an id becomes an element; a page is wider than 320 pixels; a text has too
# little contrast; a control has no name; a page cannot be reached by keys; the
# address does not say what is shown; the page asks another host; a number is
# cut off, or a button out of sight, because another one is large.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use Encode qw(encode);
use JSON::PP;
use Test::More;

use SubmissionCluster;
use SubmissionConsole;

my ($run, $leader, $follower) = pair(targets => {
    'sms.flaky' => { policy => 'max_attempts 2', path => '/flaky', retry => '50ms' },
});
my $gateway = $run->gateway;

my @odd = ('<img src=x onerror="document.title=1">', "\x{202e}gnp.exe\x{202c} \x{200f}rtl",
           "\x{1f680}" x 100, '"><script>alert(1)</script>', 'a/b?c=d#e%20&f', 'x' x 200,
           q(javascript:alert('1')), '${7*7} {{7*7}}');

sub posted {
    my ($id, $target, $payload) = @_;

    my $body = encode('UTF-8', JSON::PP->new->allow_nonref->encode($id));

    my $status = fetch($leader, 'POST', '/v1/intents',
        qq({"intentId":$body,"submissionTarget":"$target","payload":$payload}))->{status};

    $status == 200 or die "$status\n";
}

$gateway->behave('/flaky' => 'answer 503', '/hook' => 'answer 404');

posted($_, 'push.marketing', '{"html":"<b>&amp;</b>"}') for @odd;
posted("flaky-$_", 'sms.flaky', '{"to":"<script>"}') for 1 .. 3;
posted("hook-$_", 'http.hook', '{}') for 1 .. 60;
$run->wait_terminal($_, 60) for 'flaky-', 'hook-';

my $browser = browser($run);

# only this instance is asked

$browser->tools('Network.enable');
$browser->tools('Network.setBlockedURLs', urls => ['*://*.example/*']);


my %shown = (
    overview => qr/Leader.*\Q$leader->{name}\E.*Instances/s,
    targets => qr/push\.marketing.*sms\.realtime/s,
    intents => qr/hook-60/,
    failures => qr/sms\.flaky.*max_attempts/s,
    jobs => qr/Jobs.*No job yet/s,
    webhooks => qr/No webhook is configured/,
    schedules => qr/Schedules/,
    events => qr/Events/,
    audit => qr/Nothing has been done/,
    config => qr/sms\.flaky.*up to|2 attempts/s,
);

for my $page (@pages) {
    visit($browser, $follower, "#/$page", $shown{$page});
    fit($browser, "$page, light");
}

visit($browser, $leader, '#/overview', $shown{overview});
$browser->wait_has('.uplot canvas');
cmp_ok($browser->has('.chart table tbody tr'), '>=', 4, 'a table for each chart');
fit($browser, 'with charts');

# how soon something is seen, by the best of a few times with nothing kept: other
# programs of the machine are not the page's fault

my $first;

for (1 .. 5) {
    $browser->tools('Network.clearBrowserCache');
    visit($browser, $leader, '#/overview', $shown{overview});

    my $paint = wait_for('the first paint', sub { $browser->run(
        'return performance.getEntriesByName("first-contentful-paint")[0]?.startTime') });

    $first = $paint if !defined $first || $paint < $first;
    last if $first < 200;
}

cmp_ok($first, '<', 200 * slow(), sprintf 'the first paint took %.0f ms', $first);


# what the mouse points at in a chart is told

$browser->run_async('const done = arguments[arguments.length - 1];
    const over = document.querySelector("#c-flow .u-over");
    const { right, top, height } = over.getBoundingClientRect();
    over.dispatchEvent(new MouseEvent("mousemove", { clientX: right - 1, clientY: top + height / 2, bubbles: true }));
    setTimeout(done, 100)');
$browser->wait_text('.legend', qr/\d\d:\d\d:\d\d\s*submitted \d/);

visit($browser, $leader, '#/overview', $shown{overview});

my $hosts = $browser->run('return [...new Set(performance.getEntriesByType("resource")
                           .map((e) => new URL(e.name).host))].join()');
is($hosts, "127.0.0.1:$leader->{port}", 'one host is asked');


# in the dark, and small

$browser->media(dark => 1);

for my $page (@pages) {
    visit($browser, $leader, "#/$page", $shown{$page});
    fit($browser, "$page, dark");
}

$browser->media;
$browser->size(320, 640);

for my $page (@pages, 'intents/flaky-1', 'intents/' . 'x' x 200) {
    visit($browser, $leader, "#/$page", $shown{$page} // qr/Timeline/);
    cmp_ok($browser->run('return document.documentElement.scrollWidth'), '<=', 320,
           "$page is not wider than a small screen");
}

$browser->size(3840, 2160);
visit($browser, $leader, '#/targets', $shown{targets});
fit($browser, 'on a large screen');
$browser->size(1280, 900);


# large numbers, long names and long errors: nothing is cut off, and every button
# can be reached without scrolling to the side

my $large = $browser->tools('Page.addScriptToEvaluateOnNewDocument', source => <<'END');
    const small = window.fetch;
    window.fetch = async (path, options) => {
      const answer = await small(path, options);
      if (!/(overview|targets|failures|stats).*$/.test(path) || !answer.ok) {
        return answer;
      }
      const data = await answer.json();
      const long = 'connect() to [2001:db8:85a3::8a2e:370:7334]:65535 failed (111: Connection refused) while connecting to upstream';
      const name = 'a.target.with.a.name.as.long.as.somebody.liked.it'.repeat(2);
      const grow = (t) => Object.assign(t, { due: 12345678, waiting: 987654, inFlight: 512, oldestDueSeconds: 3599 });
      if (data.totals) {
        Object.assign(grow(data.totals), { submittedPerSecond: 123456.7,
          attemptsPerSecond: { accepted: 123456.7, rejected: 98765.4, error: 12345.6, unknown: 1234.5 } });
      }
      for (const t of data.targets || []) {
        Object.assign(grow(t), { rate: '10000r/s', perSecond: { '1m': 9876.5, '5m': 9999.9 },
          successRatio: { '1m': 0.99964, '5m': 0.5 }, p50Ms: { '1m': 1234, '5m': 234 },
          p99Ms: { '1m': 61234, '5m': 12345 }, lastError: { at: data.now, reason: 'error', detail: long } });
      }
      for (const f of data.failures || []) {
        Object.assign(f, { count: 12345678, lastError: long, submissionTarget: name });
      }
      for (const row of data.rows || []) {
        row[data.columns.indexOf('oldestDueSeconds')] = 93784;
        row[data.columns.indexOf('due')] = 12345678;
      }
      return new Response(JSON.stringify(data), { status: 200, headers: { Date: answer.headers.get('Date') } });
    };
END

my $cut = <<'END';
    const off = [...document.querySelectorAll('main .tile, main .figure, main td, main button, main .pill')]
      .filter((el) => el.checkVisibility() && el.scrollWidth > el.clientWidth + 1 && getComputedStyle(el).display !== 'inline');
    const out = [...document.querySelectorAll('main button, main a')]
      .filter((el) => el.checkVisibility() && el.getBoundingClientRect().right > innerWidth);
    const wide = [...document.querySelectorAll('main .wide')]
      .filter((el) => el.checkVisibility() && el.scrollWidth > el.clientWidth + 1);
    return [...off, ...out, ...wide].map((el) => `${el.tagName} ${el.className} ${el.textContent.slice(0, 40)}`).join("\n");
END

for my $width (320, 1280, 3840) {
    $browser->size($width, 900);

    for my $page (qw(overview targets failures)) {
        visit($browser, $leader, "#/$page", $page eq 'failures' ? qr/12\.35M/ : qr/12\.35M.*987,654/s);
        is($browser->run($cut), '', "$page, $width pixels wide: nothing is cut off");
    }
}

is($browser->run('return document.querySelector("td [title]").title'), '12,345,678', 'all digits, for whoever points at it');
$browser->tools('Page.removeScriptToEvaluateOnNewDocument', identifier => $large->{identifier});
$browser->size(1280, 900);


# text is text

visit($browser, $leader, '#/intents?target=push.marketing', qr/Intents/);

for my $id (@odd) {
    (my $text = encode('UTF-8', $id)) =~ s/(.{40}).*/$1.../s;

    is(same_text($browser, $id), 1, "in the list: $text");
}

is($browser->has('main img, main script, main b'), 0, 'no element came of it');

for my $id (@odd) {
    my $path = $browser->run('return encodeURIComponent(arguments[0])', $id);

    visit($browser, $leader, "#/intents/$path", qr/Timeline/);
    cmp_ok(same_text($browser, $id), '>=', 1, 'an intent of its own');
    $browser->click('main section:last-of-type button');
    $browser->wait_text('main pre[tabindex]', qr/<b>&amp;<\/b>/);
    is($browser->has('main img, main script, main b'), 0, 'with its payload');
}

unlike($browser->run('return document.title'), qr/^1/, 'nothing was run');
is($browser->problems, '', 'nothing was refused');


# one intent

visit($browser, $leader, '#/intents/flaky-1', qr/Attempt 2.*Attempt 1/s);
like($browser->text('main'), qr/exhausted.*max_attempts.*HTTP 503/s, 'why it failed');
is($browser->has('.timeline li'), 4, 'the timeline');
fit($browser, 'an intent');


# the address is the state

visit($browser, $leader, '#/intents?target=http.hook&status=rejected', qr/hook-60/);
is($browser->run('return document.getElementById("status").value'), 'rejected', 'the filter');
$browser->run('[...document.querySelectorAll("main button")].find((b) => b.textContent === "Next page").click()');
$browser->wait_text('main', qr/hook-1\b/);
like($browser->run('return location.hash'), qr/target=http\.hook&status=rejected&after=/, 'the page');
unlike($browser->text('main'), qr/hook-60/, 'another page');
$browser->run('history.back()');
$browser->wait_text('main', qr/hook-60/);
$browser->click('tr[data-key="i-hook-60"] input');
wait_for('the selection is in the address',
         sub { $browser->run('return location.hash') =~ /sel=hook-60/ }, 60);
visit($browser, $leader, '#/intents?target=http.hook&sel=hook-59&sel=hook-58', qr/2 selected/);
is($browser->has('tbody input:checked'), 2, 'what a colleague had selected');


# by keys alone

visit($browser, $leader, '#/overview', $shown{overview});
$browser->press('g', 't');
$browser->wait_text('main h1', qr/Targets/);
$browser->press('?');
$browser->wait_text('dialog', qr/search for intents/);
fit($browser, 'the help');
$browser->press('Escape');
wait_for('the help is closed', sub { !$browser->has('dialog') }, 60);
$browser->press('/');
wait_for('the search has the focus',
         sub { $browser->run('return document.activeElement.id') eq 'search' }, 60);
$browser->press(split(//, 'flaky-'), 'Enter');
$browser->wait_text('main tbody', qr/flaky-1.*flaky-3/s);
unlike($browser->text('main tbody'), qr/hook/, 'and nothing else');
$browser->press('Escape');
$browser->press('g', 'f');
$browser->wait_text('main h1', qr/Failures/);

visit($browser, $leader, '#/failures', $shown{failures});
$browser->press('Tab');
is($browser->text(':focus'), 'Skip to the content', 'the first stop');
$browser->press('Enter');
is($browser->run('return document.activeElement.id'), 'main', 'leads to the content');
$browser->wait_text('main h1', qr/Failures/);
visit($browser, $leader, '#/failures', $shown{failures});
my %seen;
for (1 .. 26) {
    $browser->press('Tab');
    my ($what, $ring) = @{$browser->run('const el = document.activeElement;
        return [el.textContent.trim() || el.id, getComputedStyle(el).outlineStyle]')};
    $seen{$what} = $ring;
}
is(join(' ', grep { $seen{$_} eq 'none' } sort keys %seen), '', 'the focus is seen');
ok(exists $seen{$_}, "$_ is reached") for 'Overview', 'Configuration', 'Replay…', '⋯';

$browser->press('d');
is($browser->run('return document.documentElement.dataset.theme'), 'light', 'colours');
$browser->press('d');
is($browser->run('return document.documentElement.dataset.theme'), 'dark', 'dark ones');
visit($browser, $leader, '#/targets', $shown{targets});
is($browser->run('return document.documentElement.dataset.theme'), 'dark', 'are kept');
is($browser->run('return getComputedStyle(document.body).backgroundColor'), 'rgb(16, 20, 27)', 'and used');

$browser->press('p');
$browser->wait_text('#live', qr/paused/);
is(asked_within($browser, 5000), 0, 'asks nothing while paused');
my $n = rounds($browser);
$browser->press('p');
wait_for('it asks again', sub { rounds($browser) > $n }, 60);

is($browser->problems, '', 'nothing was wrong in the end');

finish($run, $browser);

# What the console says while something is wrong: which targets are ill, the worst
# first; that the store is down, since when and why; that nobody answers, or a
# proxy does in the instance's place; which clock is wrong; what happened.  The
# answers that say so are made here, so that every case can be looked at.
#
# Goes red when: an ill target is not at the top, or why it is ill is not said; a
# page says "up", "live" or "leader" while the store is down; a page is blank; the
# wrong clock is blamed; events are not shown, not filtered, or leave no mark.

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

my ($run, $leader, $follower) = pair();
my $browser = browser($run);


# what the page asks more than once: an answer, and when it began

sub ago { return "new Date(Date.now() - $_[0] * 1000).toISOString()" }


# the ill come first, the worst of them at the top, and the others are one line

fake($browser, 'GET targets$' => sprintf <<'END', ago(65), ago(400), ago(3), ago(9000), ago(50));
    (d) => {
        const of = (name) => d.targets.find((t) => t.target === name);
        Object.assign(of('push.marketing'), { state: 'paused', pause: { actor: 'ann', reason: '<i>moved</i>', at: %s } });
        Object.assign(of('sms.realtime'), { health: { state: 'down', since: %s, why: 'No attempt of the last 20 was accepted.' },
            lastError: { at: %s, reason: 'unsent', detail: 'sms.example could not be resolved' } });
        Object.assign(of('http.hook'), { health: { state: 'degraded', since: %s, why: 'Every third attempt fails.' } });
        of('sms.once').health = { state: 'ok', since: %s, why: '' };
        return d;
    }
END

visit($browser, $follower, '#/overview', qr/3 targets need attention/);

my $text = $browser->text('.ill');

like($text, qr/sms\.realtime\s+down\s+since.*No attempt of the last 20.*http\.hook\s+degraded.*push\.marketing\s+paused/s,
     'the worst first');
like($text, qr/since \d\d:\d\d:\d\d, 6 min ago/, 'since when');
like($text, qr/Last error 3(?:\.\d)? s ago: sms\.example could not be resolved/, 'the last error in words');
like($text, qr/by ann 1 min ago: “<i>moved<\/i>”/, 'who paused it, and why');
like($text, qr/\d+ targets? (?:is|are) healthy\./, 'the others are one line');
is($browser->run('const ill = document.querySelector(".ill");
                  return ill.previousElementSibling.tagName + " " + (ill.compareDocumentPosition(document.querySelector(".tiles")) & 4)'),
   'H1 4', 'they are the first thing on the page');
is($browser->text('#banners') // '', '', 'a banner does not say it again');
fit($browser, 'ill targets');

visit($browser, $follower, '#/targets', qr/sms\.realtime/);
is($browser->text('tbody tr:first-child .name a'), 'sms.realtime', 'the worst is first on Targets, too');
$browser->wait_text('#banners', qr/3 targets need attention: sms\.realtime is down, http\.hook is degraded, push\.marketing is paused\./);
fit($browser, 'a banner of many');

visit($browser, $follower, '#/overview', qr/3 targets need attention/);
$browser->size(320, 900);
is($browser->run('return document.documentElement.scrollWidth'), 320, 'on a small screen, too');
$browser->size(1280, 900);
unfake($browser);

# one that is ill and paused: both, or somebody is called for what others know of

fake($browser, 'GET targets$' => sprintf <<'END', ago(65), ago(400));
    (d) => {
        Object.assign(d.targets.find((t) => t.target === 'http.hook'), { state: 'paused',
            pause: { actor: 'ann', reason: 'it moves', at: %s },
            health: { state: 'degraded', since: %s, why: 'every third attempt failed' } });
        return d;
    }
END

visit($browser, $follower, '#/intents', qr/./);
$browser->wait_text('#banners .warn',
    qr/http\.hook is degraded, and is paused\. Every third attempt failed\. “it moves”/);
fit($browser, 'a banner of one that is paused');
unfake($browser);

visit($browser, $follower, '#/overview', qr/All \d+ targets are healthy/);
is($browser->has('.ill'), 0, 'all is well');


# nobody is called healthy of whom nothing is known

fake($browser, 'GET targets$' => '(d) => { d.targets[0].health = null; return d; }');
visit($browser, $follower, '#/overview', qr/\d+ targets? (?:is|are) healthy\. The leader has not told yet how one of them is\./);
unlike($browser->text('main'), qr/All \d+ targets/, 'one is not known');
unfake($browser);


# the store is down, for a page that is open and for one that is opened

my $down = sprintf <<'END', ago(14), ago(2), ago(9), ago(16);
    (d) => Object.assign(d, { role: 'leader', leader: null,
        store: { kind: 'postgres', up: false, state: window.failing || 'down', breaker: 'open', since: %s,
                 lastError: 'connection to server at "db1" refused', lastErrorAt: %s },
        lastLeader: { holder: 'web7', epoch: 3, until: %s }, asOf: %s })
END

fake($browser, 'GET overview$' => "(d) => window.gone ? ($down)(d) : d",
     'GET targets$' => '(d) => window.gone ? new Response(JSON.stringify({ error: { code: "store_unavailable", message: "no" } }), { status: 503 }) : d');

my $says = qr/The store \(postgres\) is down since \d\d:\d\d:\d\d \(1\d s ago\)\. connection to server at "db1" refused\. web7 led until \d\d:\d\d:\d\d\..*get 503, and nothing is sent.*as of \d\d:\d\d:\d\d/s;

sub no_lie {
    my ($what) = @_;

    # what happened before is told as that

    my $text = $browser->text('body') =~ s/What happened in this time.*//sr;

    unlike($text, qr/\blive\b|\bup\b|(?<!\w)leader(?!\w)|It answers/, "$what: nothing claims that all is well");
    like($browser->text('#live'), qr/store down/, 'the sign at the top says so');
    like($browser->text('main'), qr/web7 led last, until/, 'who led');
}

visit($browser, $follower, '#/overview', qr/Leader\s+\Q$leader->{name}\E/);
$browser->run('window.gone = true');
$browser->wait_text('#banners', $says, 10);
no_lie('a page that is open');
fit($browser, 'without a store');

$browser->run('window.failing = "failing"');
$browser->wait_text('#banners', qr/The store \(postgres\) fails since.*does not keep what is written/s, 10);
$browser->run('window.gone = false');
$browser->wait_not('#banners', qr/store/, 10);
unfake($browser);

fake($browser, 'GET overview$' => $down, 'GET targets$' => '() => new Response("{}", { status: 503 })');
visit($browser, $follower, '#/overview', qr/Overview/);
$browser->wait_text('#banners', $says);
no_lie('a page that is opened');
fit($browser, 'opened without a store');
unfake($browser);


# nobody answers, or a proxy does: the page is not blank, open or opened

for my $case (['the connection is refused', '() => { throw new TypeError("refused") }', qr/The connection is refused or broken\./],
              ['a proxy answers', '() => new Response("<html>503 Service Unavailable</html>", { status: 503 })',
               qr/A proxy or nginx itself answered HTTP 503\./])
{
    my ($what, $answer, $like) = @$case;

    fake($browser, '^GET (overview|targets|stats|config|events)' => "(d) => window.gone ? ($answer)() : d");
    visit($browser, $follower, '#/overview', qr/Leader/);
    $browser->run('window.gone = true');
    $browser->wait_text('#banners', qr/No connection to this instance\. $like What is shown is as of \d\d:\d\d:\d\d, \d/, 10);
    like($browser->text('main'), qr/Leader/, "$what: what was known stays");
    is($browser->text('#live'), 'no connection', 'the sign at the top says so');
    unfake($browser);

    fake($browser, '^GET (overview|targets|stats|config|events)' => $answer);
    visit($browser, $follower, '#/overview', qr/Nothing can be shown yet/);
    $browser->wait_text('#banners', qr/No connection to this instance\. $like Nothing is known yet\./);
    is($browser->run('const { left, right } = document.querySelector(".banner").getBoundingClientRect(); return right - left'),
       1280, "$what: a page that is opened has a banner over its whole width");
    cmp_ok($browser->has('nav a'), '>', 8, 'and its frame');
    fit($browser, $what);
    unfake($browser);
}


# which clock is wrong: [kind of store, how far the server and the store are ahead,
# what the server was at first, by how much it was set, and this computer]

visit($browser, $follower, '#/overview', qr/Leader/);

for my $case (
    ['all agree', ['postgres', 300, -200, 0, 0, 0], qr/^$/],
    ['this computer', ['postgres', 90000, 90000, 90000, 0, 0], qr/This computer’s clock is wrong\. It is 1 min 30 s behind of/],
    ['the server', ['postgres', 90000, 100, 90000, 0, 0], qr/The server’s clock is wrong\. web1: its clock is 1 min 30 s ahead of the store’s/],
    ['the store', ['postgres', 0, -7200000, 0, 0, 0], qr/The store’s clock is wrong\. It is 2 h behind/],
    ['the server was set, on SQLite', ['sqlite', -60000, -60000, 0, 0, 0], qr/The server’s clock is wrong\..*it was set/],
    ['the server says that it was set', ['sqlite', -60000, -60000, -60000, -60000, 0], qr/The server’s clock is wrong\..*it was set/],
    ['this computer was set, on SQLite', ['sqlite', -60000, -60000, 0, 0, 60000], qr/This computer’s clock is wrong\. It is 1 min ahead/],
    ['nobody knows, on SQLite', ['sqlite', 60000, 60000, 60000, 0, 0], qr/Two clocks differ\. .*one of them is wrong/],
) {
    my ($what, $args, $like) = @$case;

    my $said = $browser->run_async('const [[kind, server, store, first, set, moved], done] = arguments;
        import(new URL("clock.js", location)).then((m) =>
            done((m.wrongClock(kind, "web1", { server, store, first, set }, moved) || []).join("")))', $args);

    like($said, $like, "the clock that is wrong: $what");
}


# what happened: a page with filters, and marks on the charts

fake($browser, 'GET events' => sprintf <<'END', ago(2), ago(4), ago(5));
    () => ({ next: null, events: [
        { id: '3', at: %s, kind: 'target_down', level: 'error', instance: 'a', target: 'sms.realtime', text: 'sms.realtime is down: <b>x</b>' },
        { id: '2', at: %s, kind: 'leader_acquired', level: 'info', instance: 'b', target: null, text: 'b leads, epoch 4' },
        { id: '1', at: %s, kind: 'store_down', level: 'error', instance: 'b', target: null, text: 'the store is down' }] })
END

visit($browser, $follower, '#/events', qr/target down.*sms\.realtime is down: <b>x<\/b>.*leader acquired.*store down/s);
fit($browser, 'events');
$browser->run('const s = document.getElementById("instance"); s.value = "a"; s.dispatchEvent(new Event("change"))');
wait_for('one instance', sub { $browser->has('main tbody tr') == 1 }, 60);
like($browser->run('return location.hash'), qr/instance=a/, 'the filter is in the address');

visit($browser, $follower, '#/overview', qr/What happened in this time/);
like($browser->text('.marks'), qr/sms\.realtime is down/, 'the charts say what happened');
fit($browser, 'marks on charts');
unfake($browser);

finish($run, $browser);

# What the charts of the console say: rates are counts divided by the time in which
# they were counted, gaps are gaps, a mark says what happened, and a point stands
# where its time is.
#
# Goes red when: rows are divided by five seconds whatever their distance, in a line
# or in its table; a line is drawn where nobody reported; a mark has no words; a few
# minutes are drawn as if they were fifteen, or called an hour; a line where nothing
# was sent looks like any other.

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

sub ago { return "new Date(Date.now() - $_[0] * 1000).toISOString()" }


# lines of rows: [when, count] for each row, and what the line has, "-" for a gap

visit($browser, $follower, '#/overview', qr/Leader/);

for my $case (
    ['five seconds apart', 4, [[0, 0], [5, 50], [10, 100]], '0:- 5:10 10:20'],
    ['a row of one second', 4, [[0, 0], [5, 50], [6, 10], [11, 50]], '0:- 5:10 11:10'],
    ['three, and the newest is short', 4, [[0, 7], [5, 50], [7, 20], [9, 20], [10, 10]], '0:- 5:10 10:10'],
    ['two in one second', 4, [[0, 0], [5, 40], [5, 10], [10, 50]], '0:- 5:8 10:12'],
    ['a row was not read', 4, [[0, 0], [10, 100], [15, 50]], '0:- 10:10 15:10'],
    ['an outage', 4, [[0, 0], [5, 50], [35, 60], [40, 50]], '0:- 5:10 20:- 35:2 40:10'],
    ['points of twenty seconds', 20, [map { [$_ * 5, 10] } 0 .. 8], '0:- 20:2 40:2'],
    ['one row', 4, [[5, 50]], '5:-'],
    ['no row', 4, [], ''],
) {
    my ($what, $least, $rows, $like) = @$case;

    my $line = $browser->run_async('const [least, rows, done] = arguments;
        import(new URL("series.js", location)).then((m) => {
            const s = m.series({ columns: ["at", "n"], interval: 5, rows }, least);
            const n = s.rate("n");
            done(s.at.map((at, i) => `${at}:${n[i] == null ? "-" : n[i]}`).join(" "));
        }, (e) => done(String(e)))', $least, $rows);

    is($line, $like, "a line: $what");
}


# ten a second, whatever happens; at the end an outage of a minute.  Each change of
# health has a row of its own.

fake($browser, 'GET stats' => sprintf(<<'END'), 'GET events' => sprintf(<<'END', ago(100), ago(200)));
    () => {
        const end = Math.floor(Date.now() / 1000);
        const at = [];
        for (let t = end - 300; t <= end; t += t === end - 80 ? 60 : 5) {
            at.push(t, ...[end - 250, end - 200, end - 100].includes(t) ? [t + 1, t + 3] : []);
        }
        return { interval: 5, columns: ["at", "submitted", "accepted", "rejected", "exhausted", "canceled", "attempts",
                 "failedAttempts", "due", "waiting", "inFlight", "oldestDueSeconds"],
                 rows: at.map((t, i) => [t, (t - (at[i - 1] || t)) * 10, 0, 0, 0, 0, (t - (at[i - 1] || t)) * 10, 0, 5, 0, 0, 1]) };
    }
END
    () => ({ next: null, events: [
        { id: '2', at: %s, kind: 'target_down', level: 'error', instance: 'a', target: 'sms.realtime', text: 'sms.realtime is down: nobody answers.' },
        { id: '1', at: %s, kind: 'store_up', level: 'info', instance: 'a', target: null, text: 'the store is up' }] })
END

visit($browser, $follower, '#/overview', qr/What happened in this time/);
$browser->wait_has('#c-flow .u-over');

# what the chart says wherever the mouse points

my $told = $browser->run_async(<<'END');
    const done = arguments[arguments.length - 1];
    const over = document.querySelector("#c-flow .u-over");
    const { left, top, width } = over.getBoundingClientRect();
    const legend = over.closest("figure").querySelector(".legend");
    const told = [];
    const words = new Set();
    let x = 2;
    (function next() {
        if (x >= width - 2) {
            return done({ told: [...new Set(told)].sort(), words: [...words] });
        }
        over.dispatchEvent(new MouseEvent("mousemove", { clientX: left + x, clientY: top + 20, bubbles: true }));
        x += 3;
        setTimeout(() => {
            told.push(legend.querySelector(".blue").textContent);
            const says = over.querySelector(".says:not([hidden])");
            says && words.add(says.textContent.replace(/^[\d:]+ /, ""));
            next();
        }, 15);
    })();
END

is("@{$told->{told}}", 'submitted submitted 10', 'the chart has ten a second everywhere, or nothing');
like(join('|', @{$told->{words}}), qr/sms\.realtime is down: nobody answers\./, 'a mark says what happened to whoever points at it');

$browser->run('document.querySelector("figure details").open = true');
is(join(' ', @{$browser->run('return [...new Set([...document.querySelectorAll("figure:first-child tbody tr td:nth-child(2)")].map((el) => el.textContent))]')}),
   '10', 'and so has the table');

# the outage is a gap: no line crosses it

is($browser->run(<<'END'), 0, 'a gap in the line');
    const canvas = document.querySelector("#c-depth canvas");
    const over = document.querySelector("#c-depth .u-over");
    const scale = canvas.width / canvas.clientWidth;
    const { left } = canvas.getBoundingClientRect();
    const box = over.getBoundingClientRect();
    const x = (box.left - left + box.width * (1 - 50 / 300)) * scale;
    const column = canvas.getContext("2d").getImageData(Math.round(x), (box.top - canvas.getBoundingClientRect().top) * scale, 3, box.height * scale).data;
    const [r, g, b] = getComputedStyle(document.querySelector(".key.amber"), "::before").backgroundColor.match(/\d+/g).map(Number);
    let found = 0;
    for (let i = 0; i < column.length; i += 4) {
        found += Math.abs(column[i] - r) + Math.abs(column[i + 1] - g) + Math.abs(column[i + 2] - b) < 60 && column[i + 3] > 150;
    }
    return found;
END

fit($browser, 'charts');

# the time that they are about, and no more

my $heads = $browser->run('return [...document.querySelectorAll("main h2")].map((el) => el.textContent).join("|")');

like($heads, qr/The last 5 min\b/, 'five minutes are called that');
unlike($heads, qr/hour/, 'and not an hour');
unfake($browser);

fake($browser, 'GET stats' => <<'END');
    () => {
        const end = Math.floor(Date.now() / 1000);
        return { interval: 5, columns: ["at", "submitted"], rows: [...Array(721)].map((_, i) => [end - 3600 + i * 5, 50]) };
    }
END
visit($browser, $follower, '#/overview', qr/The last hour/);
pass('an hour is one');
unfake($browser);


# the small line of a target that was busy for the last minutes alone

fake($browser, 'GET stats' => <<'END');
    () => {
        const end = Math.floor(Date.now() / 1000);
        return { interval: 5, columns: ["at", "attempts"], rows: [...Array(37)].map((_, i) => [end - 180 + i * 5, 50]) };
    }
END

visit($browser, $follower, '#/targets', qr/up to 10\/s/);

my $points = $browser->run('return document.querySelector(".spark polyline").getAttribute("points")');

like($points, qr/^(?:7\d|8\d)\.\d,/, 'three minutes are a fifth of fifteen');
is($browser->has('.trend.dead'), 0, 'it is alive');
unfake($browser);

# and of one to which nothing was sent

fake($browser, 'GET stats' => <<'END');
    () => {
        const end = Math.floor(Date.now() / 1000);
        return { interval: 5, columns: ["at", "attempts"], rows: [...Array(37)].map((_, i) => [end - 180 + i * 5, 0]) };
    }
END

visit($browser, $follower, '#/targets', qr/nothing sent/);
is($browser->has('.trend.dead'), $browser->has('.trend'), 'a line that is dead is another');
is($browser->has('.spark polyline'), 0, 'and none is drawn');
unfake($browser);


finish($run, $browser);

# What is under way: why a pending intent is not at its gateway yet, and how far a
# job is that somebody else has begun.
#
# Goes red when: the page of an intent does not say that its target is paused, left
# alone or at its limit, that the store is down or that nobody leads; how far a
# running job is, is told without its end, or not asked for again; one of which nobody
# knows the end has a full bar; its limit is not shown.

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


# what holds an intent up

post_intent($leader, 'held-1', target => 'push.marketing');

for my $case (
    ['paused', "{ state: 'paused', pause: { actor: 'ann', reason: 'moved', at: %s } }", '', qr/push\.marketing is paused\.\s+Paused by ann .*ago: “moved”/s],
    ['circuit open', "{ state: 'circuit_open', circuit: { failures: 5, openUntil: null }, since: %s }", '', qr/its circuit is open\.\s+After 5 errors in a row/],
    ['rate', "{ state: 'open', rate: '10r/s', due: 500, since: %s }", '', qr/sends 10\/s at most, and 500 intents are due/],
    ['concurrency', "{ state: 'open', concurrency: 4, inFlight: 4, since: %s }", '', qr/4 attempts are at its gateway: no more are allowed/],
    ['store', "{ since: %s }", "d.store = { ...d.store, up: false, state: 'down' }; d.leader = null;", qr/The store does not do its work: nothing is sent/],
    ['leader', "{ since: %s }", 'd.leader = null;', qr/Nobody leads: nothing is sent/],
) {
    my ($what, $target, $overview, $like) = @$case;

    fake($browser, 'GET overview$' => "(d) => { $overview return d; }",
         'GET targets$' => "(d) => { Object.assign(d.targets.find((t) => t.target === 'push.marketing'), " . sprintf($target, ago(65)) . '); return d; }',
         'GET intents\/held-1\/history' => sprintf("(d) => { d.attempts = []; d.next = null; Object.assign(d.intent, { status: 'pending', completedAt: null, inFlight: false, nextAttemptAt: %s }); return d; }", ago(5)));
    visit($browser, $follower, '#/intents/held-1', qr/The next attempt is due\./);
    like($browser->text('.timeline'), $like, "held up: $what");
    unfake($browser);
}


# jobs that somebody else has begun: how many are left is asked for once

sub friday {
    my ($more, $dry) = @_;

    fake($browser, 'GET cancels' => '() => ({ jobs: [], next: null })', 'GET replays' => sprintf(<<"END", ago(9)),
    () => { window.looked = (window.looked || 0) + 1; return { next: null, jobs: [
        { id: 'friday', kind: 'replay', state: window.looked > 2 ? 'done' : 'running', filter: { target: 'sms.realtime', status: 'exhausted' }, limit: 500000, $more
          matched: 100, done: 98, skipped: 2, createdAt: %s, actor: 'ann' }] }; }
END
         'POST replays' => "() => { window.dry = (window.dry || 0) + 1; return { dryRun: true, replayed: 0, sample: [], $dry }; }");
}

friday('', 'count: 300, countIsBound: false');
visit($browser, $follower, '#/jobs', qr/friday.*running.*98 done, 2 skipped of 400/s);
is($browser->run('return document.querySelector(".parts .done").style.width'), '24.5%', 'its bar has an end');
like($browser->text('main tbody'), qr/500,000 at most/, 'and its limit');
$browser->wait_text('main tbody', qr/done\s+98 done, 2 skipped(?! of)/, 15);
is($browser->run('return dry'), 1, 'how far it is comes by itself, and the rest is asked for once');
unfake($browser);

friday('', 'count: 10000, countIsBound: true');
visit($browser, $follower, '#/jobs', qr/98 done, 2 skipped of more than 10,100/);
unfake($browser);

friday('again: true,', 'count: 500, countIsBound: false');
visit($browser, $follower, '#/jobs', qr/also what was replayed before.*98 done, 2 skipped of 500/s);
unfake($browser);

# nobody asks from a page that only looks

friday('', 'count: 300, countIsBound: false');
visit($browser, $follower, '#/jobs', qr/98 done, 2 skipped so far/, 'look');
is($browser->has('.parts.open'), 1, 'its bar has no end there');
is($browser->has('.parts .done'), 0, 'and is not full');
unfake($browser);


finish($run, $browser);

# What the console says of numbers and events, and for how long that holds.
#
# Goes red when: an election of another epoch is quoted; a leader of a second has
# rates; numbers of a time before an outage look as if they were new; nobody is
# called healthy who is not known; many that are ill push all else off the screen;
# events of jobs hide what went wrong; a paused target is said to be sent to now.

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


# how the leader came to lead: the election of this epoch, or nothing

my $event = sub {
    my ($epoch, $text) = @_;

    return sprintf "{ id: 'l$epoch', at: %s, kind: 'leader_acquired', level: 'info', instance: 'web7', target: null, text: '$text' }", ago(50 - $epoch);
};

my $leads = sprintf "(d) => Object.assign(d, { leader: { ...d.leader, holder: 'web7', epoch: 10, since: window.since || %s }, "
                    . 'totals: { ...d.totals, submittedPerSecond: 159, attemptsPerSecond: { accepted: 159, rejected: 0, error: 0, unknown: 0 } } })', ago(40);

fake($browser, 'GET overview$' => $leads, 'GET events' => '() => ({ next: null, events: ['
     . $event->(4, 'web7 goes on leading (epoch 4): it took its own lease over.') . '] })');
visit($browser, $follower, '#/overview', qr/Leader\s+web7/);
$browser->wait_text('main', qr/Epoch 10\./);
unlike($browser->text('.grid'), qr/epoch 4|goes on leading/, 'no election of another epoch');
unfake($browser);

fake($browser, 'GET overview$' => $leads, 'GET events' => '() => ({ next: null, events: ['
     . $event->(10, 'web7 became the leader (epoch 10); the lease of web3 had ended 3.2 s before.') . ','
     . $event->(4, 'web7 goes on leading (epoch 4): it took its own lease over.') . '] })');
visit($browser, $follower, '#/overview', qr/Leader\s+web7/);
$browser->wait_text('.grid', qr/It became the leader; the lease of web3 had ended 3\.2 s before\.\s+Epoch 10\./);
is(scalar(() = $browser->text('.grid > .card') =~ /web7|epoch/gi), 2, 'its name and its epoch are said once');


# a rate over a second is none

$browser->wait_text('.tiles', qr/Submitted\s+159\/s/);
$browser->run('window.since = new Date(Date.now() - 500).toISOString()');
$browser->wait_text('.tiles', qr/Submitted\s+–/, 15);
unlike($browser->text('.tiles'), qr/159/, 'a leader of a second has no rates');
like($browser->text('main'), qr/A new leader counts anew/, 'and the page says why');
unfake($browser);


# during an outage

fake($browser, 'GET overview$' => sprintf(<<'END', ago(30)));
    (d) => (window.gone ? Object.assign(d, { leader: null, asOf: %s, statsAgeSeconds: 30,
        store: { ...d.store, up: false, state: 'down' },
        totals: { ...d.totals, submittedPerSecond: 18.1, attemptsPerSecond: { accepted: 17, rejected: 2, error: 0, unknown: 0 } } }) : d)
END
visit($browser, $follower, '#/overview', qr/Leader/);
$browser->run('window.gone = true');
$browser->wait_text('main', qr/As of \d\d:\d\d:\d\d, \d\d s ago: nobody has reported since\.\s+Submitted\s+18\.1\/s/, 15);
is($browser->has('.tiles .good, .tiles .bad, .tiles .warn'), 0, 'old numbers have no colours');
is($browser->has('.tiles.stale'), 1, 'and are grey');
fit($browser, 'old numbers');
unfake($browser);


# nobody is healthy of whom nothing is known

fake($browser, 'GET targets$' => '(d) => { for (const t of [...d.targets, ...d.webhooks]) { t.health = null; } return d; }');
visit($browser, $follower, '#/overview', qr/No target is known to be ill\. The leader has not told yet how \d+ of them are\./);
unlike($browser->text('main'), qr/\b0 targets/, 'none is not counted');
visit($browser, $follower, '#/targets', qr/sms\.realtime/);
like($browser->text('tr[data-key="sms.realtime"]'), qr/unknown\s+The leader has not told how it is\./, 'nor is it on Targets');
unlike($browser->text('main tbody'), qr/\bactive\b/, 'where nobody looks as if all were well');
fit($browser, 'unknown targets');
unfake($browser);

fake($browser, 'GET targets$' => sprintf(<<'END', ago(-0.4)));
    (d) => { Object.assign(d.targets[0], { state: 'circuit_open', circuit: { failures: 5, openUntil: %s } }); return d; }
END
visit($browser, $follower, '#/overview', qr/nothing is sent for a while; the next try is due\./);
unfake($browser);


# nor while the leader is not heard of

fake($browser, 'GET overview$' => '(d) => { Object.assign(d.leader, { silent: true, heardAgeMs: 7000 }); return d; }');
visit($browser, $follower, '#/overview', qr/No target was ill at \d\d:\d\d:\d\d; nobody has reported since\./);
like($browser->text('#banners'), qr/The leader is silent\. \w+ has not been heard of for 7 s; its lease ends at \d\d:/, 'the banner says who');
unlike($browser->text('main'), qr/healthy/, 'nobody is called healthy');
unfake($browser);

fake($browser, 'GET overview$' => '(d) => Object.assign(d, { statsAgeSeconds: 16 })');
visit($browser, $follower, '#/overview', qr/No target was ill at \d\d:\d\d:\d\d; nobody has reported since\./);
unlike($browser->text('main'), qr/healthy/, 'nor while nobody reports');
unfake($browser);


# many that are ill leave room for the rest of the page

fake($browser, 'GET targets$' => sprintf(<<'END', ago(65)));
    (d) => {
        const [one] = d.targets;
        d.targets = [...Array(9)].map((_, i) => ({ ...one, target: `sms.t${i}`, due: 0, health: i === 8 ? { state: 'ok', since: null, why: null }
            : { state: i === 7 ? 'down' : 'degraded', since: %s, why: 'Every third attempt fails.' } }));
        return d;
    }
END
visit($browser, $follower, '#/overview', qr/8 targets need attention\s+sms\.t7\s+down/);
is($browser->has('.ill li'), 4, 'the worst few are told in full');
like($browser->text('.ill'), qr/And 4 more: sms\.t3 is degraded, .*sms\.t6 is degraded\./, 'the others by name');
cmp_ok($browser->run('return document.querySelector(".tiles").getBoundingClientRect().top'), '<', 480, 'the numbers are on the first screen');
fit($browser, 'many are ill');
unfake($browser);


# what went wrong is not hidden by what goes on as always, nor because nobody has
# reported since

fake($browser, 'GET stats' => <<'END', 'GET events' => sprintf(<<'END', ago(1), ago(2), ago(3), ago(4)));
    () => {
        const end = Math.floor(Date.now() / 1000) - 40;
        return { interval: 5, columns: ["at", "submitted"], rows: [...Array(20)].map((_, i) => [end - 95 + i * 5, 50]) };
    }
END
    () => ({ next: null, events: [
        ...[1, 2, 3].flatMap((n) => ['done', 'begun'].map((what) => ({ id: `j${n}${what}`, at: %s, kind: `job_${what}`, level: 'info',
            instance: 'a', target: null, text: `The replay job ${n} is ${what}.` }))),
        { id: '3', at: %s, kind: 'target_down', level: 'error', instance: 'a', target: 'sms.realtime', text: 'sms.realtime is down: x' },
        { id: '2', at: %s, kind: 'target_paused', level: 'warn', instance: 'a', target: 'push.marketing', text: 'ann has paused push.marketing' },
        { id: '1', at: %s, kind: 'leader_acquired', level: 'info', instance: 'b', target: null, text: 'b leads' }] })
END
visit($browser, $follower, '#/overview', qr/What happened in this time/);
like($browser->text('.marks'), qr/All 9 events.*sms\.realtime is down.*has paused push\.marketing.*b leads/s, 'what is wrong is listed');
is($browser->has('.marks li'), 6, 'and no more than before');

visit($browser, $follower, '#/events', qr/target down/);
is($browser->run('return [...document.querySelectorAll("main td a")].map((el) => el.getAttribute("href"))[0]'), '#/targets?target=sms.realtime',
   'an event leads to its target');
unfake($browser);
visit($browser, $follower, '#/targets?target=sms.realtime', qr/Only sms\.realtime is shown\./);
is($browser->has('main tbody tr'), 1, 'that one');


# a paused target

fake($browser, 'GET overview$' => '(d) => { d.totals.due = 102; return d; }', 'GET targets$' => sprintf(<<'END', ago(65)));
    (d) => { Object.assign(d.targets.find((t) => t.target === 'push.marketing'), { state: 'paused', due: 102,
             pause: { actor: 'ann', reason: 'moved', at: %s } }); return d; }
END
visit($browser, $follower, '#/overview', qr/Due\s+102\s+held back/);
unlike($browser->text('.tiles'), qr/to be sent now/, 'what is held back is not sent now');
like($browser->text('.ill'), qr/102 held back/, 'nor due');
unfake($browser);


finish($run, $browser);

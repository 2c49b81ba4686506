# The console while things go wrong: the leader is killed, and another one
# leads; the instance that the page talks to is gone, and comes back; the clock
# of the browser is off; nobody looks.
#
# Goes red when: the banner does not come or does not go; numbers vanish or look
# as if they were new while nothing is heard; the page asks while it is hidden;
# the page does not ask less when nothing changes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionConsole;

my ($run, $leader, $second) = pair();

# one that cannot lead, and is looked at

my ($follower) = $run->leadership->instances(['c'], executor => 'off',
    targets => $run->targets, zone => '8m', server => $leader->{server});

$run->cluster->start;

my $browser = browser($run);


# how often the page has asked

sub asked {
    return $browser->run('return performance.getEntriesByType("resource")
        .filter((e) => e.name.endsWith("/overview")).length');
}


visit($browser, $follower, '#/overview', qr/\Q$leader->{name}\E.*Lease: /s);

my $epoch = $run->leadership->row->{epoch};

like($browser->text('main'), qr/Epoch $epoch\b/, 'the epoch');
is($browser->has('progress'), 1, 'the lease, as a bar');
$browser->wait_text('main tbody', qr/\Q$leader->{name}\E\s+leader/s);
$browser->wait_text('main tbody', qr/\Q$second->{name}\E\s+follower/s);
unlike($browser->text('#banners') // '', qr/Nobody leads/, 'no banner');


# the leader is killed, and the other one cannot take over for now

$second->pause($second->processes);
$run->leadership->kill_tree($leader);

my $killed = time;

$browser->wait_text('#banners', qr/Nobody leads/, 15);

my $took = time - $killed;

cmp_ok($took, '<', 5 * slow(), sprintf 'the banner came after %.1f s', $took);
fit($browser, 'without a leader');

$second->signal('CONT', $_) for $second->processes;

wait_for('the banner goes', sub { ($browser->text('#banners') // '') !~ /Nobody leads/ }, 30);
$browser->wait_text('main', qr/Leader\s+\Q$second->{name}\E\s+Epoch/, 30);
is($browser->problems, '', 'and nothing was wrong with the page');


# the page's own instance is gone

$browser->expect(qr/net::ERR_|502|ERR_CONNECTION/);
$run->leadership->kill_tree($follower);
$browser->wait_text('#banners', qr/No connection/, 15);
like($browser->text('main'), qr/\Q$second->{name}\E/, 'the last numbers stay');
is($browser->run('return document.body.classList.contains("stale")'), JSON::PP::true, 'grey');
like($browser->text('#banners'), qr/as of \d\d:\d\d:\d\d/, 'with their age');

$run->cluster->start;
wait_for('it is heard again', sub { ($browser->text('#banners') // '') !~ /No connection/ }, 30);
is($browser->run('return document.body.classList.contains("stale")'), JSON::PP::false, 'not grey');


# nobody looks

$browser->run('Object.defineProperty(document, "hidden", {value: true, configurable: true});
               document.dispatchEvent(new Event("visibilitychange"))');
$browser->run_async('setTimeout(arguments[arguments.length - 1], 1000)');
my $n = asked();
$browser->run_async('setTimeout(arguments[arguments.length - 1], 5000)');
is(asked(), $n, 'a hidden page asks nothing');
$browser->run('Object.defineProperty(document, "hidden", {value: false, configurable: true});
               document.dispatchEvent(new Event("visibilitychange"))');
wait_for('it asks again', sub { asked() > $n });


# looking costs nothing: of what the API asks of the store, nothing is asked while
# the pages are open, whichever they are

sub api_calls {
    my $metrics = fetch($follower, 'GET', '/metrics')->{body};
    my $n = 0;

    $n += $1 while $metrics =~ /^submission_store_call_seconds_count\{op="(?!lease_|ping|stats|schedule|attempts|tidy|inbox|retention|backlog)[a-z_]+"\} (\d+)$/mg;

    return $n;
}

for my $page (qw(overview targets intents failures audit config)) {
    visit($browser, $follower, "#/$page", qr/./);
    wait_for("$page is there", sub { !$browser->has('.loading') });

    my ($before, $rounds) = (api_calls(), asked());

    wait_for('three rounds', sub { asked() >= $rounds + 3 });
    is(api_calls(), $before, "$page asks nothing of the store by itself");
}


# the clock of the browser

$browser->tools('Page.addScriptToEvaluateOnNewDocument', source =>
    'const now = Date.now; Date.now = () => now() - 90000;');
visit($browser, $follower, '#/overview', qr/Instances/);
$browser->wait_text('#banners', qr/clock is off by 1 min/);

finish($run, $browser);

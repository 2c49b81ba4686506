# The console while things go wrong: the leader is killed, and another one
# leads; the instance that the page talks to is gone, and comes back; the clock
# of the browser is off; nobody looks.
#
# Goes red when: the banner does not come or does not go; a target is called healthy
# while nobody leads; numbers vanish or look as if they were new while nothing is
# heard; the page asks while it is hidden; the page does not ask less when nothing
# changes.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionConsole;

my ($run, $leader, $second) = pair(lease => '2s', renew => '300ms');

# one that cannot lead, and is looked at

my ($follower) = $run->leadership->instances(['c'], executor => 'off',
    targets => $run->targets, zone => '8m', server => $leader->{server});

$run->cluster->start;

my $browser = browser($run);


# who leads and who does not, by the store: on a busy machine that may change

sub roles {
    my $row = $run->leadership->row;

    ($leader) = grep { $_->{name} eq $row->{holder} } $run->instances;
    ($second) = grep { $_ != $leader } $run->instances;

    return $row->{epoch};
}


visit($browser, $follower, '#/overview', qr/Leader.*Instances/s);

wait_for('the page says who leads', sub {
    my $epoch = roles();

    $browser->text('main') =~ /Leader\s+\Q$leader->{name}\E since .*Epoch $epoch\b.*Lease: /s;
}, 60);
pass('the leader and its epoch');
$browser->wait_has('main progress');
wait_for('the page says what each of them is', sub {
    roles();

    my $text = $browser->text('main tbody');

    $text =~ /^\Q$leader->{name}\E\s+leader/m && $text =~ /^\Q$second->{name}\E\s+follower/m;
}, 60);
$browser->wait_not('#banners', qr/Nobody leads/);
pass('no banner');
$browser->wait_text('main', qr/All \d+ targets are healthy\./);

# this one has a lease of another length

$browser->wait_text('#banners', qr/The instances differ\..*not the same: lease\./);
pass('but that configurations differ is told');


# the leader is killed, and the other one cannot take over for now

wait_for('the other one is stopped', sub {
    my $epoch = roles();

    $second->pause($second->processes);

    my $row = $run->leadership->row;

    return 1 if $row->{holder} eq $leader->{name} && $row->{epoch} == $epoch;

    $second->signal('CONT', $_) for $second->processes;
    return 0;
}, 60);

$run->leadership->kill_tree($leader);

my $killed = time;

$browser->wait_text('#banners', qr/Nobody leads/);

my $took = time - $killed;

cmp_ok($took, '<', 5 * slow(), sprintf 'the banner came after %.1f s', $took);
is($browser->has('main .well'), 0, 'nobody is called healthy, who was a moment ago');
like($browser->text('main'), qr/No target was ill at \d\d:\d\d:\d\d; nobody has reported since\./, 'but when that was known');
fit($browser, 'without a leader');

$second->signal('CONT', $_) for $second->processes;

$browser->wait_not('#banners', qr/Nobody leads/);
$browser->wait_text('main', qr/Leader\s+\Q$second->{name}\E since .*Epoch/s);
is($browser->problems, '', 'and nothing was wrong with the page');


# the page's own instance is gone

$browser->expect(qr/net::ERR_|502|ERR_CONNECTION/);
$run->leadership->kill_tree($follower);
$browser->wait_text('#banners', qr/No connection/);
like($browser->text('main'), qr/\Q$second->{name}\E/, 'the last numbers stay');
is($browser->run('return document.body.classList.contains("stale")'), JSON::PP::true, 'grey');
like($browser->text('#banners'), qr/as of \d\d:\d\d:\d\d/, 'with their age');

$run->cluster->start;
$browser->wait_not('#banners', qr/No connection/);
is($browser->run('return document.body.classList.contains("stale")'), JSON::PP::false, 'not grey');


# nobody looks

$browser->run('Object.defineProperty(document, "hidden", {value: true, configurable: true});
               document.dispatchEvent(new Event("visibilitychange"))');
is(asked_within($browser, 5000), 0, 'a hidden page asks nothing');
my $n = rounds($browser);
$browser->run('Object.defineProperty(document, "hidden", {value: false, configurable: true});
               document.dispatchEvent(new Event("visibilitychange"))');
wait_for('it asks again', sub { rounds($browser) > $n }, 60);


# looking costs nothing: of what the API asks of the store, nothing is asked while
# the pages are open, whichever they are

sub api_calls {
    my $metrics = fetch($follower, 'GET', '/metrics')->{body};
    my $n = 0;

    $n += $1 while $metrics =~ /^submission_store_call_seconds_count\{op="(?!lease_|ping|stats|schedule|attempts|tidy|inbox|retention|backlog)[a-z_]+"\} (\d+)$/mg;

    return $n;
}

for my $page (qw(overview targets intents failures jobs webhooks events audit config)) {
    visit($browser, $follower, "#/$page", qr/./);
    wait_for("$page is there", sub { !$browser->has('.loading') }, 60);

    my ($before, $rounds) = (api_calls(), rounds($browser));

    wait_for('two rounds', sub { rounds($browser) >= $rounds + 2 }, 60);
    is(api_calls(), $before, "$page asks nothing of the store by itself");
}


# the clock of the browser

$browser->tools('Page.addScriptToEvaluateOnNewDocument', source =>
    'const now = Date.now; Date.now = () => now() - 90000;');
visit($browser, $follower, '#/overview', qr/Instances/);
$browser->wait_text('#banners', qr/(?:Two clocks differ|This computer.s clock is wrong)\. .*1 min \d+ s/);

finish($run, $browser);

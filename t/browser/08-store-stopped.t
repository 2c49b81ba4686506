# What the first screen says when the database server is stopped (G22), on a page
# that was open and on one that is opened then, of the instance that led and of the
# other: within ten seconds that the store is down, since when, why, who led until
# when, and what still works.  When the server is back, all of that is gone.  It says
# so, too, when the server hangs.
#
# Goes red when: a page says "up", "live" or "leader" after that; one that is opened
# is blank, or waits for the store; the reason or the time is missing; an instance
# that was started meanwhile shows nothing.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(no_store browser);

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;
use SubmissionConsole;

binmode $_, ':utf8' for map { Test::More->builder->$_ } qw(output failure_output);

my $CLOCK = qr/\d\d:\d\d:\d\d/;

# it has a server of its own, wherever the tests of the browser are run

delete $ENV{SUBMISSION_TEST_STORE};

my $server = SubmissionCluster::Server->start;
my ($run, $leader, $follower) = pair(
    lease => '6s', before => sub { $server->direct($_[0]->cluster) });
my $lease = $run->leadership;
my $browser = browser($run);

$run->post($run->ids('before', 5));
$run->wait_terminal('before-', 30);

visit($browser, $follower, '#/overview', qr/Leader\s+\Q$leader->{name}\E.*postgres\s+up/s);
$browser->wait_text('#live', qr/^live/);
wait_for('both have numbers', sub {
    2 == grep { fetch($_, 'GET', '/v1/overview')->{body} =~ /"asOf":"/ } $leader, $follower });


sub down {
    my ($name, $led) = @_;

    shows($browser, $name, '#banners',
          qr/The store \(postgres\) is down since $CLOCK \(\d.* ago\)\. postgres: .*Connection refused\. Is the server running .*\? ${led}New intents get 503, and nothing is sent/s);
    like($browser->text('#live'), qr/^store down/, "$name: the sign at the top says so");
    unlike($browser->text('header') . $browser->text('main .grid'), qr/\blive\b|\bup\b|It answers|(?<!\w)leader(?!\w)/,
           "$name: nothing claims that all is well");
    fit($browser, $name);
}


# the page was open; the other one is opened

my $led = qr/\Q$leader->{name}\E led until $CLOCK\. /;

$server->kill;
down('store stopped, page open', qr/(?:$led)?/);
shows($browser, 'store stopped, lease over', '#banners', qr/$led/);

for my $instance ($follower, $leader) {
    visit($browser, $instance, '#/overview', qr/Overview/);
    down("store stopped, page opened on the " . ($instance == $leader ? 'last leader' : 'other'), $led);
    like($browser->text('main'), qr/Nobody is known to lead\s+\Q$leader->{name}\E led last, until $CLOCK/,
         'who led');
    like($browser->text('main'), qr/No target was ill at $CLOCK; nobody has reported since\./, 'and what was known');
}


# an instance that has just been started knows nothing but that

$lease->kill_tree($follower);
$follower->spawn;
wait_for('it answers', sub { (fetch($follower, 'GET', '/healthz')->{status} // 0) == 200 });
visit($browser, $follower, '#/overview', qr/Overview/);
down('store stopped, instance started', qr//);
like($browser->text('main'), qr/How the targets are is not known.*Who else is there is not known/s,
     'nothing is made up');


# it is back

$server->recover;
shows($browser, 'store back', '#banners', qr/^$/);
shows($browser, 'store back, somebody leads', 'main', qr/Leader\s+[ab] since $CLOCK/);
$browser->wait_text('#live', qr/^live/, 10);


# it takes connections, and does not answer

$run->store->reconnect;
visit($browser, $follower, '#/overview', qr/Leader\s+[ab] since $CLOCK/);

my @frozen = $server->freeze;

shows($browser, 'store hangs', '#banners',
      qr/The store \(postgres\) (?:is down|fails) since $CLOCK \(\d.* ago\)\. .*no answer .*New intents get 503, and nothing is sent/s);
kill 'CONT', @frozen;
shows($browser, 'store answers again', '#banners', qr/^$/);

finish($run, $browser);

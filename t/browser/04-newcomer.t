# Somebody who has read nothing: starts the demo, opens the address that it
# prints, sees traffic, pauses a target and sees it stop, resumes it, finds an
# intent that failed, and replays it.  All by clicking words that are on the
# page, with no address but the first one.
#
# Goes red when: the demo does not say where its console is, or has no traffic;
# what one looks for has another name, or is not where one looks; a click is not
# followed by a sign of what it did; a target is ill for as long as the demo runs.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds 'browser';

use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;
use Time::HiRes qw(time);

use SubmissionBrowser;
use SubmissionCluster;

my $top = $SubmissionCluster::top;
my $module = $ENV{SUBMISSION_MODULE} or plan(skip_all => 'the module is compiled in');
my $dir = tempdir('newcomer.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR}, CLEANUP => 1);

chmod 0755, $dir;
make_path("$dir/demo", "$dir/build");

for my $file (qw(demo.sh nginx.conf gateway.conf)) {
    copy("$top/demo/$file", "$dir/demo/$file") or die "$file: $!\n";
}

symlink($module, "$dir/build/ngx_http_submission_module.so") or die "$module: $!\n";

my ($port, $gateway) = (SubmissionCluster::free_port(), SubmissionCluster::free_port());
my $demo = "NGINX_BIN=$ENV{SUBMISSION_NGINX} PORT=$port GATEWAY_PORT=$gateway bash $dir/demo/demo.sh";

END {
    my $status = $?;
    `{ $demo stop; } 2>&1` if $demo;
    $? = $status;
}

my $said = `{ $demo start; } 2>&1`;
my ($address) = $said =~ m{^Console: (http://\S+)$}m;

ok($address, 'the demo says where its console is') or die $said;

my $browser = SubmissionBrowser->new($dir);

# an older instance has no events, and the page goes without


my $begun = time;


# the number in the tile of that name

sub tile {
    my ($name) = @_;

    return $browser->run('const dt = [...document.querySelectorAll(".tile dt")]
        .find((el) => el.textContent === arguments[0]);
        const text = dt && dt.nextSibling.querySelector(".figure").textContent;
        return text && /^[\d.,]/.test(text) ? parseFloat(text.replace(/,/g, "")) : null', $name);
}


# traffic

$browser->open($address);
$browser->wait_text('main h1', qr/^Overview$/);
wait_for('intents come in', sub { (tile('Submitted') // 0) > 0 }, 60);
wait_for('and go out', sub { (tile('Accepted') // 0) > 0 }, 60);
$browser->wait_has('.uplot canvas');
pass('there is traffic');
is(join("\n", grep { !/sms\.moody/ } split /\n/, $browser->text('#banners') // ''), '',
   'and all is well, but for what is ill now and then');


# a target is paused

$browser->press_text('nav', 'Targets');
$browser->wait_text('tr[data-key="sms.realtime"]', qr/active/);
$browser->press_text('tr[data-key="sms.realtime"]', 'Pause…');
$browser->wait_text('dialog', qr/Pause sms\.realtime\?.*nothing is lost/s);
$browser->press_text('dialog', 'Pause');
$browser->wait_text('tr[data-key="sms.realtime"]', qr/paus(?:ing|ed)/);
pass('the click is seen at once');
$browser->wait_text('tr[data-key="sms.realtime"]', qr/paused/);
$browser->wait_text('#banners', qr/sms\.realtime is paused/);
pass('and what came of it');


# it stops: nothing more is sent, and what is due grows

sub sent {
    open(my $log, '<', "$dir/demo/logs/gateway.log") or die "gateway.log: $!\n";
    return scalar grep { m{^\S+ /sms/send } } <$log>;
}

sub rejected {
    open(my $log, '<', "$dir/demo/logs/gateway.log") or die "gateway.log: $!\n";
    return scalar grep { m{ typo-} } <$log>;
}

sub due {
    return $browser->run('const row = document.querySelector("tr[data-key=\"sms.realtime\"]");
        return parseInt(row.querySelector("[data-label=Due]").textContent, 10)');
}

my $sent = sent();
my $due = wait_for('some are due', sub { due() }, 60);

wait_for('more are due', sub { due() > $due }, 60);
is(sent(), $sent, 'nothing of it is sent');


# it is resumed, by the button that took the place of the other one

$browser->press_text('tr[data-key="sms.realtime"]', 'Resume');
$browser->wait_text('#toasts', qr/sms\.realtime is resumed/);
$browser->wait_text('tr[data-key="sms.realtime"]', qr/active/);
$browser->wait_not('#banners', qr/sms\.realtime/);
wait_for('what was due is sent', sub { sent() > $sent && !due() }, 60);
pass('it goes on');


# one that failed is found by the red number, and is replayed

$browser->press_text('nav', 'Overview');
$browser->wait_has('.tiles');
$browser->press_text('.tiles', 'Rejected');
$browser->wait_text('main', qr/Failures.*sms\.realtime\s+rejected\s+invalid_recipient/s);

my $id = $browser->text('tr[data-key^="sms.realtime"] .sample a');

like($id, qr/^typo-/, 'an example');
$browser->press_text('tr[data-key^="sms.realtime"]', $id);
$browser->wait_text('main h1', qr/^\Q$id\E$/);
like($browser->text('main'), qr/Timeline.*Attempt 1\s+rejected\s+invalid_recipient/s, 'says why it failed');
$browser->press_text('main', 'Replay…');
$browser->press_text('dialog', 'Replay it');
$browser->wait_text('main h1', qr/^\Q$id\E~1$/);
$browser->wait_text('main', qr/Replay of\s+\Q$id\E\b/);
$browser->wait_text('.timeline', qr/Attempt 1/);
pass('it is sent again');


# what fails is a part of what goes well: no target is ill but for the one that is ill
# for a minute in five

$browser->press_text('nav', 'Overview');
wait_for('some were rejected', sub { rejected() >= 10 }, 120);
$browser->wait_text('main', qr/targets? (?:is|are) healthy/);
is(join(' ', grep { $_ ne 'sms.moody' } @{$browser->run('return [...document.querySelectorAll(".ill li")].map((el) => el.dataset.key)')}),
   '', 'the first screen is not red all the time');

is($browser->problems, '', 'nothing was wrong with any page');
diag(sprintf 'it took %.0f s', time - $begun);

$browser->close;

done_testing;

#!/usr/bin/perl

# pictures.pl [<seconds> [<directory>]]
#
# Makes the pictures of the console that README.md and docs/howto/console.md
# show: a pair of instances gets some traffic for so many seconds (180), then
# its pages are drawn, light and dark.  pngquant makes them small.
#
# With a directory, draws every page into it from top to bottom, light and dark, on a
# small, a usual and a large screen, and so the dialogs and a store that is down, for
# whoever changes something to look at.
#
#   make build && t/browser/pictures.pl

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use File::Temp qw(tempdir);
use List::Util qw(max);
use MIME::Base64 qw(encode_base64);
use Test::More;
use Time::HiRes qw(sleep time);

use SubmissionCluster;
use SubmissionConsole;
use SubmissionReceiver;

use constant { WIDTH => 1280, HEIGHT => 800, MOST => 80_000 };

my $seconds = shift // 180;
my $all = shift;
my $to = "$FindBin::Bin/../../docs/howto";

# with all pages, a webhook that is told of what fails, and does not take some messages

my $dir = tempdir(CLEANUP => 1);
my $receiver = SubmissionReceiver->new("$dir/told", sub { $_[0]{headers}{'webhook-id'} =~ /[05af]$/ ? 500 : 204 });

open(my $file, '>', "$dir/secret") or die "secret: $!\n";
print $file 'whsec_' . encode_base64('k' x 24, '') . "\n";
close $file;
chmod 0600, "$dir/secret";

my $webhook = 'webhook ops { url http://127.0.0.1:' . $receiver->port
    . "/ops; secret_file $dir/secret; events rejected exhausted; policy max_attempts 2; retry_delay 50ms; }";

my ($run, $leader, $follower) = pair(manager => $all ? $webhook : '', targets => {
    'http.hook' => { type => 'http', policy => 'max_attempts 3', path => '/hook', outcomes => 'http_404 http_422',
                     more => $all ? 'notify ops;' : '' },
    'mail.receipts' => { type => 'http', policy => 'max_attempts 5', path => '/mail', retry => '2s' },
    'payments.capture' => { type => 'http', policy => 'one_shot', path => '/payments', outcomes => 'http_402' },
}, instances => ['web1', 'web2'], lease => '10s', renew => '2s', acquire => '2s');

$run->gateway->behave('/mail' => 'fail 1 answer 503', '/payments' => 'delay 25',
                      '/hook' => 'answer 404', '/sms' => 'delay 8');

# traffic, until all is drawn

my $n = 0;
my $child = fork // die "fork: $!\n";

while ($child == 0) {
    my $wave = 4 + 3 * sin(time / 17);

    for (1 .. $wave) {
        $n++;
        post_intent($n % 2 ? $leader : $follower, "order-$n",
                    target => $n % 23 == 0 ? 'http.hook' : $n % 7 == 0 ? 'mail.receipts'
                              : $n % 5 == 0 ? 'payments.capture'
                              : $n % 3 == 0 ? 'push.marketing' : 'sms.realtime');
    }

    sleep 0.5;
    POSIX::_exit(0) if getppid() == 1;
}

sleep $seconds;

sub picture {
    my ($browser, $page, $like, $file) = @_;

    visit($browser, $follower, $page, $like);
    $browser->wait_has('.uplot canvas, .spark', 30);
    sleep 2;
    $browser->picture("$to/$file");
    system('pngquant', '--force', '--speed', '1', '--ext', '.png', '96', "$to/$file") == 0
        or diag('without pngquant (Debian: pngquant) it is larger');
    cmp_ok(-s "$to/$file", '<', MOST, "$file is small");
}

my $browser = browser($run, width => WIDTH, height => HEIGHT);

# what is opened on a page: the page, and how

my %dialogs = (
    'new-schedule' => ['schedules', 'main', 'Create a schedule…'],
    'test-intent' => ['intents', 'main', 'Submit a test intent…'],
    'job' => ['failures', 'main', 'Replay…'],
    'job-of-accepted' => ['intents?status=accepted&by=completed', 'main', 'Replay all of these…'],
    'replay' => ['intents/order-23', 'main', 'Replay…'],
    'replay-accepted' => ['intents/order-1', 'main', 'Replay…'],
);

my $DOWN = <<'END';
    (d) => Object.assign(d, { role: 'leader', leader: null, asOf: new Date(Date.now() - 40000).toISOString(),
        lastLeader: { holder: 'web1', epoch: 3, until: new Date(Date.now() - 25000).toISOString() },
        store: { kind: 'postgres', up: false, state: 'down', breaker: 'open', since: new Date(Date.now() - 35000).toISOString(),
                 lastError: 'postgres: connection to server at "db1" (192.0.2.4), port 5432 failed: Connection refused. Is the server running on that host?',
                 lastErrorAt: new Date(Date.now() - 2000).toISOString() } })
END

sub page_at {
    my ($page, $width) = @_;

    $browser->size($width, 900);
    visit($browser, $follower, "#/$page", qr/./);
    $browser->wait_until("$page is there", sub { !$browser->has('.loading') });
    $browser->wait_has('.uplot canvas, .spark', 30) if $page =~ /^(?:overview|targets)$/;
}

sub whole {
    my ($name, $width, $colours) = @_;

    $browser->size($width, max(900, $browser->run('return document.documentElement.scrollHeight')));
    sleep 0.3;
    $browser->picture("$all/$name-$width-$colours.png");
}

sub everything {
    my ($width, $colours) = @_;

    for my $page (@pages, 'webhooks?status=accepted', 'intents/order-23') {
        page_at($page, $width);
        whole($page =~ tr{/?=}{-}r, $width, $colours);
    }

    for my $name (sort keys %dialogs) {
        my ($page, $within, $text) = @{$dialogs{$name}};

        page_at($page, $width);
        $browser->press_text($within, $text);
        $browser->wait_has('dialog[open]');
        $browser->picture("$all/dialog-$name-$width-$colours.png");
    }

    fake($browser, 'GET overview$' => $DOWN);
    page_at('overview', $width);
    whole('outage', $width, $colours);
    unfake($browser);
}

sub act {
    my ($method, $path, $body) = @_;

    is(fetch($leader, $method, "/console/api/v1/$path", $body,
             headers => ['Origin: http://test', 'X-Nobody: ann'])->{status}, $method eq 'PUT' ? 201 : 200,
       "$method $path");
}

sub pause {
    act(POST => 'targets/mail.receipts/pause', '{"reason":"the mail server is being moved"}');
}

if ($all) {
    pause();
    act(POST => 'replays', '{"id":"friday","filter":{"target":"http.hook","status":"rejected"},"limit":20}');
    act(POST => 'cancels', '{"filter":{"target":"mail.receipts","status":"pending"}}');
    act(PUT => 'schedules/nightly-report', '{"submissionTarget":"sms.realtime","cron":"30 2 * * mon-fri","timeZone":"Europe/Stockholm"}');
    act(PUT => 'schedules/heartbeat', '{"submissionTarget":"push.marketing","every":"PT15M"}');
    act(POST => 'schedules/heartbeat/pause', '{"reason":"not needed during the move"}');

    for my $dark (0, 1) {
        $browser->media(dark => $dark);
        everything($_, $dark ? 'dark' : 'light') for 320, 1280, 2560;
    }

    kill 'KILL', $child;
    waitpid $child, 0;

    finish($run, $browser);
    exit;
}

picture($browser, '#/overview', qr/Leader/, 'console-light.png');

pause();

$browser->media(dark => 1);
picture($browser, '#/targets', qr/paused.*moved/s, 'console-dark.png');

kill 'KILL', $child;
waitpid $child, 0;

finish($run, $browser);

#!/usr/bin/perl

# pictures.pl [<seconds> [<directory>]]
#
# Makes the pictures of the console that README.md and docs/howto/console.md
# show: a pair of instances gets some traffic for so many seconds (180), then
# its pages are drawn, light and dark.  pngquant makes them small.
#
# With a directory, draws every page into it, light and dark, on a small, a
# usual and a large screen, for whoever changes something to look at.
#
#   make build && t/browser/pictures.pl

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use Test::More;
use Time::HiRes qw(sleep time);

use SubmissionCluster;
use SubmissionConsole;

use constant { WIDTH => 1280, HEIGHT => 800, MOST => 80_000 };

my $seconds = shift // 180;
my $all = shift;
my $to = "$FindBin::Bin/../../docs/howto";

my ($run, $leader, $follower) = pair(targets => {
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

        for my $width (320, 1280, 2560) {
            $browser->size($width, $width == 1280 ? 1000 : 1400);

            for my $page (@pages, 'intents/order-23') {
                visit($browser, $follower, "#/$page", qr/./);
                $browser->wait_until("$page is there", sub { !$browser->has('.loading') });
                $browser->wait_has('.uplot canvas, .spark', 30) if $page =~ /^(?:overview|targets)$/;
                $browser->picture(sprintf '%s/%s-%d-%s.png', $all, $page =~ tr{/}{-}r, $width,
                                  $dark ? 'dark' : 'light');
            }
        }
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

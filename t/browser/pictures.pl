#!/usr/bin/perl

# pictures.pl [<seconds>]
#
# Makes the pictures of the console that README.md and docs/howto/console.md
# show: a pair of instances gets some traffic for so many seconds (180), then
# its pages are drawn, light and dark.  pngquant makes them small.
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

use constant { WIDTH => 1200, HEIGHT => 780, MOST => 80_000 };

my $seconds = shift // 180;
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

picture($browser, '#/overview', qr/Leader/, 'console-light.png');

is(fetch($leader, 'POST', '/console/api/v1/targets/mail.receipts/pause',
         '{"reason":"the mail server is being moved"}',
         headers => ['Origin: http://test'])->{status}, 200, 'a target is paused');

$browser->media(dark => 1);
picture($browser, '#/targets', qr/paused.*moved/s, 'console-dark.png');

kill 'KILL', $child;
waitpid $child, 0;

finish($run, $browser);

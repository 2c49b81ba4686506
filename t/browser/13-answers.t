# What the first screen says when a gateway answers and is of no use (G22): HTTP
# 500, HTTP 401 because credentials are wrong, and an answer that does not come;
# and when the receiver of a webhook is down.  Within ten seconds the overview of an
# instance that does not lead says what is wrong, and why.  SUBMISSION_PICTURES names
# a directory for pictures of it.
#
# Goes red when: one of these is not on the overview, or later than that, or
# without the gateway's status; an attempt that waits for its answer is noticed only
# when its time-out has passed.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(no_store browser);

use File::Temp qw(tempdir);
use MIME::Base64 qw(encode_base64);
use Test::More;

use SubmissionCluster;
use SubmissionConsole;

binmode $_, ':utf8' for map { Test::More->builder->$_ } qw(output failure_output);

my $dir = tempdir(CLEANUP => 1);

open(my $file, '>', "$dir/secret") or die "$dir/secret: $!";
print $file 'whsec_' . encode_base64('k' x 24, '') . "\n";
close $file;
chmod 0600, "$dir/secret";

my $nobody = SubmissionCluster::free_port();
my %retry = (policy => 'deadline 1h', retry => '500ms');

my ($run, $leader, $follower) = pair(
    elsewhere => qr/^ /,
    targets => {
        'sms.broken' => { %retry, path => '/broken', more => 'notify ops;' },
        'http.locked' => { %retry, type => 'http', path => '/locked' },
        'sms.hung' => { %retry, path => '/hung' },
    },
    manager => <<"END");
        webhook ops {
            url          http://127.0.0.1:$nobody/ops;
            secret_file  $dir/secret;
            events       accepted;
            policy       max_attempts 1000;
            retry_delay  500ms;
        }
END

my $gateway = $run->gateway;
my $browser = browser($run);


# the webhook counts as ill from the first message on, so nothing notifies yet

$run->post(map { my $n = $_; map { ["$_-$n", $_] } qw(http.locked sms.hung) } 1 .. 30);
$run->wait_terminal('', 60);
visit($browser, $follower, '#/overview', qr/\bhealthy\b/);


sub ill {
    my ($name, $target, $like) = @_;

    shows($browser, $name, qq(.ill li[data-key="$target"]), $like);
    fit($browser, $name);
}


# the receiver of a webhook is down

$run->post(['told', 'sms.broken']);
ill('webhook down', 'webhook ops',
    qr/down\s.*The last \d+ attempts got no usable answer\.\s+Last error .*: connection refused by 127\.0\.0\.1:$nobody/s);


# a gateway is broken

$gateway->behave('/broken' => 'answer 500');
$run->post(map { ["broken-$_", 'sms.broken'] } 1 .. 5);
ill('HTTP 500', 'sms.broken', qr/down\s.*The last \d+ attempts got no usable answer\.\s+Last error .*: HTTP 500/s);


# one does not know the credentials any more

$gateway->behave('/locked' => 'answer 401');
$run->post(map { ["locked-$_", 'http.locked'] } 1 .. 15);
ill('HTTP 401', 'http.locked', qr/degraded\s.*The last \d+ attempts were all rejected\.\s+.*(?:http_401|HTTP 401)/s);


# one takes requests, and does not answer

$gateway->behave('/hung' => 'hang');
$run->post(map { ["hung-$_", 'sms.hung'] } 31 .. 35);
ill('no answer', 'sms.hung', qr/degraded\s.*An attempt has been waiting for its answer for [\d.]+ s/s);

finish($run, $browser);

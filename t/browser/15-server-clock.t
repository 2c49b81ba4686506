# The clock of the server's host is set while nginx runs: the overview says by how
# much, on every look, and a page that is opened then blames the server, and not
# the computer that it is looked at from.  When the clock is right again, nothing
# is said.
#
# Goes red when: hostMovedMs is not what the clock was set by, or stays; a reload
# forgets it, or takes the wrong clock for the right one; the console does not
# read it.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(browser faketime no_checker);

use JSON::PP;
use Test::More;

use SubmissionCluster;
use SubmissionConsole;

use constant { STEP => 90, NEAR => 5, SOON => 30 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '20s', renew => '1s',
    instance => { zone => '8m', server => 'location /console/ { submission_console main; }',
                  main => 'worker_shutdown_timeout 3s; env LD_PRELOAD; '
                          . 'env FAKETIME_TIMESTAMP_FILE; env FAKETIME_NO_CACHE; '
                          . 'env FAKETIME_DONT_FAKE_MONOTONIC;' });
my ($instance) = $run->instances;
my $clock = $run->cluster->{dir} . '/clock';

sub set {
    my ($by) = @_;

    open my $out, '>', "$clock.new" or die "$clock: $!";
    printf $out "%+d\n", $by;
    close $out or die "$clock: $!";
    rename "$clock.new", $clock or die "$clock: $!";
}

set(0);

{
    local $ENV{LD_PRELOAD} = SubmissionNeeds::faketime();
    local $ENV{FAKETIME_TIMESTAMP_FILE} = $clock;
    local $ENV{FAKETIME_NO_CACHE} = 1;
    local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;

    $run->start;
}

sub moved {
    return decode_json(fetch($instance, 'GET', '/v1/overview')->{body})
           ->{clocks}{hostMovedMs} / 1000;
}

sub moves {
    my ($by, $name) = @_;

    wait_for($name, sub { abs(moved() - $by) < NEAR }, SOON);
    pass($name);
}

my $browser = browser($run);

moves(0, 'at first nothing was set');
visit($browser, $instance, '#/overview', qr/Instances/);
is($browser->text('#banners') =~ /clock/, '', 'and no clock is blamed');


# ahead, and behind

for my $by (STEP, -STEP) {
    my $name = $by > 0 ? 'ahead' : 'behind';

    set($by);
    moves($by, "set $name, and told so");

    # a page that has never seen it right

    visit($browser, $instance, '#/overview', qr/Instances/);
    $browser->wait_text('#banners', qr/The server.s clock is wrong\. a: its clock is 1 min \d+ s $name of /);
    unlike($browser->text('#banners'), qr/This computer|Two clocks/, "$name: nobody else is blamed");
}


# a reload does not make it right

$instance->reload(wait_old => 1);
moves(-STEP, 'a reload has not set it');

set(0);
moves(0, 'it is set right');
visit($browser, $instance, '#/overview', qr/Instances/);
$browser->wait_not('#banners', qr/clock/);
pass('and nothing is said');

finish($run, $browser);

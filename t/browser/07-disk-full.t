# What the first screen says when the disk of the store is really full (G22): within
# ten seconds the overview of an instance that does not lead says that what is written
# is not kept, since when, and why; when there is room again, it says nothing of it.
# SUBMISSION_PICTURES names a directory for pictures.
#
# Goes red when: a full disk is not on the overview, or later than that; a disk that
# has room again is still called full.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(no_store browser);

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionConsole;

my $CLOCK = qr/\d\d:\d\d:\d\d/;
my $no_disk;

my ($run, $leader, $follower) = pair(
    targets => { 'sms.one' => { policy => 'deadline 1h', retry => '500ms' } },
    before => sub {
        my ($run) = @_;

        $no_disk = $run->cluster->mount_tmpfs("$run->{cluster}{dir}/store", '64m');
    });

my $browser = browser($run);

SKIP: {
    skip("no small disk: $no_disk", 1) if $no_disk;

    $_->expect_log(qr/database or disk is full|No space left/) for $run->instances;

    visit($browser, $follower, '#/overview', qr/Leader\s+\w+ since $CLOCK/);

    my $full = time;

    $run->store->fill;
    shows($browser, 'disk full', '#banners',
          qr/The store \(sqlite\) fails since $CLOCK \(\d.* ago\)\. .*full.*does not keep what is written: new intents get 503/s,
          $full);
    fit($browser, 'disk full');

    $run->store->make_room;
    $browser->wait_not('#banners', qr/store/, 10);
}

finish($run, $browser);

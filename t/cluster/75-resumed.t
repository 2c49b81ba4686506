# A host that was suspended for an hour, long ago, and has been up since: its
# clocks differ by that hour for good (by t/tools/suspend.c).  Whoever leads there
# renews its lease as anywhere else, and goes on in its epoch.
#
# Goes red when: the deadline that a renewal gives goes by another clock than the
# one that it is compared with.  Each renewal is then the end of its epoch.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

plan(skip_all => 'not under a checker') if $ENV{SUBMISSION_CHECK};

my $run = SubmissionCluster::Executor->new(
    lease => '6s', renew => '500ms',
    instance => { main => 'env LD_PRELOAD; env SUBMISSION_SUSPENDED;' });
my $lease = $run->leadership;
my ($a) = $run->instances;
my $shim = "$run->{cluster}{dir}/suspend.so";
my $file = "$run->{cluster}{dir}/suspended";

is(system('cc', '-shared', '-fPIC', '-o', $shim,
          "$FindBin::Bin/../tools/suspend.c"), 0, 'the shim is built');

open(my $out, '>', $file) or die "$file: $!";
print $out pack('q', 3600);
close $out or die "$file: $!";

{
    local $ENV{LD_PRELOAD} = $shim;
    local $ENV{SUBMISSION_SUSPENDED} = $file;
    $run->start;
}

my $row = $lease->row;
my $renewals = 0;

wait_for('it has renewed its lease three times', sub {
    my $now = $lease->row;

    $renewals++ if $now->{expires_at} > $row->{expires_at};
    $row = $now;

    $renewals >= 3;
});

$run->post('after');
$run->wait_terminal('after');

is($row->{epoch}, 1, 'it is the first epoch still');
is_deeply([grep { $_->{kind} eq 'lost' } $lease->events($a)], [],
          'the lead was not lost');
is(($run->gateway->sends_of('after'))[0]{epoch}, 1, 'and it sends');

$run->done;

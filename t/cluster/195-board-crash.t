# The executor worker is killed in the middle of writing to the board, which is
# what the zone has of the leader's numbers: after some of a block, of a name, of
# the lease's row (by t/tools/killed.c).  The master unlocks the mutex, and
# whoever looks meanwhile finds an empty board or a whole one.
#
# Goes red when: the board is not marked before it is written, or not emptied by
# whoever finds the mark: pointers that are half written are followed then, and
# each worker that is asked dies of signal 11, as do those that come after it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionNeeds qw(no_store no_checker);
use SubmissionCluster;

# in the order of the calls: the lease's row or an instance, the block's targets,
# each of their strings

use constant { CALLS => 9, TARGETS => 5 };

my $cluster = SubmissionCluster->new;
my $shim = "$cluster->{dir}/killed.so";
my $order = "$cluster->{dir}/killed/order";

# a worker of another user removes it

mkdir "$cluster->{dir}/killed" or die "killed: $!";
chmod 0777, "$cluster->{dir}/killed" or die "killed: $!";

is(system('cc', '-O1', '-fno-builtin', '-shared', '-fPIC', '-o', $shim,
          "$FindBin::Bin/../tools/killed.c"), 0, 'the shim is built');

my $lease = SubmissionCluster::Lease->new($cluster);

my ($instance) = $lease->instances(['a'],
    main => 'env LD_PRELOAD; env SUBMISSION_KILLED;',
    manager => join "\n", map {
        "target board.$_ { gateway_type http; gateway_url http://127.0.0.1:1/; "
        . 'policy deadline 9h; retry_delay 1h; }'
    } 1 .. TARGETS);

{
    local $ENV{LD_PRELOAD} = $shim;
    local $ENV{SUBMISSION_KILLED} = $order;
    $cluster->start;
}

$lease->wait_leader;

post_intent($instance, intent_id($_), target => "board.$_") for 1 .. TARGETS;


sub view {
    my ($path) = @_;

    my $result = fetch($instance, 'GET', "/v1/$path");

    die "$path: no answer\n" if ($result->{status} // 0) != 200;

    return decode_json($result->{body});
}


# of an epoch: the numbers that it has told

sub told {
    my ($epoch) = @_;

    wait_for("numbers of epoch $epoch", sub {
        my $overview = eval { view('overview') } // return;

        ($overview->{leader}{epoch} // 0) >= $epoch
            && defined $overview->{statsAgeSeconds}
            && $overview->{totals}{waiting} + $overview->{totals}{due} >= TARGETS;
    });
}


told(1);

for my $n (0 .. CALLS - 1) {
    my $epoch = $lease->row->{epoch};

    $instance->expect_log(qr/worker process \d+ exited on signal 9/);
    $instance->expect_log(qr/shared memory zone \S+ was locked by \d+/);

    open(my $file, '>', "$order.new") or die "$order.new: $!";
    print $file "$n\n";
    close $file or die "$order.new: $!";
    rename("$order.new", $order) or die "$order: $!";

    my $failed = 0;

    wait_for("$n: a worker is killed", sub {
        eval { view($_); 1 } or $failed++ for qw(overview targets stats);
        !-e $order;
    });

    # all who look at once, and those who come after it

    for (1 .. 20) {
        eval { view($_); 1 } or $failed++
            for 'overview', 'targets', 'stats', "stats?target=board.2";
    }

    $lease->wait_leader($epoch);
    told($epoch + 1);

    is($instance->log_count(qr/exited on signal (?!9\b)/), 0,
       "$n: no other worker died") or last;
}

is_deeply([map { $_->{target} }
           grep { $_->{waiting} + $_->{due} } @{view('targets')->{targets}}],
          [map { "board.$_" } 1 .. TARGETS], 'all targets are told of');

$cluster->done;

# contrib/roll/roll.sh: one instance after the other, the leader last.
#
# Goes red when: the leader is not the last one, wherever it stands among the
# arguments; the next instance is begun with before the one before is ready; it
# goes on after a command that failed, or begins although an instance is not
# ready; leadership changes more than once.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $roll = "$FindBin::Bin/../../contrib/roll/roll.sh";

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my @instances = $lease->instances(['a' .. 'c'], manager =>
    'lease_duration 60s; renew_interval 20s; acquire_interval 30s;');

my $dir = $cluster->{dir};

$cluster->start;

my $leader = $lease->wait_leader;
my @others = grep { $_ != $leader } @instances;
my %by_url = map { ("http://127.0.0.1:$_->{port}" => $_) } @instances;

sub url { return "http://127.0.0.1:$_[0]{port}" }

sub names { return join ' ', map { $by_url{$_}{name} } @_ }

# the urls in an order, and what it said; the test itself does the work, when a
# command has asked for it by a line of the file "asked"

sub roll {
    my ($command, $done, @urls) = @_;

    unlink "$dir/asked", glob "$dir/done.*";
    open my $none, '>', "$dir/asked" or die "asked: $!\n";

    my $pid = open(my $out, '-|') // die "fork: $!\n";

    if (!$pid) {
        open STDERR, '>&', \*STDOUT or die "stderr: $!\n";
        exec $roll, '-t', 60, $command, @urls;
        die "$roll: $!\n";
    }

    my @asked;

    while ($done && @asked < @urls) {
        wait_for('the next one', sub {
            open my $in, '<', "$dir/asked" or die "asked: $!\n";
            chomp(my @lines = <$in>);
            push @asked, $lines[@asked] if @lines > @asked;
            @asked && !-e "$dir/done." . @asked;
        });

        $done->($by_url{$asked[-1]}, \@asked);

        open my $mark, '>', "$dir/done." . @asked or die "done: $!\n";
    }

    my $said = join '', <$out>;

    close $out;

    return ($? >> 8, $said, @asked);
}

my $ask = "echo {url} >> $dir/asked; n=\$(wc -l < $dir/asked); "
          . "until [ -e $dir/done.\$n ]; do sleep 0.1; done";


# the leader stands first, and comes last

{
    my $epoch = $lease->row->{epoch};
    my $unready = 0;

    my ($status, $said, @asked) = roll($ask, sub {
        my ($instance, $asked) = @_;

        # those before are ready again

        for my $url (@$asked[0 .. $#$asked - 1]) {
            my $result = SubmissionCluster::fetch($by_url{$url}, 'GET', '/readyz');
            $unready++ if ($result->{status} // 0) != 200;
        }

        $instance->quit;
        $instance->start;
    }, map { url($_) } $leader, @others);

    is($status, 0, 'it has done all') or diag($said);
    is(names(@asked), names(map { url($_) } @others, $leader),
       'the others in their order, and then the leader');
    is($unready, 0, 'each was ready before the next one was begun with');
    like($said, qr/^roll: \Q@{[url($leader)]}\E leads, and comes last$/m,
         'it says who leads');
    is($lease->row->{epoch}, $epoch + 1, 'leadership has changed once');
}


# a command that fails

{
    my ($status, $said) = roll('false', undef, map { url($_) } @instances);
    my $first = ($lease->leaders)[0] == $instances[0] ? $instances[1]
                                                      : $instances[0];

    is($status, 1, 'a command fails');
    like($said, qr/^roll: the command failed for \Q@{[url($first)]}\E$/m,
         'it says for whom');
    like($said, qr/^roll: not done: \Q@{[join ' ', map { url($_) } @instances]}\E$/m,
         'and that all are left');
}


# an instance that is not ready

{
    $others[0]->quit;

    my ($status, $said) = roll('touch ' . "$dir/touched", undef,
                               map { url($_) } @instances);

    is($status, 1, 'an instance is down');
    like($said, qr/^roll: \Q@{[url($others[0])]}\E is not ready: nothing was done$/m,
         'it says which');
    ok(!-e "$dir/touched", 'and has not begun');

    $others[0]->start;
}

$lease->done;

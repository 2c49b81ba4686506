# A reload whose configuration cannot be put into effect, because a directory or
# a lock file cannot be made, is undone: nginx says why, and the master and its
# workers go on with what they had.  Its next good reload is as ever.
#
# Goes red when: what may fail is done where nginx cannot go back any more, and
# its failure ends the master, whose workers are left alone.  Also when the
# length of a path is taken for granted: "nginx -t" then writes past an array,
# and dies of a signal instead of naming the path.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;


my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my ($a) = $lease->instances(['a']);

$a->expect_log(qr/\[emerg\]/);
$a->start;

my $leader = $lease->wait_leader;
my $master = $a->master;
my @workers = sort $a->worker_pids;


# another manager, with its store at this path

sub other {
    my ($path) = @_;

    return <<"END";
    submission_manager other {
        zone         1m;
        thread_pool  submission;
        store        sqlite "$path";
        executor     off;

        target http.other {
            gateway_type  http;
            gateway_url   http://127.0.0.1:9;
            policy        one_shot;
        }
    }
END
}


sub emergencies { return $a->log_lines(qr/\[emerg\]/) }


# what "nginx -t" says, and how it ended

sub tried {
    $a->configure;

    my $pid = open(my $pipe, '-|') // die "fork(): $!";

    if ($pid == 0) {
        open(STDERR, '>&', \*STDOUT);
        exec($a->command, '-t') or POSIX::_exit(127);
    }

    my $said = join '', <$pipe>;

    close $pipe;

    return ($?, $said);
}


my $missing = "$cluster->{dir}/store/missing/other/submission.db";

# a lock file that is a directory

mkdir "$a->{dir}/logs/nginx.pid.submission_other" or die "mkdir: $!";

my @bad = (
    ['a directory cannot be made', $missing,
     qr/mkdir\(\) "\S+missing\/other" failed \(2: No such file/],
    ['a lock file cannot be opened', "$cluster->{dir}/store/other.db",
     qr/open\(\) "\S+\.submission_other" failed \(21: Is a directory/],
);

for my $bad (@bad) {
    my ($name, $path, $why) = @$bad;
    my $n = emergencies();

    $a->configure(http => other($path));
    $a->signal('HUP');

    wait_for('the reload has failed', sub { emergencies() > $n });

    like((emergencies())[-1], $why, "$name: the log says why");
    ok($a->running, "$name: the master lives");
    is_deeply([sort $a->worker_pids], \@workers, "$name: its workers stay");
    is($lease->readyz($a)->{mode}, 'leader', "$name: and one of them leads");
    is(post_intent($a, intent_id('bad'))->{status}, 200,
       "$name: intents are taken");
}

rmdir "$a->{dir}/logs/nginx.pid.submission_other" or die "rmdir: $!";

$a->{http} = other("$cluster->{dir}/store/made/other.db");
$a->reload(wait_old => 1);

is($a->master, $master, 'a good one: by the same master');
ok(-d "$cluster->{dir}/store/made", 'a good one: its directory is made');
is($lease->wait_leader->{name}, 'a', 'a good one: the instance leads');


# longer than any path may be, with the prefix; a word of nginx.conf is shorter

$a->{http} = other(join '/', ('x' x 200) x 20, 'x' x 40, 'o.db');

my ($status, $said) = tried();

is($status, 1 << 8, 'a path that is too long: nginx -t fails, in peace');
like($said, qr/mkdir\(\) ".*\(36: File name too long\)/,
     'a path that is too long: and says why');

$a->{http} = '';
$a->configure;

$lease->done;

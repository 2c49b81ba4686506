# The lock file of the executor worker.
#
# A cleaner removes it, and nginx is reloaded while attempts are at the gateway:
# the worker that retires is still the only one, the new ones wait for it, and
# what the gateway says is recorded.
#
# Another user has left one behind, which cannot be opened: the log names the
# file and its owner, and the instance starts and leads; after a reload, too,
# and after its executor worker was killed.
#
# Goes red when: the file is found by its name at reload, so that the new
# workers elect one of their own beside the old one; a file that cannot be
# opened ends the start.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant HELD => 10;


sub lock_file { return "$_[0]{dir}/logs/nginx.pid.submission_main" }


# removed

{
    my $run = SubmissionCluster::Executor->new(
        lease => '30s', renew => '200ms', instance => { main => '' });
    my ($gateway, $lease) = ($run->gateway, $run->leadership);
    my ($a) = $run->instances;

    $run->start;

    for my $round (1, 2) {
        my $epoch = $lease->row->{epoch};

        $gateway->behave('/' => 'hold');
        $run->post($run->ids("removed$round", HELD));
        $gateway->wait_for_held(HELD);
        $gateway->behave('/' => undef);

        unlink lock_file($a) or die "unlink: $!" if $round == 1;

        my $last = $lease->last_id;

        $a->reload;

        # each new worker has looked for the lock several times by then

        wait_for('the lease is renewed, again and again', sub {
            5 <= grep { $_->{kind} eq 'renew' } $lease->history($last);
        });

        is_deeply([$lease->grants($last)], [],
                  "round $round: nobody takes over from the old worker");
        is($run->store->in_flight, HELD,
           "round $round: what is at the gateway is not given up");

        $gateway->release;

        $lease->wait_leader($epoch);
        $run->wait_terminal("removed$round-");

        is_deeply([map { $_->{status} } $run->store->attempts('removed')],
                  [('accepted') x (HELD * $round)],
                  "round $round: the gateway's answers are recorded");
        is($lease->row->{epoch}, $epoch + 1,
           "round $round: a new worker has taken over");
    }

    ok(!-e lock_file($a), 'nobody has made another file');

    $run->check('removed');
    $lease->quit;
    $lease->check;
    $run->cluster->finish;
}


# of another user: for one who is not root

SKIP: {
    my $cluster = SubmissionCluster->new;

    skip('needs root, to be somebody else', 6)
        if $> != 0 || !$cluster->unprivileged || $ENV{SUBMISSION_CHECK};

    my $lease = SubmissionCluster::Lease->new($cluster);
    my ($b) = $lease->instances(['b'], user => '', wrapper =>
        ['setpriv', '--reuid=nobody', '--regid=nogroup', '--clear-groups']);
    my $nobody = getpwnam('nobody') // die "nobody is not there\n";

    $b->configure;

    chown($nobody, -1, glob("$cluster->{dir}/store $cluster->{dir}/store/*"),
          map { "$b->{dir}/$_" } '', qw(conf logs tmp)) or die "chown: $!";

    open(my $file, '>', lock_file($b)) or die "lock file: $!";
    close $file;
    chmod(0600, lock_file($b)) or die "chmod: $!";

    $b->start;

    is($lease->wait_leader->{name}, 'b', 'another user\'s: it leads');

    my @warned = $b->log_lines(qr/the lock file "\S+" belongs to another/);

    is(scalar @warned, 1, 'another user\'s: the log tells of it, once');
    like($warned[0],
         qr/\[warn\].*submission_main".*\(uid 0\).*\(13: Permission denied\)/,
         'another user\'s: whose, and why');

    my $epoch = $lease->row->{epoch};

    $b->reload(wait_old => 1);
    is($lease->wait_leader($epoch)->{name}, 'b', 'after a reload: it leads');

    $epoch = $lease->row->{epoch};

    my $pid = (grep { $_->{kind} eq 'acquired' } $lease->events($b))[-1]{pid};

    $b->expect_log(qr/exited on signal 9/);
    $b->signal('KILL', $pid);
    $lease->{killed}{$pid} = 1;
    is($lease->wait_leader($epoch)->{name}, 'b',
       'after its worker was killed: it leads');
    is($lease->row->{epoch}, $epoch + 1,
       'after its worker was killed: by a takeover');

    $cluster->finish;
}

done_testing();

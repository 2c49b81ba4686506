# "nginx -s quit" of the leader releases the lease, and another instance leads
# within a second.  Its row of the live instances is gone at once.  With
# "release_on_exit off" the lease stays until it expires, and only then another
# leads.
#
# Goes red when: nothing is released at quit, or it is in spite of
# release_on_exit off; the release is not waited for by the worker that made it,
# and is lost; a follower waits for the expiry that it knows, or for
# acquire_interval, and does not look at the row meanwhile; the instance stays in
# the list.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant ROUNDS => 4;


# released, by a lease that is far longer than the test: the default times

{
    my $cluster = SubmissionCluster->new;
    my $lease = SubmissionCluster::Lease->new($cluster);
    my @instances = $lease->instances(['a' .. 'c'], manager =>
        'lease_duration 60s; renew_interval 20s; acquire_interval 30s;');

    $cluster->start;
    $lease->record;

    for my $round (1 .. ROUNDS) {
        my $leader = $lease->wait_leader;
        my @others = grep { $_ != $leader } @instances;
        my $epoch = $lease->row->{epoch};
        my $last = $lease->last_id;

        wait_for('all are known', sub { $lease->live($leader) == 3 });

        my $seconds = $leader->quit;

        is_deeply([$lease->live($others[0])], [sort map { $_->{name} } @others],
                  "round $round: it is not in the list any more");

        my $next = $lease->wait_leader($epoch, @others);
        my @history = grep { $_->{kind} =~ /acquire|takeover|release/ }
                      $lease->history($last);

        is($history[0]{kind}, 'release', "round $round: it was released");
        is($history[0]{holder}, $leader->{name}, "round $round: by its holder");
        is($history[0]{epoch}, $epoch, "round $round: in its epoch");
        cmp_ok($history[0]{expires_at}, '<=', $history[0]{at},
               "round $round: and has expired by that");

        my ($grant) = grep { $_->{kind} eq 'acquire' } @history;

        is($grant->{holder}, $next->{name}, "round $round: another got it");
        is($grant->{epoch}, $epoch + 1, "round $round: in the next epoch");
        cmp_ok($grant->{acquired_at} - $history[0]{expires_at}, '<',
               5_000_000 * slow(), "round $round: soon");

        my ($lost) = grep { $_->{kind} eq 'lost' }
                     reverse $lease->events($leader);

        is($lost->{reason}, 'exit', "round $round: the log says why");

        cmp_ok($seconds, '<', 10 * slow(), "round $round: quit was quick");

        note(sprintf '%.0f ms from release to acquire, quit took %.0f ms',
             ($grant->{acquired_at} - $history[0]{expires_at}) / 1000,
             1000 * $seconds);

        $leader->start;
    }

    # followers have nothing to release

    my $leader = $lease->wait_leader;
    my $last = $lease->last_id;
    my @others = grep { $_ != $leader } @instances;

    $_->quit for @others;

    is_deeply([grep { $_->{kind} eq 'release' } $lease->history($last)], [],
              'a follower that quits leaves the lease alone');
    is_deeply([$lease->live($leader)], [$leader->{name}],
              'and is out of the list');

    $leader->quit;
    $lease->check;
    $cluster->finish;
}


# not released: a short lease, which is waited for

{
    my $cluster = SubmissionCluster->new;
    my $lease = SubmissionCluster::Lease->new($cluster);
    my @instances = $lease->instances(['d' .. 'f'], manager =>
        "$SubmissionCluster::Lease::short release_on_exit off;");

    $cluster->start;
    $lease->record;

    my $leader = $lease->wait_leader;
    my @others = grep { $_ != $leader } @instances;

    wait_for('all are known', sub { $lease->live($leader) == 3 });

    my $last = $lease->last_id;
    my $epoch = $lease->row->{epoch};

    $leader->quit;

    is_deeply([$lease->live($others[0])], [sort map { $_->{name} } @others],
              'off: it is not in the list any more');

    my $next = $lease->wait_leader($epoch, @others);
    my @history = grep { $_->{kind} =~ /acquire|takeover|release/ }
                  $lease->history($last);

    is_deeply([map { "$_->{kind} $_->{holder}" } @history],
              ["acquire $next->{name}"], 'off: it was not released');

    my $late = $history[0]{acquired_at} - $history[0]{was}{expires_at};

    is($history[0]{was}{expires_at} - $history[0]{was}{renewed_at}, 2_000_000,
       'off: the whole lease was left');
    cmp_ok($late, '>=', 0, 'off: another leads after it has expired');
    cmp_ok($late, '<', 1_500_000 * slow(), 'off: and soon after');

    $lease->done;
}

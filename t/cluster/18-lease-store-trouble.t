# The store fails while an instance leads: another process keeps all from
# writing for longer than a call may take, and for longer than the lease; it
# cannot be reached; and if it is a file, that is read-only, or gone and comes
# back as it was.  Leadership
# ends with the call that fails, or at the lease's deadline if none answers
# (G8); /readyz says so; nobody leads meanwhile.  Within two seconds of the
# recovery one leads again, in a new epoch, although the old lease would last
# for much longer.
#
# Goes red when: a failed renewal is tried again instead of being a loss; a call
# that does not answer is waited for past the deadline; an instance does not
# give up its own row, and waits for its expiry; it goes on in an epoch that it
# has given up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { RENEW => 0.3, SOON => 2 };


sub cluster {
    my ($names, $lease_duration, $timeout) = @_;

    my $cluster = SubmissionCluster->new;
    my $lease = SubmissionCluster::Lease->new($cluster);

    $lease->instances($names, store_timeout => $timeout,
                      manager => "lease_duration $lease_duration; "
                                 . 'renew_interval 300ms; '
                                 . 'acquire_interval 500ms;');

    $cluster->start;
    $lease->record;

    return $lease;
}


sub trouble {
    my ($lease, $name, %do) = @_;

    my @instances = $lease->{cluster}->instances;
    my $leader = $lease->wait_leader;

    wait_for('all are ready', sub {
        !grep { $lease->readyz($_)->{status} != 200 } @instances;
    });

    my @watches = map { $lease->watch($_) } @instances;
    my ($watch) = grep { $_->{instance} == $leader } @watches;
    my $epoch = $lease->row->{epoch};
    my $lost = grep { $_->{kind} eq 'lost' } $lease->events($leader);

    wait_for('it says that it leads', sub { $watch->leads($epoch) });

    my $begun = time;

    $do{begin}->();

    my $event = wait_for('leadership is lost', sub {
        my @lost = grep { $_->{kind} eq 'lost' } $lease->events($leader);
        $lost[$lost];
    });

    is($event->{lease_epoch}, $epoch, "$name: the leader loses its epoch");
    is($event->{reason}, $do{reason}, "$name: the log says why");
    like($event->{sql_error} // '', $do{sql_error},
         "$name: and what the store said");

    wait_for('it says that it follows', sub {
        @{$watch->{answers}} && $watch->{answers}[-1]{mode} eq 'follower';
    });

    my ($last) = (sort { $a <=> $b } map { $_->{sent} }
                  $watch->leads($epoch))[-1];

    # a renewal begins, and the call fails; machines are busy

    cmp_ok($last - $begun, '<', $do{within} + 5 * slow(),
           "$name: it was at once");

    # long enough for each to try in vain

    my $since = time;

    wait_for('/readyz says that the store is down', sub {
        !grep { !@{$_->{answers}} || $_->{answers}[-1]{status} != 503 }
            @watches;
    }) if $do{unready};

    wait_for('all have tried', sub { time - $since > 1.2 }) if !$do{hurry};

    is_deeply([grep { $_->{sent} > $last } map { $_->leads } @watches], [],
              "$name: nobody leads meanwhile");

    $do{meanwhile}->($leader, $epoch) if $do{meanwhile};

    my $ended = time;

    $do{end}->();

    my $next = $lease->wait_leader($epoch);
    my $seconds = time - $ended;

    cmp_ok($seconds, '<', SOON * slow(),
           "$name: one leads soon after it is over");

    # one grant, or more: others may have been about to acquire

    my ($grant) = grep { $_->{epoch} == $epoch + 1 } $lease->grants;

    ok($grant, "$name: in a new epoch");
    cmp_ok($grant->{acquired_at} / 1e6, '>', $last,
           "$name: which began when the old leader had stopped");

    $_->end for @watches;

    is_deeply([$watch->leads($epoch)],
              [grep { $_->{sent} <= $last } $watch->leads($epoch)],
              "$name: nobody leads in the old one");

    note(sprintf '%s: lost after %.0f ms, taken again after %.0f ms', $name,
         1000 * ($last - $begun), 1000 * $seconds);
}


# a lease that no test waits for

my $lease = cluster(['a' .. 'c'], '60s', '300ms');
my $store = $lease->{store};

my $lock;

# what a call of a server may take is a whole second
my $busy = $store->kind eq 'sqlite' ? 0.3 : 1;

trouble($lease, 'locked', unready => 1,
        begin => sub { $lock = $store->lock },
        end => sub { $store->unlock($lock) },
        reason => 'store_error', sql_error => $store->locked_out,
        within => RENEW + $busy);


trouble($lease, 'away', unready => 1,
        begin => sub { $store->away }, end => sub { $store->back },
        reason => 'store_error', sql_error => qr/./, within => RENEW);


SKIP: {
    skip('the store is not a file', 1) if $store->kind ne 'sqlite';
    skip('workers are root, who may write anyway', 1)
        if !$lease->{cluster}->unprivileged;

    my $file = $store->file;

    trouble($lease, 'read-only', unready => 1,
            begin => sub { chmod(0444, $file) or die "chmod: $!" },
            end => sub { chmod(0644, $file) or die "chmod: $!" },
            reason => 'store_error', sql_error => qr/./, within => RENEW);
}


# The file alone: whoever has it open could write on.  What it left behind, the
# write-ahead log, belongs to it.

SKIP: {
    skip('the store is not a file', 1) if $store->kind ne 'sqlite';

    my $file = $store->file;
    my @parts = map { "$file$_" } '', '-wal', '-shm';

    trouble($lease, 'removed', unready => 1,
            begin => sub {
                for (@parts) {
                    rename($_, "$_.away") or /-(?:wal|shm)$/ or die "rename: $!";
                }
            },
            meanwhile => sub { ok(!-e $file, 'removed: nobody makes a new one') },
            end => sub {
                for (reverse @parts) {
                    rename("$_.away", $_) or /-(?:wal|shm)$/ or die "rename: $!";
                }
            },
            reason => 'store_error', sql_error => qr/./, within => RENEW);
}

ok($store->sound, 'the store is sound');

$_->quit for $lease->{cluster}->instances;
$lease->check;
$lease->{cluster}->finish;


# Calls that do not answer: the deadline counts, which is before the expiry in
# the store.

{
    my $hung = cluster(['d' .. 'f'], '2s', '60s');
    my $expires;

    trouble($hung, 'hung',
            begin => sub { $lock = $hung->{store}->lock },
            end => sub { $hung->{store}->unlock($lock) },
            reason => 'deadline', sql_error => qr/^$/, within => 2,
            meanwhile => sub {
                my ($leader, $epoch) = @_;

                is_deeply([grep { $_->{lease_epoch} == $epoch
                                  && $_->{kind} eq 'renew_failed' }
                           $hung->events($leader)],
                          [], 'hung: no call has answered');

                $expires = $hung->row->{expires_at};
            });

    my ($lost) = grep { $_->{lease_epoch} }
                 grep { $_->{kind} eq 'lost' }
                 map { $hung->events($_) } $hung->{cluster}->instances;

    is_deeply([grep { $_->{sent} >= $expires / 1e6
                      && $_->{lease_epoch} == $lost->{lease_epoch} }
               map { $_->leads } @{$hung->{watches}}],
              [], 'hung: it ended before the expiry in the store');

    # The answer comes too late for the deadline, but the renewal was in time
    # for the store: the old epoch is over all the same.

    my $last = $hung->last_id;

    trouble($hung, 'late', hurry => 1,
            begin => sub { $lock = $hung->{store}->lock },
            end => sub { $hung->{store}->unlock($lock) },
            reason => 'deadline', sql_error => qr/^$/, within => 2);

    note('late: ', join ', ', map { "$_->{kind} $_->{epoch}" }
                              $hung->history($last));

    $hung->done;
}

# The leader's executor worker is stopped for longer than its lease, then its
# whole process tree.  Another leads meanwhile.  No answer to a request that was
# made after the expiry says that the old one leads in its old epoch, neither
# from its other worker while it is stopped, nor from any when it goes on.  What
# it could still write is refused by the fence (G2), and it becomes a follower
# that can lead again.
#
# The last part stops time between the grant and the first write of a leader: a
# trigger makes each lease run out in the transaction that grants it.  The
# fence says LEASE_LOST, and nobody leads.
#
# Goes red when: /readyz believes what was published, whatever time it is; a
# statement about the lease does not ask for the holder, for the epoch, or for
# the expiry; an old leader takes a late renewal for a grant; a leader does not
# look at the lease again before it begins.  (When deadlines count from: see 83,
# and the gate: 84.)

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my @instances = $lease->instances(['a' .. 'c']);

$cluster->start;
$lease->record;


sub pause {
    my ($name, $pids) = @_;

    my $leader = $lease->wait_leader;
    my $last = $lease->last_id;
    my $watch = $lease->watch($leader);
    my $old = $lease->row;
    my $lost = grep { $_->{kind} eq 'lost' } $lease->events($leader);

    my @pids = $pids->($leader);

    is($lease->would_change('lease_fence', $old), 1,
       "$name: the fence lets the leader in");

    wait_for('it says that it leads', sub { $watch->leads($old->{epoch}) });

    $leader->pause(@pids);

    my $next = $lease->wait_leader($old->{epoch},
                                   grep { $_ != $leader } @instances);

    my ($grant) = $lease->grants($last);

    is($grant->{epoch}, $old->{epoch} + 1, "$name: the next epoch");
    is($grant->{holder}, $next->{name}, "$name: is another's");
    is($grant->{kind}, 'acquire', "$name: which it acquired");

    my $expired = $grant->{was}{expires_at} / 1e6;

    # the fence, as the old leader would meet it if it knew of nothing

    is($lease->would_change($_, $old), 0,
       "$name: $_ is refused to the old leader")
        for qw(lease_fence lease_renew lease_takeover lease_release);
    is($lease->would_change('lease_fence', $grant), 1,
       "$name: the fence lets the new one in");

    # by its epoch alone, or by its holder alone, nobody gets in

    for my $half ({ holder => $grant->{holder}, epoch => $old->{epoch} },
                  { holder => $old->{holder}, epoch => $grant->{epoch} })
    {
        is($lease->would_change($_, $half), 0,
           "$name: $_ is refused to $half->{holder} in epoch $half->{epoch}")
            for qw(lease_fence lease_renew lease_takeover lease_release);
    }

    my $heard = @{$watch->{answers}};
    my $continued = time;

    $leader->signal('CONT', $_) for @pids;

    my $event = wait_for('it knows that it has lost the lease', sub {
        my @lost = grep { $_->{kind} eq 'lost' } $lease->events($leader);
        $lost[$lost];
    });

    is($event->{lease_epoch}, $old->{epoch}, "$name: it says what it lost");
    like($event->{reason}, qr/^(?:deadline|not_held|lease_lost)$/, "$name: and why");

    # it asks for the lease again, as a follower does, and is denied

    wait_for('it is told that another leads', sub {
        my @events = $lease->events($leader);
        $events[-1]{reason} && $events[-1]{reason} eq 'held_by_another';
    });

    wait_for('it says that it follows', sub {
        @{$watch->{answers}} >= $heard + 20
        && $watch->{answers}[-1]{mode} eq 'follower';
    });

    $watch->end;

    # what was asked before, and waited in the stopped one, counts too

    my @late = grep { $_->{sent} >= $expired || $_->{heard} >= $continued }
               $watch->leads;

    is_deeply(\@late, [],
              "$name: it never says that it leads when its lease is over");

    my @after = grep { $_->{sent} >= $expired || $_->{heard} >= $continued }
                @{$watch->{answers}};
    my %pids = map { $_->{pid} => 1 } @after;

    cmp_ok(scalar @after, '>=', 10, "$name: it was asked");

    note("$name: " . @after . ' answers after the expiry, from '
         . keys(%pids) . ' workers; lost for ' . $event->{reason});

    return ($leader, $next, $heard, $watch);
}


{
    my ($leader, undef, $heard, $watch)
        = pause('worker', sub { $lease->executor($_[0]) });

    # while one was stopped the other answered, more than once

    cmp_ok($heard, '>=', 20, 'worker: the other one answers meanwhile');
}

my ($paused) = pause('tree', sub { $_[0]->processes });


# nothing is left of it: the paused one leads when the others are gone

my $before = $lease->row;

$_->quit for grep { $_ != $paused } @instances;

is($lease->wait_leader($before->{epoch})->{name}, $paused->{name},
   'the paused one can lead again');

$paused->quit;


# a lease that is over before its first use

{
    my $brief = SubmissionCluster->new;
    my $other = SubmissionCluster::Lease->new($brief);
    my @two = $other->instances(['d', 'e']);

    $brief->start;

    my $epoch = $other->readyz($other->wait_leader)->{lease_epoch};

    $brief->store->void_grants(1);

    # the one that led gives way: from now on every grant is void

    my ($leader) = $other->leaders;

    $other->kill($leader, $other->executor($leader));

    my %refused;

    wait_for('the fence has refused both, twice', sub {
        for my $instance (@two) {
            $refused{$instance->{name}}
                = grep { ($_->{reason} // '') eq 'lease_lost' }
                  $other->events($instance);
        }

        !grep { $refused{$_->{name}} < 2 } @two;
    });

    my @refusals = grep { ($_->{reason} // '') eq 'lease_lost' }
                   map { $other->events($_) } @two;

    is_deeply([grep {
                   $_->{kind} ne 'acquire_failed'
                   || $_->{sql_error} ne "\"LEASE_LOST: $_->{holder_id} does "
                                         . "not hold epoch $_->{lease_epoch}\""
               } @refusals],
              [], 'void: the fence says LEASE_LOST, and of which epoch');
    is_deeply([grep { $_->{kind} eq 'acquired' && $_->{lease_epoch} > $epoch }
               map { $other->events($_) } @two],
              [], 'void: nobody has led');
    is_deeply([$other->leaders], [], 'void: nobody says that it leads');
    is_deeply([map { $other->readyz($_)->{store} } @two], ['up', 'up'],
              'void: the store is well, it is the lease that is lost');

    # the row as it is, but that it is over

    is($other->would_change($_, $other->row), 0,
       "void: $_ is refused when the lease is over")
        for qw(lease_fence lease_renew lease_takeover lease_release);

    $brief->store->void_grants(0);

    ok($other->wait_leader($epoch), 'void: one leads when that is over');

    $other->check;
    $brief->finish;
}

$lease->done;

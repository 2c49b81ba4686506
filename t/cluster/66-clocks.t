# Clocks that are wrong.  One instance's host is an hour ahead, another's an hour
# behind (libfaketime): that has no effect on who leads, for how long, or when
# anything is due, as no host's wall clock is ever asked.  The store's clock jumps
# ten minutes ahead, and behind, as after a failover to a server whose clock is
# wrong, with the connections lost and without: the store is the only clock, so
# that its lease may be over at once, but there is one leader, soon, and what
# is posted then is sent then.
#
# Goes red when: a lease's end is compared with time(); the queue's cursor does
# not follow a clock that goes back; a leader trusts its own idea of the time.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds qw(faketime no_checker);
use SubmissionCluster;
use SubmissionCluster::Server;

# what is due by a wrong clock is so in minutes, or in an hour

use constant { LEASE => 4, SOON => 15, PROMPT => 10 };

my $faketime = SubmissionNeeds::faketime();

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => LEASE . 's', renew => '500ms',
    acquire => '1s', instance => { main => 'env LD_PRELOAD; env FAKETIME; '
                                           . 'env FAKETIME_DONT_FAKE_MONOTONIC;'
                                           . ' worker_shutdown_timeout 3s;' });
my ($cluster, $store, $lease) = ($run->cluster, $run->store, $run->leadership);
my $proxy = $server->proxy($cluster);
my %instance = map { $_->{name} => $_ } $run->instances;
my %faketime = (a => '+1h', b => '-1h');

$server->options('login_timeout=2s');

for my $name (sort keys %instance) {
    local $ENV{LD_PRELOAD} = $faketime if $faketime{$name};
    local $ENV{FAKETIME} = $faketime{$name} // '';
    local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;

    $instance{$name}->start;
}

$lease->record;

for my $name (sort keys %faketime) {
    my $date = fetch($instance{$name}, 'GET', '/healthz')->{headers}{date};
    my $off = $faketime{$name} =~ /^\+/ ? 3600 : -3600;
    my ($hour, $minute) = $date =~ / (\d\d):(\d\d):\d\d GMT/;
    my @want = gmtime(time + $off);

    is($hour, sprintf('%02d', $want[2]), "$name is $faketime{$name} off");
}


# what is posted is sent, now, and once

sub sends {
    my ($name) = @_;

    for my $instance (values %instance) {
        my $id = intent_id("clock-$instance->{name}");
        my $begun = time;
        my $answer = post_intent($instance, $id);

        is($answer->{status}, 200, "$name: $instance->{name} takes an intent");

        wait_for('it is sent', sub { $store->pending($id) == 0 });

        cmp_ok(time - $begun, '<', PROMPT * slow(),
               sprintf '%s: it is done in %.2f s', $name, time - $begun);

        my $attempts = () = $store->attempts($id);

        is($attempts, 1, "$name: in one attempt");
    }
}


# each leads for longer than a lease, with its own idea of the time

for my $name (sort keys %instance) {
    my $leader = $lease->wait_leader;
    my $epoch = $lease->row->{epoch};

    # the others give way

    for my $turn (1 .. 20) {
        last if $leader->{name} eq $name;
        $store->give_lease('nobody', 0);
        $leader = $lease->wait_leader($lease->row->{epoch} - 1);
        wait_for('one leads', sub {
            my ($now) = $lease->leaders;
            $leader = $now if $now;
            $now;
        });
    }

    SKIP: {
        skip("$name did not come to lead", 2) if $leader->{name} ne $name;

        $epoch = $lease->row->{epoch};

        my $end = time + LEASE + 1;

        wait_for('longer than a lease', sub { time > $end });

        is($lease->row->{epoch}, $epoch, "$name leads, in one epoch");

        my $left = ($lease->row->{expires_at} - $store->now) / 1e6;

        ok($left > 0 && $left <= LEASE, "$name: for no longer than it may");
    }

    sends("$name leads");
}


sub set_clock {
    my ($offset) = @_;

    $store->{dbh}->do('CREATE OR REPLACE FUNCTION submission.submission_now() '
                      . 'RETURNS timestamptz LANGUAGE sql VOLATILE AS '
                      . "\$\$ SELECT clock_timestamp() + interval '$offset' "
                      . '$$');
}


# to a clock that is off, and back again

for my $lost (0, 1) {
    for my $offset ('10 minutes', '0', '-10 minutes', '0') {
        my $name = "clock $offset" . ($lost ? ', connections lost' : '');
        my $epoch = $lease->row->{epoch};

        $lease->wait_leader;
        set_clock($offset);
        $proxy->reset if $lost;

        my $begun = time;

        # the old one may go on, where its lease is not over

        wait_for('one leads, by the new clock', sub {
            my $row = $lease->row;
            my $left = ($row->{expires_at} - $store->now) / 1e6;
            my @leaders = $lease->leaders;

            @leaders == 1 && $left > 0 && $left <= LEASE;
        });

        cmp_ok(time - $begun, '<', SOON * slow(),
               sprintf '%s: one leads %.1f s later', $name, time - $begun);

        sends($name);
    }
}

is_deeply([$lease->wrong_events], [], 'nobody led beside another');

$lease->{recorded} = 0;
$run->done;

# /readyz does not touch the store: while the store hangs, and POSTs wait for
# it, every worker of every instance answers /readyz as fast as before.
#
# Fast is told by comparison: the 99th percentile at full speed, from several
# connections at once, before and during.  The store hangs for longer than all
# of it takes, so that a single answer that waited for it would be a time-out.
#
# Goes red when: /readyz asks the store, or waits for a lock that a store call
# holds; a store call runs on the event loop.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

# A factor and, as answers take a fraction of a millisecond, noise.  A machine
# that is busy just then is asked again: a worker that waits for the store does
# so all the time.

use constant { REQUESTS => 1500, CONNECTIONS => 6, FACTOR => 5, NOISE => 0.05,
               POSTS => 32, TRIES => 10 };

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my @instances = $lease->instances(['a' .. 'c'], store_timeout => '60s');

$cluster->start;
$lease->record;
$lease->wait_leader;


# connections that belong to each worker of an instance

sub connections {
    my ($instance) = @_;

    my (%of, @conns);

    wait_for('each worker has connections', sub {
        my $conn = SubmissionCluster::Connection->open($instance->{port});
        my $answer;

        $conn->send(SubmissionCluster::Client::request('GET', '/healthz'),
                    sub { $answer = $_[0] });
        wait_for('an answer', sub { $answer });

        if (@{$of{$answer->{pid}} // []} < CONNECTIONS / 2) {
            push @{$of{$answer->{pid}}}, $conn;
            push @conns, $conn;

        } else {
            $conn->close;
        }

        @conns == CONNECTIONS;
    });

    return @conns;
}


sub measure {
    my (@conns) = @_;

    my (@seconds, %pids, %modes, $next, $failed);
    my $left = REQUESTS;
    my $out = 0;
    my $request = SubmissionCluster::Client::request('GET', '/readyz');

    $next = sub {
        my ($conn) = @_;

        return if $left-- <= 0;

        $out++;

        $conn->send($request, sub {
            my ($result) = @_;

            $out--;

            if ($result->{lost}) {
                $failed = $result->{lost};
                return;
            }

            push @seconds, $result->{seconds};
            $pids{$result->{pid}}++;
            $modes{$1}++ if $result->{body} =~ /^(mode=\w+)/;
            $next->($conn);
        });
    };

    my $begun = time;

    $next->($_) for @conns;

    wait_for('all is answered', sub { $left <= 0 && !$out });

    @seconds = sort { $a <=> $b } @seconds;

    return {
        median => $seconds[@seconds / 2], slow => $seconds[0.99 * @seconds],
        slowest => $seconds[-1], rate => @seconds / (time - $begun),
        answers => scalar @seconds, pids => \%pids, modes => \%modes,
        failed => $failed,
    };
}


sub as_fast {
    my ($now, $before) = @_;

    return $now->{slow} < FACTOR * $before->{slow} + NOISE * slow()
           && $now->{median} < FACTOR * $before->{median} + NOISE * slow() / 5;
}


my %conns = map { $_ => [connections($_)] } @instances;
my %before;

measure(@{$conns{$_}}) for @instances;
$before{$_} = measure(@{$conns{$_}}) for @instances;

my $lock = $cluster->store->lock;
my @waiting;

for my $instance (@instances) {
    for my $i (1 .. POSTS) {
        my $conn = SubmissionCluster::Connection->open($instance->{port});

        push @waiting, $conn;
        $conn->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                        SubmissionCluster::Client::intent(
                            intent_id($instance->{name}), '1')),
                    sub { $conn->{answered} = $_[0] });
    }
}

# what leads has waited for its lease, in vain

wait_for('nobody leads', sub { !$lease->leaders });

for my $instance (@instances) {
    my $name = $instance->{name};
    my $before = $before{$instance};
    my $now;

    for (1 .. TRIES) {
        $now = measure(@{$conns{$instance}});
        last if as_fast($now, $before);
    }

    ok(!$now->{failed}, "$name: no connection was lost");
    is($now->{answers}, REQUESTS, "$name: all is answered");
    is(keys %{$now->{pids}}, 2, "$name: by both workers");
    is_deeply([keys %{$now->{modes}}], ['mode=follower'],
              "$name: which follow");
    ok(as_fast($now, $before), "$name: as fast as before");

    note(sprintf '%s: %s', $name, join ', then ', map {
        sprintf '%.1f ms (median %.1f, slowest %.1f; %d a second)',
                (map { 1000 * $_ } @$_{qw(slow median slowest)}), $_->{rate}
    } $before, $now);
}

is(scalar(grep { $_->{answered} } @waiting), 0,
   'all that time, what needs the store waited for it');

$cluster->store->unlock($lock);

wait_for('all is answered', sub { !grep { !$_->{answered} } @waiting });

is_deeply([grep { ($_->{answered}{status} // 0) != 200 } @waiting], [],
          'and was done after that');

$_->close for @waiting, map { @$_ } values %conns;

ok($lease->wait_leader, 'one leads again');

$lease->done;

# A database server that accepts and never answers: nothing fails, nothing
# returns.  Calls that are out end at their time-outs, although no driver ends
# them; then the breaker opens, once for the instance, and requests are answered
# 503 with Retry-After at once, by all workers.  One probe at a time finds out
# when it is over.  All that time few connections are tried, the event loop is
# free (/readyz as fast as before, G12), a leader has stopped by its deadline, and
# a worker can go.  A thread pool of four is enough for the lease.
#
# What was in the blackhole when it ended stays there for ever: calls must not
# wait for it.
#
# Goes red when: a call has no end (what is stuck is never answered, and quit
# hangs); requests queue for time-outs while the breaker should be open; every
# request, or each worker, tries for itself; nobody probes where the executor is
# off; calls of the API take all threads.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

# a loop that is blocked is so for as long as a time-out; machines are busy, too

use constant { TIMEOUT => 2, LATE => 1, RETRY => 2, FACTOR => 5, NOISE => 0.3 };

my $server = SubmissionCluster::Server->start;
my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $proxy = $server->proxy($cluster);

$server->options('login_timeout=' . TIMEOUT . 's retry=' . RETRY . 's');

my ($first) = $lease->instances(['a'], store_timeout => TIMEOUT . 's',
                            manager => 'lease_duration 4s; renew_interval 1s; '
                                       . 'acquire_interval 3s;');
my $second = $cluster->instance('b', store_timeout => TIMEOUT . 's',
                           manager => 'acquire_interval 3s;');

$cluster->start;
$lease->record;
$lease->wait_leader;


# p99 of /readyz, from several connections

sub readyz_p99 {
    my ($instance, $n) = @_;

    my (@seconds, $next, %stores);
    my $out = 0;
    my @conns = map { SubmissionCluster::Connection->open($instance->{port}) }
                1 .. 4;

    $next = sub {
        my ($conn) = @_;

        return if $n-- <= 0;

        $out++;
        $conn->send(SubmissionCluster::Client::request('GET', '/readyz'),
                    sub {
                        $out--;
                        push @seconds, $_[0]{seconds};
                        $stores{$1}++ if $_[0]{body} =~ /store=(\w+)/;
                        $next->($conn);
                    });
    };

    $next->($_) for @conns;
    wait_for('all is answered', sub { $n <= 0 && !$out });
    $_->close for @conns;

    @seconds = sort { $a <=> $b } @seconds;

    return { p99 => $seconds[0.99 * @seconds], slowest => $seconds[-1] };
}


# one request of each kind

sub kinds {
    my ($id) = @_;

    return (['POST', '/v1/intents',
             SubmissionCluster::Client::intent($id, '1')],
            ['POST', '/v1/intents?waitSeconds=1',
             SubmissionCluster::Client::intent("$id-w", '1')],
            ['GET', '/v1/intents/before'], ['GET', '/v1/intents/before/history'],
            ['GET', '/v1/intents?limit=1'], ['GET', '/v1/cluster']);
}


sub ask {
    my ($instance, @kinds) = @_;

    return map {
        my $conn = SubmissionCluster::Connection->open($instance->{port});
        my $ask = { conn => $conn, what => "$_->[0] $_->[1]" };

        $conn->send(SubmissionCluster::Client::request(@$_),
                    sub { $ask->{answer} = $_[0] });
        $ask;
    } @kinds;
}


sub fast {
    my ($name, $when, $before) = @_;

    for my $instance ($first, $second) {
        my $now = readyz_p99($instance, 400);

        cmp_ok($now->{p99}, '<',
               FACTOR * $before->{$instance}{p99} + NOISE * slow(),
               sprintf '%s: /readyz of %s is as fast as before %s: %.1f ms, '
                       . '%.1f ms', $name, $instance->{name}, $when,
                       1000 * $before->{$instance}{p99}, 1000 * $now->{p99});
        cmp_ok($now->{slowest}, '<', TIMEOUT / 2 * slow(),
               "$name: and none waits for a time-out");
    }
}


sub blackhole {
    my ($name, $round) = @_;

    my %before = map { $_ => readyz_p99($_, 400) } $first, $second;
    my $accepted = $proxy->stats->{accepted};
    my %lines = map { $_ => $_->log_count(qr/breaker_(?:open|closed)/) } $first, $second;

    $proxy->blackhole;

    my $begun = time;
    my @asked = map { my $i = $_; map { ask($i, kinds("$round-$_-$i->{name}")) }
                      1 .. 5 } $first, $second;

    fast($name, 'while calls are out', \%before);

    wait_for('the breakers open', sub {
        !grep { !$_->metric('store_breaker_open') } $first, $second;
    });

    # a login, or a call, and what it is late by

    my $opened = time - $begun;

    cmp_ok($opened, '<', (TIMEOUT + LATE + RETRY + 2) * slow(),
           sprintf('%s: the breakers open after %.1f s', $name, $opened));

    wait_for('what had asked is answered', sub {
        !grep { !$_->{answer} } @asked;
    }, 2 * (TIMEOUT + LATE) + RETRY);

    is_deeply([map { "$_->{what}: $_->{answer}{status}" }
               grep { $_->{answer}{status} != 503 } @asked], [],
              "$name: nothing is answered but 503");

    # whoever comes now does not wait

    my @slow;
    my %statuses;

    for my $i (1 .. 20) {
        for my $ask (map { ask($_, kinds("$round-now-$i-$_->{name}")) } $first, $second) {
            wait_for('an answer', sub { $ask->{answer} });
            $statuses{$ask->{answer}{status}}++;
            push @slow, $ask->{what} if $ask->{answer}{seconds} > TIMEOUT / 2 * slow()
                                        || !$ask->{answer}{headers}{'retry-after'};
        }
    }

    is_deeply(\%statuses, { 503 => 240 }, "$name: then all are answered 503");
    is_deeply(\@slow, [], "$name: at once, with Retry-After");

    fast($name, 'and then', \%before);

    is_deeply([map { $lease->readyz($_)->{mode} } $first, $second],
              ['follower', 'follower'], "$name: nobody leads");

    wait_for('/readyz says so', sub {
        !grep { $lease->readyz($_)->{store} ne 'down' } $first, $second;
    });

    # a probe, and the executor's calls; of two instances, two workers each

    my $stats = $proxy->stats;

    cmp_ok($stats->{open}, '<=', 6, "$name: few wait at the server");
    cmp_ok($stats->{accepted} - $accepted, '<=', 20 * (time - $begun) / TIMEOUT,
           "$name: few try");

    $proxy->pass;

    my $passed = time;

    wait_for('the breakers close', sub {
        !grep { $_->metric('store_breaker_open') } $first, $second;
    });

    # a probe that is in there ends late, and the next comes a second after

    cmp_ok(time - $passed, '<', (TIMEOUT + LATE + 1 + 2) * slow(),
           "$name: it is noticed when it is over");
    is(post_intent($_, "$round-after-$_->{name}")->{status}, 200,
       "$name: $_->{name} takes intents") for $first, $second;
    ok($lease->wait_leader, "$name: and one leads");

    is_deeply([map { $_->log_count(qr/breaker_(?:open|closed)/) - $lines{$_} }
               $first, $second], [2, 2], "$name: two lines in each log");
}


is(post_intent($first, 'before')->{status}, 200, 'before');

blackhole('blackhole', 1);
blackhole('again', 2);


# a worker that has calls in the blackhole can go

{
    $proxy->blackhole;

    my @asked = map { ask($_, kinds("quit-$_->{name}")) } $first, $second;
    my $begun = time;

    wait_for('they are out', sub { time - $begun > 0.2 });

    my $seconds = $second->quit(timeout => 30);

    cmp_ok($seconds, '<', (2 * (TIMEOUT + LATE) + RETRY + 1) * slow(),
           sprintf('quit: took %.1f s', $seconds));
    is_deeply([map { $_->{answer}{status} // $_->{answer}{lost} } @asked[6 .. 11]],
              [(503) x 6], 'quit: what had asked was answered');

    $proxy->pass;
    $lease->wait_leader;
}

$lease->done;

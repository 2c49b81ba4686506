# G16: told once it is true.  Intents end in every way at a cluster whose executor
# workers and instances are killed, stopped and reloaded, and whose receiver fails
# at random.  Each intent that has ended has one event, which was delivered at least
# once, under one id; none came before the end, or told of another one.
#
# SUBMISSION_TEST_LONG=1 makes it 4,000 intents and 100 kills.  SUBMISSION_SEED
# repeats what was done, though not when.
#
# Goes red when: an end is committed without its event, or an event without its
# end; an event that was in doubt is given up; an attempt of it gets another id.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use MIME::Base64 qw(encode_base64);
use POSIX qw(ceil);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionReceiver;

my ($total, $kills) = $ENV{SUBMISSION_TEST_LONG} ? (4000, 100) : (400, 6);

seed();

my $dir = tempdir(CLEANUP => 1);

open(my $file, '>', "$dir/secret") or die $!;
print $file 'whsec_' . encode_base64('s' x 32, '') . "\n";
close $file;
chmod 0600, "$dir/secret";

my $receiver = SubmissionReceiver->new("$dir/hooks", sub {
    my $luck = rand;

    return $luck < 0.2 ? 500 : $luck < 0.3 ? undef
           : $luck < 0.4 ? (503, 'Retry-After: 0') : 204;
});

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=48',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 2s;',
    targets => { 'told' => { type => 'http', policy => 'max_attempts 2',
                             path => '/told', outcomes => 'http_422',
                             retry => '100ms' } },
    instance => { main => 'worker_shutdown_timeout 1s;', manager => <<"END" });
        webhook ops concurrency=16 {
            url http://127.0.0.1:@{[$receiver->port]}/ops;
            secret_file $dir/secret;
            retry_delay 100ms;
            policy max_attempts 1000000;
        }
        notify ops;
END

my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my @instances = $run->instances;

$run->start;
$gateway->behave('/' => 'delay 10', 'r-' => 'delay 10 answer 422',
                 'x-' => 'delay 10 answer 500');

my @kinds = qw(a r x o c);
my $posted = 0;
my %target = (r => 'told', x => 'told', o => 'sms.once');
my $part = ceil($total / $kills / @kinds);

# a part of them, of every kind, then somebody dies; some are canceled, if that is
# in time

for my $k (1 .. $kills) {
    my @loads = map {
        $run->cluster->load(
            prefix => "$_-$k", total => $part, connections => 6,
            target => $target{$_} // 'sms.realtime', instances => \@instances,
            retry => [qw(refused unanswered torn 500 502 503 504)])->start;
    } @kinds;

    wait_for('a part is posted', sub { !grep { !$_->finished } @loads }, 60);
    $_->close for @loads;
    $posted += $_->count('answered') for @loads;

    for my $id (map { "c-$k-$_" } 1 .. $part) {
        my @up = grep { $_->running } @instances;

        fetch($up[rand @up], 'POST', "/v1/intents/$id/cancel", '');
    }

    my ($leader) = $lease->leaders;

    $leader //= $instances[rand @instances];

    my $how = int rand 4;

    if ($how == 0) {
        $lease->kill_tree($leader);
        $leader->start;

    } elsif ($how == 1) {
        $leader->reload;

    } else {
        my ($pid) = $lease->executors($leader);

        $lease->kill($leader, $pid) if $pid;
    }
}

my $untold = "SELECT count(*) FROM submission_intents WHERE status = 'pending'";
my $next = 0;

wait_for('all have ended, and are told of', sub {
    return if time < $next;
    $next = time + 0.2;
    $store->value($untold) == 0;
}, 60);

my (%of, @wrong, %ends);

for my $request ($receiver->requests) {
    my $json = decode_json($request->{body});

    push @{$of{$json->{data}{intentId}}}, { %$request, json => $json };
}

my $intents = $store->intents;
my %events = map { $_->[0] => $_->[1] } $store->query(
    'SELECT event_of, count(*) FROM submission_intents '
    . 'WHERE event_of IS NOT NULL GROUP BY event_of');

for my $id (sort grep { !/^ / } keys %$intents) {
    my $intent = $intents->{$id};
    my @told = @{$of{$id} // []};
    my %ids = map { $_->{headers}{'webhook-id'} => 1 } @told;

    $ends{$intent->{status}}++;

    push @wrong, "$id has " . ($events{$id} // 0) . ' events'
        if ($events{$id} // 0) != 1;
    push @wrong, "$id was not delivered"
        if !grep { ($_->{status} // 0) == 204 } @told;
    push @wrong, "$id has " . keys(%ids) . ' message ids' if keys %ids != 1;
    push @wrong, "$id is $intent->{status}, told was $_->{json}{type}"
        for grep { $_->{json}{type} ne "intent.$intent->{status}" } @told;
    push @wrong, "$id was told of before its end"
        if grep { $_->{time} * 1e6 < $intent->{completed_at} - 50000 } @told;
}

my $n = @wrong;

splice(@wrong, 10) if $n > 10;
is_deeply(\@wrong, [], 'each end is told of as it should be')
    or diag("$n problems");
is($posted, $kills * @kinds * $part, 'all were taken');
is(keys %of, $posted, 'all were told of');
cmp_ok($ends{$_} // 0, '>', 10, ($ends{$_} // 0) . " were $_")
    for qw(accepted rejected exhausted);
diag(join ', ', map { "$ends{$_} $_" } sort keys %ends);
diag(scalar(my @all = $receiver->requests) . ' requests to the receiver');

$run->done;

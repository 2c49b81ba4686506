# notBefore goes by the store's clock alone.  One instance's host is an hour ahead,
# another's an hour behind (libfaketime): how far ahead a time may be, what is past,
# and when an attempt begins is the same for both.
#
# Goes red when: a host's wall clock decides whether a time is too far ahead, or when
# it has come.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds qw(faketime no_checker);
use SubmissionCluster;
use SubmissionCluster::Server;

use constant { YEAR => 365 * 86400, LATE => 10 };

my $faketime = SubmissionNeeds::faketime();
my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '4s',
    instance => { main => 'env LD_PRELOAD; env FAKETIME; '
                          . 'env FAKETIME_DONT_FAKE_MONOTONIC; '
                          . 'worker_shutdown_timeout 3s;' });
my ($store, $lease, $gateway) = ($run->store, $run->leadership, $run->gateway);
my %instance = map { $_->{name} => $_ } $run->instances;
my %off = (a => '+1h', b => '-1h');

for my $name (sort keys %instance) {
    local $ENV{LD_PRELOAD} = $faketime;
    local $ENV{FAKETIME} = $off{$name};
    local $ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;

    $instance{$name}->start;
}

$lease->record;
$lease->wait_leader;


sub post {
    my ($name, $id, $seconds) = @_;

    my $usec = $store->now + 1e6 * $seconds;
    my $text = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(int($usec / 1e6)));
    my $answer = fetch($instance{$name}, 'POST', '/v1/intents',
        encode_json({ intentId => $id, submissionTarget => 'sms.realtime',
                      notBefore => $text, payload => {} }));

    return ($answer->{status}, int($usec / 1e6));
}


for my $name (sort keys %instance) {
    is((post($name, "far-$name", YEAR + 1800))[0], 400,
       "$name: half an hour more than a year is too far");
    is((post($name, "year-$name", YEAR - 1800))[0], 200,
       "$name: half an hour less is not");

    my ($status, $due) = post($name, "soon-$name", 3 * slow());

    is($status, 200, "$name: one of soon is taken");
    $run->wait_terminal("soon-$name");

    my ($send) = $gateway->sends_of("soon-$name");
    my $sent = $send->{time} / 1e6;

    cmp_ok($sent, '>=', $due, "$name: it is not sent before its time");
    cmp_ok($sent, '<', $due + LATE * slow(), "$name: nor an hour late");
}

$store->query("DELETE FROM submission_intents WHERE intent_id LIKE 'year-%'");
$run->done;

# HAProxy, with the configuration of haproxy.cfg.example, before three instances
# that execute what they are given.  Under load instances are killed with all
# their processes, the leader among them, others are reloaded meanwhile, and
# the killed ones started again: for a minute no client sees anything but 200,
# however its request got there, and everything is sent.
#
# Half of the requests wait for an attempt: there are always some under way in
# the instance that is killed, stored and not answered.  HAProxy repeats these
# with another instance, which answers that it has them already.  No client
# repeats anything here.
#
# SUBMISSION_HAPROXY_SECONDS makes it shorter, or longer.
#
# Rare failures need the whole minute, and more: without "option
# http-server-close" 2 requests of some 46,000 were lost, in six runs.
#
# Goes red when: the example lacks "retries", "option redispatch", "retry-on"
# with "empty-response", or "option http-buffer-request"; its buffer is smaller
# than a request of 20 kB; it checks another path; a follower is not ready; a
# repeated POST is refused by another instance than the one that stored it, or
# an instance that is down, or comes back, makes another one answer an error.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::MD5 qw(md5_hex);
use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'no_store';
use SubmissionCluster;

# so many a second: it is not about speed

use constant { RATE => 150, CONNECTIONS => 96 };

my $seconds = $ENV{SUBMISSION_HAPROXY_SECONDS} || 60;

my $run = SubmissionCluster::Executor->new(instances => ['a' .. 'c']);
my $cluster = $run->cluster;
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my @instances = $run->instances;

my $proxy = $cluster->haproxy;

is_deeply([$proxy->complaints($proxy->example)], [],
          'HAProxy accepts the example, without a warning');

$run->start;
$proxy->start;

pass('all instances are in rotation, followers too');


# what an attempt takes, so that clients wait for it

$gateway->behave('/sms' => 'delay 100');

my $load = $cluster->load(
    instances => [$proxy], connections => CONNECTIONS, rate => RATE,
    prefix => 'load', large => 20, split => 1,
    path => sub { '/v1/intents' . ($_[0] =~ /[02468]$/ ? '?waitSeconds=1'
                                                       : '') });

my $longest = 0;

$load->{on_result} = sub {
    my ($id, $result) = @_;

    $run->{posted}{$id}{md5} = md5_hex($load->payload($id));
    $longest = $result->{seconds} if $result->{seconds} > $longest;
};


sub for_a_while {
    my ($long) = @_;

    my $end = time + $long;

    wait_for('time passes', sub { time >= $end }, $long + 10);
}


my ($kills, $leaders, $reloads, $i) = (0, 0, 0, 0);
my $end = time + $seconds;

$load->start;
for_a_while(1);

while (time < $end) {
    my ($victim, $other) = @instances[$i % 3, ($i + 1 + $i % 2) % 3];

    $i++;
    $leaders++ if $lease->row->{holder} eq $victim->{name};

    # once while HAProxy believes that it is there, once when it knows better

    $lease->kill_tree($victim);
    $kills++;
    $other->reload;
    $reloads++;

    wait_for('HAProxy knows that it is gone', sub { $proxy->down == 1 });

    $other->reload;
    $reloads++;

    $victim->start;

    wait_for('HAProxy knows that it is back', sub { $proxy->up == 3 });

    for_a_while(1);
}

$load->pause;
wait_for('all is answered', sub { !$load->{outstanding} }, 30);
$load->close;

my $sent = $load->{sent};

cmp_ok($sent, '>', $seconds * RATE / 4, "$sent requests");
cmp_ok($kills, '>=', $seconds / 15, "$kills instances killed, $leaders of them "
                                    . "led, and $reloads reloads");
is_deeply($load->{lost}, {}, 'no client lost its connection');
is_deeply($load->{statuses}, { 200 => $sent }, 'all were answered 200')
    or diag(explain($load->{final}));

note(sprintf 'the longest took %.3f s', $longest);


# what it took

# HAProxy's threads drop a line of the log now and then, rather than wait

my @requests = $proxy->requests;
my $retried = grep { $_->{retries} ne '0' } @requests;
my $replayed = $load->count('replayed');
my %taken;

$taken{$_->{server}}++ for @requests;

cmp_ok($retried, '>', $kills, "it tried $retried more than once");
cmp_ok($replayed, '>', 0, "$replayed were stored, not answered, and repeated");
cmp_ok($taken{$_} // 0, '>', $sent / 10, "$_ took its part")
    for qw(sm1 sm2 sm3);


# all is sent

$run->wait_terminal('load-', 60);

my %sends;

$sends{$_->{id}}++ for $gateway->sends;

is_deeply($run->statuses, { accepted => $sent }, 'all are accepted');
is(scalar keys %sends, $sent, 'because they were sent');


# what else the example says

my $large = post_intent($proxy, 'large', payload => '"' . 'x' x 300_000 . '"');

is($large->{status}, 200, 'what is larger than the buffer passes, too');
is(fetch($proxy, 'GET', '/v1/intents/large')->{status}, 200, 'and is stored');
is(fetch($proxy, 'GET', $_)->{status}, 404, "$_ is not for clients")
    for '/metrics', '/readyz';

$run->wait_terminal('large');
$lease->quit;

my $none = fetch($proxy, 'GET', '/v1/cluster');

is($none->{status}, 503, 'nobody there');
is($none->{headers}{'retry-after'}, 1, 'nobody there: when to try again');
is(decode_json($none->{body})->{error}{code}, 'unavailable',
   'nobody there: in the form of the API');

$proxy->stop;
$run->done;

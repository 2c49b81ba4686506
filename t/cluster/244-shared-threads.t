# Two managers with a store each share one thread pool that is too small for both,
# and one store hangs.  The other manager cannot use its store either, and says
# so: that it is for want of a thread, and not that its store did not answer.
# With a pool of its own it notices nothing.
#
# Goes red when: a store is blamed that was never asked; a manager waits for the
# store of another one though it has its own threads.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;

use constant { SOON => 10, CLIENTS => 40 };

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '6s', instance => {
        workers => 1, threads => 'threads=1', store_timeout => '60s',
        main => 'thread_pool own threads=4; worker_shutdown_timeout 3s;' });

$server->direct($run->cluster);

my ($a) = $run->instances;
my $dir = "$run->{cluster}{dir}/others";

mkdir $dir;
chmod 0777, $dir;

for my $name (qw(shared own)) {
    my $pool = $name eq 'own' ? 'own' : 'submission';

    $a->{http} .= "submission_manager $name { zone 1m; thread_pool $pool; "
                  . "store sqlite $dir/$name.db; lease_duration 60s; "
                  . 'renew_interval 1s; acquire_interval 1s; holder_id a; '
                  . 'target sms.realtime { gateway_type sms; '
                  . 'gateway_url http://gateway; policy deadline 1h; } }'
                  . "\n";
    $a->{server} .= "location /$name/ { submission_api $name; } "
                    . "location = /_$name { internal; "
                    . "submission_dispatch $name; "
                    . 'proxy_pass $submission_gateway_url; } ';
}

$run->start(record => 0);


sub store {
    my ($name) = @_;

    return decode_json(fetch($a, 'GET', "/$name/overview")->{body})->{store};
}


for my $name (qw(v1 shared own)) {
    wait_for("$name leads", sub {
        decode_json(fetch($a, 'GET', "/$name/overview")->{body})->{role}
            eq 'leader';
    });
}

$run->post('there');
$run->wait_terminal('there');

my @frozen = $server->freeze;

END { kill('CONT', @frozen) if @frozen }

my @clients = map {
    my $client = SubmissionCluster::Connection->open($a->{port});

    $client->send(SubmissionCluster::Client::request('GET', '/v1/intents/there'),
                  sub { });
    $client;
} 1 .. CLIENTS;

my ($shared, %own);

wait_for('it cannot use its store', sub {
    $shared = store('shared');
    $own{store('own')->{state}}++;
    $shared->{state} eq 'down';
}, SOON);

like($shared->{lastError}, qr/^no thread is free /, 'for want of a thread');
is(join(' ', keys %own), 'up', 'the one with its own threads can');

wait_for('the one that hangs is down', sub { store('v1')->{state} eq 'down' },
         SOON);
like(store('v1')->{lastError}, qr/no answer/, 'because it has no answer');

$_->close for @clients;
kill('CONT', splice(@frozen));

wait_for('all is well', sub {
    !grep { store($_)->{state} ne 'up' } qw(v1 shared own);
}, 3 * SOON);

$run->store->reconnect;
$run->cluster->finish;
done_testing();

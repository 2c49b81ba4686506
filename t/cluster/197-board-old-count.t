# Nobody leads, so a look at GET /v1/targets has the backlog counted in the store,
# and the count is kept in the zone for all who look.  A worker that counts while
# the instance is reloaded with another store ends its count after the new workers
# have begun: the zone does not get it, because it is of the new store by then.
#
# The store's one thread waits for a lock, with an intent to write, and the
# count waits for the thread.
#
# Goes red when: an old worker writes what it has counted into the board of a
# new tenure.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;

use SubmissionNeeds 'sqlite';
use SubmissionCluster;

use constant INTENTS => 3;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my $store = $cluster->store;

my ($instance) = $lease->instances(['a'], executor => 'off', workers => 1,
    threads => 'threads=1', store_timeout => '60s',
    manager => 'target sms.count { gateway_type sms; '
               . 'gateway_url http://127.0.0.1:1/; policy deadline 9h; '
               . 'retry_delay 1h; }');

$cluster->start;


# how many intents are due, by an answer

sub due {
    my ($answer) = @_;

    my ($target) = grep { $_->{target} eq 'sms.count' }
                   @{decode_json($answer->{body})->{targets}};

    return $target->{due};
}


post_intent($instance, "old-$_", target => 'sms.count') for 1 .. INTENTS;

my $lock = $store->lock;
my %answers;

sub ask {
    my ($name, @request) = @_;

    my $client = SubmissionCluster::Connection->open($instance->{port});

    $client->send(SubmissionCluster::Client::request(@request),
                  sub { $answers{$name} = $_[0] });

    return $client;
}

my $client = ask('intent', 'POST', '/v1/intents',
                 SubmissionCluster::Client::intent('old-held', '{}',
                                                   'sms.count'));

# the worker has read the intent when it has answered what came after it

is(fetch($instance, 'GET', '/healthz')->{status}, 200, 'the worker is there');
is(due(fetch($instance, 'GET', '/v1/targets')), undef,
   'whoever looks does not wait for the count');

my $directive = $store->directive(timeout => '60s');

$directive =~ s/^(sqlite \S+)/$1.other/ or die "no path: $directive";
$instance->{store} = $directive;
$instance->reload;
wait_for('the old worker takes no requests any more',
         sub { $instance->retiring_pids });
is_deeply([keys %answers], [], 'the old worker waits for its store');

$store->unlock($lock);
wait_for('the old worker answers', sub { keys %answers == 1 });
wait_for('and is gone', sub { !$instance->retiring_pids });

is(due(fetch($instance, 'GET', '/v1/targets')) // 0, 0,
   'what it has counted is not told of the new store');
wait_for('the new worker counts that one', sub {
    defined due(fetch($instance, 'GET', '/v1/targets')) }, 15);
is(due(fetch($instance, 'GET', '/v1/targets')), 0, 'in which there is nothing');

$client->close;
$cluster->done;

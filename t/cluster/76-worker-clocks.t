# Each worker has its own idea of the time, of when it last looked: what another
# one wrote into shared memory may be later than "now".  Here one worker's clock
# is 3 s behind, so that what takes a moment in production is there to be seen.
#
# Goes red when a time of another worker that is ahead is taken for one long ago:
# /readyz of the worker behind says that the store is down, while a short trouble
# should not be seen.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Fcntl;
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'no_checker';
use SubmissionCluster;

use constant { BEHIND => 3, PATIENCE => 5 };

my $cluster = SubmissionCluster->new;
my $store = $cluster->store;
my $instance = $cluster->instance('a', workers => 2, store_timeout => '1s',
    main => 'env LD_PRELOAD; env SUBMISSION_BEHIND;',
    manager => 'acquire_interval 10s;');
my $shim = "$cluster->{dir}/behind.so";
my $file = "$cluster->{dir}/behind";

is(system('cc', '-shared', '-fPIC', '-o', $shim,
          "$FindBin::Bin/../tools/behind.c"), 0, 'the shim is built');


sub behind {
    my ($pid) = @_;

    sysopen(my $out, $file, O_WRONLY | O_CREAT) or die "$file: $!";
    syswrite($out, pack('qq', $pid, BEHIND)) == 16 or die "$file: $!";
    close $out;
}


behind(0);

{
    local $ENV{LD_PRELOAD} = $shim;
    local $ENV{SUBMISSION_BEHIND} = $file;
    $cluster->start;
}


# a connection to each worker, which stays there

sub ask {
    my ($conn, @request) = @_;

    my $result;

    $conn->send(SubmissionCluster::Client::request(@request),
                sub { $result = $_[0] });

    return wait_for("@request[0, 1] is answered", sub { $result });
}


my %conns;

wait_for('there is a connection to each worker', sub {
    my $conn = SubmissionCluster::Connection->open($instance->{port});
    my $pid = ask($conn, 'GET', '/healthz')->{pid};

    $conns{$pid} ? $conn->close : ($conns{$pid} = $conn);

    keys %conns == 2;
});

my ($late, $punctual) = sort { $a <=> $b } keys %conns;

behind($late);


my $posted = 0;

sub post {
    my ($pid) = @_;

    return ask($conns{$pid}, 'POST', '/v1/intents',
               SubmissionCluster::Client::intent('id-' . ++$posted, '1'));
}


# A short trouble, which the other worker has met.

SKIP: {
    is(post($punctual)->{status}, 200, 'the store answers');

    my $lock = $store->lock;

    is(post($punctual)->{status}, 503, 'and does not');
    wait_for('the store is failing',
             sub { $instance->log_count(qr/store_failing/) });

    my $noticed = time;
    my ($here, $there) = map { ask($conns{$_}, 'GET', '/readyz')->{status} }
                         $punctual, $late;
    my $took = time - $noticed;

    $store->unlock($lock);

    skip("that took $took s", 2) if $took > PATIENCE - 1;

    is($here, 200, 'the instance is ready still');
    is($there, 200, 'and its other worker says so, too');
}

$_->close for values %conns;

$cluster->done;

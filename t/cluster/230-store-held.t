# A store that answers, and keeps what matters from being written (G22): somebody
# has locked the table of intents, as VACUUM FULL does, while leases and numbers
# are written as ever; then commits wait for a standby that is not there.  With the
# lease of the example every instance says "failing" within ten seconds in all of
# its views, the leader too, says so once in its log, and is up within ten seconds
# of the end.
#
# Goes red when: a lease that is renewed, or a duty that had nothing to write, says
# that all is well; a probe that hangs is called an outage and then not, again and
# again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use IO::Socket::INET;
use Test::More;

use SubmissionCluster;
use SubmissionCluster::Server;
use SubmissionCluster::Views;

my $server = SubmissionCluster::Server->start;
my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '10s', renew => '3s', acquire => '5s');

$server->direct($run->cluster);
$run->start;

my ($store, $lease) = ($run->store, $run->leadership);
my @instances = $run->instances;
my $views = SubmissionCluster::Views->new(@instances);

$run->post('there');
$run->wait_terminal('there', 30);
$views->all_say('up', 'before');


# Clients of an instance, each of which asks again when it has an answer; for two
# minutes at most.

sub clients {
    my ($instance) = @_;

    my $pid = fork // die "fork: $!";

    return $pid if $pid;

    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);
    alarm 120;

    for (my $n = 0; ; $n++) {
        my $body = SubmissionCluster::Client::intent(intent_id("held-$$-$n"), '1');
        my $conn = IO::Socket::INET->new("127.0.0.1:$instance->{port}") or next;

        print $conn "POST /v1/intents HTTP/1.0\r\nHost: test\r\n"
            . "Content-Type: application/json\r\nContent-Length: "
            . length($body) . "\r\n\r\n$body";
        1 while <$conn>;
        select undef, undef, undef, 0.1;
    }
}


# the table of intents is locked

my %before = map { $_ => $views->said($_) } @instances;
my %failed = map { $_ => $_->metric('store_commits_failed_total') } @instances;
my @clients = map { clients($_) } @instances;

END { kill 'KILL', @clients }

my $other = $store->lock('LOCK TABLE submission.submission_intents '
                         . 'IN ACCESS EXCLUSIVE MODE');

$views->all_say('failing', 'locked');
wait_for('probes have ended', sub {
    2 == grep { $_->metric('store_commits_failed_total') >= $failed{$_} + 5 } @instances;
}, 60);
$views->all_say('failing', 'still locked');
is($views->said($_), "$before{$_} failing", "locked: $_->{name} says so once") for @instances;

$store->rollback($other);
$views->all_say('up', 'free again');

kill 'KILL', @clients;
waitpid $_, 0 for @clients;
@clients = ();
$lease->wait_leader;


# commits wait for nobody; no client asks for anything

%before = map { $_ => $views->said($_) } @instances;
$store->query('ALTER SYSTEM SET synchronous_standby_names = nobody');
$store->query('SELECT pg_reload_conf()');
$views->all_say('failing', 'commits hang');
is($views->said($_), "$before{$_} failing", "commits hang: $_->{name} says so once")
    for @instances;

$store->query('ALTER SYSTEM RESET synchronous_standby_names');
$store->query('SELECT pg_reload_conf()');
$views->all_say('up', 'commits do not hang');
$lease->wait_leader;

$run->done;

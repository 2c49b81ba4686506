# Connections of a worker are short, many clients wait, and the call that asks the
# store about their intents hangs.  Clients are answered before their time all the
# same, with what is known of their intents: those that the call is about, and those
# that came after it.
#
# Goes red when: nobody who waits makes room until the call has failed.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;

# nine are answered when three connections are free

use constant { CONNECTIONS => 96, ASKED => 4, LATER => 30, EXTRA => 3,
               TIMEOUT => 25 };

my $server = SubmissionCluster::Server->start;
my $cluster = SubmissionCluster->new;
my $proxy = $server->proxy($cluster);
my $a = $cluster->instance('a', workers => 1, connections => CONNECTIONS,
                           store_timeout => TIMEOUT . 's');

$cluster->start;

my %answers;
my @clients;


sub waits {
    my ($id) = @_;

    my $conn = SubmissionCluster::Connection->open($a->{port});

    $conn->send(SubmissionCluster::Client::request('POST',
                    '/v1/intents?waitSeconds=30',
                    SubmissionCluster::Client::intent($id, '1')),
                sub { $answers{$id} = $_[0] });
    push @clients, $conn;
}


sub stored {
    my ($prefix, $n) = @_;

    wait_for("$n wait", sub {
        keys %{$cluster->store->intents($prefix)} == $n;
    });
}


waits("asked-$_") for 1 .. ASKED;
stored('asked-', ASKED);

$proxy->hang('asked-1');
wait_for('the call hangs', sub { $proxy->stats->{done} == 1 });

my $hung = time;

waits("later-$_") for 1 .. LATER;
stored('later-', LATER);

is_deeply([keys %answers], [], 'all wait');

# a POST whose body is not there is refused when connections are short; what
# comes after that leaves them so

my $short = 0;

while (!$short) {
    die "no client is refused\n" if @clients == CONNECTIONS;

    my $conn = SubmissionCluster::Connection->open($a->{port});

    $conn->send("POST /v1/intents HTTP/1.1\r\nHost: test\r\n"
                . "Content-Length: 100\r\n\r\n{", sub { $short++ });
    push @clients, $conn;

    SubmissionCluster::Client::turn(0.02) for 1 .. 3;
}

for (1 .. EXTRA) {
    my $conn = SubmissionCluster::Connection->open($a->{port});

    $conn->send("GET /healthz HTTP/1.1\r\nHost:", sub { });
    push @clients, $conn;
}

ok(eval {
    wait_for('some are answered', sub { keys %answers > ASKED }, 8);
}, 'clients who wait make room');
is(scalar(grep { /^asked/ } keys %answers), ASKED, 'those of the call');
cmp_ok(scalar(keys %answers), '<', LATER, 'and not all of the others');
cmp_ok(time - $hung, '<', TIMEOUT - 2, 'before the call has failed');
is_deeply([grep { ($_->{status} // 0) != 200 || $_->{body} !~ /"pending"/ }
           values %answers], [], 'with their intents as they were');

$_->close for @clients;
$proxy->reset;

$cluster->done;

# What is told of processes that come and go is what has become of them: a worker
# that exits because it was told to has not died, whenever another one takes its
# place, and a reload that makes a new zone is a reload.
#
# Goes red when: workers are only counted; the feed of a new zone takes its
# instance for one that was started.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionNeeds 'no_valgrind';
use SubmissionCluster;

use constant SOON => 10;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);

# nginx that is not a daemon ignores the signal

my ($instance) = $lease->instances(['a'], daemon => 1);

$instance->start;
$lease->wait_leader;


sub of {
    my ($kind) = @_;

    my $answer = fetch($instance, 'GET', "/v1/events?limit=500&kind=$kind");

    return @{decode_json($answer->{body})->{events}};
}


# a new binary is given up when the workers of the old one are gone already

my $old = $instance->pid_file;
my @workers = $instance->worker_pids($old);

$instance->signal('USR2', $old);

my $new = wait_for('there is a new master', sub {
    my $pid = $instance->pid_file;
    $pid && $pid != $old && ($instance->pid_file('.oldbin') // 0) == $old && $pid;
});

wait_for('it has workers', sub { $instance->worker_pids($new) == 2 });

$instance->signal('WINCH', $old);

wait_for('the old workers are gone', sub {
    !grep { SubmissionCluster::Process::alive($_) } @workers;
});

$instance->signal('HUP', $old);

wait_for('there are others', sub { $instance->worker_pids($old) == 2 });

my @rest = ($new, $instance->worker_pids($new));

$instance->signal('QUIT', $new);

wait_for('the new binary is gone', sub {
    !grep { SubmissionCluster::Process::alive($_) } @rest;
});

wait_for('the old one tells', sub { of('leader_acquired') }, SOON * slow());

is(join("\n", map { $_->{text} } of('worker_died')), '', 'nobody has died');

$lease->kill($instance, ($instance->worker_pids($old))[0]);

wait_for('but one that is killed has', sub { of('worker_died') == 1 },
         SOON * slow());


# a reload with a zone of another size

my $started = () = of('instance_started');

$instance->{zone} = '3m';
$instance->configure;
$instance->reload(wait_old => 1);

wait_for('it is told as a reload', sub { of('reloaded') == 1 }, SOON * slow());

my ($event) = of('reloaded');

like($event->{text}, qr/ with a new zone/, 'which says so');

$instance->{manager} .= ' retention canceled=1s:1d;';
$instance->{zone} = '4m';
$instance->configure;
$instance->reload(wait_old => 1);

wait_for('with another configuration, too', sub {
    of('configuration_changed') == 1;
}, SOON * slow());

cmp_ok(scalar(() = of('instance_started')), '<=', $started,
       'and nothing was started');

$lease->done;

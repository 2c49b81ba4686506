# A new binary by SIGUSR2 under load: two masters with their workers share
# listening socket and store for a while, then the old ones retire.  No
# request is lost, and none is taken twice.
#
# What a client may have to send again, and how it is seen that this was not
# taken before, is told in 04-intake-reload.t.
#
# Goes red when: the new generation does not find the store or its zone; the
# old one is disturbed by it; a worker leaves while batches are out.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'no_valgrind';
use SubmissionCluster;

use constant UPGRADES => 3;

my $cluster = SubmissionCluster->new;

# nginx that is not a daemon ignores the signal

my $instance = $cluster->instance('a', daemon => 1);

$cluster->start;

my $load = $cluster->load(connections => 32, prefix => 'upgrade',
                          retry => ['unanswered_reused']);
my %answers;

$load->{on_result} = sub { $answers{$_[1]{pid}}++ if $_[1]{pid} };
$load->start;

for my $upgrade (1 .. UPGRADES) {
    my $old = $instance->pid_file;
    my @old = $instance->worker_pids($old);

    wait_for('there is load', sub { $load->{outstanding} });

    $instance->signal('USR2', $old);

    my $new = wait_for('there is a new master', sub {
        my $pid = $instance->pid_file;
        $pid && $pid != $old && ($instance->pid_file('.oldbin') // 0) == $old
        && $pid;
    });

    my @new = @{wait_for('it has workers', sub {
        my @pids = $instance->worker_pids($new);
        @pids == 2 && \@pids;
    })};

    # both generations take intents

    my %seen;

    wait_for('workers of both masters take intents', sub {
        my $result = post_intent($instance, intent_id('both'));
        $seen{$result->{pid}} = 1
            if ($result->{status} // 0) == 200;
        (grep { $seen{$_} } @old) && (grep { $seen{$_} } @new);
    });

    my $before = $load->count('answered');

    wait_for('the load goes on', sub {
        $load->count('answered') >= $before + 200;
    });

    $instance->signal('QUIT', $old);

    wait_for('the old ones are gone', sub {
        !grep { SubmissionCluster::Process::alive($_) } $old, @old;
    });

    ok(SubmissionCluster::Process::alive($new), "upgrade $upgrade: done");

    $instance->adopt($new);
}

$load->pause;
wait_for('all is answered', sub { !$load->{outstanding} });
$load->{total} = $load->{sent};
$load->start;
wait_for('all is answered', sub { $load->finished });
$load->close;

is_deeply($load->{final}, {}, 'no request was lost');
is_deeply($load->{statuses}, { 200 => $load->{sent} }, 'each was answered 200');
is_deeply($load->{replayed}, {}, 'none was taken and not answered');
is_deeply([$cluster->verify($load)], [], 'all are found');
is(scalar $instance->processes, 3, 'one master, two workers, nobody else');

note(sprintf '%d requests, %d sent again on a connection that ended between '
             . 'requests', $load->{sent}, $load->count('retried'));

$cluster->done;

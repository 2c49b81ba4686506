# A worker exits while threads of its pool are still at their end, where the
# libraries of a driver clean up (here they linger over it, by
# t/tools/slow_exit.c).  It waits for them, and exits with 0, however it is told
# to go.
#
# Goes red when: the process exits beside threads that have been in the driver.
# On PostgreSQL libcrypto then cleans up twice, and the worker dies of a signal.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'no_checker';
use SubmissionCluster;

my $cluster = SubmissionCluster->new;
my $shim = "$cluster->{dir}/slow_exit.so";

is(system('cc', '-shared', '-fPIC', '-o', $shim,
          "$FindBin::Bin/../tools/slow_exit.c"), 0, 'the shim is built');

my $instance = $cluster->instance('a', main => 'env LD_PRELOAD;');
my $exits = 0;

for my $signal ('QUIT', 'TERM', 'HUP') {
    {
        local $ENV{LD_PRELOAD} = $shim;
        local $ENV{MALLOC_PERTURB_} = 165;      # what is freed is not used
        $instance->start;
    }

    is(post_intent($instance, intent_id($signal))->{status}, 200,
       "$signal: the store was called");

    if ($signal eq 'HUP') {
        $instance->reload(wait_old => 1);
        $exits += $instance->{workers};
        $instance->signal('QUIT');

    } else {
        $instance->signal($signal);
    }

    $instance->wait_gone;
    $exits += $instance->{workers};

    is($instance->log_count(qr/worker process \d+ exited with code 0/),
       $exits, "$signal: every worker has exited with 0");
}

$cluster->done;

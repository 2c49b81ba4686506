# Workers are killed with SIGKILL under load, the executor worker among them,
# and the configuration is reloaded: the counters of an instance go on from
# where they were, and say what the store says.
#
# A worker may die between the commit of a batch and its count, so that what is
# counted is at least what was acknowledged and at most what is stored.  Without
# a crash the two are the same.
#
# Goes red when: counters are of a worker, or begin anew with a reload; a batch
# is counted after it is answered, or twice; a killed leader is told of for
# longer than it takes another worker to take over.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant ROUNDS => 6;

my $cluster = SubmissionCluster->new;
my $lease = SubmissionCluster::Lease->new($cluster);
my ($instance, $other) = $lease->instances(['a', 'b'], manager =>
    'lease_duration 30s; renew_interval 300ms; acquire_interval 500ms;');

my %last;


# counters never decrease, and a histogram's count is that of its last bucket

sub metrics {
    my ($of) = @_;

    my %values = %{$of->metrics};

    for my $name (sort keys %values) {
        if ($name =~ /^(\w+)_count(?:\{(.*)\})?$/) {
            my $bucket = "${1}_bucket{" . (defined $2 ? "$2," : '')
                         . 'le="+Inf"}';
            fail("$name is $bucket") if $values{$name} != $values{$bucket};
        }

        next if $name !~ /_total\b|_bucket\b|_sum\b|_count\b/;

        fail("$name decreases from $last{$of->{name}}{$name} to $values{$name}")
            if $values{$name} < ($last{$of->{name}}{$name} // 0);
    }

    $last{$of->{name}} = \%values;

    return \%values;
}


sub stored {
    return $cluster->store->value('SELECT count(*) FROM submission_intents');
}


$cluster->start;
$lease->wait_leader;

# the leader is the one that will be killed

($instance, $other) = ($other, $instance)
    if $lease->wait_leader->{name} ne $instance->{name};

my $load = $cluster->load(connections => 16, prefix => 'metrics',
                          instances => [$instance],
                          retry => [qw(unanswered torn)]);

is(metrics($instance)->{intents_created_total}, 0, 'nothing yet');


# without a crash

$load->start;
wait_for('some are taken', sub { $load->count('answered') >= 300 });
$load->pause;
wait_for('all is answered', sub { !$load->{outstanding} });

is(metrics($instance)->{intents_created_total}, stored(),
   'what is counted is what is stored');

$instance->reload(wait_old => 1);

is(metrics($instance)->{intents_created_total}, stored(),
   'after a reload, too');
is(metrics($instance)->{duplicates_total}, 0, 'no duplicate');


# with crashes

for my $round (1 .. ROUNDS) {
    my $answered = $load->count('answered');

    $load->start;

    wait_for('the load goes on', sub {
        $load->count('answered') >= $answered + 100;
    });

    $lease->wait_leader(0, $instance);

    # the executor worker, the other one, or both

    my $executor = $lease->executor($instance);
    my @others = grep { $_ != $executor } $instance->worker_pids;
    my $epoch = $lease->row->{epoch};
    my $takes = $round % 3 != 1;

    $lease->kill($instance, $round % 3 == 0 ? ($executor, @others)
                            : $round % 3 == 1 ? @others : $executor);

    my ($acknowledged, $values);

    wait_for('it leads', sub {
        $acknowledged = $load->count('created');
        $values = metrics($instance);
        $values->{leader} && $values->{lease_epoch} == $epoch + $takes;
    });

    cmp_ok($values->{intents_created_total}, '>=', $acknowledged,
           "round $round: what was acknowledged is counted");
    cmp_ok($values->{lease_remaining_seconds}, '>', 0, "round $round: a lease");

    wait_for('there are two workers', sub { $instance->worker_pids == 2 });

    $instance->reload(wait_old => 1) if $round == ROUNDS / 2;
}

$load->pause;
wait_for('all is answered', sub { !$load->{outstanding} });
$load->{total} = $load->{sent};
$load->start;
wait_for('all is answered', sub { $load->finished });

my $values = metrics($instance);
my $created = $values->{intents_created_total};
my $hits = $values->{duplicates_total};

cmp_ok($created, '>=', $load->count('created'), 'all acknowledged are counted');
cmp_ok($created, '<=', stored(), 'and no more than are stored');
cmp_ok($hits, '>=', $load->count('replayed'), 'so are the duplicates');
cmp_ok($values->{'batch_rows_sum{op="intents_submit"}'}, '<=',
       $created + $hits, 'a row is counted before its call');
cmp_ok($values->{'store_call_seconds_count{op="lease_takeover"}'}, '>', 0,
       'there were takeovers');

note(sprintf '%d counted, %d acknowledged, %d stored, %d replays', $created,
     $load->count('created'), stored(), $hits);


# another instance has numbers of its own

my $follower = metrics($other);

is($follower->{intents_created_total}, 0, 'the other one has taken none');
is($follower->{leader}, 0, 'nor does it lead');
is($follower->{lease_epoch}, 0, 'in any epoch');
is($follower->{lease_remaining_seconds}, 0, 'nor has it a lease');
is($follower->{store_up}, 1, 'but a store');

$lease->done;

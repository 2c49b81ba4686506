# G13: cancel or send, never both unnoticed.  Intents come in, are sent, fail and
# are sent again, and each is canceled at some moment, on any instance, while
# executor workers and whole instances are killed.  An intent whose cancel was
# answered 200 must not reach the gateway afterwards; each ends once, as it was
# answered; and the audit has each cancel once.
#
# SUBMISSION_TEST_LONG=1 makes it 10,000 intents.  SUBMISSION_SEED repeats what
# was done, though not when.
#
# Goes red when: a cancel does not look at the mark of what is in flight, or a
# turn begins what was canceled after it had looked; a recovery or a late outcome
# moves what was canceled; a cancel that was answered is lost with its instance.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $total = $ENV{SUBMISSION_TEST_LONG} ? 10000 : 2000;

seed();

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=24',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 2s;',
    targets => { 'sms.retried' => { path => '/retried', retry => '100ms',
                                    policy => 'max_attempts 20' },
                 'sms.once' => { policy => 'one_shot', path => '/once' } },
    instance => { main => 'worker_shutdown_timeout 1s;' });
my ($gateway, $lease, $cluster) = ($run->gateway, $run->leadership,
                                   $run->cluster);
my @instances = $run->instances;

$run->start;
$gateway->behave('/retried' => 'fail 2 delay 10 answer 500, delay 10',
                 '/once' => 'delay 10');


# What a cancel of each intent was answered: {canceled}{$id} has when, and
# {too_late}{$id} the status.  One that is in flight, or that had no answer, is
# canceled again.

package Cancels;

use Time::HiRes qw(time);

sub new {
    my ($class, %options) = @_;

    return bless { %options, due => [], canceled => {}, too_late => {},
                   again => {}, busy => 0, wrong => [] }, $class;
}

sub add {
    my ($self, $id, $seconds) = @_;

    push @{$self->{due}}, [time + $seconds, $id];
}

sub tick {
    my ($self) = @_;

    my $now = time;
    my @due = grep { $_->[0] <= $now } @{$self->{due}};

    return if !@due;

    @{$self->{due}} = grep { $_->[0] > $now } @{$self->{due}};

    $self->cancel($_->[1]) for @due;
}

sub cancel {
    my ($self, $id) = @_;

    my $port = $self->{ports}[rand @{$self->{ports}}];
    my $conn = $self->{conns}{$port};

    if (!$conn || !$conn->is_open) {
        $conn = $self->{conns}{$port}
              = SubmissionCluster::Connection->open($port);
    }

    $self->{busy}++;

    $conn->send(SubmissionCluster::Client::request('POST',
                                              "/v1/intents/$id/cancel", ''),
                sub { $self->result($id, @_) });
}

sub result {
    my ($self, $id, $result) = @_;

    $self->{busy}--;

    my $status = $result->{status} // 0;
    my $json = eval { JSON::PP::decode_json($result->{body} // '') } // {};

    if ($status == 200 && $json->{status} eq 'canceled') {
        $self->{canceled}{$id} = [time, $json->{attemptCount}];

    } elsif ($status == 409 && $json->{error}{code} eq 'already_terminal') {
        $self->{too_late}{$id} = $json->{error}{details}{status};

    } elsif (defined $result->{lost} || $status =~ /^50[0234]$/
             || ($status == 409 && $json->{error}{code} eq 'in_flight'))
    {
        $self->{again}{$status || $result->{lost}}++;
        $self->add($id, 0.05 + rand 0.3);

    } else {
        push @{$self->{wrong}}, "$id: $status " . ($result->{body} // '');
    }
}

sub finished { return !$_[0]{busy} && !@{$_[0]{due}} }

package main;


my $cancels = $cluster->each_turn(Cancels->new(
    ports => [map { $_->{port} } @instances]));
my @targets = qw(sms.retried sms.once sms.realtime sms.retried);
my @loads;

for my $i (0 .. $#targets) {
    push @loads, $cluster->load(
        prefix => "c$i", total => $total / @targets, connections => 4,
        target => $targets[$i], rate => $total / @targets / 15 / pace(),
        instances => \@instances,
        retry => [qw(refused unanswered torn 500 502 503 504)],
        on_result => sub {
            my ($id, $result) = @_;

            # a third of a second is two or three attempts

            $cancels->add($id, rand() < 0.3 ? 0 : rand(0.6) * pace())
                if ($result->{status} // 0) == 200;
        })->start;
}


# workers and instances die meanwhile

my %done;

until (!grep { !$_->finished } @loads) {
    my $instance = $lease->wait_leader;
    my $next = time + (0.5 + rand 2) * pace();

    if (rand() < 0.3) {
        $lease->kill_tree($instance);
        $instance->spawn;
        $done{instances}++;

    } elsif (my ($pid) = $lease->executors($instance)) {
        $lease->kill($instance, $pid);
        $done{workers}++;
    }

    wait_for('the next one', sub { time >= $next });
}

$_->wait_ready for @instances;

wait_for('all are canceled, or too late', sub { $cancels->finished }, 120);
$_->close for @loads, values %{$cancels->{conns}};

$run->wait_terminal(undef, 120);


# the books

my $intents = $run->store->intents;
my %audit = map { @$_ } $run->store->query(
    "SELECT object, count(*) FROM submission_audit WHERE action = 'cancel' "
    . 'GROUP BY object');
my (@late, @other, @twice);

$gateway->sends;

for my $id (sort keys %$intents) {
    my $intent = $intents->{$id};
    my $canceled = $cancels->{canceled}{$id};
    my $too_late = $cancels->{too_late}{$id};

    push @other, "$id: $intent->{status}, answered "
                 . ($canceled ? 'canceled' : $too_late // 'nothing')
        if $canceled ? $intent->{status} ne 'canceled'
                     : ($too_late // '') ne $intent->{status};

    push @twice, "$id: " . ($audit{$id} // 0)
        if ($audit{$id} // 0) != ($intent->{status} eq 'canceled' ? 1 : 0);

    next if !$canceled;

    push @late, map { "$id: $_->{time}, canceled $canceled->[0]" }
                grep { $_->{time} / 1e6 > $canceled->[0] } $gateway->sends_of($id);
    push @other, "$id: $intent->{attempts} attempts, $canceled->[1] when it "
                 . 'was canceled'
        if $intent->{attempts} != $canceled->[1];
}

my $n = keys %{$cancels->{canceled}};
my $begun = grep { $_->[1] > 0 } values %{$cancels->{canceled}};

note(join ', ', (map { "$_ killed: $done{$_}" } sort keys %done),
     "canceled: $n", "after attempts: $begun",
     map { "again for $_: $cancels->{again}{$_}" }
     sort keys %{$cancels->{again}});

is(scalar keys %$intents, $total, 'all intents were taken');
is_deeply($cancels->{wrong}, [], 'no cancel had another answer');
is_deeply(\@late, [], 'nothing was sent after its cancel was answered');
is_deeply(\@other, [], 'each has ended as its cancel was answered');
is_deeply(\@twice, [], 'each cancel is in the audit, once');
is($run->store->in_flight, 0, 'nothing is in flight');

cmp_ok($n, '>', $total / 10, 'many were canceled');
cmp_ok($n, '<', $total, 'but not all');
cmp_ok($begun, '>', 0, 'some of them after attempts');
cmp_ok($cancels->{again}{409} // 0, '>', 0, 'some were in flight');

$run->expect_kills;

$run->done;

# The inbox under random kills: applications commit transactions, or roll them back,
# some of the same ids are posted over HTTP at the same time, and leaders, followers
# and their workers are killed, most of all while rows are in the inbox.  When it is
# over, each id that was committed or answered is one intent, what was rolled back is
# none, and the gateway has seen each of them, one_shot ones at most once, with the
# bytes that were committed (G3, G7, G9, G10).
#
# SUBMISSION_TEST_LONG=1 makes it ten times as long; SUBMISSION_SEED repeats what was
# done, though not when.
#
# Goes red when: a row is moved in one transaction and removed in another; a move is
# not fenced, so that two leaders move; an id is not looked for among the intents.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::MD5 qw(md5_hex);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant MANY => 1000;

my $rounds = $ENV{SUBMISSION_TEST_LONG} ? 150 : 15;

seed();

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], executor => 'concurrency=64',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 2s;',
    targets => { 'sms.once' => { policy => 'one_shot', path => '/once' } },
    instance => { main => 'worker_shutdown_timeout 1s;' });
my ($gateway, $lease, $cluster, $store) = ($run->gateway, $run->leadership,
                                           $run->cluster, $run->store);
my @instances = $run->instances;

$run->start;
$gateway->behave('/once' => 'delay 5');


# POSTs of ids, on any instance, until they are answered 200

package Posts;

use Time::HiRes qw(time);

sub new {
    my ($class, %options) = @_;

    return bless { %options, due => [], busy => 0, answered => {},
                   wrong => [] }, $class;
}

sub add { push @{$_[0]{due}}, [time + rand 0.4, @_[1 .. $#_]] }

sub tick {
    my ($self) = @_;

    my $now = time;
    my @due = grep { $_->[0] <= $now } @{$self->{due}};

    @{$self->{due}} = grep { $_->[0] > $now } @{$self->{due}} if @due;

    for my $intent (@due) {
        my (undef, $id, $target, $payload) = @$intent;
        my $port = $self->{ports}[rand @{$self->{ports}}];
        my $conn = $self->{conns}{$port};

        if (!$conn || !$conn->is_open) {
            $conn = $self->{conns}{$port}
                  = SubmissionCluster::Connection->open($port);
        }

        $self->{busy}++;

        $conn->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                        SubmissionCluster::Client::intent($id, $payload, $target)),
                    sub {
                        my ($result) = @_;
                        my $status = $result->{status} // 0;

                        $self->{busy}--;

                        if ($status == 200) {
                            $self->{answered}{$id}++;

                        } elsif (defined $result->{lost}
                                 || $status =~ /^50[0234]$/)
                        {
                            $self->add($id, $target, $payload);

                        } else {
                            push @{$self->{wrong}}, "$id: $status $result->{body}";
                        }
                    });
    }
}

sub finished { return !$_[0]{busy} && !@{$_[0]{due}} }

package main;


my $posts = $cluster->each_turn(Posts->new(
    ports => [map { $_->{port} } @instances]));
my (%committed, %rolled_back, @open, %done, $caught);


# One transaction of an application.  On SQLite nobody else writes while it is open.

sub transaction {
    my ($round, $n) = @_;

    my @ids = map { sprintf 'r%03d-%04d', $round, $_ } 1 .. $n;
    my @sql;

    for my $id (@ids) {
        my $target = rand() < 0.3 ? 'sms.once' : 'sms.realtime';
        my $payload = qq({"for":"$id", "n":${\int rand 1e9}});

        push @sql, $store->submit_sql($id, $target, $payload);
        $run->{posted}{$id} = { target => $target, md5 => md5_hex($payload) };
        $posts->add($id, $target, $payload) if rand() < 0.1;
    }

    my $other = $store->begin(@sql);

    if (rand() < 0.15) {
        $store->rollback($other);
        @rolled_back{@ids} = ();
        $done{'rolled back'}++;

    } elsif ($store->kind ne 'sqlite' && rand() < 0.3) {
        push @open, [time + rand 3, $other, @ids];
        $done{'committed late'}++;

    } else {
        $store->unlock($other);
        @committed{@ids} = ();
        $done{'committed'}++;
    }
}


sub commit_open {
    my ($all) = @_;

    my @due = grep { $all || $_->[0] <= time } @open;

    @open = grep { my $o = $_; !grep { $_ == $o } @due } @open;

    for (@due) {
        my (undef, $other, @ids) = @$_;

        $store->unlock($other);
        @committed{@ids} = ();
    }
}


# one that takes the leader some time, until it is at work on it

sub caught {
    my ($round) = @_;

    transaction($round, MANY);

    my ($n, $end) = (in_inbox(), time + 1);

    wait_for('it moves', sub {
        my $left = in_inbox();
        $left < $n || $left == 0 || time > $end;
    });

    $caught++ if in_inbox() > 0;
}


sub in_inbox { return $store->value('SELECT count(*) FROM submission_inbox') }


for my $round (1 .. $rounds) {
    transaction($round, 20 + int rand 100);

    my $until = time + rand 0.3;

    wait_for('a moment', sub { time >= $until });

    my $leader = $lease->wait_leader;
    my ($follower) = grep { $_ != $leader && $_->running }
                     sort { rand() <=> 0.5 } @instances;
    my $what = rand;

    if ($what < 0.3) {
        caught(500 + $round);
        $lease->kill_tree($leader);
        $leader->spawn;
        $done{'leaders killed'}++;

    } elsif ($what < 0.6) {
        caught(500 + $round);

        if (my ($pid) = $lease->executors($leader)) {
            $lease->kill($leader, $pid);
            $done{'executors killed'}++;
        }

    } elsif ($what < 0.8 && $follower) {
        $lease->kill_tree($follower);
        $follower->spawn;
        $done{'followers killed'}++;

    } elsif ($what < 0.9) {
        $leader->signal('HUP');
        $done{'reloads'}++;
    }

    commit_open();
}

commit_open(1);
$_->wait_ready for @instances;

wait_for('all POSTs are answered', sub { $posts->finished }, 60);
wait_for('all rows are moved', sub { in_inbox() == 0 }, 60);
$_->close for values %{$posts->{conns}};
$run->wait_terminal(undef, 120);

note(join ', ', map { "$_: $done{$_}" } sort keys %done);
note("killed while rows were moved: ", $caught // 0);


# the books

my $intents = $store->intents;
my %expected = map { $_ => 1 } keys %committed, keys %{$posts->{answered}};
my %sent;

push @{$sent{$_->{id}}}, $_ for $gateway->sends;

is_deeply($posts->{wrong}, [], 'no POST had another answer');
is_deeply([grep { !$intents->{$_} } sort keys %expected], [],
          'what was committed, or answered, is an intent');
is_deeply([grep { !$expected{$_} } sort keys %$intents], [],
          'and nothing else is');
is_deeply([grep { $sent{$_} && !$expected{$_} } sort keys %rolled_back], [],
          'what was rolled back was not sent');
is_deeply([map { "$_: $intents->{$_}{status}" }
           grep { $run->{posted}{$_}{target} eq 'sms.realtime'
                  && $intents->{$_}{status} ne 'accepted' }
           sort keys %$intents], [], 'each with a deadline was accepted');
is_deeply([grep { !$sent{$_} && $run->{posted}{$_}{target} eq 'sms.realtime' }
           sort keys %$intents], [], 'and the gateway has seen it');
is_deeply([map { "$_: " . @{$sent{$_}} }
           grep { $run->{posted}{$_}{target} eq 'sms.once' && @{$sent{$_}} > 1 }
           sort keys %sent], [], 'one_shot at most once');
is($store->value('SELECT count(*) FROM submission_inbox_refused'), 0,
   'nothing was refused');
cmp_ok(scalar keys %committed, '>', 500, 'there were many');

$run->expect_kills;

$run->done;

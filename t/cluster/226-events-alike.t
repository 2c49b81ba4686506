# What happens to the system is told by GET /v1/events on every instance within
# ten seconds, once, in the order of time: starts, reloads, workers that die,
# instances that are not heard of, who leads and why, pauses and resumes with who
# and why, circuits, jobs, retention, and the store that goes away and comes
# back.  A client that asks with the "next" of its last answer misses nothing and
# gets nothing twice, whichever instance it asks, and whatever becomes of the
# others.  Requests do not ask the store (G19), and are answered while it is down.
#
# Goes red when: an event stays on the instance where it happened, or is told
# again by the next leader; a leader that quits does not say so; a cursor is good on one instance only; a new instance
# does not learn what was before it; a worker that is killed while it writes
# leaves a feed that cannot be read; the feed asks the store.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { SOON => 10, KILLS => 12 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'],
    targets => {
        'sms.sick' => {
            path => '/sick', policy => 'max_attempts 1000', retry => '50ms',
            more => 'circuit failures=3 open=200ms max_open=400ms;',
        },
        'sms.later' => { path => '/later', policy => 'max_attempts 3' },
    },
    instance => { workers => 2, manager => 'retention canceled=1s:1d;',
                  server => 'location /o/ { submission_api main '
                            . 'access=operate; submission_actor alice; }' });
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my @instances = $run->instances;

# what each client has been told, by id, and the cursor with which it goes on

my %clients = map { $_->{name} => { only => $_ } } @instances;

$clients{roaming} = {};


sub events {
    my ($instance, $query) = @_;

    my $answer = fetch($instance, 'GET', '/v1/events' . ($query // ''));

    die "$instance->{name} answers $answer->{status}\n"
        if ($answer->{status} // 0) != 200;

    return decode_json($answer->{body});
}


# one more look of each client, at its instance or at all by turns; an instance
# that stands still is not asked, as that would last until the client gives up

my $turn = 0;
my $still;
my $wrong = 0;

sub answers {
    my ($instance) = @_;

    return $instance->running && (!$still || $instance != $still);
}


sub look {
    for my $name (sort keys %clients) {
        my $client = $clients{$name};
        my @there = grep { answers($_) } @instances;
        my $at = $client->{only} // $there[$turn++ % @there];

        next if !answers($at);

        my $answer = fetch($at, 'GET', '/v1/events?limit=3'
                           . ($client->{next} ? "&after=$client->{next}" : ''));

        next if ($answer->{status} // 0) != 200;

        my $json = decode_json($answer->{body});

        # what was there before its first look is not news

        for my $event ($client->{next} ? @{$json->{events}} : ()) {
            if ($client->{seen}{$event->{id}}++) {
                diag("$name gets $event->{id} again from $at->{name}: "
                     . $event->{text});
                $wrong++;
            }
        }

        my @at = map { $_->{at} } @{$json->{events}};

        $wrong++ if "@at" ne join ' ', reverse sort @at;

        $client->{next} = $json->{next};
    }
}


# the events of a kind that this instance tells, the oldest first

sub of {
    my ($instance, $kind, $text) = @_;

    my $answer = fetch($instance, 'GET', '/v1/events?limit=500');

    return () if ($answer->{status} // 0) != 200;

    return grep { $_->{kind} eq $kind && $_->{text} =~ ($text // qr//) }
           reverse @{decode_json($answer->{body})->{events}};
}


sub told {
    my ($n, $kind, $text, @at) = @_;

    my $what = "$kind is told by everyone";

    wait_for($what, sub {
        look();
        !grep { of($_, $kind, $text) < $n }
              @at ? @at : grep { $_->running } @instances;
    }, SOON * slow());

    my @all = map { scalar(() = of($_, $kind, $text)) }
                  @at ? @at : grep { $_->running } @instances;

    is_deeply(\@all, [($n) x @all], "$what, once");

    my ($event) = (of($at[0] // (grep { $_->running } @instances)[0],
                      $kind, $text))[-1];

    note($event->{text});

    return $event;
}


sub act {
    my ($instance, $path, $body) = @_;

    my $answer = fetch($instance, 'POST', "/o/$path", $body);

    like($answer->{status}, qr/^20/, $path) or diag($answer->{body});
}


my $leader = $run->start;
my ($follower, $other) = grep { $_ != $leader } @instances;

look();

told(1, 'instance_started', qr/^$_ has started, with version \S+ of the module\.$/)
    for map { $_->{name} } @instances;

my $event = told(1, 'leader_acquired', qr/^$leader->{name} became the leader/);

is_deeply([sort keys %$event], [qw(at epoch id instance kind level target text)],
          'what there is of an event');
is($event->{instance}, $leader->{name}, 'where it happened');
is($event->{target}, undef, 'without a target');
is($event->{epoch}, $lease->row->{epoch}, 'the epoch of the lease');
is($event->{level}, 'info', 'its level');


# an operator pauses and resumes, by whichever instance

act($follower, 'targets/sms.later/pause', '{"reason":"they migrate"}');
$event = told(1, 'target_paused');
is($event->{text}, 'alice has paused sms.later: they migrate.', 'who and why');
is($event->{target}, 'sms.later', 'its target');
is($event->{epoch}, undef, 'and no epoch');
is($event->{level}, 'warn', 'its level');

act($other, 'targets/sms.later/resume', '{"reason":"they are done"}');
is(told(1, 'target_resumed')->{text},
   'alice has resumed sms.later: they are done.', 'who resumed it, and why');


# a circuit opens, stays open, and is closed

$gateway->behave('/sick' => 'answer 500');
$run->post(map { [$_, 'sms.sick'] } $run->ids('sick', 4));
told(1, 'circuit_open', qr/^The circuit of sms\.sick is open after 3 errors /);

wait_for('a probe opens it again', sub {
    $leader->log_count(qr/submission: circuit_open /) > 1;
}, 30 * slow());

$gateway->behave('/sick' => undef);
$run->wait_terminal('sick-', 30 * slow());
told(1, 'circuit_closed');
told(1, 'circuit_open');


# a job

act($leader, 'targets/sms.later/pause', '{}');
told(2, 'target_paused');
$run->post(map { [$_, 'sms.later'] } $run->ids('later', 1));
act($follower, 'cancels', '{"id":"away","filter":{"target":"sms.later"}}');
told(1, 'job_begun', qr/^The cancel job away of alice has begun\.$/);
told(1, 'job_done',
     qr/^The cancel job away is done: 1 intent, and 0 were skipped\.$/);
act($leader, 'targets/sms.later/resume', '{}');
told(2, 'target_resumed');
told(1, 'retention_begun',
     qr/^The first batch of retention today has stripped \d+ intents /);


# reloads, and workers that die; the leader's worker among them

$follower->reload(wait_old => 1);
told(1, 'reloaded', qr/^$follower->{name} was reloaded; /);

$lease->kill($other, ($other->worker_pids)[0]);
told(1, 'worker_died', qr/of $other->{name} died/);

$leader->reload(wait_old => 1);
told(1, 'reloaded', qr/^$leader->{name} was/);
told(1, 'leader_left', qr/^$leader->{name} stopped leading .* its worker exits/);
told(1, 'leader_acquired',
     qr/^$leader->{name} goes on leading .* it took its own lease over\.$/);


# an instance is not heard of any more, and is there again

my @stopped = $follower->worker_pids;

$still = $follower;
$follower->pause(@stopped);
told(1, 'instance_gone', qr/^$follower->{name} is gone: /, $leader, $other);
$follower->signal('CONT', $_) for @stopped;
undef $still;
told(1, 'instance_back', qr/^$follower->{name} is back\.$/);
told(1, 'instance_gone', qr/^$follower->{name} is gone: /);


# nothing asks the store

my %before = map { $_->{name} => $_->metrics } @instances;

events($_) for map { ($_) x 50 } @instances;

for my $instance (@instances) {
    my $now = $instance->metrics;
    my @more = grep { !/op="(?:lease|stats|cluster|queue|ping|job|inbox|targets|schedules|retention|attempts|tidy)/
                      && $now->{$_} != $before{$instance->{name}}{$_} }
               grep { /^store_call_seconds_count/ } keys %$now;

    is("@more", '', "$instance->{name}: requests ask the store nothing");
}


# the leader is killed with all of its processes, and comes back as another

my $epoch = $lease->row->{epoch};

$lease->kill_tree($leader);
$lease->wait_leader($epoch);

my $next = $lease->wait_leader;

my $why = "the lease of $leader->{name} had ended";

told(1, 'leader_acquired',
     qr/^$next->{name} became the leader \(epoch \d+\); $why \d+\.\d s before\.$/);
told(1, 'instance_gone', qr/^$leader->{name} is gone: it was last heard of /);

$leader->start;
told(2, 'instance_started', qr/^$leader->{name} /, $follower, $other);

wait_for('it knows what was before it', sub {
    of($leader, 'target_paused') == 2 && of($leader, 'job_done') == 1;
}, SOON * slow());

told(2, 'target_paused');
told(1, 'circuit_open');


# the leader is told to quit: the others hear why it does not lead any more, and
# that it is not there

my $quits = $lease->wait_leader;
my @rest = grep { $_ != $quits } @instances;
my $starts = of($rest[0], 'instance_started', qr/^$quits->{name} /);

$epoch = $lease->row->{epoch};
$quits->quit;
$next = $lease->wait_leader($epoch);

told(1, 'leader_left', qr/^$quits->{name} stopped leading \(epoch $epoch\): its worker exits/);
told(1, 'leader_acquired',
     qr/^$next->{name} became the leader \(epoch \d+\); $quits->{name} had given its lease up\.$/);
told(1, 'instance_gone', qr/^$quits->{name} has left\.$/);

$quits->start;
told($starts + 1, 'instance_started', qr/^$quits->{name} /);
told(1, 'leader_left', qr/^$quits->{name} stopped leading \(epoch $epoch\)/);


# the store goes away: each says so, with what it knows, and that it grows old

$store->away;

for my $instance (@instances) {
    wait_for("$instance->{name} tells", sub {
        of($instance, 'store_down', qr/^$instance->{name} cannot use the store: /);
    }, SOON * slow());
}

wait_for('what is known of others grows old', sub {
    !grep { events($_)->{ageSeconds} < 3 } @instances;
}, SOON * slow());

is(scalar(() = of($instances[0], 'job_done')), 1, 'the rest is still there');

$store->back;
$lease->wait_leader;

told(1, 'store_down', qr/^$_ /) for map { $_->{name} } @instances;
told(1, 'store_up', qr/^$_ can use the store again/)
    for map { $_->{name} } @instances;


# workers are killed while events are written

for my $n (1 .. KILLS) {
    my $instance = $instances[rand @instances];

    fetch($instances[$n % 3], 'POST',
          '/o/targets/sms.later/' . ($n % 2 ? 'pause' : 'resume'), '{}');

    my $worker = ($instance->worker_pids)[rand 2];

    $lease->kill($instance, $worker);

    wait_for('there is another one', sub {
        look();
        !grep({ $_ == $worker } $instance->worker_pids)
        && $instance->worker_pids == 2;
    });
}

fetch($instances[0], 'POST', '/o/targets/sms.later/resume', '{}');

# a worker that is killed before it has begun is not missed

wait_for('they are told', sub {
    look();
    !grep { of($_, 'worker_died') < KILLS / 2 } @instances;
}, 30 * slow());


# in the end all tell the same, and every client has got all of it once

my @lists;

wait_for('all tell the same', sub {
    look();
    @lists = map { join ' ', map { $_->{id} } @{events($_, '?limit=500')->{events}} }
             @instances;
    my %lists = map { $_ => 1 } @lists;
    keys %lists == 1;
}, 30 * slow());

my @all = reverse @{events($instances[0], '?limit=500')->{events}};
my %ids = map { $_->{id} => 1 } @all;

is(keys %ids, @all, 'every id is there once');
cmp_ok(scalar @all, '>', 30, 'all of it');

for my $name (sort keys %clients) {
    my $client = $clients{$name};

    wait_for("$name has nothing more to get", sub {
        my $n = keys %{$client->{seen}};
        look() for 1 .. 3;
        $n == keys %{$client->{seen}};
    }, 30 * slow());
}

is($wrong, 0, 'no client got anything twice, or out of order');

# the first look of the client may have come late; the roaming one has seen the
# most, and none has missed what came after its own first event

my ($pause) = grep { $_->{kind} eq 'target_paused' } @all;
my @since = grep { $_->{at} ge $pause->{at} } @all;

for my $name (sort keys %clients) {
    my @missed = grep { !$clients{$name}{seen}{$_->{id}} } @since;

    is(join("\n", map { "$_->{at} $_->{text}" } @missed), '',
       "$name has missed nothing");
}


# filters

is(scalar(() = grep { $_->{kind} ne 'job_done' }
          @{events($instances[0], '?kind=job_done')->{events}}), 0, 'by kind');
is(scalar(() = grep { $_->{target} ne 'sms.sick' }
          @{events($instances[1], '?target=sms.sick')->{events}}), 0, 'by target');


# an instance that is alone is restarted, and knows that it was

my $alone = $lease->wait_leader;

$_->quit for grep { $_ != $alone } @instances;
$epoch = $lease->row->{epoch};
my $left = of($alone, 'instance_gone', qr/^$alone->{name} has left\.$/);

$alone->quit;
$alone->start;
$lease->wait_leader($epoch);
told(1, 'leader_left', qr/^$alone->{name} stopped leading \(epoch $epoch\)/, $alone);
told($left + 1, 'instance_gone', qr/^$alone->{name} has left\.$/, $alone);

$run->done;

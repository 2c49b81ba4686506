# Schedules and webhooks together, under random faults.  Schedules of a second with
# every rule make intents that end in every way, and a receiver that fails at random
# is told of the ends, while executor workers and instances are killed, stopped for
# longer than a lease and reloaded, targets and schedules are paused and resumed, and
# intents are canceled, one by one and by jobs.  Half of the kills come when the
# schedules are due.
#
# Then the books are compared.  Every change of a schedule was written down in its
# transaction: the planned times follow each other without a gap, and each of them is
# one intent, or was left out by the schedule's own rule (G17).  Each end of an intent
# whose target notifies has one event of the same time, which was delivered at least
# once, signed, under one id, and not before the end (G16).  Nothing was made of a
# paused schedule or sent to a paused target (G14), and what the gateway has seen is
# what is recorded.
#
# SUBMISSION_TEST_LONG=1 makes it 500 faults, SUBMISSION_FAULTS another number;
# SUBMISSION_SEED repeats what was done, though not when.
#
# Goes red when: a schedule is moved on in one transaction and its intents are made
# in another; an occurrence is made of what was read before a pause, or twice; one of
# the ways in which intents end tells nobody, or in a transaction of its own; an
# event that was in doubt is given up.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::MD5 qw(md5_hex);
use Digest::SHA qw(hmac_sha256);
use File::Temp qw(tempdir);
use JSON::PP;
use List::Util qw(shuffle sum0);
use MIME::Base64 qw(encode_base64);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(time clock_gettime CLOCK_MONOTONIC);
use Time::Local qw(timegm);

use SubmissionCluster;
use SubmissionReceiver;

use constant { SECOND => 1_000_000, GRACE => 60, REFRESH => 0.2, KEY => 's' x 32 };

my $long = $ENV{SUBMISSION_TEST_LONG};
my $faults = $ENV{SUBMISSION_FAULTS} || ($long ? 500 : 20);
my $began = time;

seed();

my $dir = tempdir(CLEANUP => 1);

open(my $secret, '>', "$dir/secret") or die "$dir/secret: $!";
print $secret 'whsec_' . encode_base64(KEY, '') . "\n";
close $secret;
chmod 0600, "$dir/secret";

my $receiver = SubmissionReceiver->new("$dir/hooks", sub {
    my $luck = rand;

    return $luck < 0.2 ? 500 : $luck < 0.3 ? undef
           : $luck < 0.4 ? (503, 'Retry-After: 0') : 204;
});

my %told = (more => 'notify ops;', retry => '100ms');
my $run = SubmissionCluster::Executor->new(
    instances => ['a' .. 'c'], lease => '1s', renew => '200ms',
    acquire => '200ms', refresh => '200ms', executor => 'concurrency=64',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 3s;',
    targets => {
        'plain' => { %told, path => '/plain', type => 'http',
                     policy => 'max_attempts 1000', outcomes => 'http_422' },
        'twice' => { %told, path => '/twice', policy => 'max_attempts 2' },
        'brief' => { %told, path => '/brief', policy => 'deadline 2s' },
        'once' => { %told, path => '/once', policy => 'one_shot' },
        'quiet' => { path => '/quiet' },
    },
    instance => { main => 'worker_shutdown_timeout 1s;', manager => <<"END" });
        webhook ops concurrency=16 {
            url http://127.0.0.1:@{[$receiver->port]}/ops;
            secret_file $dir/secret;
            retry_delay 100ms;
            policy max_attempts 1000000;
        }
END

my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);
my @instances = $run->instances;
my %instance = map { $_->{name} => $_ } @instances;
my $stop = 1.3 * pace();

for my $instance (@instances) {
    $instance->{manager} .= " wake_url http://127.0.0.1:$instance->{port}/_wake;";
    $instance->{server} = 'location = /_wake { submission_wake main; '
                          . 'allow 127.0.0.1; deny all; } '
                          . 'location /o/v1/ { submission_api main access=operate; }';
}

# the gateway goes by the first letters of ids

$gateway->behave('/once' => 'delay 30', 'slow-' => 'delay 1200',
                 'no-' => 'answer 422', 'fails-' => 'answer 500');

my %schedules = (
    'all-allow' => { target => 'plain', misfire => 'all', overlap => 'allow' },
    'once-allow' => { target => 'plain', misfire => 'once', overlap => 'allow' },
    'skip-allow' => { target => 'brief', misfire => 'skip', overlap => 'allow' },
    'all-skip' => { target => 'brief', misfire => 'all', overlap => 'skip' },
    'slow-once-skip' => { target => 'plain', misfire => 'once', overlap => 'skip' },
    'no-skip-skip' => { target => 'plain', misfire => 'skip', overlap => 'skip' },
    'fails-all-allow' => { target => 'twice', misfire => 'all', overlap => 'allow' },
    'shot-all-allow' => { target => 'once', misfire => 'all', overlap => 'allow' },
    'quiet-once-allow' => { target => 'quiet', misfire => 'once',
                            overlap => 'allow' },
);
my @ids = sort keys %schedules;
my @targets = qw(plain twice brief once quiet);

my (%stopped, %paused, %resting, @pauses, @rests, %done, $jobs);


sub pick { return $_[rand @_] }

sub monotonic { return clock_gettime(CLOCK_MONOTONIC) }

sub available {
    return grep { $_->running && !$stopped{$_->{name}} } @instances;
}


# whoever is there answers; 409 where that may be

sub ask {
    my ($method, $path, $body, @others) = @_;

    my ($asked, $answer);

    wait_for("$method $path", sub {
        my $instance = pick(available()) // return;

        $asked //= monotonic();
        $answer = fetch($instance, $method, "/o/v1/$path",
                        defined $body ? encode_json($body) : '') // return;

        my $status = $answer->{status} // return;

        return 1 if grep { $status == $_ } 200, 201, @others;
        die "$method $path: $status $answer->{body}\n"
            if $status !~ /^50[0234]$/;
        return;
    }, 60);

    return { json => decode_json($answer->{body}), asked => $asked,
             answered => monotonic() };
}


# most faults are the leader's

sub victim {
    my $row = $lease->row;
    my $leader = $row && $instance{$row->{holder}};
    my @there = available();

    return $leader if rand() < 0.7 && grep { $_ == $leader } @there;
    return pick(@there);
}


# a moment at which schedules are made, or any

sub moment {
    return if rand() < 0.5;

    my $at = int(time) + 1 + rand 0.03;

    wait_for('schedules are due', sub { time >= $at });
}


sub continue_stopped {
    my ($all) = @_;

    for my $name (grep { $all || $stopped{$_}{until} <= time } keys %stopped) {
        my $was = delete $stopped{$name};

        $instance{$name}->signal('CONT', $_) for @{$was->{pids}};
    }
}


sub resume_target {
    my ($target) = @_;

    my $answer = ask('POST', "targets/$target/resume");

    push @pauses, [$target, @{delete $paused{$target}}, $answer->{asked}];
}


sub resume_schedule {
    my ($id) = @_;

    my $until = $store->now;

    ask('POST', "schedules/$id/resume");
    push @rests, [$id, delete $resting{$id}, $until];
}


# each of them is done, or could not be, and is not counted

my %actions = (
    'executor killed' => sub {
        moment();

        my $instance = victim() // return;
        my ($pid) = $lease->executors($instance) or return;

        $lease->kill($instance, $pid);
        return 1;
    },

    'instance killed' => sub {
        moment();

        my $instance = victim() // return;

        $lease->kill_tree($instance);
        $instance->spawn;
        return 1;
    },

    'stopped' => sub {
        return if available() < 2;

        my $instance = victim() // return;
        my @pids = rand() < 0.5 ? $lease->executors($instance)
                                : ($instance->master, $instance->worker_pids);

        return if !@pids;

        $instance->pause(@pids);
        $stopped{$instance->{name}} = { pids => \@pids,
                                        until => time + $stop + rand 1 };
        return 1;
    },

    'reload' => sub {
        my $instance = victim() // return;

        # one that is about to start would end

        return if !$instance->worker_pids;
        $instance->signal('HUP');
        return 1;
    },

    'target paused' => sub {
        my $target = pick(grep { !$paused{$_} } @targets) // return;

        $paused{$target} = [ask('POST', "targets/$target/pause")->{answered},
                            REFRESH + 0.4 * slow()];
        return 1;
    },

    'target resumed' => sub {
        resume_target(pick(keys %paused) // return);
        return 1;
    },

    'schedule paused' => sub {
        my $id = pick(grep { !$resting{$_} } @ids) // return;

        ask('POST', "schedules/$id/pause", { reason => 'a test' });
        $resting{$id} = $store->now;
        return 1;
    },

    'schedule resumed' => sub {
        resume_schedule(pick(keys %resting) // return);
        return 1;
    },

    'cancel' => sub {
        my $id = ask('GET', 'schedules/' . pick(@ids))->{json}{lastIntentId}
            // return;

        ask('POST', "intents/$id/cancel", undef, 409);
        return 1;
    },

    'cancel job' => sub {
        my $target = pick(keys %paused) // pick(@targets);

        ask('POST', 'cancels', { id => 'job-' . ++$jobs,
                                 filter => { target => $target } });
        return 1;
    },
);

my @often = ('executor killed', 'executor killed', 'instance killed', 'stopped',
             'reload', 'target paused', 'target resumed', 'schedule paused',
             'schedule resumed', 'cancel', 'cancel job');

$run->start;
$store->record_schedules;

my %first;

for my $id (@ids) {
    my $rule = $schedules{$id};
    my $answer = ask('PUT', "schedules/$id",
                     { submissionTarget => $rule->{target}, every => 'PT1S',
                       payload => { from => $id },
                       misfire => $rule->{misfire},
                       overlap => $rule->{overlap} });

    my ($y, $m, $d, $h, $min, $s) = split /[-T:.]/, $answer->{json}{nextRunAt};

    $first{$id} = timegm($s =~ /(\d+)/, $min, $h, $d, $m - 1, $y) * SECOND;
}

wait_for('all of them have run', sub {
    $store->value('SELECT count(*) FROM submission_schedules '
                  . 'WHERE fired_count > 0') == @ids;
});


# each of them once, then at random

my @plan = shuffle(@often);
my $count = 0;

while ($count < $faults) {
    my $name = shift @plan // pick(@often);
    my $next = time + 0.1 + rand 0.6;

    continue_stopped();

    if ($actions{$name}->()) {
        $count++;
        $done{$name}++;
    }

    wait_for('the next one', sub { time >= $next });
}

continue_stopped(1);
$_->wait_ready for @instances;

resume_target($_) for sort keys %paused;
resume_schedule($_) for sort keys %resting;

my $calm = $store->now;

wait_for('all schedules go on', sub {
    $store->value('SELECT count(*) FROM submission_schedules '
                  . "WHERE next_run_at > $calm + 2000000") == @ids;
}, 60);

ask('POST', "schedules/$_/pause") for @ids;

my $next = 0;

wait_for('all intents have ended, and all ends are told', sub {
    return if time < $next;
    $next = time + 0.2;
    $store->pending == 0;
}, 120);

diag(join ', ', map { "$_: $done{$_}" } sort keys %done);


# the plan: what became of each planned time

my $intents = $store->intents;
my (%made, @wrong, %sum);

sub planned { return strftime('%Y-%m-%dT%H:%M:%SZ', gmtime($_[0] / SECOND)) }


sub check_change {
    my ($id, $change) = @_;

    my $rule = $schedules{$id};
    my ($from, $to, $at) = @$change{qw(was_next_run_at next_run_at at)};
    my %n = map { $_ => $change->{"${_}_count"} - $change->{"was_${_}_count"} }
            qw(fired skipped missed);
    my $times = ($to - $from) / SECOND;
    my $what = "$id from " . planned($from) . ' to ' . planned($to)
               . ": fired $n{fired}, skipped $n{skipped}, missed $n{missed}";
    my @problems;

    $sum{$_} += $n{$_} for keys %n;
    $sum{'made up'} += $n{fired} - 1 if $n{fired} > 1;

    push @problems, 'its next time is not one of the plan'
        if $times != int $times || $times < 1;
    push @problems, 'what is left out is not counted'
        if $n{fired} + $n{skipped} + $n{missed} != $times;
    push @problems, 'it was paused' if $change->{was_paused_at} ne '';
    push @problems, 'it was too early' if $at < $to - SECOND;

    # which of them its rule makes; none but the last is recent, if any is

    my $some = $rule->{misfire} eq 'all' ? $times
               : $rule->{misfire} eq 'skip'
                 && $at - $to + SECOND > GRACE * SECOND ? 0 : 1;

    push @problems, "its misfire rule makes $some"
        if $n{fired} + $n{skipped} != $some;

    my $last = $intents->{$change->{was_last_intent_id}};
    my $ended = $last ? $last->{completed_at} : 0;

    push @problems, 'it may overlap'
        if $n{skipped} && $rule->{overlap} eq 'allow';
    push @problems, 'the last one had ended'
        if $n{skipped} && $ended < $at - $stop * SECOND;
    push @problems, 'the last one had not ended'
        if $n{fired} && $rule->{overlap} eq 'skip' && $ended > $at + 1000;

    for my $i (1 .. $n{fired}) {
        my $time = $to - $i * SECOND;
        my $intent = $intents->{"$id\@" . planned($time)};

        $made{"$id\@" . planned($time)}++;

        push @problems, planned($time) . ' is no intent' if !$intent;
        push @problems, planned($time) . ' was made before its time'
            if $intent && $intent->{created_at} < $time;
    }

    push @wrong, map { "$what: $_" } @problems;
}


my %next = %first;

for my $change ($store->changes) {
    my $id = $change->{schedule_id};

    next if $change->{next_run_at} == $change->{was_next_run_at}
            && $change->{fired_count} == $change->{was_fired_count};

    push @wrong, "$id: from " . planned($change->{was_next_run_at}) . ', not '
                 . planned($next{$id})
        if $change->{was_next_run_at} != $next{$id};

    $next{$id} = $change->{next_run_at};
    check_change($id, $change);
}

for my $row ($store->query('SELECT schedule_id, next_run_at, fired_count, '
                           . 'skipped_count, missed_count, last_error '
                           . 'FROM submission_schedules'))
{
    my ($id, $planned, $fired, $skipped, $missed, $error) = @$row;
    my $n = grep { /^\Q$id\E\@/ } keys %$intents;

    push @wrong, "$id: $fired were fired, and $n are there" if $n != $fired;
    push @wrong, "$id: the next is " . planned($planned) . ', by its changes '
                 . planned($next{$id})
        if $planned != $next{$id};
    push @wrong, "$id: not all times are counted"
        if $fired + $skipped + $missed != ($planned - $first{$id}) / SECOND;
    push @wrong, "$id: $error" if $error ne '';
}

push @wrong, map { "$_ was made $made{$_} times" }
             grep { $made{$_} > 1 } sort keys %made;
push @wrong, map { "$_ is of no schedule" }
             grep { !/^ / && !$made{$_} } sort keys %$intents;

for my $rest (@rests) {
    my ($id, $from, $to) = @$rest;

    push @wrong, map { "$_ was made while $id was paused" }
                 grep { /^\Q$id\E\@/ && $intents->{$_}{created_at} > $from
                        && $intents->{$_}{created_at} < $to } keys %$intents;
}


sub none {
    my ($problems, $name) = @_;

    my $n = @$problems;

    splice(@$problems, 10) if $n > 10;
    is_deeply($problems, [], $name) or diag("$n problems");
}


none(\@wrong, 'each planned time is one intent, or left out by a rule');
diag(keys(%made) . ' intents of ' . @ids . ' schedules; of planned times: '
     . join ', ', map { "$_ " . ($sum{$_} // 0) } 'fired', 'made up', 'skipped',
                                                  'missed');


# the ends, and what the receiver was told of them

my (%of, %events, %message, %ends);
my @requests = $receiver->requests;

@wrong = ();

for my $request (@requests) {
    my ($h, $json) = ($request->{headers}, decode_json($request->{body}));
    my $signed = join '.', $h->{'webhook-id'}, $h->{'webhook-timestamp'},
                           $request->{body};

    push @wrong, "$json->{data}{intentId}: the signature is wrong"
        if $h->{'webhook-signature'}
           ne 'v1,' . encode_base64(hmac_sha256($signed, KEY), '');

    push @{$of{$json->{data}{intentId}}}, { %$request, json => $json };
}

push @{$events{$_->[0]}}, $_
    for $store->query('SELECT event_of, intent_id, status, created_at '
                      . 'FROM submission_intents WHERE event_of IS NOT NULL');

for my $id (sort grep { !/^ / } keys %$intents) {
    my $intent = $intents->{$id};
    my @told = @{delete $of{$id} // []};
    my @events = @{delete $events{$id} // []};
    my $wanted = $intent->{target} eq 'quiet' ? 0 : 1;
    my %ids = map { $_->{headers}{'webhook-id'} => 1 } @told;
    my $end = $intent->{status} . ($intent->{status} eq 'exhausted'
                                   ? " $intent->{exhausted}" : '');

    $ends{$end}++;

    push @wrong, "$id, $end, has " . @events . ' events' if @events != $wanted;
    push @wrong, "$id, $end: the event is of another time"
        if grep { $_->[3] != $intent->{completed_at} } @events;
    push @wrong, "$id, $end: the event is $_->[2]"
        for grep { $_->[2] ne 'accepted' } @events;

    if (!$wanted) {
        push @wrong, "$id, $end, was told of" if @told;
        next;
    }

    push @wrong, "$id, $end, was not delivered"
        if !grep { ($_->{status} // 0) == 204 } @told;
    push @wrong, "$id, $end, has " . keys(%ids) . ' message ids'
        if keys %ids != 1;
    push @wrong, map { "$id has the message id $_, as $message{$_} has" }
                 grep { $message{$_} } keys %ids;
    push @wrong, "$id is $end, told was $_->{json}{type}"
        for grep { $_->{json}{type} ne "intent.$intent->{status}" } @told;
    push @wrong, "$id, $end, was told of before its end"
        if grep { $_->{time} * SECOND < $intent->{completed_at} - 50_000 } @told;

    @message{keys %ids} = ($id) x keys %ids;
}

push @wrong, map { "$_ is no intent, and was told of" } sort keys %of;
push @wrong, map { "$_ is no intent, and has an event" } sort keys %events;

none(\@wrong, 'each end is told of, as it is, once it is true');
diag(scalar(@requests) . ' requests of ' . keys(%message) . ' messages; '
     . join ', ', map { "$_: $ends{$_}" } sort keys %ends);


# what the gateway was sent

my %at;

push @{$at{$_->{path} =~ m{^/(\w+)} ? $1 : ''}}, $_->{monotonic}
    for $gateway->sends;

@wrong = ();

for my $pause (@pauses) {
    my ($target, $from, $until, $to) = @$pause;

    push @wrong, map { sprintf '%s: %.3f s after its pause', $target, $_ - $from }
                 grep { $_ > $from + $until && $_ < $to } @{$at{$target} // []};
}

none(\@wrong, @pauses . ' pauses of targets: nothing is sent meanwhile');

for my $id (keys %made) {
    my $payload = sprintf '{"from":"%s"}', $id =~ s/\@.*//r;

    $run->{posted}{$id} = { md5 => md5_hex($payload) };
}

my $gave_up = sum0(map { $ends{$_} } grep { /^exhausted/ } keys %ends);

cmp_ok($ends{accepted} // 0, '>', 0, 'some were accepted');
cmp_ok($ends{rejected} // 0, '>', 0, 'some rejected');
cmp_ok($gave_up, '>', 0, 'some exhausted');
cmp_ok($sum{skipped}, '>', 0, 'some skipped, as the last one had not ended');

if ($long) {
    cmp_ok($ends{$_} // 0, '>', 0, "some $_")
        for 'canceled', 'exhausted deadline_exceeded', 'exhausted max_attempts',
            'exhausted outcome_unknown';
    cmp_ok($sum{'made up'} // 0, '>', 0, 'some were made up');
    cmp_ok($sum{missed}, '>', 0, 'and some missed');
}

diag(sprintf '%d faults, %d epochs, %.0f s', $count, $lease->row->{epoch},
             time - $began);

$run->expect_kills;

$run->done;

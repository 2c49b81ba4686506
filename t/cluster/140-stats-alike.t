# What the leader knows is told by every instance alike: the numbers of each
# target, the last error, an hour of history, the instances and who leads.
# Nothing of it asks the store because somebody looks (G19).  When the leader is
# killed, its numbers grow old and say so; the next one goes on counting.
#
# Goes red when: a follower tells other numbers than the leader, or none; a
# request asks the store; the age of the numbers is not told, or an ETag hides
# that nobody has written new ones; a failover loses history or counts twice.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

# numbers are written every five seconds, and read every two

use constant { TOLD => 15, PAGES => 100, ROUNDS => 3 };

my $run = SubmissionCluster::Executor->new(instances => ['a', 'b']);
my ($gateway, $lease) = ($run->gateway, $run->leadership);

my $leader = $run->start;
my ($follower) = grep { $_ != $leader } $run->instances;


sub view {
    my ($instance, $path, @headers) = @_;

    my $answer = fetch($instance, "GET", "/v1/$path", undef,
                       headers => \@headers);

    $answer->{json} = $answer->{body} ? decode_json($answer->{body}) : undef;

    return $answer;
}

sub target {
    my ($instance, $name) = @_;

    my ($t) = grep { $_->{target} eq $name }
              @{view($instance, 'targets')->{json}{targets}};

    return $t;
}

# sums of a column over the history

sub sum {
    my ($instance, $column, $query) = @_;

    my $stats = view($instance, 'stats' . ($query // ''))->{json};
    my ($i) = grep { $stats->{columns}[$_] eq $column } 0 .. $#{$stats->{columns}};
    my $sum = 0;

    $sum += $_->[$i] for @{$stats->{rows}};

    return $sum;
}

# all calls to the store, by what each instance counts

sub calls {
    my ($instance) = @_;

    my $values = $instance->metrics;

    return { map { /^store_call_seconds_count\{op="(\w+)"\}/
                   ? ($1 => $values->{$_}) : () } keys %$values };
}


# since then, whoever looked

sub asked_nothing {
    my ($name, @before) = @_;

    my @after = map { calls($_) } $leader, $follower;

    for my $i (0, 1) {
        my %more = map { $_ => $after[$i]{$_} - $before[$i]{$_} }
                       keys %{$after[$i]};

        # the leader has duties; a follower watches the lease and tidies its own
        # file, and that is all
        my $own = $i == 0 ? qr/^(?!.*_(?:get|list)$)/ : qr/^(?:lease_|tidy$)/;

        is_deeply([grep { $more{$_} && !/$own/ } sort keys %more], [],
                  "$name ask the store for nothing");
    }
}


# what a leader finds until then was there before it led, as far as it knows

sub rebuilt {
    my ($instance) = @_;

    wait_for("$instance->{name} has read what there is", sub {
        $instance->log_count(qr/submission: queue_rebuilt /) });
}


# the numbers of an interval are there on both

rebuilt($leader);

for my $instance ($leader, $follower) {
    wait_for("$instance->{name} knows what was counted before", sub {
        @{view($instance, 'stats')->{json}{rows} // []} });
}

$gateway->behave('/' => undef);
$run->post($run->ids('good', 40));
$run->wait_terminal('good-', 30);

for my $instance ($leader, $follower) {
    wait_for("$instance->{name} tells of what was accepted",
             sub { sum($instance, "accepted") == 40 }, TOLD);
}

is(sum($_, 'submitted'), 40, "$_->{name}: all that was submitted")
    for $leader, $follower;

my ($mine, $other);
my $json = JSON::PP->new->canonical;

# the leader may have told something new between the two

eval {
    wait_for('they tell the same', sub {
        ($mine, $other) = map { target($_, 'sms.realtime') } $leader, $follower;
        $json->encode($mine) eq $json->encode($other);
    });
};

is_deeply($other, $mine, 'a follower tells the same of a target');
is($mine->{state}, 'open', 'it is open');
cmp_ok($mine->{perSecond}{'1m'}, '>', 0, 'it has a rate');
is($mine->{successRatio}{'1m'}, 1, 'all attempts were accepted');
cmp_ok($mine->{p99Ms}{'5m'}, '>=', $mine->{p50Ms}{'5m'}, 'percentiles');


# what fails is told, with its reason

$gateway->behave('/' => 'answer 503');
$run->post(map { [$_, 'sms.once'] } $run->ids('bad', 3));
$run->wait_terminal('bad-', 30);

wait_for('the follower tells of the last error',
         sub { target($follower, 'sms.once')->{lastError} }, TOLD);

my $bad = target($follower, 'sms.once');

is($bad->{lastError}{detail}, 'HTTP 503', 'the last error');
is($bad->{successRatio}{'1m'}, 0, 'none of its attempts was accepted');
is(sum($follower, 'failedAttempts', '?target=sms.once'), 3, 'its history');
is(sum($follower, 'failedAttempts', '?target=sms.realtime'), 0,
   'which is not that of another');
$gateway->behave('/' => 'reject invalid_recipient');
post_intent($leader, 'typo-1', target => 'sms.realtime');
$run->wait_terminal('typo-1', 30);

wait_for('the follower tells of a rejection',
         sub { target($follower, 'sms.realtime')->{lastError} }, TOLD);
is(target($follower, 'sms.realtime')->{lastError}{reason}, 'invalid_recipient',
   'with all of its reason');
$gateway->behave('/' => undef);

my $one = view($follower, 'targets/sms.once')->{json};

is($one->{contract}{policy}, 'one_shot', 'a target has its contract');
is(view($follower, 'targets/none')->{status}, 404, 'one that nobody knows');


# who is there

my $overview = view($follower, 'overview')->{json};

is($overview->{role}, 'follower', 'the follower knows what it is');
is($overview->{leader}{holder}, $leader->{name}, 'and who leads');
is_deeply({ map { $_->{id} => $_->{role} } @{$overview->{instances}} },
          { $leader->{name} => 'leader', $follower->{name} => 'follower' },
          'and who is there');
cmp_ok($overview->{statsAgeSeconds}, '<', 10 * slow(), 'the numbers are young');


# whoever looks asks the store for nothing, and gets nothing twice

my @before = map { calls($_) } $leader, $follower;
my %etag;

for my $path (qw(overview targets targets/sms.once stats stats?target=sms.once)) {
    for my $instance ($leader, $follower) {
        my ($same, $begun) = (0, time);

        for (1 .. 10) {
            my $etag = $etag{$path, $instance->{name}} // 'W/"none"';
            my $answer = view($instance, $path, "If-None-Match: $etag");

            $same++ if $answer->{status} == 304 && $answer->{body} eq '';
            $etag{$path, $instance->{name}} = $answer->{headers}{etag};
        }

        # what is told may change by itself every second

        cmp_ok($same, '>=', 7 - (time - $begun),
               "$path: $same of 10 are not modified");
    }
}

asked_nothing('a hundred looks', @before);


# a hundred open pages, each of which asks for all that its first screen shows

my %answers;

@before = map { calls($_) } $leader, $follower;

my @pages = map {
    { conn => SubmissionCluster::Connection->open(($leader, $follower)[$_ % 2]{port}),
      left => [('overview', 'targets', 'stats', 'events?limit=100') x ROUNDS] };
} 1 .. PAGES;

sub ask {
    my ($page) = @_;

    my $path = shift @{$page->{left}} // return $page->{done} = 1;
    my $etag = $page->{etag}{$path};

    $page->{conn}->send(
        SubmissionCluster::Client::request('GET', "/v1/$path", undef,
            $etag ? "If-None-Match: $etag" : ()),
        sub {
            my ($answer) = @_;

            $answers{$path}{$answer->{lost} // $answer->{status}}++;
            $page->{etag}{$path} = $answer->{headers}{etag};
            ask($page);
        });
}

ask($_) for @pages;
wait_for('all pages are answered', sub { !grep { !$_->{done} } @pages }, 60);
$_->{conn}->close for @pages;

asked_nothing('a hundred open pages', @before);

for my $path (sort keys %answers) {
    is(join(' ', grep { !/^(?:200|304)$/ } keys %{$answers{$path}}), '',
       "$path: each is answered");
    cmp_ok($answers{$path}{304} // 0, '>', 0, "$path: and some are not modified");
}


# the next leader goes on

$lease->kill_tree($leader);
wait_for('the follower leads', sub {
    (view($follower, 'overview')->{json}{role} // '') eq 'leader' }, 20);

is(sum($follower, 'accepted'), 40, 'the history is still there');

rebuilt($follower);
$run->post({ instances => [$follower] }, $run->ids('more', 10));
$run->wait_terminal('more-', 30);
wait_for('and it goes on', sub { sum($follower, 'accepted') == 50 }, 10);
is(sum($follower, 'submitted'), 54, 'nothing is counted twice');

is($follower->metric('attempts_total{target="sms.realtime",'
                     . 'outcome_status="accepted"}'), 10,
   'by target, what this instance has sent');
is($follower->metric('target_state{target="sms.realtime",state="open"}'), 1,
   'and the state of the target');

$run->done;

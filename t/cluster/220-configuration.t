# Two instances of one lease, of which one was reloaded with more: both say within ten
# seconds that their configurations differ, and in which parts, in GET /v1/cluster, in
# GET /v1/overview, in the metrics and in the log.  A POST for a target that only the
# other instance has is answered 503, so that it is tried again there, as HAProxy does;
# for one that nobody has it is answered 400.  When both are reloaded, all of that is over.
#
# The names of targets are written when they change, and not with each heartbeat.
#
# Goes red when: a hash depends on the order of the configuration or on the host; a
# difference is not seen, or not by both; a POST is refused for good by the instance that
# is reloaded later, or that has not read the store yet; a target that is gone everywhere
# is awaited; one that the leader does not have is called healthy; heartbeats write the
# names again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(instances => ['a', 'b'],
                                        elsewhere => qr/^(?: |line|new|often@|mine@)/);
my $store = $run->store;
my $lease = $run->leadership;
my ($a, $b) = $run->instances;
my $proxy = $run->cluster->haproxy;

my $more = <<'END';
        target added {
            gateway_type http;
            gateway_url  http://gateway/added;
            policy       deadline 1h;
        }
        schedule often every=1h target=added;
END

# the same in another order, on another port, with other numbers of its own

my @blocks = $b->{targets} =~ /(^        target .*?^        \}\n)/msg;

$b->{targets} = join '', "        inbox_max_payload 64k;\n", reverse @blocks;
$a->{targets} = "        inbox_max_payload 64k;\n$a->{targets}";
$b->{workers} = 1;
$b->{server} = 'location /o/v1/ { submission_api main access=operate; }';
$a->{server} = $b->{server};

$run->start;
$proxy->start;


# by name: what an instance says of both

sub told {
    my ($instance) = @_;

    my $c = $lease->cluster($instance) // return;

    return if @{$c->{instances}} != 2;
    return $c;
}

sub hashes {
    my ($instance) = @_;

    my $c = told($instance) // return;

    return join ' ', sort map { $_->{configuration}{hash} } @{$c->{instances}};
}

sub differs {
    my ($instance) = @_;

    my $c = told($instance) // return 'nothing';

    return join ' ', $c->{configuration}{same} ? 'same' : 'other',
                     @{$c->{configuration}{differs}};
}

sub overview {
    my ($instance) = @_;

    my $o = decode_json(fetch($instance, 'GET', '/v1/overview')->{body});

    return join ' ', $o->{configuration}{same} ? 'same' : 'other',
                     @{$o->{configuration}{differs}};
}

sub metric { return $_[0]->metric('configuration_differs') }

sub error {
    my ($result) = @_;

    return join ' ', $result->{status},
           decode_json($result->{body})->{error}{code};
}

sub both {
    my ($what, $parts, $differs) = @_;

    my $began = time;

    for my $instance ($a, $b) {
        wait_for("$what: $instance->{name} says so in /v1/cluster",
                 sub { differs($instance) eq $parts }, 10);
        wait_for('and in /v1/overview',
                 sub { overview($instance) eq $parts }, 10);
        wait_for('and in the metrics',
                 sub { metric($instance) == $differs }, 10);
    }

    cmp_ok(time - $began, '<', 10 * SubmissionCluster::slow(),
           "$what: within ten seconds");
}

sub names {
    return join ' ', map { join ':', @$_ } $store->query(
        'SELECT holder_id, names_hash, names FROM '
        . 'submission_manager_target_names ORDER BY holder_id');
}


wait_for('both are there', sub { told($a) && told($b) });
both('the same configuration', 'same', 0);

my ($hash, $other) = split ' ', hashes($a);

is($hash, $other, 'in another order it has the same hash');
like($hash, qr/\A[0-9a-f]{12}\z/, 'which is short');
is($a->metric(qq(configuration_info{hash="$hash"})), 1, 'and in the metrics');
is(told($b)->{instance}{configuration}{hash}, $hash, 'who is asked has it');

my $since = told($a)->{instances}[0]{configuration}{since};

is(error(post_intent($b, 'early', target => 'added')), '400 unknown_target',
   'a target that nobody has');

# the hash is of what is configured, and not of when

my $kept = names();
my $beats = sub {
    join ' ', map { $_->{heartbeatAt} } @{told($a)->{instances}};
};
my $beat = $beats->();

wait_for('they live on', sub { $beats->() ne $beat });
is(names(), $kept, 'heartbeats leave the names alone');
is(told($a)->{instances}[0]{configuration}{since}, $since,
   'and it is known since when it is the same');

# one is reloaded

$a->{targets} .= $more;
$a->reload(wait_old => 1);

both('one was reloaded', 'other targets schedules', 1);
isnt(hashes($b), "$hash $hash", 'they have two hashes');
isnt(names(), $kept, 'and other names');

wait_for('it is in the log of the other', sub {
    $b->log_count(qr/\[warn\][ ].*configuration_differs[ ]manager=main
                     [ ]parts="targets","schedules":/x) == 1;
});

my $result;

wait_for('the other knows that there is such a target', sub {
    $result = post_intent($b, 'new', target => 'added');
    error($result) eq '503 target_not_here_yet';
}, 10);

is($result->{headers}{'retry-after'}, 1, 'and says when to try again');
is(decode_json($result->{body})->{error}{details}{field}, 'submissionTarget',
   'what it is about');
is(post_intent($a, 'new', target => 'added')->{status}, 200,
   'the first one takes it');

is(join(' ', map { post_intent($proxy, "new-$_", target => 'added')->{status} }
             1 .. 8),
   join(' ', (200) x 8), 'by HAProxy, clients see nothing of it');

is(error(post_intent($b, 'typo', target => 'addd')), '400 unknown_target',
   'what nobody has is refused for good');

my $lines = join '', map {
    encode_json({ intentId => "line-$_", submissionTarget => $_,
                  payload => {} }) . "\n"
} 'added', 'addd', 'http.hook';

my $bulk = SubmissionCluster::Client::request('POST', '/v1/intents', $lines);

$bulk =~ s{application/json}{application/x-ndjson};

my $conn = SubmissionCluster::Connection->open($b->{port});
my $answer;

$conn->send($bulk, sub { $answer = $_[0] });
wait_for('a bulk is answered', sub { $answer });
$conn->close;

my @lines = split /\n/, $answer->{body};

is(join(' ', map { decode_json($_)->{status} } @lines), '503 400 200',
   'each line of a bulk has its own answer');

my $rule = encode_json({ submissionTarget => 'added', every => 'PT1H' });

is(error(fetch($b, 'PUT', '/o/v1/schedules/mine', $rule)),
   '503 target_not_here_yet', 'a schedule for it');
is(fetch($a, 'PUT', '/o/v1/schedules/mine', $rule)->{status}, 201,
   'which the first one takes');
is(error(fetch($b, 'POST', '/o/v1/schedules/mine/run')),
   '503 target_not_here_yet', 'and runs, but the other does not');
is(fetch($b, 'POST', '/o/v1/targets/added/pause')->{status}, 200,
   'any instance pauses it');
is(fetch($b, 'POST', '/o/v1/targets/added/resume')->{status}, 200,
   'and lets it go on');

# a replay with the contract of today

$run->wait_terminal('new');
$result = fetch($b, 'POST', '/o/v1/intents/new/replay');

is(error($result), '503 target_not_here_yet', 'the other does not replay it');
is($result->{headers}{'retry-after'}, 1, 'and says when to try again');
is(fetch($a, 'POST', '/o/v1/intents/new/replay')->{status}, 200,
   'the first one does');

# a POST of many costs no call to the store

my $calls = $b->metric(qr/^store_call_seconds_count\{op="intents_submit"\}/);

post_intent($b, "none-$_", target => 'added') for 1 .. 20;

is($b->metric(qr/^store_call_seconds_count\{op="intents_submit"\}/), $calls,
   'the store is not asked about it');

# a leader that has other targets does not vouch for one that it may not know

sub health {
    return decode_json(fetch($a, 'GET', '/v1/targets/added')->{body})->{health};
}

$a->quit;
is($lease->wait_leader->{name}, 'b', 'the other leads');
$a->start;
wait_for('nobody calls it healthy', sub { !defined health() });
is(post_intent($a, 'while', target => 'added')->{status}, 200, 'it is taken all the same');

# the other is reloaded, too

$b->{targets} .= $more;
$b->reload(wait_old => 1);

both('both were reloaded', 'same', 0);
wait_for('its health is known', sub { ((health() // {})->{state} // '') eq 'ok' });
isnt(hashes($b), "$hash $hash", 'the hash is another one');
is(post_intent($b, 'new', target => 'added')->{status}, 200,
   'the other takes what it refused');
is($b->log_count(qr/\[notice\] .*configuration_same manager=main/), 1,
   'it is in the log');

# an instance that has not read yet what others have refuses nothing for good

$b->quit;
$store->set_version(3);                 # as if of a newer release
$b->spawn;

wait_for('it answers', sub { (fetch($b, 'GET', '/readyz')->{status} // 0) == 503 });
is(error(post_intent($b, 'blind', target => 'addd')), '503 target_not_here_yet',
   'any target may be there');
$store->set_version(1);
$b->wait_ready;

wait_for('it has looked', sub {
    error(post_intent($b, 'blind', target => 'addd')) eq '400 unknown_target';
}, 30);

$lease->wait_leader;
both('and is like the other', 'same', 0);

# each part is named

$a->{manager} .= ' retention forget=30d;';
$a->reload(wait_old => 1);
both('another retention', 'other retention', 1);

$run->wait_terminal($_) for 'new', 'line-http.hook';

$run->done;

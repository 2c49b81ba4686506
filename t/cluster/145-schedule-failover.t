# A recurring task on two instances, with an interval of a second in place of ten
# minutes: the follower is asked for it, the leader makes each occurrence on time, and
# is killed in the middle.  The next leader goes on with the plan: each planned time
# is one intent, none is missing where the schedule makes up for what it missed, and
# none comes late once there is a leader (G17).
#
# queue_refresh_interval is a minute: what is on time is so by the timer that is
# set for it, and by the wake.
#
# Goes red when: the next time is computed from now; a schedule is moved on in one
# transaction and its intent made in another; the leader looks only now and then; a
# change on another instance does not wake it; a new leader does not look at once.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use POSIX qw(strftime);
use Test::More;
use Time::Local qw(timegm);

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '2s', refresh => '60s');
my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);

for my $instance ($run->instances) {
    $instance->{manager} .= " wake_url http://127.0.0.1:$instance->{port}/_wake;";
    $instance->{server} = 'location = /_wake { submission_wake main; '
                          . 'allow 127.0.0.1; deny all; } '
                          . 'location /o/v1/ { submission_api main access=operate; }';
}

my $leader = $run->start;
my ($follower) = grep { $_ != $leader } $run->instances;


sub ask {
    my ($instance, $method, $path, $body) = @_;

    my $answer = fetch($instance, $method, "/o/v1/schedules/$path",
                       defined $body ? encode_json($body) : undef);

    return { %$answer, json => eval { decode_json($answer->{body}) } };
}

# when each was planned, and how late it was made, in seconds

sub occurrences {
    my ($id) = @_;

    return map {
        $_->{id} =~ /\@(\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)Z\z/ or die;
        my $planned = timegm($6, $5, $4, $3, $2 - 1, $1);
        { at => $planned, late => $_->{created_at} / 1e6 - $planned };
    } sort { $a->{id} cmp $b->{id} } values %{$store->intents("$id\@")};
}

sub gaps {
    my @times = map { $_->{at} } @_;

    return grep { $times[$_] != $times[$_ - 1] + 1 } 1 .. $#times;
}

sub late { return grep { $_->{late} > 3 * slow() } @_ }


my %task = (submissionTarget => 'http.hook', payload => { task => 'sync' },
            every => 'PT1S', overlap => 'allow');

is(ask($follower, 'PUT', 'all', { %task, misfire => 'all' })->{status}, 201,
   'a schedule that makes up for what it missed');
is(ask($follower, 'PUT', 'once', \%task)->{status}, 201, 'and one that does not');

wait_for('some have run', sub { occurrences('all') >= 4 });

my @first = occurrences('all');

is_deeply([late(@first)], [], 'each is on time');
is_deeply([gaps(@first)], [], 'one a second');
is_deeply([grep { $_->{late} < 0 } @first], [], 'and none before its time');
wait_for('and reached the gateway', sub { $gateway->count >= 4 });

my $paused = ask($follower, 'POST', 'once/pause', { reason => 'a test' });
ok($paused->{json}{paused}, 'the other is paused');

my $since = $store->now / 1e6;

$lease->kill_tree($leader);

my $killed = $store->now / 1e6;

wait_for('the other one leads', sub { ($lease->leaders)[0] });

# nobody wakes it; at its first refresh, a minute later, it would look, too

wait_for('it makes what was due', sub {
    my @all = occurrences('all');
    @all && $all[-1]{at} > $killed;
}, 90);

cmp_ok($store->now / 1e6 - $killed, '<', 30 * slow(), 'it looked by itself, at once');

wait_for('several of its times have passed',
         sub { $store->now / 1e6 > $since + 4 });

my $before = $store->now / 1e6;

is(ask($follower, 'POST', 'once/resume')->{status}, 200, 'it goes on');

wait_for('it goes on after the failover', sub {
    my @all = occurrences('all');
    @all && $all[-1]{at} > $before + 4;
});

my @all = occurrences('all');
my @once = occurrences('once');

is_deeply([gaps(@all)], [], 'no planned time is missing, and none is off');
is_deeply([late(grep { $_->{at} > $before + 1 } @all, @once)], [],
          'they are on time again');
cmp_ok(scalar(my @gaps = gaps(@once)), '>=', 1,
       'what was missed was not made up by the other');

my $s = ask($follower, 'GET', 'once')->{json};

is($s->{fired}, scalar(@{[occurrences('once')]}), 'all of them are counted');
cmp_ok($s->{missed}, '>', 0, 'and so is what was missed');

ask($follower, 'DELETE', $_) for 'all', 'once';
$run->wait_terminal('all@');
$run->wait_terminal('once@');

$leader->start;
$run->done;

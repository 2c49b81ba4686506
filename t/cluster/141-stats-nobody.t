# While nobody leads, the numbers of the last leader grow old and say so, and
# the backlog is counted in the store: up to a bound, and once every few seconds
# however many look (G19).  An instance with "executor off" is all that is left
# here, so that nobody can lead.
#
# Goes red when: the count is made for each who looks; old numbers are told as
# young ones; somebody is told to lead who does not, or nobody while somebody does;
# an instance without an executor never hears of the leader's numbers.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(instances => ['a'], lease => '2s',
                                           renew => '900ms');
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my ($off) = $lease->instances(['off'], executor => 'off',
                              targets => $run->targets);
my $leader = $run->start;


sub view {
    my ($path, @headers) = @_;

    my $answer = fetch($off, 'GET', "/v1/$path", undef, headers => \@headers);

    return $answer->{body} ? decode_json($answer->{body}) : undef;
}

sub target {
    my ($name) = @_;

    my ($t) = grep { $_->{target} eq $name } @{view('targets')->{targets}};

    return $t;
}

sub calls { return $off->calls($_[0]) }

sub counts { return calls('backlog_get') }


# while somebody leads, the instance hears of it and counts nothing

$run->post($run->ids('first', 5));
$run->wait_terminal('first-', 30);

wait_for('an instance without an executor has the numbers', sub {
    @{view('stats')->{rows}} && (target('sms.realtime')->{perSecond}{'1m'} // 0) > 0;
}, 10);

# A busy machine may read the lease too late once.  An instance that does not
# look at what is left of it is late in every round.

my ($looks, $nobody, $counted, $read);

for (1 .. 3) {
    ($looks, $nobody, $counted, $read) = (0, 0, counts(), calls('stats_get'));

    wait_for('the lease is read again and again', sub {
        $looks++;
        $nobody++ if !defined view('targets')->{leader};
        return calls('stats_get') >= $read + 8;
    }, 30);

    last if $nobody < $looks / 10;
}

is(view('overview')->{leader}{holder}, $leader->{name}, 'and knows who leads');
cmp_ok($nobody, '<', $looks / 10, "however short the lease is: $looks looks");
cmp_ok(counts() - $counted, '<=', $nobody, 'nothing is counted while there is a leader');

# a renewal may be under way, or not have been read

$lease->kill_tree($leader);
wait_for('the lease is over',
         sub { $lease->row->{expires_at} < $run->store->now }, 30);
$read = calls('stats_get');
wait_for('that has been read', sub { calls('stats_get') >= $read + 2 }, 30);
is(view('overview')->{leader}, undef, 'nobody leads');

$run->post({ instances => [$off] }, $run->ids('later', 7));
$run->post({ instances => [$off] }, map { [$_, 'sms.once'] } $run->ids('once', 2));

# a count that was made before these

wait_for('the backlog is counted', sub {
    (target('sms.realtime')->{due} // 0) == 7
    && (target('sms.once')->{due} // 0) == 2 }, 12);

my $list = view('targets');

is($list->{leader}, undef, 'nobody leads');
ok($list->{backlog} && !$list->{backlog}{partial}, 'and it says that it has counted');
is(target('sms.once')->{due}, 2, 'by target');
is(target('sms.once')->{inFlight}, undef, 'what it cannot know it does not tell');
is(view('targets/sms.realtime')->{due}, 7, 'of one target, too');

my $before = counts();

view($_ % 2 ? 'targets' : 'targets/sms.once') for 1 .. 100;

cmp_ok(counts() - $before, '<=', 1 + 3 * slow(),
       'a hundred looks share a count every few seconds');
cmp_ok(counts() - $before, '<', 50, 'at most');


# the age of the numbers grows, and an ETag does not hide it

my $age = view('overview')->{statsAgeSeconds};

wait_for('the numbers grow old', sub {
    view('overview')->{statsAgeSeconds} > $age + 2 }, 10);

cmp_ok($off->metric('stats_age_seconds'), '>=', 1, 'as a metric, too');

# whoever leads next sends what is left

$leader->start;
$run->wait_terminal('later-', 60);
$run->wait_terminal('once-', 60);
wait_for('and its numbers are young again', sub {
    view('overview')->{statsAgeSeconds} <= 5 }, 20);

$run->done;

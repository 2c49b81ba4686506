# What retention does on a day is told at its first batch and when the day is over,
# whoever leads by then: the counts go from one leader to the next.  If a leader was
# killed, what it has not told is not known, and the feed says so.
#
# The clock of the hosts, which is SQLite's, is set to just before midnight.
#
# Goes red when: a new leader begins to count anew, or tells of no day that it has not
# begun; the first batch is told again; counts of a leader that was killed are told as
# if they were all.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds qw(sqlite faketime no_checker);
use SubmissionCluster;

use constant { DAY => 86400, EARLY => 3600, LATE => 12 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '2s', refresh => '500ms',
    instance => {
        main => 'env LD_PRELOAD; env FAKETIME_TIMESTAMP_FILE; '
                . 'env FAKETIME_NO_CACHE; env FAKETIME_DONT_FAKE_MONOTONIC;',
        manager => 'retention strip=1s;' });
my ($store, $lease) = ($run->store, $run->leadership);
my $clock = $run->cluster->{dir} . '/clock';

# an hour before a midnight; while nobody leads, it becomes a moment before it

sub midnight {
    my ($by) = @_;

    $by += DAY - time % DAY;

    open my $out, '>', "$clock.new" or die "$clock: $!";
    printf $out "%+.3f\n", $by;
    close $out or die "$clock: $!";
    rename "$clock.new", $clock or die "$clock: $!";
}

midnight(-EARLY());

$ENV{LD_PRELOAD} = SubmissionNeeds::faketime();
$ENV{FAKETIME_TIMESTAMP_FILE} = $clock;
$ENV{FAKETIME_NO_CACHE} = 1;
$ENV{FAKETIME_DONT_FAKE_MONOTONIC} = 1;

my ($leader, $other) = $run->instances;

sub of {
    my ($instance, $kind) = @_;

    my $answer = fetch($instance, 'GET', "/v1/events?limit=500&kind=$kind");

    return map { $_->{text} } reverse @{decode_json($answer->{body})->{events}};
}

sub stripped {
    my (@ids) = @_;

    $run->post(map { [$_, 'sms.realtime'] } @ids);

    wait_for("@ids: all are stripped", sub {
        $store->value('SELECT count(*) FROM submission_intents WHERE '
                      . 'stripped_at IS NOT NULL AND intent_id IN ('
                      . join(', ', map { "'$_'" } @ids) . ')') == @ids;
    }, 60);
}

# the numbers of a leader go to the next one

$leader->start;
$lease->wait_leader;
stripped(qw(one two three));

wait_for('the first batch is told', sub { of($leader, 'retention_begun') });
like((of($leader, 'retention_begun'))[0],
     qr/^The first batch of retention today has stripped [1-3] intents/,
     'in words');

$leader->quit;
midnight(-LATE() * slow());
$other->start;
is($lease->wait_leader, $other, 'the other leads');
stripped(qw(four five));

is(scalar(my @begun = of($other, 'retention_begun')), 1,
   'the first batch was told, and is not told again');

wait_for('the end of the day is told', sub { of($other, 'retention_done') },
         2 * LATE * slow());
$leader->start;
like((of($other, 'retention_done'))[0],
     qr/^The last batch of retention on \d{4}-\d\d-\d\d was at \d\d:\d\d:\d\d UTC: 5 intents were stripped and 0 forgotten that day\.$/,
     'with what both have done');

# a leader that is killed

stripped(qw(six seven));
wait_for('the new day is told', sub { of($other, 'retention_begun') == 2 });
wait_for('what it has done is in its document', sub {
    $store->value('SELECT stats FROM submission_stats') =~ /"retention":\[\d+,\d+,2,/;
}, 30);

$lease->kill_tree($other);
is($lease->wait_leader, $leader, 'the first one leads again');
wait_for('it has learned of the day', sub { of($leader, 'retention_begun') == 2 }, 30);
stripped(qw(eight));

midnight(DAY + 5);

wait_for('the end of that day is told', sub { of($leader, 'retention_done') == 2 }, 60);
like((of($leader, 'retention_done'))[1],
     qr/^The last batch of retention on \S+ that is known of was at \S+ UTC: at least [23] intents/,
     'with what is known');

delete $ENV{LD_PRELOAD};

# not $run->done: that looks for the attempts of all that was sent

$run->cluster->done;

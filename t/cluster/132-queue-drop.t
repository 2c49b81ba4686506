# Intents that are canceled leave the queue of the leader, and do not wait in its
# memory until they are due: canceled on its own instance, on another one, and by a
# job.  Whoever waits for the end of one is told of it.
#
# Goes red when: the queue keeps what was canceled; the leader does not look at
# the cancels of other instances; a job does not tell those that wait.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { INTENTS => 60, HERE => 11, THERE => 13 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    instance => { server => 'location /operate/ { '
                            . 'submission_api main access=operate; }' });
my $leader = $run->start;
my ($other) = grep { $_ != $leader } $run->instances;
my $later = strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(time + 3600));
my @ids = $run->ids('later', INTENTS);

sub depth { return $leader->metric(qr/^queue_depth\{/) }

sub cancel {
    my ($instance, $id) = @_;

    return fetch($instance, 'POST', "/v1/intents/$id/cancel")->{status};
}

for my $id (@ids) {
    my $answer = fetch($leader, 'POST', '/v1/intents',
                       qq({"intentId":"$id","submissionTarget":"sms.realtime",)
                       . qq("payload":1,"notBefore":"$later"}));

    $answer->{status} == 200 or die "not taken: $answer->{body}\n";
}

wait_for('all are in the queue', sub { depth() == INTENTS });

my @here = splice @ids, 0, HERE;
my @there = splice @ids, 0, THERE;

is(scalar(grep { cancel($leader, $_) == 200 } @here), HERE,
   'some are canceled where the leader is');
wait_for('they leave the queue', sub { depth() == INTENTS - HERE }, 15);

is(scalar(grep { cancel($other, $_) == 200 } @there), THERE,
   'some are canceled elsewhere');
wait_for('they leave it, too', sub { depth() == @ids }, 15);


# by a job, and one waits for it

my $ended;
my $conn = SubmissionCluster::Connection->open($leader->{port});

$conn->send(SubmissionCluster::Client::request('GET',
                "/v1/intents/$ids[0]?waitSeconds=30&until=terminal", ''),
            sub { $ended = [time, $_[0]] });

my $begun = time;
my $job = fetch($other, 'POST', '/operate/cancels',
                '{"id":"all","filter":{"idPrefix":"later-"}}');

is($job->{status}, 200, 'a job');

wait_for('the last ones leave it', sub { depth() == 0 }, 15);
wait_for('who waits is answered', sub { $ended }, 40);

is(decode_json($ended->[1]{body})->{status}, 'canceled', 'it was canceled');
cmp_ok($ended->[0] - $begun, '<', 15 * slow(), 'and told of it');

$job = decode_json(fetch($other, 'GET', '/operate/cancels/all')->{body});

is($job->{state}, 'done', 'the job is done');
is($job->{done}, scalar @ids, 'with what was left');
is($run->gateway->count, 0, 'nothing was sent');

$conn->close;
$run->done;

# The store refuses to begin an attempt of one intent, because of a constraint or a
# trigger that somebody has added.  The intent is pending, and everything says so
# (G20): an error line names it, the numbers of the leader have no end of it, and the
# others of its batch are sent (G10).  It is not asked about with every look at the
# store, and is sent when somebody has mended it.
#
# Goes red when: an intent that was refused leaves the queue as if it had been
# canceled, and is counted so; the log does not name it; it comes again with each
# look at the store.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use Test::More;

use SubmissionCluster;

use constant TOLD => 15;      # numbers are written every five seconds

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s', refresh => '1s',
    instance => { workers => 1 });
my ($gateway, $store) = ($run->gateway, $run->store);
my $a = $run->start;
my @good = $run->ids('good', 10);


# the sum of a column over the history

sub counted {
    my ($column) = @_;

    my $stats = decode_json(fetch($a, 'GET', '/v1/stats')->{body});
    my ($i) = grep { $stats->{columns}[$_] eq $column } 0 .. $#{$stats->{columns}};
    my $sum = 0;

    $sum += $_->[$i] for @{$stats->{rows}};

    return $sum;
}


sub look { return decode_json(fetch($a, 'GET', "/v1/intents/$_[0]")->{body}) }


wait_for('what there was is read', sub { $a->log_count(qr/queue_rebuilt/) });

my $epoch = $run->leadership->row->{lease_epoch};

$store->refuse_begin('bad');
$run->post('bad', @good);
$run->wait_terminal('good-');

wait_for('the store has refused it', sub { $a->log_count(qr/store_refused/) });

# the leader looks again and again, and an intent that comes later is sent

my $calls = $a->calls('queue_page');

wait_for('it has looked again', sub { $a->calls('queue_page') >= $calls + 3 });

$run->post('later-1');
$run->wait_terminal('later-');

wait_for('the ends are counted', sub { counted('accepted') == 1 + @good }, TOLD);

is(counted('canceled'), 0, 'none was canceled');
is($a->log_count(qr/\[error\] .*attempt_not_begun .*intent_id="bad" .*
                    test_refuse_begin/x), 1, 'the log names it, and says why');
is($a->log_count(qr/attempt_not_begun/), 1, 'once, and no other');

my $bad = look('bad');

is($bad->{status}, 'pending', 'it is pending');
is($bad->{attemptCount}, 0, 'it was not tried');
is(scalar($gateway->sends_of('bad')), 0, 'nothing was sent');
is($run->leadership->row->{lease_epoch}, $epoch, 'the same leader');

# it is mended, and its time is set

my $now = $store->now;

$store->refuse_begin;
$store->query("UPDATE submission_intents SET next_attempt_at = $now, "
              . "last_modified_at = $now WHERE intent_id = 'bad'");

wait_for('it is sent', sub { look('bad')->{status} eq 'accepted' });
wait_for('its end is counted', sub { counted('accepted') == 2 + @good }, TOLD);
is(counted('canceled'), 0, 'as what it is');

$run->done;

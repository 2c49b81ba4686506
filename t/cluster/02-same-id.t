# One intentId, 64 clients at once, two instances: exactly one creation.  Who
# sent what was created gets 200, all but one of them with Idempotent-Replayed;
# who sent another payload or another target gets 409.
#
# Goes red when: a batch looks for an intent and inserts it in two steps; rows
# of one id within a batch do not see each other; the payload or the target is
# left out of the comparison.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { CLIENTS => 64, ROUNDS => 100 };

# most clients agree, some do not

my @bodies = (
    ['sms.realtime', '{"text":"one"}'],
    ['sms.realtime', '{"text":"two"}'],
    ['sms.realtime', '{"text": "one"}'],
    ['push.marketing', '{"text":"one"}'],
);

my $cluster = SubmissionCluster->new;

my @instances = map { $cluster->instance($_) } qw(a b);

$cluster->start;

my @conns = map {
    SubmissionCluster::Connection->open($instances[$_ % 2]{port})
} 0 .. CLIENTS - 1;

my (%winners, @problems);

for my $round (1 .. ROUNDS) {
    my $id = "same-$round";
    my @results;

    # all of them are out before the first answer is looked at

    for my $k (0 .. CLIENTS - 1) {
        my $i = ($k + 3 * $round) % CLIENTS;
        my $which = $i % 8 < 5 ? 0 : $i % 8 - 4;
        my ($target, $payload) = @{$bodies[$which]};

        $conns[$i]->send(
            SubmissionCluster::Client::request('POST', '/v1/intents',
                SubmissionCluster::Client::intent($id, $payload, $target)),
            sub { push @results, { %{$_[0]}, which => $which } });
    }

    wait_for('all are answered', sub { @results == CLIENTS });

    my @created = grep {
        ($_->{status} // 0) == 200 && !$_->{headers}{'idempotent-replayed'};
    } @results;

    push @problems, "$id: created " . @created . ' times' if @created != 1;

    my $winner = $created[0] // next;

    $winners{"$winner->{port} $winner->{which}"}++;

    for my $result (@results) {
        my $what = join(' ', $result->{lost} // $result->{status},
                        $result->{headers}{'idempotent-replayed'} // ());

        if ($result->{which} != $winner->{which}) {
            my ($existing, $incoming) = map { $bodies[$_->{which}][0] }
                                        $winner, $result;

            next if $what eq '409'
                    && $result->{body} =~ /"code":"idempotency_conflict"/
                    && $result->{body} =~ /"existingTarget":"$existing"/
                    && $result->{body} =~ /"incomingTarget":"$incoming"/;

        } elsif ($result == $winner || $what eq '200 true') {
            next if $result->{body} eq $winner->{body};
        }

        push @problems, "$id: $result->{which} got $what $result->{body}, "
                        . "$winner->{which} had won";
    }
}

is_deeply(\@problems, [], ROUNDS . ' rounds: one creation each, the rest as it'
                          . ' should be');

is_deeply([$cluster->store->query('SELECT count(*), count(DISTINCT intent_id) '
                                  . 'FROM submission_intents')],
          [[ROUNDS, ROUNDS]], 'the store has each intent once');

note("first was instance's port and body: ",
     join(', ', map { "$_: $winners{$_} times" } sort keys %winners));

$cluster->done;

# Retention, with times of seconds: what was accepted loses its payload and its
# attempts and still answers duplicates; what was exhausted is forgotten, and its id is
# free again; what is pending is never touched, however old (G9).  Attempts go on
# meanwhile, and another leader goes on with it.
#
# Goes red when: the duty does not run, or not by the next leader; a pending intent is
# stripped or forgotten; the hash goes with the payload; nothing is counted.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use List::Util qw(sum);
use Test::More;

use SubmissionCluster;

use constant { ACCEPTED => 400, EXHAUSTED => 50, PENDING => 20 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    targets => { 'sms.later' => { path => '/later', retry => '1h',
                                  policy => 'deadline 1d' } },
    instance => { manager => 'retention strip=2s exhausted=1s:2s;' });
my ($gateway, $store) = ($run->gateway, $run->store);
my $leader = $run->start;


sub count {
    return $store->value("SELECT count(*) FROM submission_intents WHERE $_[0]");
}

sub metric {
    my ($name) = @_;

    return sum(map { $_->metric($name) } grep { $_->running } $run->instances);
}

sub stripped {
    my ($n, $like) = @_;

    wait_for("$n of $like are stripped", sub {
        count("intent_id LIKE '$like-%' AND stripped_at IS NOT NULL") == $n;
    }, 60);
}


$gateway->behave('/later' => 'answer 503');
$gateway->behave('/once' => 'answer 503');

my @ok = $run->ids('ok', ACCEPTED);
my @once = $run->ids('once', EXHAUSTED);
my @later = $run->ids('later', PENDING);

my %payload = map { $_ => qq({"of":"$_"}) } @ok;

$run->post((map { [$_, 'sms.realtime', $payload{$_}] } @ok),
           (map { [$_, 'sms.once'] } @once), map { [$_, 'sms.later'] } @later);

wait_for('the pending ones have had an attempt', sub {
    count("intent_id LIKE 'later-%' AND attempt_count = 1") == PENDING;
}, 30);

stripped(ACCEPTED, 'ok');

is($store->value('SELECT count(*) FROM submission_attempts '
                 . "WHERE intent_id LIKE 'ok-%'"), 0, 'with their attempts');
is(count("intent_id LIKE 'ok-%' AND length(payload) > 0"), 0,
   'and their payloads');
is(count("intent_id LIKE 'ok-%' AND status = 'accepted'"), ACCEPTED,
   'and are accepted still');

wait_for('what was exhausted is forgotten', sub {
    count("intent_id LIKE 'once-%'") == 0;
}, 60);

my $again = post_intent($leader, $ok[0], payload => $payload{$ok[0]});

is($again->{status}, 200, 'a duplicate is answered');
is($again->{headers}{'idempotent-replayed'}, 'true', 'as one');

my $other = post_intent($leader, $ok[1],
                        payload => '{"of":"another"}');

is($other->{status}, 409, 'and another intent is refused');

# by the leader, when it has heard that it is done

wait_for('it is counted', sub {
    metric('intents_stripped_total') >= ACCEPTED + EXHAUSTED
    && metric('intents_forgotten_total') >= EXHAUSTED;
});
cmp_ok(metric('intents_stripped_total'), '>=', ACCEPTED + EXHAUSTED,
       'it is counted');
is(metric('intents_forgotten_total'), EXHAUSTED, 'so is what was forgotten');


# the next leader goes on

$run->leadership->kill_tree($leader);

my ($next) = grep { $_ != $leader } $run->instances;
my @more = $run->ids('more', 100);

$run->leadership->wait_leader;
post_intent($next, $_) for @more;

stripped(scalar @more, 'more');

is(count("intent_id LIKE 'later-%' AND status = 'pending' "
         . 'AND stripped_at IS NULL AND length(payload) > 0'), PENDING,
   'what is pending is as it was');
is($store->value('SELECT count(*) FROM submission_attempts '
                 . "WHERE intent_id LIKE 'later-%'"), PENDING,
   'with its attempts');
is_deeply([grep { scalar(my @s = $gateway->sends_of($_)) != 1 } @ok, @more], [],
          'and what has ended was sent once');

# not $run->done: that looks for the attempts of all that was sent

$run->cluster->done;

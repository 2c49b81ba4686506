# A roll adds a target, and the leader is reloaded last.  Meanwhile rows of the inbox for
# that target stay where they are, more of them than a page has, and those of other
# targets behind them are moved; a job that replays intents of it waits, and another job
# is done.  When the leader has the target, all of that is sent.  A row for a target that
# nobody has any more is refused.
#
# Goes red when: the leader refuses what only another instance knows; rows that wait are
# in the way of others, or are never looked at again, or never refused; a job skips such
# intents, or does not let others take their turns.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant HELD => 600;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], refresh => '500ms',
    executor => 'concurrency=64',
    targets => { 'sms.once' => { policy => 'one_shot', path => '/once' } },
    instance => { server => 'location /operate/ { '
                            . 'submission_api main access=operate; }' });
my ($gateway, $store) = ($run->gateway, $run->store);

my $leader = $run->start;
my ($other) = grep { $_ != $leader } $run->instances;

my $added = <<'END';
        target sms.added {
            gateway_type http;
            gateway_url  http://gateway/added;
            policy       one_shot;
        }
END

sub count {
    my ($table, $where) = @_;

    return $store->value("SELECT count(*) FROM submission_$table WHERE $where");
}

sub leave {
    my ($target, @ids) = @_;

    $store->unlock($store->begin(map { $store->submit_sql($_, $target, '{"n":1}') }
                                 @ids));
}

sub code {
    my ($result) = @_;

    return ($result->{body} // '') =~ /"code":"(\w+)"/ ? $1 : $result->{status};
}


# intents that jobs find

$gateway->behave('/once' => 'answer 503', '/added' => 'answer 503');
post_intent($leader, "once-$_", target => 'sms.once') for 1 .. 5;

$other->{targets} .= $added;
$other->reload(wait_old => 1);

is(post_intent($other, "added-$_", target => 'sms.added')->{status}, 200,
   'the one that was reloaded takes it') for 1 .. 3;

$run->wait_terminal(undef, 60);
$gateway->behave('/once' => 'accept', '/added' => 'accept');

is($run->leadership->wait_leader, $leader, 'the other one leads');

wait_for('the leader knows that there is such a target', sub {
    code(post_intent($leader, 'probe', target => 'sms.added'))
    eq 'target_not_here_yet';
}, 30);


# the inbox

my @held = $run->ids('held', HELD);

leave('sms.added', @held);
leave('sms.realtime', 'behind');
leave('sms.nobody', 'nobody');

wait_for('what is behind the rows that wait is sent', sub {
    $gateway->sends_of('behind');
}, 30);

wait_for('what nobody has is refused', sub {
    count('inbox_refused', "intent_id = 'nobody'") == 1;
}, 30);

is(count('inbox', "intent_id LIKE 'held-%'"), HELD, 'those that wait are there');
is(count('inbox_refused', "intent_id LIKE 'held-%'"), 0, 'and none is refused');
wait_for('the log says why', sub {
    $leader->log_count(qr/\[warn\] .*inbox_waits manager=main .*target="?sms\.added/);
});


# the jobs

sub job {
    my ($name) = @_;

    return decode_json(fetch($other, 'GET', "/operate/replays/$name")->{body});
}

for my $name ('added', 'once') {
    my $doc = qq({"id":"$name","filter":{"target":"sms.$name","status":"exhausted"}});

    is(fetch($other, 'POST', '/operate/replays', $doc)->{status}, 200,
       "a job of $name");
}

wait_for('the other job is done', sub { job('once')->{state} eq 'done' }, 30);
is(job('once')->{done}, 5, 'it has done its part');

wait_for('the log says that a job waits', sub {
    $leader->log_count(qr/\[warn\] .*job_waits manager=main .*id="?added/);
}, 30);

is(join(' ', @{job('added')}{qw(state done skipped)}), 'running 0 0',
   'and it skips nothing');


# the leader is reloaded, too

$leader->{targets} .= $added;
$leader->reload(wait_old => 1);

wait_for('what was in the inbox is sent', sub {
    count('inbox', '1 = 1') == 0
    && count('intents', "intent_id LIKE 'held-%' AND status = 'accepted'") == HELD;
}, 60);

is(count('inbox_refused', '1 = 1'), 1, 'and nothing more was refused');

wait_for('the job goes on', sub { job('added')->{state} eq 'done' }, 30);
is(join(' ', @{job('added')}{qw(done skipped)}), '3 0', 'and does all of them');


# the target goes, on one instance after the other

$leader->{targets} =~ s/\Q$added\E//;
$leader->reload(wait_old => 1);
$leader = $run->leadership->wait_leader;

leave('sms.added', 'last');
leave('sms.realtime', 'behind-last');

wait_for('what is behind it is sent', sub { $gateway->sends_of('behind-last') }, 30);
wait_for('it is in the inbox or was sent', sub {
    count('inbox', "intent_id = 'last'") + count('intents', "intent_id = 'last'") == 1
});

$other->{targets} =~ s/\Q$added\E//;
$other->reload(wait_old => 1);

leave('sms.added', 'gone');

wait_for('when nobody has it, it is refused', sub {
    count('inbox_refused', "intent_id = 'gone'") == 1
    && count('inbox', '1 = 1') == 0;
}, 60);

$run->wait_terminal(undef, 60);

is_deeply([grep { scalar(my @s = $gateway->sends_of($_)) != 1 } @held], [],
          'each was sent once');

$run->done;

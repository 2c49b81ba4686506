# Every policy from POST to its end, through a real gateway: what is retried,
# how often, when, and with which word it ends.  Retry-After is the least delay.
# A deadline may pass before an attempt, during one, or before the next would be
# due.
#
# The table of core/sm_policy.c has its own test; this one shows that it is
# asked, with the right values, and that its answer is what happens.
#
# Goes red when: an outcome is taken for another; attempts are counted wrongly;
# a retry comes early; an attempt begins after the deadline; an acceptance after
# the deadline counts; a contract is not that of the intent.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => {
        'sms.long' => { policy => 'deadline 1h', retry => '200ms',
                        outcomes => 'invalid_recipient' },
        'sms.short' => { policy => 'deadline ' . 5 * pace() . 's',
                         retry => 2 * pace() . 's' },
        'sms.tight' => { policy => 'deadline 3s', retry => '5s' },
        'sms.asleep' => { policy => 'deadline 6s', retry => '4s' },
        'push.three' => { type => 'push', policy => 'max_attempts 3',
                          outcomes => 'invalid_token' },
        'push.steps' => { type => 'push', policy => 'max_attempts 4',
                          retry => '100ms backoff=3 max=500ms' },
        'http.three' => { type => 'http', policy => 'max_attempts 3',
                          path => '/hook', outcomes => 'http_404' },
        'http.once' => { type => 'http', policy => 'one_shot', path => '/pay',
                         outcomes => 'http_402' },
        'sms.once' => { policy => 'one_shot', path => '/once',
                        outcomes => 'invalid_recipient' },
    });
my ($gateway, $store) = ($run->gateway, $run->store);

my $bad = 'rejected/invalid_recipient';

# target, what the gateway does, how the intent ends, its attempts

my @cases = (
    ['sms.long', 'accept', 'accepted', 'accepted'],
    ['sms.long', 'fail 3', 'accepted', 'error, error, error, accepted'],
    ['sms.long', 'fail 1 reject busy', 'accepted', 'rejected/busy, accepted'],
    ['sms.long', 'reject invalid_recipient', 'rejected invalid_recipient',
     $bad],
    ['sms.long', 'fail 1 close, reject invalid_recipient',
     'rejected invalid_recipient', "unknown/no_answer, $bad"],

    ['push.three', 'accept', 'accepted', 'accepted'],
    ['push.three', 'fail 2', 'accepted', 'error, error, accepted'],
    ['push.three', 'answer 500', 'exhausted max_attempts',
     'error, error, error'],
    ['push.three', 'reject busy', 'exhausted max_attempts',
     'rejected/busy, rejected/busy, rejected/busy'],
    ['push.three', 'reject invalid_token', 'rejected invalid_token',
     'rejected/invalid_token'],

    ['sms.once', 'accept', 'accepted', 'accepted'],
    ['sms.once', 'answer 500', 'exhausted one_shot', 'error'],
    ['sms.once', 'close', 'exhausted outcome_unknown', 'unknown/no_answer'],
    ['sms.once', 'reject busy', 'exhausted one_shot', 'rejected/busy'],
    ['sms.once', 'reject invalid_recipient', 'rejected invalid_recipient',
     $bad],

    ['http.three', 'answer 200', 'accepted', 'accepted'],
    ['http.three', 'answer 201', 'accepted', 'accepted'],
    ['http.three', 'answer 404', 'rejected http_404', 'rejected/http_404'],
    ['http.three', 'answer 410', 'exhausted max_attempts',
     'rejected/http_410, rejected/http_410, rejected/http_410'],
    ['http.three', 'fail 2 answer 429', 'accepted', 'error, error, accepted'],
    ['http.once', 'answer 402', 'rejected http_402', 'rejected/http_402'],
    ['http.once', 'answer 403', 'exhausted one_shot', 'rejected/http_403'],
    ['http.once', 'answer 425', 'exhausted one_shot', 'error'],

    # three attempts, and the fourth would be too late
    ['sms.short', 'answer 500', 'exhausted deadline_exceeded',
     'error, error, error'],

    # the next is not before the deadline
    ['sms.tight', 'answer 500', 'exhausted deadline_exceeded', 'error'],
    ['sms.tight', 'fail 1', 'exhausted deadline_exceeded', 'error'],

    # it passes during the attempt
    ['sms.tight', 'delay 3300', 'exhausted deadline_exceeded', 'accepted'],
    ['sms.tight', 'delay 3300 reject busy', 'exhausted deadline_exceeded',
     'rejected/busy'],

    ['push.steps', 'fail 3', 'accepted', 'error, error, error, accepted'],
    ['push.three', 'fail 1 answer 503 2', 'accepted', 'error, accepted'],
    ['push.three', 'fail 1 answer 429 0', 'accepted', 'error, accepted'],
    ['push.three', 'fail 1 answer 503 soon', 'accepted', 'error, accepted'],
);

my %path = (sms => '/sms/send', push => '/push/send', 'http.three' => '/hook',
            'http.once' => '/pay', 'sms.once' => '/once/sms/send');

$run->start;

$cases[$_][4] = sprintf 'case-%02d', $_ for 0 .. $#cases;

$run->post(map { [$_->[4], $_->[0], qq({"gateway":"$_->[1]"})] } @cases);
$run->wait_terminal('case-');


# seconds between attempts

sub gaps {
    my ($id) = @_;

    my @times = map { $_->{time} / 1e6 } $gateway->sends_of($id);

    return map { $times[$_] - $times[$_ - 1] } 1 .. $#times;
}


for (@cases) {
    my ($target, $behaviour, $end, $outcomes, $id) = @$_;

    my $name = "$target, $behaviour";
    my $history = $run->history($id);
    my $intent = $history->{intent};
    my @attempts = @{$history->{attempts}};
    my @sends = $gateway->sends_of($id);

    is(join(' ', grep { defined } @$intent{qw(status rejectedReason
                                             exhaustedReason)}),
       $end, "$name: how it ends");
    is($run->outcomes($id), $outcomes, "$name: its attempts");
    is(scalar @sends, scalar @attempts, "$name: each was sent");
    is($intent->{attemptCount}, scalar @attempts, "$name: as it says");

    my ($type) = $target =~ /^(\w+)/;

    is($_->{path}, $path{$target} // $path{$type}, "$name: where to")
        for @sends;
}

sub gaps_of {
    my ($target, $behaviour) = @_;

    my ($case) = grep { $_->[0] eq $target && $_->[1] eq $behaviour } @cases;

    return gaps($case->[4]);
}

# never early, and not much later

sub least {
    my ($name, $gaps, @least) = @_;

    is(@$gaps, @least, "$name: so many retries");

    for my $i (0 .. $#least) {
        cmp_ok($gaps->[$i], '>=', $least[$i] - 0.005,
               "$name: retry " . ($i + 1) . ' is not early');
        cmp_ok($gaps->[$i], '<', $least[$i] + 1 * slow(),
               "$name: retry " . ($i + 1) . ' is not late');
    }
}

least('the delay', [gaps_of('sms.long', 'fail 3')], 0.2, 0.2, 0.2);
least('backoff', [gaps_of('push.steps', 'fail 3')], 0.1, 0.3, 0.5);
least('Retry-After', [gaps_of('push.three', 'fail 1 answer 503 2')], 2);
least('Retry-After below the delay',
      [gaps_of('push.three', 'fail 1 answer 429 0')], 0.2);
least('Retry-After that is none',
      [gaps_of('push.three', 'fail 1 answer 503 soon')], 0.2);
least('until the deadline', [gaps_of('sms.short', 'answer 500')],
      (2 * pace()) x 2);


# The deadline passes in the wait for a retry that was to be in time: nobody
# does anything for so long.  It is not sent then.

{
    my ($instance) = $run->instances;
    my @ids = $run->ids('asleep', 20);

    $run->post(map { [$_, 'sms.asleep', '{"gateway":"fail 1"}'] } @ids);

    wait_for('all have failed once', sub {
        20 == grep { $_->{attempts} == 1 } values %{$store->intents('asleep-')};
    });

    my $count = $gateway->count;
    my @pids = $instance->processes;

    $instance->signal('STOP', $_) for @pids;

    my ($created) = sort { $b <=> $a }
                    map { $_->{created_at} } values %{$store->intents('asleep-')};

    wait_for('the deadline passes', sub { time > $created / 1e6 + 6.1 });

    $instance->signal('CONT', $_) for @pids;
    $run->wait_terminal('asleep-');

    is_deeply($run->statuses('asleep-'),
              { 'exhausted deadline_exceeded' => 20 },
              'asleep: all are too late');
    is($gateway->count, $count, 'asleep: and are not sent again');
    is($run->outcomes($ids[0]), 'error', 'asleep: there is one attempt');
    is($instance->log_count(qr/ expired_unsent /), 0,
       'asleep: nobody calls them unsent');
}


# The deadline passes before the first attempt: nobody leads meanwhile.  There
# is one line about all of them, not one each, and a counter.

{
    my ($instance) = $run->instances;
    my @ids = $run->ids('unsent', 300);
    my $count = $gateway->count;

    $instance->quit;
    $instance->configure(executor => 'off');
    $instance->start;

    $run->post(map { [$_, 'sms.tight', '{}'] } @ids);

    my ($created) = sort { $b <=> $a }
                    map { $_->{created_at} } values %{$store->intents('unsent-')};

    wait_for('the deadline passes', sub { time > $created / 1e6 + 3.1 });

    $instance->quit;
    $instance->configure(executor => undef);
    $instance->start;
    $run->wait_terminal('unsent-');

    is_deeply($run->statuses('unsent-'),
              { 'exhausted deadline_exceeded' => 300 },
              'unsent: all are too late');
    is($gateway->count, $count, 'unsent: none was sent');

    my $told = sub {
        my $n = 0;
        $n += $_ for map { / intents=(\d+)/ }
                     $instance->log_lines(qr/\[warn\].* expired_unsent /);
        return $n;
    };

    wait_for('all are told', sub { $told->() == 300 });

    cmp_ok($instance->log_count(qr/ expired_unsent /), '<', 10,
           'unsent: in few lines');
    is($instance->metric('expired_unsent_total{target="sms.tight"}'), 300,
       'unsent: counted');
}

$run->done;

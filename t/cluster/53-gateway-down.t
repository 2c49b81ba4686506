# A gateway is dead for hundreds of attempts: the log has one line when its target
# falls ill, one when it is down, with the error, and one when it is well again,
# with how long it was ill and how many attempts that cost.  So has a gateway that
# answers, but makes no sense.  One that fails every other time has hardly more.
#
# nginx's own lines, one or more for each attempt, are for whoever asks for
# them: an error_log of the dispatch location at "info".
#
# Goes red when: an outage is not told, or each attempt of it; nginx's lines are
# in the log of an operator who wants errors alone, or are gone for good.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { INTENTS => 20, ATTEMPTS => 200 };

my $dispatch = 'proxy_http_version 1.1; proxy_set_header Connection ""; ';
my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => { 'sms.odd' => { path => '/odd', policy => 'max_attempts 4' } },
    instance => { workers => 1,
                  dispatch => "$dispatch error_log logs/nginx.log error;" });
my $gateway = $run->gateway;
my $a = $run->start;
my $began = time;


sub nginx_lines {
    open(my $file, '<', "$a->{dir}/logs/nginx.log") or die "nginx.log: $!";

    return scalar(() = grep { /connect\(\) failed/ } <$file>);
}


sub lines {
    my ($event, $target) = @_;

    return $a->log_lines(qr/submission: $event manager=main target="?$target"? /);
}


sub attempts {
    my ($n) = @_;

    wait_for("$n attempts", sub {
        $run->store->value('SELECT count(*) FROM submission_attempts') >= $n;
    }, 60);
}


# refused

$gateway->stop;
$run->post($run->ids('dead', INTENTS));
attempts(ATTEMPTS);

my @down = lines('target_down', 'sms.realtime');

is(scalar @down, 1, 'dead: one line');
is(scalar(my @ill = lines('target_degraded', 'sms.realtime')), 1,
   'dead: one line at its first error');
like($ill[0], qr/\[warn\].* why="the last attempt failed" error="connection /,
     'dead: and which');
like($down[0], qr/ why="the last \d+ attempts got no usable answer" /,
     'dead: why it is down');
like($down[0], qr/\[error\].* error="connection refused by 127\.0\.0\.1:\d+"/,
     'dead: an error, and which');
is(nginx_lines(), 0, 'dead: no lines of nginx');
is(scalar(my @early = lines('target_up', 'sms.realtime')), 0,
   'dead: it is not back');

$gateway->start;
$run->wait_terminal('dead-');

my @up;

wait_for('it is well again', sub {
    @up = lines('target_up', 'sms.realtime');
}, 120);

is(scalar @up, 1, 'back: one line');
like($up[0], qr/\[notice\].* ill_ms=[1-9]\d* /, 'back: how long it was');

my ($failed) = $up[0] =~ / failed=(\d+)/;

is($failed, scalar(grep { $_->{status} eq 'error' } $run->store->attempts),
   'back: how many attempts it cost');


# it answers, and not what a gateway answers

$gateway->behave('/odd' => 'answer 404');
$run->post(map { [$_, 'sms.odd'] } $run->ids('odd', INTENTS));
$run->wait_terminal('odd-');

@down = lines('target_down', 'sms\.odd');

is(scalar @down, 1, '404: one line');
like($down[0], qr/ error="HTTP 404"/, '404: and which error');


# now and then: the first attempt of each intent

$gateway->behave('/sms' => 'fail 1 answer 500');
$run->post($run->ids('flaky', 10 * INTENTS));
$run->wait_terminal('flaky-');

cmp_ok(scalar(my @flaky = lines('target_\w+', 'sms\.realtime')), '<=',
       4 + (time - $began) / 10, 'now and then: a line in ten seconds at most');


# whoever wants them

$a->{dispatch} = "$dispatch error_log logs/nginx.log info;";
$a->reload(wait_old => 1);
$run->leadership->wait_leader;
$gateway->stop;
$run->post('wanted-1');

wait_for('lines of nginx', sub { nginx_lines() });
pass('info: nginx\'s lines are there');

$gateway->start;
$run->wait_terminal('wanted-');

$run->done;

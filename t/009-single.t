# master_process off: one process that is master and worker.
#
# nginx does not recommend it, but development and many test suites use it; it
# skips the master's part of the start. Breaks when something is done only in a
# worker, or only before the fork.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

master_off();

run_tests();

__DATA__

=== TEST 1: create, replay, get, list
--- request eval
[submit('a'), submit('a'), submit('a', 'push.bulk'), 'GET /v1/intents/a',
 'GET /v1/intents/a/history', 'GET /v1/intents']
--- error_code eval
[200, 200, 409, 200, 200, 200]
--- response_body eval
[(intent('a')) x 2, qr/"idempotency_conflict"/, intent('a'), qr/"attempts":\[\]/,
 qr/^\{"intents":\[\{"intentId":"a",/]



=== TEST 2: readyz, with a holder of its own
--- request eval
[submit('a'), 'GET /readyz']
--- response_body_like eval
[intent('a'), qr/^mode=\w+ holder_id=\S+-\d+-[0-9a-f]{8} .* store=up$/]



=== TEST 3: many at once
--- client eval
sub {
    my @socks = map {
        my $body = (split /\n/, submit("id-$_"), 2)[1];

        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 1 .. 50;

    is(join(' ', map { http_read($_)->{json}{intentId} } @socks),
       join(' ', map { "id-$_" } 1 .. 50), 'each has its own answer');
}



=== TEST 4: a reload is refused, and the process goes on and quits well
nginx runs no init_process for the new configuration then
--- ignore_log
--- client eval
sub {
    open(my $in, '<', server_root() . '/logs/nginx.pid') or die "nginx.pid: $!\n";
    chomp(my $pid = <$in>);

    kill 'HUP', $pid;

    wait_for(sub { error_log() =~ /reload_refused manager=main: with "master_pro/ })
        or die "the reload was not refused\n";

    is(http(submit('a'))->{code}, 200, 'the old configuration goes on');

    kill 'QUIT', $pid;

    wait_for(sub { !kill 0, $pid }) or die "it does not quit\n";
}

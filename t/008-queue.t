# The bounded queue before the store.
#
# While the store is slow, requests wait; but not without end: what is beyond
# the bound is told to come back, at once, and what waits is not forgotten.
# Breaks when the bound is not kept, when a waiting request that goes away
# leaves its place taken, or when the rest is never started.
#
# Another process keeps all from writing, so that intents wait as long as the
# test wants; a batch takes them when it may go on. A read that was
# answered shows that what was sent before it has reached its place.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $full = problem('store_unavailable', 'too many requests wait for the store');

sub hold {

    # the module's own first question to the store must not meet the lock
    wait_for(sub { http('GET /readyz')->{code} == 200 }) or die "not ready\n";

    my $release = hold_writes();

    return $release if store()->kind eq 'sqlite';

    # a server's batch has what it waits with, which is no longer in the queue

    my $out = send_intent('out');

    return sub {
        $release->();
        http_read($out);
    };
}

# sends an intent and does not wait for its answer

sub send_intent {
    my $id = shift;

    my $body = (split /\n/, submit($id), 2)[1];
    my $sock = http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                         . 'Content-Length: ' . length($body) . "\r\n\r\n$body");

    http('GET /v1/intents');

    return $sock;
}

sub is_full {
    my $answer = http(submit($_[0]));

    is($answer->{code}, 503, "$_[0] is beyond the bound");
    is($answer->{body}, $full, "$_[0] is told so");
    is($answer->{headers}{'retry-after'}, 1, "$_[0] may come back soon");
}

run_tests();

__DATA__

=== TEST 1: two wait, and the third is refused
--- manager
        intake queue=2 batch=1;
--- client eval
sub {
    my $release = hold();

    my @socks = map { send_intent($_) } 'first', 'second';

    is_full('third');
    is_full('fourth');

    is(http('GET /v1/intents')->{code}, 200, 'reads go on');
    is(http(submit('a', 'nobody'))->{code}, 400, 'bad requests go on');
    like(http('GET /readyz')->{body}, qr/ store=up$/, 'the instance is ready');

    $release->();

    is(http_read($_)->{code}, 200, 'answered') for @socks;

    is(http(submit('third'))->{code}, 200, 'there is room again');
    is(http('GET /v1/intents/fourth')->{code}, 404, 'a refused one is not stored');
}



=== TEST 2: more than a batch takes
--- manager
        intake queue=5 batch=3;
--- client eval
sub {
    my $release = hold();

    my @socks = map { send_intent("id-$_") } 0 .. 4;

    is_full('beyond');
    $release->();

    is(join(' ', map { http_read($_)->{json}{intentId} } @socks),
       join(' ', map { "id-$_" } 0 .. 4), 'each has its own answer');
}



=== TEST 3: one that goes away leaves its place
--- manager
        intake queue=2 batch=1;
--- client eval
sub {
    my $release = hold();

    my $first = send_intent('first');
    my $gone = send_intent('gone');

    is_full('third');
    close $gone;

    # nginx sees that it went; then there is a place
    my $fourth;
    ok(wait_for(sub {
        $fourth = send_intent('fourth');
        http('GET /v1/intents');

        my $in = '';
        vec($in, fileno $fourth, 1) = 1;
        return !select $in, undef, undef, 0.05;
    }), 'another one waits in its place');

    $release->();

    is(http_read($first)->{code}, 200, 'first');
    is(http_read($fourth)->{code}, 200, 'fourth');
    is(http('GET /v1/intents/gone')->{code}, 404, 'what went away is not stored');
}



=== TEST 4: nobody may write for longer than a call may take
--- manager
        intake queue=10 batch=1;
--- hasty
--- request
GET /readyz
--- error_code_like: ^(?:200|503)$
--- client eval
sub {

    # on a busy machine the first call may be as late as those below

    ok(wait_for(sub { http('GET /v1/intents')->{code} == 200 }),
       'a good start');

    my $before = length error_log();
    my $release = hold();

    my @answers = map { http_read($_) } map { send_intent("id-$_") } 1 .. 3;

    is(join(' ', map { $_->{code} } @answers), '503 503 503', 'not stored');
    is($answers[0]{body}, problem('store_unavailable',
                                  'the store did not complete the request'),
       'and told so');
    is($answers[0]{headers}{'retry-after'}, 5, 'with a time to come back');

    $release->();

    ok(wait_for(sub { http(submit('id-1'))->{code} == 200 }),
       'it goes on by itself');
    is(http('GET /v1/intents/id-2')->{code}, 404, 'a 503 is not stored');

    # A call that fails alone is no trouble of the store; on a slow machine
    # others may run into the time-out, too.

    my @told = substr(error_log(), $before)
               =~ /submission: store_(down|failing) /g;

    cmp_ok(scalar @told, '<=', 2, 'no line in the log for each call')
        or diag("@told");
}



=== TEST 5: what waits when nginx is told to quit is answered
--- manager
        intake queue=10 batch=1;
--- client eval
sub {
    my $release = hold();

    my @socks = map { send_intent("id-$_") } 1 .. 5;

    open my $in, '<', server_root() . '/logs/nginx.pid' or die "$!\n";
    kill QUIT => <$in>;
    wait_for(sub { error_log() =~ /gracefully shutting down/ })
        or die "nginx does not shut down\n";

    $release->();

    is(join(' ', map { http_read($_)->{code} } @socks), '200 200 200 200 200',
       'all of them');
    is(sql("SELECT count(*) FROM submission_intents WHERE intent_id LIKE 'id-%'"),
       5, 'and stored');
}

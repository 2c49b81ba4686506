# until=terminal, and waitSeconds on GET: an answer when the intent has ended.
#
# An attempt alone does not end such a wait, its end does, or the time; a GET waits
# for the end by itself.  What has ended, or is not there, is answered at once.
# Breaks when a retry ends the wait, when a GET is answered with what it saw first,
# when a request that waits holds something that is gone, or when a follower does
# not look at the store.
#
# The executor is played by SQL.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use IO::Select;
use Time::HiRes qw(sleep time);

workers(2);

our $bad = problem('invalid_request',
                   '"until" must be "attempt" or "terminal"',
                   '"field":"until"');
our $bad_wait = problem('invalid_request',
                   '"waitSeconds" must be a whole number of seconds, 0 or more',
                   '"field":"waitSeconds"');

our $attempt = "attempt_count = 1, last_error = 'HTTP 503'";
our $accepted = "attempt_count = 2, status = 'accepted', next_attempt_at = NULL, "
                . 'completed_at = created_at';

sub post {
    my ($id, $query) = @_;

    my $body = (split /\n/, submit($id), 2)[1];

    return http_open("POST /v1/intents$query HTTP/1.1\r\nHost: localhost\r\n"
                     . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
}

sub get {
    my ($id, $query, $method) = @_;

    $method //= 'GET';

    return http_open("$method /v1/intents/$id$query HTTP/1.1\r\n"
                     . "Host: localhost\r\n\r\n");
}

sub change {
    my ($set, $id) = @_;

    wait_for(sub {
        sql("SELECT count(*) FROM submission_intents WHERE intent_id = '$id'")
    }) or die "not stored\n";

    sql("UPDATE submission_intents SET $set WHERE intent_id = '$id'");
}

sub waits {
    my ($sock, $seconds) = @_;

    return !IO::Select->new($sock)->can_read($seconds);
}

run_tests();

__DATA__

=== TEST 1: what is no condition
--- client eval
sub {
    http(submit('a'));

    for my $until ('', 'end', 'Terminal', 'terminal%20', '1', 'attempt,terminal') {
        is(http_read(post('b', "?waitSeconds=1&until=$until"))->{body}, $bad,
           "POST: \"$until\"");
        is(http_read(get('a', "?waitSeconds=1&until=$until"))->{body}, $bad,
           "GET: \"$until\"");
    }

    is(http_read(get('a', '?waitSeconds=x'))->{body}, $bad_wait,
       'GET: no number of seconds');
    is(sql('SELECT count(*) FROM submission_intents'), 1, 'nothing is stored');
}



=== TEST 2: an attempt is not the end
--- client eval
sub {
    my %socks = (
        post => post('a', '?waitSeconds=20&until=terminal'),
        other => post('a', '?until=terminal&waitSeconds=20'),
    );

    change('attempt_count = 0', 'a');

    $socks{get} = get('a', '?waitSeconds=20');
    $socks{terminal} = get('a', '?until=terminal&waitSeconds=20');
    $socks{first} = get('a', '?until=attempt&waitSeconds=20');

    ok(waits($_, 0.2), 'waits') for values %socks;

    change($attempt, 'a');

    my $answer = http_read(delete $socks{first});

    is($answer->{json}{attemptCount}, 1, 'a GET for the first attempt');
    is($answer->{json}{lastError}, 'HTTP 503', 'with its error');

    is(http_read(get('a', '?until=attempt&waitSeconds=20'))
           ->{json}{attemptCount}, 1, 'there it is already');
    is(http_read(post('a', '?waitSeconds=20'))->{json}{attemptCount}, 1,
       'as for a POST');

    ok(waits($_, 0.6), 'the others wait on') for values %socks;

    my $start = time;
    change($accepted, 'a');

    for my $name (sort keys %socks) {
        my $answer = http_read($socks{$name});

        is($answer->{code}, 200, "$name: answered");
        is($answer->{json}{status}, 'accepted', "$name: at the end");
        is($answer->{body}, http('GET /v1/intents/a')->{body},
           "$name: what GET says");
    }

    cmp_ok(time - $start, '<', 8 * slow(), 'soon');
}



=== TEST 3: at once
--- client eval
sub {
    http(submit('a'));
    change($accepted, 'a');

    my $start = time;

    is(http_read(get('a', '?waitSeconds=20'))->{json}{status}, 'accepted',
       'what has ended');
    is(http_read(post('a', '?waitSeconds=20&until=terminal'))->{json}{status},
       'accepted', 'by POST, too');
    is(http_read(get('b', '?waitSeconds=20'))->{code}, 404, 'what is not there');
    http(submit('c'));
    is(http_read(get('c', ''))->{json}{status}, 'pending', 'without a time');
    is(http_read(get('c', '?until=terminal'))->{json}{status}, 'pending',
       'neither with a condition alone');
    is(http_read(get('c', '?waitSeconds=0'))->{json}{status}, 'pending', 'none');

    cmp_ok(time - $start, '<', 12 * slow(), 'nobody waits');
}



=== TEST 4: the time is over
--- client eval
sub {
    http(submit('a'));
    change("$attempt, not_before = created_at, replay_of = 'old'", 'a');

    my $before = http('GET /v1/intents/a')->{body};
    my $start = time;
    my $answer = http_read(get('a', '?waitSeconds=1'));

    is($answer->{code}, 200, 'answered');
    is($answer->{body}, $before, 'as it is');
    cmp_ok(time - $start, '>=', 0.99, 'not before its time');
    cmp_ok(time - $start, '<', 10 * slow(), 'nor long after');
}



=== TEST 5: the store fails meanwhile: the last that is known
--- manager
        acquire_interval 100ms;
--- client eval
sub {
    http(submit('a'));
    change("$attempt, replay_of = 'old'", 'a');

    my $before = http('GET /v1/intents/a')->{body};
    my $sock = get('a', '?waitSeconds=5');

    ok(waits($sock, 0.4), 'it waits');
    store()->away;

    my $answer = http_read($sock);

    is($answer->{code}, 200, 'answered');
    is($answer->{body}, $before, 'with all that was known');

    store()->back;
}



=== TEST 6: HEAD, and a connection that goes on
--- client eval
sub {
    http(submit('a'));

    my $sock = get('a', '?waitSeconds=20', 'HEAD');

    ok(waits($sock, 0.3), 'waits');
    change($accepted, 'a');

    my $head = '';

    while (my $line = <$sock>) {
        last if $line eq "\r\n";
        $head .= $line;
    }

    like($head, qr{^HTTP/1\.1 200 }, 'answered');

    print $sock "GET /v1/intents/a HTTP/1.1\r\nHost: localhost\r\n\r\n";
    is(http_read($sock)->{json}{status}, 'accepted', 'it goes on');
}



=== TEST 7: clients that go away, and a reload
--- client eval
sub {
    http(submit('a'));

    open my $in, '<', server_root() . '/logs/nginx.pid' or die "$!\n";
    chomp(my $master = <$in>);

    my @socks = map { get('a', '?waitSeconds=25') } 1 .. 20;

    ok(waits($socks[0], 0.3), 'they wait');
    close $_ for splice @socks, 0, 10;

    my $start = time;
    kill HUP => $master;

    is(join(' ', map { http_read($_)->{code} } @socks), join(' ', (200) x 10),
       'those that stay are answered');
    cmp_ok(time - $start, '<', 12 * slow(), 'at once');
}

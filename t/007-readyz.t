# /readyz: what a load balancer asks.
#
# It must answer from memory, say 200 for every instance whose store answers,
# leader or not, and take an instance out only when the store has been silent
# for acquire_interval. Breaks when a short trouble empties the pool, when an
# instance without a store stays in it, or when it does not come back.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

workers(2);

sub readyz {
    my ($holder, $store) = @_;

    my $leader = qr/lease_epoch=[1-9]\d* lease_expires_at=[-\dT:.]+Z/;

    return qr/^mode=(?:leader\ holder_id=\Q$holder\E\ $leader
                    |follower\ holder_id=\Q$holder\E
                     \ lease_epoch=0\ lease_expires_at=-
              )\ store=$store\n\z/x;
}

# until it says so

sub ready_is {
    my ($code, $store) = @_;

    my $answer;
    my $is = wait_for(sub {
        $answer = http('GET /readyz');
        $answer->{code} == $code && $answer->{body} =~ / store=$store\n\z/;
    });

    ok($is, "$code store=$store") or diag($answer->{body});
}

# The lines of the log about the store, in order; a worker says so in the zone
# just before it writes its line.

sub told {
    my ($expected, $name) = @_;

    my $told;
    my $is = wait_for(sub {
        $told = join ' ', error_log() =~ /submission: store_(\w+) /g;
        $told =~ /^$expected\z/;
    });

    ok($is, $name) or diag($told);
}

sub data {
    return server_root() . '/data';
}

run_tests();

__DATA__

=== TEST 1: the format
--- manager
        holder_id sm-01;
--- request eval
[submit('a'), 'GET /readyz']
--- response_body eval
[intent('a'), readyz('sm-01', 'up')]
--- response_headers eval
["Content-Type: application/json", "Content-Type: text/plain"]



=== TEST 2: HEAD
--- manager
        holder_id sm-01;
--- client eval
sub {
    ready_is(200, 'up');

    my $sock = http_open("HEAD /readyz HTTP/1.1\r\nHost: localhost\r\n"
                         . "Connection: close\r\n\r\n");

    like(http_rest($sock),
         qr{^HTTP/1\.1 200 .*\r\nContent-Length: \d+\r\n.*\r\n\r\n\z}s,
         'the header of GET, and no body');
}



=== TEST 3: it needs no request to the API to become ready
--- request
GET /readyz
--- error_code_like: ^(?:200|503)$
--- client eval
sub {
    ready_is(200, 'up');
}



=== TEST 4: the holder is the same for all workers, and across reload
--- client eval
sub {
    open my $in, '<', server_root() . '/logs/nginx.pid' or die "$!\n";
    chomp(my $pid = <$in>);
    chomp(my $host = `hostname`);

    my %holders = map { http('GET /readyz')->{body} =~ /(holder_id)=(\S+)/;
                        $2 => $1 } 1 .. 30;
    my ($holder) = keys %holders;

    is(scalar keys %holders, 1, 'the same for all workers');
    like($holder, qr/^\Q$host\E-$pid-[0-9a-f]{8}\z/i,
         'host, pid of the master, and a random part');

    kill HUP => $pid;

    wait_for(sub { error_log() =~ /gracefully shutting down/ })
        or die "no reload\n";
    wait_for(sub { 2 == (() = error_log() =~ /process \d+ exited with code 0/g) })
        or die "the old workers stay\n";

    like(http('GET /readyz')->{body}, qr/ holder_id=\Q$holder\E /,
         'the same after a reload');
    ready_is(200, 'up');
}



=== TEST 5: other methods
--- request eval
["POST /readyz\n{}", 'DELETE /readyz']
--- error_code eval
[405, 405]



=== TEST 6: a path under a file is no store
--- http_config eval
my $targets = 'target t { gateway_type http; gateway_url http://127.0.0.1:1; '
              . 'policy one_shot; }';
"submission_manager main { store sqlite data/file/x.db; holder_id sm-01; "
. "acquire_interval 100ms; $targets }"
--- user_files eval
[[data() . '/file', 'not a directory']]
--- request eval
[submit('a', 't'), 'GET /v1/intents/a', 'GET /v1/intents/a/history',
 'GET /v1/intents', 'GET /readyz']
--- error_code eval
[(503) x 5]
--- response_body eval
[(problem('store_unavailable', 'the store did not complete the request')) x 4,
 readyz('sm-01', 'down')]
--- response_headers eval
[("Retry-After: 5\nContent-Type: application/json") x 4, "Content-Type: text/plain"]
--- client eval
sub {
    told('down', 'one line, however many requests meet it');

    my @lines = grep { /store_down/ } split /\n/, error_log();

    like($lines[0], qr/\[error\] .* submission: store_down manager=main store=sqlite op=\w+ sql_error="\S+\/data\/file\/x\.db: .*"/,
         'which says what is wrong');
}



=== TEST 7: a short trouble does not take it out
--- manager
        acquire_interval 1h;
--- client eval
sub {
    is(http(submit('a'))->{code}, 200, 'a good start');

    store()->away;

    ready_is(200, 'down');
    is(http(submit('b'))->{code}, 503, 'the store is gone');

    store()->back;

    # a server's breaker has to see it, too

    ok(wait_for(sub { http('GET /v1/intents/a')->{code} == 200 }),
       'it is back');
    is(http('GET /v1/intents/b')->{code}, 404, 'what got 503 is not there');
}



=== TEST 8: a store that is silent for acquire_interval, and comes back
nobody but the module itself asks it
--- manager
        acquire_interval 500ms;
--- client eval
sub {
    ready_is(200, 'up');
    told('up', 'one line when it is up');

    store()->away;
    ready_is(503, 'down');

    store()->back;
    ready_is(200, 'up');

    is(http(submit('a'))->{code}, 200, 'as ever');

    # a call that failed may be heard of after one that began later and did not

    told('up down(?: up down)? up', 'one line for the trouble, one for its end');
}



=== TEST 9: a database that disappears is not replaced by an empty one
--- only: sqlite a server's database is not made by the module
--- manager
        acquire_interval 100ms;
--- client eval
sub {
    is(http(submit('a'))->{code}, 200, 'a good start');

    rename store()->file, store()->file . '.away' or die "$!\n";
    unlink glob store()->file . '-*';

    ready_is(503, 'down');

    is(http('GET /v1/intents/a')->{code}, 503, 'an intent is not "not found"');
    ok(!-e store()->file, 'nothing is created');
}



=== TEST 10: a schema of another version
--- manager
        holder_id sm-01;
--- post_setup_server_root
package main;
store()->set_version(999);
--- request eval
[submit('a'), 'GET /v1/intents', 'GET /readyz']
--- error_code eval
[503, 503, 503]
--- response_body eval
[(problem('store_unavailable', 'the store did not complete the request')) x 2,
 readyz('sm-01', 'schema_mismatch')]
--- client eval
sub {
    told('down', 'one line');

    my @lines = grep { /store_down/ } split /\n/, error_log();

    like($lines[0], qr/: schema version is 999, and needs a module of version 999 or later: this one is of 1"/,
         'that names both versions');
    is(sql('SELECT version FROM submission_schema'), 999, 'it is left alone');
}



=== TEST 11: a schema that somebody mends
--- manager
        acquire_interval 100ms;
--- client eval
sub {
    is(http(submit('a'))->{code}, 200, 'a good start');

    # a connection asks for the version when it is opened: make them new
    store()->away;
    ready_is(503, 'down');
    store()->set_version(3);
    store()->back;

    ready_is(503, 'schema_mismatch');

    store()->set_version(2);
    ready_is(200, 'up');

    is(http('GET /v1/intents/a')->{code}, 200, 'as ever');
}



=== TEST 12: a file that is no database
--- only: sqlite the store is not a file
--- manager
        acquire_interval 100ms;
--- user_files eval
[[data() . '/submission.db', 'this is not a database, and long enough to see' x 100]]
--- request eval
[submit('a'), 'GET /readyz']
--- error_code eval
[503, 503]
--- response_body_like eval
[qr/"store_unavailable"/, qr/ store=down$/]



=== TEST 13: managers do not share their stores' health
--- other
        store sqlite data/file/x.db;
--- user_files eval
[[data() . '/file', 'not a directory']]
--- request eval
[submit('a'), 'GET /other/intents', 'GET /readyz', 'GET /readyz_other']
--- error_code eval
[200, 503, 200, 503]
--- response_body_like eval
[intent('a'), qr/"store_unavailable"/, qr/ store=up$/, qr/ store=down$/]



=== TEST 14: an "if" in its location
--- config
        location = /readyz {
            submission_readyz main;

            if ($arg_verbose) {
                add_header X-Verbose on;
            }
        }
--- request eval
[submit('a'), 'GET /readyz?verbose=1', 'GET /readyz']
--- response_body_like eval
[intent('a'), qr/^mode=\w+ holder/, qr/^mode=\w+ holder/]



=== TEST 15: preconditions of HTTP do not take an instance out of rotation
--- request eval
[submit('a'), 'GET /readyz', 'GET /readyz', 'GET /readyz', 'GET /metrics']
--- more_headers eval
['', 'If-Match: "x"', 'If-None-Match: *',
 'If-Unmodified-Since: Thu, 01 Jan 1970 00:00:01 GMT', 'If-Match: "x"']
--- response_body_like eval
[intent('a'), (qr/^mode=\w+ holder/) x 3, qr/^submission_leader /m]

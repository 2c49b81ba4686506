# "executor off": an instance that serves the API and never leads.
#
# Breaks when such an instance asks for the lease, counts as one that could,
# is not ready for want of it, or wants a location to send through.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

workers(2);

run_tests();

__DATA__

=== TEST 1: all is served, nobody leads
intervals by which an executor would have asked many times
--- manager
        executor          off;
        holder_id         sm-01;
        lease_duration    300ms;
        renew_interval    50ms;
        acquire_interval  50ms;
--- request eval
[submit('a'), 'GET /v1/intents/a', 'GET /v1/intents/a/history',
 'GET /v1/intents']
--- response_body_like eval
[(intent('a')) x 2, qr/^\{"intent":\{"intentId":"a".*\},"attempts":\[\],"next":null\}$/,
 qr/^\{"intents":\[\{"intentId":"a"/]
--- client eval
sub {
    my $begun = Time::HiRes::time();
    my %lines;

    wait_for(sub {
        $lines{http('GET /readyz')->{body}}++;
        Time::HiRes::time() - $begun > 1;
    });

    is(join('', keys %lines), 'mode=follower holder_id=sm-01 lease_epoch=0 '
                              . "lease_expires_at=- store=up\n",
       'it follows all the time');
    is(sql('SELECT count(*) FROM submission_manager_leases'), 0,
       'there is no lease');
    is(sql('SELECT count(*) FROM submission_manager_candidates'), 0,
       'nor one who could take it');
    is(http('GET /v1/cluster')->{json}{instance}{role}, 'follower',
       'the cluster says so too');
    like(http('GET /v1/intents/a')->{body}, intent('a'),
         'nothing happened to the intent');
    unlike(error_log(), qr/leader_/, 'the log has nothing of it');
}



=== TEST 2: without a location to send through
--- bare
--- http_config
    submission_manager main {
        store        $TEST_NGINX_STORE;
        thread_pool  submission;
        executor     off;

        target t {
            gateway_type  http;
            gateway_url   http://127.0.0.1:1;
            policy        one_shot;
        }
    }
--- config
        location /v1/ {
            submission_api main;
        }
--- request eval
submit('a', 't')
--- response_body_like eval
intent('a', 't')

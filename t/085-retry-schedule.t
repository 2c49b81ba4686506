# retry_schedule is part of the contract: it is stored with each intent, in
# milliseconds, and a replay takes today's. And the limits of a target are not:
# they need no place in the store.
#
# Breaks when the list is stored otherwise than the executor reads it, or not
# with what a replay makes.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $targets = <<'EOC';
        target sms.listed rate=100r/m burst=3 concurrency=4 {
            gateway_type sms;
            gateway_url http://127.0.0.1:1;
            policy deadline 5m;
            circuit failures=3 open=100ms max_open=1s;
            retry_schedule 5s 5m 1500ms 2h jitter=0.2;
        }
EOC

our $columns = 'SELECT retry_schedule FROM submission_intents '
               . 'WHERE intent_id = ';

run_tests();

__DATA__

=== TEST 1: as it is stored
--- manager eval: $::targets
--- client eval
sub {
    is(http(submit('a', 'sms.listed'))->{code}, 200, 'submitted');
    is(sql("$::columns 'a'"), '5000 300000 1500 7200000', 'in milliseconds');

    sql("UPDATE submission_intents SET status = 'rejected', "
        . "retry_schedule = '7', completed_at = created_at, "
        . "next_attempt_at = NULL");

    is(http("POST /v1/intents/a/replay\n{\"intentId\":\"b\"}")->{code}, 200,
       'replayed');
    is(sql("$::columns 'b'"), '5000 300000 1500 7200000', "by today's contract");

    is(http("POST /v1/intents/a/replay\n{\"intentId\":\"c\",\"contract\":"
            . "\"original\",\"again\":true}")->{code}, 200, 'replayed as it was');
    is(sql("$::columns 'c'"), '7', 'by the original one');
}

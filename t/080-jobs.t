# /v1/replays and /v1/cancels: jobs, what they are made of, and what is refused.
#
# A job touches many intents, so that nothing may happen by mistake: a filter is
# refused where the search would refuse it, a key that is misspelt is refused, and
# what is refused leaves nothing behind.  Whoever asks again gets the same job.
# Breaks when a bad request makes a job, or when a duplicate makes another one; when a
# dry run changes something; when one may do it who may not.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $api = <<'EOC';
        location /v1/ {
            submission_api main access=operate;
        }

        location /s/ {
            submission_api main;
        }

        location /r/ {
            submission_api main access=read;
        }
EOC

our $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

sub counts {
    return join ' ', sql('SELECT count(*) FROM submission_jobs'),
                     sql('SELECT count(*) FROM submission_audit');
}

sub refused {
    my ($path, $body, $field, $message) = @_;

    my $answer = http("POST /v1/$path\n$body");

    is($answer->{code}, 400, "$path $body is refused");
    is($answer->{body},
       problem('invalid_request', $message, "\"field\":\"$field\""), 'why');
}

run_tests();

__DATA__

=== TEST 1: a job, the same again, and another one with its id
--- config eval: $::api
--- client eval
sub {
    my $body = '{"id":"night","filter":{"status":"rejected",'
               . '"target":"sms.realtime","from":"2026-02-02T12:00:00+01:00"},'
               . '"limit":10}';
    my $job = http("POST /v1/replays\n$body");

    is($job->{code}, 200, 'made');
    like($job->{body}, qr/^\{"id":"night","kind":"replay","state":"running","filter":\{"target":"sms.realtime","status":"rejected","from":"2026-02-02T11:00:00.000000Z"\},"limit":10,"matched":0,"done":0,"skipped":0,"createdAt":$::time,"updatedAt":$::time,"actor":null\}\n\z/,
         'as it is stored');

    my $again = http("POST /v1/replays\n"
                     . '{"limit":10,"filter":{"from":"2026-02-02T11:00:00Z",'
                     . '"status":"rejected","target":"sms.realtime"},'
                     . '"id":" night "}');

    is($again->{code}, 200, 'again');
    is($again->{body}, $job->{body}, 'the same');
    is($again->{headers}{'idempotent-replayed'}, 'true', 'which is told');

    my $other = http("POST /v1/replays\n"
                     . '{"id":"night","filter":{"status":"rejected"}}');

    is($other->{code}, 409, 'another one');
    is($other->{body}, problem('idempotency_conflict',
                               'another job has this id', '"field":"id"'),
       'why');

    is(http("POST /v1/cancels\n{\"id\":\"night\",\"filter\":{\"idPrefix\":\"x\"}}")
       ->{json}{kind}, 'cancel', 'a cancel may have that id');

    is(http('GET /v1/replays/night')->{body}, $job->{body}, 'it can be read');
    is(http('GET /v1/replays/none')->{body},
       problem('not_found', 'there is no such job'), 'another cannot');
    is(http('GET /v1/cancels/night')->{json}{kind}, 'cancel', 'each at its path');

    like(http("POST /v1/replays\n{\"filter\":{\"status\":\"rejected\"}}")
         ->{json}{id}, qr/^j[0-9a-f]{16}\z/, 'a job without an id gets one');

    is(sql('SELECT count(*) FROM submission_audit'), 3,
       'each is in the audit, once');
    is(sql("SELECT detail FROM submission_audit WHERE action = 'replay_job' "
           . "AND object = 'night'"),
       '{"filter":{"target":"sms.realtime","status":"rejected",'
       . '"from":"2026-02-02T11:00:00.000000Z"},"limit":10}', 'with its filter');
}



=== TEST 2: what is refused leaves nothing behind
--- config eval: $::api
--- client eval
sub {
    refused('replays', '{"filter":{}}', 'filter', '"filter" must not be empty');
    refused('cancels', '{"filter":{}}', 'filter', '"filter" must not be empty');
    refused('replays', '{"filter":{"target":"sms.realtime"}}', 'filter',
            '"filter" must have "status", "reason" or "idPrefix": what was '
            . 'accepted would be replayed, too');
    refused('replays', '{"filter":{"status":"pending"}}', 'status',
            '"status" must not be "pending": what has not ended cannot be '
            . 'replayed');
    refused('cancels', '{"filter":{"status":"rejected"}}', 'status',
            '"status" must be "pending", or not be there: what has ended cannot '
            . 'be canceled');
    refused('cancels', '{"filter":{"reason":"x"}}', 'reason',
            '"reason" cannot be that of a pending intent: what has ended cannot '
            . 'be canceled');
    refused('replays', '{"filter":{"status":"done"}}', 'status',
            '"status" must be "pending", "accepted", "rejected", "exhausted" '
            . 'or "canceled"');
    refused('replays', '{"filter":{"status":"accepted","reason":"x"}}',
            'reason', '"reason" can be combined with "status=rejected" and '
            . '"status=exhausted" alone: no other status has a reason');
    refused('replays', '{"filter":{"idPrefix":"a","status":"rejected"}}',
            'idPrefix', '"idPrefix" cannot be combined with other keys: its '
            . 'list is in the order of ids');
    refused('replays', '{"filter":{"idPrefix":" a"}}', 'idPrefix',
            '"idPrefix" must not begin with a space');
    refused('replays', '{"filter":{"status":"rejected",'
            . '"from":"2026-02-02T12:00:00Z","to":"2026-02-02T12:00:00Z"}}',
            'to', '"to" must be later than "from"');
    refused('replays', '{"filter":{"status":"rejected"},"limit":0}', 'limit',
            '"limit" must be a whole number between 1 and 1000000000');
    refused('replays', '{"filter":{"status":"rejected"},"limit":1.5}', 'limit',
            '"limit" must be a whole number between 1 and 1000000000');
    refused('replays', '{"filter":{"status":"rejected"},"id":"17"}', 'id',
            '"id" must not be a number');
    refused('replays', '{"filter":{"status":"rejected"},'
            . '"id":"@2026-01-01T00:00:00Z"}', 'id',
            '"id" must not end as the id of an occurrence of a schedule does');
    refused('replays', '{"filter":{"status":"rejected"},"id":"' . 'x' x 65
            . '"}', 'id', '"id" must not be longer than 64 characters');
    refused('replays', '{"filter":{"status":"rejected"},"contract":"old"}',
            'contract', '"contract" must be "original", or not be there');

    for my $bad ('{"filter":{"from":"yesterday"}}', '{"filter":{"stat":"x"}}',
                 '{"filter":[]}', '{}', '[]', '', '{"filter":{"status":1}}',
                 '{"filter":{"status":"rejected"},"dry":true}',
                 '{"filter":{"status":"rejected"},"dryRun":"yes"}',
                 '{"filter":{"status":"rejected","status":"rejected"}}',
                 '{"filter":{"target":"no such"}}')
    {
        my $answer = http("POST /v1/replays\n$bad");

        is($answer->{code}, 400, "$bad is refused");
    }

    is(http("POST /v1/cancels\n"
            . '{"filter":{"status":"pending"},"contract":"original"}')->{code},
       400, 'a cancel has no contract');

    is(http('GET /v1/replays?status=running')->{code}, 400, 'no such argument');
    is(http('GET /v1/replays?after=x')->{code}, 400, 'no such cursor');
    is(http("POST /v1/replays/x/stop\n{\"a\":1}")->{code}, 400, 'no such key');
    is(http('DELETE /v1/replays/x')->{code}, 405, 'no such method');

    is(counts(), '0 0', 'nothing was made');
}



=== TEST 3: a dry run
--- config eval: $::api
--- client eval
sub {
    http_pipelined(map { submit("a-$_") } 10 .. 24);
    http(submit('b-1'));

    sql("UPDATE submission_intents SET status = 'rejected', completed_at = "
        . 'created_at, next_attempt_at = NULL, final_outcome_reason = '
        . "'invalid_message' WHERE intent_id LIKE 'a-%'");

    my $run = http("POST /v1/replays\n"
                   . '{"filter":{"reason":"invalid_message"},"dryRun":true}');

    is($run->{code}, 200, 'a dry run');
    is($run->{json}{count}, 15, 'counts');
    ok(!$run->{json}{countIsBound}, 'all');
    is(scalar @{$run->{json}{sample}}, 10, 'shows some');
    like($run->{body}, qr/^\{"dryRun":true,"count":15,"replayed":0,"countIsBound":false,"sample":\["a-/,
         'and nothing else');

    is(http("POST /v1/replays\n"
            . '{"filter":{"status":"rejected"},"dryRun":true,"limit":3}')
       ->{json}{count}, 3, 'up to a limit');
    http("POST /v1/intents/a-$_/replay") for 10, 11;
    like(http("POST /v1/replays\n"
              . '{"filter":{"reason":"invalid_message"},"dryRun":true}')->{body},
         qr/^\{"dryRun":true,"count":13,"replayed":2,/,
         'what was replayed is counted apart');
    is(http("POST /v1/replays\n" . '{"filter":{"reason":"invalid_message"},'
            . '"again":true,"dryRun":true}')->{json}{count}, 15,
       'unless it is to be replayed again');
    sql("DELETE FROM submission_intents WHERE replay_of IS NOT NULL");
    sql("UPDATE submission_intents SET replay_count = NULL");
    sql("DELETE FROM submission_audit");

    is(http("POST /v1/cancels\n"
            . '{"filter":{"status":"pending"},"dryRun":true}')->{body},
       qq({"dryRun":true,"count":1,"countIsBound":false,"sample":["b-1"]}\n),
       'a cancel');
    is(http("POST /v1/cancels\n{\"filter\":{\"idPrefix\":\"a\"},\"dryRun\":true}")
       ->{json}{count}, 0, 'of what has ended there is none');

    is(counts(), '0 0', 'nothing was made');
}



=== TEST 4: lists, and the end of a job
--- config eval: $::api
--- client eval
sub {
    for my $n (1 .. 5) {
        http("POST /v1/cancels\n{\"id\":\"c$n\",\"filter\":{\"idPrefix\":\"x\"}}");
        sql("UPDATE submission_jobs SET created_at = ${n}000000 "
            . "WHERE job_id = 'c$n'");
    }

    my (@ids, $page);
    my $after = '';

    do {
        $page = http("GET /v1/cancels?limit=2$after");
        push @ids, map { $_->{id} } @{$page->{json}{jobs}};
        $after = '&after=' . ($page->{json}{next} // '');

    } while (defined $page->{json}{next} && @ids < 20);

    is("@ids", 'c5 c4 c3 c2 c1', 'the newest first');
    is(http('GET /v1/replays')->{body}, qq({"jobs":[],"next":null}\n),
       'and none of the other kind');

    my $stopped = http('POST /v1/cancels/c3/stop');

    is($stopped->{code}, 200, 'one is stopped');
    is($stopped->{json}{state}, 'stopped', 'so it is');
    ok($stopped->{json}{completedAt}, 'from now on');

    my $again = http("POST /v1/cancels/c3/stop\n{}");

    is($again->{body}, $stopped->{body}, 'again');
    is($again->{headers}{'idempotent-replayed'}, 'true', 'it was before');
    my $events = http('GET /v1/events?kind=job_stopped')->{json}{events};

    is(scalar @$events, 1, 'it is told, once');
    like($events->[0]{text}, qr/^The cancel job c3 was stopped.*: 0 intents, and 0 were skipped\.$/,
         'in words');
    is(http('POST /v1/cancels/none/stop')->{code}, 404, 'there is no other');
    is(http('POST /v1/replays/c3/stop')->{code}, 404, 'nor of the other kind');
    is(sql("SELECT count(*) FROM submission_audit WHERE action = "
           . "'cancel_job_stop' AND object = 'c3'"), 1, 'it is in the audit');
}



=== TEST 5: who may
--- config eval: $::api
--- not_api: under other prefixes than /v1/
--- client eval
sub {
    my $body = '{"filter":{"status":"rejected"}}';

    for my $path ('replays', 'cancels') {
        for my $level ('r', 's') {
            my $answer = http("POST /$level/$path\n$body");

            is($answer->{code}, 403, "POST /$level/$path");
            like($answer->{body}, qr/operate/, 'the level that it needs');
            is(http("POST /$level/$path/x/stop")->{code}, 403, 'and its stop');
            is(http("GET /$level/$path")->{code}, 200, 'looking is free');
            is(http("GET /$level/$path/x")->{code}, 404, 'at one, too');
        }
    }

    is(counts(), '0 0', 'nothing was made');
}



=== TEST 6: many lines are intents, and nothing else
--- config eval: $::api
--- client eval
sub {
    http(submit('a'));

    for my $path ('intents/a/cancel', 'intents/a/replay', 'replays',
                  'cancels', 'replays/x/stop')
    {
        my $body = '{"intentId":"x","submissionTarget":"sms.realtime"}';
        my $answer = http("POST /v1/$path\n$body",
                          'Content-Type: application/x-ndjson');

        is($answer->{code}, 415, "$path takes no lines");
    }

    is(sql('SELECT count(*) FROM submission_intents'), 1, 'nothing was made');
}

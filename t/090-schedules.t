# PUT, GET and DELETE /v1/schedules/{id}, the list, /pause, /resume and /run.
#
# Nobody leads here: what is asked for must be there afterwards, and what is not good
# must be refused with the field that is at fault. Breaks when a change goes by the
# etag of somebody else, when the same PUT twice is a change, when the list leaves one
# out, when a schedule of the configuration can be changed, and when an error does not
# say what is wrong.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $api = <<'EOC';
        location /v1/ {
            submission_api main access=operate;
        }

        location /r/v1/ {
            submission_api main access=read;
        }

        location /s/v1/ {
            submission_api main;
        }
EOC

our $id = 'nightly';

# a PUT of the fields that are given

sub put {
    my ($id, $more, @headers) = @_;

    return http(qq(PUT /v1/schedules/$id\n{"submissionTarget":"sms.realtime",)
                . qq("payload":{"n": 1}$more}), @headers);
}

run_tests();

__DATA__

=== TEST 1: made, read, the same again, changed, deleted
--- config eval: $::api
--- client eval
sub {
    my $made = put('nightly', ',"every":"PT10M"');
    my $s = $made->{json};

    is($made->{code}, 201, 'made');
    is($s->{id}, 'nightly', 'its id');
    is($s->{every}, 'PT10M', 'its interval');
    is($s->{timeZone}, 'UTC', 'its zone');
    is($s->{misfire} . $s->{overlap}, 'onceskip', 'its rules');
    is($s->{source}, 'api', 'its source');
    ok(!$s->{paused}, 'it is not paused');
    is($s->{startAt}, $s->{nextRunAt}, 'it begins');
    like($s->{nextRunAt}, qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.000000Z\z/,
         'at a whole second');
    is($made->{headers}{etag}, qq("$s->{etag}"), 'the tag is a header, too');
    ok(!exists $s->{payload}, 'PUT does not repeat the payload');

    my $again = put('nightly', ',"every":"PT10M"');
    is($again->{code}, 200, 'the same again');
    is_deeply($again->{json}, $s, 'is the same');

    my $one = http('GET /v1/schedules/nightly');
    is($one->{code}, 200, 'read');
    is_deeply($one->{json}, { %$s, payload => { n => 1 } }, 'with its payload');
    like($one->{body}, qr/"payload":\{"n": 1\}/, 'as it was sent');

    for my $level ('r', 's') {
        $one = http("GET /$level/v1/schedules/nightly");
        is_deeply($one->{json}, $s, "not at the level of /$level/");
    }

    my $changed = put('nightly', ',"every":"PT20M"',
                      qq(If-Match: "$s->{etag}"));
    is($changed->{code}, 200, 'changed by its tag');
    isnt($changed->{json}{etag}, $s->{etag}, 'it has another one');

    my $late = put('nightly', ',"every":"PT30M"', qq(If-Match: "$s->{etag}"));
    is($late->{code}, 412, 'whoever has the old one is late');
    is($late->{json}{error}{code}, 'precondition_failed', 'and told so');
    is(put('nightly', ',"every":"PT30M"', 'If-Match: "x"')->{code}, 412,
       'a tag of somebody else');
    is(put('nightly', ',"every":"PT30M"', qq(If-Match: "x", "$s->{etag}"))->{code},
       412, 'nor one of several');
    is(put('nightly', ',"every":"PT30M"',
           qq(If-Match: W/"$changed->{json}{etag}"))->{code},
       412, 'a weak one is not good enough');
    is(put('nightly', ',"every":"PT30M"',
           qq(If-None-Match: "x", W/"$changed->{json}{etag}"))->{code},
       412, 'it has one of those that it must not have');
    is(put('nightly', ',"every":"PT30M"',
           qq(If-None-Match: "$s->{etag}"))->{code}, 200, 'it has not');
    $changed = put('nightly', ',"every":"PT20M"',
                   'If-Match: "x" , "'
                   . http('GET /v1/schedules/nightly')->{json}{etag} . '"');
    is($changed->{code}, 200, 'one of several');

    for my $bad ($s->{etag}, 'x', '"x', '*, "x"', '"x" "y"') {
        for my $name ('If-Match', 'If-None-Match') {
            my $answer = put('nightly', ',"every":"PT30M"', "$name: $bad");

            is($answer->{code}, 400, "$name: $bad");
            is($answer->{json}{error}{details}{field}, $name, 'that is where');
        }
    }

    is(put('nightly', ',"every":"PT30M"', 'If-None-Match: *')->{code}, 412,
       'it is there');
    is(put('other', ',"every":"PT30M"', 'If-Match: *')->{code}, 412,
       'this one is not');
    is(put('nightly', ',"every":"PT20M"', 'If-Match: *')->{code}, 200,
       'it is');

    is(http('DELETE /v1/schedules/nightly', qq(If-Match: "$s->{etag}"))->{code},
       412, 'not by the old tag');
    is(http('DELETE /v1/schedules/nightly')->{code}, 200, 'deleted');

    for my $request ('DELETE /v1/schedules/nightly', 'GET /v1/schedules/nightly',
                     map { "POST /v1/schedules/nightly/$_" }
                         qw(pause resume run))
    {
        my $answer = http($request);
        is($answer->{code}, 404, $request);
        is($answer->{body}, problem('not_found', 'there is no such schedule'),
           'it is gone');
    }

    is(sql('SELECT action, object FROM submission_audit ORDER BY seq'),
       "schedule_put|nightly\n" x 4 . 'schedule_delete|nightly',
       'the audit');
}



=== TEST 2: by cron, from and to
--- config eval: $::api
--- client eval
sub {
    my $s = put('c', ',"cron":"30 2 * * mon","timeZone":"Europe/Stockholm",'
                     . '"startAt":"2099-07-01T00:00:00+02:00",'
                     . '"endAt":"2099-08-01T00:00:00Z","misfire":"all",'
                     . '"overlap":"allow"')->{json};

    is($s->{cron}, '30 2 * * mon', 'its fields');
    is($s->{timeZone}, 'Europe/Stockholm', 'its zone');
    is($s->{startAt}, '2099-06-30T22:00:00.000000Z', 'its start');
    is($s->{endAt}, '2099-08-01T00:00:00.000000Z', 'its end');
    is($s->{nextRunAt}, '2099-07-06T00:30:00.000000Z', 'a Monday, by local time');
    is($s->{misfire} . $s->{overlap}, 'allallow', 'its rules');

    is(put('e', ',"every":"P1D","startAt":"2099-07-01T02:00:00Z"')
           ->{json}{nextRunAt}, '2099-07-01T02:00:00.000000Z', 'by a start');

    like(put('f', ',"every":"P1D","startAt":"2001-01-01T02:00:00Z"')
             ->{json}{nextRunAt}, qr/T02:00:00\.000000Z\z/,
         'of a start that is long ago, the next time');
}



=== TEST 3: a list, in pages
--- config eval: $::api
--- client eval
sub {
    put("s$_", ',"every":"PT10M"') for 1 .. 5;

    my ($after, @ids) = ('');

    do {
        my $page = http("GET /r/v1/schedules?limit=2$after")->{json};
        push @ids, map { $_->{id} } @{$page->{schedules}};
        ok(!grep({ exists $_->{payload} } @{$page->{schedules}}),
           'without payloads');
        $after = defined $page->{next} ? "&after=$page->{next}" : undef;
    } while (defined $after);

    is("@ids", 's1 s2 s3 s4 s5', 'all of them, once');

    for my $t (['limit=0', 'limit'], ['limit=501', 'limit'], ['after=a@b', 'after'],
               ['target=x', 'target'])
    {
        my $answer = http("GET /v1/schedules?$t->[0]");
        is($answer->{code}, 400, $t->[0]);
        is($answer->{json}{error}{details}{field}, $t->[1], 'its field');
    }
}



=== TEST 4: paused, and going on
--- config eval: $::api
--- client eval
sub {
    my $etag = put('s', ',"every":"PT10M"')->{json}{etag};

    my $s = http(qq(POST /v1/schedules/s/pause\n{"reason":" too \\u0001 loud "}))
                ->{json};
    ok($s->{paused}, 'it is paused');
    is($s->{pauseReason}, 'too   loud', 'for a reason, cleaned');
    ok($s->{pausedAt}, 'since then');
    isnt($s->{etag}, $etag, 'which is a change');

    my $again = http('POST /v1/schedules/s/pause');
    is_deeply($again->{json}, $s, 'again: nothing is changed');

    $s = http("POST /v1/schedules/s/resume\n{}")->{json};
    ok(!$s->{paused} && !exists $s->{pauseReason} && !exists $s->{pausedAt},
       'it goes on');

    for my $t (['pause', '{"reason":1}', 'reason'], ['pause', '[]', undef],
               ['resume', '{"reason":"x"}', 'reason'],
               ['run', '{"at":"x"}', 'at'])
    {
        my $answer = http("POST /v1/schedules/s/$t->[0]\n$t->[1]");
        is($answer->{code}, 400, "$t->[0] $t->[1]");
        is($answer->{json}{error}{details}{field}, $t->[2], 'its field');
    }

    is(sql('SELECT action, detail FROM submission_audit ORDER BY seq LIMIT 2 OFFSET 1'),
       qq(schedule_pause|{"reason":"too   loud"}\nschedule_resume|),
       'the audit') if store()->kind eq 'sqlite';
}



=== TEST 5: run now
--- config eval: $::api
--- client eval
sub {
    put('s', ',"every":"PT10M"');
    http('POST /v1/schedules/s/pause');

    my $answer = http('POST /v1/schedules/s/run');
    my $intent = $answer->{json};

    is($answer->{code}, 200, 'it runs, though it is paused');
    like($intent->{intentId}, qr/^s\@\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\z/,
         'as an intent of its own');
    is($intent->{status}, 'pending', 'which is there');
    is(http("GET /v1/intents/$intent->{intentId}")->{code}, 200, 'at its path');
    is(http("GET /v1/intents?idPrefix=s\@")->{json}{intents}[0]{intentId},
       $intent->{intentId}, 'and by the id of the schedule');
    is(http("GET /v1/intents/$intent->{intentId}/payload")->{body}, '{"n": 1}',
       'with the payload');

    my $s = http('GET /v1/schedules/s')->{json};
    is($s->{lastIntentId}, $intent->{intentId}, 'the schedule knows of it');
    is($s->{fired}, 1, 'and counts it');

    # an id of the caller's own: an answer that is lost is asked for again

    my $run = qq(POST /v1/schedules/s/run\n{"intentId":"mine"});

    $answer = http($run);
    is($answer->{code}, 200, 'with an id');
    is($answer->{json}{intentId}, 'mine', 'it is the intent\'s');
    is($answer->{headers}{'idempotent-replayed'}, undef, 'which is new');

    my $again = http($run);
    is($again->{code}, 200, 'again');
    is_deeply($again->{json}, $answer->{json}, 'the same intent');
    is($again->{headers}{'idempotent-replayed'}, 'true', 'which is said');

    $s = http('GET /v1/schedules/s')->{json};
    is($s->{lastIntentId}, $intent->{intentId},
       'the last one has not ended, and stays it');
    is($s->{fired}, 2, 'and counts it once');
    is(scalar grep({ $_->{action} eq 'schedule_run' }
                   @{http('GET /v1/audit')->{json}{entries}}), 2,
       'so does the audit');

    http(qq(PUT /v1/schedules/s\n{"submissionTarget":"sms.realtime",)
         . '"payload":{"n": 2},"every":"PT10M"}');

    $again = http($run);
    is($again->{code}, 409, 'not another intent of that id');
    is($again->{json}{error}{code}, 'idempotency_conflict', 'its code');
    is(http('GET /v1/schedules/s')->{json}{fired}, 2, 'which counts nothing');

    for my $t ('""', '" "', '1', '"' . 'x' x 201 . '"') {
        $answer = http(qq(POST /v1/schedules/s/run\n{"intentId":$t}));
        is($answer->{code}, 400, "id $t");
        is($answer->{json}{error}{details}{field}, 'intentId', 'its field');
    }
}



=== TEST 6: the ids of its occurrences belong to a schedule
# A client that posts one of them first, for the time in a year, must not hold the
# schedule back.
--- config eval: $::api
--- client eval
sub {
    my ($code, $bulk);

    my $post = sub {
        my ($id) = @_;
        return http(qq(POST /s/v1/intents\n{"intentId":"$id",)
                    . '"submissionTarget":"sms.realtime","payload":1}');
    };

    is($post->('own@2030-01-01T00:00:00Z')->{code}, 200, 'nobody\'s id');

    put('own', ',"every":"PT10M"');

    my $answer = $post->('own@2031-01-01T00:00:00Z');
    is($answer->{code}, 409, 'one of a schedule');
    is($answer->{json}{error}{code}, 'reserved_id', 'its code');
    is($answer->{json}{error}{details}{field}, 'intentId', 'its field');
    is(http('GET /v1/intents/own@2031-01-01T00:00:00Z')->{code}, 404,
       'nothing was made');

    is($post->('own@2031-01-01')->{code}, 200, 'another form is anybody\'s');
    $answer = $post->('own@2030-01-01T00:00:00Z');
    is($answer->{code}, 200, 'what was there before is there');
    is($answer->{headers}{'idempotent-replayed'}, 'true', 'as a duplicate');

    $bulk = http(qq(POST /s/v1/intents\n)
                 . join("\n", map { qq({"intentId":"$_","submissionTarget":)
                                    . '"sms.realtime"}' }
                       'b1', 'own@2032-01-01T00:00:00Z', 'b2'),
                 'Content-Type: application/x-ndjson');
    is_deeply([$bulk->{body} =~ /"status":(\d+)/g], [200, 409, 200],
              'one line of many');
    like($bulk->{body}, qr/"line":2,.*"code":"reserved_id"/, 'its code');

    http('POST /v1/intents/b1/cancel');
    $answer = http(qq(POST /v1/intents/b1/replay\n)
                   . '{"intentId":"own@2033-01-01T00:00:00Z"}');
    is($answer->{code} . $answer->{json}{error}{code}, '409reserved_id',
       'a replay');

    put('other', ',"every":"PT10M"');
    $answer = http(qq(POST /v1/schedules/other/run\n)
                   . '{"intentId":"own@2033-01-01T00:00:00Z"}');
    is($answer->{code} . $answer->{json}{error}{code}, '409reserved_id',
       'a run of another one');

    http('DELETE /v1/schedules/own');
    is($post->('own@2031-01-01T00:00:00Z')->{code}, 200,
       'without the schedule it is anybody\'s');
}



=== TEST 7: what is refused
--- config eval: $::api
--- client eval
sub {
    for my $t (['', 'every'], [',"every":"PT1S","cron":"* * * * *"', 'every'],
               [',"every":"10m"', 'every'], [',"every":"P1Y"', 'every'],
               [',"every":"P366D"', 'every'], [',"every":10', 'every'],
               [',"cron":"* * * *"', 'cron'], [',"cron":"60 * * * *"', 'cron'],
               [',"cron":"0 0 30 2 *"', 'cron'],
               [',"cron":"* * * * *","timeZone":"Mars/Olympus"', 'timeZone'],
               [',"cron":"* * * * *","timeZone":""', 'timeZone'],
               [',"every":"PT1S","startAt":"tomorrow"', 'startAt'],
               [',"every":"PT1S","startAt":"2099-01-01T00:00:00.5Z"', 'startAt'],
               [',"every":"PT1S","endAt":"2020-01-01T00:00:00Z"', 'endAt'],
               [',"every":"PT1S","misfire":"maybe"', 'misfire'],
               [',"every":"PT1S","overlap":true', 'overlap'],
               [',"every":"PT1S","id":"s"', 'id'])
    {
        my $answer = put('s', $t->[0]);

        is($answer->{code}, 400, $t->[0]);
        is($answer->{json}{error}{code}, 'invalid_request', 'its code');
        is($answer->{json}{error}{details}{field}, $t->[1], 'its field: '
           . ($answer->{json}{error}{message} // ''));
    }

    for my $t (['{"submissionTarget":"nowhere","every":"PT1S"}',
                'submissionTarget'], ['{"every":"PT1S"}', 'submissionTarget'],
               ['', undef], ['[]', undef], ['{', undef])
    {
        my $answer = http("PUT /v1/schedules/s\n$t->[0]");

        is($answer->{code}, 400, $t->[0]);
        is($answer->{json}{error}{details}{field}, $t->[1], 'its field');
    }

    for my $bad ('a%40b', 'a%20b', 'x' x 179, '%C3%A5') {
        my $answer = put($bad, ',"every":"PT1S"');

        is($answer->{code}, 400, "the id $bad");
        is($answer->{json}{error}{details}{field}, 'id', 'its field');
    }

    is(put('x' x 178, ',"every":"PT1S"')->{code}, 201, 'the longest id');
    is(http("PUT /v1/schedules/s\n{}", 'Content-Type: application/x-ndjson')
           ->{code}, 415, 'not many at once');
    is(http("POST /v1/schedules/s")->{code}, 405, 'another method');
    is(sql('SELECT count(*) FROM submission_schedules'), 1, 'nothing else is there');
}



=== TEST 8: levels
--- config eval: $::api
--- client eval
sub {
    for my $level ('r', 's') {
        for my $request ("PUT /$level/v1/schedules/s\n{}",
                         "DELETE /$level/v1/schedules/s",
                         map { "POST /$level/v1/schedules/s/$_" }
                             qw(pause resume run preview))
        {
            my $answer = http($request);
            is($answer->{code}, 403, $request);
            is($answer->{json}{error}{details}{level}, 'operate', 'what it needs');
        }

        is(http("GET /$level/v1/schedules")->{code}, 200, 'all can be read');
    }
}



=== TEST 9: the next times, before anything is made
# What is shown must be what a PUT plans: the same rule, the same zone, and the
# planned time of a schedule that is there.
--- config eval: $::api
--- client eval
sub {
    my $preview = sub {
        my ($id, $more) = @_;

        return http(qq(POST /v1/schedules/$id/preview\n{"submissionTarget":"sms.realtime"$more}));
    };

    my $answer = $preview->('new', ',"cron":"30 2 29 2 *","timeZone":"Europe/Stockholm","startAt":"2030-01-01T00:00:00Z"');

    is($answer->{code}, 200, 'a preview');
    is_deeply($answer->{json}{times}, [map { "$_-02-29T01:30:00.000000Z" } 2032, 2036, 2040, 2044, 2048],
              'the next five times, in the zone of the rule');

    $answer = $preview->('new', ',"every":"PT10M","startAt":"2099-01-01T00:00:00Z","endAt":"2099-01-01T00:15:00Z"');
    is_deeply($answer->{json}{times}, ['2099-01-01T00:00:00.000000Z', '2099-01-01T00:10:00.000000Z'],
              'no more than there are');

    put('s', ',"every":"PT10M"');

    my $next = http('GET /v1/schedules/s')->{json}{nextRunAt};

    is($preview->('s', ',"every":"PT10M"')->{json}{times}[0], $next, 'the time that is planned stays');
    isnt($preview->('s', ',"every":"PT20M"')->{json}{times}[0], $next, 'with other times it does not');
    is(http('GET /v1/schedules/s')->{json}{nextRunAt}, $next, 'a preview changes nothing');

    for my $t ([',"cron":"* * * * nonday"', 'cron'], [',"cron":"0 0 * * *","timeZone":"Mars/Base"', 'timeZone'],
               [',"every":"PT1S","endAt":"2020-01-01T00:00:00Z"', 'endAt'])
    {
        $answer = $preview->('new', $t->[0]);
        is($answer->{code}, 400, "refused: $t->[0]");
        is($answer->{json}{error}{details}{field}, $t->[1], 'its field');
    }

    is(sql('SELECT count(*) FROM submission_schedules'), 1, 'nothing was made');
}

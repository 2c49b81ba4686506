# notBefore in POST /v1/intents: the first attempt is due then.
#
# It is shown as it was given, in UTC, and belongs to the intent: a duplicate has the
# same one, whatever its offset.  How far ahead it may be, and what is in the past,
# says the store's clock.  Breaks when a time is not taken to the microsecond, an
# offset is not, when a duplicate without it passes for the same, when something
# refused is stored, or a refusal does not name the field.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use POSIX qw(strftime);

# so many seconds from now, with an offset of hours

sub at {
    my ($seconds, $offset) = @_;

    my $time = int(time + $seconds);

    return strftime('%Y-%m-%dT%H:%M:%S', gmtime($time)) . '.250000Z'
        if !$offset;

    return strftime('%Y-%m-%dT%H:%M:%S', gmtime($time + $offset * 3600))
           . sprintf('.25%+03d:00', $offset);
}

sub post {
    my ($id, $before, $target) = @_;

    return http(sprintf "POST /v1/intents\n{\"intentId\":\"%s\","
                . "\"submissionTarget\":\"%s\"%s}", $id,
                $target || 'sms.realtime',
                defined $before ? ",\"notBefore\":\"$before\"" : '');
}

sub conflict {
    return problem('idempotency_conflict',
                   'the intent exists with another "notBefore"',
                   '"existingTarget":"sms.realtime",'
                   . '"incomingTarget":"sms.realtime"');
}

run_tests();

__DATA__

=== TEST 1: it is due then, and shown
--- client eval
sub {
    my $before = at(86400);
    my $answer = post('a', $before);

    is($answer->{code}, 200, 'taken');
    is($answer->{json}{notBefore}, $before, 'shown as it was given');
    is($answer->{json}{nextAttemptAt}, $before, 'due then');
    isnt($answer->{json}{createdAt}, $before, 'created now');
    like($answer->{body}, qr/,"nextAttemptAt":"[^"]+","notBefore":"[^"]+"\}$/,
         'after what was there before');

    is(http('GET /v1/intents/a')->{body}, $answer->{body}, 'so says GET');
    is(http('GET /v1/intents/a/history')->{json}{intent}{notBefore}, $before,
       'and the history');
    is(http('GET /v1/intents')->{json}{intents}[0]{notBefore}, $before,
       'and the list');

    $answer = post('b');
    ok(!exists $answer->{json}{notBefore}, 'not where there is none');
}



=== TEST 2: it belongs to the intent
--- client eval
sub {
    my ($before, $east, $west, $other) = (at(7200), at(7200, 5), at(7200, -8),
                                          at(7201));

    is(post('a', $before)->{code}, 200, 'taken');

    for my $same ($before, $east, $west) {
        my $answer = post('a', $same);

        is($answer->{code}, 200, "a duplicate: $same");
        is($answer->{headers}{'idempotent-replayed'}, 'true', 'is told');
        is($answer->{json}{notBefore}, $before, 'in UTC');
    }

    for my $answer (post('a', $other), post('a'), post('a', at(-5))) {
        is($answer->{code}, 409, 'with another time, or none: a conflict');
        is($answer->{body}, conflict(), 'that says why');
    }

    post('b');
    is(post('b', $before)->{body}, conflict(), 'one that has none');
    is(post('a', $before, 'push.bulk')->{json}{error}{message},
       'the intent exists with another target', 'the target comes first');

    is(sql('SELECT count(*) FROM submission_intents'), 2, 'two are stored');
}



=== TEST 3: in the past
--- client eval
sub {
    for my $before (at(-10), at(-86400 * 365 * 5), '1970-01-01T00:00:01.000000Z') {
        my $answer = post("a$before", $before);

        is($answer->{code}, 200, "$before is taken");
        is($answer->{json}{notBefore}, $before, 'and shown');
        is($answer->{json}{nextAttemptAt}, $answer->{json}{createdAt},
           'it is due now');
    }
}



=== TEST 4: what is refused
--- client eval
sub {
    my %bad = (
        'tomorrow' => 'must be a time of RFC 3339 with an offset, such as '
            . '"2026-02-02T12:00:10Z" or "2026-02-02T13:00:10.5+01:00"',
        '2026-12-31T23:59:60Z' =>
            'must not be a leap second: its seconds must be 59 or less',
        '2026-02-30T12:00:10Z' =>
            'is a date or a time of day that does not exist',
        '1969-12-31T23:59:59Z' => 'must be later than the beginning of 1970, '
            . 'and earlier than the year 10000',
        '9999-12-31T23:59:59Z' => 'must be at most 365 days ahead',
        at(86400 * 365 + 60) => 'must be at most 365 days ahead',
    );

    for my $before (sort keys %bad) {
        my $answer = post('a', $before);

        is($answer->{code}, 400, "$before is refused");
        is($answer->{body}, problem('invalid_request',
                                    "\"notBefore\" $bad{$before}",
                                    '"field":"notBefore"'), 'in words');
    }

    for my $json ('1770033610', 'null', '{}', 'true') {
        my $answer = http('POST /v1/intents' . "\n" . '{"intentId":"a",'
                          . '"submissionTarget":"sms.realtime",'
                          . "\"notBefore\":$json}");

        is($answer->{code}, 400, "$json is refused");
        is($answer->{body}, problem('invalid_request',
                                    '"notBefore" must be a string',
                                    '"field":"notBefore"'), 'in words');
    }

    is(sql('SELECT count(*) FROM submission_intents'), 0, 'nothing is stored');

    is(post('a', at(86400 * 365 - 60))->{code}, 200, 'a year is not too far');
}



=== TEST 5: one that is refused, in a batch with others
--- client eval
sub {
    my $release = hold_writes();

    my @socks = map {
        my $body = sprintf '{"intentId":"%s","submissionTarget":"sms.realtime",'
                           . '"notBefore":"%s"}', $_,
                           at($_ % 3 ? 60 : 86400 * 366);

        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 1 .. 30;

    $release->();

    my @codes = map { http_read($_)->{code} } @socks;

    is("@codes", join(' ', (200, 200, 400) x 10), 'each has its own answer');
    is(sql('SELECT count(*) FROM submission_intents'), 20, 'and is stored, or not');
}

# GET /v1/failures: what has failed lately, in groups.
#
# At 3 a.m. it is the first question: what fails, since when, and which intents
# are examples of it. Breaks when groups are split or merged, when an answer that
# looked at a part says that it is complete, or when the question is not bounded.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use POSIX 'strftime';

our $start = 1_780_000_000;         # 2026-05-28T20:26:40Z

sub fail_with {
    my ($id, $second, $status, $reason, $error) = @_;

    my $column = $status eq 'rejected' ? 'final_outcome_reason'
                                       : 'exhausted_reason';

    sql("UPDATE submission_intents SET status = '$status', "
        . "$column = '$reason', next_attempt_at = NULL, attempt_count = 1, "
        . 'last_error = ' . (defined $error ? "'$error'" : 'NULL')
        . ', completed_at = ' . ($start + $second) * 1000000
        . " WHERE intent_id = '$id'");
}

sub create {
    my @answers = http_pipelined(
        (map { submit("sms-$_") } 1 .. 6), (map { submit("p-$_", 'push.bulk') } 1 .. 3));

    is(scalar(grep { $_->{code} == 200 } @answers), 9, 'nine intents');

    fail_with("sms-$_", $_, 'rejected', 'invalid_recipient', 'HTTP 422') for 1 .. 4;
    fail_with('sms-5', 10, 'exhausted', 'deadline_exceeded');
    fail_with('p-1', 20 + 30, 'exhausted', 'max_attempts', 'say "no"');
}

sub group {
    my ($target, $status, $reason, $error, $count, $second, @ids) = @_;

    return sprintf '{"submissionTarget":"%s","status":"%s","reason":"%s",'
                   . '"lastError":%s,"count":%d,"replayed":0,"newestAt":'
                   . '"2026-05-28T20:%02d:%02d.000000Z","newestIds":[%s]}',
                   $target, $status, $reason, $error, $count,
                   (26 * 60 + 40 + $second) / 60, (40 + $second) % 60,
                   join ',', map { "\"$_\"" } @ids;
}

our $p = group('push.bulk', 'exhausted', 'max_attempts', '"say \"no\""', 1, 50,
               'p-1');
our $deadline = group('sms.realtime', 'exhausted', 'deadline_exceeded', 'null', 1,
                      10, 'sms-5');
our $recipient = group('sms.realtime', 'rejected', 'invalid_recipient',
                       '"HTTP 422"', 4, 4, 'sms-4', 'sms-3', 'sms-2');

run_tests();

__DATA__

=== TEST 1: none
--- request
GET /v1/failures
--- response_body_like: ^\{"failures":\[\],"complete":true,"asOf":"[^"]*Z"\}$
--- response_headers
Content-Type: application/json



=== TEST 2: groups, the newest first
--- client eval
sub {
    create();

    my %expected = (
        '' => [$main::p, $main::deadline, $main::recipient],
        '?target=push.bulk' => [$main::p],
        '?target=sms.realtime' => [$main::deadline, $main::recipient],
        '?target=none' => [],
        '?since=2026-05-28T20:27:59Z' => [$main::p],
        '?since=2026-05-28T22:27:00.000001%2B02:00' => [$main::p],
        '?since=2026-05-28T20:26:50Z&target=sms.realtime'
            => [$main::deadline, $main::recipient],
        '?since=2027-01-01T00:00:00Z' => [],
    );

    for my $args (sort keys %expected) {
        my $answer = http("GET /v1/failures$args");

        is($answer->{code}, 200, "failures$args");
        like($answer->{body}, qr/^\Q{"failures":[\E/, 'the groups first');
        is($answer->{body} =~ s/,("since":"[^"]*",)?"asOf":"[^"]*Z"//r,
           '{"failures":[' . join(',', @{$expected{$args}})
           . "],\"complete\":true}\n", "failures$args: groups");
        is($answer->{json}{since} // '',
           $args =~ /since=(2026-05-28T2[02]:\d\d)/
               ? $1 =~ s/T22/T20/r . ':00.000000Z'
               : $args =~ /2027/ ? '2027-01-01T00:00:00.000000Z' : '',
           "failures$args: since a whole minute, which is said");
    }
}



=== TEST 3: what was replayed is counted apart
--- client eval
sub {
    create();

    http('POST /v1/intents/sms-4/replay');
    http('POST /v1/intents/p-1/replay');

    my @groups = @{http('GET /v1/failures')->{json}{failures}};

    is_deeply([map { "$_->{submissionTarget} $_->{count} $_->{replayed} "
                     . "@{$_->{newestIds}}" } @groups],
              ['sms.realtime 1 0 sms-5', 'sms.realtime 3 1 sms-3 sms-2 sms-1',
               'push.bulk 0 1 p-1'],
              'what needs a hand comes first, and what was replayed is not hidden');
    is($groups[1]{newestAt}, '2026-05-28T20:26:43.000000Z',
       'the newest is one that was not replayed');
}



=== TEST 4: not all of them
--- client eval
sub {
    create();

    my $payload = store()->no_bytes;

    sql("INSERT INTO submission_inbox_refused (lease_name, refused_at, seq, "
        . "intent_id, submission_target, payload, created_at, reason, detail) "
        . join(' UNION ALL ', map {
              "SELECT 'submission-manager-executor', $_, $_, 'i', 't', "
              . "$payload, 1, 'invalid_request', 'why $_'"
          } 1 .. 101));

    my $answer = http('GET /v1/failures')->{json};

    is(scalar @{$answer->{failures}}, 100, 'a hundred groups are shown');
    is($answer->{complete}, 0, 'and it is told that there are more');
    is($answer->{failures}[3]{status}, 'refused', 'of what the inbox refused');
    is($answer->{failures}[3]{lastError}, 'why 101', 'the newest');
}



=== TEST 5: a look is shared, and kept for a second
# A hundred who ask cost the store a look for each minute that they ask for, and not a
# hundred; what has failed since is there a second later.
--- client eval
sub {
    create();

    my $start = time;
    my @answers = http_pipelined(
        map { sprintf "GET /v1/failures?since=2026-05-28T20:%02d:%02dZ",
                      20 + $_ % 2, $_ % 60 } 1 .. 100);

    is(scalar(grep { $_->{code} == 200 } @answers), 100, 'all are answered');

    my %bodies;
    push @{$bodies{$_->{json}{since}}}, $_->{body} for @answers;

    is(join(' ', sort keys %bodies),
       '2026-05-28T20:20:00.000000Z 2026-05-28T20:21:00.000000Z',
       'for two minutes');

    # one look, one time: those who came while it was made share the next one;
    # two minutes, and a second

    my %times = map { $_->{json}{asOf} => 1 } @answers;

    cmp_ok(scalar keys %times, '<=', 12 + 2 * (time - $start),
           'by a few looks, which say when');

    # the date, and not for how long the host is up

    my $days = join '|', map { strftime('%Y-%m-%d', gmtime $_) } $start, time;

    is(scalar(grep { !/^(?:$days)T/ } keys %times), 0, 'the date');

    fail_with('sms-6', 30, 'rejected', 'new', 'HTTP 422');

    ok(wait_for(sub {
        http('GET /v1/failures?since=2026-05-28T20:20:00Z')->{body}
            =~ /"reason":"new"/;
    }), 'what is new is shown a second later');
}



=== TEST 6: arguments and methods
--- request eval
['GET /v1/failures?since=yesterday', 'GET /v1/failures?since=',
 'GET /v1/failures?target=a%20b', 'GET /v1/failures?limit=1',
 'GET /v1/failures?target=a&target=b', "POST /v1/failures\n{}"]
--- error_code eval
[(400) x 5, 405]
--- response_body eval
[(problem('invalid_request', '"since" must be a time of RFC 3339, such as '
          . '"2026-02-02T12:00:00Z"; a "+" is "%2B" here', '"field":"since"')) x 2,
 problem('invalid_request', '"target" must be the name of a target',
         '"field":"target"'),
 problem('invalid_request', 'unknown argument "limit": "since" or "target" was '
         . 'expected', '"field":"limit"'),
 problem('invalid_request', 'duplicate argument "target"', '"field":"target"'),
 problem('method_not_allowed', 'the method must be one of GET, HEAD')]

# GET /v1/intents with a reason, times, a prefix of ids, and in either order.
#
# What can be asked for together is answered by an index; all else is refused
# with a word about what can. Breaks when a page repeats or leaves out an intent
# in one of the orders, when a cursor of one list is taken in another, or when a
# combination that would read the whole history is let through.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

# ten intents, a second apart; what is even has ended, in reverse order

our $start = 1_780_000_000;

sub second { sprintf '2026-05-28T20:%02d:%02dZ', (26 * 60 + 40 + $_[0]) / 60,
                     (26 * 60 + 40 + $_[0]) % 60 }

sub create {
    my @answers = http_pipelined(map {
        submit(sprintf('id-%02d', $_), $_ % 3 ? 'sms.realtime' : 'push.bulk')
    } 0 .. 9);

    is(scalar(grep { $_->{code} == 200 } @answers), 10, 'ten intents');

    sql("UPDATE submission_intents SET created_at = $start * 1000000 "
        . '+ CAST(substr(intent_id, 4) AS int) * 1000000');

    for my $n (0, 2, 4, 6, 8) {
        my $status = $n % 4 ? 'exhausted' : 'rejected';
        my $column = $n % 4 ? 'exhausted_reason' : 'final_outcome_reason';
        my $reason = $n == 4 ? 'other' : 'spent';

        sql("UPDATE submission_intents SET status = '$status', "
            . "$column = '$reason', next_attempt_at = NULL, completed_at = "
            . ($start + 100 - $n) * 1000000
            . ($n > 5 ? ', stripped_at = 1' : '')
            . " WHERE intent_id = 'id-0$n'");
    }
}

# numbers of the ids of all pages

sub walk {
    my ($args, $limit) = @_;

    my (@ids, $page);
    my $after = '';

    do {
        $page = http("GET /v1/intents?$args&limit=$limit$after");

        $page->{code} == 200 or return "$page->{code}: $page->{body}";
        @ids < 100 or return 'the list does not end';

        push @ids, map { $_->{intentId} =~ /(\d)\z/ } @{$page->{json}{intents}};
        $after = '&after=' . ($page->{json}{next} || '');

    } while ($page->{json}{next});

    return join '', @ids;
}

sub is_list {
    my ($args, $expected) = @_;

    is(walk($args, $_), $expected, "$args, $_ at a time") for 1, 2, 3, 50;
}

sub refused {
    my ($args, $field, $message) = @_;

    my $answer = http("GET /v1/intents?$args");

    is($answer->{code}, 400, "$args is refused");
    is($answer->{body},
       problem('invalid_request', $message, "\"field\":\"$field\""),
       "$args: why");
}

run_tests();

__DATA__

=== TEST 1: either order, by either time
--- client eval
sub {
    create();

    is_list('order=desc', '9876543210');
    is_list('order=asc', '0123456789');
    is_list('order=asc&status=pending', '13579');
    is_list('order=asc&target=push.bulk', '0369');
    is_list('order=asc&target=push.bulk&status=pending', '39');
    is_list('by=created&order=asc&status=exhausted', '26');

    is_list('by=completed', '02468');
    is_list('by=completed&order=asc', '86420');
    is_list('by=completed&status=rejected', '048');
    is_list('by=completed&status=accepted', '');
    is_list('by=completed&order=asc&target=push.bulk', '60');
    is_list('by=completed&target=sms.realtime&status=exhausted', '2');
}



=== TEST 2: from and to
--- client eval
sub {
    create();

    is_list('from=' . second(3) . '&to=' . second(7), '6543');
    is_list('order=asc&from=' . second(3) . '&to=' . second(7), '3456');
    is_list('from=' . second(8), '98');
    is_list('to=' . second(2), '10');
    is_list('order=asc&from=' . second(7), '789');
    is_list('order=asc&to=' . second(2) . '&status=pending', '1');
    is_list('from=2026-05-28T20:26:43%2B00:00&to=2026-05-28T22:26:45.000001%2B02:00',
            '543');
    is_list('by=completed&from=' . second(94) . '&to=' . second(98), '46');
    is_list('by=completed&order=asc&from=' . second(94) . '&to=' . second(99),
            '642');
}



=== TEST 3: a reason
--- client eval
sub {
    create();

    is_list('by=completed&reason=spent', '0268');
    is_list('by=completed&reason=spent&order=asc', '8620');
    is_list('by=completed&reason=spent&status=rejected', '08');
    is_list('by=completed&reason=spent&status=exhausted&order=asc', '62');
    is_list('by=completed&reason=spent&target=push.bulk', '06');
    is_list('by=completed&reason=other', '4');
    is_list('by=completed&reason=none', '');
    is_list('by=completed&reason=spent&from=' . second(93) . '&to=' . second(99),
            '26');
}



=== TEST 4: a prefix of ids
--- client eval
sub {
    create();
    is(http(submit($_))->{code}, 200, $_) for 'ie9', 'id', "id-\xc3\xa92", 'Id-7';

    is_list('idPrefix=id-0', '0123456789');
    is_list('idPrefix=id-0&order=desc', '9876543210');
    is_list('idPrefix=id-07', '7');
    is_list('idPrefix=id-%C3%A9', '2');
    is_list('idPrefix=Id', '7');
    is_list('idPrefix=ie', '9');
    is_list('idPrefix=x', '');
    is(join(' ', map { $_->{intentId} }
                 @{http('GET /v1/intents?idPrefix=id&limit=1')->{json}{intents}}),
       'id', 'an id that is the prefix itself');
}



=== TEST 5: what cannot be asked for together
--- client eval
sub {
    refused('reason=spent', 'reason',
            '"reason" can be combined with "by=completed" alone: intents are '
            . 'not listed by reason and time of creation');
    refused('reason=spent&status=rejected&by=created', 'reason',
            '"reason" can be combined with "by=completed" alone: intents are '
            . 'not listed by reason and time of creation');
    refused('by=completed&reason=spent&status=accepted', 'reason',
            '"reason" can be combined with "status=rejected" and '
            . '"status=exhausted" alone: no other status has a reason');
    refused('by=completed&status=pending', 'by',
            '"by=completed" cannot be combined with "status=pending": pending '
            . 'intents are not completed');
    refused("from=$_->[0]&to=$_->[1]", 'to', '"to" must be later than "from"')
        for ['2026-02-02T12:00:00Z', '2026-02-02T12:00:00Z'],
            ['2026-02-02T12:00:00Z', '2026-02-02T12:00:00%2B00:01'];

    refused("idPrefix=a&$_", 'idPrefix',
            '"idPrefix" can be combined with "order", "limit" and "after" '
            . 'alone: its list is in the order of ids')
        for 'status=pending', 'target=a', 'by=completed', 'reason=r&by=completed',
            'from=2026-02-02T12:00:00Z', 'to=2026-02-02T12:00:00Z';
}



=== TEST 6: values that are none
--- client eval
sub {
    for my $name ('from', 'to') {
        refused("$name=$_", $name,
                "\"$name\" must be a time of RFC 3339, such as "
                . '"2026-02-02T12:00:00Z"; a "+" is "%2B" here')
            for '', '1', 'now', '2026-02-02', '2026-02-02T12:00:00',
                '2026-02-30T12:00:00Z', '2026-02-02T12:00:00+01:00x',
                '2026-02-02T12:00:00%2025:00', '1969-12-31T23:59:59Z';
    }

    refused("by=$_", 'by', '"by" must be "created" or "completed"')
        for '', 'id', 'Created';
    refused("order=$_", 'order', '"order" must be "asc" or "desc"')
        for '', 'up', 'ASC';
    refused("by=completed&reason=$_", 'reason',
            '"reason" must be that of a rejection or of an exhaustion')
        for '', '%01', '%ff', 'x' x 201;
    refused("idPrefix=$_", 'idPrefix',
            '"idPrefix" must be what ids begin with: up to 200 characters, '
            . 'none of them a control character, and no space at its beginning')
        for '', '%01', '%ff', '%20a', 'x' x 201;
}



=== TEST 7: a cursor of one list is none of another
--- client eval
sub {
    create();

    my @lists = ('order=desc', 'order=asc', 'by=completed',
                 'by=completed&order=asc', 'idPrefix=id', 'idPrefix=id&order=desc');

    my %next = map { $_ => http("GET /v1/intents?$_&limit=1")->{json}{next} }
               @lists;

    for my $list (@lists) {
        for my $of (@lists) {
            my $answer = http("GET /v1/intents?after=$next{$of}&$list");

            if ($of eq $list) {
                is($answer->{code}, 200, "$list: its own");
                next;
            }

            is($answer->{code}, 400, "$list: not that of $of");
            is($answer->{json}{error}{details}{field}, 'after', 'told so');
        }
    }

    is(http("GET /v1/intents?idPrefix=x&after=$next{'idPrefix=id'}")->{code},
       400, 'nor that of another prefix');
    is(http("GET /v1/intents?by=completed&reason=spent&after=$next{'by=completed'}")
       ->{code}, 200, 'but that of the same order');
}



=== TEST 8: HEAD, and pages while intents end
--- client eval
sub {
    create();

    my $get = http('GET /v1/intents?by=completed&order=asc&limit=2');
    my $head = http_rest(http_open("HEAD /v1/intents?by=completed&order=asc&limit=2 "
                                   . "HTTP/1.1\r\nHost: localhost\r\n"
                                   . "Connection: close\r\n\r\n"));

    like($head, qr/\r\nContent-Length: @{[length $get->{body}]}\r\n/,
         'HEAD: the length of GET');

    # what ends meanwhile ends after all that have ended: a walk upwards sees it

    sql("UPDATE submission_intents SET status = 'accepted', "
        . 'next_attempt_at = NULL, completed_at = ' . ($main::start + 200) * 1000000
        . " WHERE intent_id = 'id-01'");

    is(join('', map { $_->{intentId} =~ /(\d)\z/ }
            @{http("GET /v1/intents?by=completed&order=asc&after=$get->{json}{next}")
              ->{json}{intents}}), '4201', 'what has ended since then, too');
}

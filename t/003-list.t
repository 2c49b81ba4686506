# GET /v1/intents: pages of the list, newest first.
#
# An operator, or a job that copies intents elsewhere, walks the list while new
# intents arrive. It must see every intent that was there when it began, each
# once. Breaks when the cursor is not exactly the order of the list (many
# intents have the same time), when "next" does not survive an id's bytes, or
# when a filter changes the order.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

sub bad_arg {
    my ($name, $message) = @_;

    return problem('invalid_request', "\"$name\" must be $message",
                   "\"field\":\"$name\"");
}

our $bad_status = bad_arg('status', '"pending", "accepted", "rejected", '
                                    . '"exhausted" or "canceled"');
our $bad_target = bad_arg('target', 'the name of a target');
our $bad_limit = bad_arg('limit', 'a number between 1 and 500');
our $bad_after = bad_arg('after', 'the "next" of an earlier page');

sub ids {
    return map { $_->{intentId} } @{$_[0]{json}{intents}};
}

sub create {
    my @answers = http_pipelined(@_);

    is(join(' ', grep { $_ != 200 } map { $_->{code} } @answers), '',
       scalar(@answers) . ' intents are created');

    return @answers;
}

# the ids of all pages, in their order; "between" is called before each next one

sub walk {
    my ($args, $between) = @_;

    my ($page, @ids, @sizes);
    my $after = '';

    do {
        $page = http("GET /v1/intents?$args$after");

        $page->{code} == 200 or die "$page->{code}: $page->{body}\n";

        @sizes < 1000 or die "the list does not end\n";

        push @ids, ids($page);
        push @sizes, scalar ids($page);

        $between->() if $between;

        $after = '&after=' . ($page->{json}{next} || '');

    } while ($page->{json}{next});

    return (\@ids, \@sizes);
}

# the order of the list: by time, and by id where that is the same

sub newest_first {
    return map { $_->[1] }
           sort { $b->[0] cmp $a->[0] || $b->[1] cmp $a->[1] }
           map { [$_->{json}{createdAt}, $_->{json}{intentId}] } @_;
}

run_tests();

__DATA__

=== TEST 1: an empty list
--- request
GET /v1/intents
--- response_headers
Content-Type: application/json
--- response_body
{"intents":[],"next":null}



=== TEST 2: one intent
--- request eval
[submit('a', 'push.bulk'), 'GET /v1/intents', 'GET /v1/intents?limit=1']
--- response_body_like eval
(my $one = intent('a', 'push.bulk')) =~ s/\\n\\z//;
$one =~ s/\^\\\{/\\{/;
[intent('a', 'push.bulk'), ("^\\{\"intents\":\\[$one\\],\"next\":null\\}\n\\z") x 2]



=== TEST 3: newest first
--- client eval
sub {
    create(map { submit($_) } 'a', 'k', 'm', 'z');

    sql("UPDATE submission_intents SET created_at = 1700000000000000 "
        . "+ instr('mzak', intent_id)");

    is(join(' ', ids(http('GET /v1/intents'))), 'k a z m', 'by time, not by id');
}



=== TEST 4: the limit, by default 50
--- client eval
sub {
    create(map { submit("id-$_") } 1 .. 60);

    my $page = http('GET /v1/intents');

    is(scalar ids($page), 50, '50 without a limit');
    ok($page->{json}{next}, 'and there is more');

    $page = http("GET /v1/intents?after=$page->{json}{next}");

    is(scalar ids($page), 10, 'the rest');
    is($page->{json}{next}, undef, 'and no more');

    for ([1, 1], [59, 59], [60, 60], [61, 60], [500, 60], ['007', 7]) {
        my ($limit, $n) = @$_;
        my $page = http("GET /v1/intents?limit=$limit");

        is(scalar ids($page), $n, "limit=$limit");
        is(!$page->{json}{next}, $n == 60, "limit=$limit: is there more");
    }
}



=== TEST 5: pages of any size give each intent once, in order
--- client eval
sub {
    my @made = create(map { submit("id-$_") } 1 .. 300);
    my @order = newest_first(@made);

    for my $limit (1, 7, 50, 100, 299, 300, 500) {
        my ($ids, $sizes) = walk("limit=$limit");

        is("@$ids", "@order", "limit=$limit: all, in order");
        is(scalar(grep { $_ != $limit } @$sizes[0 .. $#$sizes - 1]), 0,
           "limit=$limit: all pages but the last are full");
    }
}



=== TEST 6: intents of the same time
--- client eval
sub {
    create(map { submit(sprintf 'id-%03d', $_) } 1 .. 100);

    sql('UPDATE submission_intents SET created_at = 1700000000000000');

    for my $limit (1, 33, 99) {
        my ($ids) = walk("limit=$limit");

        is("@$ids", join(' ', map { sprintf 'id-%03d', 101 - $_ } 1 .. 100),
           "limit=$limit");
    }
}



=== TEST 7: none is skipped or repeated while new ones arrive
--- client eval
sub {
    my @made = create(map { submit("id-$_") } 1 .. 200);
    my @order = newest_first(@made);
    my $n = 0;

    for my $limit (9, 50) {
        my ($ids) = walk("limit=$limit", sub {
            http_pipelined(map { submit("new-$limit-" . $n++) } 1 .. 13);
        });

        my @old = grep { /^id-/ } @$ids;

        is("@old", "@order", "limit=$limit: those of before, each once");
        is(scalar(@$ids) - scalar(keys %{{map { $_ => 1 } @$ids}}), 0,
           "limit=$limit: none twice");
    }
}



=== TEST 8: none is skipped or repeated while intents change their state
the intent that the cursor names may be another one's by then, or gone
--- not_api: intents that were ended by hand
--- client eval
sub {
    my @made = create(map { submit("id-$_") } 1 .. 100);
    my @order = newest_first(@made);

    my $n = 0;

    my ($ids) = walk('limit=10', sub {
        sql('UPDATE submission_intents SET status = CASE '
            . 'WHEN CAST(substr(intent_id, 4) AS integer) % 2 = ' . $n++ % 2
            . " THEN 'accepted' ELSE 'rejected' END");
    });

    is("@$ids", "@order", 'a change of state does not move an intent');

    my $page = http('GET /v1/intents?limit=10');

    sql("DELETE FROM submission_intents WHERE intent_id = '"
        . (ids($page))[-1] . "'");

    is((ids(http("GET /v1/intents?after=$page->{json}{next}")))[0], $order[10],
       'the cursor outlives its intent');
}



=== TEST 9: cursors carry any id
--- client eval
sub {
    my @ids = ('ключ', '漢字-😀', 'a b', '"q"', '\\\\', '%', '+/=', 'x' x 200,
               '😀' x 200, '0', ' inner  space ', '..x', "it's", '~~~???>>>');

    s/"/\\"/g for @ids;
    create(map { submit($_) } @ids);

    my ($ids) = walk('limit=1');

    is(scalar @$ids, scalar @ids, 'all of them');
    is(scalar(keys %{{map { $_ => 1 } @$ids}}), scalar @ids, 'each once');

    my $next = http('GET /v1/intents?limit=1')->{json}{next};

    like($next, qr/^[-_A-Za-z0-9]+\z/, '"next" needs no escapes in a query');
}



=== TEST 10: by status
--- not_api: intents that were ended by hand
--- client eval
sub {
    create(map { submit("id-$_") } 0 .. 39);

    sql(q{UPDATE submission_intents
          SET status = CASE CAST(substr(intent_id, 4) AS integer) % 4
              WHEN 0 THEN 'pending' WHEN 1 THEN 'accepted'
              WHEN 2 THEN 'rejected' ELSE 'exhausted' END});

    my ($all) = walk('limit=7');
    my %n = (pending => 0, accepted => 1, rejected => 2, exhausted => 3);

    for my $status (sort keys %n) {
        my ($ids) = walk("limit=3&status=$status");

        is("@$ids", join(' ', grep { substr($_, 3) % 4 == $n{$status} } @$all),
           $status);
    }
}



=== TEST 11: by target, and by both
--- not_api: intents that were ended by hand
--- client eval
sub {
    my @targets = qw(sms.realtime push.bulk http.once);

    create(map { submit("id-$_", $targets[$_ % 3]) } 0 .. 59);

    sql(q{UPDATE submission_intents SET status = 'accepted'
          WHERE CAST(substr(intent_id, 4) AS integer) % 2 = 1});

    my ($all) = walk('limit=7');

    for my $n (0 .. 2) {
        my @mine = grep { substr($_, 3) % 3 == $n } @$all;
        my ($ids) = walk("limit=3&target=$targets[$n]");

        is("@$ids", "@mine", $targets[$n]);

        ($ids) = walk("target=$targets[$n]&limit=3&status=accepted");

        is("@$ids", join(' ', grep { substr($_, 3) % 2 } @mine),
           "$targets[$n], accepted");
    }

    is(http('GET /v1/intents?target=nobody')->{body},
       "{\"intents\":[],\"next\":null}\n", 'a target without intents');
    is(http('GET /v1/intents?target=SMS.realtime')->{body},
       "{\"intents\":[],\"next\":null}\n", 'a target in other case');
    is(scalar ids(http('GET /v1/intents?target=sms%2Erealtime')), 20,
       'a target with an escape');
}



=== TEST 12: targets of any script
--- manager
        target "смс-😀" {
            gateway_type http;
            gateway_url http://127.0.0.1:1;
            policy one_shot;
        }
--- request eval
[submit('a', 'смс-😀'), 'GET /v1/intents?target=' . '%D1%81%D0%BC%D1%81-%F0%9F%98%80',
 'GET /v1/intents?target=смс']
--- response_body_like eval
[intent('a', 'смс-😀'), qr/"intents":\[\{"intentId":"a"/,
 qr/^\{"intents":\[\],"next":null\}/]



=== TEST 13: bad arguments
--- request eval
[map { "GET /v1/intents?$_" }
     'status=done', 'status=', 'status=Pending', 'status=pending%00',
     'target=', 'target=a%20b', 'target=%FF', 'target=a%0A', 'target=' . 'x' x 129,
     'limit=0', 'limit=501', 'limit=', 'limit=-1', 'limit=1.5', 'limit=1e1',
     'limit=%201', 'limit=ten', 'limit=18446744073709551617',
     'limit=00000000000000000000501',
     'after=', 'after=x', 'after=!!!!', 'after=bm9zcGFjZQ',
     'after=' . 'MTcwMDAwMDAwMDAwMDAwMCA', 'after=' . 'eCBh', 'after=' . 'IGE',
     'after=' . 'LTEgYQ', 'after=' . 'MSD_', 'after=' . 'MSAA',
     'after=' . 'OTIyMzM3MjAzNjg1NDc3NTgwOCBh']
--- error_code eval
[(400) x 30]
--- response_body eval
[($bad_status) x 4, ($bad_target) x 5, ($bad_limit) x 10, ($bad_after) x 11]



=== TEST 14: the first bad argument is told, and others are not looked at
--- request eval
['GET /v1/intents?status=x&limit=0&after=x', 'GET /v1/intents?limit=0&status=x',
 'GET /v1/intents?limit', 'GET /v1/intents?&&limit=1&&']
--- error_code eval
[400, 400, 400, 200]
--- response_body eval
[$bad_status, $bad_limit, $bad_limit, "{\"intents\":[],\"next\":null}\n"]



=== TEST 15: a cursor of a time that no store can hold
--- request eval
[map { 'GET /v1/intents?after=' . $_ }
     'MjUzNDAyMzAwODAwMDAwMDAwIGE', 'OTIyMzM3MjAzNjg1NDc3NTgwNyBh']
--- error_code eval
[400, 400]
--- response_body eval
[($bad_after) x 2]



=== TEST 16: a cursor of the last time that stores can hold
--- only: last_time the last milliseconds of the year 9999 overflow there
--- request
GET /v1/intents?after=MjUzNDAyMzAwNzk5OTk5OTk5IGE
--- error_code: 200
--- response_body
{"intents":[],"next":null}

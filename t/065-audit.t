# GET /v1/audit: who did what, newest first, in pages.
#
# Breaks when a page skips or repeats an entry, when a filter lets others through,
# and when a value that is not good is taken for "any".

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $api = <<'EOC';
        location /v1/ {
            submission_api main;
        }

        location /o/ {
            submission_api main access=operate;
            submission_actor $http_x_user;
        }
EOC

sub objects {
    my ($query) = @_;

    my $answer = http("GET /o/audit$query");

    return join(' ', map { $_->{object} } @{ $answer->{json}{entries} })
           . (defined $answer->{json}{next} ? ' +' : '');
}

run_tests();

__DATA__

=== TEST 1: nothing was done
--- config eval: $::api
--- request
GET /o/audit
--- response_body
{"entries":[],"next":null}



=== TEST 2: what was done
--- config eval: $::api
--- client eval
sub {
    http(submit('a'));
    http('POST /o/intents/a/cancel', 'X-User: ann "x"');
    http('POST /o/intents/a/replay', 'X-User: bob');

    my $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

    like(http('GET /o/audit')->{body},
         qr/^\{"entries":\[\{"at":$time,"actor":"bob","address":"127\.0\.0\.1","action":"replay","object":"a","detail":\{"intentId":"a~1"\}\},\{"at":$time,"actor":"ann \\"x\\"","address":"127\.0\.0\.1","action":"cancel","object":"a","detail":null\}\],"next":null\}\n\z/,
         'newest first');

    sql("UPDATE submission_audit SET detail = '{\"broken' WHERE action = 'replay'");

    is(http('GET /o/audit')->{json}{entries}[0]{detail}, '{"broken',
       'what somebody else has written is a string');
}



=== TEST 3: pages and filters
--- config eval: $::api
--- client eval
sub {
    http_pipelined(map { submit("i$_") } 1 .. 9);

    for (1 .. 9) {
        http("POST /o/intents/i$_/cancel", 'X-User: ' . ($_ % 3 ? 'ann' : 'bob'));
        http("POST /o/intents/i$_/replay", 'X-User: ann') if $_ % 2;
    }

    my ($next, @all) = ('');

    do {
        my $page = http("GET /o/audit?limit=4$next")->{json};

        push @all, map { "$_->{action} $_->{object}" } @{ $page->{entries} };
        $next = defined $page->{next} ? "&after=$page->{next}" : undef;
    } while (defined $next);

    is(join(', ', @all),
       join(', ', map { ($_ % 2 ? "replay i$_" : ()), "cancel i$_" }
                  reverse 1 .. 9), 'all, in their order');

    is(objects('?action=replay'), 'i9 i7 i5 i3 i1', 'an action');
    is(objects('?action=replay&limit=2'), 'i9 i7 +', 'a page of it');
    is(objects('?actor=bob'), 'i9 i6 i3', 'an actor');
    is(objects('?actor=ann&limit=4'), 'i9 i8 i7 i7 +', 'a page of one');
    is(objects('?actor=ann&action=replay'), 'i9 i7 i5 i3 i1', 'both');
    is(objects('?actor=eve'), '', 'somebody else');
    is(objects('?action=pause'), '', 'another action');

    # two of them may have the same time

    my %at = map { $_->{object} => $_->{at} } grep { $_->{action} eq 'cancel' }
             @{ http('GET /o/audit')->{json}{entries} };
    my @ids = map { "i$_" } reverse 1 .. 9;

    is(objects("?action=cancel&from=$at{i5}"),
       join(' ', grep { $at{$_} ge $at{i5} } @ids), 'from');
    is(objects("?action=cancel&to=$at{i5}"),
       join(' ', grep { $at{$_} lt $at{i5} } @ids), 'to');
    is(objects("?from=2020-01-01T00:00:00%2B01:00&to=2020-01-02T00:00:00Z"), '',
       'long ago');
}



=== TEST 4: bad arguments
--- config eval: $::api
--- client eval
sub {
    for my $t (['from=yesterday', 'from'], ['from=', 'from'],
               ['to=2026-02-30T00:00:00Z', 'to'], ['actor=', 'actor'],
               ['actor=%01', 'actor'], ['action=', 'action'],
               ['action=Cancel', 'action'], ['action=' . 'x' x 33, 'action'],
               ['limit=0', 'limit'], ['limit=501', 'limit'], ['limit=x', 'limit'],
               ['after=x', 'after'], ['after=MSB4', 'after'], ['after=', 'after'],
               ['from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z', 'from'],
               ['limit=1&limit=1', 'limit'], ['x=1', 'x'])
    {
        my $answer = http("GET /o/audit?$t->[0]");

        is($answer->{code}, 400, $t->[0]);
        is($answer->{json}{error}{code}, 'invalid_request', 'its code');
        is($answer->{json}{error}{details}{field}, $t->[1], 'its field');
    }
}

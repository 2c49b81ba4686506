# Arguments of a query that a resource does not have are refused, by name.
#
# Who asks for "?since=" or "?Status=" wants less than everything: an argument
# that is passed over answers another question than the one that was asked.
# Breaks when a route does not look at its arguments, when a known one is found
# in the middle of another's name or value, or when a name that somebody made up
# does not fit into an error of JSON.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our %expected = (
    none => 'none',
    submit => '"waitSeconds" or "until"',
    history => '"limit" or "after"',
    list => '"status", "target", "limit", "after", "reason", "from", "to", '
            . '"by", "idPrefix" or "order"',
);

sub unknown {
    my ($name, $kind) = @_;

    return problem('invalid_request',
                   "unknown argument \"$name\": $expected{$kind} was expected",
                   length $name ? "\"field\":\"$name\"" : '');
}

sub duplicate {
    return problem('invalid_request', "duplicate argument \"$_[0]\"",
                   "\"field\":\"$_[0]\"");
}

run_tests();

__DATA__

=== TEST 1: every route refuses what it does not know
--- client eval
sub {
    http(submit('a'));

    for my $route (['GET /v1/intents', 'list'], ['HEAD /v1/intents', 'list'],
                   ['GET /v1/intents/a', 'submit'],
                   ['GET /v1/intents/b', 'submit'],
                   ['GET /v1/intents/a/history', 'history'],
                   ['GET /v1/cluster', 'none'],
                   ['POST /v1/intents', 'submit'])
    {
        my ($line, $kind) = @$route;
        my $body = $line =~ /^POST/ ? (split /\n/, submit('b'))[1] : '';

        for my $args ('since=1', 'since', 'since=', '&since=1&', 'since=a=b',
                      'since=1&limit=0&waitSeconds=x', '%73ince=1')
        {
            next if $line =~ /^HEAD/ && $args ne 'since=1';

            my $sock = http_open("$line?$args HTTP/1.1\r\nHost: localhost\r\n"
                                 . "Connection: close\r\nContent-Length: "
                                 . length($body) . "\r\n\r\n$body");
            my $answer = http_rest($sock);

            like($answer, qr{^HTTP/1\.1 400 }, "$line?$args is refused");
            like($answer, qr/\r\n\r\n\Q@{[unknown('since', $kind)]}\E\z/,
                 "$line?$args names it") unless $line =~ /^HEAD/;
        }
    }

    is(sql('SELECT count(*) FROM submission_intents'), 1, 'nothing is stored');
}



=== TEST 2: arguments of other routes are unknown, too
--- request eval
['GET /v1/intents?waitSeconds=1', 'GET /v1/intents/a?limit=1',
 'GET /v1/intents/a/history?status=pending', 'GET /v1/cluster?target=a',
 submit('a') =~ s{/intents}{/intents?limit=1}r]
--- error_code eval
[(400) x 5]
--- response_body eval
[unknown('waitSeconds', 'list'), unknown('limit', 'submit'),
 unknown('status', 'history'), unknown('target', 'none'),
 unknown('limit', 'submit')]



=== TEST 3: names are compared whole, and by case
--- request eval
[map { "GET /v1/intents?$_" } 'Limit=1', 'limits=1', 'xlimit=1', 'lim=1',
                              'limit%20=1', '=1', 'limit[]=1']
--- error_code eval
[(400) x 7]
--- response_body eval
[map { unknown($_, 'list') } 'Limit', 'limits', 'xlimit', 'lim', 'limit', '',
                             'limit[]']



=== TEST 4: a name with a percent, and separators without one
--- request eval
['GET /v1/intents?%6c%69mit=0', 'GET /v1/intents?', 'GET /v1/intents?&',
 'GET /v1/intents?&&limit=1&&&status=pending&']
--- error_code eval
[400, (200) x 3]
--- response_body eval
[problem('invalid_request', '"limit" must be a number between 1 and 500',
         '"field":"limit"'),
 ("{\"intents\":[],\"next\":null}\n") x 3]



=== TEST 5: an argument that is given twice
--- request eval
['GET /v1/intents?limit=1&limit=1', 'GET /v1/intents?limit=1&%6Cimit=2',
 'GET /v1/intents?status=pending&after=x&status=accepted',
 'GET /v1/intents/a/history?after=1&after=1',
 submit('a') =~ s{/intents}{/intents?waitSeconds=0&waitSeconds=1}r]
--- error_code eval
[(400) x 5]
--- response_body eval
[duplicate('limit'), duplicate('limit'),
 problem('invalid_request', '"after" must be the "next" of an earlier page',
         '"field":"after"'),
 duplicate('after'), duplicate('waitSeconds')]



=== TEST 6: names that somebody made up, in an error of JSON
--- client eval
sub {
    for my $name ('%22%5C', '%00', '%0A%0D', '%FF%FE', '%F0%9F%98%80' x 100,
                  'x' x 3000, '%22' x 500, '%E2%80%A8')
    {
        my $answer = http("GET /v1/intents?$name=1");

        is($answer->{code}, 400, substr($name, 0, 20) . ' is refused');
        like($answer->{json}{error}{message},
             qr/^unknown argument ".{0,64}": .* was expected\z/s,
             'in an error that is JSON');
    }
}



=== TEST 7: the other locations take any
--- client eval
sub {
    ok(wait_for(sub { http('GET /readyz?x=1')->{code} == 200 }), 'readyz');
    is(http('GET /metrics?x=1')->{code}, 200, 'metrics');
}

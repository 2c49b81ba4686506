# GET /v1/overview, /v1/targets, /v1/targets/{target} and /v1/stats of one
# instance: their arguments, their ETag, and what they say of a store that is
# down or of numbers that are not there yet.
#
# Breaks when a request for them asks the store, when an ETag hides a change or
# changes by itself, when an argument that is not known is taken, when a name
# breaks the JSON, or when a password in a URL is told.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;
use JSON::PP;

sub view {
    my ($path, @headers) = @_;

    my $answer = http("GET /v1/$path", @headers);

    $answer->{json} = decode_json($answer->{body}) if $answer->{body};

    return $answer;
}

sub told {
    wait_for(sub { defined view('overview')->{json}{statsAgeSeconds} })
        or die "there are no numbers\n";
}

leads();

run_tests();

__DATA__

=== TEST 1: what there is
--- client eval
sub {
    told();

    my $overview = view('overview')->{json};

    is($overview->{role}, 'leader', 'it leads');
    is($overview->{leader}{holder}, $overview->{instance}, 'and says so');
    is(scalar @{$overview->{instances}}, 1, 'alone');
    is($overview->{store}{up}, JSON::PP::true, 'the store is up');
    is($overview->{store}{state}, 'up', 'in a word');
    like($overview->{store}{since}, qr/^\d{4}-.*Z$/, 'since when');
    is($overview->{store}{lastError}, undef, 'nothing has failed');
    is_deeply(view($_)->{json}{store}{state}, 'up', "$_ say so, too")
        for qw(targets stats targets/sms.realtime);
    like($overview->{asOf}, qr/^\d{4}-.*Z$/, 'when the numbers were written');
    like($overview->{leader}{since}, qr/^\d{4}-.*Z$/, 'since when it leads');
    is($overview->{lastLeader}, undef, 'nobody led last, as somebody leads');
    cmp_ok(abs($overview->{clocks}{hostMovedMs}), '<', 1000,
           'nobody has set the clock');
    ok($overview->{clocks}{host} && $overview->{clocks}{store}, 'two clocks');
    is($overview->{store}{breaker}, 'closed', 'and asked');
    is($overview->{totals}{due}, 0, 'nothing is due');
    is($overview->{totals}{oldestDueSeconds}, undef, 'so nothing is late');

    my $list = view('targets')->{json};

    cmp_ok(scalar @{$list->{targets}}, '>=', 2, 'all that are configured');
    is_deeply($list->{webhooks}, [], 'no webhooks');

    for my $t (@{$list->{targets}}) {
        is($t->{state}, 'open', "$t->{target} is open");
        is($t->{due}, 0, 'nothing is due');
        is($t->{perSecond}{'5m'}, 0, 'nothing happens');
        is($t->{successRatio}{'1m'}, undef, 'so there is no ratio');
        is($t->{p99Ms}{'1m'}, undef, 'nor a time');

        my $one = view("targets/$t->{target}");

        is($one->{code}, 200, 'it is there alone, too');
        ok($one->{json}{contract}{policy}, 'with its contract');
        is($one->{json}{gatewayUrl}, $t->{gatewayUrl}, 'the same');
    }
}



=== TEST 2: arguments, methods and what is not there
--- client eval
sub {
    told();

    is(view('stats?window=60')->{code}, 200, 'a window');
    is(view('stats?target=sms.realtime&window=1')->{code}, 200, 'and a target');

    for my $query (qw(stats?window=0 stats?window=3601 stats?window=x stats?x=1
                      stats?target= overview?a=b targets?a=b))
    {
        is(view($query)->{code}, 400, "$query is refused");
    }

    is(view("targets/$_")->{code}, 404, "$_ is not there") for qw(nobody a%22b);
    is(view('stats?target=nobody')->{code}, 404, 'nor has it a history');
    is(http("POST /v1/$_\n{}")->{code}, 405, "$_ is to be read")
        for qw(overview targets stats);
}



=== TEST 3: an ETag is the same until something changes
--- client eval
sub {
    told();

    for my $path (qw(overview targets targets/sms.realtime stats)) {
        my ($same, $etag, $start) = (0, '"x"', time);

        for (1 .. 20) {
            my $answer = view($path, "If-None-Match: W/\"other\", $etag");

            $etag = $answer->{headers}{etag};
            like($etag, qr{^W/"[0-9a-f]{16}"$}, 'an ETag') if $_ == 1;
            is($answer->{body}, '', 'no body') if $answer->{code} == 304 && !$same++;
        }

        # what is told may change by itself every second

        cmp_ok($same, '>=', 16 - (time - $start),
               "$path: $same of 20 are not modified");
        is(view($path, 'If-None-Match: *')->{code}, 304, 'a star is any');
        is(view($path, 'If-None-Match: W/"0000000000000000"')->{code}, 200,
           'another one is not');
    }

    my ($etag, $before) = (view('targets')->{headers}{etag});

    http(submit('change'));
    wait_for(sub { view('targets', "If-None-Match: $etag")->{code} == 200 })
        or die "an ETag hides a change\n";
    pass('what changes is told');
}



=== TEST 4: names and passwords
--- manager
        executor off;
        target "a\"b\\c-é" {
            gateway_type http;
            gateway_url http://user:secret@127.0.0.1:1/;
            policy deadline 1h;
        }
--- client eval
sub {
    my ($t) = grep { $_->{target} =~ /^a/ } @{view('targets')->{json}{targets}};

    is($t->{target}, "a\"b\\c-\x{e9}", 'any name');
    is($t->{gatewayUrl}, 'http://127.0.0.1:1', 'without the password');
    is(view('targets/a%22b%5Cc-%C3%A9')->{json}{target}, $t->{target},
       'found by it');

    my $metrics = http('GET /metrics')->{body};

    like($metrics, qr/^submission_expired_unsent_total\{target="a\\"b\\\\c-\xc3\xa9"\} 0$/m,
         'and as a label');
    ok(wait_for(sub { defined view('targets')->{json}{targets}[0]{due} }),
       'nobody leads: it is counted');
    unlike($metrics, qr/secret/, 'without it there, too');
}

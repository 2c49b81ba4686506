# Metrics by target, with as many targets as a large configuration has: the
# series are those of the documentation, promtool likes them, a scrape holds the
# event loop up for a few milliseconds at most, and a zone that is too small
# loses history and labels, with a line in the log, and nothing else.
#
# Breaks when a series is missing or has a name of a client in it, when the text
# is made in a slow way, or when a small zone fails requests.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

workers(1);

our $targets = join '', map {
    sprintf "target t%03d { gateway_type http; gateway_url http://127.0.0.1:1/; "
            . "policy deadline 1h; }\n", $_
} 1 .. 200;

# of the one worker, in milliseconds

sub cpu {
    my $pid = shift;

    open my $in, '<', "/proc/$pid/stat" or die "$pid: $!\n";

    my @fields = split ' ', (split /\) /, <$in>)[1];

    return 10 * ($fields[11] + $fields[12]);
}

run_tests();

__DATA__

=== TEST 1: two hundred targets
--- manager eval
$main::targets
--- client eval
sub {
    my $text = http('GET /metrics')->{body};

    is(promtool($text), '', 'promtool');

    my $n = () = $text =~ /^submission_\w+\{target="t123"/mg;

    is($n, 69, 'a target has as many series as is said');

    $n = () = $text =~ /^submission_\w+\{target="other"/mg;
    is($n, 66, 'and so have all others, but for the health, as they are no target');

    my ($pid) = http('GET /metrics')->{headers}{'x-pid'}
                // (error_log() =~ /start worker process (\d+)/)[0];

    SKIP: {
        Test::More::skip("the worker is not known", 1) if !$pid;

        my ($before, $scrapes) = (cpu($pid), 60);

        http('GET /metrics') for 1 .. $scrapes;

        my $ms = (cpu($pid) - $before) / $scrapes;

        Test::More::note("$ms ms of a core for each scrape");
        cmp_ok($ms, '<', 5 * slow(), 'a scrape takes a few milliseconds');
    }
}



=== TEST 2: a name that a client has made up is no label
--- client eval
sub {
    http(submit('x', 'made.up'));
    unlike(http('GET /metrics')->{body}, qr/made\.up/, 'it is not there');
}



=== TEST 3: a zone that is too small
--- manager eval
"zone 128k; $main::targets"
--- client eval
sub {
    is(http(submit('x', 't001'))->{code}, 200, 'intents are taken');

    my $text = http('GET /metrics')->{body};

    is(promtool($text), '', 'promtool');
    like($text, qr/^submission_attempts_total\{target="other",outcome_status="error"\} 0$/m,
         'what has no room is among the others');
    like(error_log(), qr/\[warn\] .*zone_too_small manager=main targets=20\d without_metrics=\d+ /,
         'and the log says so');
    like(error_log(), qr/\[warn\] .*zone_too_small manager=main events=0 /,
         'also that there is no room for events');
    like(http('GET /v1/events')->{body}, qr/"events":\[\]/, 'of which there are none');
    is(http('GET /v1/targets')->{code}, 200, 'targets are told');
}
--- no_error_log
[alert]
[crit]

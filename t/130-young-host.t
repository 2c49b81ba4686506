# One instance on a host that booted a minute and a half ago, by its clocks in a
# time namespace: it leads, submits and counts as on any other.
#
# Goes red when: a window reads slots from before the clock began: then it tells of
# what lies before it in memory ("5m":182049294.7), or the worker crashes.

use strict;
use warnings;

use lib 't/lib';

use SubmissionNeeds qw(no_store no_checker young_host);

# libc fills what is allocated and what is freed: what should not be read, and is,
# is no zero then

BEGIN {
    if (!$^C && !$ENV{SUBMISSION_TEST_YOUNG}) {
        $ENV{SUBMISSION_TEST_YOUNG} = 1;
        $ENV{MALLOC_PERTURB_} = 165;

        exec('unshare', SubmissionNeeds::young_host(90), $^X, $0)
            or die "unshare: $!\n";
    }
}

use JSON::PP;
use Test::Nginx::Socket 'no_plan';

use SubmissionTest;

leads();

run_tests();

__DATA__

=== TEST 1: what it tells of the last five minutes
--- manager
target counted {
    gateway_type http;
    gateway_url  http://127.0.0.1:$TEST_NGINX_SERVER_PORT/gateway;
    policy       deadline 1h;
}
--- config
location = /gateway { return 204; }
--- client eval
sub {
    open(my $file, '<', '/proc/uptime') or die "/proc/uptime: $!\n";
    my $uptime = (split ' ', <$file>)[0];

    cmp_ok($uptime, '<', 299, "the host has been up for $uptime s");

    my $t;

    http(submit("young-$_", 'counted')) for 1 .. 7;

    wait_for(sub {
        $t = decode_json(http('GET /v1/targets/counted')->{body});
        $t->{perSecond}{'1m'};
    }) or die "nothing was counted\n";

    is($t->{$_}{'5m'}, $t->{$_}{'1m'}, "$_: five minutes are no more than one")
        for qw(perSecond successRatio p50Ms p99Ms);
}

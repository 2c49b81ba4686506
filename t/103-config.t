# GET /v1/config: what an instance runs with, and nothing that is secret.
#
# It is shown to everybody who may look. Breaks when it shows a password, a
# connection string or a path, and when it says something else than is configured.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

run_tests();

__DATA__

=== TEST 1: as configured
--- manager
        lease_name       payroll;
        lease_duration   20s;
        renew_interval   4s;
        intake           queue=100 batch=10;
        retention        strip=30d forget=60d;

        target with.password concurrency=7 rate=50r/s burst=10 {
            circuit            failures=5 open=30s max_open=10m;
            gateway_type       http;
            gateway_url        http://ann:s3cret@127.0.0.1:9/a@b;
            policy             max_attempts 3;
            terminal_outcomes  http_400 http_404;
            retry_delay        2s backoff=1.5 max=9s jitter=0.2;
        }
--- config
        location /v1/ {
            submission_api main access=read;
            submission_actor $http_x_user;
        }
--- client eval
sub {
    my $answer = http('GET /v1/config', 'X-User: ann');
    my $config = $answer->{json};

    is($answer->{code}, 200, 'there');
    is_deeply($config->{lease},
              {name => 'payroll', durationMs => 20000, renewIntervalMs => 4000,
               acquireIntervalMs => $config->{lease}{acquireIntervalMs},
               refreshIntervalMs => $config->{lease}{refreshIntervalMs},
               releaseOnExit => JSON::PP::true, wakes => JSON::PP::false},
              'the lease');
    is("$config->{intake}{queue} $config->{intake}{batch}", '100 10', 'intake');
    is($config->{executor}{on}, JSON::PP::false, 'the executor');
    is_deeply($config->{retention}{accepted},
              {stripSeconds => 30 * 86400, forgetSeconds => 60 * 86400},
              'retention');
    is("$config->{access} $config->{actor} $config->{manager}",
       'read ann main', 'who asks');
    is(http('GET /v1/config')->{json}{actor}, undef, 'or nobody');
    is($config->{store}{kind}, (split ' ', store()->directive)[0], 'the store');

    my ($target) = grep { $_->{target} eq 'with.password' }
                   @{$config->{targets}};

    is_deeply($target,
              {target => 'with.password', gatewayType => 'http',
               gatewayUrl => 'http://127.0.0.1:9', concurrency => 7,
               policy => 'max_attempts', maxAttempts => 3,
               terminalOutcomes => 'http_400 http_404', retryDelayMs => 2000,
               retryMaxMs => 9000, retryBackoffPercent => 150,
               retryJitterPercent => 20, ratePerMinute => 3000, burst => 10,
               circuitFailures => 5, circuitOpenMs => 30000,
               circuitMaxOpenMs => 600000},
              'a target, without its password and its path');
    is(scalar @{$config->{targets}}, 4, 'all of them');
    unlike($answer->{body}, qr/s3cret|ann:|submission\.db|dbname|Server=/i,
           'no secret');
    unlike($answer->{body}, qr{"/[a-z]}, 'no path');
}

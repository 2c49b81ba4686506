# Clients that nobody thought of, against an nginx that leads and sends: requests
# of damaged JSON, paths, arguments and headers, over HTTP/1.1 and HTTP/2, with
# windows of nothing, pipelines that are not read, bodies that do not come, waits
# that nobody waits for, connections cut off anywhere, and reloads all the time.
#
# FUZZ_SECONDS is for how long, SUBMISSION_SEED repeats what was sent, though not
# when.  "make fuzz-http" runs it on an nginx with sanitizers.
#
# Goes red when: a worker dies or a sanitizer reports; a connection is left when
# all clients have gone; an intent that was answered 200 is not in the store, or
# does not end; an answer is a 500, or is not the JSON that it says it is.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Encode ();
use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Fuzz;

my $seed = $ENV{SUBMISSION_SEED} || $$ + int(time);
my $seconds = $ENV{FUZZ_SECONDS} || 20;

diag("SUBMISSION_SEED=$seed");
srand($seed);

my ($http, $http2) = map { SubmissionCluster::free_port() } 1 .. 2;

my $secret = "$ENV{SUBMISSION_TEST_DIR}/fuzz.secret";

open(my $file, '>', $secret) or die "$secret: $!\n";
chmod 0600, $secret;
print $file 'whsec_', 'A' x 32, "\n";
close $file;

# deadlines short enough to end, buffers small enough to fill

my $run = SubmissionCluster::Executor->new(
    executor => 'concurrency=64',
    dispatch => 'proxy_connect_timeout 1s; proxy_read_timeout 2s;',
    targets => {
        'sms.realtime' => { policy => 'deadline 20s',
                            outcomes => 'invalid_request' },
        'push.marketing' => { policy => 'max_attempts 3', type => 'push',
                              limit => 'rate=500r/s burst=50', retry => '',
                              outcomes => 'invalid_token',
                              more => 'retry_schedule 50ms 100ms jitter=0.5; '
                                      . 'circuit failures=5 open=50ms '
                                      . 'max_open=100ms;' },
    },
    instance => {
        manager => <<"END",
        webhook ops {
            url http://127.0.0.1:$http/told;
            secret_file $secret;
            retry_delay 50ms;
        }
        notify ops;
        schedule seed every=1s target=http.hook overlap=allow;
END
        main => 'worker_shutdown_timeout 2s;',
        server => <<"END",
        listen 127.0.0.1:$http sndbuf=4k;
        listen 127.0.0.1:$http2 http2 sndbuf=4k;

        client_header_timeout 2s;
        client_body_timeout 2s;
        send_timeout 2s;
        keepalive_timeout 3s;
        client_body_buffer_size 1k;
        client_max_body_size 150k;

        location /slow/    { limit_rate 200; submission_api main; }
        location /operate/ { submission_api main access=operate; }
        location = /wake   { submission_wake main; }
        location = /told   { return 204; }
        location /console/ { submission_console main access=operate; }
END
    });
my ($instance) = $run->instances;

$run->start;

my $fuzz = SubmissionCluster::Fuzz->new(http => [$instance->{port}, $http],
                                        http2 => [$http2]);

$run->cluster->each_turn($fuzz);


# Workers stay those that a reload has started.

sub workers {
    my @pids;

    wait_for('old workers know that they are', sub {
        @pids = sort $instance->worker_pids;
        @pids <= $instance->{workers};
    });

    return @pids;
}


my ($reloads, @problems) = (0);
my $end = time + $seconds;

while (time < $end) {
    my @pids = workers();
    my $next = time + 1 + rand 5;

    wait_for('the next reload', sub { time >= $next });

    my @now = workers();

    push @problems, "workers @pids have become @now" if "@pids" ne "@now";

    $instance->reload;
    $reloads++;
}

$fuzz->stop;

note("$fuzz->{opened} connections, $reloads reloads, ",
     scalar(keys %{$fuzz->{ids}}), ' intents told; ',
     join(', ', map { "$_: $fuzz->{statuses}{$_}" }
                sort keys %{$fuzz->{statuses}}));

is_deeply(\@problems, [], 'no worker went but by a reload');
is_deeply([splice(@{$fuzz->{wrong}}, 0, 10)], [], 'no answer that must not be');
cmp_ok(scalar(keys %{$fuzz->{ids}}), '>', $seconds, 'intents were taken');

# what would go on for ever, or not at all

sub operate {
    my ($method, $path) = @_;

    return fetch($instance, $method, "/operate/$path",
                 $method eq 'POST' ? '' : undef);
}

my @targets = map { $_->{target} =~ s/ /%20/gr }
              @{decode_json(operate('GET', 'targets')->{body})->{targets}};

is(operate('POST', "targets/$_/resume")->{status}, 200, "$_ goes on")
    for @targets;

for my $schedule (@{decode_json(operate('GET', 'schedules?limit=500')->{body})
                    ->{schedules}})
{
    operate($schedule->{source} eq 'api' ? 'DELETE' : 'POST',
            "schedules/$schedule->{id}"
            . ($schedule->{source} eq 'api' ? '' : '/pause'));
}

$run->wait_terminal(undef, 60);

my $intents = $run->store->intents;

is_deeply([grep { !$intents->{$_} } map { Encode::encode('UTF-8', $_) }
           sort keys %{$fuzz->{ids}}],
          [], 'what was told is in the store');


# The one that asks is left, and what the module keeps for itself, if it does.

sub connections {
    my $result = fetch($instance, 'GET', '/status');

    return ($result->{body} // '') =~ /Active connections: (\d+)/ ? $1 : 0;
}

my $left = 0;

eval {
    wait_for('all connections are gone', sub { ($left = connections()) == 1 },
             5);
};
is($left, 1, 'no connection is left but the one that asks');

# a leak of another kind: sockets that are still open at the end are alerts
$run->done;

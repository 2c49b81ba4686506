# /metrics: what Prometheus asks.
#
# Every series must be there from the start, or the first increase is not seen;
# what it says must be what happened, once for each row that was committed,
# and outlast a reload. Breaks when a series is missing or misnamed, when
# promtool does not like the text, when a client that goes away is not counted,
# when a histogram does not add up, or when shared memory is too small for it.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;
use JSON::PP;


workers(2);

# those that are there, and what they count

our %families = (
    intents_created_total => 'counter',
    duplicates_total => 'counter',
    idempotency_conflicts_total => 'counter',
    intents_not_taken_total => 'counter',
    intents_terminal_total => 'counter',
    exhausted_total => 'counter',
    attempts_total => 'counter',
    retries_total => 'counter',
    requests_overloaded_total => 'counter',
    requests_refused_total => 'counter',
    store_retries_total => 'counter',
    store_commits_failed_total => 'counter',
    store_breaker_opened_total => 'counter',
    expired_unsent_total => 'counter',
    attempts_unsent_total => 'counter',
    wakes_sent_total => 'counter',
    wakes_failed_total => 'counter',
    wakes_received_total => 'counter',
    inbox_moved_total => 'counter',
    inbox_refused_total => 'counter',
    intents_stripped_total => 'counter',
    intents_forgotten_total => 'counter',
    schedule_fired_total => 'counter',
    schedule_skipped_total => 'counter',
    schedule_missed_total => 'counter',
    store_breaker_open => 'gauge',
    intent_time_to_terminal_seconds => 'histogram',
    attempt_duration_seconds => 'histogram',
    queue_delay_seconds => 'histogram',
    store_call_seconds => 'histogram',
    store_errors_total => 'counter',
    batch_rows => 'histogram',
    in_doubt_total => 'counter',
    queue_depth => 'gauge',
    oldest_due_seconds => 'gauge',
    target_state => 'gauge',
    target_health => 'gauge',
    gateway_certificate_expiry_seconds => 'gauge',
    history_targets => 'gauge',
    history_bytes => 'gauge',
    stats_age_seconds => 'gauge',
    inflight_attempts => 'gauge',
    retention_overdue_seconds => 'gauge',
    leader => 'gauge',
    lease_epoch => 'gauge',
    lease_remaining_seconds => 'gauge',
    store_up => 'gauge',
    store_state => 'gauge',
    zone_bytes => 'gauge',
    zone_free_bytes => 'gauge',
    configuration_differs => 'gauge',
    configuration_info => 'gauge',
    holder_id_shared => 'gauge',
    build_info => 'gauge',
);

our @single = grep { !/^intents_terminal|^exhausted|^attempts|^store_errors|^expired|^unsent/
                     && $families{$_} eq 'counter' } sort keys %families;

our @batches = qw(intents_submit intents_get intent_history intents_list
                  cluster_get queue_page attempts_turn attempts_expire
                  attempts_recover failures_get intents_cancel
                  intents_replay intent_payload audit_list webhooks_resend webhook_messages inbox_move
                  retention jobs_add jobs_stop jobs_list
                  job_work queue_drop target_set schedules_fire schedules_list
                  schedule_get schedule_put schedule_delete schedule_pause
                  schedule_resume schedule_run schedule_preview);
our @ops = (@batches, qw(ping lease_acquire lease_takeover
                         lease_renew lease_release lease_watch tidy
                         webhook_gone
                         stats_put stats_get backlog_get targets_paused));


# nginx has read all that was sent on these: the kernel has none of it

sub all_read {
    my %ports = map { sprintf('%04X', $_->sockport) => 1 } @_;

    open my $in, '<', '/proc/net/tcp' or die "/proc/net/tcp: $!\n";

    return !grep { /^ *\d+: \w+:\w+ \w+:(\w+) \w+ \w+:(\w+) / && $ports{$1}
                   && hex $2 } <$in>;
}

# of what /metrics says: values by series without the prefix, types by family

sub parse {
    my $text = shift;

    my (%values, %types, %help);

    for (split /\n/, $text) {
        if (/^# HELP submission_(\w+) \S/) {
            $help{$1}++;

        } elsif (/^# TYPE submission_(\w+) (\w+)$/) {
            $types{$1} = $2;

        } elsif (/^submission_(\w+(?:\{[^{}]*\})?) (\d+(?:\.\d+)?)$/) {
            die "$1 is there twice\n" if exists $values{$1};
            $values{$1} = $2;

        } else {
            die "not a line of metrics: $_\n";
        }
    }

    return (\%values, \%types, \%help);
}

sub metrics {
    my $path = shift;

    my $answer = http('GET ' . ($path || '/metrics'));

    is($answer->{code}, 200, 'metrics') if $answer->{code} != 200;

    return (parse($answer->{body}))[0];
}

sub configured {
    return map { $_->{target} }
           @{decode_json(http('GET /v1/targets')->{body})->{targets}};
}

# until the store has answered, so that nothing of the start is under way

sub settle {
    wait_for(sub { http('GET /readyz')->{body} =~ / store=up$/ })
        or die "the store is not up\n";
}

sub values_are {
    my ($name, %expected) = @_;

    my $values = metrics();

    is($values->{$_}, $expected{$_}, "$name: $_") for sort keys %expected;
}

# the bounds of a histogram, which all of its labels have

sub bounds {
    my ($values, $name) = @_;

    my %le = map { /^\Q$name\E_bucket\{.*le="([^"]+)"/ ? ($1 => 1) : () }
             keys %$values;

    return join ' ', sort { $a <=> $b } keys %le;
}

# what a histogram lacks to be one

sub histogram_problem {
    my ($values, $name, $labels) = @_;

    my ($last, @le) = (0);

    for my $series (grep { /^\Q$name\E_bucket\{\Q$labels\E(?:,|(?<=\{))le=/ }
                    keys %$values)
    {
        push @le, $series =~ /le="([^"]+)"/;
    }

    for my $le (sort { $a <=> $b } @le) {
        my $n = $values->{"${name}_bucket{" . ($labels ? "$labels," : '')
                          . "le=\"$le\"}"};
        return "$le has less than the bucket before" if $n < $last;
        $last = $n;
    }

    my $suffix = $labels ? "{$labels}" : '';

    return 'no buckets' if !@le;
    return 'no +Inf' if !grep { $_ eq '+Inf' } @le;
    return '_count differs' if $values->{"${name}_count$suffix"} != $last;
    return 'no _sum' if !defined $values->{"${name}_sum$suffix"};
    return;
}

sub master {
    open my $in, '<', server_root() . '/logs/nginx.pid' or die "$!\n";
    chomp(my $pid = <$in>);
    return $pid;
}

run_tests();

__DATA__

=== TEST 1: all is there from the start
--- client eval
sub {
    my $answer = http('GET /metrics');
    my ($values, $types, $help) = parse($answer->{body});

    is($answer->{headers}{'content-type'},
       'text/plain; version=0.0.4; charset=utf-8', 'its type');
    is($answer->{headers}{'content-length'}, length $answer->{body},
       'its length');
    is_deeply($types, \%families, 'types');
    is_deeply($help, { map { $_ => 1 } keys %families }, 'helps');

    my @targets = (configured(), 'other');

    # of each target, and of what is not configured any more
    my $each = sub {
        my ($name, $label, @values) = @_;

        return map { my $t = $_;
                     map { "$name\{target=\"$t\",$label=\"$_\"}" } @values } @targets;
    };

    my %series = map { $_ => 1 }
        @single,
        $each->('intents_terminal_total', 'status',
                qw(accepted rejected exhausted canceled)),
        (map { "expired_unsent_total{target=\"$_\"}" } @targets),
        $each->('attempts_unsent_total', 'reason',
                qw(name route tls upstream location host)),
        (map { "exhausted_total{reason=\"$_\"}" }
             qw(deadline_exceeded max_attempts one_shot outcome_unknown)),
        $each->('attempts_total', 'outcome_status',
                qw(accepted rejected error unknown)),
        (map { my $op = $_; map { "store_errors_total{op=\"$op\",class=\"$_\"}" }
               qw(transient permanent schema constraint lease_lost) } @ops);

    is_deeply([sort grep { /_total\b/ } keys %$values], [sort keys %series],
              'counters');

    is_deeply([sort map { /^store_call_seconds_count\{op="(\w+)"\}/ ? $1 : () }
                    keys %$values], [sort @ops], 'operations');
    is_deeply([sort map { /^batch_rows_count\{op="(\w+)"\}/ ? $1 : () }
                    keys %$values], [sort @batches], 'batches');

    is_deeply([map { histogram_problem($values, 'intent_time_to_terminal_seconds',
                                       "status=\"$_\"") // () }
                   qw(accepted rejected exhausted canceled)], [], 'times to the end');
    is_deeply([map { my $t = $_;
                     map { histogram_problem($values, $_, "target=\"$t\"") // () }
                         qw(attempt_duration_seconds queue_delay_seconds) }
                   @targets], [], 'durations');
    is_deeply([sort grep { /^(?:queue_depth|target_state|oldest_due)/ } keys %$values],
              [sort $each->('queue_depth', 'state', qw(due waiting in_flight)),
                    $each->('target_state', 'state',
                            qw(open paused circuit_open)),
                    map { "oldest_due_seconds{target=\"$_\"}" } @targets],
              'gauges of targets');
    is_deeply([sort grep { /^target_health/ } keys %$values],
              [sort map { my $t = $_;
                          map { "target_health{target=\"$t\",state=\"$_\"}" }
                              qw(ok degraded down) } configured()],
              'of what is no target there is no health');
    is(bounds($values, 'queue_delay_seconds'),
       '0.001 0.005 0.01 0.025 0.05 0.1 0.25 0.5 1 2.5 5 10 30 60 90 120 180 300 '
       . '600 +Inf', 'a delay of a minute is told from one of four');
    is_deeply([map { histogram_problem($values, 'store_call_seconds',
                                       "op=\"$_\"") // () } @ops], [], 'calls');
    is_deeply([map { histogram_problem($values, 'batch_rows', "op=\"$_\"") // () }
                   @batches], [], 'rows');

    is_deeply([grep { $values->{$_} != 0 } sort keys %series], [],
              'nothing has happened yet');
    is_deeply([grep { /^(?:queue_depth|oldest_due)/ && $values->{$_} } keys %$values],
              [], 'nothing waits in the queue');
    is($values->{inflight_attempts}, 0, 'nothing is sent');
    is($values->{'build_info{version="0.1"}'}, 1, 'the version');
    is($values->{zone_bytes}, 8 * 1024 * 1024, 'the zone');
    cmp_ok($values->{zone_free_bytes}, '>', 7 * 1024 * 1024, 'most is free');
    cmp_ok($values->{zone_free_bytes}, '<', 8 * 1024 * 1024, 'not all is free');

    is(promtool($answer->{body}), '', 'promtool');
}



=== TEST 2: what was submitted
--- client eval
sub {
    settle();

    http(submit($_)) for qw(a b c a a);
    http(submit('a', 'push.bulk'));
    http(submit('d', 'nobody'));

    values_are('submitted', intents_created_total => 3,
               duplicates_total => 2, idempotency_conflicts_total => 1,
               requests_overloaded_total => 0,
               'batch_rows_sum{op="intents_submit"}' => 6,
               'batch_rows_count{op="intents_submit"}' => 6,
               'batch_rows_bucket{op="intents_submit",le="1"}' => 6,
               'store_call_seconds_count{op="intents_submit"}' => 6,
               'store_call_seconds_count{op="intents_get"}' => 0);

    http($_) for 'GET /v1/intents/a', 'GET /v1/intents/zzz',
                 'GET /v1/intents/a/history', 'GET /v1/intents',
                 'GET /v1/cluster';

    # one list was asked for by the test's frame
    values_are('read', intents_created_total => 3,
               'store_call_seconds_count{op="intents_get"}' => 2,
               'store_call_seconds_count{op="intent_history"}' => 1,
               'store_call_seconds_count{op="intents_list"}' => 2,
               'store_call_seconds_count{op="cluster_get"}' => 1,
               'batch_rows_sum{op="intents_get"}' => 2);

    my $answer = http('GET /metrics');
    my ($values) = parse($answer->{body});

    is(promtool($answer->{body}), '', 'promtool');
    is(histogram_problem($values, 'store_call_seconds', "op=\"$_\""), undef,
       "$_ adds up") for @ops;
    is(histogram_problem($values, 'batch_rows', "op=\"$_\""), undef,
       "rows of $_ add up") for @batches;

    my $sum = $values->{'store_call_seconds_sum{op="intents_submit"}'};

    cmp_ok($sum, '>', 0, 'it took time');
    cmp_ok($sum, '<', 60, 'of seconds');
    is(scalar(grep { /^store_errors_total/ && $values->{$_} } keys %$values), 0,
       'no errors');
}



=== TEST 3: a batch of many
--- manager
        intake batch=1000;
--- client eval
sub {
    settle();

    my $release = hold_writes();

    my $body = sub { (split /\n/, submit($_[0]), 2)[1] };
    my @socks = map {
        my $text = $body->("id-$_");
        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($text) . "\r\n\r\n$text");
    } 1 .. 40;

    wait_for(sub { all_read(@socks) }) or die "not all is read\n";
    http('GET /v1/intents') for 1 .. 20;    # and both workers have gone on

    $release->();

    is(http_read($_)->{code}, 200, 'taken') for @socks;

    my $values = metrics();

    is($values->{intents_created_total}, 40, 'each is counted');
    is($values->{'batch_rows_sum{op="intents_submit"}'}, 40, 'in few batches');
    cmp_ok($values->{'batch_rows_count{op="intents_submit"}'}, '<=', 4,
           'as many as there are workers, or some more');
    cmp_ok($values->{'batch_rows_bucket{op="intents_submit",le="4"}'}, '<=', 3,
           'of many rows');
}



=== TEST 4: clients that go away are counted with what they left
--- client eval
sub {
    settle();

    for my $i (1 .. 200) {
        my $body = (split /\n/, submit("gone-$i"), 2)[1];
        close http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                        . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    }

    is(http(submit('stays'))->{code}, 200, 'one that stays');

    # those that were taken into a batch before nginx saw that they went

    my ($stored, $counted);

    ok(wait_for(sub {
        $stored = sql('SELECT count(*) FROM submission_intents');
        $counted = metrics()->{intents_created_total};
        my $again = sql('SELECT count(*) FROM submission_intents');
        return $stored == $counted && $stored == $again;
    }), 'what is stored is counted') or diag("$stored stored, $counted counted");

    cmp_ok($stored, '>', 1, 'there is something to count');
}



=== TEST 5: leadership and the store
--- manager
        executor concurrency=1;
        lease_duration 20s;
        renew_interval 100ms;
        acquire_interval 100ms;
--- client eval
sub {
    ok(wait_for(sub { metrics()->{leader} }), 'leads');

    my $values = metrics();

    is($values->{leader}, 1, 'it leads');
    is($values->{lease_epoch}, 1, 'in the first epoch');
    cmp_ok($values->{lease_remaining_seconds}, '>', 0, 'for some time');
    cmp_ok($values->{lease_remaining_seconds}, '<=', 19, 'less the margin');
    is($values->{store_up}, 1, 'the store is up');
    is_deeply({ map { /^store_state\{state="(\w+)"\}$/ ? ($1 => $values->{$_}) : () }
                    keys %$values },
              { unknown => 0, up => 1, failing => 0, down => 0,
                schema_mismatch => 0 }, 'as a state, too');
    is($values->{'store_call_seconds_count{op="lease_acquire"}'}, 1,
       'it has acquired once');
    ok(wait_for(sub { metrics()->{'store_call_seconds_count{op="lease_renew"}'} }),
       'and renews');

    store()->away;

    ok(wait_for(sub { my $m = metrics(); !$m->{leader} && !$m->{store_up} }),
       'without its store it does not lead');

    is(http('GET /v1/intents')->{code}, 503, 'nor answer');

    $values = metrics();
    is($values->{lease_epoch}, 0, 'no epoch');
    is($values->{lease_remaining_seconds}, 0, 'no lease');

    # a server's is tried again

    my $errors = $values->{'store_errors_total{op="intents_list",'
                           . 'class="transient"}'}
                 + $values->{'store_errors_total{op="intents_list",'
                             . 'class="permanent"}'};

    cmp_ok($errors, '>=', 1, 'the error is counted');
    is($values->{'store_call_seconds_count{op="intents_list"}'}, 1 + $errors,
       'as a call, too');

    # another write may have been the first to fail

    ok(wait_for(sub {
        my $m = metrics();
        grep { $m->{$_} && /^store_errors_total\{op="lease_(?:renew|acquire)"/ }
             keys %$m;
    }), 'errors of the lease');

    store()->back;

    ok(wait_for(sub { my $m = metrics(); $m->{leader} && $m->{store_up} }),
       'both come back');
    cmp_ok(metrics()->{lease_epoch}, '>', 1, 'with another epoch');
}



=== TEST 6: a row that the store refuses
--- client eval
sub {
    settle();

    store()->refuse('bad');

    is(http(submit('bad'))->{code}, 500, 'refused');
    is(http(submit('good'))->{code}, 200, 'taken');

    values_are('refused', intents_created_total => 1,
               'store_errors_total{op="intents_submit",class="constraint"}' => 1,
               'store_errors_total{op="intents_submit",class="permanent"}' => 0,
               store_up => 1);
}



=== TEST 7: too many
--- manager
        intake queue=1 batch=1;
--- client eval
sub {
    settle();

    my $release = hold_writes();

    my @socks = map {
        my $body = (split /\n/, submit("id-$_"), 2)[1];
        http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                  . 'Content-Length: ' . length($body) . "\r\n\r\n$body");
    } 1 .. 20;

    # each worker has one that waits, and refuses the others at once

    ok(wait_for(sub {
        metrics()->{requests_overloaded_total} >= 10;
    }), 'most are refused');

    values_are('refused', intents_created_total => 0);

    $release->();

    my %codes = (200 => 0, 503 => 0);

    $codes{http_read($_)->{code}}++ for @socks;

    cmp_ok($codes{503}, '>=', 10, 'it was so');
    cmp_ok($codes{200}, '>=', 1, 'those that waited are taken');
    values_are('in the end', requests_overloaded_total => $codes{503},
               intents_created_total => $codes{200});
}



=== TEST 8: reload
--- client eval
sub {
    settle();

    http(submit($_)) for qw(a b a);

    my $before = metrics();
    my $master = master();

    for my $round (1 .. 3) {
        my $log = length error_log();

        kill HUP => $master;

        wait_for(sub {
            2 == (() = substr(error_log(), $log)
                       =~ /worker process \d+ exited with code 0/g);
        }) or die "the old workers stay\n";

        values_are("reload $round", map { $_ => $before->{$_} }
                   grep { /^intents|^idem|op="intents_submit"/ } keys %$before);
    }

    http(submit('c'));

    values_are('after it', intents_created_total => 3,
               duplicates_total => 1,
               'store_call_seconds_count{op="intents_submit"}' => 4);
}



=== TEST 9: the smallest zone
--- manager
        zone 128k;
--- client eval
sub {
    settle();

    http(submit('a'));

    my $values = metrics();

    is($values->{intents_created_total}, 1, 'counted');
    is($values->{zone_bytes}, 131072, 'its size');
    cmp_ok($values->{zone_free_bytes}, '>', 0, 'something is left');
}



=== TEST 10: HEAD
--- client eval
sub {
    my $sock = http_open("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n"
                         . "Connection: close\r\n\r\n");

    like(http_rest($sock),
         qr{^HTTP/1\.1 200 .*\r\nContent-Length: \d{4,}\r\n.*\r\n\r\n\z}s,
         'the header of GET, and no body');
}



=== TEST 11: other methods
--- request eval
["POST /metrics\n{}", 'DELETE /metrics', "PUT /metrics\n{}"]
--- error_code eval
[405, 405, 405]



=== TEST 12: a GET with a body
--- request eval
["GET /metrics\nabc", 'GET /v1/intents']
--- error_code eval
[200, 200]
--- response_body_like eval
[qr/^submission_leader /m, qr/^\{"intents"/]



=== TEST 13: managers have numbers of their own
--- other
        store $TEST_NGINX_STORE;
        lease_name other;
--- client eval
sub {
    http(submit($_)) for qw(a b);

    is(metrics()->{intents_created_total}, 2, 'main');
    is(metrics('/metrics_other')->{intents_created_total}, 0, 'other');
}



=== TEST 14: "if" and "limit_except" in its location, and its filters
--- http_config
    charset koi8-r;
    charset_types text/plain;
    gzip on;
    gzip_types text/plain;
--- config
        location = /metrics {
            submission_metrics main;

            if ($arg_verbose) {
                add_header X-Verbose on;
            }

            limit_except GET {
                allow all;
            }
        }

        location = /denied {
            submission_metrics main;

            limit_except HEAD {
                deny all;
            }
        }
--- client eval
sub {
    my $answer = http('GET /metrics?verbose=1');

    is($answer->{headers}{'x-verbose'}, 'on', 'if');
    like($answer->{body}, qr/^submission_leader /m, 'and the metrics');

    $answer = http('POST /metrics');
    is($answer->{code}, 405, 'limit_except has the handler');

    is(http('GET /denied')->{code}, 403, 'limit_except denies');

    $answer = http('GET /metrics');
    is($answer->{headers}{'content-type'},
       'text/plain; version=0.0.4; charset=utf-8', 'the type stays');

    my $sock = http_open("GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
                         . "Accept-Encoding: gzip\r\nConnection: close\r\n\r\n");
    like(http_rest($sock), qr/\r\nContent-Encoding: gzip\r\n/, 'compressed');
}

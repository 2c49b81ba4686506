# Two managers in one nginx, of one worker: both lead, and both execute, in the
# same process.  They share the store's file and the gateway; their lease names
# keep them apart.  The same intent ids mean other intents to each.
#
# One of them hangs at its gateway: the other goes on.  The worker is killed,
# nginx is reloaded and quits, with attempts of both under way: each goes on
# with its own epoch, nothing of one is settled, sent or counted by the other.
#
# Goes red when: what belongs to a manager is kept once for the process; a
# statement does not look at the lease name; one that drains or waits holds up
# the other.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Digest::MD5 qw(md5_hex);

use SubmissionCluster;

use constant { INTENTS => 60, HELD => 20 };

my $cluster = SubmissionCluster->new;
my ($store, $gateway) = ($cluster->store, $cluster->gateway);

my $times = 'lease_duration 60s; renew_interval 20s; acquire_interval 500ms; '
            . 'queue_refresh_interval 200ms; holder_id a;';
my $directive = 'store ' . $store->directive . ';';


sub target {
    my ($name, $path, $policy) = @_;

    return "target $name concurrency=" . HELD . " { gateway_type sms; "
           . "policy $policy; "
           . "gateway_url http://127.0.0.1:$gateway->{port}$path; "
           . 'retry_delay 100ms; }';
}


my $a = $cluster->instance('a',
    workers => 1, executor => 'concurrency=' . HELD, manager => $times,
    main => 'worker_shutdown_timeout 500ms;',
    targets => target('sms.realtime', '/main', 'deadline 1h'),
    http => "submission_manager other { zone 1m; thread_pool submission; $directive "
            . "lease_name other; $times executor concurrency=" . HELD . '; '
            . target('sms.realtime', '/other', 'deadline 1h')
            . target('sms.once', '/other', 'one_shot') . ' }',
    server => 'location /other/ { submission_api other; } '
              . 'location = /other-readyz { submission_readyz other; } '
              . 'location = /other-metrics { submission_metrics other; } '
              . 'location = /_other { internal; submission_dispatch other; '
              . 'proxy_pass $submission_gateway_url; }');

my %api = (main => '/v1/intents', other => '/other/intents');
my %lease = (main => 'submission-manager-executor', other => 'other');
my %ready = (main => '/readyz', other => '/other-readyz');


sub post {
    my ($manager, $prefix, $target) = @_;

    my $out = INTENTS;
    my $conn = SubmissionCluster::Connection->open($a->{port});

    for my $i (1 .. INTENTS) {
        my $body = SubmissionCluster::Client::intent(
            "$prefix-$i", qq({"of":"$manager","n":$i}), $target);

        $conn->send(SubmissionCluster::Client::request('POST', $api{$manager},
                                                       $body),
                    sub { $out-- if ($_[0]{status} // 0) == 200 });
    }

    wait_for("intents of $manager are taken", sub { $out == 0 });
    $conn->close;
}


sub statuses {
    my ($manager, $prefix) = @_;

    return { map { $_->[0] => $_->[1] } $store->query(
        'SELECT status || coalesce(\' \' || exhausted_reason, \'\'), count(*) '
        . "FROM submission_intents WHERE lease_name = '$lease{$manager}' "
        . "AND intent_id LIKE '$prefix-%' GROUP BY 1") };
}


sub wait_done {
    my ($manager, $prefix) = @_;

    wait_for("$prefix of $manager is done",
             sub { !statuses($manager, $prefix)->{pending} });
}


sub epoch {
    return $store->value('SELECT lease_epoch FROM submission_manager_leases '
                         . "WHERE lease_name = '$lease{$_[0]}'");
}


sub wait_leads {
    my ($manager, $after) = @_;

    wait_for("$manager is led", sub {
        my $result = fetch($a, 'GET', $ready{$manager});
        my ($epoch) = ($result->{body} // '')
                      =~ /^mode=leader .*lease_epoch=(\d+)/;
        ($epoch // 0) > $after;
    });
}


# each intent of a manager: how often its path has seen it, and with what

sub wrong {
    my ($prefix, $times) = @_;

    my @problems;

    for my $manager (qw(main other)) {
        for my $i (1 .. INTENTS) {
            my @sends = grep { $_->{path} =~ m{^/$manager/} }
                        $gateway->sends_of("$prefix-$i");

            push @problems, "$manager: $prefix-$i is sent " . @sends . ' times'
                if $times && @sends != $times;
            push @problems, "$manager: $prefix-$i has another's payload"
                if grep { $_->{md5} ne md5_hex(qq({"of":"$manager","n":$i})) }
                   @sends;
        }
    }

    return \@problems;
}


$cluster->start;
wait_leads($_, 0) for qw(main other);

# the same ids

post($_, 'same', 'sms.realtime') for qw(main other);
wait_done($_, 'same') for qw(main other);

is_deeply(statuses($_, 'same'), { accepted => INTENTS }, "$_: all are accepted")
    for qw(main other);
is_deeply(wrong('same', 1), [], 'each once, to its own gateway');


# one hangs

$gateway->behave('/main' => 'hold');
post('main', 'hung', 'sms.realtime');
$gateway->wait_for_held(HELD);

post('other', 'hung', 'sms.realtime');
wait_done('other', 'hung');
is_deeply(statuses('other', 'hung'), { accepted => INTENTS },
          'one hangs: the other goes on');
is($gateway->held, HELD, 'one hangs: it has its own places');

$gateway->behave('/main' => undef);
$gateway->release;
wait_done('main', 'hung');
is_deeply(wrong('hung', 1), [], 'one hangs: each once, all the same');


# the worker of both

sub interrupt {
    my ($name, $do, $outcome) = @_;

    my %before = map { $_ => epoch($_) } qw(main other);

    $gateway->behave('/' => 'hold');
    post('main', $name, 'sms.realtime');
    post('other', $name, 'sms.once');
    $gateway->wait_for_held(2 * HELD);
    $gateway->behave('/' => undef);

    $do->();

    wait_leads($_, $before{$_}) for qw(main other);
    wait_done($_, $name) for qw(main other);

    is_deeply(statuses('main', $name), { accepted => INTENTS },
              "$name: main has tried again");
    is_deeply(statuses('other', $name),
              { accepted => INTENTS - HELD,
                'exhausted outcome_unknown' => HELD },
              "$name: other has not, where it may not");
    is_deeply(wrong($name), [], "$name: to whom it belongs");

    is_deeply({ map { $_->[0] => $_->[1] } $store->query(
                  'SELECT lease_name || \' \' || lease_epoch, count(*) '
                  . 'FROM submission_attempts '
                  . "WHERE outcome_status = 'unknown' "
                  . "AND outcome_reason = '$outcome' "
                  . "AND intent_id LIKE '$name-%' GROUP BY 1") },
              { map { ("$lease{$_} $before{$_}" => HELD) } qw(main other) },
              "$name: each has recorded its own");
}


interrupt('kill', sub {
    my ($pid) = $a->worker_pids;

    $a->expect_log(qr/worker process $pid exited on signal 9/);
    $a->signal('KILL', $pid);
}, 'leader_lost');

interrupt('reload', sub { $a->reload }, 'shutdown');

# what is counted, each for itself: the death of a worker loses what it was
# about to count

for (['main', '/metrics'], ['other', '/other-metrics']) {
    my ($manager, $path) = @$_;
    my ($n) = fetch($a, 'GET', $path)->{body}
              =~ /^submission_intents_created_total (\d+)/m;

    is($n, 4 * INTENTS, "$manager: intents that were created are counted");
}

$gateway->release('reset');
$a->quit;

is_deeply([$store->query('SELECT lease_name FROM submission_manager_leases '
                         . 'WHERE expires_at > ' . $store->now_sql)],
          [], 'quit: both leases are released');
is($store->in_flight, 0, 'quit: nothing is in flight');

$cluster->done;

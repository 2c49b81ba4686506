# The role of an instance as the others see it: /readyz, $submission_role and
# GET /v1/cluster, from every worker.
#
# A single instance must come to lead by itself, say so everywhere, and say
# otherwise as soon as the row is not its own. Breaks when a worker tells an
# old role, when an epoch or an end is not the row's, when a variable is kept
# too long, or when instances of another lease, or dead ones, are listed.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use Time::Local qw(timegm);

workers(2);
leads();

my $time = qr/"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"/;

# renewed often, and yet not lost by a machine that is busy for seconds

our $quick = <<'EOC';
        holder_id         sm-01;
        lease_duration    30s;
        renew_interval    50ms;
        acquire_interval  100ms;
EOC

# nothing of it changes by itself

our $calm = <<'EOC';
        holder_id         sm-01;
        lease_duration    4m;
        renew_interval    2m;
        acquire_interval  2m;
EOC

our $role = <<'EOC';
        location = /role {
            return 200 "[$submission_role]\n";
        }
EOC

sub target {
    return 'target t { gateway_type http; gateway_url http://127.0.0.1:1; '
           . 'policy one_shot; }';
}

sub manager {
    my ($name, $more) = @_;

    return "submission_manager $name { store \$TEST_NGINX_STORE; "
           . ($more || '') . ' ' . target() . " }\n";
}

sub dispatch {
    my $name = shift;

    return "location = /_$name { internal; submission_dispatch $name; "
           . "proxy_pass \$submission_gateway_url; }\n";
}

# until every worker says so: many connections, and the last ones all alike

sub all_say {
    my ($path, $pattern, $name) = @_;

    my (@bodies, @others);

    my $say = wait_for(sub {
        @bodies = map { http("GET $path")->{body} } 1 .. 20;
        @others = grep { $_ !~ $pattern } @bodies;
        !@others;
    });

    ok($say, $name) or diag("$path: $others[0]");

    return $bodies[0];
}

sub lease {
    my $columns = shift;

    return sql("SELECT $columns FROM submission_manager_leases");
}

# times of JSON as SQL has them, microseconds

sub micros {
    my ($year, $month, $day, $hour, $min, $sec, $part) = $_[0] =~ /(\d+)/g;

    return timegm($sec, $min, $hour, $day, $month - 1, $year) . $part;
}

sub give_to_another {
    sql("UPDATE submission_manager_leases SET holder_id = 'another', "
        . 'lease_epoch = lease_epoch + 1, expires_at = expires_at + 3600000000');
}

sub expire {
    sql('UPDATE submission_manager_leases SET expires_at = 0');
}

# what GET /v1/cluster tells, with words for what is never the same

sub cluster {
    my $path = shift || '/v1/cluster';

    my $answer = http("GET $path");

    return $answer->{body} unless $answer->{json};

    (my $text = $answer->{body}) =~ s/$time/TIME/g;
    $text =~ s/"[0-9a-f]{12}"/HASH/g;
    chomp $text;

    return $text;
}

# without a role it is silent

sub instance {
    my ($holder, $is, $told) = @_;

    my $role = defined $is ? qq("$is") : 'null';
    my $silent = defined $is ? 'false' : 'true';

    $told //= '{"hash":HASH,"since":TIME}';

    return qq({"holderId":"$holder","role":$role,"version":"0.1",)
           . qq("startedAt":TIME,"heartbeatAt":TIME,"silent":$silent,)
           . qq("configuration":$told,"holderIdShared":false});
}

sub whole {
    my ($holder, $epoch, $self, $is, @instances) = @_;

    return qq({"lease":{"holderId":"$holder","leaseEpoch":$epoch,)
           . '"acquiredAt":TIME,"renewedAt":TIME,"expiresAt":TIME,'
           . '"expired":false},"configuration":{"same":true,"differs":[]},'
           . qq("instance":{"holderId":"$self","role":"$is",)
           . '"configuration":{"hash":HASH}},'
           . '"instances":[' . join(',', @instances) . ']}';
}

run_tests();

__DATA__

=== TEST 1: a single instance comes to lead
--- manager
        holder_id sm-01;
--- config eval: $::role
--- client eval
sub {
    my $body = all_say('/readyz', qr/^mode=leader /, 'all workers say leader');

    my $expires = $body =~ s/ lease_expires_at=\K(\S+)/TIME/ && $1;

    is($body, 'mode=leader holder_id=sm-01 lease_epoch=1 '
              . "lease_expires_at=TIME store=up\n", 'to the letter');
    is(micros($expires), lease('expires_at'), 'and the time of the row');

    is(lease('lease_name, holder_id, lease_epoch'),
       'submission-manager-executor|sm-01|1', 'the row');
    is(lease('renewed_at - acquired_at, expires_at - acquired_at'),
       '0|60000000', 'its times');

    all_say('/role', qr/^\[leader\]\n\z/, '$submission_role in all workers');

    my @lines = grep { /leader_/ } split /\n/, error_log();

    is(scalar @lines, 1, 'one line in the log');
    like($lines[0], qr/\[notice\] .* submission: leader_acquired manager=main holder_id=sm-01 lease_epoch=1 expires_at=\S+Z\z/,
         'that says what it is');
}



=== TEST 2: it renews: the end moves, the epoch stays
--- manager eval: $::quick
--- client eval
sub {
    my $body = all_say('/readyz', qr/^mode=leader /, 'leads');
    my ($end) = $body =~ /lease_expires_at=(\S+)/;

    my $now;
    my $moved = wait_for(sub {
        $now = http('GET /readyz')->{body};
        $now =~ /lease_expires_at=(\S+)/ && $1 gt $end;
    });

    ok($moved, 'the end moves');
    like($now, qr/^mode=leader holder_id=sm-01 lease_epoch=1 /, 'in epoch 1');
    is(lease('lease_epoch'), 1, 'so says the row');
    cmp_ok(lease('renewed_at - acquired_at'), '>', 0, 'and that it was renewed');
    like(error_log(), qr/\[info\] .* leader_renewed manager=main holder_id=sm-01 lease_epoch=1 /,
         'and the log');
}



=== TEST 3: the lease goes to another, and comes back
--- manager eval: $::quick
--- config eval: $::role
--- client eval
sub {
    all_say('/role', qr/^\[leader\]/, 'leads');

    give_to_another();

    all_say('/role', qr/^\[follower\]/, 'follows');
    is(all_say('/readyz', qr/^mode=follower/, 'in all workers'),
       "mode=follower holder_id=sm-01 lease_epoch=0 lease_expires_at=- store=up\n",
       'which is as good as any');
    is(http('GET /readyz')->{code}, 200, 'it stays in rotation');

    my ($lost) = error_log() =~ /(\[error\].* leader_lost .*)/;

    # a renewal finds the row another's, or a write that is fenced does first

    like($lost, qr/ leader_lost manager=main holder_id=sm-01 lease_epoch=1 expires_at=\S+Z reason=(?:not_held\z|lease_lost sql_error="LEASE_LOST: )/,
         'the log says why');

    is(cluster(), whole('another', 2, 'sm-01', 'follower',
                        instance('sm-01', 'follower')), 'the cluster');

    expire();

    all_say('/role', qr/^\[leader\]/, 'leads again');
    like(all_say('/readyz', qr/^mode=leader/, 'in all workers'),
         qr/ lease_epoch=3 /, 'in the next epoch but one');
    is(cluster(), whole('sm-01', 3, 'sm-01', 'leader',
                        instance('sm-01', 'leader')), 'the cluster');
}



=== TEST 4: of several managers
each leads by itself, and there is no telling whose role the variable is
--- http_config eval
main::manager('main', 'holder_id sm-01;')
. main::manager('other', 'holder_id sm-02; lease_name other;')
--- config eval
$::role . main::dispatch('other')
. 'location = /readyz_other { submission_readyz other; }'
. ' location /other/ { submission_api other; }'
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader holder_id=sm-01 lease_epoch=1 /, 'main');
    all_say('/readyz_other', qr/^mode=leader holder_id=sm-02 lease_epoch=1 /,
            'other');

    is(sql('SELECT lease_name, holder_id, lease_epoch '
           . 'FROM submission_manager_leases ORDER BY lease_name'),
       "other|sm-02|1\nsubmission-manager-executor|sm-01|1",
       'two leases in one store');

    is(cluster(), whole('sm-01', 1, 'sm-01', 'leader',
                        instance('sm-01', 'leader')), 'the one cluster');
    is(cluster('/other/cluster'), whole('sm-02', 1, 'sm-02', 'leader',
                                        instance('sm-02', 'leader')),
       'the other');

    all_say('/role', qr/^\[\]\n\z/, '$submission_role is empty');
}



=== TEST 5: of no manager
--- bare
--- config eval: $::role
--- request
GET /role
--- response_body
[]



=== TEST 6: where variables are used
--- manager
        holder_id sm-01;
--- http_config
    map $submission_role $port_of_role {
        leader   1;
        default  2;
    }
--- config
        add_header X-Role $submission_role always;

        location = /leaders {
            if ($submission_role != leader) {
                return 503;
            }

            return 200 "map: $port_of_role\n";
        }
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    my $answer = http('GET /leaders');

    is($answer->{code}, 200, 'if');
    is($answer->{body}, "map: 1\n", 'map');
    is($answer->{headers}{'x-role'}, 'leader', 'add_header');
    is(http('GET /v1/intents')->{headers}{'x-role'}, 'leader', 'of the API');
}



=== TEST 7: it is not kept longer than it is looked at
a request that waits for its body sees the role change
--- manager eval: $::quick
--- api
            set $before $submission_role;
            add_header X-Role "$before, $submission_role" always;
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    my $body = (split /\n/, submit('a'), 2)[1];
    my $sock = http_open("POST /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                         . "Expect: 100-continue\r\nContent-Length: "
                         . length($body) . "\r\n\r\n");

    is(http_read($sock)->{code}, 100, 'its header is read');

    give_to_another();
    all_say('/readyz', qr/^mode=follower /, 'follows');

    print $sock $body;
    my $answer = http_read($sock);

    is($answer->{code}, 200, 'answered');
    is($answer->{headers}{'x-role'}, 'leader, follower', 'before, and now');
}



=== TEST 8: GET /v1/cluster
--- manager eval: $::calm
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    my $answer = http('GET /v1/cluster');

    is($answer->{code}, 200, 'answered');
    is($answer->{headers}{'content-type'}, 'application/json', 'as JSON');
    is(cluster(), whole('sm-01', 1, 'sm-01', 'leader',
                        instance('sm-01', 'leader')), 'to the letter');
    like($answer->{body}, qr/\}\n\z/, 'with a line feed');

    my $lease = $answer->{json}{lease};

    is(join('|', map { micros($_) } @$lease{qw(acquiredAt renewedAt expiresAt)}),
       lease('acquired_at, renewed_at, expires_at'), 'times of the row');

    is(join('|', map { micros($_) }
                 @{ $answer->{json}{instances}[0] }{qw(startedAt heartbeatAt)}),
       sql('SELECT started_at, heartbeat_at FROM submission_manager_candidates'),
       'times of the candidate');

    is(http('GET /v1/cluster?any=thing')->{code}, 400, 'it has no arguments');
}



=== TEST 9: HEAD /v1/cluster
--- manager eval: $::calm
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    my $length = length http('GET /v1/cluster')->{body};

    my $sock = http_open("HEAD /v1/cluster HTTP/1.1\r\nHost: localhost\r\n"
                         . "Connection: close\r\n\r\n");

    like(http_rest($sock),
         qr{^HTTP/1\.1 200 .*\r\nContent-Length: $length\r\n.*\r\n\r\n\z}s,
         'the header of GET, and no body');
}



=== TEST 10: other methods of the cluster
--- request eval
["POST /v1/cluster\n{}", map { "$_ /v1/cluster" } qw(PUT DELETE PATCH OPTIONS)]
--- error_code eval
[(405) x 5]
--- response_body eval
[(problem('method_not_allowed', 'the method must be one of GET, HEAD')) x 5]
--- response_headers eval
[("Allow: GET, HEAD\nContent-Type: application/json") x 5]



=== TEST 11: paths that are not the cluster's
--- request eval
[map { "GET /v1/$_" } qw(cluster/ cluster/x cluster/sm-01/x clusters cluste
                         Cluster x/cluster intents/cluster/x)]
--- error_code eval
[(404) x 8]
--- response_body eval
[(problem('not_found', 'there is nothing at this path')) x 8]



=== TEST 12: an intent may have that name
--- manager
        executor off;
--- request eval
[submit('cluster'), 'GET /v1/intents/cluster']
--- response_body eval
[(intent('cluster')) x 2]



=== TEST 13: live instances, and dead ones
--- manager eval: $::calm
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    my $now = sql('SELECT heartbeat_at FROM submission_manager_candidates');
    my $values = join ', ', map {
        my ($lease, $holder, $left, $claims) = @$_;
        sprintf "('%s', '%s', %s, %s, %s, '%s', '0.1')", $lease, $holder,
                $now - 1000000, $now, $now + $left * 1000000, $claims;
    } ['submission-manager-executor', 'dead', -1, 'follower'],
      ['submission-manager-executor', 'lives', 3600, 'leader'],
      ['another-lease', 'elsewhere', 3600, 'leader'];

    sql('INSERT INTO submission_manager_candidates '
        . store()->candidate_columns . " VALUES $values");

    is(cluster(), whole('sm-01', 1, 'sm-01', 'leader',
                        instance('lives', undef,
                                 '{"hash":null,"since":null}'),
                        instance('sm-01', 'leader')),
       'the oldest first; who claims a lease that another one holds is not heard of');
}



=== TEST 14: a lease that has expired
--- manager eval: $::calm
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    (my $expected = whole('sm-01', 1, 'sm-01', 'follower',
                          instance('sm-01', 'follower')))
        =~ s/"expired":false/"expired":true/;
    my $said;

    # a duty of the leader may notice it first, and the lease is taken again

    wait_for(sub {
        expire();
        ($said = cluster()) =~ s/("leaseEpoch":)\d+/${1}1/;
        $said eq $expected;
    });

    is($said, $expected, 'nobody leads, whoever believes to');
}



=== TEST 15: many who ask at once have one answer
--- manager eval: $::calm
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    my @socks = map { http_open("GET /v1/cluster HTTP/1.1\r\nHost: x\r\n"
                                . "Connection: close\r\n\r\n") } 1 .. 50;
    my %bodies = map { http_read($_)->{body} => 1 } @socks;

    is(join("\n", keys %bodies), http('GET /v1/cluster')->{body},
       'to each its own copy');

    my @answers = http_pipelined(map { ('GET /v1/cluster', submit("id-$_")) }
                                 1 .. 20);

    is(scalar(grep { $_->{code} == 200 } @answers), 40, 'among others');
}



=== TEST 16: no store, no cluster
--- manager
        holder_id sm-01;
--- client eval
sub {
    all_say('/readyz', qr/^mode=leader /, 'leads');

    store()->away;

    my $answer = http('GET /v1/cluster');

    is($answer->{code}, 503, 'refused');
    is($answer->{body}, problem('store_unavailable',
                                'the store did not complete the request'),
       'with a reason');

    store()->back;

    # a server's breaker has to see it, too

    ok(wait_for(sub { http('GET /v1/cluster')->{code} == 200 }),
       'it is back');
}

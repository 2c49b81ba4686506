# A gateway dies, answers slowly, hangs, rejects everything, or comes back: every
# instance shows the health of its target within ten seconds, says why, and the
# metrics and the log of the leader say the same (G22).  A new leader goes on
# with what the one before has told.  A gateway with TLS shows until when its
# certificate is valid.
#
# Goes red when: a target that is down is shown as ok, anywhere; a slow or a
# hanging gateway shows nothing before its time-outs, or after more than ten
# seconds; one that is still slow gets well, under a new leader, too; a new leader
# forgets, or tells another time; a target gets well without an answer, or never;
# what gets better reads like new trouble; the certificate of a gateway that is not
# reached by TLS any more, or that shows one of another name, is shown for ever.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

# failures count for a minute, and after it half a minute has to be calm

use constant { TOLD => 10, WELL => 95 };

my $tls_port = SubmissionCluster::free_port();
my $retry = { policy => 'deadline 1h', retry => '1s' };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '3s',
    targets => { map({ ("sms.$_" => { path => "/$_", %$retry }) }
                     qw(dead slow hung no)),
                 'http.tls' => { type => 'http', policy => 'one_shot',
                                 url => "https://127.0.0.1:$tls_port/" } });
my ($gateway, $lease) = ($run->gateway, $run->leadership);
my $dir = $run->cluster->{dir};

system("openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=gateway.test "
       . "-days 9 -keyout '$dir/tls.key' -out '$dir/tls.pem' "
       . ">> '$dir/openssl.log' 2>&1") == 0 or die 'openssl';

my @instances = $run->instances;

my $tls_gateway = "server { listen 127.0.0.1:$tls_port ssl; "
                  . "ssl_certificate $dir/tls.pem; "
                  . "ssl_certificate_key $dir/tls.key; "
                  . "location / { proxy_pass http://gateway; } }\n";

$instances[0]{http} .= $tls_gateway;

for my $instance (@instances) {
    $instance->{dispatch} .= ' proxy_read_timeout 12s; if ($tls) '
                             . '{ rewrite ^ /_tls last; }';
    $instance->{http} .= "map \$submission_target \$tls "
                         . "{ default ''; http.tls 1; }\n";
    $instance->{server} .= "location = /_tls { internal; "
                           . "proxy_pass https://127.0.0.1:$tls_port; }\n";
}

my $leader = $run->start(record => 0);


sub shown {
    my ($instance, $target) = @_;

    return decode_json(fetch($instance, 'GET', "/v1/targets/$target")->{body});
}


# all instances show that state, within so many seconds

sub health {
    my ($target, $state, $why, $within) = @_;

    for my $instance (grep { $_->running } @instances) {
        my $health;

        wait_for("$instance->{name}: $target is $state", sub {
            $health = shown($instance, $target)->{health};
            $health && $health->{state} eq $state
                && ($health->{why} // '') =~ $why;
        }, $within);

        is($health->{state}, $state, "$instance->{name}: $target is $state");
    }
}


sub metric {
    my ($target, $state) = @_;

    return $leader->metric(qq(target_health{target="$target",state="$state"}));
}


# all is well, of what was sent and of what was not

$run->post(map { ["$_-1", "sms.$_"] } qw(dead slow hung no));
$run->post(['tls-1', 'http.tls']);
$run->wait_terminal('');

health("sms.$_", 'ok', qr/^$/, TOLD) for qw(dead slow hung no);
is(metric('sms.dead', 'ok'), 1, 'metrics: ok');


# until when a certificate is valid

my $expires;

wait_for('the certificate is shown', sub {
    ($expires) = (shown($leader, 'http.tls')->{certificateExpiresAt} // '')
                 =~ /^(\d{4}-\d\d-\d\d)T/;
}, TOLD);

my @day = gmtime(time + 9 * 86400);

is($expires, sprintf('%04d-%02d-%02d', $day[5] + 1900, $day[4] + 1, $day[3]),
   'until when the certificate is valid');
cmp_ok(abs($leader->metric(
               'gateway_certificate_expiry_seconds{target="http.tls"}')
           - time - 9 * 86400), '<', 300, 'metrics: the same');


wait_for('and is an event', sub {
    fetch($leader, 'GET', '/v1/events?kind=certificate_expires')->{body}
        =~ /gateway of http\.tls expires in 8 days\./;
}, TOLD);
pass('an event tells that it expires soon');


# everything is rejected

$gateway->behave('/no' => 'reject blocked');
$run->post(map { ["no-r$_", 'sms.no'] } 1 .. 10);
health('sms.no', 'degraded', qr/^the last \d+ attempts were all rejected$/, TOLD);


# a gateway that hangs, long before its attempts time out

$gateway->behave('/hung' => 'delay 8000');
$run->post(['hung-2', 'sms.hung']);
health('sms.hung', 'degraded',
       qr/^an attempt has been waiting for its answer for [34]\.?\d* s; the usual time is /,
       7);


# one that is slow

$gateway->behave('/slow' => undef);
$run->post(map { ["slow-q$_", 'sms.slow'] } 1 .. 40);
$run->wait_terminal('slow-q');
$gateway->behave('/slow' => 'delay 900');
$run->post(map { ["slow-s$_", 'sms.slow'] } 1 .. 10);
health('sms.slow', 'degraded', qr/^answers are slow: one in a hundred takes/,
       TOLD);


# one that is dead, and what a new leader says of it

$gateway->behave('/dead' => 'reset');
$run->post(map { ["dead-d$_", 'sms.dead'] } 1 .. 5);
health('sms.dead', 'down',
       qr/^the last \d+ attempts got no usable answer$/, TOLD);

is(metric('sms.dead', 'down'), 1, 'metrics: down');
is(metric('sms.dead', 'ok'), 0, 'metrics: and not ok');
is($leader->log_count(qr/target_down manager=\w+ target=sms\.dead .*why="/), 1,
   'the log says so once');

for my $instance (@instances) {
    wait_for("$instance->{name}: it is an event", sub {
        fetch($instance, 'GET', '/v1/events?kind=target_down&target=sms.dead')
            ->{body} =~ /"text":"sms\.dead is down: the last \d+ attempts got /;
    }, TOLD);
    pass("$instance->{name}: it is an event");
}

my ($since, $told) = (shown($leader, 'sms.dead')->{health}{since},
                      shown($leader, 'sms.dead')->{asOf});

$leader->kill_group;
$leader = $lease->wait_leader;

wait_for('the new leader tells', sub {
    metric('sms.dead', 'down')
        && shown($leader, 'sms.dead')->{asOf} gt $told;
}, 30);

# it does not know less: what answers in 8 s is slow, as it was

$run->post(['hung-3', 'sms.hung']);
$run->wait_terminal('hung-', 30);
$run->post(['hung-4', 'sms.hung']);
wait_for('an answer of 8 s', sub {
    fetch($leader, 'GET', '/v1/intents/hung-4')->{body} =~ /"status":"accepted"/;
}, 30);
health('sms.hung', 'degraded',
       qr/^answers are slow: the last one took 8 s; the usual time is 0\.\d+ s/, TOLD);
is(fetch($leader, 'GET', '/v1/events?kind=target_up')->{body} =~ /hung/ ? 1 : 0, 0,
   'it was not said to work');

is(shown($leader, 'sms.dead')->{health}{state}, 'down',
   'another leader: it is still down');
is(shown($leader, 'sms.dead')->{health}{since}, $since,
   'another leader: since when');
is(shown($leader, 'sms.no')->{lastError}{reason}, 'blocked',
   'another leader: the last error of what was not sent to since');
like(shown($leader, 'sms.no')->{health}{why}, qr/were all rejected$/,
     'another leader: and why that is ill');


# it comes back

$gateway->behave('/dead' => undef, '/hung' => undef);
$run->wait_terminal('dead-', 60);
wait_for('it begins to work', sub {
    fetch($leader, 'GET', '/v1/events?kind=target_degraded&target=sms.dead')->{body}
        =~ /"text":"sms\.dead begins to work again[:.]/;
}, TOLD);
pass('an event says that it begins to work');
health('sms.dead', 'ok', qr/^$/, WELL + TOLD);
is($leader->log_count(qr/target_up manager=\w+ target=sms\.dead /), 1,
   'the log says so');


# a gateway that is not reached by TLS any more

ok(shown($leader, 'http.tls')->{certificateExpiresAt}, 'its certificate was inherited');

$leader->{server} =~ s{https://127\.0\.0\.1:$tls_port}{http://gateway};
$leader->reload(wait_old => 1);

# over a connection that another target has left open

$run->post(['dead-plain', 'sms.dead']);
$run->wait_terminal('dead-plain');
$run->post(['plain-1', 'http.tls']);
$run->wait_terminal('plain-');

wait_for('no certificate is shown', sub {
    !shown($leader, 'http.tls')->{certificateExpiresAt}
        && !exists $leader->metrics->{
               'gateway_certificate_expiry_seconds{target="http.tls"}'};
}, TOLD);
pass('a gateway without TLS has no certificate that could expire');


# One that shows a certificate which is not that of its name.  The first leader was
# this gateway, too, so another instance has to be it now.

$leader->{http} .= $tls_gateway;

sub tls {
    my ($n, $more) = @_;

    $leader->{server} =~ s{(/_tls \{ internal; proxy_pass) [^\}]*\}}
                          {$1 https://127.0.0.1:$tls_port; $more \}};
    $leader->reload(wait_old => 1);
    $run->post(["name-$n", 'http.tls']);
}

my $trusted = "proxy_ssl_verify on; proxy_ssl_trusted_certificate $dir/tls.pem; ";

tls(1, $trusted . 'proxy_ssl_name gateway.test;');
wait_for('the certificate is shown again', sub {
    shown($leader, 'http.tls')->{certificateExpiresAt};
}, TOLD);

tls(2, $trusted . 'proxy_ssl_name other.test;');
wait_for('it has another name', sub {
    (shown($leader, 'http.tls')->{lastError}{detail} // '') =~ /is not that of/;
}, TOLD);
is(shown($leader, 'http.tls')->{certificateExpiresAt}, undef,
   'a certificate of another name is not the one that was seen');

tls(3, '');
$run->wait_terminal('name-', 60);

$run->expect_kills;
$run->done;

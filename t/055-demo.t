# The demo does what it says of itself: webhooks are told, the schedule makes its
# intent, sms.moody is ill and recovers by itself, a second start says that it
# runs, and its logs stay small, without traffic, too.
#
# The demo is the first that anybody sees of all this.  t/050 runs what the
# tutorial does with it; this test sees what it does by itself.
#
# Goes red when: the receiver, the schedule or the moody gateway of the demo does
# not work; "start" or "cluster" starts twice or says nothing; logs are not
# rotated.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use JSON::PP;
use List::Util qw(min);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(sleep time);

use SubmissionDocs qw(slurp spew wait_for);
use SubmissionNeeds 'no_store';
use SubmissionPace qw(busy);
use SubmissionPorts qw(free_port free_ports);

use constant { ILL => 15, MOST => 45 };     # seconds

my $top = realpath("$FindBin::Bin/..");
my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $so = 'build/ngx_http_submission_module.so';
my $module = $ENV{SUBMISSION_MODULE} // "$top/$so";

plan skip_all => 'the module is compiled in' if !$module;
plan skip_all => 'the demo is as t/050 sees it' if $ENV{SUBMISSION_CHECK};

my $root = tempdir('demo.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                   CLEANUP => 1);
my ($port, $gateway) = (free_port(), free_port());
my $front = free_ports(5);

chmod 0755, $root;
make_path("$root/demo", "$root/build");
copy("$top/$_", "$root/$_") or die "$_: $!\n"
    for 'haproxy.cfg.example', map { "demo/$_" } qw(demo.sh nginx.conf gateway.conf);
chmod 0755, "$root/demo/demo.sh";
symlink realpath($module), "$root/$so" or die "$so: $!\n";

END {
    my $status = $?;
    demo('stop') if defined $root && -e "$root/demo/run";
    $? = $status;
}

sub demo {
    my ($command, %with) = @_;

    local @ENV{qw(NGINX_BIN PORT GATEWAY_PORT)} = ($nginx, $port, $gateway);
    local @ENV{keys %with} = values %with;

    return scalar `$root/demo/demo.sh $command 2>&1`;
}

sub get {
    my $answer = `curl -s -m 30 'http://127.0.0.1:$port$_[0]'`;

    return $answer =~ /^\{/ ? decode_json($answer) : {};
}

sub logged {
    my $file = "$root/demo/logs/$_[0]";

    return -e $file ? slurp($file) : '';
}


# for a while the gateway of sms.moody is ill

my $begun = time;
my $end = $begun + min(MOST, ILL * busy());
my $moody = '~T(' . join('|', map { strftime('%H:%M:%S', localtime $_) }
                                  $begun .. $end) . ')';
my %moody = (DEMO_MOODY => $moody);

like(demo('start', %moody), qr/^demo: started, pid \d+$/m, 'it starts');

my $pid = slurp("$root/demo/run/nginx.pid");
my $said = demo('start', %moody);

is($?, 0, 'it starts twice');
like($said, qr/^demo: nginx is already running, pid \Q$pid\E/m, 'and says that it runs');
unlike($said, qr/started/, 'and does not start again');
is(slurp("$root/demo/run/nginx.pid"), $pid, 'it is the same');

sub moody {
    my ($of) = grep { $_->{target} eq 'sms.moody' } @{get('/v1/targets')->{targets} || []};

    return (($of // {})->{health} // {})->{state} // '';
}

ok(wait_for('sms.moody', sub { moody() =~ /^(?:degraded|down)$/ }), 'sms.moody is ill');


# meanwhile

ok(wait_for('a message', sub { logged('hooks.log') =~ /"type":"intent\.rejected"/ }),
   'the receiver of webhooks is told of rejections');
like(logged('hooks.log'), qr/^\S+ msg_\w+ v1,\S+ \{.*"intentId":"typo-/m,
     'signed, and of the traffic that is wrong');

wait_for('the end of that', sub { time > $end + 1 });

my $lines = join "\n", map {
    qq({"intentId":"more-$_","submissionTarget":"sms.moody","payload":{}})
} 1 .. 200;

spew("$root/lines", "$lines\n");
like(`curl -s -m 30 -o $root/answer -w '%{http_code}' --data-binary \@$root/lines \\
          -H 'Content-Type: application/x-ndjson' http://127.0.0.1:$port/v1/intents`,
     qr/^20\d$/, 'many intents are posted to it');
ok(wait_for('sms.moody', sub { moody() eq 'ok' }), 'and it is well again');
like(logged('gateway.log'), qr{/moody/sms/send .* status=503$}m, 'which was its gateway');

my $default = slurp("$top/demo/gateway.conf");

like($default, qr/^ +~:\[0-5\]\[05\]: +ill;$/m, 'by itself, one minute in five');


# the schedule, each minute

ok(wait_for('the schedule', sub {
       grep { $_->{intentId} =~ /report/ && $_->{status} eq 'accepted' }
            @{get('/v1/intents?target=push.marketing&status=accepted&limit=100')->{intents} || []}
   }), 'the schedule makes an intent') or diag(explain(get('/v1/schedules')));


# without traffic the logs stay small, too

$said = demo('start', %moody, DEMO_TRAFFIC => 'off');
like($said, qr/already running/, 'the traffic ends, and the demo goes on');

sub rotated {
    my $file = "$root/demo/logs/gateway.log";
    my $inode = (stat $file)[1];

    open my $log, '>>', $file or die "gateway.log: $!\n";
    print $log 'x' x 4_000_001, "\n";
    close $log;

    return wait_for('the rotation', sub { ((stat "$file.1")[1] // 0) == $inode });
}

ok(rotated(), 'a log is put aside');
`curl -s -m 30 -o $root/answer http://127.0.0.1:$gateway/rejects/sms/send`;
ok(wait_for('its line', sub { logged('gateway.log') =~ m{^\S+ /rejects/sms/send }m }),
   'and nginx goes on with another');
ok(rotated(), 'and later again');
unlike(logged('gateway.log.1'), qr/ order-/, 'between which there was no traffic');

like(demo('stop'), qr/^demo: stopped$/m, 'it stops');


# two instances

$port = $front;

like(demo('cluster'), qr/instance a started.*instance b started/s, 'a cluster starts');

my %pids = map { $_ => slurp("$root/demo/run/$_.pid") + 0 } qw(a b gateway haproxy);

$said = demo('cluster');
is($?, 0, 'the cluster starts twice');
like($said, qr/^demo: $_ is already running, pid $pids{$_}$/m, "and says that $_ runs")
    for sort keys %pids;
like($said, qr/^Console: /m, 'and where its console is');

$said = demo('cluster', DEMO_MOODY => '~never');
like($said, qr/^demo: configuration or module of gateway changed, restarting$/m,
     'what has changed is started again');
isnt(slurp("$root/demo/run/gateway.pid") + 0, $pids{gateway}, 'the gateway');
is(slurp("$root/demo/run/a.pid") + 0, $pids{a}, 'and nothing else');

like(demo('stop'), qr/^demo: stopped$/m, 'it stops');
is(`pgrep -f '^nginx: .* -p $root/'`, '', 'and nothing is left');

done_testing();

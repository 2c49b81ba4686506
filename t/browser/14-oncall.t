# The walk of whoever is on call (G22): things break one after the other, as they do
# at night, and within ten seconds the first screen, the overview of an instance that
# does not lead, says in words what is wrong, since when, and why.  Each is mended
# before the next.  The table says how each breaks, and what has to be read then; the
# seconds that each took are printed at the end.  SUBMISSION_PICTURES names a
# directory for pictures.
#
# Goes red when: a breakage is not on the overview, or later than that, or without
# since when and why; an attempt that waits for its answer is noticed only when its
# time-out has passed; a page says "up", "live" or "leader" while the store is down;
# one that is opened then is blank, or waits for the store, or an instance that was
# started then shows nothing; what works without the store is not said; what was
# mended is still told.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(no_store browser openssl);

use File::Temp qw(tempdir);
use IO::Socket::INET;
use MIME::Base64 qw(encode_base64);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Server;
use SubmissionConsole;

use constant FULL => 4;     # targets that are ill and told in full

my $CLOCK = qr/\d\d:\d\d:\d\d/;
my $LAST = qr/\s+Last error .*/;


# A server of names, which knows one: 127.0.0.1.

my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp')
    or die "socket: $!";
my $names_port = $socket->sockport;
my $names = fork // die "fork: $!";

if ($names == 0) {
    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);

    while ($socket->recv(my $query, 512)) {
        my $question = substr $query, 12;

        $socket->send(substr($query, 0, 2) . pack('n5', 0x8180, 1, 1, 0, 0) . $question
                      . pack('n3Nn', 0xc00c, 1, 1, 1, 4) . pack('C4', 127, 0, 0, 1));
    }
    POSIX::_exit(0);
}

END { kill 'KILL', $names if $names }


# a certificate that is valid, and one that is no longer; both are trusted

sub certificates {
    my ($dir) = @_;

    open(my $file, '>', "$dir/names") or die "names: $!";
    print $file "subjectAltName=DNS:gateway.test\n";
    close $file;

    my $sign = "openssl x509 -req -in '$dir/tls.csr' -signkey '$dir/tls.key' "
               . "-extfile '$dir/names'";

    system("(openssl req -newkey rsa:2048 -nodes -subj /CN=gateway.test "
           . "-keyout '$dir/tls.key' -out '$dir/tls.csr' && "
           . "$sign -days 90 -out '$dir/valid.pem' && "
           . "$sign -days -1 -out '$dir/expired.pem' && "
           . "cat '$dir/valid.pem' '$dir/expired.pem' > '$dir/trusted.pem' && "
           . "cp '$dir/valid.pem' '$dir/tls.pem' && "
           . "chmod 0644 '$dir/tls.key') >> '$dir/openssl.log' 2>&1") == 0
        or die 'openssl';
}


# all targets are tried again soon, for an hour; the store is a PostgreSQL of its own

delete $ENV{SUBMISSION_TEST_STORE};

my $server = SubmissionCluster::Server->start;
my $secret = tempdir(CLEANUP => 1) . '/secret';
my ($tls_port, $nobody) = map { SubmissionCluster::free_port() } 1 .. 2;
my %retry = (policy => 'deadline 1h', retry => '500ms');
my %targets = (
    'sms.dead' => { %retry },
    'sms.broken' => { %retry, path => '/broken' },
    'sms.hung' => { %retry, path => '/hung' },
    'sms.slow' => { %retry, path => '/slow' },
    'http.locked' => { %retry, type => 'http', path => '/locked' },
    'http.name' => { %retry, type => 'http' },
    'http.certificate' => { %retry, type => 'http', url => "https://127.0.0.1:$tls_port/" },
    'sms.telling' => { %retry, more => 'notify ops;' },
);
my $dead;

open(my $file, '>', $secret) or die "$secret: $!";
print $file 'whsec_' . encode_base64('k' x 24, '') . "\n";
close $file;
chmod 0600, $secret;

my ($run, $leader, $follower) = pair(
    targets => \%targets, lease => '10s', acquire => '5s', elsewhere => qr/^(?:dead-| )/,
    manager => "webhook ops { url http://127.0.0.1:$nobody/ops; secret_file $secret; events accepted; "
               . 'policy max_attempts 1000; retry_delay 500ms; }',
    before => sub {
        my ($run) = @_;

        my $dir = $run->cluster->{dir};

        $server->direct($run->cluster);
        certificates($dir);
        mkdir "$dir/dead";
        $dead = SubmissionCluster::Gateway->new("$dir/dead");
        $targets{'sms.dead'}{url} = "http://127.0.0.1:$dead->{port}/";
        $targets{'http.name'}{url} = "http://gateway.test:$run->{gateway}{port}/";

        for my $instance ($run->instances) {
            $instance->{targets} = $run->targets;
            $instance->{dispatch} .= "resolver 127.0.0.1:$names_port valid=1s ipv6=off; "
                . 'resolver_timeout 1s; proxy_ssl_verify on; proxy_ssl_name gateway.test; '
                . "proxy_ssl_trusted_certificate $dir/trusted.pem;";
        }

        # the file is read at each handshake

        ($run->instances)[0]{http} .= "map \$hostname \$pem { default $dir/tls.pem; } "
            . "server { listen 127.0.0.1:$tls_port ssl; ssl_certificate \$pem; "
            . "ssl_certificate_key $dir/tls.key; location / { proxy_pass http://gateway; } }\n";
    });

my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);
my $dir = $run->cluster->{dir};

$_->expect_log(qr/SSL certificate|No space left|exited on signal 9/) for $run->instances;

my $browser = browser($run);
my (@frozen, $n);

sub posted {
    my ($target, $times) = @_;

    $run->post(map { [($target =~ /(\w+)$/)[0] . '-' . ++$n, $target] } 1 .. $times);
}

sub overview { visit($browser, $_[0] // $follower, '#/overview', $_[1] // qr/Leader\s+\w+ since $CLOCK/) }

sub no_trouble { $browser->wait_until('no banner', sub { ($browser->text('#banners') // '') eq '' }) }

sub renewed { rename "$dir/$_[0].pem", "$dir/tls.pem" or die "rename: $!" }


# what must be said of a target: how it is, since when, and why

sub target {
    my ($target, $how, $why) = @_;

    return (at => qq(.ill li[data-key="$target"]),
            says => qr/^\Q$target\E\s+$how\s+since $CLOCK, (?:\d|just now).*$why/s);
}

sub banner { return (at => '#banners', says => $_[0]) }


# and while the store is down, on any page, of any instance

my $REFUSED = qr/postgres: .*Connection refused\. Is the server running .*\? /;
my $KEPT = qr/New intents get 503, and nothing is sent; what was accepted before is kept\. /;
my $WORKS = qr/Overview, Targets, Events and Configuration work: they are what this instance has in memory\. Intents and all other lists need the store\./;

sub down {
    my ($led) = @_;

    return (banner(qr/The store \(postgres\) is down since $CLOCK \(\d.* ago\)\. $REFUSED$led$KEPT$WORKS/),
        then => sub {
            my ($name) = @_;

            like($browser->text('#live'), qr/^store down/, "$name: the sign at the top says so");
            unlike($browser->text('header') . $browser->text('main .grid'),
                   qr/\blive\b|\bup\b|It answers|(?<!\w)leader(?!\w)/, "$name: nothing claims that all is well");
        });
}


my @table = (
    { name => 'gateway dead',
      break => sub { $dead->stop; posted('sms.dead', 5) },
      target('sms.dead', 'down', qr/The last \d+ attempts got no usable answer\.${LAST}: connection refused by 127\.0\.0\.1:$dead->{port}/),
      mend => sub { $dead->start } },

    { name => 'gateway answers 500',
      break => sub { $gateway->behave('/broken' => 'answer 500'); posted('sms.broken', 5) },
      target('sms.broken', 'down', qr/The last \d+ attempts got no usable answer\.${LAST}: HTTP 500/),
      mend => sub { $gateway->behave('/broken' => 'accept') } },

    { name => 'gateway answers 401',
      break => sub { $gateway->behave('/locked' => 'answer 401'); posted('http.locked', 15) },
      target('http.locked', 'degraded', qr/The last \d+ attempts were all rejected\.\s+.*(?:http_401|HTTP 401)/),
      mend => sub { $gateway->behave('/locked' => 'accept'); posted('http.locked', 15) } },

    { name => 'DNS gone',
      break => sub { kill 'STOP', $names; posted('http.name', 5) },
      target('http.name', 'down', qr/The last \d+ attempts could not be sent\.${LAST}: not sent: the name "gateway\.test" was not resolved/),
      mend => sub { kill 'CONT', $names } },

    { name => 'certificate expired',
      break => sub { renewed('expired'); posted('http.certificate', 5) },
      target('http.certificate', 'down', qr/The last \d+ attempts could not be sent\.${LAST}: TLS: certificate of "gateway\.test" has expired/),
      then => sub {
          wait_for('until when the one before was valid is not told any more', sub {
              fetch($follower, 'GET', '/v1/targets/http.certificate')->{body} !~ /certificateExpiresAt/ });
      },
      mend => sub { renewed('valid') } },

    { name => 'gateway hangs',
      break => sub { $gateway->behave('/hung' => 'hold'); posted('sms.hung', 5) },
      target('sms.hung', 'degraded', qr/An attempt has been waiting for its answer for \d+(?:\.\d)? s/),
      mend => sub { $gateway->behave('/hung' => 'accept'); $gateway->release } },

    { name => 'gateway slow',
      before => sub { posted('sms.slow', 40); $run->wait_terminal('slow-', 30) },
      break => sub { $gateway->behave('/slow' => 'delay 900'); posted('sms.slow', 10) },
      target('sms.slow', 'degraded', qr/Answers are slow: one in a hundred takes more than 0\.\d+ s; the usual time is 0\.\d+ s, the time-out 60 s\./),
      then => sub {
          # what is slow has answered meanwhile, as slowly

          $run->wait_terminal('slow-', 30);
          like($browser->text('.ill'), qr/sms\.slow\s+degraded\s.*Answers are slow: /s, 'it is still slow');
      } },

    { name => 'webhook receiver down',
      break => sub { posted('sms.telling', 1) },
      target('webhook ops', 'down', qr/The last \d+ attempts got no usable answer\.${LAST}: connection refused by 127\.0\.0\.1:$nobody/),
      then => sub {
          like($browser->text('.ill'), qr/^\d targets need attention\s+webhook ops\s+down\s.*\sdegraded\s/s, 'the worst is the first');
          is($browser->has('.ill a[href="#/webhooks?webhook=ops"]'), 1, 'and leads to its messages');
      } },

    { name => 'configuration differs',
      break => sub {
          $run->{targets}{'sms.slow'}{policy} = 'deadline 2h';
          $follower->{targets} = $run->targets;
          $follower->reload;
      },
      banner(qr/The instances differ\. Their configurations are not the same: targets\./),
      mend => sub {
          $run->{targets}{'sms.slow'}{policy} = 'deadline 1h';
          $follower->{targets} = $run->targets;
          $follower->reload;
          no_trouble();
      } },

    { name => 'disk full',
      break => sub { $store->fill },
      banner(qr/The store \(postgres\) fails since $CLOCK \(\d.* ago\)\. .*No space left.*does not keep what is written: new intents get 503, and nothing is sent\. Everything can be looked at, and nothing changed\./),
      mend => sub { $store->make_room; no_trouble() } },

    { name => 'leader killed',
      before => sub {
          $leader = $lease->wait_leader;
          ($follower) = grep { $_ != $leader } $run->instances;
          overview($follower, qr/Leader\s+\Q$leader->{name}\E/);
      },
      break => sub { $lease->kill_tree($leader) },
      banner(qr/The leader is silent\. \w+ has not been heard of for \d.* s; its lease ends at $CLOCK\./),
      then => sub {
          like($browser->text('#live'), qr/leader silent/, 'leader silent: it is not live');
          $browser->wait_text('main',
              qr/Leader\s+$follower->{name} since $CLOCK, .*It became the leader; the lease of $leader->{name} had ended \d+\.\d s before\.\s+Epoch \d+\..*Lease: /s);
          like($browser->text('[aria-label="Instances"], main'), qr/$leader->{name}\s+not heard of since $CLOCK/,
               'leader killed: it is no follower');
      },
      mend => sub { $leader->start; ($leader, $follower) = ($follower, $leader); no_trouble(); overview() } },

    { name => 'store hangs',
      break => sub { @frozen = $server->freeze },
      banner(qr/The store \(postgres\) (?:is down|fails) since $CLOCK \(\d.* ago\)\. .*no answer .*New intents get 503, and nothing is sent/s),
      mend => sub { kill 'CONT', @frozen; no_trouble(); overview() } },

    { name => 'store stopped',
      break => sub { $server->kill },
      down(qr/(?:\w+ led until $CLOCK\. )?/) },

    { name => 'store stopped: a page that is opened',
      break => sub { overview($follower, qr/Overview/) },
      down(qr/\w+ led until $CLOCK\. /),
      before => sub { $browser->wait_text('#banners', qr/\w+ led until $CLOCK\. /) },
      then => sub {
          like($browser->text('main'), qr/Nobody is known to lead\s+\w+ led last, until $CLOCK/, 'who led');
          like($browser->text('main'), qr/targets? needs? attention|No target was ill at $CLOCK; nobody has reported since\./, 'and what was known');

          # what is said to work does, and what is said not to says why

          $browser->expect(qr/503 \(Service/);
          visit($browser, $follower, "#/$_->[0]", $_->[1])
              for [targets => qr/sms\.dead/], [events => qr/store down/], [config => qr/sms\.dead/],
                  [intents => qr/The store did not answer, and nothing was changed/];
          pass('what works without the store');
      } },

    { name => 'store stopped: of the one that led',
      break => sub { overview($leader, qr/Overview/) },
      down(qr/\w+ led until $CLOCK\. /) },

    { name => 'store stopped: an instance that is started',
      before => sub {
          $lease->kill_tree($follower);
          $follower->spawn;
          wait_for('it answers', sub { (fetch($follower, 'GET', '/healthz')->{status} // 0) == 200 });
      },
      break => sub { overview($follower, qr/Overview/) },
      down(qr//),
      then => sub {
          like($browser->text('main'), qr/How the targets are is not known.*Who else is there is not known/s, 'nothing is made up');
      },
      mend => sub {
          $server->recover;
          $store->reconnect;
          no_trouble();
          overview();
          $browser->wait_text('#live', qr/^live/);
      } },
);


# all is well

posted($_, 3) for grep { $_ ne 'sms.telling' } sort keys %targets;
posted('sms.hung', 30);
posted('http.locked', 30);
$run->wait_terminal('', 60);
overview($follower, qr/All \d+ targets are healthy|The leader has not told yet how one of them is/);

for my $row (@table) {
    # no more at a time than are told in full: what was mended is well after half a minute

    $browser->wait_until('others are well again', sub { $browser->has('.ill li') < FULL }, 120)
        if $row->{at} =~ /ill/;

    $row->{before}->() if $row->{before};

    my $broke = time;

    $row->{break}->();
    shows($browser, $row->{name}, $row->{at}, $row->{says}, $broke);
    fit($browser, $row->{name});
    $row->{then}->($row->{name}) if $row->{then};
    $row->{mend}->() if $row->{mend};
}

finish($run, $browser);

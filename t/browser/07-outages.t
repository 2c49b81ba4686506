# What the first screen says when something really breaks (G22): a gateway dies,
# gets slow, its name is gone, its certificate has expired; the disk is full, the
# leader is killed.  Within ten seconds the overview of another instance says what
# is wrong, since when, and why.  SUBMISSION_PICTURES names a directory for
# pictures of it.
#
# Goes red when: an outage is not on the overview, or later than that; the
# sentence does not say since when, or why; a disk that has room again is still
# called full.

use strict;
use warnings;
use utf8;

use FindBin;
use lib "$FindBin::Bin/../lib", $FindBin::Bin;

use SubmissionNeeds qw(no_store browser openssl);

use IO::Socket::INET;
use Test::More;

use SubmissionCluster;
use SubmissionConsole;

my $CLOCK = qr/\d\d:\d\d:\d\d/;

binmode $_, ':utf8' for map { Test::More->builder->$_ } qw(output failure_output);


# A server of names, which knows one: 127.0.0.1.  Once it is stopped, nobody
# answers there.

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
           . "$sign -days 90 -out '$dir/tls.pem' && "
           . "$sign -days -1 -out '$dir/expired.pem' && "
           . "cat '$dir/tls.pem' '$dir/expired.pem' > '$dir/trusted.pem' && "
           . "chmod 0644 '$dir/tls.key') >> '$dir/openssl.log' 2>&1") == 0
        or die 'openssl';
}


my $tls_port = SubmissionCluster::free_port();
my %retry = (policy => 'deadline 1h', retry => '500ms');
my %targets = (
    'sms.dead' => { %retry },
    'sms.slow' => { %retry, path => '/slow' },
    'http.name' => { %retry, type => 'http' },
    'http.certificate' => { %retry, type => 'http', url => "https://127.0.0.1:$tls_port/" },
);
my ($dead, $no_disk);

my ($run, $leader, $follower) = pair(
    targets => \%targets, lease => '10s', acquire => '5s', elsewhere => qr/^dead-/,
    before => sub {
        my ($run) = @_;

        my $dir = $run->cluster->{dir};

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

        $no_disk = $run->cluster->mount_tmpfs("$dir/store", '64m');
    });

my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);
my $dir = $run->cluster->{dir};

$_->expect_log(qr/SSL certificate|database or disk is full|No space left/) for $run->instances;

my $browser = browser($run);


# what is wrong with a target, on a page that was open before

sub ill {
    my ($name, $target, $like) = @_;

    my $text = shows($browser, $name, qq(.ill li[data-key="$target"]), $like);

    like($text, qr/^\Q$target\E\s+(?:down|degraded)\s+since $CLOCK, (?:\d|just now)/,
         "$name: since when");
    fit($browser, $name);
}


# all is well

$run->post(map { my $target = $_; map { [($target =~ /(\w+)$/)[0] . "-$_", $target] } 1 .. 3 }
           sort keys %targets);
$run->post(map { ["slow-q$_", 'sms.slow'] } 1 .. 40);
$run->wait_terminal('', 60);

visit($browser, $follower, '#/overview', qr/All \d+ targets are healthy/);


# a gateway dies

$dead->stop;
$run->post(map { ["dead-d$_", 'sms.dead'] } 1 .. 5);
ill('gateway dead', 'sms.dead',
    qr/down\s.*The last \d+ attempts got no usable answer\.\s+Last error .*: connection refused by 127\.0\.0\.1:$dead->{port}/s);


# one gets slow

$gateway->behave('/slow' => 'delay 900');
$run->post(map { ["slow-s$_", 'sms.slow'] } 1 .. 10);
ill('gateway slow', 'sms.slow', qr/degraded\s.*Answers are slow: one in a hundred takes more than 0\.\d+ s; the usual time is 0\.\d+ s, the time-out 60 s\./s);
like($browser->text('.ill'), qr/^2 targets need attention\s+sms\.dead\s+down\s/, 'the worst is the first');


# the name of one is gone

kill 'KILL', $names;
waitpid $names, 0;
undef $names;
close $socket;

$run->post(map { ["name-n$_", 'http.name'] } 1 .. 5);
ill('name gone', 'http.name', qr/down\s.*The last \d+ attempts could not be sent\.\s+Last error .*: not sent: the name "gateway\.test" was not resolved/s);


# the certificate of one has expired

rename "$dir/expired.pem", "$dir/tls.pem" or die "rename: $!";
$run->post(map { ["certificate-c$_", 'http.certificate'] } 1 .. 5);
ill('certificate expired', 'http.certificate',
    qr/down\s.*The last \d+ attempts could not be sent\.\s+Last error .*: TLS: certificate of "gateway\.test" has expired/s);
wait_for('until when the one before was valid is not told any more', sub {
    fetch($follower, 'GET', '/v1/targets/http.certificate')->{body} !~ /certificateExpiresAt/;
});


# what is slow has answered meanwhile, as slowly

$run->wait_terminal('slow-s', 30);
ill('gateway slow still', 'sms.slow', qr/degraded\s.*Answers are slow: /s);


# there is no room on the disk

SKIP: {
    skip("no small disk: $no_disk", 1) if $no_disk;

    $store->fill;
    shows($browser, 'disk full', '#banners',
          qr/The store \(sqlite\) fails since $CLOCK \(\d.* ago\)\. .*full.*does not keep what is written: new intents get 503/s);
    fit($browser, 'disk full');
    $store->make_room;
    $browser->wait_not('#banners', qr/store/, 10);
}


# the leader is killed

$leader = $lease->wait_leader;
($follower) = grep { $_ != $leader } $run->instances;
visit($browser, $follower, '#/overview', qr/Leader\s+\Q$leader->{name}\E/);
$lease->kill_tree($leader);
shows($browser, 'leader silent', '#banners',
      qr/The leader is silent\. $leader->{name} has not been heard of for \d.* s; its lease ends at $CLOCK\./);
like($browser->text('#live'), qr/leader silent/, 'leader silent: it is not live');
shows($browser, 'leader killed', 'main',
      qr/Leader\s+$follower->{name} since $CLOCK, .*It became the leader; the lease of $leader->{name} had ended \d+\.\d s before\.\s+Epoch \d+\..*Lease: /s);
like($browser->text('[aria-label="Instances"], main'), qr/$leader->{name}\s+not heard of since $CLOCK/,
     'leader killed: it is no follower');
$browser->wait_not('#banners', qr/silent/, 10);
fit($browser, 'leader killed');

finish($run, $browser);

# What does not leave this host is no attempt (G20), whatever the reason: it is
# given back, counted as unsent, and tried again less and less often; one_shot
# and max_attempts are not used up.  The target alone waits, and shows why; the
# others do not notice, and the lease stays where it is.
#
# Goes red when: "no live upstreams", an error of this host in connect(), a
# certificate that is refused here, or a URL that cannot be proxied counts as an
# attempt; or is taken for a lack of connections, for which all wait and the
# lease is handed over; the error does not say why, or says a secret; a request
# that nginx itself has answered hangs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use JSON::PP ();
use Time::HiRes qw(time);

use SubmissionNeeds 'openssl';
use SubmissionCluster;

use constant LATER => 20;

my ($old_port, $new_port) = map { SubmissionCluster::free_port() } 1 .. 2;

my %why = (
    'http.unmapped' => [qr/cannot proxy it: invalid URL prefix$/],
    'http.userinfo' => [qr/^not sent: the dispatch location cannot proxy it: invalid port$/],
    'http.network' => [qr/^not sent: connect\(\) to 224\.0\.0\.1:80: /],
    'http.name' => [qr/^not sent: there is no "resolver" for the name "nowhere\.test"$/],
    'http.expired' => [qr/^TLS: certificate of "gateway\.test" has expired$/],
    'http.other_name' => [qr/^TLS: certificate of 127\.0\.0\.1:$new_port is not that of "other\.test"$/],
);

my %targets = map { ($_ => { type => 'http', policy => 'one_shot',
                             url => 'http://gateway/' }) } keys %why;

$targets{'http.two'} = { type => 'http', policy => 'one_shot', retry => '1s',
                         url => 'http://two/' };
$targets{'http.once'} = { type => 'http', policy => 'max_attempts 1',
                          retry => '1s', url => 'http://two/' };

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '2s', targets => \%targets,
    instance => { workers => 1 });
my ($gateway, $store, $lease) = ($run->gateway, $run->store, $run->leadership);
my $dir = $run->cluster->{dir};

# a certificate that has expired, and is trusted otherwise

open(my $names, '>', "$dir/names") or die "names: $!";
print $names "subjectAltName=DNS:gateway.test\n";
close $names;

system("(openssl req -newkey rsa:2048 -nodes -subj /CN=gateway.test "
       . "-keyout '$dir/old.key' -out '$dir/old.csr' && "
       . "openssl x509 -req -in '$dir/old.csr' -signkey '$dir/old.key' -days -1 "
       . "-extfile '$dir/names' -out '$dir/old.pem' && "
       . "openssl x509 -req -in '$dir/old.csr' -signkey '$dir/old.key' -days 2 "
       . "-extfile '$dir/names' -out '$dir/new.pem') "
       . ">> '$dir/openssl.log' 2>&1") == 0 or die 'openssl';

my @two = map { mkdir "$dir/$_"; SubmissionCluster::Gateway->new("$dir/$_") }
          qw(first second);
my ($first, $second) = map { $_->{port} } @two;

$_->stop for @two;

my @instances = $run->instances;

$instances[0]{http} .= <<"END";
    server { listen 127.0.0.1:$old_port ssl; ssl_certificate $dir/old.pem;
             ssl_certificate_key $dir/old.key; return 200; }
    server { listen 127.0.0.1:$new_port ssl; ssl_certificate $dir/new.pem;
             ssl_certificate_key $dir/old.key; return 200; }
END

for my $instance (@instances) {
    $instance->{dispatch} .= ' if ($odd) { rewrite ^ /_odd last; }';
    $instance->{server} .= <<"END";
        location = /_odd {
            internal;
            proxy_pass \$gw;
            proxy_ssl_verify on; proxy_ssl_name \$tls;
            proxy_ssl_trusted_certificate $dir/trusted.pem;
        }
END
    $instance->{http} .= <<"END";
    map \$submission_target \$odd { default 1; http.two ""; http.once "";
                                    sms.realtime ""; }
    map \$submission_target \$gw {
        default         "";
        http.userinfo   "http://user:s3cret\@:x/?key=s3cret";
        http.network    http://224.0.0.1/;
        http.name       http://nowhere.test/;
        http.expired    https://127.0.0.1:$old_port/;
        http.other_name https://127.0.0.1:$new_port/;
    }
    map \$submission_target \$tls { default gateway.test;
                                    http.other_name other.test; }
    upstream two { server 127.0.0.1:$first fail_timeout=3s;
                   server 127.0.0.1:$second fail_timeout=3s; }
END
}

system("cat '$dir/old.pem' '$dir/new.pem' > '$dir/trusted.pem'") == 0 or die 'cat';

$run->start(record => 0);

my $leader = $lease->wait_leader;
my $epoch = $lease->row->{epoch};


# what each is counted as; the rest is what the dispatch location does

my %reason = ('http.network' => 'route', 'http.name' => 'name',
              'http.expired' => 'tls', 'http.other_name' => 'tls',
              'http.two' => 'upstream', 'http.once' => 'upstream');

sub metric {
    my ($target) = @_;
    my $reason = $reason{$target} // 'location';

    return $leader->metric(
        qq(attempts_unsent_total{target="$target",reason="$reason"}));
}


# several of each, for longer than a lease

for my $target (sort keys %why) {
    my $id = $target =~ tr/./-/r;

    $run->post(map { ["$id-$_", $target] } 1 .. 3);
}

my $began = time;
my $posted = 0;

for my $target (sort keys %why) {
    my $id = $target =~ tr/./-/r;

    wait_for("$target: it is tried again and again", sub {
        $run->post(['other-' . $posted++, 'sms.realtime']) if $posted < 200;
        metric($target) >= 6;
    }, 60);

    my $intent = $run->history("$id-1")->{intent};

    is($intent->{status}, 'pending', "$target: it waits");
    is($intent->{attemptCount}, 0, "$target: it is no attempt");
    like($store->unescaped($intent->{lastError}), $why{$target}[0],
         "$target: and why");
}

wait_for('it was longer than a lease', sub { time - $began > 5 }, 30);
$run->wait_terminal('other-');

is($lease->row->{epoch}, $epoch, 'the lease stays where it is');
is(scalar(grep { $_->log_count(qr/worker_connections|starved|gives_way/) }
          @instances), 0, 'no lack of connections is told of');
is(scalar(grep { $_->log_count(qr/submission: .*s3cret/) } @instances), 0,
   'no secret is in a line of the module');

for my $target (sort keys %why) {
    is(scalar(my @lines = $leader->log_lines(qr/target_degraded .*target=\Q$target\E /)),
       1, "$target: one line when it falls ill");

    wait_for("$target: it is shown", sub {
        my $shown = JSON::PP::decode_json(
            fetch($leader, 'GET', "/v1/targets/$target")->{body});
        ($shown->{lastError}{reason} // '') eq 'unsent'
            && $shown->{lastError}{detail} =~ $why{$target}[0]
            && $shown->{health}{state} ne 'ok'
            && $shown->{health}{why} =~ /could not be sent/;
    }, 30);
}


# both servers of an upstream are down; they are tried once, and come back

$run->post(['down-1', 'http.two']);
$run->wait_terminal('down-');
is($run->outcomes('down-1'), 'error', 'two: refused by both, which is an attempt');
like($run->history('down-1')->{attempts}[0]{error},
     qr/^connection refused by 127\.0\.0\.1:(?:$first|$second)$/, 'two: and why');

my @later = map { ("later-$_") } 1 .. LATER;

$run->post(map { [$later[$_], $_ % 2 ? 'http.two' : 'http.once'] } 0 .. $#later);

wait_for('two: no server is tried', sub {
    metric('http.two') > 0 && metric('http.once') > 0;
});

like($store->unescaped($run->history('later-2')->{intent}{lastError}),
     qr/^not sent: no server of upstream "two" is available$/, 'two: and why');

$_->start for @two;

$run->wait_terminal('later-', 90);
is_deeply($run->statuses('later-'), { accepted => LATER },
          'two: when they are back, all is sent, as the first attempt');

$_->expect_log(qr/no resolver defined|connect\(\) to 224|SSL certificate/)
    for @instances;
$run->cluster->done;

# What a gateway is sent, byte for byte, and what becomes of its answer on the
# way through a dispatch location, whatever the operator has put into it: each
# variant is a manager of its own in one nginx.
#
# Goes red when: a header or the body differs, a URL is put together wrongly; an
# answer that nginx has made, or made good, is taken for the gateway's; filters
# of the location get at the answer; a gateway can make nginx send more than an
# attempt; an answer is forgotten because something else of the request lasts
# too long; a connection is still counted when it is gone; a name without an
# address is taken for an attempt; a header has what is not visible ASCII, or
# different ids have the same key.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use IO::Socket::INET;
use JSON::PP ();
use Socket;

use SubmissionNeeds 'openssl';
use SubmissionCluster;

my $cluster = SubmissionCluster->new;
my ($store, $gateway) = ($cluster->store, $cluster->gateway);
my $dir = $cluster->{dir};

# which filters there are

my $nginx = $ENV{VALGRIND_NGINX} // $ENV{SUBMISSION_NGINX} // '/usr/sbin/nginx';
my $built = `$nginx -V 2>&1`;


# processes that end with the test: a gateway that keeps requests as they are,
# one that answers with X-Accel-Redirect, a name server

sub server {
    my ($socket, $serve) = @_;

    my $parent = $$;
    my $pid = fork // die "fork(): $!";

    return $pid if $pid;

    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);

    while () {
        my $bits = '';

        vec($bits, fileno $socket, 1) = 1;
        POSIX::_exit(0) if getppid != $parent;
        $serve->($socket) if select($bits, undef, undef, 1) > 0;
    }
}


sub listener {
    return IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 128,
                                 ReuseAddr => 1,
                                 LocalPort => SubmissionCluster::free_port())
        // die "listen: $!";
}


sub request_of {
    my ($listener) = @_;

    my $socket = $listener->accept or return;
    my $in = '';

    while (sysread($socket, $in, 65536, length $in)) {
        my ($head) = $in =~ /^(.*?\r\n\r\n)/s or next;
        my ($length) = $head =~ /\r\nContent-Length: (\d+)/i;

        last if length $in >= length($head) + ($length // 0);
    }

    return ($socket, $in);
}


my ($raw, $accel) = (listener(), listener());
my ($raw_port, $accel_port) = map { $_->sockport } $raw, $accel;
my $captured = "$dir/captured";

my @servers = server($raw, sub {
    my ($socket, $request) = request_of(@_);

    open(my $file, '>>', $captured) or die "$captured: $!";
    syswrite($file, pack('N/a*', $request // ''));
    close $file;

    syswrite($socket, "HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n"
                      . '{"status":"accepted"}');
});

push @servers, server($accel, sub {
    my ($socket) = request_of(@_);

    open(my $file, '>>', "$dir/accel") or die "accel: $!";
    syswrite($file, '.');
    close $file;

    syswrite($socket, "HTTP/1.1 200 OK\r\nX-Accel-Redirect: /_accel\r\n"
                      . "Content-Length: 0\r\n\r\n");
});

my $dns = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Proto => 'udp',
                                LocalPort => SubmissionCluster::free_port())
    // die "udp: $!";
my $dns_port = $dns->sockport;

push @servers, server($dns, sub {
    my ($socket) = @_;

    my $from = recv($socket, my $query, 512, 0) // return;
    my ($id, $rest) = unpack('n x2 x8 a*', $query);
    my ($name, $type) = $rest =~ /^(.*?\0)(..)../s or return;
    my $known = $name !~ /nowhere/ && unpack('n', $type) == 1;

    send($socket, pack('nnnnnn', $id, $name =~ /nowhere/ ? 0x8183 : 0x8180, 1,
                       $known ? 1 : 0, 0, 0)
                  . $name . $type . pack('n', 1)
                  . ($known ? pack('nnnNna4', 0xc00c, 1, 1, 60, 4,
                                   inet_aton('127.0.0.1')) : ''),
         0, $from);
});

END { kill('KILL', $_) for @servers }


# certificates: one of an authority that is trusted, one of nobody

sub openssl { system("openssl @_ >> '$dir/openssl.log' 2>&1") == 0 or die 'openssl' }

openssl("req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=$_->[1] "
        . "-addext subjectAltName=DNS:$_->[1] "
        . "-keyout '$dir/$_->[0].key' -out '$dir/$_->[0].pem'")
    for ['good', 'gateway.test'], ['bad', 'gateway.test'];

my ($good_port, $bad_port, $elsewhere, $closed)
    = map { SubmissionCluster::free_port() } 1 .. 4;

my $to = "http://127.0.0.1:$gateway->{port}";
my $pass = 'proxy_pass $submission_gateway_url;';
my $tls = "$pass proxy_ssl_verify on; proxy_ssl_trusted_certificate "
          . "$dir/good.pem; proxy_ssl_name gateway.test; "
          . 'proxy_ssl_server_name on;';
my $accepted = [accepted => qr/^$/];

# name => dispatch lines, and: type, url, gateway (what it does), status and
# error of the first attempt, location (another one), executor; or unsent, which
# is no attempt, and why

my %variants = (
    plain => [$pass],
    keepalive => ["$pass proxy_http_version 1.1; "
                  . 'proxy_set_header Connection "";', url => 'http://pool'],
    socket => [$pass, url => 'http://socket'],
    resolver => ["$pass resolver 127.0.0.1:$dns_port ipv6=off;",
                 url => "http://gateway.test:$gateway->{port}"],
    no_such_host => ["$pass resolver 127.0.0.1:$dns_port ipv6=off;",
                     url => "http://nowhere.test:$gateway->{port}",
                     unsent => qr/"nowhere.test\\?" was not resolved: Host not found/],
    tls => [$tls, url => "https://127.0.0.1:$good_port"],
    tls_untrusted => [$tls, url => "https://127.0.0.1:$bad_port",
                      unsent => qr/TLS: certificate of \\?"gateway.test\\?": self.signed certificate"/],
    unbuffered => ["$pass proxy_buffering off;"],
    unbuffered_request => ["$pass proxy_request_buffering off;"],
    in_file => ["$pass client_body_in_file_only on; "
                . 'client_body_buffer_size 16;'],
    lingering => ["$pass lingering_close always;"],
    large_answer => [$pass, type => 'http', gateway => 'huge'],
    large_json => [$pass, gateway => 'huge',
                   is => [unknown => qr/larger than 65,536 bytes/]],
    small_bodies => ["$pass client_max_body_size 1;"],
    filters => ["$pass gzip on; gzip_min_length 1; gzip_types *; "
                . ($built =~ /http_sub_module/
                   ? 'sub_filter_types *; sub_filter accepted rejected; ' : '')
                . ($built =~ /http_addition_module/
                   ? 'add_after_body /healthz; addition_types *;' : '')],
    limited => ["$pass limit_req zone=slow burst=10;"],
    refused => ["$pass limit_req zone=never;", twice => 1,
                unsent => qr/location answered HTTP 503 itself"/],
    auth => ["$pass auth_request /_allow;"],
    auth_denied => ["$pass auth_request /_deny;",
                    unsent => qr/location answered HTTP 403 itself"/],
    returned => ["$pass " . 'return 200 "{\"status\":\"accepted\"}";',
                 unsent => qr/location answered HTTP 200 itself"/],
    mirrored => ["$pass mirror /_mirror;", executor => 'timeout=1s',
                 hung => 1],
    backup => ["$pass error_page 502 = \@backup;",
               url => "http://127.0.0.1:$closed"],
    intercepted => ["$pass proxy_intercept_errors on; "
                    . 'error_page 500 =200 /healthz;', type => 'http',
                    gateway => 'answer 500', is => [error => qr/^HTTP 500$/]],
    intercepted_4xx => ["$pass proxy_intercept_errors on; "
                        . 'error_page 404 =200 /healthz;', type => 'http',
                        gateway => 'answer 404', is => [rejected => qr/^$/]],
    error_page => ["$pass error_page 500 =200 /healthz;", type => 'http',
                   gateway => 'answer 500', is => [error => qr/^HTTP 500$/]],
    cached => ["$pass proxy_cache cache; proxy_cache_methods POST; "
               . 'proxy_cache_key always; proxy_cache_valid 200 1h;',
               type => 'http', twice => 1],
    stale => ["$pass proxy_cache cache; proxy_cache_methods POST; "
              . 'proxy_cache_key stale; proxy_cache_valid 200 1s; '
              . 'proxy_cache_use_stale http_500;', type => 'http', twice => 1,
              gateway => 'answer 500', is => [error => qr/^HTTP 500$/]],
    accel => [$pass, url => "http://127.0.0.1:$accel_port",
              is => [error => qr/^HTTP 200 with an empty answer$/]],
    rewritten => [$pass, location => '/_elsewhere'],
    raw => ["$pass access_log logs/attempts.log attempts;",
            url => "http://127.0.0.1:$raw_port", type => 'http'],
);

# of "raw": the paths of URLs

my %urls = (
    'sms.none' => ['sms', '', '/sms/send'],
    'sms.slash' => ['sms', '/', '/sms/send'],
    'sms.path' => ['sms', '/base', '/base/sms/send'],
    'sms.path_slash' => ['sms', '/base/', '/base/sms/send'],
    'push.path' => ['push', '/base', '/base/push/send'],
    'http.none' => ['http', '', '/'],
    'http.slash' => ['http', '/', '/'],
    'http.path' => ['http', '/hook/a%20b;c=1', '/hook/a%20b;c=1'],
    'http.path_slash' => ['http', '/hook/', '/hook/'],
);

my ($managers, $locations) = ('', '');
my $unsent = join ', ', map { "'$_'" } grep {
    my ($lines, %o) = @{$variants{$_}};
    $o{unsent};
} sort keys %variants;

for my $name (sort keys %variants) {
    my ($lines, %o) = @{$variants{$name}};

    my $type = $o{type} // 'sms';
    my $location = $o{location} // "/_$name";
    my $targets = "target t { gateway_type $type; gateway_url "
                  . ($o{url} // $to) . "; policy max_attempts 2; "
                  . "retry_delay 200ms; }\n";

    if ($name eq 'raw') {
        $targets .= "target $_ { gateway_type $urls{$_}[0]; gateway_url "
                    . "'http://127.0.0.1:$raw_port$urls{$_}[1]'; "
                    . "policy one_shot; }\n" for sort keys %urls;
    }

    $managers .= "submission_manager $name { zone 128k; thread_pool submission; "
                 . 'store ' . $store->directive . "; lease_name $name; holder_id a; "
                 . "executor batch=16 " . ($o{executor} // '') . ";\n"
                 . "acquire_interval 500ms; $targets }\n";

    $locations .= "location /$name/ { submission_api $name; client_max_body_size "
                  . "1m; }\n";
    $locations .= "location = $location { internal; submission_dispatch $name; "
                  . "$lines }\n" if $name ne 'rewritten';
}

my $http = <<"END";
    log_format attempts escape=json '{"id":"\$submission_intent_id",'
        '"target":"\$submission_target","attempt":"\$submission_attempt",'
        '"url":"\$submission_gateway_url","status":"\$status",'
        '"upstream":"\$upstream_status","address":"\$remote_addr",'
        '"request":"\$request","length":"\$content_length"}';
    limit_req_zone \$binary_remote_addr zone=slow:64k rate=5r/s;
    limit_req_zone \$binary_remote_addr zone=never:64k rate=1r/m;
    proxy_cache_path tmp/cache keys_zone=cache:64k;
    upstream pool { server 127.0.0.1:$gateway->{port}; keepalive 4; }
    upstream socket { server unix:$dir/gateway.sock; }

    $managers

    server {
        listen 127.0.0.1:$good_port ssl;
        listen unix:$dir/gateway.sock;
        ssl_certificate     $dir/good.pem;
        ssl_certificate_key $dir/good.key;
        location / { proxy_pass $to; }
    }

    server {
        listen 127.0.0.1:$bad_port ssl;
        ssl_certificate     $dir/bad.pem;
        ssl_certificate_key $dir/bad.key;
        location / { proxy_pass $to; }
    }

    # where a rewrite comes first

    server {
        listen 127.0.0.1:$elsewhere;
        rewrite ^/_elsewhere\$ /_there last;
        location = /_elsewhere { internal; submission_dispatch rewritten;
                                 $pass return 500; }
        location = /_there     { internal; $pass }
    }
END

my $a = $cluster->instance('a', workers => 1, connections => 1024,
    http => $http, server => <<"END");
        $locations
        location = /_allow  { internal; return 204; }
        location = /_deny   { internal; return 403; }
        location = /_mirror { internal; proxy_pass $to/mirror/; }
        location \@backup    { proxy_pass $to; }
END

$gateway->behave('/mirror' => 'hold');
$cluster->start;


sub post {
    my ($name, $id, $target, $payload) = @_;

    my $body = '{"intentId":' . JSON::PP->new->allow_nonref->utf8->encode($id)
               . qq(,"submissionTarget":"$target")
               . (defined $payload ? qq(,"payload":$payload) : '') . '}';

    my $result = fetch($a, 'POST', "/$name/intents", $body);

    is($result->{status}, 200, "$name: an intent is taken")
        or diag($result->{body});
}


# the first attempt of an intent, when it is recorded

sub attempt {
    my ($name, $id) = @_;

    return wait_for("$name: an attempt of $id", sub {
        my ($row) = $store->query(
            'SELECT outcome_status, error, outcome_reason '
            . "FROM submission_attempts WHERE lease_name = '$name' "
            . "AND intent_id = '$id' AND attempt_number = 1");
        $row;
    });
}


# of "twice" the first one is as it should be, and the second one counts

for my $name (grep { $_ ne 'raw' } sort keys %variants) {
    my ($lines, %o) = @{$variants{$name}};

    next if !$o{twice};

    post($name, "$name-first", 't', '{"n":1}');
    is(attempt($name, "$name-first")->[0], 'accepted', "$name: at first");
}

# what is cached for a second is stale, by a clock that knows only seconds

my $since = time;

wait_for('the answer is stale', sub { time - $since > 2 });

for my $name (grep { $_ ne 'raw' } sort keys %variants) {
    my ($lines, %o) = @{$variants{$name}};

    post($name, $name, 't', '{"gateway":"' . ($o{gateway} // 'accept') . '"}');
}

for my $name (grep { $_ ne 'raw' } sort keys %variants) {
    my ($lines, %o) = @{$variants{$name}};
    my ($status, $error) = @{$o{is} // $accepted};

    if ($o{unsent}) {

        # more often than it has attempts

        wait_for("$name: it is tried again", sub {
            $a->log_count(qr/attempt_unsent manager=$name .*outcome=none/) > 2;
        });
        is($store->value('SELECT count(*) FROM submission_attempts '
                         . "WHERE lease_name = '$name' "
                         . "AND intent_id = '$name'"), 0,
           "$name: it is no attempt");
        is($a->log_count(qr/target_degraded manager=$name .* error=".*$o{unsent}/),
           1, "$name: the log says so once");
        next;
    }

    my $row = attempt($name, $name);

    is($row->[0], $status, "$name: the outcome");
    like($row->[1], $error, "$name: the error");
}

wait_for('all have ended', sub {
    !$store->value('SELECT count(*) FROM submission_intents '
                   . "WHERE status = 'pending' AND lease_name NOT IN ($unsent)");
});

my $sends = () = $gateway->sends_of('filters');

is($sends, 1, 'filters: sent once');
is(-s "$dir/accel", 2, 'accel: the gateway has no say in how often it is sent');
is(scalar(my @m = grep { $_->{path} =~ m{^/mirror} } $gateway->sends), 1,
   'mirrored: once');
is(scalar($gateway->sends_of('mirrored')), 2,
   'mirrored: and the attempt itself once');


# byte for byte

my $host = "127.0.0.1:$raw_port";
my %cases = map { ("url $_" => [$_, "id of $_", '{"a": 1.50}']) } keys %urls;
my $long = '{"text":"' . join('', map { chr(32 + $_ % 2) x 63 . "\xc3\xa9\\n" }
                                  1 .. 1500) . '"}';

$long =~ tr/!/x/;

%cases = (%cases,
    quotes => ['t', 'say "hi" \\ \'x\' <&>', '{ "x" : [1,2 , 3] }'],
    utf8 => ['t', "caf\x{e9} \x{1f600}", "\"caf\xc3\xa9\""],
    percent => ['t', 'a%20b%2Fc%%;?#', 'null'],
    long => ['t', 'long', $long],
    absent => ['t', 'absent', undef],
    id_200 => ['t', "\x{e9}" x 200, '0'],
);

delete $cases{quotes} if !$store->escapes;

my ($end, %seen) = (0);

for my $case (sort keys %cases) {
    my ($target, $id, $payload) = @{$cases{$case}};

    post('raw', $id, $target, $payload);

    my $request = wait_for("$case is sent", sub {
        open(my $file, '<', $captured) or return;
        seek($file, $end, 0);
        local $/;
        my $bytes = <$file> // '';
        return if length $bytes < 4 || length $bytes < 4 + unpack('N', $bytes);
        $end += 4 + unpack('N', $bytes);
        unpack('N/a*', $bytes);
    });

    my ($path) = $target eq 't' ? '/' : $urls{$target}[2];

    utf8::encode(my $bytes = $id);

    # what is not visible ASCII is not for a header

    my $key = $bytes =~ s/([^!-\$&-~])/sprintf '%%%02X', ord $1/ger;

    my @head = sort("Host: $host", 'Connection: close',
                    'Content-Type: application/json',
                    'Content-Length: ' . length($payload // ''),
                    "Idempotency-Key: $key", 'X-Submission-Attempt: 1',
                    'X-Submission-Epoch: 1');
    my ($first, $head, $body) = $request =~ /^(.*?)\r\n(.*?)\r\n\r\n(.*)$/s;

    is($first, "POST $path HTTP/1.0", "raw, $case: the request line");
    is_deeply([sort split /\r\n/, $head], \@head, "raw, $case: the headers");
    ok($body eq ($payload // ''), "raw, $case: the payload");

    $seen{$bytes} = [$target, length($payload // ''), $path];
}

wait_for('all of them have ended', sub {
    !$store->value('SELECT count(*) FROM submission_intents '
                   . "WHERE status = 'pending' AND lease_name NOT IN ($unsent)");
});

# the access log has the last of them when the request has ended

my @lines;

wait_for('each has its line', sub {
    open(my $file, '<', "$a->{dir}/logs/attempts.log") or die "attempts.log: $!";
    @lines = map { JSON::PP->new->decode($_) } <$file>;
    @lines >= keys %cases;
});

is(scalar @lines, keys %cases, 'access_log: a line for each');

my @wrong = grep {
    my $is = $seen{$_->{id}};
    !$is || $_->{target} ne $is->[0] || $_->{attempt} ne '1'
    || $_->{length} ne $is->[1] || $_->{status} ne '200'
    || $_->{upstream} ne '200' || $_->{address} ne '127.0.0.1'
    || $_->{url} ne "http://$host$is->[2]"
    || $_->{request} ne "POST $is->[2] HTTP/1.1";
} @lines;

is_deeply(\@wrong, [], 'access_log: with the variables of its attempt');


# a request that asks itself, and what is counted

$gateway->release;

wait_for('no connection is counted that is not there', sub {
    my $status = fetch($a, 'GET', '/status')->{body};
    my ($active, $reading, $writing, $waiting)
        = (split ' ', $status =~ tr/0-9/ /cr)[0, 4 .. 6];

    $active == 1 && $reading == 0 && $writing == 1 && $waiting == 0;
});
pass('stub_status: counts are right in the end');

$a->expect_log(qr/no resolver defined|could not be resolved/);
$cluster->done;

# Configurations that nginx takes with a warning, because they work and are most
# likely not what was meant; and those beside them that are right, to which it
# must not say a word.
#
# Without the warnings, a person learns of a missing "store" from a second host
# that knows no intents, of a certificate that nobody verifies from nothing at
# all, and of a console that everybody may use from somebody who did.  A warning
# for what is right would be read as little as one that is not there.
#
# Breaks when one of the warnings is not given, names another line, or is given
# for what may well be right.

use strict;
use warnings;

use lib 't/lib';
use Test::More;

use SubmissionNeeds 'no_store';
use SubmissionRefused;

put('conf/users', "ann:{PLAIN}a\n");
put('conf/ca.pem', certificate());


# the store

warned(manager => <<'EOT', no_store => 1);
submission_manager "main" in {begin} has no "store", so intents are kept in the
file "{root}/data/submission.db" of this host: "store sqlite" with a file, "store
postgres" or "store odbc" was expected
    zone 1m;
EOT

silent(manager => <<'EOT');
a store
    store sqlite data/submission.db;
    store sqlite data/other.db busy_timeout=1s;
EOT


# the location of attempts

my @https = (http => <<'EOC');
submission_manager main {
store sqlite data/submission.db;
target a { gateway_type http; gateway_url http://127.0.0.1:1; policy one_shot; }
target pay { gateway_type http; gateway_url https://127.0.0.1:2; policy one_shot; }
}
EOC

warned('location = /_other' => <<'EOT');
location "/_other" with "submission_dispatch main" in {here} takes requests of
clients, too, and passes them to a gateway: "internal" was expected in it
    proxy_pass $submission_gateway_url;
        submission_dispatch main;

"proxy_pass" in location "/_other" with "submission_dispatch main" in {here}
sends the attempts of all targets to the same place, whatever their
"gateway_url" is: "proxy_pass $submission_gateway_url" was expected
    internal;                              # a server
        proxy_pass http://127.0.0.1:1;
        submission_dispatch main;
    internal;                              # a server and a path
        proxy_pass http://127.0.0.1:1/send;
        submission_dispatch main;
    internal;                              # a variable of something else
        set $gateway http://127.0.0.1:1;
        proxy_pass $gateway;
        submission_dispatch main;
EOT

warned('location = /_other' => <<'EOT', @https);
location "/_other" with "submission_dispatch main" in {here} does not verify
certificates, so anybody may answer for the https gateway of "pay":
"proxy_ssl_verify on" and "proxy_ssl_trusted_certificate" were expected in it
    internal;
        proxy_pass $submission_gateway_url;
        submission_dispatch main;
    internal;                              # off
        proxy_pass $submission_gateway_url;
        proxy_ssl_verify off;
        proxy_ssl_trusted_certificate ca.pem;
        submission_dispatch main;
EOT

my $secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n";

put('conf/secret', $secret, 0600);

warned('location = /_other' => <<'EOT', manager => <<'EOC');
location "/_other" with "submission_dispatch main" in {here} does not verify
certificates, so anybody may answer for the https gateway of "webhook shop":
"proxy_ssl_verify on" and "proxy_ssl_trusted_certificate" were expected in it
    internal;
        proxy_pass $submission_gateway_url;
        submission_dispatch main;
EOT
webhook shop { url https://127.0.0.1:2; secret_file secret; }
EOC

# whatever the URLs of the targets are

warned('location = /_other' => <<'EOT');
"proxy_pass" in location "/_other" with "submission_dispatch main" in {here}
sends the attempts of all targets to the same place, whatever their
"gateway_url" is: "proxy_pass $submission_gateway_url" was expected
{then} location "/_other" with "submission_dispatch main" in {here} does not
verify certificates, so anybody may answer for the https gateway of "127.0.0.1":
"proxy_ssl_verify on" and "proxy_ssl_trusted_certificate" were expected in it
    internal;
        proxy_pass https://127.0.0.1:2;
        submission_dispatch main;
EOT

silent('location = /_other' => <<'EOT', @https);
certificates are verified
    internal;
        submission_dispatch main;
        proxy_pass $submission_gateway_url;
        proxy_ssl_verify on;
        proxy_ssl_trusted_certificate ca.pem;
EOT

silent(server => <<'EOT', @https);
certificates are verified
    proxy_ssl_verify on;
        proxy_ssl_trusted_certificate ca.pem;
EOT

silent('location = /_other' => <<'EOT');
a way of one's own to the gateways
    internal;
        submission_dispatch main;
        proxy_pass $submission_gateway_url/v2;
    internal;
        submission_dispatch main;
        set $gateway http://127.0.0.1:1/$submission_target;
        proxy_pass $gateway;
    internal;
        submission_dispatch main;
        fastcgi_pass 127.0.0.1:1;
EOT

silent(server => <<'EOT');
another way beside a "proxy_pass" with variables
    location = /_other { internal; submission_dispatch main; fastcgi_pass 127.0.0.1:1; }
        location /elsewhere/ { proxy_pass http://127.0.0.1:1$request_uri; }
EOT


# wakes

my @woken = (server => 'location = /_wake { submission_wake main; }');

warned(manager => <<'EOT');
nothing answers other instances at the "wake_url" in {here}: a location with
"submission_wake main" was expected
    wake_url http://127.0.0.1:8080/_wake;
    wake_url http://192.0.2.1/;
EOT

warned(manager => <<'EOT', @woken);
the "wake_url" in {here} does not lead to a "submission_wake main": one was
expected in a location that takes "/wake", in a server that listens on port
{port}
    wake_url http://127.0.0.1:{port}/wake;
    wake_url http://192.0.2.1:{port}/wake?a=/_wake;
EOT

warned(manager => <<'EOT', @woken, http => 'server { listen 127.0.0.1:1; }');
the "wake_url" in {here} does not lead to a "submission_wake main": one was
expected in a location that takes "/_wake", in a server that listens on port 1
    wake_url http://127.0.0.1:1/_wake;
EOT

silent(manager => <<'EOT', @woken);
a wake finds its way, or one that is not seen from here
    wake_url http://127.0.0.1:{port}/_wake;
    wake_url http://192.0.2.1:{port}/_wake?from=a;
    wake_url http://[2001:db8::1]:{port}/_wake;
    wake_url http://192.0.2.1:31080/inner/_wake;
EOT

silent(server => <<'EOT', manager => 'wake_url http://192.0.2.1:' . port() . '/in/_wake;');
other locations that take the path
    location /in/ { submission_wake main; }
    location ~ wake$ { submission_wake main; }
EOT


# operators

my $port = port();
my @public = (listen => "0.0.0.0:$port");

warned('location /operate/v1/' => <<'EOT', @public);
location "/operate/v1/" lets everybody who reaches it cancel, replay and pause,
because nothing guards its "access=operate" in {here}: "auth_basic",
"auth_request", "allow" and "deny", or "ssl_verify_client on" was expected
    submission_api main access=operate;
    submission_console main access=operate;
    satisfy any;
        submission_api main access=operate;
    auth_basic off;
        submission_api main access=operate;
    auth_basic_user_file users;            # but nobody is asked
        submission_api main access=operate;
    auth_request off;
        submission_api main access=operate;
EOT

warned('location /operate/v1/' => <<'EOT', listen => "[::]:$port");
location "/operate/v1/" lets everybody who reaches it cancel, replay and pause,
because nothing guards its "access=operate" in {here}: "auth_basic",
"auth_request", "allow" and "deny", or "ssl_verify_client on" was expected
    submission_api main access=operate;
EOT

silent('location /operate/v1/' => <<'EOT', @public);
a guard, or what may be one
    submission_api main access=operate;
        auth_basic operators;
        auth_basic_user_file users;
    submission_api main access=operate;
        allow 192.0.2.0/24;
        deny all;
    submission_api main access=operate;
        allow 2001:db8::/32;
    submission_api main access=operate;
        allow unix:;
    submission_api main access=operate;
        allow all;
    submission_api main access=operate;
        auth_request /_may;
    submission_api main access=operate;
        if ($http_x_operator = "") { return 403; }
    submission_api main access=operate;
        limit_except GET { deny all; }
    submission_api main access=operate;
        internal;
    submission_api main;
    submission_api main access=read;
EOT

silent(server => <<'EOT', @public);
a guard of the whole server
    deny 192.0.2.1;
        location /o/v1/ { submission_api main access=operate; }
    if ($ssl_client_verify != SUCCESS) { return 403; }
        location /o/v1/ { submission_api main access=operate; }
    ssl_verify_client on;
        ssl_client_certificate ca.pem;
        location /o/v1/ { submission_api main access=operate; }
EOT

silent('location /operate/v1/' => <<'EOT', listen => "$_:$port") for '127.0.0.1', '[::1]';
a server for this host
    submission_api main access=operate;
EOT

silent(server => <<'EOT', listen => "unix:" . root() . '/socket');
a server for this host
    location /o/v1/ { submission_api main access=operate; }
EOT

# the demo, which demo.sh starts like this

{
    my $load = join '', map { "load_module $_;\n" }
               split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
    my $demo = root() . '/demo';

    put("demo/$_/.keep", '') for qw(logs tmp);
    put('demo/run/nginx.conf', slurp('demo/nginx.conf') =~ s/^load_module .*\n/$load/mr);
    put('demo/run/gateway.conf', slurp('demo/gateway.conf'));
    put('demo/run/webhook.secret', $secret, 0600);

    my $said = `$nginx -t -p $demo/ -c run/nginx.conf -e stderr 2>&1`;

    is($?, 0, 'the demo');
    unlike($said, qr/\[(?:warn|emerg)\]/, 'the demo, without a word') or diag($said);
}

done_testing();


sub slurp {
    my ($name) = @_;

    open(my $file, '<', $name) or die "$name: $!\n";
    local $/;
    return scalar <$file>;
}


sub certificate {
    my $openssl = 'openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=ca '
                  . '-keyout /dev/null 2>/dev/null';
    return scalar `$openssl`;
}

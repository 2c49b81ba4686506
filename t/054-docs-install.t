# docs/howto/install.md: the module comes to an nginx that serves something else
# already, and nginx.conf is not touched.
#
# The commands of the page are run on a copy of Debian's /etc/nginx, and nginx
# has to take what they make.
#
# Goes red when: nginx.conf.example has something in http that cannot stand in
# conf.d, or needs something of the main context that the page does not put
# there; a command of the page changes nginx.conf.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use SubmissionDocs qw(blocks slurp spew);
use SubmissionNeeds 'no_store';

my $top = realpath("$FindBin::Bin/..");
my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $module = $ENV{SUBMISSION_MODULE}
             // "$top/build/ngx_http_submission_module.so";
my $dir = tempdir('install.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);

plan skip_all => 'no dynamic module' if !$module;

chdir $top or die "$top: $!\n";
make_path("$dir/conf.d", "$dir/modules-enabled", "$dir/lib/submission",
          "$dir/log", "$dir/tmp");

# what Debian's nginx.conf has, as far as it matters here

my $conf = <<"END";
pid $dir/nginx.pid;
error_log $dir/log/error.log;
include $dir/modules-enabled/*.conf;

events {
    worker_connections 768;
}

http {
    default_type application/octet-stream;
    access_log $dir/log/access.log;
    gzip on;

    client_body_temp_path $dir/tmp/body; proxy_temp_path $dir/tmp/proxy;
    fastcgi_temp_path $dir/tmp/fastcgi; uwsgi_temp_path $dir/tmp/uwsgi;
    scgi_temp_path $dir/tmp/scgi;

    include $dir/conf.d/*.conf;

    server {
        listen 127.0.0.1:1;
        server_name other;
    }
}
END

spew("$dir/nginx.conf", $conf);
system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=docs "
       . "-keyout $dir/ca.key -out $dir/ca.crt > $dir/openssl.log 2>&1") == 0
    or die slurp("$dir/openssl.log");

my @install = grep { $_->{words}{install} } blocks('docs/howto/install.md');

is(scalar @install, 1, 'the page has its commands');

(my $commands = $install[0]{body}) =~ s{/etc/nginx/}{$dir/}g;

$commands =~ s/^make install\b.*//m or die "no \"make install\"\n";
$commands =~ s/^nginx -t .*//m or die "no \"nginx -t\"\n";

spew("$dir/command.sh", "set -e\n$commands");

is(`bash $dir/command.sh 2>&1`, '', 'the commands run');

# this host's module, and this test's paths, in place of Debian's

my %path = (
    '/var/lib/nginx/' => "$dir/lib/", '/var/log/nginx/' => "$dir/log/",
    '/etc/nginx/' => "$dir/",
    '/etc/ssl/certs/ca-certificates.crt' => "$dir/ca.crt",
    'modules/ngx_http_submission_module.so' => $module,
);

for my $file ('modules-enabled/70-mod-http-submission.conf',
              'conf.d/submission.conf')
{
    my $text = slurp("$dir/$file");

    $text =~ s/\Q$_\E/$path{$_}/g for sort keys %path;
    spew("$dir/$file", $text);
}

my $said = `$nginx -t -p $dir/ -c nginx.conf -e $dir/log/error.log 2>&1`;

is($?, 0, 'nginx takes it');
unlike($said, qr/warn|emerg/, 'without a warning') or diag($said);
is(slurp("$dir/nginx.conf"), $conf, 'nginx.conf is as it was');
like(slurp("$dir/conf.d/submission.conf"), qr/^submission_manager main \{/m,
     'the manager is in a file of its own');

done_testing();

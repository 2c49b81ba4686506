# README.md and docs/: every curl command is run, and its answer is looked at.
#
# Somebody with an alarm at three in the morning copies a command, and has no
# time to find out that its path is wrong or that a header is missing.  t/050
# runs the commands that are meant for the demo; this test runs all others, in
# the order of the pages, on an instance of nginx.conf.example with the webhook
# of howto/webhooks.md and the targets of howto/schedules.md.  A command must be
# answered with 2xx, or with a status that is in the marker of its block.
#
# Goes red when: a path, a method, a header or a body of a command is not what
# the API takes, or a level is missing; a command stands in a block that no test
# runs.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use SubmissionDocs qw(blocks commands run_curl slurp spew wait_for
                      wrong_answers);
use SubmissionNeeds 'no_store';
use SubmissionPorts qw(free_port);

my $top = realpath("$FindBin::Bin/..");

my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $module = $ENV{SUBMISSION_MODULE}
             // "$top/build/ngx_http_submission_module.so";
my $dir = tempdir('docs.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);
my ($port, $gateway) = (free_port(), free_port());
my $started;

chmod 0755, $dir;
chdir $top or die "$top: $!\n";

END {
    my $status = $?;

    if ($started) {
        kill QUIT => $started;
        wait_for('the end of nginx', sub { !kill 0, $started })
            or kill KILL => $started;
    }

    $? = $status;
}

my @blocks = map { blocks($_) }
             'README.md', split /\n/, `find docs -name '*.md' | sort`;

sub block {
    my ($kind, $word) = @_;

    my @found = grep { $_->{kind} eq $kind && $_->{words}{$word} } @blocks;

    die "one block \"$kind $word\" was expected\n" if @found != 1;
    return $found[0]{body};
}

my @missed = grep { $_->{body} =~ /\bcurl / && !$_->{kind} } @blocks;

is(join(' ', map { $_->{where} } @missed), '',
   'every block with a curl command has a marker');


# the instance, and a gateway

my $conf = slurp('nginx.conf.example');
my $manager = join '', map { block('nginx-manager', $_) } qw(ops schedules);
my $load = $module ? "load_module $module;" : '';
my $user = $> == 0 ? 'user root;' : '';
my $temp = join ' ', map { "${_}_temp_path tmp/$_;" }
                     qw(client_body proxy fastcgi uwsgi scgi);

$conf =~ s/^ +target sms\.realtime .*?^ {8}\}\n/$manager/ms
    or die "nginx.conf.example has no target sms.realtime\n";
$conf =~ s/^load_module .*/$load/m;
$conf =~ s/^user .*/$user/m;
$conf =~ s{/etc/ssl/certs/ca-certificates\.crt}{$dir/ca.crt}g;
$conf =~ s{/etc/nginx/}{$dir/}g;
$conf =~ s{/var/(?:log|lib)/nginx/}{$dir/}g;
$conf =~ s{/run/nginx\.pid}{$dir/nginx.pid};
$conf =~ s/127\.0\.0\.1:8080/127.0.0.1:$port/g;
$conf =~ s/127\.0\.0\.1:(?:8081|8082|9000|9090)/127.0.0.1:$gateway/g;
$conf =~ s/^http \{\n/http {\n    $temp\n/m;
$conf =~ s/^\}\s*\z/<<"END"/me;

    server {
        listen 127.0.0.1:$gateway;
        location \/ {
            default_type application\/json;
            return 200 '{"status":"accepted"}';
        }
    }
}
END

make_path("$dir/tmp");
spew("$dir/nginx.conf", $conf);
spew("$dir/ops.secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", 0600);
spew("$dir/submission.operators", "ann:{PLAIN}secret\n");
system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=docs "
       . "-keyout $dir/ca.key -out $dir/ca.crt > $dir/openssl.log 2>&1") == 0
    or die slurp("$dir/openssl.log");

is(system("$nginx -p $dir/ -c nginx.conf -e $dir/error.log"), 0,
   'nginx starts');

$started = wait_for('a pid', sub {
    -s "$dir/nginx.pid" && slurp("$dir/nginx.pid") + 0
});

sub get { return scalar `curl -s -m 30 'http://127.0.0.1:$port$_[0]'` }

ok(wait_for('a leader', sub { get('/readyz') =~ /mode=leader/ }), 'it leads');

# what a page takes for granted

like(`curl -s -m 30 'http://127.0.0.1:$port/v1/intents?waitSeconds=20' \\
          -H 'Content-Type: application/json' -d '{"intentId":"hello-3",
          "submissionTarget":"sms.realtime","payload":{"to":"+15550100"}}'`,
     qr/"status":"accepted"/, 'an intent is accepted');


# every command by itself

my $n = 0;

for my $b (grep { $_->{kind} =~ /^(?:sh|bash)$/ } @blocks) {
    for my $command (commands($b->{body}, "$dir/command.sh")) {
        next if $command !~ /\bcurl /;

        (my $here = $command) =~ s/127\.0\.0\.1:8080/127.0.0.1:$port/g;

        my $said = run_curl($dir, $here);

        is(join("\n", wrong_answers($dir, $b)), '',
           "$b->{where}: " . (split /\n/, $command)[0])
            or diag("$command\n$said");
        $n++;
    }
}

cmp_ok($n, '>=', 15, 'and there are some');

is(`grep -E '\\[(alert|crit|emerg)\\]' $dir/error.log`, '',
   'nothing in the error log');

done_testing();

# README.md, docs/ and the like: what they say works, and what there is they say.
#
# Documents are read at three in the morning, by somebody who copies from them.
# So every link leads somewhere; every fenced block of nginx, sh or json is what
# it claims to be; the tutorial, the smallest configuration and the adapter are
# run as they stand; and every directive, variable, metric, log event, error
# code and column of the sources is in the reference.
#
# A block has a marker before it, "<!-- test: <kind> <words> -->":
#
#   nginx-main      a whole nginx.conf
#   nginx-top       of the main context
#   nginx-http      of http, with a submission_manager "main" beside it
#   nginx-manager   of submission_manager
#   nginx-server    of server; it gets a dispatch location unless it has one
#   map-file        a file that another block includes
#   sh              a script whose syntax is checked
#   demo            a script that runs against the demo, each command of which
#                   must succeed; t/053 runs the curl commands of other scripts
#   two             likewise, in this order, against two instances of their own
#   sql             a statement; 051-docs-postgres.t runs those of PostgreSQL
#   ini             a file of somebody else's, which is not tested
#   json, adapter   JSON; the adapter in Python
#
# The words name a block, or say what it needs: "ndk", "resolver".  A number is a
# status that curl may get besides 2xx.
#
# Goes red when: a link is broken, a page is not linked, a directive or an event
# is added and not described, or renamed; an example does not work any more.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Basename;
use File::Copy qw(copy);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Socket::INET;
use JSON::PP;
use Test::More;

use SubmissionDocs qw(blocks run_curl slurp spew wait_for wrong_answers);
use SubmissionNeeds 'no_store';
use SubmissionPorts qw(free_port free_ports);

my $top = realpath("$FindBin::Bin/..");

my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $so = 'build/ngx_http_submission_module.so';
my $module = $ENV{SUBMISSION_MODULE} // "$top/$so";
my $ndk = '/usr/lib/nginx/modules/ndk_http_module.so';

my $dir = tempdir('docs.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);
my (@running, $number);

chmod 0755, $dir;

END {
    my $status = $?;
    $_->() for reverse @running;
    $? = $status;
}


# the documents and their blocks

chdir $top or die "$top: $!\n";

my @documents = ('README.md', 'CONTRIBUTING.md', 't/README.md',
                 split /\n/, `find docs -name '*.md' | sort`);
my (%text, @blocks);

for my $doc (@documents) {
    $text{$doc} = slurp($doc);
    push @blocks, blocks($doc);
}

sub block {
    my ($kind, $word) = @_;

    my @found = grep { $_->{kind} eq $kind
                       && (!$word || $_->{words}{$word}) } @blocks;

    die "one block \"$kind\" was expected\n" if @found != 1;
    return $found[0]{body};
}

my @unmarked = grep { !$_->{kind} && $_->{language} !~ /^(?:|c|perl)$/ }
               @blocks;

is(join(' ', map { $_->{where} } @unmarked), '', 'every block has a marker');

cmp_ok(scalar(split /\n/, $text{'README.md'}), '<=', 200,
       'README.md is a door, not a house');


# links, and targets of make

sub slug {
    my $heading = lc shift;

    $heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
    $heading =~ s/[^\w\s-]//g;
    $heading =~ s/ /-/g;

    return $heading;
}

my (%anchors, %linked, @broken, $links);

for my $doc (@documents) {
    (my $prose = $text{$doc}) =~ s/^[ ]*```.*?^[ ]*```$//msg;
    $anchors{$doc} = { map { slug($_) => 1 } $prose =~ /^#+ (.+)$/mg };
}

for my $doc (@documents) {
    (my $prose = $text{$doc}) =~ s/^[ ]*```.*?^[ ]*```$//msg;

    while ($prose =~ /\]\(([^)\s]+)\)/g) {
        my ($path, $anchor) = split /#/, $1, 2;

        next if $path =~ /^https?:/;
        $links++;

        my $file = $path eq '' ? $doc : dirname($doc) . "/$path";
        1 while $file =~ s{(^|/)(?!\.\./)[^/]+/\.\./}{$1};
        $file =~ s{(^|/)(\./)+}{$1}g;

        $linked{$doc}{$file} = 1;

        push @broken, "$doc: $path" if ! -e $file;
        push @broken, "$doc: $path#$anchor"
            if defined $anchor && -e $file && !$anchors{$file}{$anchor};
    }
}

is(join("\n", @broken), '', 'every link leads to a file and a heading');
cmp_ok($links, '>', 100, 'and there are links');

my %reached = ('README.md' => 1);

for (my @next = 'README.md'; @next; ) {
    my $doc = shift @next;
    push @next, grep { $text{$_} && !$reached{$_}++ } keys %{ $linked{$doc} };
}

is(join(' ', grep { !$reached{$_} } @documents), '',
   'every page can be reached from README.md');

my $makefile = slurp('Makefile');
my (%missing, $named);

for my $doc (@documents) {
    for my $code ($text{$doc} =~ /`([^`\n]+)`/g,
                  map { split /\n/, $_->{body} }
                  grep { $_->{where} =~ /^\Q$doc\E:/ && $_->{language} eq 'sh' }
                  @blocks)
    {
        while ($code =~ /(?:^|[;&] )(?:\w+=\S* )*make ([a-z][\w-]*)/g) {
            my $target = $1;

            $named++;
            $missing{$target} = $doc
                if $makefile !~ /^\Q$target\E:/m && $code !~ m{--add}
                   && $target ne 'modules';
        }
    }
}

is(join(' ', sort keys %missing), '', 'every target of make is there');
cmp_ok($named, '>', 10, 'and they are named');


# what the sources have is described

my %source = map { (basename($_) => slurp($_)) }
             split /\n/, `find src -name '*.c' | sort`;
my $sources = join "\n", values %source;

sub source {
    my $name = "ngx_http_submission_$_[0].c";

    return $source{$name} // die "$name is not there\n";
}

sub described {
    my ($what, $doc, $least, $pattern, @names) = @_;

    my %seen;
    my @names_once = grep { !$seen{$_}++ } @names;
    my @absent = grep { my $re = $pattern->($_); $text{$doc} !~ /$re/m }
                 @names_once;

    is(join(' ', sort @absent), '', "every $what is in $doc");
    cmp_ok(scalar @names_once, '>=', $least, "and there are some");
}

my $reference = 'docs/reference';

described('directive', "$reference/directives.md", 25,
          sub { qr/^##+ \Q$_[0]\E$/m },
          $sources =~ /\{ ngx_string\("(\w+)"\),\s*\n?\s*NGX_\w+_CONF/g);

described('variable', "$reference/directives.md", 5,
          sub { qr/^\| `\$\Q$_[0]\E` /m },
          $sources =~ /\{ ngx_string\("(submission_\w+)"\), NULL/g,
          source('role') =~ /name = ngx_string\("(\w+)"\)/g);

described('metric', "$reference/metrics.md", 28,
          sub { qr/^\| `submission_\Q$_[0]\E[`{]/m },
          source('metrics') =~ /\{ "(\w+)",\s*"[A-Z]/g,
          source('metrics')
              =~ /_(?:family|single)\(\s*out,\s*"\w+",\s*"(\w+)"/g);

described('operation', "$reference/metrics.md", 10,
          sub { qr/`\Q$_[0]\E`/m },
          grep { $_ ne 'none' } source('operations')
                                =~ /_op(?:_\w+)?\([A-Z_]+, "(\w+)"/g);

my @events = ($sources =~ /"submission: (\w+) manager=/g,
              $sources =~ /_leader_log\([^;]*?"(\w+)"/g,
              $sources =~ /(?:INFO|NOTICE|ERR|NONE), "(leader_\w+)"\)/g,
              $sources =~ /_attempt_log\([^;]*?, "(\w+)"/g,
              $sources =~ /_attempt_log\([^;]*?\n\s*"(\w+)"/g);

described('log event', "$reference/log-events.md", 20,
          sub { qr/^\| `\Q$_[0]\E` \|/m }, @events);

my @old = grep { $sources !~ /"(?:submission: )?\Q$_\E[" ]/ }
          $text{"$reference/log-events.md"} =~ /^\| `(\w+)` \|/mg;

is(join(' ', @old), '', 'and every event that is described is in the sources');

described('error code', "$reference/error-codes.md", 12,
          sub { qr/ `\Q$_[0]\E` /m },
          $sources =~ /NGX_HTTP_(?!SUBMISSION|GET|HEAD|POST|PUT|DELETE)
                       [A-Z_]+,\s*"([a-z_]+)"/gx,
          $sources =~ /\n\s*0, "([a-z_]+)", "/g);

described('argument', "$reference/http-api.md", 15,
          sub { qr/\b\Q$_[0]\E=/m },
          $sources =~ /\{ "(\w+)", ngx_\w+,\s+(?:0,|offsetof)/g);

my %schema = map { $_ => slurp("sql/$_/schema.sql") } qw(sqlite postgres);

described('table', "$reference/sql-schema.md", 5,
          sub { qr/^## \Q$_[0]\E$|`\Q$_[0]\E\./m },
          map { /CREATE TABLE IF NOT EXISTS (\w+)/g } values %schema);

described('column', "$reference/sql-schema.md", 40,
          sub { qr/[`.]\Q$_[0]\E`/m },
          map { (map { /^    ([a-z_]+) {2,}[a-zA-Z]/mg }
                     /CREATE TABLE IF NOT EXISTS \w+ \(\n(.*?)^\)/msg),
                /ADD COLUMN (\w+)/g } values %schema);


# blocks of JSON and of shells

for my $b (grep { $_->{kind} eq 'json' } @blocks) {
    ok(eval { JSON::PP->new->decode($b->{body}); 1 }, "$b->{where}: JSON")
        or diag($@);
}

for my $b (grep { $_->{kind} =~ /^(sh|demo|two)$/ } @blocks) {
    spew("$dir/script.sh", $b->{body});
    my $said = `bash -n $dir/script.sh 2>&1`;
    is($said, '', "$b->{where}: a script");
}


# blocks of nginx, by "nginx -t"; files that they name are made up

my $etc = "$dir/etc";

make_path("$etc/secrets", "$etc/tls", "$dir/log", "$dir/lib");

sub certificate {
    my $name = shift;

    system("openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=docs "
           . "-keyout $name.key -out $name.crt > $dir/openssl.log 2>&1") == 0
        or die slurp("$dir/openssl.log");
}

certificate("$etc/tls/submission");
spew("$etc/$_.pw", "secret\n", 0600) for qw(submission nginx_a);
spew("$etc/ops.secret", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw\n", 0600);
spew("$etc/submission.users", "me:{PLAIN}secret\n");
spew("$etc/secrets/gateway_keys", block('map-file', 'gateway_keys'), 0600);

my $load = $module ? "load_module $module;\n" : '';
my $user = $> == 0 ? "user root;\n" : '';
my $temp = join '', map { "${_}_temp_path tmp/$_;\n" }
                    qw(client_body proxy fastcgi uwsgi scgi);

sub manager {
    my ($inside, $port) = @_;

    $port //= 9;
    $inside //= '';

    my $store = $inside =~ /^\s*store\b/m ? '' : 'store sqlite data/submission.db;';

    return <<"END" . "$inside}\n";
submission_manager main {
    $store
    target fallback {
        gateway_type http;
        gateway_url  http://127.0.0.1:$port;
        policy       deadline 10m;
    }
END
}

sub dispatch {
    my $words = shift;

    my $resolver = $words->{resolver} ? 'resolver 127.0.0.1;' : '';

    return "location = /_dispatch { internal; submission_dispatch main; "
           . "$resolver proxy_pass \$submission_gateway_url; proxy_ssl_verify on; "
           . 'proxy_ssl_trusted_certificate /etc/ssl/certs/ca-certificates.crt; '
           . "}\n";
}

sub main_context {
    my ($http, $words, $main) = @_;

    my $first = $words->{ndk} && $module ? "load_module $ndk;\n" : '';

    $main //= 'events {}';

    return "$first$load$user$main\nhttp {\naccess_log off;\n$temp$http}\n";
}

my %wrap = (
    'nginx-main' => sub {
        my $conf = shift->{body};
        $conf =~ s/^load_module .*\n/$load$user/m;
        $conf =~ s/^http \{\n/http {\n$temp/m;
        return $conf;
    },

    'nginx-top' => sub {
        my $b = shift;
        return main_context(manager() . "server {\n" . dispatch({}) . "}\n", {},
                            $b->{body});
    },

    'nginx-http' => sub {
        my $b = shift;
        my $rest = $b->{body} =~ /submission_dispatch/
                   ? '' : "server {\nlisten 127.0.0.1:8089;\n"
                          . dispatch($b->{words}) . "}\n";
        return main_context(manager() . $b->{body} . $rest, $b->{words});
    },

    'nginx-manager' => sub {
        my $b = shift;
        return main_context(manager($b->{body}) . "server {\n"
                            . dispatch($b->{words}) . "}\n", $b->{words});
    },

    'nginx-server' => sub {
        my $b = shift;
        my $rest = $b->{body} =~ /submission_dispatch/
                   ? '' : dispatch($b->{words});
        return main_context(manager() . "server {\n$b->{body}$rest}\n",
                            $b->{words});
    },
);

# a prefix of its own, in which nothing is left of the real paths

sub prefix {
    my ($conf, $edit) = @_;

    my $prefix = sprintf '%s/nginx.%03d', $dir, ++$number;

    make_path("$prefix/tmp", "$prefix/logs");

    $conf =~ s{/etc/ssl/certs/ca-certificates\.crt}{$etc/tls/submission.crt}g;
    $conf =~ s{/etc/nginx/}{$etc/}g;
    $conf =~ s{/var/log/nginx/}{$prefix/logs/}g;
    $conf =~ s{/var/lib/nginx/}{$prefix/lib/}g;
    $conf =~ s{/run/nginx.pid}{$prefix/nginx.pid}g;
    $conf = "pid nginx.pid;\n$conf" if $conf !~ /^pid /m;
    $conf =~ s/$_/$edit->{$_}/g for keys %{ $edit || {} };

    make_path("$prefix/lib") if $conf =~ m{\Q$prefix\E/lib/};
    spew("$prefix/nginx.conf", $conf);

    return $prefix;
}

sub nginx {
    my ($prefix, $arguments) = @_;

    my $log = "$prefix/logs/error.log";
    my $said = `$nginx -p $prefix/ -c nginx.conf -e $log $arguments 2>&1`;

    return ($?, $said);
}

sub checks_out {
    my ($conf, $name) = @_;

    my ($status, $said) = nginx(prefix($conf), '-t');

    ok($status == 0 && $said !~ /\[(?:warn|alert|crit|emerg)\]/, $name)
        or diag("$said\n$conf");
}

for my $b (@blocks) {
    my $wrap = $wrap{$b->{kind}} or next;

    SKIP: {
        skip "$b->{where}: ngx_devel_kit is of the distribution's nginx", 1
            if $b->{words}{ndk} && !($module && $nginx eq '/usr/sbin/nginx');

        checks_out($wrap->($b), "$b->{where}: nginx -t");
    }
}

{
    my $conf = slurp('nginx.conf.example');

    $conf =~ s/^load_module .*\n/$load/m;
    $conf =~ s/^user .*\n/$user/m;

    checks_out($conf, 'nginx.conf.example: nginx -t');
}


# what is run: under valgrind it would say nothing more

if (($ENV{SUBMISSION_CHECK} || '') eq 'valgrind') {
    done_testing();
    exit;
}

sub start {
    my ($conf, $edit) = @_;

    my $prefix = prefix($conf, $edit);
    my ($status, $said) = nginx($prefix, '');

    die "nginx did not start: $said\n" if $status;

    my $pid = wait_for('a pid file', sub {
        -s "$prefix/nginx.pid" && slurp("$prefix/nginx.pid") + 0
    });

    push @running, sub {
        kill QUIT => $pid;
        wait_for('the end of nginx', sub { !kill 0, $pid })
            or kill KILL => $pid;
    };

    return $prefix;
}

sub curl {
    my ($port, $path, $body) = @_;

    my $data = defined $body ? "-H 'Content-Type: application/json' "
                               . "-H 'Idempotency-Key: key' -d '$body'"
                             : '';

    return scalar `curl -s -m 30 $data 'http://127.0.0.1:$port$path'`;
}

sub intent_is {
    my ($port, $id, $status) = @_;

    return wait_for("$id to be $status", sub {
        curl($port, "/v1/intents/$id") =~ /"status":"$status"/
    });
}


# a provider, the adapter before it, and README's smallest configuration

{
    my %port = map { $_ => free_port() } qw(provider good bad api);

    start(<<"END");
${user}events {}
http {
    $temp
    server {
        listen 127.0.0.1:$port{provider};
        access_log logs/provider.log;
        location = /ok { return 200; }
        location = /no { return 422; }
    }
}
END

    spew("$dir/adapter.py", block('adapter'));

    cmp_ok(scalar(grep { /\S/ } split /\n/, block('adapter')), '<=', 23,
           'the adapter is small');

    for ([ good => 'ok' ], [ bad => 'no' ]) {
        my ($name, $path) = @$_;
        my $pid = fork // die "fork: $!\n";

        if ($pid == 0) {
            $ENV{PORT} = $port{$name};
            $ENV{PROVIDER_URL} = "http://127.0.0.1:$port{provider}/$path";
            open STDERR, '>', "$dir/adapter.$name.log";
            exec 'python3', "$dir/adapter.py" or kill KILL => $$;
        }

        push @running, sub { kill TERM => $pid; waitpid $pid, 0 };

        wait_for("the adapter \"$name\"", sub {
            IO::Socket::INET->new("127.0.0.1:$port{$name}")
        });
    }

    like(curl($port{bad}, '/sms/send', '{"to":"x","message":"y"}'),
         qr/"rejected", "reason": "invalid_recipient"/, 'it rejects');
    like(curl($port{bad}, '/sms/send', '{}'),
         qr/"rejected", "reason": "invalid_request"/, 'and what is incomplete');

    my ($b) = grep { $_->{words}{smallest} } @blocks;

    my $prefix = start($wrap{'nginx-main'}->($b),
                       { '127.0.0.1:8080' => "127.0.0.1:$port{api}",
                         '127.0.0.1:9090' => "127.0.0.1:$port{good}" });

    wait_for('a store', sub { curl($port{api}, '/readyz') =~ /store=up/ });
    like(curl($port{api}, '/v1/intents',
              '{"intentId":"hello","submissionTarget":"sms.realtime",'
              . '"payload":{"to":"+15550100","message":"Hello"}}'),
         qr/"status":"pending"/, 'the smallest configuration takes an intent');
    ok(intent_is($port{api}, 'hello', 'accepted'), 'the adapter gets it');

    my %told = map { $_ => 1 }
               curl($port{api}, '/metrics') =~ /^# TYPE (\w+) /mg;
    my %written = map { $_ => 1 }
                  $text{"$reference/metrics.md"} =~ /^\| `(submission_\w+)/mg;

    is_deeply(\%written, \%told, 'metrics.md has the metrics that there are');
}


# credentials for each target, a URL that has moved, and a log of attempts

{
    my %port = map { $_ => free_port() } qw(gateway keys move attempts);

    my $gateway = start(<<"END");
${user}events {}
http {
    $temp
    log_format gateway '\$request_uri \$http_authorization';
    server {
        listen 127.0.0.1:$port{gateway};
        access_log logs/gateway.log gateway;
        location / { return 200; }
    }
}
END

    for my $word (qw(keys move attempts)) {
        my $url = $word eq 'move' ? 'http://old-sms.example.com/moved'
                                  : "http://127.0.0.1:$port{gateway}";
        my $target = <<"END";
    target payments.capture {
        gateway_type http;
        gateway_url  $url;
        policy       deadline 10m;
    }
END
        my $old = 'upstream old-sms.example.com { server 127.0.0.1:9; }';
        my $conf = main_context("$old\n" . manager($target, $port{gateway})
                                . block('nginx-http', $word), {});
        my $prefix = start($conf, {
            '127.0.0.1:8080' => "127.0.0.1:$port{$word}",
            '10.0.0.9:9090' => "127.0.0.1:$port{gateway}",
        });

        wait_for('the API', sub {
            curl($port{$word}, '/v1/intents') =~ /intents/
        });
        curl($port{$word}, '/v1/intents', '{"intentId":"a b",'
             . '"submissionTarget":"payments.capture","payload":1}');
        ok(intent_is($port{$word}, 'a%20b', 'accepted'), "$word: accepted");

        # nginx writes its line when it has sent the answer

        my %line = (
            keys => ["$gateway/logs/gateway.log",
                     qr{^/ Basic cGF5OnNlY3JldA==$}m, 'the gateway got its key'],
            move => ["$gateway/logs/gateway.log", qr{^/moved -$}m,
                     'the new gateway got what was meant for the old one'],
            attempts => ["$prefix/logs/attempts.log",
                qr/^\S+\ target=payments\.capture\ intent="a\ b"\ attempt=1
                   \ gateway=127\.0\.0\.1:$port{gateway}
                   \ status=200\ connect=[\d.]+\ took=[\d.]+\ bytes=\d+$/mx,
                'the log of attempts has its line'],
        );
        my ($log, $expected, $name) = @{$line{$word}};

        ok(wait_for('the line', sub { slurp($log) =~ $expected }), $name)
            or diag(slurp($log));
    }
}


# the tutorial, on a copy of the demo

SKIP: {
    skip 'the module is compiled in', 1 if !$module;

    my ($port, $gateway) = (free_port(), free_port());
    my $root = "$dir/root";

    make_path("$root/demo", "$root/build");
    copy("demo/$_", "$root/demo/$_") or die "$_: $!\n"
        for qw(demo.sh nginx.conf gateway.conf);
    copy('haproxy.cfg.example', $root) or die "$!\n";
    chmod 0755, "$root/demo/demo.sh";
    symlink $module, "$root/$so";

    my $run = "cd $root && NGINX_BIN=$nginx PORT=$port GATEWAY_PORT=$gateway "
              . "demo/demo.sh";

    my $said = `{ $run start; } 2>&1`;
    push @running, sub { `{ $run stop; } 2>&1` };
    like($said, qr/started/, 'the demo starts') or diag($said);
    like($said, qr{^Console: http://127\.0\.0\.1:$port/console/\n\nAPI}m,
         'and says where its console is');

    wait_for('a leader', sub { curl($port, '/readyz') =~ /mode=leader/ });

    my %expected = (
        'readyz' => qr/mode=leader/,
        '"first-1"' => qr/"intentId":"first-1".*"attempts":\[.*"intents":\[/s,
        '"order-4711' => qr/"status":"pending"/,
        '"order-4712' => qr/"status":"accepted"/,
        '"hello-1"' => qr/"intentId":"hello-1"|Idempotent-Replayed: true/,
        'Bye' => qr/idempotency_conflict/,
        '"hello-2"' => qr/"status":"accepted"/,
        'hello-1/history' => qr/"attempts":\[\{.*"accepted".*attempt=1 epoch=/s,
        '"hello-3"' => qr/"rejectedReason":"invalid_recipient"/,
        '"hello-4"' => qr/"intentId":"hello-4"/,
        'target_degraded' => qr/target=sms\.flaky/,
    );

    for my $b (grep { $_->{kind} eq 'demo' } @blocks) {
        (my $script = $b->{body}) =~ s/127\.0\.0\.1:8080/127.0.0.1:$port/g;

        intent_is($port, 'hello-1', 'accepted')
            if $script =~ m{hello-1/history};

        my $answer = run_curl($dir, "set -e -o pipefail\ncd $root\n$script");

        is($?, 0, "$b->{where}: runs") or diag($answer);
        is(join("\n", wrong_answers($dir, $b)), '',
           "$b->{where}: is answered as it should be")
            if $script =~ /\bcurl /;

        for my $key (sort keys %expected) {
            like($answer, $expected{$key}, "$b->{where}: says of $key")
                if $script =~ /\Q$key\E/;
        }
    }

    ok(intent_is($port, 'hello-4', 'exhausted'), 'three attempts, and the end');
    like(curl($port, '/v1/intents?target=push.marketing'), qr/"news-/,
         'its own traffic');

    `{ $run stop; } 2>&1`;


    # the same with two instances, one of which is killed, behind HAProxy

    my $front = free_ports(5);

    $run =~ s/ PORT=$port / PORT=$front /;
    $port = $front;
    $said = `{ $run cluster; } 2>&1`;

    like($said, qr{^Console: http://127\.0\.0\.1:$port/console/$}m,
         'the cluster starts') or diag($said);
    ok(wait_for('HAProxy', sub {
           curl($port, '/console/') =~ /<html/
           && curl($port, '/v1/cluster') =~ /"follower".*"leader"|"leader".*"follower"/
       }), 'HAProxy has the API and the console');

    # what the console asks, by way of HAProxy

    my $told = sub { decode_json(curl($port, "/console/api/v1/$_[0]") || '{}') };

    my $led = $told->('overview')->{leader}{holder};
    my ($kill) = $said =~ /^ +(\S+ kill-leader)$/m;

    like(`$kill 2>&1`, qr/instance [ab] .* is killed/,
         'the leader is killed, by the command as it was printed');
    ok(wait_for('silence', sub { ($told->('overview')->{leader} // {})->{silent} }),
       'the overview says that it is not heard of');
    ok(wait_for('the other one', sub {
           my $leader = $told->('overview')->{leader};
           $leader && $leader->{epoch} == 3 && $leader->{holder} ne $led
       }), 'and then that the other one leads');

    my ($acquired) = grep { $_->{kind} eq 'leader_acquired' && $_->{epoch} == 3 }
                     @{$told->('events?limit=100')->{events}};

    ok($acquired && $acquired->{instance} ne $led, 'and the events say who took over')
        or diag(explain($acquired));
    like(`{ $run cluster; } 2>&1`, qr/instance [ab] started/,
         'the first one starts again');
    like(`{ $run stop; } 2>&1`, qr/stopped/, 'and all of it stops');
}


# the end of the tutorial: two instances, one of which is killed

{
    my ($one, $other, $gateway) = map { free_port() } 1 .. 3;
    my $two = "$dir/two";

    my ($b) = grep { $_->{words}{two} } @blocks;
    my $conf = $wrap{'nginx-main'}->($b);

    $conf =~ s/:8081/:$one/g;
    $conf =~ s/:9090/:$gateway/g;
    make_path("$two/tmp");
    spew("$two/a.conf", $conf);

    push @running, sub {
        for my $name (grep { -s "$two/$_.pid" } qw(a b)) {
            my $pid = slurp("$two/$name.pid") + 0;
            my @workers = split ' ', `pgrep -P $pid`;
            kill KILL => $pid, @workers;
        }
    };

    my @scripts = grep { $_->{kind} eq 'two' } @blocks;
    my @expected = (qr/mode=leader.*mode=follower/s,
                    qr/"outcomeStatus":"error".*connection refused by/s,
                    qr/mode=leader .*lease_epoch=2 /, qr/^$/);

    is(scalar @scripts, scalar @expected, 'four scripts');

    for my $b (@scripts) {
        (my $script = $b->{body}) =~ s{/tmp/two}{$two}g;

        $script =~ s{^nginx }{$nginx -e $two/start.log }mg;
        $script =~ s/8081/$one/g;
        $script =~ s/8082/$other/g;

        my $answer = run_curl($dir, "set -e\n$script");

        is($?, 0, "$b->{where}: runs") or diag($answer);
        is(join("\n", wrong_answers($dir, $b)), '',
           "$b->{where}: is answered as it should be")
            if $script =~ /\bcurl /;
        like($answer, shift @expected, "$b->{where}: says what it should");
    }

    ok(wait_for('its end', sub { ! -e "$two/b.pid" }), 'the other one quits');
}

$_->() for reverse splice @running;

is(`grep -rhE '\\[(alert|crit|emerg)\\]' $dir --include=error.log`, '',
   'nothing in the error logs');

done_testing();

# The console as it is served: its files out of the module, under any prefix,
# with headers that keep everything else out, and its API below it.
#
# Breaks when a file is not in the module, is not what the repository has,
# or is sent to a client that cannot read it; when the page may load something
# from elsewhere or be framed; when a browser is not told that it has a file
# already; and when something outside of the directory can be read.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

use Compress::Zlib ();
use Cwd qw(getcwd);

our $csp = "default-src 'none'; script-src 'self'; style-src 'self'; "
           . "connect-src 'self'; img-src 'self' data:; base-uri 'none'; "
           . "form-action 'none'; frame-ancestors 'none'";

our $console = getcwd() . '/console';

our @files = sort map { s{^\Q$console\E/}{}r } split /\n/, `find '$console' -type f`;

# as the generator leaves a file

sub embedded {
    my ($name) = @_;

    return scalar `sh src/console/ngx_http_submission_embed.sh -c '$console/$name'`;
}

run_tests();

__DATA__

=== TEST 1: every file, compressed and not, once and again
--- config
        location /console/ {
            submission_console main;
        }
--- client eval
sub {
    my $total = 0;

    for my $file (@::files) {
        my $plain = http("GET /console/$file");
        my $gzip = http("GET /console/$file", 'Accept-Encoding: br, gzip');
        my $refused = http("GET /console/$file", 'Accept-Encoding: gzip;q=0');
        my $again = http("GET /console/$file",
                         "If-None-Match: $gzip->{headers}{etag}");

        is($plain->{body}, main::embedded($file), "$file, as it is");
        is($plain->{headers}{'content-encoding'}, undef, 'in no encoding');
        is(Compress::Zlib::memGunzip($gzip->{body}), $plain->{body},
           'the same, compressed');
        is($gzip->{headers}{'content-encoding'}, 'gzip', 'and it says so');
        is($refused->{body}, $plain->{body}, 'gzip may be refused');
        is("$again->{code} $again->{body}", '304 ', 'and not sent again');

        for my $answer ($plain, $gzip) {
            my $headers = $answer->{headers};

            is($headers->{'content-security-policy'}, $::csp, 'the policy');
            is($headers->{'x-content-type-options'}, 'nosniff', 'no guess');
            is($headers->{'referrer-policy'}, 'no-referrer', 'no referrer');
            is($headers->{'cache-control'}, 'no-cache', 'asked each time');
            is($headers->{vary}, 'Accept-Encoding', 'varies');
            like($headers->{etag}, qr{^W/"[0-9a-f]{16}"\z}, 'a tag');
        }

        my ($ending) = $file =~ /\.(\w+)$/;
        my %type = (html => 'text/html; charset=utf-8',
                    css => 'text/css; charset=utf-8',
                    js => 'text/javascript; charset=utf-8',
                    svg => 'image/svg+xml', txt => 'text/plain; charset=utf-8');

        is($plain->{headers}{'content-type'}, $type{$ending}, 'its type');

        $total += length $plain->{body};
    }

    is(http('GET /console/')->{body}, main::embedded('index.html'), 'the page');
    cmp_ok($total, '<', 240_000, 'all of it is small');
    Test::More::diag("the console has $total bytes");
}



=== TEST 2: what is not there, and what is not asked for
--- config
        location /console/ {
            submission_console main;
        }
--- client eval
sub {
    for my $path ('nothing', 'index.html/', 'api', 'api/', 'api/v2/intents',
                  '%2e%2e/nginx.conf', 'vendor', 'index.html%00')
    {
        my $answer = http("GET /console/$path");

        like($answer->{code}, qr/^4/, "no $path");
        is($answer->{headers}{'content-security-policy'}, $::csp, 'the policy')
            if $path !~ /%/;
    }

    my $post = http("POST /console/index.html\n{}");

    is($post->{code}, 405, 'files are read');
    is($post->{headers}{allow}, 'GET, HEAD', 'and it says how');
    like($post->{body}, qr/"code":"method_not_allowed"/, 'and why not');

    my $answer = http('GET /console?a=b');
    is($answer->{code}, 301, 'without the slash');
    like($answer->{headers}{location}, qr{/console/\?a=b\z}, 'it is added');
}



=== TEST 3: any prefix, and two of them; the API below, with its level
--- config
        location / {
            submission_console main;
        }

        location /deep/er/ {
            submission_console main access=operate;
        }

        location /v1/ {
            submission_api main;
        }
--- client eval
sub {
    http(submit('a/b', undef, '{"n":1}'));

    for my $at (['', 'read'], ['/deep/er', 'operate']) {
        my ($prefix, $level) = @$at;

        is(http("GET $prefix/")->{body}, main::embedded('index.html'),
           "the page at $prefix/");

        my $intent = http("GET $prefix/api/v1/intents/a%2Fb");

        is($intent->{json}{intentId}, 'a/b', 'its API');
        is($intent->{headers}{'x-content-type-options'}, 'nosniff', 'no guess');

        is(http("GET $prefix/api/v1/config")->{json}{access}, $level,
           'its level');
        is(http("GET $prefix/api/v1/audit")->{code},
           $level eq 'read' ? 403 : 200, 'and what follows of it');
        is(http("GET $prefix/api/v1/intents/a%2Fb/payload")->{code},
           $level eq 'read' ? 403 : 200, 'and payloads');
    }
}



=== TEST 4: payloads=on
--- config
        location /console/ {
            submission_console main payloads=on;
        }
--- client eval
sub {
    http(submit('a', undef, '{"n":1}'));

    is(http('GET /console/api/v1/intents/a/payload')->{body}, '{"n":1}',
       'the payload');
    is(http('GET /console/api/v1/config')->{json}{payloads},
       JSON::PP::true(), 'and it is said');
}



=== TEST 5: files of a directory
--- config eval
"        location /console/ {
            submission_console main root=$::console;
        }"
--- client eval
sub {
    my $answer = http('GET /console/console.css');

    open my $in, '<', "$::console/console.css";
    is($answer->{body}, join('', <$in>), 'as it is');
    is($answer->{headers}{'content-type'}, 'text/css; charset=utf-8', 'type');
    is($answer->{headers}{'content-security-policy'}, $::csp, 'the policy');
    is(http('GET /console/console.css',
            "If-None-Match: $answer->{headers}{etag}")->{code}, 304, 'tag');

    is(http("GET /console/$_")->{code}, 404, "no $_")
        for 'nothing.js', 'vendor', '.git', 'vendor/.x', 'a%0ab', '%ff';
}

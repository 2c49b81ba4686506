# The module without ngx_devel_kit: all works but set_submission_role.
#
# The module is built with ngx_devel_kit, whose symbol it finds only when that
# was loaded before. Breaks when it does not load without, or when the directive
# calls what is not there instead of telling what is missing.

use lib 't/lib';
use SubmissionNeeds 'no_store';

our $ndk = '/usr/lib/nginx/modules/ndk_http_module.so';

BEGIN {
    my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
    my $file = ($ENV{SUBMISSION_TEST_DIR} || '/tmp') . "/probe.$$";
    my $why;

    if ($ENV{TEST_NGINX_LOAD_MODULES}) {
        open my $out, '>', $file or die "$file: $!\n";
        print $out "load_module $ENV{TEST_NGINX_LOAD_MODULES};\n",
                   "error_log stderr; pid $file.pid; events {}\n",
                   "http { server { set_submission_role \$role probe; } }\n";
        close $out;

        $why = 'the module is built without ngx_devel_kit'
            if `$nginx -t -c $file 2>&1` =~ /unknown directive/;

        unlink $file, "$file.pid";

    } else {
        $why = 'the module is compiled in, with all that it can have';
    }

    if ($why) {
        require Test::More;
        Test::More::plan(skip_all => $why);
    }
}

use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

# without it, and with it too late

for my $main ('', "load_module $ndk;") {
    refused('location = /role' => <<'EOT', main => $main);
"set_submission_role" needs ngx_devel_kit: "load_module
modules/ndk_http_module.so" was expected before this module
    set_submission_role $role main;
EOT
}

run_tests();

__DATA__

=== TEST 3: without the directive
--- request eval
[submit('a'), 'GET /v1/intents/a']
--- response_body eval
[(intent('a')) x 2]

# set_submission_role $variable <manager>, by ngx_devel_kit.
#
# With several managers it is the only way to a role in the rewrite phase. Breaks
# when a role is another manager's, when it is that of an earlier moment, or when
# a mistake leads to a crash or to nothing.

use lib 't/lib';

BEGIN {
    my $nginx = $ENV{TEST_NGINX_BINARY} || 'nginx';
    my $file = ($ENV{SUBMISSION_TEST_DIR} || '/tmp') . "/probe.$$";

    # beside the module, unless all is compiled in

    if ($ENV{TEST_NGINX_LOAD_MODULES}) {
        my ($modules) = `$nginx -V 2>&1` =~ /--modules-path=(\S+)/;

        $ENV{TEST_NGINX_LOAD_MODULES} =
            ($modules || '/usr/lib/nginx/modules') . '/ndk_http_module.so '
            . $ENV{TEST_NGINX_LOAD_MODULES};
    }

    # what nginx says to it

    open my $out, '>', $file or die "$file: $!\n";
    print $out map({ "load_module $_;\n" }
                   split ' ', $ENV{TEST_NGINX_LOAD_MODULES} || ''),
               "error_log stderr; pid $file.pid; events {}\n",
               "http { server { set_submission_role \$role probe; } }\n";
    close $out;

    my $said = `$nginx -t -c $file 2>&1`;
    unlink $file, "$file.pid";

    if ($said =~ m{(unknown\ directive.*? | dlopen.*
                    | version\ \d+\ instead\ of\ \d+
                    | \S+\ is\ not\ binary\ comp\w+)\ in\ }x)
    {
        require Test::More;
        Test::More::plan(skip_all => "this nginx has no ngx_devel_kit: $1");
    }
}

use Test::Nginx::Socket 'no_plan';
use SubmissionRefused qw(refused);
use SubmissionTest;

workers(2);
leads();

our $quick = <<'EOC';
        holder_id         sm-01;
        lease_duration    30s;
        renew_interval    50ms;
        acquire_interval  100ms;
EOC

# until every worker says so

sub all_say {
    my ($path, $expected) = @_;

    my @others;

    my $say = wait_for(sub {
        @others = grep { $_ ne "$expected\n" }
                  map { http("GET $path")->{body} } 1 .. 20;
        !@others;
    });

    ok($say, "$path: $expected") or diag($others[0]);
}

sub manager {
    my ($name, $more) = @_;

    return "submission_manager $name { store \$TEST_NGINX_STORE; $more "
           . 'target t { gateway_type http; gateway_url http://127.0.0.1:1; '
           . "policy one_shot; } }\n";
}

sub dispatch {
    my $name = shift;

    return "location = /_$name { internal; submission_dispatch $name; "
           . "proxy_pass \$submission_gateway_url; }\n";
}

refused('location = /role' => <<'EOT');
unknown submission_manager "{value}" in {here}: the name of a
submission_manager block was expected
    set_submission_role $role other;

invalid variable name "role"
    set_submission_role role main;

invalid number of arguments in "{directive}" directive
    set_submission_role $role;
    set_submission_role $role main other;
EOT

refused(http => <<'EOT');
"{directive}" directive is not allowed here
    set_submission_role $role main;
EOT

run_tests();

__DATA__

=== TEST 1: leader, follower, leader
--- manager eval: $::quick
--- config
        location = /role {
            set_submission_role $role main;
            return 200 "$role\n";
        }
--- client eval
sub {
    all_say('/role', 'leader');

    sql("UPDATE submission_manager_leases SET holder_id = 'another', "
        . 'lease_epoch = lease_epoch + 1, expires_at = expires_at + 3600000000');
    all_say('/role', 'follower');

    sql('UPDATE submission_manager_leases SET expires_at = 0');
    all_say('/role', 'leader');
}



=== TEST 2: of several managers, each its own
one leads, another cannot: its row is held until long after the test
--- http_config eval
main::manager('main', $::quick)
. main::manager('other', $::quick . 'lease_name other;')
--- config eval
main::dispatch('other') . <<'EOC'
        location = /roles {
            set_submission_role $main main;
            set_submission_role $other other;
            return 200 "$main $other\n";
        }
EOC
--- client eval
sub {
    all_say('/roles', 'leader leader');

    sql("UPDATE submission_manager_leases SET holder_id = 'another', "
        . 'expires_at = expires_at + 3600000000 '
        . "WHERE lease_name = 'other'");
    all_say('/roles', 'leader follower');
}



=== TEST 3: in a server, before the manager is known, in an "if"
--- http_config eval
"server { listen 127.0.0.1:\$TEST_NGINX_RAND_PORT_1; "
. "set_submission_role \$role main; location / { return 200 \"\$role\\n\"; } }\n"
. main::manager('main', $::quick)
--- config
        location = /if {
            set $role none;

            if ($arg_ask) {
                set_submission_role $role main;
            }

            return 200 "$role\n";
        }
--- client eval
sub {
    all_say('/if?ask=1', 'leader');
    all_say('/if', 'none');

    my $port = $Test::Nginx::Util::RandPorts->{TEST_NGINX_RAND_PORT_1};

    is(http_raw("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
                $port)->{body}, "leader\n", 'in a server');
}



=== TEST 4: what goes to another server if one does not lead
--- manager eval: $::quick
--- config
        location = /work {
            set_submission_role $role main;

            if ($role = follower) {
                return 307 /elsewhere;
            }

            return 200 "here\n";
        }
--- client eval
sub {
    all_say('/work', 'here');

    sql("UPDATE submission_manager_leases SET holder_id = 'another', "
        . 'expires_at = expires_at + 3600000000');

    ok(wait_for(sub { http('GET /work')->{code} == 307 }), 'elsewhere');
}

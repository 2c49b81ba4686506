# A page with an error that another handler makes in a location of the API, such
# as "proxy_pass" of an "if", is replaced as one of nginx's own is: as a whole.
#
# Breaks when what follows the first buffers of that page is sent, too: on a
# connection that is kept, the client takes it for the next answer; and when an
# answer that is not packed is said to be.

use lib 't/lib';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our $config = <<'EOC';
        location /v1/ {
            submission_api main;

            if ($arg_other) {
                proxy_pass http://127.0.0.1:$TEST_NGINX_RAND_PORT_1;
            }

            proxy_buffering %s;
            proxy_buffers 8 4k;
        }
EOC

our $http = <<'EOC';
    server {
        listen 127.0.0.1:$TEST_NGINX_RAND_PORT_1;
        root html;
        error_page 404 /page;
        add_header Content-Encoding gzip always;
    }
EOC

our $client = sub {
    my @answers = http_pipelined(submit('a'),
                                 'GET /v1/intents/a?other=1',
                                 'GET /v1/intents/a');

    is(join(' ', map { $_->{code} } @answers), '200 404 200', 'one each');
    is($answers[1]{json}{error}{code}, 'not_found', 'an error of the API');
    is($answers[1]{headers}{'content-encoding'}, undef, 'not packed');
    is($answers[2]{json}{intentId}, 'a', 'and then the next answer');
};

run_tests();

__DATA__

=== TEST 1: buffered
--- config eval: sprintf($::config, 'on')
--- http_config eval: $::http
--- user_files eval: ">>> page\n" . 'x' x 300000
--- client eval: $::client
--- not_api: the location answers with the page of another server



=== TEST 2: not buffered
--- config eval: sprintf($::config, 'off')
--- http_config eval: $::http
--- user_files eval: ">>> page\n" . 'x' x 300000
--- client eval: $::client
--- not_api: the location answers with the page of another server

# Wrong passwords do not lock anybody else out.
#
# nginx counts requests before it checks passwords, so a limit by the user's name
# is used up by whoever claims to be that user. The key is taken from the
# documents, where people copy it from. Breaks when that key is a claim.

use lib 't/lib';
use SubmissionNeeds 'no_store';
use Test::Nginx::Socket 'no_plan';
use SubmissionTest;

our ($key) = SubmissionTest::slurp('docs/howto/tls-and-access-control.md')
             =~ /^limit_req_zone (\S+) /m or die "no limit in the document\n";

run_tests();

__DATA__

=== TEST 1: as the document has it
--- http_config eval
"    limit_req_zone $::key zone=clients:1m rate=1r/m;"
--- config
        location /v1/ {
            auth_basic            "submissions";
            auth_basic_user_file  passwords;

            limit_req         zone=clients burst=5 nodelay;
            limit_req_status  429;

            submission_api main;
        }
--- user_files eval
[[SubmissionTest::server_root() . '/conf/passwords', "ann:{PLAIN}secret\n"]]
--- client eval
sub {
    my %codes;

    # "ann:wrong", from elsewhere

    for (1 .. 40) {
        my $sock = IO::Socket::INET->new(LocalAddr => '127.0.0.3',
                                         PeerAddr => '127.0.0.1',
                                         PeerPort => server_port());

        print $sock "GET /v1/intents HTTP/1.1\r\nHost: localhost\r\n"
                    . "Authorization: Basic YW5uOndyb25n\r\n"
                    . "Connection: close\r\n\r\n";

        $codes{http_read($sock)->{code}}++;
    }

    is(join(' ', map { "$_:$codes{$_}" } sort keys %codes), '401:6 429:34',
       'wrong passwords use up the limit of who sends them');

    # "ann:secret"

    is(http('GET /v1/intents', 'Authorization: Basic YW5uOnNlY3JldA==')->{code},
       200, 'and of nobody else');
}
--- error_code: 401

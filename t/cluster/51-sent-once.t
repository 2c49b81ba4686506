# An attempt is sent once, whatever its policy: each send has its own number.
#
# The gateway does not answer in time, and "error_page 504 = @fallback" would
# lead elsewhere.  Then "proxy_next_upstream ... non_idempotent" before two
# servers, where the first takes the request and closes its connection, a new one
# or one that was kept alive: nginx would go on to the next.  In each case the
# attempt ends as what it was, unknown.  So does one that an "error_page" has made
# a GET, which nginx would send again without asking.
#
# Before a byte has left, the other one is tried: nobody listens at the first
# server, or at the first location.
#
# Goes red when: what may have left is sent a second time in one attempt, by the
# location or by the upstream; or what has not left is not sent elsewhere.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

my $closed = SubmissionCluster::free_port();
my %policies = (shot => ['one_shot', 'outcome_unknown'],
                last => ['max_attempts 1', 'max_attempts']);
my %targets;

for my $name (keys %policies) {
    $targets{"sms.$name"} = { policy => $policies{$name}[0],
                              url => 'http://gateway/slow' };
    $targets{"sms.${name}_next"} = { policy => $policies{$name}[0],
                                     url => 'http://two/next' };
    $targets{"sms.${name}_down"} = { policy => $policies{$name}[0],
                                     url => 'http://half/fine' };
    $targets{"sms.${name}_get"} = { policy => $policies{$name}[0],
                                    url => "http://127.0.0.1:$closed" };
    $targets{"sms.${name}_gone"} = { policy => $policies{$name}[0],
                                     url => "http://127.0.0.1:$closed" };
}

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', targets => \%targets,
    dispatch => 'proxy_read_timeout 2s; error_page 502 504 = @fallback; '
                . 'proxy_next_upstream error timeout non_idempotent;',
    instance => { workers => 1, server => <<'END' });
        recursive_error_pages on;
        location @fallback { proxy_pass $fallback; error_page 502 = /_get; }
        location = /_get   { internal; proxy_pass http://two/get;
                             proxy_next_upstream error timeout; }
END
my ($gateway, $store) = ($run->gateway, $run->store);
my ($a) = $run->instances;

$a->{http} .= ' map $submission_target $fallback { '
              . "~_get http://127.0.0.1:$closed/; "
              . "default http://127.0.0.1:$gateway->{port}/again; }"
              . ' upstream two { keepalive 4; '
              . "server 127.0.0.1:$gateway->{port} max_fails=0; " x 2 . '}'
              . " upstream half { server 127.0.0.1:$closed max_fails=0; "
              . "server 127.0.0.1:$gateway->{port} max_fails=0; }";

$run->start;
$gateway->behave('/slow' => 'hang');


sub once {
    my ($name, $id, $end, $outcome) = @_;

    $run->wait_terminal($id);

    is(scalar(my @sends = $gateway->sends_of($id)), 1, "$name: sent once");
    is_deeply($run->statuses($id), { $end => 1 }, "$name: how it ends");
    is($run->outcomes($id), $outcome, "$name: which was its attempt");
}


for my $policy (sort keys %policies) {
    my $end = "exhausted $policies{$policy}[1]";

    $run->post(["$policy-slow", "sms.$policy"]);
    once("$policy, error_page", "$policy-slow", $end, 'unknown/timed_out');
    is($run->history("$policy-slow")->{attempts}[0]{error},
       'no answer within 2 s', "$policy, error_page: and why");

    for my $how (qw(new kept)) {
        if ($how eq 'kept') {
            $gateway->behave('/next' => 'accept');
            $run->post(["$policy-first", "sms.${policy}_next"]);
            $run->wait_terminal("$policy-first");
        }

        $gateway->behave('/next' => 'close');
        $run->post(["$policy-$how", "sms.${policy}_next"]);
        once("$policy, next server, $how connection", "$policy-$how", $end,
             'unknown/no_answer');
    }

    $gateway->behave('/get' => 'close');
    $run->post(["$policy-get", "sms.${policy}_get"]);
    once("$policy, next server, a GET", "$policy-get", $end,
         'unknown/no_answer');

    # both servers have their turn as the first one

    for my $i (1 .. 4) {
        $run->post(["$policy-down-$i", "sms.${policy}_down"]);
        once("$policy, a dead server", "$policy-down-$i", 'accepted',
             'accepted');
    }

    $run->post(["$policy-gone", "sms.${policy}_gone"]);
    once("$policy, a dead location", "$policy-gone", 'accepted', 'accepted');
}

is(scalar(my @again = grep { $_->{path} =~ m{^/again} } $gateway->sends),
   scalar keys %policies, 'the fallback has what had not left, and no more');

$run->done;

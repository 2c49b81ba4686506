# What holds docs/reference/openapi.yaml and the API together: t/tools/openapi.py
# compares the description with the source, and with the answers that the clients
# of the tests have got. A checker that finds nothing looks like one that has
# nothing to find, so each of its rules is shown what it must refuse.
#
# Goes red when: a mistake in the description, or an answer that does not fit it,
# is not refused for what it is; a client's answer is not written down, or one
# that is like another is written down again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use SubmissionNeeds 'no_store';

use File::Temp qw(tempdir);
use Test::More;

my $top = "$FindBin::Bin/..";
my $dir = tempdir(CLEANUP => 1);

# before the module that reads it: what is recorded here is not for the others

BEGIN { delete $ENV{SUBMISSION_TEST_DIR} }

sub slurp {
    open my $in, '<', $_[0] or die "cannot read $_[0]: $!\n";
    local $/;
    return scalar <$in>;
}

my $description = slurp("$top/docs/reference/openapi.yaml");


# the description, with one mistake in it

sub refused {
    my ($what, $from, $to, $message) = @_;

    (my $changed = $description) =~ s/$from/$to/
        or return fail("$what - there is nothing to change");

    open my $out, '>', "$dir/changed.yaml" or die;
    print $out $changed;
    close $out;

    my $said = `$top/t/tools/openapi.py lint $dir/changed.yaml 2>&1`;

    ok($? != 0, "$what - is refused");
    like($said, $message, "$what - for what it is");
}

is(`$top/t/tools/openapi.py lint 2>&1`, '', 'the description is sound');

refused('a reference to nothing', qr{schemas/Intent"}, 'schemas/Nothing"',
        qr{there is no \#/components/schemas/Nothing});

refused('what nobody uses', qr{^    Role:\n}m,
        "    Rule: {type: string}\n\n    Role:\n",
        qr{components/schemas/Rule is not used});

refused('a key twice', qr{^    HolderId:\n}m,
        "    Time: {}\n\n    HolderId:\n",
        qr{the key "\w+" is there twice});

refused('a schema that is none', qr{type: boolean}, 'type: yesno',
        qr{'yesno' is not valid});

refused('an example that does not fit', qr{status: pending\n},
        "status: waiting\n",
        qr{the example "\w+" does not fit: .*status: 'waiting' is not one of});

refused('an object that is open', qr{additionalProperties: false\n *},
        '', qr{an object without additionalProperties});

refused('an operation without a summary', qr{ *summary: List intents\n}, '',
        qr{GET /v1/intents: has no summary});

refused('an operation twice', qr{operationId: getIntent\n},
        "operationId: getHistory\n", qr{there are two operations getHistory});

refused('a route that is not described', qr{^  /v1/cluster:\n}m,
        "  /cluster:\n",
        qr{GET /v1/cluster: is a route of src/api, and is not described});

refused('a route that is not there', qr{^  /v1/cluster:\n}m,
        "  /v1/clusters:\n",
        qr{GET /v1/clusters: is described, and is no route of src/api});

refused('an argument that is not described', qr{name: target\n},
        "name: targets\n",
        qr{GET /v1/intents: the argument "target" is not described});

refused('an argument that is not there', qr{name: waitSeconds\n},
        "name: waitMinutes\n",
        qr{POST /v1/intents: there is no argument "waitMinutes"});

refused('an error code that is not listed', qr{^        - overloaded\n}m,
        "        - overloaded\n        - tired\n",
        qr{the code tired is not in error-codes\.md});

refused('an error code that is not described', qr{^        - overloaded\n}m, '',
        qr{the code overloaded of error-codes\.md is not described});


# answers, one at a time, as a client writes them down

require SubmissionAnswers;

my $time = '2026-02-02T12:00:10.123000Z';
my $intent = qq({"intentId":"a","submissionTarget":"t","createdAt":"$time",)
             . qq("status":"pending","attemptCount":0,"nextAttemptAt":"$time"});
my $problem = '{"error":{"code":"%s","message":"m","details":{%s}}}';
my %nginx = (server => 'nginx');
my %json = (%nginx, 'content-type' => 'application/json');
my $n = 0;


sub checked {
    my ($method, $target, $status, $headers, $body) = @_;

    my $at = "$dir/" . ++$n;

    mkdir $at;
    SubmissionAnswers::begin($at);
    SubmissionAnswers::record([$method, $target], $status, $headers, $body);

    return scalar `$top/t/tools/openapi.py answers $at/answers 2>&1`;
}


sub fits {
    my ($what, @answer) = @_;

    like(checked(@answer), qr/^1 kinds of answers in 1 tests, 0 do not fit/,
         "$what - fits");
}


sub differs {
    my ($what, $message, @answer) = @_;

    my $said = checked(@answer);

    ok($? != 0, "$what - is refused");
    my $request = "$answer[0] $answer[1]";

    like($said, qr/^052-openapi\.t: \Q$request\E -> $answer[2]: $message/m,
         "$what - for what it is");
}


fits('an intent', 'GET', '/v1/intents/a', 200, \%json, $intent);
fits('an id with a slash', 'GET', '/v1/intents/a%2Fb', 200, \%json, $intent);
fits('HEAD', 'HEAD', '/v1/intents/a?x=1', 404, \%json, '');
fits('another method', 'PUT', '/v1/intents', 405,
     { %json, allow => 'GET, HEAD, POST' },
     sprintf $problem, 'method_not_allowed', '');
fits('another path', 'GET', '/v1/nothing', 404, \%json,
     sprintf $problem, 'not_found', '');
fits('an error of nginx', 'GET', '/v1/cluster', 418, \%json,
     sprintf $problem, 'invalid_request', '');

differs('a field that is not described', qr/.*'color' was unexpected/,
        'GET', '/v1/intents/a', 200, \%json,
        $intent =~ s/\}\z/,"color":"red"}/r);

differs('a field within a list', qr{intents/0: .*'color' was unexpected},
        'GET', '/v1/intents', 200, \%json,
        '{"intents":[' . $intent =~ s/\}\z/,"color":1}/r . '],"next":null}');

differs('a wrong type', qr/attemptCount: '0' is not of type 'integer'/,
        'GET', '/v1/intents/a', 200, \%json,
        $intent =~ s/"attemptCount":0/"attemptCount":"0"/r);

differs('a field that is missing', qr/.*'createdAt' is a required property/,
        'GET', '/v1/intents/a', 200, \%json,
        $intent =~ s/"createdAt":"$time",//r);

differs('a word that is not described', qr/status: 'lost' is not one of/,
        'GET', '/v1/intents/a', 200, \%json, $intent =~ s/pending/lost/r);

differs('what ended without an end', qr/.*'completedAt' is a required/,
        'GET', '/v1/intents/a', 200, \%json,
        $intent =~ s/pending/accepted/r =~ s/,"nextAttemptAt":"$time"//r);

differs('a code of another status', qr{error/code: 'not_found' was expected},
        'GET', '/v1/intents/a', 404, \%json, sprintf $problem, 'overloaded', '');

differs('details that are not described', qr{error/details: .*'why'},
        'GET', '/v1/intents?limit=0', 400, \%json,
        sprintf $problem, 'invalid_request', '"why":"x"');

differs('a status that is not described', qr/the status 201 of POST/,
        'POST', '/v1/intents', 201, \%json, $intent);

differs('a path that is not described', qr/the status 200 of x-elsewhere/,
        'GET', '/v1/nothing', 200, \%json, '{}');

differs('a header that is missing', qr/the header allow is missing/,
        'PUT', '/v1/intents', 405, \%json,
        sprintf $problem, 'method_not_allowed', '');

differs('a header that is not described', qr/the header retry-after is not/,
        'GET', '/v1/intents/a', 200, { %json, 'retry-after' => '1' }, $intent);

differs('the value of a header', qr/the header retry-after: .*'soon'/,
        'GET', '/v1/intents/a', 503, { %json, 'retry-after' => 'soon' },
        sprintf $problem, 'store_unavailable', '');

differs('another type', qr{the type "text/html" is not described},
        'GET', '/v1/intents/a', 404, { %nginx, 'content-type' => 'text/html' }, 'x');

differs('no JSON', qr{the body is not application/json},
        'GET', '/v1/intents/a', 200, \%json, substr($intent, 1));

differs('a line of text', qr{.* does not match '\^mode},
        'GET', '/readyz', 200, { %nginx, 'content-type' => 'text/plain' },
        "mode=x\n");


# what is written down

mkdir "$dir/all";
SubmissionAnswers::begin("$dir/all");

for my $i (1 .. 30) {
    SubmissionAnswers::record(['GET', "/v1/intents/id-$i"], 200, \%json,
                              $intent =~ s/"a"/"id-$i"/r =~ s/:10\.1/:1$i/r);
}

SubmissionAnswers::record(['GET', '/elsewhere'], 200, \%json, $intent);
SubmissionAnswers::record(['GET', '/v1/intents/a'], 503,
                          { 'content-type' => 'application/json' }, 'HAProxy');
SubmissionAnswers::record(['GET', '/v1/intents/a'], 200, \%json,
                          $intent =~ s/pending/accepted/r);
SubmissionAnswers::record(['GET', '/v1/intents/a'], 200, \%json,
                          $intent =~ s/:0,/:null,/r);

is(scalar(() = slurp(glob "$dir/all/answers/*.jsonl") =~ /\n/g), 3,
   'one of each kind is written down: words and types tell them apart');

is_deeply([SubmissionAnswers::requests(
               "POST /a?b HTTP/1.1\r\nHost: x\r\n\r\n{}GET /c HTTP/1.1\r\n\r\n")],
          [['POST', '/a?b'], ['GET', '/c']], 'requests of bytes');

done_testing();

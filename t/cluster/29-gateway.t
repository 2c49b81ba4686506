# The recording gateway of the tests that follow: what they conclude from its
# record is worth what the record is worth.
#
# Goes red when: a request is answered before it is in the record, or is in it
# twice, or not at all; a behaviour is not what it says; it cannot hold
# hundreds of requests while others pass.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Digest::MD5 qw(md5_hex);

use SubmissionNeeds 'no_store';
use SubmissionCluster;

use constant { HELD => 300, REQUESTS => 3000, CONNECTIONS => 32 };

my $cluster = SubmissionCluster->new;
my $gateway = $cluster->gateway;


sub attempt {
    my ($id, $number, $body, $path) = @_;

    return SubmissionCluster::Client::request('POST', $path // '/sms/send',
               $body // '{}', "Idempotency-Key: $id",
               "X-Submission-Attempt: $number", 'X-Submission-Epoch: 7');
}


sub ask {
    my ($id, $body, $path) = @_;

    my $result;
    my $conn = SubmissionCluster::Connection->open($gateway->{port});

    $conn->send(attempt($id, 1, $body, $path), sub { $result = $_[0] });
    wait_for('an answer, or none', sub { $result });
    $conn->close;

    return $result;
}


# many are held, and others pass

$gateway->behave('held-' => 'hold');

my ($released, $answers, $next, @late) = (0, 0, 0);

for my $i (1 .. HELD) {
    SubmissionCluster::Connection->open($gateway->{port})->send(
        attempt("held-$i", 1), sub { $released++ if $_[0]{status} });
}

$gateway->wait_for_held(HELD);

my @conns = map { SubmissionCluster::Connection->open($gateway->{port}) }
            1 .. CONNECTIONS;

my $send;

$send = sub {
    my ($conn) = @_;

    my $i = $next++;

    return if $i >= REQUESTS;

    $conn->send(attempt("pass-$i", $i % 9, qq({"n":$i})), sub {
        $answers++ if ($_[0]{status} // 0) == 200;

        # of some, whether the record has it when the answer is here
        push @late, $i if $i % 50 == 0 && $gateway->sends_of("pass-$i") != 1;
        $send->($conn);
    });
};

$send->($_) for @conns;

wait_for('all is answered', sub { $answers == REQUESTS });

is_deeply(\@late, [], 'what is answered is in the record');
is($released, 0, 'those that are held wait');
is($gateway->held, HELD, 'all of them');

my @sends = $gateway->sends;

is(scalar @sends, HELD + REQUESTS, 'each request is in the record');
is_deeply([map { $_->{order} } @sends], [1 .. HELD + REQUESTS], 'in order');
is_deeply([grep { $gateway->sends_of("pass-$_") != 1 } 0 .. REQUESTS - 1], [],
          'once each');

my ($one) = $gateway->sends_of('pass-17');

is_deeply([@$one{qw(attempt epoch request path type length md5 behaviour)}],
          [8, 7, 'POST /sms/send', '/sms/send', 'application/json', 8,
           md5_hex('{"n":17}'), 'accept'], 'as it was');

$gateway->release('accept', 100);
wait_for('some are released', sub { $released == 100 });
is($gateway->held, HELD - 100, 'the others are held on');
$gateway->release;
wait_for('all are released', sub { $released == HELD });


# each behaviour, as a client sees it

sub outcome {
    my ($result) = @_;

    return $result->{lost} // "$result->{status} "
                              . (length $result->{body} > 60
                                 ? length $result->{body} : $result->{body});
}

my $error = '{"error":"as the test wants it"}';
my @behaviours = (
    ['accept', '200 {"status":"accepted"}'],
    ['reject no_number', '200 {"status":"rejected","reason":"no_number"}'],
    ['reject', '200 {"status":"rejected"}'],
    ['unknown', '200 {"status":"perhaps"}'],
    ['empty', '200 '],
    ['garbage', "200 \x00\xff{\"status\":\xfe[[["],
    ['deep', '200 50000'],
    ['answer 204', '204 '],
    ['long_reason', '200 ' . (100 * 1024 + 33)],
    ['huge', '200 ' . (10 * 1024 * 1024 + 28)],
    ['answer 500', "500 $error"],
    ['answer 503 2', "503 $error"],
    ['delay 100', '200 {"status":"accepted"}'],
    ['delay 100 answer 404', "404 $error"],
    ['trickle', '200 {"status":"accepted"}'],
    ['reset', 'unanswered'],
    ['close', 'unanswered'],
    ['not_http', 'torn'],
    ['short', 'torn'],
    ['short_chunked', 'torn'],
);

for (@behaviours) {
    my ($behaviour, $expected) = @$_;
    my $result = ask("does-$behaviour", qq({"gateway": "$behaviour"}));

    is(outcome($result), $expected, $behaviour);
    is($result->{headers}{'retry-after'}, 2, "$behaviour: Retry-After")
        if $behaviour eq 'answer 503 2';
    cmp_ok($result->{seconds}, '>=', 0.1, "$behaviour: it takes its time")
        if $behaviour =~ /delay|trickle/;
}

is_deeply([map { outcome(ask('again', '{"gateway":"fail 2"}')) } 1 .. 3],
          ["500 $error", "500 $error", '200 {"status":"accepted"}'],
          'fail the first two');
is_deeply([map { outcome(ask('others',
                             '{"gateway":"fail 1 close, reject why"}')) }
           1 .. 2],
          ['unanswered', '200 {"status":"rejected","reason":"why"}'],
          'fail in some way, then do something else');

$gateway->behave('/bad' => 'answer 502', 'x' => 'answer 504');

is(outcome(ask('y', '{}', '/bad/sms')), "502 $error", 'by path');
is(outcome(ask('x-1')), "504 $error", 'by id');

$gateway->behave('/bad' => undef);

is(outcome(ask('y', '{}', '/bad/sms')), '200 {"status":"accepted"}',
   'no more');


# who leaves is not held

{
    my $conn = SubmissionCluster::Connection->open($gateway->{port});

    $conn->send(attempt('held-x', 1), sub { });
    $gateway->wait_for_held(1);
    $conn->close;
    wait_for('it is gone', sub { $gateway->held == 0 });
    pass('a request whose client is gone is not held');
}

$gateway->stop;
is(ask('z')->{lost}, 'refused', 'stopped: nobody listens');
$gateway->start;
is(outcome(ask('z')), '200 {"status":"accepted"}', 'started again');

$cluster->done;

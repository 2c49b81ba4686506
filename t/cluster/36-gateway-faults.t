# Whatever a gateway does, its attempt has an outcome and a word on why, the
# contract goes on from there, and no other intent notices (G10): answers that
# are none, are not whole, not HTTP, not JSON, too long, too deep, too late, or
# never come.  What was sent and has no whole answer is unknown (G20).
#
# Goes red when: a worker crashes or loops on an answer; an answer that was cut
# is taken for a whole one; a reason or an error is stored that is too long, is
# not UTF-8, or has control characters; an attempt has no end; a fault holds up
# intents of others.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Encode ();

use SubmissionCluster;

# nobody listens there

my $closed = SubmissionCluster::free_port();

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '10s',
    executor => 'concurrency=512 timeout=6s',
    dispatch => 'proxy_read_timeout 2s; proxy_connect_timeout 1s;',
    targets => {
        'sms.two' => { policy => 'max_attempts 2', retry => '100ms',
                       outcomes => 'invalid_recipient' },
        'http.two' => { type => 'http', policy => 'max_attempts 2',
                        path => '/hook', retry => '100ms',
                        outcomes => 'http_404' },
        'sms.refused' => { policy => 'max_attempts 2', retry => '100ms',
                           url => "http://127.0.0.1:$closed" },
    });

my $error = qr/^error$/;
my $nothing = qr/^$/;
my ($no_answer, $timed_out, $cut_off)
    = map { qr/^unknown\/$_$/ } qw(no_answer timed_out cut_off);
my $gw = qr/127\.0\.0\.1:\d+/;

# an answer is longer where its escapes are left as they are

SubmissionAnswers::ignore(1) if !$run->store->escapes;

my $quote = $run->store->escapes ? '"' : '\\\\+"';

# what the gateway does; outcome and reason of each attempt, and its error; and
# how the intent ends, if it does not exhaust its two attempts

my @faults = (
    ['sms.two', 'hang', $timed_out, qr/^no answer within 2 s$/],
    ['sms.two', 'drip', $timed_out,
     qr/^no more than \d+ bytes of the answer within 6 s$/],
    ['sms.two', 'answer 500', $error, qr/^HTTP 500$/],
    ['sms.two', 'answer 503', $error, qr/^HTTP 503$/],
    ['sms.two', 'answer 302', $error, qr/^HTTP 302$/],
    ['sms.two', 'answer 404', $error, qr/^HTTP 404$/],
    ['sms.two', 'reset', $no_answer,
     qr/^connection reset by $gw without an answer$/],
    ['sms.two', 'close', $no_answer, qr/^closed by $gw without an answer$/],
    ['sms.two', 'not_http', $no_answer, qr/^the answer of $gw is not HTTP$/],
    ['sms.two', 'garbage', $error, qr/unreadable/],
    ['sms.two', 'empty', $error, qr/empty/],
    ['sms.two', 'deep', $error, qr/unreadable/],
    ['sms.two', 'unknown', $error, qr/unknown status ${quote}perhaps$quote$/],
    ['sms.two', 'reject', $error, qr/without a reason/],
    ['sms.two', 'huge', $cut_off, qr/larger than 65,536 bytes$/],
    ['sms.two', 'huge_head', $cut_off, qr/larger than proxy_buffer_size$/],
    ['sms.two', 'short', $cut_off, qr/^closed after 21 bytes of the answer$/],
    ['sms.two', 'short_chunked', $cut_off,
     qr/^closed after 21 bytes of the answer$/],
    ['sms.two', 'long_reason', $cut_off, qr/larger than/],
    ['sms.two', 'long_reason 1000', qr/^rejected\/x{200}$/, $nothing],
    ['sms.two', 'bad_reason', qr/^(?:error|rejected\/.*)$/, qr//],
    ['sms.two', 'reject whatever', qr/^rejected\/whatever$/, $nothing],
    ['sms.refused', 'accept', $error, qr/^connection refused by $gw$/],
    ['http.two', 'answer 500', $error, qr/^HTTP 500$/],
    ['http.two', 'answer 429', $error, qr/^HTTP 429$/],
    ['http.two', 'answer 408', $error, qr/^HTTP 408$/],
    ['http.two', 'answer 302', $error, qr/^HTTP 302$/],
    ['http.two', 'answer 410', qr/^rejected\/http_410$/, $nothing],
    ['http.two', 'not_http', $no_answer, qr/is not HTTP$/],
    ['http.two', 'hang', $timed_out, qr/^no answer within 2 s$/],
    ['http.two', 'short', $cut_off,
     qr/^closed after 21 bytes of the answer$/],

    ['sms.two', 'reject invalid_recipient', qr/^rejected\/invalid_recipient$/,
     $nothing, 'rejected invalid_recipient'],
    ['http.two', 'answer 404', qr/^rejected\/http_404$/, $nothing,
     'rejected http_404'],
    ['sms.two', 'accept', qr/^accepted$/, $nothing, 'accepted'],
    ['sms.two', 'chunked', qr/^accepted$/, $nothing, 'accepted'],
    ['sms.two', 'delay 500', qr/^accepted$/, $nothing, 'accepted'],
    ['sms.two', 'trickle', qr/^accepted$/, $nothing, 'accepted'],
    ['http.two', 'answer 204', qr/^accepted$/, $nothing, 'accepted'],
    ['http.two', 'garbage', qr/^accepted$/, $nothing, 'accepted'],
    ['http.two', 'huge', qr/^accepted$/, $nothing, 'accepted'],
);

my $gateway = $run->gateway;

$run->start;

my @pids = $run->leadership->executor(($run->instances)[0]);

# faults, each among others to the same targets

my @others = $run->ids('good', 40 * 10);

$faults[$_][5] = sprintf 'fault-%02d', $_ for 0 .. $#faults;

$run->post((map { [$_->[5], $_->[0], qq({"gateway":"$_->[1]"})] } @faults),
           map { [$_, 'sms.two'] } @others);

$run->wait_terminal('good-');

is_deeply($run->statuses('good-'), { accepted => scalar @others },
          'all others are accepted');
is_deeply([grep { $gateway->sends_of($_) != 1 } @others], [],
          'at the first attempt');

$run->wait_terminal('fault-');

my $intents = $run->store->intents('fault-');
my %attempts;

push @{$attempts{$_->{id}}}, $_ for $run->store->attempts('fault-');

for (@faults) {
    my ($target, $behaviour, $outcome, $text, $end, $id) = @$_;

    my $name = "$target, $behaviour";
    my $intent = $intents->{$id};
    my @attempts = @{$attempts{$id} // []};
    my $is = join ' ', $intent->{status},
                  $intent->{status} eq 'exhausted' ? $intent->{exhausted}
                  : $intent->{status} eq 'rejected' ? $intent->{reason} : ();

    is($is, $end // 'exhausted max_attempts', "$name: how it ends");
    is(scalar @attempts, $end ? 1 : 2, "$name: after so many attempts");

    for my $attempt (@attempts) {
        my $both = join '/', $attempt->{status}, $attempt->{reason} || ();

        like($both, $outcome, "$name: the outcome");
        like($attempt->{error}, $text, "$name: the error");

        for my $word (qw(reason error)) {
            my $string = eval { Encode::decode('UTF-8', $attempt->{$word},
                                               Encode::FB_CROAK
                                               | Encode::LEAVE_SRC) };

            ok(defined $string && length $string <= 400
               && $string !~ /[\x00-\x1f\x7f]/,
               "$name: the $word is text, and not too long");
        }

    }

    note("$name: $attempts[-1]{status} $attempts[-1]{error}") if @attempts;

    my $history = eval { $run->history($id) };

    is(@{$history->{attempts} // []}, @attempts, "$name: the API has them");
}

is_deeply([$run->leadership->executor(($run->instances)[0])], \@pids,
          'the executor worker is the same all the time');
is($run->leadership->row->{epoch}, 1, 'and so is the epoch');
wait_for('nothing hangs', sub { $gateway->state->{hung} == 0 });
is($run->store->in_flight, 0, 'nothing is in flight');

$run->done;

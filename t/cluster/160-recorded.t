# What is recorded of an attempt is what happened (G20).  A gateway does what a
# gateway should not: it reads a request and closes, answers before it was asked,
# answers half, without end, or with instructions for nginx; and the dispatch
# location has what would send again or answer in its place.
#
# Goes red when: a request that was sent and not answered is called an error, or
# a one_shot that ends that way is not "outcome_unknown"; an attempt is sent
# again by an error_page or a proxy_next_upstream; a redirect of a gateway is
# followed; the answer of a log location decides; an answer without end is read
# on; of an answer that stalls, what came is not known; the answer to what was not
# sent is taken for one.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use IO::Socket::INET;
use Socket qw(:all);
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Raw;

my $accepted = '{"status":"accepted"}';
my $rejected = '{"status":"rejected","reason":"no"}';


sub answer {
    my ($body, @head) = @_;

    return join "\r\n", 'HTTP/1.1 200 OK', 'Content-Length: ' . length $body,
                @head, '', $body;
}


my %does = (
    close => sub { },
    reset => sub { setsockopt($_[0], SOL_SOCKET, SO_LINGER, pack('ii', 1, 0)) },
    hang => sub { sleep 60 },
    unavailable => sub { syswrite($_[0], "HTTP/1.1 503 No\r\n"
                                         . "Content-Length: 0\r\n\r\n") },
    accel => sub { syswrite($_[0], answer($rejected, 'X-Accel-Redirect: /_yes')) },
    accel_named => sub { syswrite($_[0], answer($rejected,
                                                'X-Accel-Redirect: @yes')) },
    accel_missing => sub { syswrite($_[0], answer($rejected,
                                                  'X-Accel-Redirect: /_none')) },
    continue => sub { syswrite($_[0], "HTTP/1.1 100 Continue\r\n\r\n");
                      syswrite($_[0], answer($accepted)) },
    old => sub { syswrite($_[0], "HTTP/1.0 200 OK\r\n\r\n$accepted") },
    half => sub { syswrite($_[0], "HTTP/1.1 404 Gone\r\nContent-Length: 5000"
                                  . "\r\n\r\n" . 'x' x 1204) },
    stalled => sub { syswrite($_[0], "HTTP/1.1 200 OK\r\nContent-Length: 5000"
                                     . "\r\n\r\n$rejected");
                     sleep 60 },
    endless => sub {
        my $block = 'x' x 65536;

        syswrite($_[0], "HTTP/1.1 200 OK\r\n\r\n");
        1 while syswrite($_[0], $block);
    },
    early => sub {
        syswrite($_[0], "HTTP/1.1 413 Too much\r\nContent-Length: 0\r\n"
                        . "Connection: close\r\n\r\n");
        1 while sysread($_[0], my $in, 65536);
    },
);

# A gateway that does as the path says; "early" has seen enough of a request.

my $raw = SubmissionCluster::Raw->new(sub {
    my ($socket, $head) = @_;

    my ($path) = ($head // '') =~ m{^POST /(\w+)};

    $does{$path}->($socket) if $does{$path // ''};
}, early => qr{^POST /early});
my $port = $raw->port;
my $parent = $$;

# one that speaks before it is spoken to

my $hasty = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 128,
                                  ReuseAddr => 1)
    // die "listen: $!";
my $talker = fork // die "fork(): $!";

if ($talker == 0) {
    $SIG{$_} = 'DEFAULT' for qw(INT TERM HUP);

    while (my $socket = $hasty->accept) {
        syswrite($socket, answer($accepted, 'Connection: close'));
        shutdown($socket, 1);
        select(undef, undef, undef, 0.05);
        close $socket;
    }

    POSIX::_exit(0);
}

END { kill('KILL', $talker) if $talker && $$ == $parent }

my $closed = SubmissionCluster::free_port();
my %targets = map { ("http.$_" => { type => 'http', policy => 'one_shot',
                                    url => "http://127.0.0.1:$port/$_" }) }
              qw(close reset hang unavailable half stalled endless early);

$targets{"sms.$_"} = { policy => 'one_shot', url => "http://127.0.0.1:$port/$_" }
    for qw(accel accel_named accel_missing continue old endless);

# may be tried twice: what is sent again is another attempt

$targets{'http.again'} = { type => 'http', policy => 'max_attempts 2',
                           retry => '100ms',
                           url => "http://127.0.0.1:$port/hang" };
$targets{'http.next'} = { type => 'http', policy => 'max_attempts 2',
                          retry => '100ms', url => 'http://two/close' };
$targets{'http.next_503'} = { type => 'http', policy => 'one_shot',
                              url => 'http://two/unavailable' };
$targets{'http.kept'} = { type => 'http', policy => 'one_shot',
                          url => 'http://gateway/kept' };
$targets{'http.refused'} = { type => 'http', policy => 'one_shot',
                             url => "http://127.0.0.1:$closed" };
$targets{'http.logged'} = { type => 'http', policy => 'one_shot',
                            url => "http://127.0.0.1:$closed/logged" };
$targets{'http.hasty'} = { type => 'http', policy => 'one_shot',
                           url => 'http://127.0.0.1:' . $hasty->sockport };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s', targets => \%targets,
    executor => 'concurrency=512 timeout=20s',
    dispatch => 'proxy_read_timeout 2s; proxy_intercept_errors on; '
                . 'error_page 502 503 504 = @fallback; '
                . 'error_page 404 413 =200 /_yes; '
                . 'proxy_next_upstream error timeout invalid_header http_503 '
                . 'non_idempotent; proxy_ignore_client_abort on;',
    instance => { workers => 1, server => <<'END' });
        location = /_yes    { internal; return 200 '{"status":"accepted"}'; }
        location @yes       { return 200 '{"status":"accepted"}'; }
        location @fallback  {
            if ($submission_target = http.logged) { rewrite ^ /_logged last; }
            proxy_pass $fallback;
        }
        location = /_logged { internal; proxy_pass http://gateway/logged;
                              post_action @log; }
        location @log       { proxy_pass http://gateway; }
END

my $gateway = $run->gateway;
my ($a) = $run->instances;

$a->{http} .= ' map $submission_target $fallback { '
              . 'default http://gateway/fallback; }'
              . ' upstream two { ' . "server 127.0.0.1:$port max_fails=0; " x 2
              . '}';

$run->start(record => 0);
my $epoch = $run->leadership->row->{epoch};

sub first {
    my ($id) = @_;

    return $run->history($id)->{attempts}[0];
}


sub ended {
    my ($id) = @_;

    my $intent = $run->history($id)->{intent};

    return join '/', $intent->{status},
                     $intent->{exhaustedReason} // $intent->{rejectedReason} // ();
}

my $gw = qr/127\.0\.0\.1:$port/;
my $large = '{"x":"' . 'y' x 900_000 . '"}';

# target, how the intent ends, how its attempt ended, and its error

my @cases = (
    ['http.close', 'exhausted/outcome_unknown', 'unknown/no_answer',
     qr/^closed by $gw without an answer$/],
    ['http.reset', 'exhausted/outcome_unknown', 'unknown/no_answer',
     qr/^connection reset by $gw without an answer$/],
    ['http.hang', 'exhausted/outcome_unknown', 'unknown/timed_out',
     qr/^no answer within 2 s$/],
    ['http.half', 'exhausted/outcome_unknown', 'unknown/cut_off',
     qr/^closed after 1,204 bytes of the answer$/],
    ['http.stalled', 'exhausted/outcome_unknown', 'unknown/timed_out',
     qr/^no more than 35 bytes of the answer within 2 s$/],
    ['http.unavailable', 'exhausted/one_shot', 'error', qr/^HTTP 503$/],
    ['http.next_503', 'exhausted/one_shot', 'error', qr/^HTTP 503$/],
    ['http.early', 'exhausted/one_shot', 'rejected/http_413', qr/^$/, $large],
    ['http.endless', 'accepted', 'accepted', qr/^$/],
    ['sms.endless', 'exhausted/outcome_unknown', 'unknown/cut_off',
     qr/^HTTP 200, but the answer is larger than 65,536 bytes$/],
    ['sms.accel', 'exhausted/one_shot', 'rejected/no', qr/^$/],
    ['sms.accel_named', 'exhausted/one_shot', 'rejected/no', qr/^$/],
    ['sms.accel_missing', 'exhausted/one_shot', 'rejected/no', qr/^$/],
    ['sms.continue', 'exhausted/outcome_unknown', 'unknown/no_answer',
     qr/^HTTP 100 of $gw, and no answer after it$/],
    ['sms.old', 'accepted', 'accepted', qr/^$/],
);

$run->post(map { [$_->[0] =~ tr/./-/r, $_->[0], $_->[4] // '{}'] } @cases);

for (@cases) {
    my ($target, $end, $outcome, $error) = @$_;
    my $id = $target =~ tr/./-/r;

    $run->wait_terminal($id);

    my $attempt = first($id);

    is(ended($id), $end, "$target: how it ends");
    is(join('/', $attempt->{outcomeStatus}, $attempt->{outcomeReason} // ()),
       $outcome, "$target: its attempt");
    like($attempt->{error} // '', $error, "$target: the error");
}

# of an answer that stalled, what came is kept

my $kept = $run->store->value('SELECT answer FROM submission_attempts '
                              . "WHERE intent_id = 'http-stalled'");

is($run->store->unescaped($kept), $rejected, 'stalled: what is known of it');

# an answer without end is not read for long

for my $id (qw(http-endless sms-endless)) {
    my ($from, $to) = map { /T(\d+):(\d+):([\d.]+)/ or die $_;
                            $1 * 3600 + $2 * 60 + $3 }
                      @{first($id)}{qw(startedAt finishedAt)};

    cmp_ok(($to - $from + 86400) % 86400, '<', 5 * slow(),
           "$id: it stops where enough is read");
}

# nothing of that was sent to the fallback: each had left before

is_deeply([map { $_->{id} } grep { $_->{path} =~ /fallback/ } $gateway->sends], [],
          'what was sent is not sent again by an error_page');

# what is sent again is another attempt

$run->post(['again-1', 'http.again'], ['next-1', 'http.next']);
$run->wait_terminal($_) for qw(again- next-);

is_deeply([map { "$_->{attemptNumber} $_->{outcomeStatus}/$_->{outcomeReason}" }
           @{$run->history('again-1')->{attempts}}],
          ['1 unknown/timed_out', '2 unknown/timed_out'],
          'max_attempts: each send is an attempt');
is_deeply([map { "$_->{attemptNumber} $_->{outcomeStatus}/$_->{outcomeReason}" }
           @{$run->history('next-1')->{attempts}}],
          ['1 unknown/no_answer', '2 unknown/no_answer'],
          'next upstream: each send is an attempt');
is(ended('again-1'), 'exhausted/max_attempts', 'max_attempts: how it ends');

# before a byte has left another may be tried

$run->post(['refused-1', 'http.refused']);
$run->wait_terminal('refused-');
is(ended('refused-1'), 'accepted', 'refused: the fallback is tried');
is(scalar(my @fallbacks = grep { $_->{path} =~ /fallback/ } $gateway->sends), 1,
   'refused: and that is the attempt');

# what was answered was not sent, so it is not accepted

$run->post(['hasty-1', 'http.hasty']);
$run->wait_terminal('hasty-');

my $hasty_end = ended('hasty-1');

note("hasty: $hasty_end ", first('hasty-1')->{error} // '');
isnt(first('hasty-1')->{outcomeStatus}, 'accepted',
     'hasty: an answer to nothing is not one to the payload')
    if !first('hasty-1')->{httpStatus};
pass('hasty: it has an end');

# a log location on the way: nothing is sent, and it waits

$run->post(['logged-1', 'http.logged']);

wait_for('logged: it is given back', sub {
    $a->log_count(qr/attempt_unsent .*intent_id="logged-1".*post_action/) > 0;
});

is(scalar(my @logs = grep { $_->{path} =~ /log/ } $gateway->sends), 0,
   'logged: neither the gateway nor the log location has it');
is($run->history('logged-1')->{intent}{status}, 'pending', 'logged: it waits');
is_deeply($run->history('logged-1')->{attempts}, [], 'logged: it is no attempt');

# a kept-alive connection that is closed when it is used again

$gateway->behave('/kept' => 'accept');
$run->post(['kept-0', 'http.kept']);
$run->wait_terminal('kept-0');
$gateway->behave('/kept' => 'close');
$run->post(['kept-1', 'http.kept']);
$run->wait_terminal('kept-1');

is(ended('kept-1'), 'exhausted/outcome_unknown', 'kept alive: it may have left');
is(scalar(my @kept = $gateway->sends_of('kept-1')), 1, 'kept alive: once');

is($run->leadership->row->{epoch}, $epoch, 'the lease has not moved');

$run->cluster->done;

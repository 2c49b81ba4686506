# Answers at the edges of what is read: of exactly 64 KB and of a byte more, by
# length, in chunks and until the end of the connection, with and without
# buffering; answers that end too soon, without a body, or before the request.
#
# Goes red when: an answer that was read in part is taken for a whole one, or a
# whole one for a part.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;
use SubmissionCluster::Raw;

sub json {
    my ($size) = @_;

    my ($head, $tail) = ('{"status":"accepted","x":"', '"}');

    return $head . 'y' x ($size - length($head) - length $tail) . $tail;
}


sub length_of { return "HTTP/1.1 200 OK\r\nContent-Length: " . length($_[0])
                       . "\r\n\r\n$_[0]" }
sub chunks_of { return "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                       . join '', map { sprintf("%x\r\n%s\r\n", length, $_) }
                                  unpack('(a5000)*', $_[0]) }
sub until_end { return "HTTP/1.0 200 OK\r\n\r\n$_[0]" }

my ($fits, $more) = (json(65536), json(65537));
my $accepted = 'accepted/accepted';
my $cut = 'exhausted/unknown/cut_off';

# what is answered, and how the intent and its attempt end

my %cases = (
    fits => [length_of($fits), $accepted],
    more => [length_of($more), $cut],
    chunks_fit => [chunks_of($fits) . "0\r\n\r\n", $accepted],
    chunks_more => [chunks_of($more) . "0\r\n\r\n", $cut],
    chunks_cut => [chunks_of('{"status":"accepted"}'), $cut],
    end_fits => [until_end($fits), $accepted],
    end_more => [until_end($more), $cut],
    short => ["HTTP/1.1 200 OK\r\nContent-Length: 22\r\n\r\n"
              . '{"status":"accepted"}', $cut],
    long => ["HTTP/1.1 200 OK\r\nContent-Length: 21\r\n\r\n"
             . '{"status":"accepted"}HTTP/1.1 500 No', $accepted],
    none => ["HTTP/1.1 204 No content\r\n\r\n", 'exhausted/error'],
    not_modified => ["HTTP/1.1 304 Not modified\r\n\r\n", 'exhausted/error'],
    switched => ["HTTP/1.1 101 Switching\r\nUpgrade: x\r\n"
                 . "Connection: upgrade\r\n\r\n" . '{"status":"accepted"}',
                 'exhausted/unknown/no_answer'],
    half_head => ["HTTP/1.1 200 OK\r\nContent-Le", 'exhausted/unknown/no_answer'],
    large_head => ["HTTP/1.1 200 OK\r\nX: " . 'y' x 100_000 . "\r\n\r\n",
                   'exhausted/unknown/cut_off'],
    error_more => ["HTTP/1.1 500 No\r\nContent-Length: 100000\r\n\r\n"
                   . 'y' x 100_000, 'exhausted/error'],
    old_none => ["HTTP/1.0 204 No\r\n\r\n", 'exhausted/error'],
    zero => ["HTTP/1.1 000 No\r\nContent-Length: 0\r\n\r\n",
             'exhausted/unknown/no_answer'],
);

my $raw = SubmissionCluster::Raw->new(sub {
    my ($socket, $head) = @_;

    my ($path) = ($head // '') =~ m{^POST /(\w+)};
    my $answer = $cases{$path // ''}[0] // '';

    while (length $answer) {
        my $n = syswrite($socket, $answer) or last;
        substr($answer, 0, $n, '');
    }

    shutdown($socket, 1);
    sysread($socket, my $in, 1);
});
my $port = $raw->port;

my %how = (
    buffered => '',
    large => 'proxy_buffers 8 128k; proxy_busy_buffers_size 256k;',
    unbuffered => 'proxy_buffering off;',
    newer => 'proxy_http_version 1.1; proxy_request_buffering off;',
);

my %targets;

for my $how (keys %how) {
    $targets{"sms.$how-$_"} = { policy => 'one_shot',
                                url => "http://127.0.0.1:$port/$_" }
        for keys %cases;
}

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s', targets => \%targets,
    executor => 'timeout=20s', instance => { workers => 1 });
my ($a) = $run->instances;

$a->{dispatch} .= ' if ($how) { rewrite ^ /_$how last; }';
$a->{http} .= ' map $submission_target $how { ~^sms\.(?<how_name>\w+)-\w $how_name; }';
$a->{server} .= "location = /_$_ { internal; $how{$_} "
                . "proxy_pass \$submission_gateway_url; }\n"
    for keys %how;

$run->start(record => 0);
$run->post(map { my $t = $_; [$t =~ tr/./-/r, $t] } sort keys %targets);
$run->wait_terminal('sms-');

for my $how (sort keys %how) {
    for my $case (sort keys %cases) {
        my $history = $run->history("sms-$how-$case");
        my $attempt = $history->{attempts}[0];

        is(join('/', $history->{intent}{status}, $attempt->{outcomeStatus},
                     $attempt->{outcomeReason} // ()),
           $cases{$case}[1], "$how, $case: " . ($attempt->{error} // ''));
    }
}

$run->cluster->done;

# What runs beside an attempt, or in its place, is not the attempt (G20): a
# mirrored request, a refresh of a cache in the background, an error_page that
# nginx asks for by GET.  And an answer that is not HTTP has no end to wait for.
#
# Goes red when: the failure of a mirrored request is taken for that of the
# attempt; a cache sends a payload, and no attempt stands for it; an attempt
# leaves as another method than POST; an endless answer that is not HTTP is read
# on; a secret before the host of a URL is shown.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionCluster::Raw;

my $closed = SubmissionCluster::free_port();
my $seen = ($ENV{TMPDIR} // "/tmp") . "/seen.$$";

my %does = (
    hang => sub { sleep 60 },
    late => sub { select(undef, undef, undef, 1.5) },
    ok => sub { syswrite($_[0], "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") },
    fresh => sub { syswrite($_[0], "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n"
                                   . 'Cache-Control: max-age=1, '
                                   . "stale-while-revalidate=600\r\n\r\nok") },
    garbage => sub {
        my $block = 'x' x 65536;

        1 while syswrite($_[0], $block);
    },
);

# A gateway that does as the path says, and writes down each request.

my $raw = SubmissionCluster::Raw->new(sub {
    my ($socket, $head) = @_;

    my ($method, $path) = ($head // '') =~ m{^(\w+) /(\w+)};
    my ($id) = ($head // '') =~ /\r\nIdempotency-Key: ([^\r]+)/i;

    open(my $file, '>>', $seen) or die "$seen: $!";
    syswrite($file, join(' ', $method // '-', $path // '-', $id // '-') . "\n");
    close $file;

    $does{$path}->($socket) if $does{$path // ''};
});
my $port = $raw->port;


my %targets = map { ("http.$_" => { type => 'http', policy => 'one_shot',
                                    url => "http://127.0.0.1:$port/$_" }) }
              qw(garbage uri mirror_down mirror_slow cached secret);

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s', targets => \%targets,
    executor => 'timeout=20s', instance => { workers => 1 });
my ($a) = $run->instances;

$a->{dispatch} .= ' if ($odd) { rewrite ^ /_$odd last; }';
$a->{http} .= ' map $submission_target $odd { ~^http\.(?<odd_name>.*)$ $odd_name; }'
              . ' map $submission_target $nowhere { default '
              . 'http://nowhere.test/; http.secret http://s3cret@nowhere.test/; }'
              . ' proxy_cache_path tmp/cache keys_zone=cache:64k;';
$a->{server} .= <<"END";
        location = /_garbage { internal; proxy_pass http://127.0.0.1:$port/garbage; }
        location = /_uri { internal; proxy_pass http://127.0.0.1:$closed;
                           error_page 502 = /_again; }
        location = /_again { internal; proxy_pass http://127.0.0.1:$port/ok; }

        location = /_secret { internal; proxy_pass \$nowhere; }
        location = /_mirror_down { internal; proxy_pass \$nowhere;
                                   mirror /_down; }
        location = /_down { internal; proxy_pass http://unix:/_none_:/; }

        location = /_mirror_slow { internal; mirror /_slow;
                                   proxy_pass http://127.0.0.1:$port/late; }
        location = /_slow { internal; proxy_read_timeout 300ms;
                            proxy_pass http://127.0.0.1:$port/hang; }

        location = /_cached { internal; proxy_cache cache; proxy_cache_key one;
                              proxy_cache_methods POST;
                              proxy_cache_background_update on;
                              proxy_pass http://127.0.0.1:$port/fresh; }
END

$run->start(record => 0);


sub seen {
    my ($id) = @_;

    open(my $file, '<', $seen) or return;

    return grep { / \Q$id\E$/ } map { chomp; $_ } <$file>;
}


sub ended {
    my ($id) = @_;

    $run->wait_terminal($id);

    my $history = $run->history($id);
    my $attempt = $history->{attempts}[0];

    return join '/', $history->{intent}{status}, $attempt->{outcomeStatus},
                     $attempt->{outcomeReason} // ();
}


sub unsent {
    my ($id) = @_;
    my $history;

    wait_for("$id: it is given back, or counted", sub {
        $history = $run->history($id);
        $history->{intent}{lastError} || @{$history->{attempts}};
    });

    is_deeply([map { $_->{error} } @{$history->{attempts}}], [],
              "$id: it is no attempt");
    is($history->{intent}{status}, 'pending', "$id: it waits");

    return $run->store->unescaped($history->{intent}{lastError});
}


# an answer that is not HTTP

my $began = time;

$run->post(['garbage-1', 'http.garbage']);
is(ended('garbage-1'), 'exhausted/unknown/no_answer', 'garbage: it may be there');
like($run->history('garbage-1')->{attempts}[0]{error}, qr/is not HTTP$/,
     'garbage: and why');
cmp_ok(time - $began, '<', 10 * slow(), 'garbage: it is not read on');

# an error_page that is a URI, of which nginx makes a GET

$run->post(['uri-1', 'http.uri']);
is(ended('uri-1'), 'accepted/accepted', 'uri: the fallback has it');
is_deeply([seen('uri-1')], ['POST ok uri-1'], 'uri: as a POST, once');

# the mirrored request fails: that is not the attempt

$run->post(['mirror-down-1', 'http.mirror_down']);
like(unsent('mirror-down-1'), qr/^not sent: there is no "resolver" for /,
     'mirror down: why it was not sent');

$run->post(['mirror-slow-1', 'http.mirror_slow']);
is(ended('mirror-slow-1'), 'exhausted/unknown/no_answer',
   'mirror slow: the time-out is not that of the attempt');

# a URL with a secret in the place of a user

$run->post(['secret-1', 'http.secret']);
like(unsent('secret-1'), qr/^not sent: there is no "resolver" for the name "nowhere\.test"$/,
     'secret: it is not shown');

# an answer in a cache, which nginx refreshes in the background

$run->post(['cached-1', 'http.cached']);
is(ended('cached-1'), 'accepted/accepted', 'cached: the first is sent');

my $since = time;

wait_for('the answer is stale', sub { time - $since > 2.5 });

$run->post(['cached-2', 'http.cached']);

wait_for('cached: the second is sent, or given back', sub {
    my $intent = $run->history('cached-2')->{intent};
    $intent->{lastError} || $intent->{status} ne 'pending';
});

my $attempts = () = @{$run->history('cached-2')->{attempts}};
my $sends = () = seen('cached-2');

is($sends, $attempts, 'cached: for each send there is an attempt');

$a->expect_log(qr/no resolver defined|unix:|timed out/);
$run->cluster->done;

package SubmissionCluster::Fuzz;

# Clients that nobody thought of: requests over HTTP/1.1 and HTTP/2, good ones
# and damaged ones, sent in pieces, not read, cut off anywhere.
#
#   my $fuzz = SubmissionCluster::Fuzz->new(
#       http => [$port, ...], http2 => [$port, ...], clients => 40);
#   $cluster->each_turn($fuzz);
#   ...
#   $fuzz->stop;
#
# A client is a plan: what it does, and when.  What it is answered is looked at
# as it comes:
#
#   {ids}{$id}          each id that a complete answer 200 has told
#   {statuses}{$code}   how many there were of each
#   {wrong}             answers that must not be: 500s, preconditions of things
#                       that have none, and what says that it is JSON and is not

use strict;
use warnings;

use Time::HiRes qw(time);


my @targets = qw(sms.realtime push.marketing http.hook sms.once);

my @behaviours = ('accept', 'accept', 'accept', 'reject invalid_request',
                  'reject invalid_token', 'reject', 'answer 404',
                  'answer 500', 'answer 429 1', 'delay 50', 'delay 400',
                  'fail 1', 'reset', 'close', 'not_http', 'bad_reason',
                  'garbage', 'empty', 'unknown', 'short', 'short_chunked',
                  'chunked', 'long_reason', 'deep');

my @texts = ('', 'a', 'x' x 200, 'x' x 201, '..', '.', '/', '%', '%2F', '%00',
             '%zz', '%C3%A9', '%FF', "\xc3\xa9", "\xff", "\xed\xa0\x80",
             "\xf0\x9f\x98\x80", '\\u0000', '\\ud800', '\\ud83d\\ude00', '"',
             '\\', '\\"', "'", "\0", "\n", "\r\n", "\t", '%20', ' ', '+', '&',
             '=', '?', '#', ';', ':', '{', '}', '[', ']', ',', 'null', 'true',
             '-1', '0', '1e999', '18446744073709551616', '[' x 200, '{"a":' x 130,
             'x' x 3000, 'x' x 20000);

my @times = ('2020-01-01T00:00:00Z', '2026-02-02T12:00:00.123456+05:30',
             '2026-02-30T12:00:00Z', '9999-12-31T23:59:59Z',
             '0000-00-00T00:00:00Z', '2026-02-02T24:00:60-23:59',
             '2026-02-02', '2026-02-02T12:00:00', 'now');

my @headers = ('Connection: close', 'Connection: keep-alive',
               'Content-Type: text/plain', 'Content-Type: application/x+json',
               'Content-Type: application/json; charset=utf-8',
               'Content-Type:', 'Content-Type: application/',
               'Expect: 100-continue', 'Content-Length: 0',
               'Content-Length: -1', 'Content-Length: 99999999999999999999',
               'Transfer-Encoding: chunked', 'Transfer-Encoding: identity',
               'Range: bytes=0-', 'If-None-Match: *', 'If-Match: "x"', 'Host:', 'Host: a b',
               'Upgrade: h2c', 'Accept-Encoding: gzip', 'Cookie: a=b',
               'X-Long: ' . 'x' x 5000, "X-Bad: \0", ': none', 'no colon',
               'Idempotency-Key: x', 'X-HTTP-Method-Override: PUT',
               'Content-Type: application/x-ndjson',
               'Content-Type: application/x-ndjson; charset=utf-8',
               'traceparent: 00-0af7651916cd43dd8448eb211c80319c-'
               . 'b7ad6b7169203331-01',
               'traceparent: 00-' . '0' x 32 . '-' . '0' x 16 . '-00',
               'traceparent: ff', 'tracestate: a=b,c=d',
               'tracestate: ' . 'x' x 600, 'If-Match: *',
               'Sec-Fetch-Site: cross-site', 'Sec-Fetch-Site: same-origin',
               'Origin: null');

# what is done to an intent, or to something else that has a name

my @verbs = qw(cancel replay payload history pause resume run stop webhooks/resend);
my @things = qw(intents audit failures config targets replays cancels schedules
                stats overview cluster);


sub new {
    my ($class, %options) = @_;

    return bless {
        clients => 40, peers => {}, opened => 0, ids => {}, statuses => {},
        wrong => [], names => 0, %options,
    }, $class;
}


sub pick { return $_[rand @_] }

sub chance { return rand() < $_[0] }

sub token { return pick(@texts) }


# what a request says

sub id {
    my ($self) = @_;

    return 'fuzz-' . int rand 1 + $self->{names} if chance(0.2);
    return token() . 'fuzz-' . ++$self->{names} . token() if chance(0.15);
    return 'fuzz-' . ++$self->{names};
}


sub payload {
    my $behaviour = pick(@behaviours);

    return pick(
        qq({"gateway":"$behaviour"}), qq({"gateway":"$behaviour"}),
        '1', 'null', '"' . token() . '"', '[' . token() . ']',
        '{"a":[{"b":"' . token() . '"},1.5e3,true]}',
        '"' . 'x' x rand(chance(0.1) ? 200_000 : 3000) . '"');
}


# soon, or no time at all: whatever is taken must end before the test does

sub not_before {
    return chance(0.2) ? token() : pick(@times[0, 1]) if chance(0.5);

    my @t = gmtime(time + rand 3);

    return sprintf '%04d-%02d-%02dT%02d:%02d:%02dZ', $t[5] + 1900, $t[4] + 1,
                   @t[3, 2, 1, 0];
}


# lines of intents, good and bad

sub bulk {
    my ($self) = @_;

    my $n = pick(0, 1, 2, 10, 10, 50, 300, 999, 1000, 1001);
    my @lines = map { $self->body } 1 .. $n;

    # most of the bytes are of few lines

    $_ = substr($_, 0, 400) for @lines[5 .. $#lines];
    splice(@lines, rand @lines, 1, pick('', ' ', token(), "\r", '{' x 5000))
        if @lines && chance(0.3);

    my $body = join(pick("\n", "\n", "\n", "\r\n", "\n\n"), @lines)
               . pick("\n", "\n", '', "\n\n", "\0");

    return chance(0.1) ? mutate($body) : $body;
}


# few names, so that they are there when something is done to them

sub schedule { return 'fuzz-s' . int rand 20 }


# a schedule, or what is done to one; mostly good

sub schedule_request {
    my @headers = chance(0.2) ? pick('If-Match: *', 'If-None-Match: *',
                                     'If-Match: "1"') : ();
    my $path = '/operate/schedules/' . schedule();

    return { method => pick('DELETE', 'GET'), path => $path,
             headers => \@headers } if chance(0.3);

    return { method => 'POST', headers => \@headers, body => '',
             path => "$path/" . pick('run', 'pause', 'resume') }
        if chance(0.4);

    my $body = '{"submissionTarget":"' . pick(@targets) . '","payload":'
               . payload() . ',' . pick('"every":"PT1S"', '"every":"PT2S"',
                                        '"cron":"* * * * *"',
                                        '"cron":"*/2 * * * *",'
                                        . '"timeZone":"Europe/Stockholm"')
               . ',"misfire":"' . pick(qw(skip once all)) . '","overlap":"'
               . pick(qw(skip allow)) . '"'
               . pick('', '', ',"startAt":"2026-01-01T00:00:00Z"') . '}';

    return { method => 'PUT', path => $path, body => $body,
             headers => ['Content-Type: application/json', @headers] };
}


# bodies of what is done: a replay's, a job's, a schedule's, or an intent's

sub action_body {
    my ($self) = @_;

    return $self->body if chance(0.2);

    my @fields = map { pick(
        '"intentId":"' . $self->id . '"', '"id":"' . $self->id . '"',
        '"contract":"' . pick('original', 'current', token()) . '"',
        '"reason":"' . token() . '"', '"limit":' . pick(1, 10, 0, -1, '1e9'),
        '"dryRun":' . pick('true', 'false', 'null'),
        '"filter":{"status":"' . pick('pending', 'exhausted', token())
        . '","target":"' . pick(@targets) . '"}',
        '"filter":{"idPrefix":"' . token() . '","from":"' . pick(@times) . '"}',
        '"submissionTarget":"' . pick(@targets) . '"', '"payload":' . payload(),
        '"every":"' . pick('PT1S', 'PT10M', 'P1D', 'PT0S', token()) . '"',
        '"cron":"' . pick('* * * * *', '*/5 1-3 1,2 * 0', token()) . '"',
        '"timeZone":"' . pick('Europe/Stockholm', 'UTC', '../etc', token()) . '"',
    ) } 0 .. rand 4;

    my $body = '{' . join(',', @fields) . '}';

    return chance(0.15) ? pick('', '{}', '[]', mutate($body)) : $body;
}


sub body {
    my ($self) = @_;

    my @fields = ('"intentId":"' . $self->id . '"',
                  '"submissionTarget":"' . pick(@targets) . '"',
                  '"payload":' . payload());

    push @fields, '"notBefore":"' . not_before() . '"' if chance(0.1);

    if (chance(0.15)) {
        my $what = int rand 5;

        $fields[0] = '"intentId":' . pick(1, 'null', '[]', '""') if $what == 0;
        $fields[1] = '"submissionTarget":"' . token() . '"' if $what == 1;
        push @fields, '"' . token() . '":1' if $what == 2;
        push @fields, $fields[rand @fields] if $what == 3;
        splice(@fields, rand @fields, 1) if $what == 4;
    }

    my $body = '{' . join(pick(',', ', ', " ,\n"), @fields) . '}';

    $body = pick('', '{', '[]', 'null', token(), $body . token(),
                 substr($body, 0, rand length $body)) if chance(0.15);

    return chance(0.1) ? mutate($body) : $body;
}


sub query {
    my @args = ('status=pending', 'status=accepted', 'status=' . token(),
                'target=sms.realtime', 'target=' . token(), 'limit=5',
                'limit=500', 'limit=' . token(), 'after=' . token(),
                'after=MTcwMDAwMDAwMDAwMDAwMCBh', 'after=2', 'waitSeconds=1',
                'waitSeconds=2', 'waitSeconds=' . token(), token() . '=1',
                'until=terminal', 'until=' . token(), 'reason=' . token(),
                'reason=invalid_request', 'from=' . pick(@times),
                'to=' . pick(@times), 'by=completed', 'by=' . token(),
                'idPrefix=fuzz-', 'idPrefix=' . token(), 'order=asc',
                'order=' . token(), 'since=' . pick(@times), 'actor=' . token(),
                'action=cancel', 'action=' . token(), 'window=60',
                'window=' . token(), token(), '');

    return '' if chance(0.3);
    return '?' . join pick('&', '&', '&&', ';'), map { pick(@args) }
                                                0 .. rand 4;
}


sub path {
    my ($self) = @_;

    my $root = pick('/v1', '/v1', '/operate', '/operate', '/slow',
                    '/console/api/v1');

    return "$root/" . pick(@things) . query() if chance(0.2);
    return "$root/" . pick('intents', 'intents', pick(@things)) . '/'
           . pick($self->id, pick(@targets), 'webhook%20ops', schedule()) . '/'
           . pick(@verbs) . query()
        if chance(0.3);

    return pick("$root/intents", "$root/intents/" . $self->id,
                "$root/intents/" . $self->id . '/history', "$root/cluster",
                '/readyz', '/metrics', '/wake', '/console/',
                '/console/' . pick('app.js', 'x', '../v1/overview', token()),
                "$root/", $root, "$root//intents",
                "$root/./intents", "$root/x/../intents", "$root/intents/",
                "$root/" . token(), '/' . token(), "$root/intents/" . token(),
                "$root/intents/" . $self->id . '/' . token())
           . query();
}


# A method, a path, headers and a body, or none.  POSTs of intents as a rule.

sub request {
    my ($self) = @_;

    my @headers = chance(0.2) ? map { pick(@headers) } 0 .. rand 3 : ();

    # what was posted before, as a rule, and while it may be in flight

    if (chance(0.15)) {
        my $id = chance(0.8) ? 'fuzz-' . int(1 + rand $self->{names}) : $self->id;

        return { method => 'POST', headers => \@headers,
                 path => pick('/v1', '/operate', '/slow') . "/intents/$id/"
                         . pick('cancel', 'replay'),
                 body => chance(0.5) ? '' : $self->action_body };
    }

    return schedule_request() if chance(0.05);

    if (chance(0.07)) {
        return { method => 'POST', path => pick('/v1', '/slow') . '/intents'
                                           . (chance(0.1) ? query() : ''),
                 headers => ['Content-Type: application/x-ndjson', @headers],
                 body => $self->bulk };
    }

    if (chance(0.5)) {
        my $wait = chance(0.3) ? '?waitSeconds=' . pick(0, 1, 1, 2, 30)
                                 . pick('', '&until=terminal') : '';

        return { method => 'POST', path => pick('/v1', '/v1', '/slow')
                                           . "/intents$wait",
                 headers => ['Content-Type: application/json', @headers],
                 body => $self->body };
    }

    my $method = pick('GET', 'GET', 'GET', 'GET', 'HEAD', 'POST', 'PUT',
                      'DELETE', 'OPTIONS', 'PATCH', 'FOO');

    return { method => $method, path => $self->path, headers => \@headers,
             body => $method =~ /^(?:POST|PUT|PATCH)$/ || chance(0.05)
                     ? $self->action_body : undef };
}


sub mutate {
    my ($bytes) = @_;

    for (0 .. rand 4) {
        my $at = int rand 1 + length $bytes;
        my $what = int rand 5;

        if ($what == 0 && $at < length $bytes) {
            substr($bytes, $at, 1) ^= chr(1 << int rand 8);

        } elsif ($what == 1) {
            substr($bytes, $at, rand 8) = '';

        } elsif ($what == 2) {
            substr($bytes, $at, 0) = token();

        } elsif ($what == 3) {
            substr($bytes, $at, 0) = substr($bytes, rand length $bytes,
                                            rand 60) // '';

        } elsif ($at < length $bytes) {
            substr($bytes, $at, 1) = chr int rand 256;
        }
    }

    return $bytes;
}


# HTTP/1.1

sub chunked {
    my ($body) = @_;

    my $bytes = '';

    while (length $body) {
        my $part = substr($body, 0, 1 + rand 2000, '');
        $bytes .= sprintf("%x%s\r\n%s\r\n", length $part,
                          chance(0.1) ? ';x=y' : '', $part);
    }

    return $bytes . "0\r\n" . (chance(0.1) ? "T: x\r\n" : '') . "\r\n";
}


sub http_bytes {
    my ($r) = @_;

    my @headers = @{$r->{headers}};
    my $body = $r->{body};

    if (defined $body && chance(0.15)) {
        push @headers, 'Transfer-Encoding: chunked';
        $body = chunked($body);

    } elsif (defined $body) {
        push @headers, 'Content-Length: '
                       . (length($body) + (chance(0.03) ? int rand(9) - 4 : 0));
    }

    my $version = chance(0.03) ? pick('HTTP/1.0', 'HTTP/2.0', 'HTTP/1', '')
                               : 'HTTP/1.1';
    my $path = $r->{path} =~ s/[\r\n ]/%20/gr;

    return "$r->{method} $path $version\r\nHost: test\r\n"
           . join('', map { "$_\r\n" } @headers) . "\r\n" . ($body // '');
}


# HTTP/2: frames, and headers without compression

sub frame {
    my ($type, $flags, $stream, $payload) = @_;

    return substr(pack('N', length $payload), 1)
           . pack('CCN', $type, $flags, $stream) . $payload;
}


sub hpack_length {
    my ($n) = @_;

    return chr $n if $n < 127;

    my $bytes = chr 127;

    for ($n -= 127; $n > 127; $n >>= 7) {
        $bytes .= chr(128 | $n & 127);
    }

    return $bytes . chr $n;
}


sub hpack {
    my (@fields) = @_;

    return join '', map {
        my ($name, $value) = @$_;
        "\0" . hpack_length(length $name) . $name
        . hpack_length(length $value) . $value;
    } @fields;
}


sub http2_request {
    my ($r, $stream) = @_;

    my @fields = ([':method', $r->{method}], [':scheme', 'http'],
                  [':path', $r->{path}], [':authority', 'test']);

    for (@{$r->{headers}}) {
        my ($name, $value) = split /:\s*/, $_, 2;
        push @fields, [lc $name, $value // ''];
    }

    push @fields, ['content-length', length $r->{body}]
        if defined $r->{body} && chance(0.5);

    my $block = hpack(@fields);
    my $body = $r->{body};
    my @frames;
    my $end = defined $body ? 0 : 1;

    if (chance(0.1) && length $block > 2) {
        my $part = substr($block, 0, 1 + rand(length($block) - 2), '');

        push @frames, frame(1, $end, $stream, $part),
                      frame(9, 4, $stream, $block);

    } else {
        push @frames, frame(1, 4 | $end, $stream, $block);
    }

    while (!$end) {
        my $part = substr($body, 0, 1 + rand 16000, '');

        $end = 1 if !length $body;

        if (chance(0.1)) {
            my $pad = int rand 20;
            push @frames, frame(0, 8 | $end, $stream,
                                chr($pad) . $part . "\0" x $pad);

        } else {
            push @frames, frame(0, $end, $stream, $part);
        }
    }

    return @frames;
}


# each a piece: frames are sent one by one, or together

sub http2_pieces {
    my ($self) = @_;

    my $window = pick(0, 0, 1, 10, 100, 65535, 65535, 0x7fffffff);
    my $settings = pack('nN', 4, $window);
    my @streams = map { 2 * $_ + 1 } 0 .. rand pick(1, 3, 20);
    my @pieces;

    $settings .= pack('nN', 1, pick(0, 100, 4096)) if chance(0.2);
    $settings .= pack('nN', 5, pick(16384, 1 << 20, 5)) if chance(0.1);

    push @pieces, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" . frame(4, 0, 0, $settings);

    for my $stream (@streams) {
        my @frames = http2_request($self->request, $stream);

        splice(@frames, 1 + rand @frames) if chance(0.1);

        push @frames, frame(8, 0, pick(0, $stream), pack('N',
            pick(0, 1, 50, 1000, 65535, 0x7fffffff))) if chance(0.4);
        push @frames, frame(3, 0, pick($stream, $stream, pick(@streams)),
                            pack('N', int rand 14)) if chance(0.15);
        push @frames, frame(6, 0, 0, 'pingpong') if chance(0.1);
        push @frames, frame(2, 0, $stream, pack('NC', $stream + 2, 7))
            if chance(0.05);
        push @frames, frame(4, 0, 0, pack('nN', 4, pick(0, 1, 70000)))
            if chance(0.1);
        push @frames, frame(int rand 12, int rand 256, pick(0, $stream),
                            substr(token(), 0, 100)) if chance(0.03);

        push @pieces, chance(0.5) ? @frames : join '', @frames;
    }

    push @pieces, frame(4, 1, 0, '') if chance(0.5);
    push @pieces, frame(7, 0, 0, pack('NN', 0, 0)) if chance(0.1);
    push @pieces, frame(8, 0, 0, pack('N', 100_000)) if chance(0.3);
    push @pieces, map { frame(8, 0, $_, pack('N', 100_000)) } @streams
        if chance(0.5);

    $pieces[$_] = mutate($pieces[$_]) for chance(0.1) ? rand @pieces : ();

    return @pieces;
}


# bytes cut at random, and not at all as a rule

sub http_pieces {
    my ($self) = @_;

    my $n = pick(1, 1, 1, 2, 5, 20, 60);
    my $bytes = join '', map { http_bytes($self->request) } 1 .. $n;
    my @pieces;

    $bytes = mutate($bytes) if chance(0.15);

    if (chance(0.3)) {
        push @pieces, substr($bytes, 0, 1 + rand length $bytes, '')
            for 0 .. rand 6;
    }

    return (@pieces, $bytes);
}


# a piece, a while, the next; then it goes, or stays to hear

sub open {
    my ($self) = @_;

    my $http2 = @{$self->{http2}} && chance(0.4);
    my $port = pick(@{$self->{$http2 ? 'http2' : 'http'}});
    my $peer = SubmissionCluster::Fuzz::Peer->open($port,
                   chance(0.7) ? (receive => 4096) : ());

    $peer->{fuzz} = $self;
    $peer->{http2} = $http2;

    my $at = time;
    my @plan;

    push @plan, [$at, 'deaf', 1] if chance(0.25);

    for my $piece ($http2 ? $self->http2_pieces : $self->http_pieces) {
        push @plan, [$at, 'more', $piece];
        $at += pick(0, 0, 0, 0, rand 0.05, rand 0.5, chance(0.1) ? 3 : 0);
    }

    splice(@plan, 1 + rand @plan) if chance(0.1);

    $at += pick(0, rand 0.1, rand 0.5, rand 1.5, rand 1.5, rand 4);
    push @plan, [$at, 'half_close'] if chance(0.05);
    push @plan, [$at, 'deaf', 0], [$at += rand 1, 'deaf', 0] if chance(0.3);
    push @plan, [$at + rand 0.5, pick('reset', 'close', 'close')];

    $peer->{plan} = \@plan;
    $self->{peers}{$peer->{fd}} = $peer;
    $self->{opened}++;
}


sub tick {
    my ($self) = @_;

    my $now = time;

    for my $fd (keys %{$self->{peers}}) {
        my $peer = $self->{peers}{$fd};
        my $plan = $peer->{plan};

        while (@$plan && $plan->[0][0] <= $now && $peer->is_open) {
            my (undef, $what, @arguments) = @{shift @$plan};
            $peer->$what(@arguments);
        }

        delete $self->{peers}{$fd} if !$peer->is_open;
    }

    return if $self->{stopped};

    $self->open while keys %{$self->{peers}} < $self->{clients};
}


# all go, at once

sub stop {
    my ($self) = @_;

    $self->{stopped} = 1;
    $_->reset for values %{$self->{peers}};
    $self->{peers} = {};
}


sub answered {
    my ($self, $status, $type, $body) = @_;

    $self->{statuses}{$status}++;

    my $wrong = $status =~ /^(?:500|502|504)$/ ? 'not of this API' : '';

    # of many at once each line is an answer

    if (($type // '') eq 'application/x-ndjson') {
        for (split /\n/, $body) {
            my $json = eval { JSON::PP->new->utf8->decode($_) };

            $wrong ||= 'not a line of JSON' if !$json;
            $wrong ||= 'a line of 500' if $json && ($json->{status} // '') eq 500;
            $self->{ids}{$json->{intent}{intentId}}++
                if $json && $json->{intent};
        }
    }

    if (($type // '') eq 'application/json') {

        # a payload is as the client sent it, with half a character, too

        my $json = eval {
            JSON::PP->new->utf8->decode($body =~ s/\\ud800(?!\\ud)//gr);
        };

        $wrong ||= 'not JSON' if !$json;

        if ($json && $status eq '200') {
            $self->{ids}{$_}++ for grep { defined } map {
                ref $_ eq 'HASH' ? $_->{intentId} : undef;
            } $json, $json->{intent}, @{$json->{intents} // []};
        }
    }

    push @{$self->{wrong}}, "$status, $wrong: " . substr($body, 0, 200)
        if $wrong;
}


package SubmissionCluster::Fuzz::Peer;

use parent -norequire, 'SubmissionCluster::Connection';

use JSON::PP ();

# those that HPACK has in its table

my %statuses = ("\x88" => 200, "\x89" => 204, "\x8a" => 206, "\x8b" => 304,
                "\x8c" => 400, "\x8d" => 404, "\x8e" => 500);


# Answers are looked at as far as they go: what the client said may have been
# one request, or three.

sub readable {
    my ($self) = @_;

    my $n = sysread($self->{socket}, $self->{in}, 65536, length $self->{in});

    if ($n) {
        my $next = $self->{http2} ? 'http2_answer' : 'http_answer';
        1 while $self->$next;

    } elsif (defined $n || !($!{EAGAIN} || $!{EINTR})) {
        $self->close;
    }
}


sub http_answer {
    my ($self) = @_;

    # HTTP/0.9, or the rest of an answer to HEAD: nobody can tell
    return 0 if $self->{in} !~ /^HTTP/;

    my $end = index($self->{in}, "\r\n\r\n");

    return 0 if $end < 0;

    my $head = substr($self->{in}, 0, $end);
    my ($status) = $head =~ m{^HTTP/1\.1 (\d+)};
    my ($length) = $head =~ /^Content-Length: (\d+)/mi;
    my ($type) = $head =~ /^Content-Type: ([^\r;]+)/mi;

    if ($status && $status == 100) {
        substr($self->{in}, 0, $end + 4, '');
        return 1;
    }

    return 0 if !defined $status || !defined $length;

    # an answer to HEAD has no body: the next one follows, if only a page for
    # a line that was taken for HTTP/0.9

    my $body = substr($self->{in}, $end + 4, $length);

    if ($body =~ /^HTTP|^<html/ && ($type // '') ne 'text/html') {
        substr($self->{in}, 0, $end + 4, '');
        return 1;
    }

    return 0 if length $body < $length;

    substr($self->{in}, 0, $end + 4 + $length, '');
    $self->{fuzz}->answered($status, $type, $body);

    return 1;
}


sub http2_answer {
    my ($self) = @_;

    return 0 if length $self->{in} < 9;

    my ($high, $low, $type, $flags, $stream) = unpack('CnCCN', $self->{in});
    my $length = $high << 16 | $low;

    return 0 if length $self->{in} < 9 + $length;

    my $payload = substr($self->{in}, 9, $length);

    substr($self->{in}, 0, 9 + $length, '');

    my $answer = $self->{answers_of}{$stream} //= { body => '' };

    if ($type == 1) {
        $payload =~ s/^[\x20-\x3f]+//;
        $answer->{status} = $statuses{substr($payload, 0, 1)}
                            // ($payload =~ /^\x48\x03(\d\d\d)/ ? $1 : 'none');

    } elsif ($type == 0) {
        $answer->{body} .= $payload;
    }

    if ($type < 2 && $flags & 1) {
        my $body = $answer->{body};

        # headers are not decoded: no answer but JSON begins so

        $self->{fuzz}->answered($answer->{status},
            $body =~ /^\{"line":/ ? 'application/x-ndjson'
            : $body =~ /^\{/ ? 'application/json' : undef, $body);
        delete $self->{answers_of}{$stream};
    }

    return 1;
}


1;

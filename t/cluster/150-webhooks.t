# Webhooks: each end is told to a receiver, signed as Standard Webhooks says, and
# again after failures under the same id.  A client cannot send to a webhook, and
# sees its events only in the history of their intent.
#
# Goes red when: an end is not told, or told before it is true; a signature is of
# something else, or a second secret does not sign; another attempt has another id;
# a redirection or a lost answer passes for success; an event shows up in a list.
# The public library verifies what came where node has it, OpenSSL always.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Digest::SHA qw(hmac_sha256);
use File::Temp qw(tempdir);
use JSON::PP qw(decode_json encode_json);
use MIME::Base64 qw(encode_base64);
use POSIX qw(strftime);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;
use SubmissionReceiver;

my $dir = tempdir(CLEANUP => 1);
my @keys = (join('', map { chr($_ * 7 % 256) } 1 .. 32), 'k' x 24);
my @secrets = map { 'whsec_' . encode_base64($_, '') } @keys;

sub secret_file {
    my ($name, @lines) = @_;

    open(my $file, '>', "$dir/$name") or die "$dir/$name: $!";
    print $file map { "$_\n" } @lines;
    close $file;
    chmod 0600, "$dir/$name";

    return "$dir/$name";
}

my $both = secret_file('both', @secrets);
my $one = secret_file('one', $secrets[1]);

# each message fails in every way before it is taken

my $receiver = SubmissionReceiver->new("$dir/ops", sub {
    my ($request, $n) = @_;

    return 204 if $request->{path} eq '/signed';
    return 410 if $request->{path} eq '/gone';
    return 500 if $request->{path} eq '/later';
    return $n == 1 ? 500 : $n == 2 ? (302, 'Location: /other')
           : $n == 3 ? undef : 204;
});
my $port = $receiver->port;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], elsewhere => qr/^(?: |s-)/,
    instance => { server => 'location /o/v1/ { submission_api main '
                            . 'access=operate; }', manager => <<"END" },
        webhook ops concurrency=4 {
            url http://127.0.0.1:$port/ops;
            secret_file $both;
            retry_delay 50ms;
            policy max_attempts 100;
        }
        webhook bad.ends {
            url http://127.0.0.1:$port/bad;
            secret_file $one;
            events rejected exhausted;
            retry_delay 50ms;
            policy max_attempts 100;
        }
        webhook gone {
            url http://127.0.0.1:$port/gone;
            secret_file $one;
            retry_delay 50ms;
            events canceled;
        }
        webhook later {
            url http://127.0.0.1:$port/later;
            secret_file $one;
            retry_delay 1h;
            events accepted;
        }
        notify ops;
        notify gone;
        notify later;
        notify bad.ends on=rejected;
        target signed {
            gateway_type http;
            gateway_url http://127.0.0.1:$port/signed;
            policy one_shot;
            sign_secret_file $one;
            notify bad.ends;
        }
END
    targets => { 'told' => { type => 'http', policy => 'max_attempts 1',
                             path => '/told', outcomes => 'http_422' },
                 'late' => { type => 'http', policy => 'deadline 1s',
                             path => '/late' } });
my ($gateway, $store) = ($run->gateway, $run->store);

$run->start;
$gateway->behave('/late' => 'answer 500', '/once' => 'answer 500',
                 'r-' => 'answer 422', 'e-' => 'answer 500');

my ($here) = $run->instances;
my $trace = '4bf92f3577b34da6a3ce929d0e0e4736';
my %end = ('a-1' => 'accepted', 'r-1' => 'rejected', 'e-1' => 'exhausted',
           'd-1' => 'exhausted', 'o-1' => 'exhausted', 's-1' => 'accepted',
           'c-1' => 'canceled', 'a-"2"\\' => 'accepted');

delete $end{'a-"2"\\'} if !$store->escapes;

my %target = (r => 'told', e => 'told', d => 'late', o => 'sms.once',
              s => 'signed');

for my $id (sort keys %end) {
    my $target = $target{substr $id, 0, 1} // 'sms.realtime';
    my $before = $id =~ /^c/
                 ? strftime('%Y-%m-%dT%H:%M:%SZ', gmtime(time + 86400)) : undef;
    my $answer = fetch($here, 'POST', '/v1/intents',
        encode_json({ intentId => $id, submissionTarget => $target,
                      payload => { for => $id },
                      $before ? (notBefore => $before) : () }),
        headers => ["traceparent: 00-$trace-00f067aa0ba902b7-01"]);

    is($answer->{status}, 200, "$id is posted") or diag($answer->{body});
}

is(fetch($here, 'POST', '/v1/intents/c-1/cancel', '')->{status}, 200,
   'one is canceled');


# all that came to a webhook, by intent

sub told {
    my ($path) = @_;

    my %of;

    for my $request (grep { $_->{path} eq $path } $receiver->requests) {
        my $body = decode_json($request->{body});

        push @{$of{$body->{data}{intentId}}}, { %$request, json => $body };
    }

    return \%of;
}

sub delivered {
    my ($path) = @_;

    select(undef, undef, undef, 0.05);

    my $of = told($path);

    return scalar grep { grep { ($_->{status} // 0) == 204 } @{$of->{$_}} }
                  keys %$of;
}

my $bad = grep { $_ eq 'rejected' } values %end;

wait_for('each end is told', sub { delivered('/ops') == keys %end }, 30);
wait_for('bad ends are told', sub { delivered('/bad') == $bad }, 30);

sub signature {
    my ($key, $request) = @_;

    return 'v1,' . encode_base64(hmac_sha256(join('.',
        $request->{headers}{'webhook-id'},
        $request->{headers}{'webhook-timestamp'}, $request->{body}), $key), '');
}

my $of = told('/ops');
my (%ids, @wrong, %spans);

for my $id (sort keys %$of) {
    my @requests = @{$of->{$id}};
    my %id = map { $_->{headers}{'webhook-id'} => 1 } @requests;

    push @wrong, "$id has " . keys(%id) . ' ids' if keys %id != 1;
    push @wrong, "$id was told " . @requests . ' times' if @requests != 4;
    push @wrong, "$id: type $_->{json}{type}"
        for grep { $_->{json}{type} ne "intent.$end{$id}" } @requests;

    my $intent = decode_json(fetch($here, 'GET', '/v1/intents/'
                     . $id =~ s/([^\w-])/sprintf '%%%02X', ord $1/ger)->{body});

    for my $request (@requests) {
        my $h = $request->{headers};

        push @wrong, "$id: signature"
            if $h->{'webhook-signature'}
               ne join ' ', map { signature($_, $request) } @keys;
        push @wrong, "$id: timestamp $h->{'webhook-timestamp'}"
            if abs($h->{'webhook-timestamp'} - $request->{time}) > 60;
        push @wrong, "$id: id $h->{'webhook-id'}"
            if $h->{'webhook-id'} !~ /^msg_[0-9a-f]{32}$/;
        push @wrong, "$id: $h->{traceparent}"
            if $h->{traceparent} !~ /^00-$trace-([0-9a-f]{16})-01$/
               || $spans{$1}++;
        push @wrong, "$id: $request->{method} $h->{'content-type'}"
            if "$request->{method} $h->{'content-type'}"
               ne 'POST application/json';
        is_deeply($request->{json}{data}, $intent, "$id is as GET shows it")
            if $request == $requests[0];
        push @wrong, "$id: another body"
            if $request->{body} ne $requests[0]{body};
    }

    push @wrong, "$id: said " . $requests[0]{json}{timestamp}
        if $requests[0]{json}{timestamp} ne $intent->{completedAt};

    $ids{$_}++ for keys %id;
}

is_deeply(\@wrong, [], 'each is told as it should be');
is(keys %ids, keys %end, 'each under an id of its own');
is_deeply([keys %{told('/bad')}], ['r-1'], 'of one end alone');


# 410 pauses

wait_for('it is paused', sub {
    select(undef, undef, undef, 0.05);
    ($store->value("SELECT state FROM submission_targets WHERE "
                   . "submission_target = 'webhook gone'") // '') eq 'paused';
});
pass('the webhook that answers 410 is paused');

my $held = '/o/v1/targets/webhook%20gone';

my $told = grep { $_->{path} eq '/gone' } $receiver->requests;

is(fetch($here, 'POST', "$held/resume", '')->{status}, 200, 'it is resumed');

wait_for('and told again', sub {
    select(undef, undef, undef, 0.05);
    (grep { $_->{path} eq '/gone' } $receiver->requests) > $told;
});
pass('a webhook that was resumed is told again');

is(fetch($here, 'GET', '/v1/stats?target=webhook%20gone')->{status}, 200,
   'it has numbers as other targets');

# what verifies without us

my ($sample) = @{$of->{'a-1'}};

{
    my $h = $sample->{headers};

    open(my $file, '>', "$dir/signed") or die $!;
    print $file join('.', @$h{qw(webhook-id webhook-timestamp)},
                     $sample->{body});
    close $file;

    my $hex = unpack 'H*', $keys[0];
    my $mac = `openssl dgst -sha256 -mac HMAC -macopt hexkey:$hex -binary $dir/signed | openssl base64 -A`;

    is($h->{'webhook-signature'} =~ /^v1,(\S+)/ && $1, $mac, 'as OpenSSL signs');
}

# "make" gets the public library where there is npm

SKIP: {
    local $ENV{NODE_PATH} = "$FindBin::Bin/../../build/webhooks/node_modules";

    skip 'node has no "standardwebhooks"', 1
        if system('node -e "require(\'standardwebhooks\')" > /dev/null 2>&1');

    open(my $file, '>', "$dir/sample.json") or die $!;
    print $file encode_json({ headers => $sample->{headers},
                              body => $sample->{body} });
    close $file;

    my $said = `node -e '
        const { Webhook } = require("standardwebhooks");
        const s = JSON.parse(require("fs").readFileSync("$dir/sample.json"));
        console.log(new Webhook("$secrets[0]").verify(s.body, s.headers).type)'`;

    is($said, "intent.accepted\n", 'as the public library verifies');
}


# a target that is signed, too

my ($signed) = grep { $_->{path} eq '/signed' } $receiver->requests;

is($signed->{headers}{'webhook-signature'}, signature($keys[1], $signed),
   'a target may be signed for');
is($signed->{body}, '{"for":"s-1"}', 'its body is the payload');
like($signed->{headers}{'webhook-id'}, qr/^msg_[0-9a-f]{32}$/, 'with an id');


# clients see and reach none of it

my $answer = fetch($here, 'POST', '/v1/intents',
                   '{"intentId":"x","submissionTarget":"webhook ops"}');

is($answer->{status}, 400, 'a client cannot post to it');

$answer = fetch($here, 'GET', '/v1/intents?limit=100');
is_deeply([grep { $_->{submissionTarget} =~ /^webhook/ }
           @{decode_json($answer->{body})->{intents}}], [], 'no list has it');
$answer = fetch($here, 'GET', '/v1/failures');
unlike($answer->{body}, qr/webhook/, 'nor the failures');

my $event = $store->value("SELECT intent_id FROM submission_intents WHERE "
                          . "event_of = 'a-1'");
my $path = '/v1/intents/' . $event =~ s/ /%20/gr;

is(fetch($here, 'POST', "$path/cancel", '')->{status}, 404, 'nor cancels it');
is(fetch($here, 'POST', "$path/replay", '{}')->{status}, 404,
   'nor replays it');


# the history lists them, and they are told again under the same id

my $history = decode_json(fetch($here, 'GET', '/v1/intents/r-1/history')->{body});
my @hooks = sort { $a->{webhook} cmp $b->{webhook} } @{$history->{webhooks}};

is(join(' ', map { "$_->{webhook} $_->{status} $_->{attemptCount}" } @hooks),
   'bad.ends accepted 4 ops accepted 4', 'the history has both');
is($hooks[1]{messageId}, $of->{'r-1'}[0]{headers}{'webhook-id'},
   'by the id of the message');

is(fetch($here, 'POST', '/v1/intents/none/webhooks/resend', '')->{status}, 404,
   'no such intent');
is(fetch($here, 'POST', '/v1/intents/r-1/webhooks/resend',
         '{"webhook":"none"}')->{status}, 409, 'no such webhook');

for my $body ('{"webhook":"ops"}', '{"webhook":"ops"}') {
    my $before = @{told('/ops')->{'r-1'}};

    $answer = fetch($here, 'POST', '/v1/intents/r-1/webhooks/resend', $body);
    is($answer->{status}, 200, 'told again') or diag($answer->{body});
    is(decode_json($answer->{body})->{made}, 1, 'by one message');
    wait_for('it comes again', sub {
        select(undef, undef, undef, 0.05);
        @{told('/ops')->{'r-1'}} > $before;
    });
}

my %again = map { $_->{headers}{'webhook-id'} => 1 } @{told('/ops')->{'r-1'}};

is_deeply([keys %again], [$hooks[1]{messageId}], 'under the same id');
is(@{told('/bad')->{'r-1'}}, 4, 'and to nobody else');
is($store->value("SELECT count(*) FROM submission_audit WHERE action = 'replay' "
                 . "AND detail LIKE '%\"r-1\"%'"), 2, 'the audit has it, each time');

# what is still to be sent is not sent twice, and the answer says so

sub paused {
    my ($what, $state) = @_;

    is(fetch($here, 'POST', "/o/v1/targets/webhook%20ops/$what", '{}')->{status}, 200, "$what");
    wait_for("the leader has read it: $state", sub {
        fetch($here, 'GET', '/v1/targets/webhook%20ops')->{body} =~ /"state":"$state"/;
    });
}

paused('pause', 'paused');

my $times = @{told('/ops')->{'r-1'}};
my @made = map {
    decode_json(fetch($here, 'POST', '/v1/intents/r-1/webhooks/resend', '{"webhook":"ops"}')->{body})->{made};
} 1 .. 2;

is("@made", '1 0', 'the second request makes no message');
paused('resume', 'open');
wait_for('it comes', sub { @{told('/ops')->{'r-1'}} > $times }, 30);
wait_for('nothing of it is pending', sub {
    fetch($here, 'GET', '/v1/intents/r-1/history')->{body} !~ /"status":"pending"/;
}, 30);
is(@{told('/ops')->{'r-1'}}, $times + 1, 'and it comes once');

# the list of a webhook has what it was told, of any intent, by pages

my (@listed, $after);

do {
    my $page = decode_json(fetch($here, 'GET', '/v1/webhooks/ops/messages?status=accepted&limit=2'
                                 . ($after ? "&after=$after" : ''))->{body});

    push @listed, @{$page->{messages}};
    $after = $page->{next};
    cmp_ok(scalar @{$page->{messages}}, '<=', 2, 'a page');
} while ($after);

is(scalar @listed, $store->value("SELECT count(*) FROM submission_intents WHERE "
                                 . "submission_target = 'webhook ops' AND status = 'accepted'"),
   'all that was delivered');
is(join(' ', map { $_->{createdAt} } @listed), join(' ', sort { $b cmp $a } map { $_->{createdAt} } @listed),
   'the newest first');
is(scalar(grep { $_->{webhook} ne 'ops' || $_->{status} ne 'accepted' } @listed), 0, 'and nothing else');
ok((grep { $_->{intentId} eq 'r-1' && $_->{messageId} eq $hooks[1]{messageId} } @listed),
   'each says of which intent it tells');
is(fetch($here, 'GET', '/v1/webhooks/none/messages')->{status}, 200, 'a webhook that never was');
is(fetch($here, 'GET', "/v1/webhooks/$_->[0]/messages$_->[1]")->{status}, 400, "refused: $_->[0]$_->[1]")
    for ['a%20b', ''], ['ops', '?status=rejected'], ['ops', '?after=eA'], ['ops', '?limit=0'];


# the totals are of intents: three that are told to a webhook are three

sub numbers {
    my ($query) = @_;

    my $stats = decode_json(fetch($here, 'GET', "/v1/stats$query")->{body});
    my ($at) = grep { $stats->{columns}[$_] eq 'submitted' } 0 .. $#{$stats->{columns}};
    my $sum = 0;

    $sum += $_->[$at] for @{$stats->{rows}};

    return ($sum, @{$stats->{rows}} ? $stats->{rows}[-1][0] : 0);
}

my ($counted, $messages, $since) = (0, 0, (numbers(''))[1]);

wait_for('all so far is counted', sub {
    ($counted, my $at) = numbers('');
    ($messages) = numbers('?target=webhook%20ops');
    $since && $at >= $since + 10 or do { $since ||= $at; 0 };
}, 60);

fetch($here, 'POST', '/v1/intents', encode_json({ intentId => "more-$_",
      submissionTarget => 'sms.realtime', payload => {} })) for 1 .. 3;
wait_for('the messages are counted for their webhook', sub {
    (numbers('?target=webhook%20ops'))[0] >= $messages + 3;
}, 60);
is((numbers(''))[0] - $counted, 3, 'and not among the intents');


# nor does the overview count messages: those of one webhook are due, as it is
# paused, and those of another one wait for their next attempt

is(fetch($here, 'POST', '/o/v1/targets/webhook%20ops/pause', '')->{status}, 200,
   'a webhook is paused');
fetch($here, 'POST', '/v1/intents', encode_json({ intentId => "held-$_",
      submissionTarget => 'sms.realtime', payload => {} })) for 1 .. 3;

my ($totals, %of_targets, %of_webhooks);

sub sum {
    my ($list) = @_;

    my %sum = (due => 0, waiting => 0, attempts => 0);

    for my $target (@$list) {
        $sum{$_} += $target->{$_} // 0 for qw(due waiting);
        $sum{attempts} += ($target->{perSecond} // {})->{'1m'} // 0;
    }

    return %sum;
}

# both are of the leader's last numbers

wait_for('the leader tells of them', sub {
    my $overview = decode_json(fetch($here, 'GET', '/v1/overview')->{body});
    my $targets = decode_json(fetch($here, 'GET', '/v1/targets')->{body});

    ($totals, %of_targets) = ($overview->{totals}, sum($targets->{targets}));
    %of_webhooks = sum($targets->{webhooks});

    $overview->{asOf} eq $targets->{asOf} && $of_targets{due} == 0
        && $of_webhooks{due} >= 3 && $of_webhooks{waiting} >= 3 && $of_targets{attempts} > 0;
}, 60);

is($totals->{$_}, 0, "no intent is $_, whatever messages are") for qw(due waiting);

my $attempts = 0;

$attempts += $_ for values %{$totals->{attemptsPerSecond}};

cmp_ok(abs($attempts - $of_targets{attempts}), '<', 0.05, 'the attempts are those of targets')
    or diag(explain($totals, \%of_targets));
cmp_ok($of_webhooks{attempts}, '>', 0.1, 'though there are those of messages');

unlike(join('', map { slurp($_) } map { $_->error_log } $run->instances),
       qr/whsec_|\Q$keys[1]\E/, 'no secret is in a log');

sub slurp {
    open(my $file, '<', $_[0]) or die "$_[0]: $!";
    local $/;
    return <$file>;
}

$run->done;

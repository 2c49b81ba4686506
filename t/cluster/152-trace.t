# Trace context: a valid traceparent goes with the intent, from POST, from each line of
# a bulk and from the inbox, to the gateway; each attempt is a span of its own.  A replay
# has that of its request, or else, and by a job always, that of what it replays.
#
# Goes red when: an invalid one is passed on, or a valid one is not; a replay has none,
# or another's; two attempts share a span; the history shows another span than the gateway saw; a tracestate is lost, or
# comes without a traceparent; the trace is not in the log.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use File::Temp qw(tempdir);
use JSON::PP qw(decode_json);
use Test::More;

use SubmissionCluster;
use SubmissionReceiver;

my $dir = tempdir(CLEANUP => 1);
my $id = '4bf92f3577b34da6a3ce929d0e0e4736';
my $parent = "00-$id-00f067aa0ba902b7-01";

# the third time is good

my %times;
my $receiver = SubmissionReceiver->new("$dir/sends", sub {
    my ($request) = @_;

    return ++$times{$request->{headers}{'idempotency-key'}} < 3 ? 500 : 200;
});

my $run = SubmissionCluster::Executor->new(
    elsewhere => qr/./, refresh => '200ms',
    instance => {
        server => 'location /operate/ { submission_api main access=operate; }' },
    dispatch => 'proxy_set_header X-Parent $submission_traceparent; '
                . 'proxy_set_header X-State $submission_tracestate;',
    targets => { 'traced' => { type => 'http', policy => 'max_attempts 5',
                               retry => '50ms',
                               url => 'http://127.0.0.1:' . $receiver->port } });

$run->start;

my ($here) = $run->instances;

sub post {
    my ($name, @headers) = @_;

    my $answer = fetch($here, 'POST', '/v1/intents',
                       qq({"intentId":"$name","submissionTarget":"traced"}),
                       headers => \@headers);

    is($answer->{status}, 200, "$name is taken");

    return decode_json($answer->{body});
}

is(post('a', "traceparent: $parent", 'tracestate: x=1', 'tracestate: y=2 , ')
   ->{traceId}, $id, 'the answer has the id of the trace');
is(post('b')->{traceId}, undef, 'where there is none');
is(post('c', 'traceparent: 00-nonsense', 'tracestate: x=1')->{traceId}, undef,
   'an invalid one is dropped');
is(post('d', "traceparent: $parent", "traceparent: $parent")->{traceId}, undef,
   'and so are two');
is(post('e', "traceparent: $parent", 'tracestate: not valid')->{traceId}, $id,
   'an invalid tracestate takes nothing with it');

my $answer = fetch($here, 'POST', '/v1/intents',
    join('', map { qq({"intentId":"$_","submissionTarget":"traced"}\n) } qw(f g)),
    headers => ['Content-Type: application/x-ndjson',
                "traceparent: $parent"]);

is($answer->{status}, 200, 'many at once');

$run->store->unlock($run->store->begin(
    $run->store->submit_sql('h', 'traced', '{}', $parent)));

wait_for('the inbox is empty', sub {
    $run->store->value("SELECT count(*) FROM submission_intents "
                       . "WHERE intent_id = 'h'");
}, 30);

$run->wait_terminal($_) for 'a' .. 'h';

# replays, with a trace of their own and without, and by a job

my $other = 'aaaabbbbccccddddeeeeffff00001111';

sub replay {
    my ($name, $new, @headers) = @_;

    $answer = fetch($here, 'POST', "/v1/intents/$name/replay",
                    qq({"intentId":"$new","again":true}), headers => \@headers);

    is($answer->{status}, 200, "$name is replayed as $new");

    return decode_json($answer->{body})->{traceId};
}

is(replay('a', 'i'), $id, 'a replay has the trace of the first');
is(replay('a', 'j', "traceparent: 00-$other-00f067aa0ba902b7-01"), $other,
   'or that of its request');
is(replay('b', 'k', "traceparent: 00-$other-00f067aa0ba902b7-01"), $other,
   'which the first may not have had');
is(replay('b', 'l'), undef, 'nobody had one');
is(replay('a', 'm', 'traceparent: 00-nonsense'), $id, 'an invalid one is none');

$answer = fetch($here, 'POST', '/operate/replays',
                '{"id":"job","again":true,'
                . '"filter":{"target":"traced","status":"accepted"}}');
is($answer->{status}, 200, 'a job');

wait_for('the job is done', sub {
    fetch($here, 'GET', '/operate/replays/job')->{body}
        =~ /"state": *"done"/;
}, 30);

$run->wait_terminal($_) for 'i' .. 'm', 'e';

my (%sends, %spans, @wrong);

push @{$sends{$_->{headers}{'idempotency-key'}}}, $_->{headers}
    for $receiver->requests;

for my $name (qw(a e f g h i m), 'e~job') {
    my %span_of = map { $_->{attemptNumber} => $_->{spanId} }
                  @{$run->history($name)->{attempts}};

    is($run->history($name)->{intent}{traceId}, $id, "the history of $name");

    for my $h (@{$sends{$name}}) {
        my ($trace, $span) = $h->{traceparent} =~ /^00-(\w{32})-(\w{16})-01$/;

        push @wrong, "$name: $h->{traceparent}" if ($trace // '') ne $id;
        push @wrong, "$name: span $span twice" if $spans{$span}++;
        push @wrong, "$name: the span of the client"
            if $span eq '00f067aa0ba902b7';
        push @wrong, "$name: the history has another span"
            if $span_of{$h->{'x-submission-attempt'}} ne $span;
        push @wrong, "$name: the variable is another"
            if $h->{'x-parent'} ne $h->{traceparent};
        push @wrong, "$name: tracestate"
            if ($h->{tracestate} // '') ne ($name =~ /^[aim]$/ ? 'x=1,y=2' : '')
               || ($h->{'x-state'} // '') ne ($h->{tracestate} // '');
    }

    is(@{$sends{$name}}, 3, "$name has three attempts");
}

is_deeply(\@wrong, [], 'what the gateway was told');

is(@{$sends{j}}, 3, 'the replay with a trace of its own');
is_deeply([grep { $_->{traceparent} !~ /^00-$other-\w{16}-01$/
                  || $_->{tracestate} } @{$sends{j}}, @{$sends{k}}],
          [], 'has nothing of the first one\'s');

for my $name (qw(b c d l)) {
    is_deeply([grep { $_->{traceparent} || $_->{tracestate} } @{$sends{$name}}],
              [], "$name goes without a trace");
}

open(my $log, '<', $here->error_log) or die $!;

my @lines = grep { /submission: attempt .* intent_id="a" / } <$log>;

is(@lines, 3, 'each attempt has a line in the log');
is(grep({ / trace_id="$id"/ } @lines), 3, 'with the trace');

$run->done;

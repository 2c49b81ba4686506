# Trace context: a valid traceparent goes with the intent, from POST, from each line of
# a bulk and from the inbox, to the gateway; each attempt is a span of its own.
#
# Goes red when: an invalid one is passed on, or a valid one is not; two attempts share
# a span; the history shows another span than the gateway saw; a tracestate is lost, or
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
    elsewhere => qr/./,
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

$run->wait_terminal($_) for 'a' .. 'g';

my (%sends, %spans, @wrong);

push @{$sends{$_->{headers}{'idempotency-key'}}}, $_->{headers}
    for $receiver->requests;

for my $name (qw(a e f g)) {
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
            if ($h->{tracestate} // '') ne ($name eq 'a' ? 'x=1,y=2' : '')
               || ($h->{'x-state'} // '') ne ($h->{tracestate} // '');
    }

    is(@{$sends{$name}}, 3, "$name has three attempts");
}

is_deeply(\@wrong, [], 'what the gateway was told');

for my $name (qw(b c d)) {
    is_deeply([grep { $_->{traceparent} || $_->{tracestate} } @{$sends{$name}}],
              [], "$name goes without a trace");
}

open(my $log, '<', $here->error_log) or die $!;

my @lines = grep { /submission: attempt .* intent_id="a" / } <$log>;

is(@lines, 3, 'each attempt has a line in the log');
is(grep({ / trace_id="$id"/ } @lines), 3, 'with the trace');

$run->done;

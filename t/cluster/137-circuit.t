# The circuit of a target: after some errors in a row nothing is sent for a
# while, then one probe, then the next while is longer, up to its bound; an
# answer closes it.  No attempt is lost to it, rejections do not open it, and
# Retry-After of a 503 holds the whole target.  Other targets go on.
#
# Goes red when: anything but one probe is sent while it is open; it opens for a
# rejection; attempts are counted that were not sent; Retry-After holds one
# intent alone.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionCluster;

use constant { OPEN => 0.4, MAX => 0.8, INTENTS => 12 };

my $run = SubmissionCluster::Executor->new(
    instances => ['a'], lease => '60s', renew => '20s',
    targets => {
        'sms.sick' => {
            path => '/sick', policy => 'max_attempts 1000', concurrency => 8,
            retry => '20ms', outcomes => 'invalid_recipient',
            more => 'circuit failures=8 open=400ms max_open=800ms;',
        },
        'sms.busy' => {
            path => '/busy', policy => 'max_attempts 1000', retry => '20ms',
            concurrency => 2, more => 'circuit failures=100 open=10ms;',
        },
        'sms.plain' => {
            path => '/plain', policy => 'max_attempts 1000', retry => '20ms',
            concurrency => 2,
        },
    },
    instance => { workers => 1 });
my $gateway = $run->gateway;
my $a = $run->start;


sub sends { return grep { $_->{path} =~ m{^/$_[0]} } $gateway->sends }

sub lines { return $a->log_lines(qr/submission: $_[0] manager=main target=$_[1] /) }


# sends with less than half of a while between them are one flock

sub flocks {
    my ($sends, $gap) = @_;

    my @flocks;

    for my $send (@$sends) {
        if (!@flocks || $send->{monotonic} - $flocks[-1][-1]{monotonic} > $gap)
        {
            push @flocks, [];
        }

        push @{$flocks[-1]}, $send;
    }

    return @flocks;
}


$gateway->behave('/sick' => 'answer 500');
$run->post(map { [$_, 'sms.sick'] } $run->ids('sick', INTENTS));

wait_for('four probes', sub { lines('circuit_open', 'sms.sick') >= 5 },
         30 * slow());

$gateway->behave('/sick' => undef);
$run->wait_terminal('sick-', 20 * slow());

# It was opened by the first ones and by each probe but the last, which was
# accepted: so many of those that failed were probes.

my @opens = lines('circuit_open', 'sms.sick');
my @at = map { $_->{monotonic} } sends('sick');
my $failed = grep { $_->{behaviour} ne 'accept' } sends('sick');
my $first = $failed - (@opens - 1);

cmp_ok($first, '>=', 8, "eight errors: $first sends");
cmp_ok($first, '<', 16, 'and no more than were under way');

# from the eighth error, and then from probe to probe

my @gaps = ($at[$first] - $at[7],
            map { $at[$_] - $at[$_ - 1] } $first + 1 .. $failed);

cmp_ok($gaps[0], '>=', OPEN - 0.02, "nothing for a while: $gaps[0]");
is_deeply([grep { $_ < MAX - 0.02 } @gaps[1 .. $#gaps]], [],
          $#gaps . ' more probes, one by one, after longer');
cmp_ok($gaps[-1], '<', MAX + 2 * slow(), 'but not for ever');

is($run->store->value('SELECT sum(attempt_count) FROM submission_intents '
                      . "WHERE intent_id LIKE 'sick-%'"),
   scalar(my @all = sends('sick')), 'each attempt was sent');
is_deeply($run->statuses('sick-'), { accepted => INTENTS }, 'all came through');
is(scalar(my @closed = lines('circuit_closed', 'sms.sick')), 1,
   'the log says that it is closed');

# rejections are answers

$gateway->behave('/sick' => 'reject invalid_recipient');
$run->post(map { [$_, 'sms.sick'] } $run->ids('no', 40));
$run->wait_terminal('no-', 20 * slow());
is(scalar(my @opened = lines('circuit_open', 'sms.sick')), scalar @opens,
   'rejections do not open it');

# the gateway says when

sub told_to_wait {
    my ($target, $name) = @_;

    $gateway->behave("/$target" => 'fail 1 answer 503 1, accept');
    $run->post(map { [$_, "sms.$target"] } $run->ids($name, 6));
    $run->post($run->ids("beside-$name", 5));
    $run->wait_terminal("beside-$name-", 20 * slow());
    $run->wait_terminal("$name-", 60 * slow());

    return flocks([grep { $_->{id} =~ /^$name-/ } $gateway->sends], 0.5);
}

# two at a time, and one more for each that was accepted before it was told so

my @busy = told_to_wait('busy', 'busy');
my @more = grep { @$_ > 2 + grep { $_->{behaviour} eq 'accept' } @$_ }
           @busy[0 .. $#busy - 1];

is(scalar @more, 0, 'Retry-After: after it was told so, nothing more is sent');
cmp_ok(scalar @busy, '>=', 3, scalar(@busy) . ' flocks');

# where the machine lets it: a pause of its own would part them, too

my @plain;

for my $try (1 .. 10) {
    @plain = told_to_wait('plain', "plain$try");
    last if @{$plain[0]} == 6;
}

is(scalar @{$plain[0]}, 6, 'without a circuit it is the intent that waits');

$run->done;

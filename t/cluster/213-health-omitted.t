# A zone that is too small for the numbers of all targets keeps the totals alone.
# Then nothing is known of the health of a target, and nobody is told that it is
# well while it is down (G22).
#
# Goes red when: a target whose numbers were left out is shown as ok.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { TARGETS => 60, TOLD => 10 };

my @names = map { sprintf 'sms.%s-%02d', 'x' x 40, $_ } 1 .. TARGETS;

my $run = SubmissionCluster::Executor->new(
    instance => { zone => '168k' },
    targets => { map { ($_ => { path => '/dead' }) } @names });
my $leader = $run->start;


sub targets {
    my $answer = fetch($leader, 'GET', '/v1/targets');

    return $answer->{status} == 200 ? decode_json($answer->{body}) : {};
}


$run->gateway->behave('/dead' => 'reset');
$run->post(map { ["$_-1", $_] } @names);

my $shown;

wait_for('numbers are left out', sub {
    ($shown = targets())->{omitted}
        && $leader->log_count(qr/ target_down /) == TARGETS;
}, TOLD);

$shown = targets();

is(scalar(grep { $_->{health} && $_->{health}{state} eq 'ok' }
               @{$shown->{targets}}), 0, 'none is said to be well');
is(scalar(grep { defined $_->{state} && !$_->{health} } @{$shown->{targets}}), 0,
   'nor open, if nothing is known of it');

$run->gateway->behave('/dead' => undef);
$run->wait_terminal('');
$run->done;

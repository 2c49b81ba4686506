# One table that cannot be read any more, by a right that was revoked or a page
# that is damaged, is not the store: as long as it commits it is up, whatever
# somebody asks for.
#
# Goes red when: a read that fails for good calls the store down, and the next
# commit calls it up again; the error is not shown.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;

use SubmissionNeeds 'postgres';
use SubmissionCluster;
use SubmissionCluster::Views;

use constant LOOKS => 20;

my $run = SubmissionCluster::Executor->new(instances => ['a'],
    instance => { server => 'location /operate/ { submission_api main '
                            . 'access=operate; }' });
my $store = $run->store;

my $leader = $run->start;
my $views = SubmissionCluster::Views->new($leader);

$run->post($run->ids('before', 3));
$run->wait_terminal('before-');
$views->all_say('up', 'before');

my $definer = $store->role('definer');

$store->query("REVOKE SELECT ON submission.submission_audit FROM $definer");

my $refused = 0;

for my $n (1 .. LOOKS) {
    my $answer = fetch($leader, 'GET', '/operate/audit');

    $refused++ if $answer->{status} == 503;

    $run->post("between-$n");
}

is($refused, LOOKS, 'what cannot be read is refused');
$run->wait_terminal('between-');

is($views->said($leader), 'up', 'the store was up all the time')
    or diag($views->said($leader));

like(fetch($leader, 'GET', '/v1/events?kind=store_down')->{body},
     qr/"events":\[\]/, 'the feed does not say otherwise');

like($views->overview($leader)->{store}{lastError}, qr/permission denied/,
     'what went wrong is shown');

$store->query("GRANT SELECT ON submission.submission_audit TO $definer");
is(fetch($leader, 'GET', '/operate/audit')->{status}, 200, 'it can be read again');

$run->done;

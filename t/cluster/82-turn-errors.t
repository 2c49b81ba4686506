# An error of the executor's calls ends leadership at once (G8), even while the
# lease is renewed as if nothing were wrong: a turn that cannot begin what is due,
# and a page of the queue that cannot be read.  What was lost is the epoch, not
# the lease: when the trouble is over the same instance leads in a new one.
#
# Goes red when: an error of a turn, or of a page, is logged and no more.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(instances => ['a'], lease => '30s');
my ($gateway, $lease, $store) = ($run->gateway, $run->leadership, $run->store);

my $a = $run->start;


sub renewals {
    my ($since) = @_;

    return scalar grep { $_->{kind} eq 'renew' && $_->{at} > $since }
           $lease->history;
}


sub trouble {
    my ($name, %do) = @_;

    my $epoch = $lease->row->{epoch};
    my $failed = grep { $_->{kind} eq 'renew_failed' } $lease->events($a);
    my $begun = $store->now;

    wait_for('the lease is renewed', sub { renewals($begun) });

    $do{begin}->();

    my $lost = $run->wait_lost($a, $epoch);

    is($lost->{reason}, 'store_error', "$name: leadership is lost");
    isnt($lost->{sql_error} // '', '', "$name: for what the store said");
    is(scalar(grep { $_->{kind} eq 'renew_failed' } $lease->events($a)),
       $failed, "$name: and not because a renewal failed");

    $do{end}->();

    $lease->wait_leader($epoch);
    $run->wait_terminal("$name-");

    is_deeply($run->statuses("$name-"), { accepted => 1 },
              "$name: then all goes on");
    is(scalar(my @sends = $gateway->sends_of("$name-1")), 1, "$name: once");
}


trouble('turn',
        begin => sub { $store->fail_turns(1); $run->post('turn-1') },
        end => sub { $store->fail_turns(0) });

# there is nothing to begin: the queue is refreshed, and that fails

trouble('page',
        begin => sub { $store->fail_pages(1) },
        end => sub { $store->fail_pages(0); $run->post('page-1') });

$run->done;

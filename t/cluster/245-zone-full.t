# A zone that is too small for the histories of all targets has room for what is
# now: the numbers and the health of each target are shown on every instance,
# and the instances, too (G22).  That is the default zone with 200 targets.
#
# Goes red when: histories are kept first, and the numbers find no room, or none
# when they grow.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { SOON => 10, TARGETS => 200, FIRST => 40 };

# In the small zone most targets come by a reload, when it is full of histories.

for my $zone ('1m', '8m') {
    my @names = map { sprintf 'sms.t%03d', $_ } 1 .. TARGETS;
    my %targets = map { $_ => { path => '/sick' } } @names;
    my @first = $zone eq '1m' ? @names[0 .. FIRST - 1] : @names;

    my $run = SubmissionCluster::Executor->new(
        instances => ['a', 'b'], instance => { zone => $zone },
        targets => { map { $_ => $targets{$_} } @first });

    $run->start(record => 0);
    $run->post(map { ["$_-well", $_] } @first);
    $run->wait_terminal('sms.t', 60);

    wait_for('the zone is full of what was', sub {
        !grep { !$_->log_count(qr/ zone_too_small .* without_history=[1-9]/) }
              $run->instances;
    }, 3 * SOON);

    if (@first < @names) {
        $run->{targets} = \%targets;

        for my $instance ($run->instances) {
            $instance->{targets} = $run->targets;
            $instance->reload(wait_old => 1);
        }
    }

    $run->gateway->behave('/sick' => 'reset');
    $run->post(map { my $name = $_; map { ["$name-$_", $name] } 1 .. 3 } @names);

    for my $instance ($run->instances) {
        my (%health, $overview);

        eval {
            wait_for('all are known to be down', sub {
                my $list = decode_json(fetch($instance, 'GET', '/v1/targets')
                                       ->{body})->{targets};
                %health = ();
                $health{$_->{health} ? $_->{health}{state} : 'unknown'}++
                    for grep { $_->{target} =~ /^sms\.t/ } @$list;
                ($health{down} // 0) == TARGETS;
            }, SOON);
        };

        is_deeply(\%health, { down => TARGETS },
                  "$zone: $instance->{name} shows each target");

        $overview = decode_json(fetch($instance, 'GET', '/v1/overview')->{body});
        ok(defined $overview->{totals}, "$zone: $instance->{name} shows totals");
        is(scalar @{$overview->{instances}}, 2,
           "$zone: $instance->{name} shows the instances");
    }

    $run->gateway->behave('/sick' => undef);
    $run->wait_terminal('sms.t', 60);
    $run->cluster->finish;
}

done_testing();

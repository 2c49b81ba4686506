# A zone that is too small for the histories of all targets has room for what is
# now: the numbers and the health of each target are shown on every instance,
# and the instances, too (G22).  That is the default zone with 200 targets.
#
# Goes red when: histories are kept first, and the numbers find no room.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

use constant { SOON => 10, TARGETS => 200 };

for my $zone ('1m', '8m') {
    my @names = map { sprintf 'sms.t%03d', $_ } 1 .. TARGETS;
    my $run = SubmissionCluster::Executor->new(
        instances => ['a', 'b'], instance => { zone => $zone },
        targets => { map { $_ => { path => '/sick' } } @names });
    my $leader = $run->start(record => 0);

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

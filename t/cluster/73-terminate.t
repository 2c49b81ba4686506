# SIGTERM of the leader ("nginx -s stop"), with a lease of ten minutes: it is
# released, and another instance leads at once.
#
# With attempts at the gateway the instance itself gives them up as in doubt
# before it releases the lease: it takes its own lease over, records them as
# unknown/leader_lost, and the next leader goes on by the contracts.  The same
# when it was told to quit before, and waits for a gateway, as under a service
# manager that loses its patience.  What was being begun just then, by a turn that
# waited for the store, is given back unsent; and a lease that is granted just
# then is released.  Under load nothing is lost, and nothing is sent that is not
# recorded.
#
# Goes red when: a worker that is terminated leaves its lease to expire, or
# leaves what is in flight for the next leader to find; what is known is
# not recorded before; what was never sent is in doubt; a lease is released in spite of release_on_exit off; a
# follower stays in the list.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { HELD => 20, LOAD => 400, ROUNDS => 4 };

my @targets = qw(sms.realtime sms.once);


# nginx's master waits for a second.  A worker that has done all that it had to
# may look for leaks for longer.

sub let_exit {
    my ($instance) = @_;

    $instance->expect_log(qr/exited on signal 9/) if $ENV{SUBMISSION_CHECK};
}


sub terminate {
    my ($instance) = @_;

    let_exit($instance);
    $instance->signal('TERM');
    $instance->wait_gone;
}


# while its threads wait for the store, which it gets on its way out

sub terminate_locked {
    my ($instance, $lock) = @_;

    my $exiting = $instance->log_count(qr/: exiting$/);

    let_exit($instance);
    $instance->signal('TERM');
    wait_for('its workers are on their way out', sub {
        $instance->log_count(qr/: exiting$/) >= $exiting + $instance->{workers};
    });

    $instance->{cluster}->store->unlock($lock);
    $instance->wait_gone;
}


# "acquire a", "release a", ... since then

sub changes {
    my ($lease, $last) = @_;

    return [map { "$_->{kind} $_->{holder}" }
            grep { $_->{kind} =~ /acquire|takeover|release/ }
            $lease->history($last)];
}


my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'], lease => '600s', renew => '300ms',
    targets => { 'sms.again' => { path => '/again', retry => '1s' } },
    instance => { main => '' });
my ($gateway, $lease) = ($run->gateway, $run->leadership);

$run->start;


sub other { return (grep { $_ != $_[0] } $run->instances)[0] }


# nothing in flight

{
    my $leader = $lease->wait_leader;
    my $next = other($leader);

    $run->post($run->ids('idle', 10));
    $run->wait_terminal('idle-');

    wait_for('both are known', sub { $lease->live($leader) == 2 });

    my $last = $lease->last_id;

    terminate($leader);

    is_deeply([$lease->live($next)], [$next->{name}],
              'idle: it is out of the list');
    is($lease->wait_leader(1, $next), $next, 'idle: the other one leads');
    is_deeply(changes($lease, $last),
              ["release $leader->{name}", "acquire $next->{name}"],
              'idle: the lease was released');

    $leader->start;
}


# attempts at the gateway

for my $how ('TERM', 'QUIT, TERM') {
    my $leader = $lease->wait_leader;
    my $next = other($leader);
    my $epoch = $lease->row->{epoch};
    my $i = 0;
    my $name = $how eq 'TERM' ? 'term' : 'quit';

    $gateway->behave('/' => 'hold');
    $run->post(map { [$_, $targets[$i++ % 2]] } $run->ids($name, HELD));
    $gateway->wait_for_held(HELD);
    $gateway->behave('/' => undef);

    my $last = $lease->last_id;
    my $recovered = qr/attempts_recovered .* in_doubt=${\HELD} /;
    my $before = $leader->log_count($recovered);

    if ($name eq 'quit') {

        # nginx tells of connections that are open when it exits

        $leader->expect_log(qr/open socket #\d+ left in connection|aborting/);
        $leader->signal('QUIT');
        $run->wait_lost($leader, $epoch);
    }

    terminate($leader);

    $lease->wait_leader($epoch + 1, $next);
    $run->wait_terminal("$name-");

    is_deeply(changes($lease, $last),
              ["takeover $leader->{name}", "release $leader->{name}",
               "acquire $next->{name}"],
              "$how: taken over, and released");

    my @ids = $run->ids($name, HELD);

    is_deeply($run->recorded("$name-"),
              $run->in_doubt({ map { $_ => 1 } @ids }, @ids),
              "$how: what was at the gateway is in doubt, and no more");
    is($leader->log_count($recovered), $before + 1,
       "$how: by the word of the one that was terminated");
    is_deeply([$next->log_lines(qr/attempts_recovered .* lease_epoch=
                                   ${\($epoch + 2)}\ /x)], [],
              "$how: the next one finds nothing in doubt");

    $run->check($how);
    $gateway->release('reset');
    $leader->start;
}


# a turn that waits for the store

{
    my $leader = $lease->wait_leader;
    my $epoch = $lease->row->{epoch};

    $gateway->behave('/again' => 'answer 503');
    $run->post({ instances => [$leader] }, ['again', 'sms.again']);
    wait_for('it has failed once', sub {
        @{$run->history('again')->{attempts}} == 1;
    });
    $gateway->behave('/again' => undef);

    my $lock = $run->store->lock;
    my $since = time;

    wait_for('it is due, and the executor waits for the store',
             sub { time - $since > 1.5 });

    terminate_locked($leader, $lock);

    $lease->wait_leader($epoch, other($leader));
    $run->wait_terminal('again');

    is($run->outcomes('again'), 'error, accepted',
       'a turn: what it has begun is given back, not in doubt');
    is(scalar(my @sends = $gateway->sends_of('again')), 2,
       'a turn: and is sent by the other one');

    $leader->start;
}


# under load

for my $round (1 .. ROUNDS) {
    my $leader = $lease->wait_leader;
    my $next = other($leader);
    my $epoch = $lease->row->{epoch};
    my $sent = $gateway->count;
    my $last = $lease->last_id;

    $gateway->behave('/' => 'delay 20') if $round % 2;
    $run->post({ instances => [$next] }, $run->ids("load$round", LOAD));

    wait_for('it is in the middle of it',
             sub { $gateway->count > $sent + LOAD / 4 });

    terminate($leader);

    $lease->wait_leader($epoch, $next);
    $run->wait_terminal("load$round-");

    is($run->statuses("load$round-")->{accepted}, LOAD,
       "load, round $round: all are accepted");
    is((grep { /release/ } @{changes($lease, $last)})[0],
       "release $leader->{name}", "load, round $round: it was released");
    $run->check("load, round $round");

    $gateway->behave('/' => undef);
    $leader->start;
}


# not released, if that is what is wanted

{
    my $leader = $lease->wait_leader;
    my $next = other($leader);

    $leader->{manager} .= ' release_on_exit off;';
    $leader->reload(wait_old => 1);
    $lease->wait_leader(undef, $leader);

    my $last = $lease->last_id;

    terminate($leader);

    is_deeply(changes($lease, $last), [], 'off: it is not released');
    is_deeply([$lease->live($next)], [$next->{name}],
              'off: it is out of the list');


    # that lease is over, and the other one asks for it while it is terminated

    my $store = $run->store;

    $last = $lease->last_id;
    $store->end_lease;

    my $lock = $store->lock;
    my $since = time;

    wait_for('its call waits for the store', sub { time - $since > 2 });
    terminate_locked($next, $lock);

    is_deeply(changes($lease, $last),
              ["release $leader->{name}", "acquire $next->{name}",
               "release $next->{name}"],
              'a late grant: it is released');
}

$run->done;

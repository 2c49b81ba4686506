package SubmissionCluster::Lease;

# Leadership of a cluster, as seen from outside: what /readyz says, who has the
# lock file, what the logs say, and the exact history of the lease row.
#
#   my $lease = SubmissionCluster::Lease->new($cluster);
#   $cluster->start;
#   $lease->record;
#   my $leader = $lease->wait_leader;
#   ...
#   $lease->done;             # instead of $cluster->done
#
# record() puts triggers on the lease row that write down every change of it,
# inside the transaction that makes it: no change is missed, and none is seen
# in another order than it was committed in.  done() fails the test when this
# history, or the logs, show what must never be:
#
#   - an acquire that did not add exactly one to the epoch,
#   - an acquire before the lease had expired, but by its own holder,
#   - a renewal, a release or a fenced write by another than the holder of the
#     epoch, or after it had expired,
#   - two leaders of one epoch, or two executor workers of one instance that
#     lead at the same time.
#
# Times of the history are microseconds by the store's clock.  That is the clock
# of this host, and time() of the test can be compared with them.

use strict;
use warnings;

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

BEGIN {
    *wait_for = \&SubmissionCluster::wait_for;
    *fetch = \&SubmissionCluster::fetch;
    *slow = \&SubmissionCluster::slow;
}

# margins for machines that do other things too: a renewal may be late by
# more than a second before it costs the lease

our $short = 'lease_duration 2s; renew_interval 300ms; acquire_interval 500ms;';


sub new {
    my ($class, $cluster) = @_;

    return bless { cluster => $cluster, store => $cluster->store }, $class;
}


# instances with their names as holder_id, two workers each, that can lead

sub instances {
    my ($self, $names, %options) = @_;

    my $manager = delete $options{manager} // $self->paced($short);

    return map {
        $self->{cluster}->instance($_, executor => '', %options,
                                   manager => "$manager holder_id $_;");
    } @$names;
}


# as much longer as the store is slower

sub paced {
    my ($self, $times) = @_;

    my $pace = $self->{store}->pace;

    return $times =~ s/(\d+)(?=m?s;)/$1 * $pace/ger;
}


sub record {
    my ($self) = @_;

    $self->{store}->record_lease(qw(holder_id lease_epoch acquired_at
                                    renewed_at expires_at));
    $self->{recorded} = 1;
}


# Changes of the lease row, in order.  "kind" is acquire, takeover, renew,
# release, or fence, which changes nothing; "was" is the row before.

sub history {
    my ($self, $after) = @_;

    my @names = qw(holder epoch acquired_at renewed_at expires_at);
    my @changes;

    for my $row ($self->{store}->query('SELECT * FROM test_history '
                                       . 'WHERE id > ' . ($after // 0)
                                       . ' ORDER BY id'))
    {
        my ($id, $at, @values) = @$row;
        my (%change, %was);

        @change{@names} = splice(@values, 0, 5);
        @was{@names} = @values;

        my $kind = $was{epoch} eq '' ? 'acquire'
                   : $change{epoch} != $was{epoch}
                     ? $change{acquired_at} < $was{expires_at}
                       ? 'takeover' : 'acquire'
                   : $change{renewed_at} != $was{renewed_at} ? 'renew'
                   : $change{expires_at} != $was{expires_at} ? 'release'
                   : 'fence';

        push @changes, { %change, id => $id, at => $at, kind => $kind,
                         $was{epoch} eq '' ? () : (was => \%was) };
    }

    return @changes;
}


sub last_id {
    return $_[0]{store}->value('SELECT max(id) FROM test_history') || 0;
}


# those that began a new epoch

sub grants {
    my ($self, $after) = @_;

    return grep { $_->{kind} =~ /acquire|takeover/ } $self->history($after);
}


sub row {
    my ($self) = @_;

    my ($row) = $self->{store}->query(
        'SELECT holder_id, lease_epoch, acquired_at, renewed_at, expires_at '
        . 'FROM submission_manager_leases');

    return if !$row;

    my %row;

    @row{qw(holder epoch acquired_at renewed_at expires_at)} = @$row;

    return \%row;
}


# How many rows a statement of the module would change for the holder and the
# epoch of a row, now: what a worker would meet that believes to lead in it.

sub would_change {
    my ($self, $name, $row) = @_;

    return $self->{store}->would_change($name, @$row{qw(holder epoch)});
}


sub wrong {
    my ($self) = @_;

    my @problems;

    for my $c ($self->history) {
        my $was = $c->{was} // next;
        my $what = "change $c->{id}: $c->{kind} by $c->{holder}, epoch "
                   . "$c->{epoch} after $was->{epoch} of $was->{holder}";

        if ($c->{kind} eq 'acquire' || $c->{kind} eq 'takeover') {
            push @problems, "$what: not the next epoch"
                if $c->{epoch} != $was->{epoch} + 1;
            push @problems, "$what: before it had expired"
                if $c->{kind} eq 'takeover' && $c->{holder} ne $was->{holder};
            push @problems, "$what: of another time than it says"
                if $c->{acquired_at} != $c->{renewed_at}
                   || $c->{acquired_at} > $c->{at};
            next;
        }

        push @problems, "$what: by another"
            if $c->{holder} ne $was->{holder};
        push @problems, "$what: after it had expired"
            if ($c->{kind} eq 'renew' ? $c->{renewed_at}
                : $c->{kind} eq 'release' ? $c->{expires_at}
                : 0) >= $was->{expires_at};
    }

    return @problems;
}


# Lines of the log about leadership, in order; "pid" is the worker that wrote
# it.  Lines are appended whole, so that their order is that of the events.

sub events {
    my ($self, $instance) = @_;

    my @events;

    for ($instance->log_lines(qr/submission: leader_/)) {
        my ($pid, $kind, $rest) = /(\d+)#\d+: submission: leader_(\w+) (.*)/
            or next;
        my %event = $rest =~ /(\w+)=("[^"]*"|\S+)/g;

        push @events, { %event, pid => $pid, kind => $kind };
    }

    return @events;
}


sub wrong_events {
    my ($self) = @_;

    my (@problems, %led);

    for my $instance ($self->{cluster}->instances) {
        my $leads;

        for my $event ($self->events($instance)) {
            my $what = "$instance->{name}: worker $event->{pid} "
                       . "$event->{kind} epoch $event->{lease_epoch}";

            if ($event->{kind} eq 'acquired') {
                push @problems, "$what: $led{$event->{lease_epoch}} had it"
                    if $led{$event->{lease_epoch}};
                push @problems, "$what: while $leads->{pid} leads"
                    if $leads && !$self->{killed}{$leads->{pid}};

                $led{$event->{lease_epoch}} = "$instance->{name} "
                                              . "($event->{holder_id})";
                $leads = $event;

            } elsif ($event->{kind} eq 'lost') {
                push @problems, "$what: it did not lead"
                    if !$leads || $leads->{pid} != $event->{pid}
                       || $leads->{lease_epoch} != $event->{lease_epoch};

                undef $leads;
            }
        }
    }

    if ($self->{recorded}) {
        for my $grant ($self->grants) {
            my $led = delete $led{$grant->{epoch}} // next;

            push @problems, "epoch $grant->{epoch} of $grant->{holder} was "
                            . "led by $led"
                if $led !~ /\(\Q$grant->{holder}\E\)$/;
        }
    }

    return @problems;
}


# what /readyz says; nothing without an answer

sub readyz {
    my ($self, $instance, %options) = @_;

    return _parse(fetch($instance, 'GET', '/readyz', undef, timeout => 2,
                        %options));
}


sub _parse {
    my ($result) = @_;

    return if !$result || $result->{lost};

    my %role = $result->{body} =~ /(\w+)=(\S+)/g;

    return { %role, status => $result->{status}, pid => $result->{pid} };
}


# those that say that they lead, of these or of all that run

sub leaders {
    my ($self, @instances) = @_;

    @instances = grep { $_->running } $self->{cluster}->instances
        if !@instances;

    return grep {
        my $role = $self->readyz($_);
        $role && $role->{mode} eq 'leader';
    } @instances;
}


# the one that leads, in a later epoch than $after

sub wait_leader {
    my ($self, $after, @instances) = @_;

    return wait_for('there is a leader', sub {
        for my $instance (@instances ? @instances
                          : grep { $_->running } $self->{cluster}->instances)
        {
            my $role = $self->readyz($instance) // next;

            return $instance if $role->{mode} eq 'leader'
                                && $role->{lease_epoch} > ($after // 0);
        }

        return;
    });
}


# Workers that have the lock file: the kernel knows.

sub executors {
    my ($self, $instance) = @_;

    my ($dev, $inode) = stat "$instance->{dir}/logs/nginx.pid.submission_main"
        or return;

    # files of other devices may have the same number, such as those of other tests

    my $device = sprintf '%02x:%02x', $dev >> 8 & 0xfff, $dev & 0xff | $dev >> 12 & 0xfff00;

    open(my $file, '<', '/proc/locks') or die "/proc/locks: $!";

    my @held = map { /^\d+: POSIX\s+ADVISORY\s+WRITE (\d+) (\w+:\w+):$inode / ? [$1, $2] : () }
               <$file>;
    my @here = grep { $_->[1] eq $device } @held;

    return map { $_->[0] } @here ? @here : @held;
}


sub executor {
    my ($self, $instance) = @_;

    return wait_for("$instance->{name} has an executor worker", sub {
        ($self->executors($instance))[0];
    });
}


# SIGKILL; master or workers, of which the log then speaks

sub kill {
    my ($self, $instance, @pids) = @_;

    $self->{killed}{$_} = 1 for @pids;
    $instance->expect_log(qr/worker process $_ exited on signal 9/) for @pids;
    $instance->signal('KILL', $_) for @pids;
}


sub kill_tree {
    my ($self, $instance) = @_;

    $self->{killed}{$_} = 1 for $instance->processes;
    $instance->kill_group;
    $instance->wait_gone;
}


# what GET /v1/cluster of an instance says

sub cluster {
    my ($self, $instance) = @_;

    my $result = fetch($instance, 'GET', '/v1/cluster');

    return if !$result || ($result->{status} // 0) != 200;
    return decode_json($result->{body});
}


# holder_id of each live instance, as it knows them

sub live {
    my ($self, $instance) = @_;

    my $cluster = $self->cluster($instance) // return;
    my @holders = sort map { $_->{holderId} } @{$cluster->{instances}};

    return @holders;
}


# asks /readyz of an instance again and again, whatever is waited for

sub watch {
    my ($self, $instance) = @_;

    my $watch = SubmissionCluster::Lease::Watch->new($instance);

    push @{$self->{watches}}, $watch;

    return $self->{cluster}->each_turn($watch);
}


sub check {
    my ($self) = @_;

    is_deeply([$self->wrong], [], 'the history of the lease is sound')
        if $self->{recorded};
    is_deeply([$self->wrong_events], [], 'so is what the logs say');
}


# Quits one after the other, the leader last: else each would lead in its turn.

sub quit {
    my ($self) = @_;

    my $row = $self->row // {};

    for my $instance (sort {
                          ($a->{name} eq ($row->{holder} // ''))
                          <=> ($b->{name} eq ($row->{holder} // ''))
                      } grep { $_->running } $self->{cluster}->instances)
    {
        $instance->quit;
    }
}


sub done {
    my ($self) = @_;

    $self->quit;
    $self->check;
    $self->{cluster}->done;
}


package SubmissionCluster::Lease::Watch;

use Time::HiRes qw(time);

use constant { INTERVAL => 0.01, PATIENCE => 0.3 };


# {answers} has what was answered: "sent" and "heard" are times

sub new {
    my ($class, $instance) = @_;

    return bless { instance => $instance, answers => [], next => 0,
                   out => 0 }, $class;
}


sub tick {
    my ($self) = @_;

    my $sent = time;

    # one that a stopped worker has accepted waits for it, others need not

    return if $self->{ended}
              || $sent < $self->{next} + ($self->{out} ? PATIENCE : 0);

    $self->{next} = $sent + INTERVAL;
    $self->{out}++;

    my $conn = SubmissionCluster::Connection->open($self->{instance}{port});

    $conn->send(SubmissionCluster::Client::request('GET', '/readyz', undef,
                                                   'Connection: close'),
                sub {
                    $self->{out}--;

                    my $role = SubmissionCluster::Lease::_parse($_[0])
                        or return;

                    push @{$self->{answers}}, { %$role, sent => $sent,
                                                heard => time };
                });
}


sub end { $_[0]{ended} = 1 }


# answers that say leader of this epoch

sub leads {
    my ($self, $epoch) = @_;

    return grep { $_->{mode} eq 'leader'
                  && (!defined $epoch || $_->{lease_epoch} == $epoch) }
           @{$self->{answers}};
}


# the longest time between two answers that say leader, in seconds

sub longest_gap {
    my ($self) = @_;

    my ($longest, $last) = (0);

    for my $answer ($self->leads) {
        $longest = $answer->{heard} - $last
            if defined $last && $answer->{heard} - $last > $longest;
        $last = $answer->{heard};
    }

    return $longest;
}


1;

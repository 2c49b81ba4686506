package SubmissionCluster::Views;

# What an instance shows without asking its store: /v1/overview, /v1/targets,
# one target, /v1/stats, /v1/events, /readyz and /metrics.
#
#   my $views = SubmissionCluster::Views->new($run->instances);
#   $views->overview($instance);                  # decoded
#   $views->all_say('down', 'stopped');           # within ten seconds
#   $views->said($instance);                      # by its log: "failing up"
#
# Each look is answered 200 at once, or the test fails.

use strict;
use warnings;

use JSON::PP qw(decode_json);
use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant { SOON => 10, AT_ONCE => 1 };

our @PATHS = qw(overview targets targets/sms.realtime stats);


sub new {
    my ($class, @instances) = @_;

    return bless { instances => \@instances, slowest => 0, looks => 0,
                   other => [] }, $class;
}


sub view {
    my ($self, $instance, $path) = @_;

    my $answer = fetch($instance, 'GET', "/v1/$path");

    $self->{looks}++;
    $self->{slowest} = $answer->{seconds}
        if ($answer->{seconds} // 0) > $self->{slowest};

    if (($answer->{status} // 0) != 200) {
        push @{$self->{other}}, "$instance->{name} $path: "
                                . ($answer->{status} // 'none');
        return {};
    }

    return decode_json($answer->{body});
}


sub overview { return $_[0]->view($_[1], 'overview') }


# The state of the store by the last event of this instance; none was up all the time.

sub last_event {
    my ($self, $instance) = @_;

    my ($last) = grep { $_->{kind} =~ /^store_/ && $_->{text} =~ /^$instance->{name} / }
                      @{$self->view($instance, 'events?limit=500')->{events} // []};

    return $last ? $last->{kind} =~ s/^store_//r : 'up';
}


# by all that an instance shows, in one look

sub states {
    my ($self, $instance) = @_;

    my %states = map { $_ => $self->view($instance, $_)->{store}{state} // '-' }
                     @PATHS;

    $states{events} = $self->last_event($instance);

    ($states{readyz}) = fetch($instance, 'GET', '/readyz')->{body} =~ /store=(\w+)/;

    my $metrics = $instance->metrics;

    $states{metrics} = join ' ', map { /^store_state\{state="(\w+)"\}/
                                       && $metrics->{$_} ? $1 : () }
                                     sort keys %$metrics;

    return \%states;
}


# from now on, on each instance; the bound is that of the guarantee

sub all_say {
    my ($self, $state, $name) = @_;

    my $begun = time;
    my %took;

    eval {
        wait_for("$name: all say $state", sub {
            for my $instance (@{$self->{instances}}) {
                next if $took{$instance->{name}};

                my $states = $self->states($instance);

                $self->{last}{$instance->{name}} = $states;
                $took{$instance->{name}} = time - $begun
                    if !grep { $_ ne $state } values %$states;
            }

            return keys %took == @{$self->{instances}};
        }, 3 * SOON);
    };

    for my $instance (@{$self->{instances}}) {
        my $took = $took{$instance->{name}};

        ok(defined $took && $took < SOON * slow(),
           sprintf '%s: %s says %s everywhere after %.1f s', $name,
                   $instance->{name}, $state, $took // -1)
            or diag(explain($self->{last}{$instance->{name}}));
    }
}


# what the lines of an instance's log call the store, one after the other

sub said {
    my ($self, $instance) = @_;

    return join ' ', map { /: store_(\w+) / } $instance->log_lines(qr/: store_/);
}


sub check {
    my ($self, $name) = @_;

    is_deeply($self->{other}, [], "$name: each of $self->{looks} looks is answered 200");
    cmp_ok($self->{slowest}, '<', AT_ONCE * slow(),
           sprintf '%s: at once, in %.0f ms at most', $name,
                   1000 * $self->{slowest});

    $self->{other} = [];
    $self->{slowest} = 0;
}


1;

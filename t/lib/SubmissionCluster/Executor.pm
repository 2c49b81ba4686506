package SubmissionCluster::Executor;

# A cluster that sends: instances, a recording gateway and targets that lead to
# it, and what its tests share.
#
#   my $run = SubmissionCluster::Executor->new(
#       instances => ['a' .. 'c'],
#       targets => { 'sms.slow' => { path => '/slow', policy => 'one_shot' } },
#   );
#   $run->start;
#   $run->post(map { [$_, 'sms.slow'] } $run->ids('x', 100));
#   $run->wait_terminal('x-');
#   ...
#   $run->done;               # instead of $cluster->done
#
# Options, all of which may be left out: instances, their names, which are
# their holder ids; lease, renew, acquire, refresh, times; executor, the
# arguments of that directive; targets, see %targets; dispatch, lines of the
# location; instance, options of SubmissionCluster::Instance; elsewhere, a pattern
# of the ids that are not sent to this gateway: the events of webhooks.
#
# done() and check() fail the test unless these hold, whatever it has done:
#
#   - every send has a record of the same number and epoch, or is in flight
#   - nothing is sent twice under one number; one_shot is sent once at most
#   - attempts are numbered from 1 without gaps, and attempt_count is their
#     number; their epochs do not go back
#   - what was accepted or rejected was sent
#   - once the gateway has seen an epoch, it sees no older one
#   - an intent that is done has a time when it was, and nothing under way
#   - what was posted is sent byte for byte
#
# together with what SubmissionCluster::Lease and the logs must show.

use strict;
use warnings;

use Digest::MD5 qw(md5_hex);
use JSON::PP qw(decode_json);
use List::Util qw(max);
use Test::More;
use Time::HiRes qw(time);

BEGIN {
    *wait_for = \&SubmissionCluster::wait_for;
    *fetch = \&SubmissionCluster::fetch;
}


# type, policy, path (of the gateway), concurrency, retry, outcomes, url (of
# another gateway), limit (rate= and burst=), more (directives)

# each has a bound of its own, so that "concurrency" is what is in flight

our %targets = (
    'sms.realtime' => { policy => 'deadline 1h',
                        outcomes => 'invalid_request invalid_recipient' },
    'push.marketing' => { type => 'push', policy => 'max_attempts 3',
                          outcomes => 'invalid_token' },
    'http.hook' => { type => 'http', policy => 'max_attempts 3',
                     path => '/hook', outcomes => 'http_404 http_422' },
    'sms.once' => { policy => 'one_shot', path => '/once' },
);


sub new {
    my ($class, %options) = @_;

    my $cluster = SubmissionCluster->new;
    my $lease = SubmissionCluster::Lease->new($cluster);

    my $pace = $cluster->store->pace;

    my $self = bless {
        instances => ['a'], lease => '2s', renew => '300ms',
        acquire => '500ms', refresh => '200ms',
        executor => 'concurrency=512', targets => {}, dispatch => '',
        instance => {}, elsewhere => qr/^ /, %options,
        cluster => $cluster, store => $cluster->store,
        gateway => $cluster->gateway, leadership => $lease, posted => {},
    }, $class;

    # a slow store's lease is longer, as is what depends on it

    s/^(\d+)(?=m?s$)/$1 * $pace/e for @$self{qw(lease renew acquire)};

    my @instances = $lease->instances($self->{instances},
        connections => 4096, targets => $self->targets,
        executor => $self->{executor}, main => 'worker_shutdown_timeout 3s;',
        http => "upstream gateway { server 127.0.0.1:$self->{gateway}{port} "
                . 'max_fails=0; keepalive 512; }',
        dispatch => 'proxy_http_version 1.1; proxy_set_header Connection ""; '
                    . $self->{dispatch},
        %{$self->{instance}},
        manager => "lease_duration $self->{lease}; "
                   . "renew_interval $self->{renew}; "
                   . "acquire_interval $self->{acquire}; "
                   . "queue_refresh_interval $self->{refresh}; "
                   . ($self->{instance}{manager} // ''));

    $self->{instances} = \@instances;

    return $self;
}


sub targets {
    my ($self) = @_;

    my %all = (%targets, %{$self->{targets}});
    my $text = '';

    for my $name (sort keys %all) {
        my %t = (type => 'sms', policy => 'deadline 1h', path => '',
                 retry => '200ms', concurrency => 512, %{$all{$name}});

        $t{url} //= "http://gateway$t{path}";

        $text .= "        target $name "
                 . ($t{concurrency} ? "concurrency=$t{concurrency} " : '')
                 . ($t{limit} ? "$t{limit} " : '')
                 . "{\n            gateway_type $t{type};\n"
                 . "            gateway_url $t{url};\n"
                 . "            policy $t{policy};\n"
                 . ($t{retry} ? "            retry_delay $t{retry};\n" : '')
                 . ($t{more} ? "            $t{more}\n" : '')
                 . ($t{outcomes} ? "            terminal_outcomes $t{outcomes};\n"
                                 : '')
                 . "        }\n";
    }

    return $text;
}


sub cluster { return $_[0]{cluster} }

sub gateway { return $_[0]{gateway} }

sub store { return $_[0]{store} }

sub leadership { return $_[0]{leadership} }

sub instances { return @{$_[0]{instances}} }


# Returns the one that leads.  The history of the lease is recorded unless the
# test is going to write one that could not be.

sub start {
    my ($self, %options) = @_;

    $self->{cluster}->start;
    $self->{leadership}->record if $options{record} // 1;

    return $self->{leadership}->wait_leader;
}


sub ids {
    my ($self, $prefix, $n) = @_;

    return map { sprintf '%s-%04d', $prefix, $_ } 1 .. $n;
}


# Intents are [id, target, payload], or an id alone.  They go to all instances
# in turn, or to those named, from many connections; returns when all are
# answered 200.  {posted}{$id} has when each was sent and answered.

sub post {
    my ($self, @intents) = @_;

    my %options = ref $intents[0] eq 'HASH' ? %{shift @intents} : ();
    my @instances = @{$options{instances}
                      // [grep { $_->running } $self->instances]};
    my $connections = $options{connections} // 32;
    my ($i, $out, @failed) = (0, 0);
    my $next;

    $next = sub {
        my ($conn) = @_;

        my $intent = shift @intents // return;
        my ($id, $target, $payload) = ref $intent ? @$intent : $intent;

        $target //= 'sms.realtime';
        $payload //= qq({"for":"$id"});

        my $posted = $self->{posted}{$id}
                   = { target => $target, md5 => md5_hex($payload),
                       sent => time };

        $out++;

        $conn->send(SubmissionCluster::Client::request('POST', '/v1/intents',
                        SubmissionCluster::Client::intent($id, $payload,
                                                          $target)),
                    sub {
                        my ($result) = @_;

                        $out--;
                        $posted->{answered} = time;
                        $posted->{body} = $result->{body};

                        push @failed, "$id: " . ($result->{lost}
                                                 // "$result->{status} "
                                                    . $result->{body})
                            if ($result->{status} // 0) != 200;

                        $next->($conn);
                    });
    };

    $connections = @intents if $connections > @intents;

    my @conns = map {
        SubmissionCluster::Connection->open($instances[$_ % @instances]{port});
    } 1 .. $connections;

    $next->($_) for @conns;

    wait_for('all intents are posted', sub { !$out && !@intents }, 60);

    $_->close for @conns;

    die "not all intents were taken: @failed[0 .. ($#failed < 4 ? $#failed : 4)]\n"
        if @failed;
}


# until none that begins so is pending; by the store

sub wait_terminal {
    my ($self, $prefix, $timeout) = @_;

    my ($next, $left) = (0);
    my $ok = eval {
        wait_for('', sub {
            return if time < $next;
            $left = $self->{store}->pending($prefix);
            $next = time + 0.05;
            $left == 0;
        }, $timeout);
    };

    die "$left intents \"$prefix*\" are pending, still\n" if !$ok;
}


# what its log says of the loss

sub wait_lost {
    my ($self, $instance, $epoch) = @_;

    return wait_for("$instance->{name} knows that epoch $epoch is lost", sub {
        (grep { $_->{kind} eq 'lost' && $_->{lease_epoch} == $epoch }
         $self->{leadership}->events($instance))[0];
    });
}


# how many there are of each status and reason: "exhausted one_shot" => 3

sub statuses {
    my ($self, $prefix) = @_;

    my (%statuses, $intents);

    $intents = $self->{store}->intents($prefix);

    for (values %$intents) {
        my $why = $_->{status} eq 'exhausted' ? " $_->{exhausted}"
                  : $_->{status} eq 'rejected' ? " $_->{reason}" : '';
        $statuses{$_->{status} . $why}++;
    }

    return \%statuses;
}


# How many sends more than a rate a second and a burst allow there were, at most,
# of all windows; a window's ends are moved by what may delay a request or the
# reading of the clock.

sub excess {
    my ($self, $rate, $burst, @sends) = @_;

    my ($worst, $slack) = (-1e9, 0.1 + 0.1 * SubmissionCluster::slow());
    my @at = map { $_->{monotonic} } @sends;

    # i: the first of a window; only the worst so far matters:
    # n(i..k) - rate * (t(k) - t(i)), for the largest of i <= k

    my $base = -1e9;

    for my $k (0 .. $#at) {
        $base = max($base, $rate * $at[$k] - $k);
        $worst = max($worst, $base + $k + 1 - $rate * $at[$k]);
    }

    return $worst - $burst - $rate * $slack;
}


# by the API: {intent}, {attempts}, the first ones first

sub history {
    my ($self, $id, $instance) = @_;

    $instance //= (grep { $_->running } $self->instances)[0];

    my $result = fetch($instance, 'GET', "/v1/intents/$id/history");

    die "history of $id: ", $result->{lost} // $result->{status}, "\n"
        if ($result->{status} // 0) != 200;

    my $history = decode_json($result->{body});

    @{$history->{attempts}} = sort {
        $a->{attemptNumber} <=> $b->{attemptNumber};
    } @{$history->{attempts}};

    return $history;
}


# attempts of an intent in short: "error, unknown/leader_lost, accepted"

sub outcomes {
    my ($self, $id) = @_;

    return join ', ', map {
        $_->{outcomeStatus} . (defined $_->{outcomeReason}
                               ? "/$_->{outcomeReason}" : '');
    } sort { $a->{attemptNumber} <=> $b->{attemptNumber} }
          @{$self->history($id)->{attempts}};
}


# the same of all whose ids begin so, by the store: { id => outcomes }

sub recorded {
    my ($self, $prefix) = @_;

    my %outcomes;

    push @{$outcomes{$_->{id}}}, join '/', $_->{status}, $_->{reason} || ()
        for $self->{store}->attempts($prefix);

    return { map { $_ => join ', ', @{$outcomes{$_}} } keys %outcomes };
}


# What must be recorded of each of these when a leader is gone: those that flew
# are in doubt, and are sent again unless they are one_shot.

sub in_doubt {
    my ($self, $flew, @ids) = @_;

    return { map {
        my $once = $self->{posted}{$_}{target} eq 'sms.once';

        $_ => !$flew->{$_} ? 'accepted'
              : $once ? 'unknown/leader_lost' : 'unknown/leader_lost, accepted';
    } @ids };
}


# What some instance answers to an operator, who asks again until it is 200.

sub ask {
    my ($self, $method, $path, $body) = @_;

    my @instances = $self->instances;

    return decode_json(wait_for("$method $path is answered", sub {
        my $instance = $instances[rand @instances];
        my $answer = $instance->running
                     && fetch($instance, $method, "/operate/$path", $body);

        $answer && ($answer->{status} // 0) == 200 && $answer->{body};
    }, 60));
}


# what logs say of instances that are killed and started at once

sub expect_kills {
    my ($self) = @_;

    $_->expect_log(qr/exited on signal 9|bind\(\) to \S+ failed \(98:/)
        for $self->instances;
}


sub wrong {
    my ($self) = @_;

    # what was sent by now was begun by now

    my @sends = $self->{gateway}->sends;
    my $intents = $self->{store}->intents;
    my @attempts = $self->{store}->attempts;
    my (@problems, %rows, %sent, %count, $turn);
    my ($epoch, $before) = (0, 0);

    push @{$rows{$_->{id}}}, $_ for @attempts;

    for my $send (@sends) {
        my ($id, $number) = @$send{qw(id attempt)};
        my $what = "send $send->{order}: $id, attempt $number, epoch "
                   . $send->{epoch};
        my $intent = $intents->{$id};
        my $row = $number =~ /^[1-9]\d*$/ ? $rows{$id}[$number - 1] : undef;

        push @problems, "$what: there is no such intent" if !$intent;
        push @problems, "$what: no number, or no epoch"
            if $number !~ /^[1-9]\d*$/ || $send->{epoch} !~ /^[1-9]\d*$/;
        push @problems, "$what: sent before, as " . $sent{$id, $number}
            if $sent{$id, $number};

        $sent{$id, $number} = $send->{order};

        if ($row) {
            push @problems, "$what: recorded in epoch $row->{epoch}"
                if $row->{epoch} != $send->{epoch};

        } elsif ($intent && ($intent->{inflight_epoch} eq ''
                             || $intent->{inflight_epoch} != $send->{epoch}
                             || $intent->{attempts} + 1 != $number))
        {
            push @problems, "$what: neither recorded nor in flight";
        }

        push @problems, "$what: one_shot, again"
            if $count{$id}++ && $intent && $intent->{policy} eq 'one_shot';

        # of one turn nobody knows the order

        if (($turn // 0) != $send->{turn}) {
            $turn = $send->{turn};
            $before = $epoch;
        }

        push @problems, "$what: after one of epoch $before"
            if $send->{epoch} < $before;

        $epoch = $send->{epoch} if $send->{epoch} > $epoch;

        my $posted = $self->{posted}{$id};

        push @problems, "$what: with another payload"
            if $posted && $posted->{md5} ne $send->{md5};
    }

    # what was recorded by now was sent by now

    $sent{$_->{id}, $_->{attempt}} = 1 for $self->{gateway}->sends;

    for my $id (sort keys %rows) {
        my $last = 0;

        for my $i (0 .. $#{$rows{$id}}) {
            my $row = $rows{$id}[$i];
            my $what = "$id, attempt $row->{number}, epoch $row->{epoch}, "
                       . $row->{status};

            push @problems, "$what: number " . ($i + 1) . ' is missing'
                if $row->{number} != $i + 1;
            push @problems, "$what: after epoch $last" if $row->{epoch} < $last;
            push @problems, "$what: it was not sent"
                if $row->{status} =~ /accepted|rejected/
                   && !$sent{$id, $row->{number}}
                   && $id !~ $self->{elsewhere};
            push @problems, "$what: ends before it begins"
                if $row->{finished_at} < $row->{started_at};

            $last = $row->{epoch};
        }
    }

    # attempts that ended between the two looks are counted by a third

    my $later = (grep { $intents->{$_}{attempts} != @{$rows{$_} // []} }
                      keys %$intents)
                ? $self->{store}->intents : $intents;

    for my $id (sort keys %$intents) {
        my $intent = $intents->{$id};
        my $n = @{$rows{$id} // []};
        my $flies = $intent->{inflight_epoch} ne '';

        push @problems, "$id: attempt_count $intent->{attempts}, but $n rows"
            if $n < $intent->{attempts}
               || $n > ($later->{$id} // $intent)->{attempts};
        push @problems, "$id: half in flight"
            if $flies != ($intent->{inflight_holder} ne '')
               || $flies != ($intent->{inflight_at} ne '');

        if ($intent->{status} eq 'pending') {
            push @problems, "$id: pending, completed, or without a time"
                if $intent->{completed_at} ne ''
                   || (!$flies && $intent->{next_attempt_at} eq '');

        } else {
            push @problems, "$id: $intent->{status}, but not completed"
                if $intent->{completed_at} eq '';
            push @problems, "$id: $intent->{status}, but more is to come"
                if $flies || $intent->{next_attempt_at} ne '';
            push @problems, "$id: accepted, but its last attempt was not"
                if $intent->{status} eq 'accepted'
                   && ($n == 0 || $rows{$id}[-1]{status} ne 'accepted');
        }
    }

    return @problems;
}


sub check {
    my ($self, $name) = @_;

    my @problems = $self->wrong;
    my $n = @problems;

    splice(@problems, 10) if $n > 10;

    is_deeply(\@problems, [], ($name // 'in the end')
                              . ': what was sent and what is recorded agree')
        or diag("$n problems");
}


# those that run leave nothing behind that is not recorded, or in doubt

sub done {
    my ($self) = @_;

    $self->check;
    $self->{leadership}->quit;
    $self->check('when all have quit');
    $self->{leadership}->done;
}


1;

# A store in trouble: out of reach, locked by another process; and if it is a
# file, read-only, full, replaced by garbage, removed.  A store that can be read, and does not
# commit, is failing; any other is down.  Each time every POST is answered 503 in time,
# each instance says so in exactly one line of its log, other locations of the
# same worker do not notice (G12), and all is well again by itself when the
# trouble is over.  Nothing that was answered 200 is missing afterwards (G3).
#
# Goes red when: a store call runs on the event loop; a connection to a file
# that was moved or removed is used on; an absent database is created anew
# after the start; health says "up" for a store that can be read but not
# written, or says "down" once per request.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use Test::More;
use Time::HiRes qw(time);

use SubmissionCluster;

use constant BUSY => 1;         # seconds

# a short acquire_interval: several probes of the store in each trouble

my %instance = (
    workers => 1, store_timeout => BUSY . 's',
    manager => 'acquire_interval 200ms; renew_interval 1s; lease_duration 5s;',
);


# POSTs on many connections throughout, again and again until they get a 200

sub begin_load {
    my ($cluster) = @_;

    my %unavailable;
    my $load = $cluster->load(connections => 8, prefix => intent_id('load'),
                              retry => [503]);

    $load->{on_result} = sub {
        my ($id, $result) = @_;

        return if ($result->{status} // 0) != 503;

        $unavailable{$result->{port}}++;

        if ($result->{seconds} > ($load->{slowest} // 0)) {
            $load->{slowest} = $result->{seconds};
        }

        $load->{unlike} = $result
            if $result->{body} !~ /"code":"store_unavailable"/
               || ($result->{headers}{'retry-after'} // '') !~ /^[1-9]\d*$/;
    };

    $load->{unavailable} = \%unavailable;

    return $load->start;
}


# asks two locations that need no store, one request after the other

sub begin_watch {
    my ($instance) = @_;

    my $watch = { answers => 0, seconds => [], readyz => {} };
    my $conn = SubmissionCluster::Connection->open($instance->{port});
    my $next;

    $next = sub {
        my ($path, $other) = @_;

        $conn->send(SubmissionCluster::Client::request('GET', $path), sub {
            my ($result) = @_;

            return if $watch->{ended};

            $watch->{failed} = $result
                if $result->{lost}
                   || ($path eq '/healthz' && $result->{status} != 200);
            $watch->{answers}++;
            push @{$watch->{seconds}}, $result->{seconds};
            $watch->{readyz}{"$result->{status} $1"}++
                if $path eq '/readyz' && !$result->{lost}
                   && $result->{body} =~ /(store=\w+)/;

            $next->($other, $path) if !$result->{lost};
        });
    };

    $next->('/healthz', '/readyz');

    $watch->{end} = sub { $watch->{ended} = 1; $conn->close };

    return $watch;
}


sub recovered {
    my ($instance) = @_;

    wait_for("$instance->{name} takes intents again", sub {
        my $result = post_intent($instance, intent_id('after'));
        $result && ($result->{status} // 0) == 200;
    });

    # every answer tells the health, be it a little later
    wait_for("$instance->{name} is ready again", sub {
        my $result = fetch($instance, 'GET', '/readyz');
        $result && ($result->{status} // 0) == 200;
    });

    return 1;
}


sub trouble {
    my ($cluster, $name, %do) = @_;

    my @instances = $cluster->instances;
    my %before = map { $_ => $_->log_count(qr/: store_/) } @instances;
    my $state = $do{state} // 'down';
    my $over = $state eq 'down' ? 'up' : 'working';

    my $load = begin_load($cluster);

    wait_for('there is load', sub { $load->{results} >= 50 });

    $do{begin}->();

    my $begun = time;
    my @watches = map { begin_watch($_) } @instances;

    # ten and more probes
    wait_for("all instances answer 503, again and again", sub {
        time - $begun >= 2.2
        && !grep { ($load->{unavailable}{$_->{port}} // 0) < 4 } @instances;
    });

    $do{meanwhile}->(\@watches) if $do{meanwhile};
    $_->{end}->() for @watches;

    my $said = sub {
        my @lines = map { /: (store_\w+) / } $_[0]->log_lines(qr/: store_/);

        splice(@lines, 0, $before{$_[0]});

        return "@lines";
    };

    is_deeply([map { $said->($_) } @instances],
              [map { "store_$state" } @instances],
              "$name: each instance says so in one line, and not that it is over");

    ok(!$load->{unlike},
       "$name: each 503 is store_unavailable with Retry-After")
        or diag(explain($load->{unlike}));

    # a request may have to let the batch before it time out, and the machine
    # may be busy with other things
    cmp_ok($load->{slowest}, '<', 2 * BUSY + 3 * slow(),
           "$name: the 503 came in time");

    my $slowest = 0;

    for my $watch (@watches) {
        my @seconds = sort { $a <=> $b } @{$watch->{seconds}};

        $slowest = $seconds[-1] if $seconds[-1] > $slowest;

        ok(!$watch->{failed} && $watch->{answers} >= 20,
           "$name: other locations go on")
            or diag(explain($watch->{failed}), $watch->{answers});
        cmp_ok($seconds[@seconds / 2], '<', BUSY / 4 * slow(),
               "$name: other locations do not wait");
    }

    if ($do{unready}) {
        ok(!(grep { !$_->{readyz}{"503 store=$state"} } @watches),
           "$name: /readyz has noticed");
    }

    $do{end}->();

    ok(recovered($_), "$name: $_->{name} recovers by itself") for @instances;

    $load->pause;
    wait_for('the load ends', sub { !$load->{outstanding} });
    $load->{queue} = [];
    $load->close;

    is_deeply([$cluster->verify($load)], [],
              "$name: nothing answered 200 is lost");
    is_deeply($load->{final}, {},
              "$name: there were no answers but 200 and 503");

    # One line, or three: a call that failed at the end of the trouble may be
    # heard of after one that began later and did not.

    for my $instance (@instances) {
        wait_for("$instance->{name} says that it is over", sub {
            $said->($instance) =~ /^(store_$state store_$over ?){1,2}$/;
        });
        pass("$name: $instance->{name} says that it is over");
    }

    note(sprintf '%s: %d POSTs answered 200, %d answered 503, at most %.0f ms '
                 . 'for another location', $name, $load->{statuses}{200},
                 $load->{statuses}{503}, 1000 * $slowest);

    return $load;
}


my $cluster = SubmissionCluster->new;
my $store = $cluster->store;

my $is_file = $store->kind eq 'sqlite';
my $file = $is_file ? $store->file : undef;

my $a = $cluster->instance('a', %instance);
my $b = $cluster->instance('b', %instance);

$cluster->start;


SKIP: {
    skip('the store is not a file', 1) if !$is_file;
    skip('workers are root, who may write anyway', 1)
        if !$cluster->unprivileged;

    trouble($cluster, 'read-only', unready => 1,
            begin => sub { chmod(0444, $file) or die "chmod: $!" },
            end => sub { chmod(0644, $file) or die "chmod: $!" });
}


trouble($cluster, 'away', unready => 1,
        begin => sub { $store->away }, end => sub { $store->back });

ok($store->sound, 'away: the store is sound');


# away and back again, and again, in the middle of commits

{
    my $load = begin_load($cluster);
    my $seen = 0;

    for my $round (1 .. 10) {
        my $ok = $load->count('answered');

        wait_for('intents are taken', sub {
            $load->count('answered') > $ok + 20;
        });

        $store->away;

        wait_for('the store is missed', sub {
            ($load->{statuses}{503} // 0) > $seen;
        });

        $store->back;
        $seen = $load->{statuses}{503};
    }

    $load->pause;
    wait_for('the load ends', sub { !$load->{outstanding} });
    $load->{queue} = [];
    $load->close;

    recovered($_) for $a, $b;

    # it was lost so often that it has to be there for a while

    for my $instance ($a, $b) {
        wait_for("$instance->{name} calls it up", sub {
            fetch($instance, 'GET', '/readyz')->{body} =~ /store=up/;
        });
    }

    is_deeply([$cluster->verify($load)], [],
              'to and fro: nothing answered 200 is lost');
}


# other locations answer while a POST waits: this is an order, not a time

my $lock;

trouble($cluster, 'locked', state => 'failing',
        begin => sub { $lock = $store->lock },
        meanwhile => sub {
            my ($watches) = @_;

            my $waiting = 1;
            my $conn = SubmissionCluster::Connection->open($a->{port});
            my $before = $watches->[0]{answers};

            $conn->send(SubmissionCluster::Client::request('POST',
                            '/v1/intents',
                            SubmissionCluster::Client::intent('waits', '1')),
                        sub { $waiting = 0 });

            wait_for('the worker answers others', sub {
                !$waiting || $watches->[0]{answers} >= $before + 20;
            });

            ok($waiting, 'locked: others are answered while a POST waits');

            $conn->close;
        },
        end => sub { $store->unlock($lock) });


if (!$is_file) {
    note('what else can happen to a file is left out');
    $cluster->done;
    exit;
}


trouble($cluster, 'garbage', unready => 1,
        begin => sub {
            rename($file, "$file.good") or die "rename: $!";

            # what belongs to the file, if it is there just now
            rename("$file$_", "$file.good$_") for qw(-wal -shm);

            open(my $garbage, '>', "$file.bad") or die "garbage: $!";
            print $garbage "This is not a database.\n" x 1000;
            close $garbage;
            chown((stat "$file.good")[4, 5], "$file.bad");
            rename("$file.bad", $file) or die "rename: $!";
        },
        end => sub {
            unlink $file;
            unlink "$file$_" for qw(-wal -shm);
            rename("$file.good$_", "$file$_") for qw(-wal -shm);
            rename("$file.good", $file) or die "rename: $!";
        });


# removed for good: an empty store would look like one that lost everything

{
    my %down = map { $_ => $_->log_count(qr/store_down/) } $a, $b;

    is(post_intent($a, 'before-removal')->{status}, 200, 'removed: before');

    unlink $file, "$file-wal", "$file-shm";

    my %seen;

    for my $round (1 .. 10) {
        for my $instance ($a, $b) {
            $seen{post_intent($instance, intent_id('x'))->{status}}++;
            $seen{fetch($instance, 'GET', '/v1/intents/before-removal')
                  ->{status}}++;
        }
    }

    is_deeply(\%seen, { 503 => 40 }, 'removed: 503 to writers and readers');

    # nor does a new worker make it up

    my ($worker) = $a->worker_pids;

    $a->expect_log(qr/worker process $worker exited on signal 9/);
    $a->signal('KILL', $worker);

    wait_for('there is another worker', sub {
        my @pids = $a->worker_pids;
        @pids == 1 && $pids[0] != $worker;
    });

    my $begun = time;

    wait_for('it was probed, and asked', sub {
        post_intent($a, intent_id('x'))->{status} == 200
        || time - $begun >= 1;
    });

    is(post_intent($a, intent_id('x'))->{status}, 503,
       'removed: a new worker does not start an empty store');
    ok(!-e $file, 'removed: no file has come up');
    is_deeply([map { $_->log_count(qr/store_down/) - $down{$_} } $a, $b],
              [1, 1], 'removed: each instance says so in one line');

    $a->reload(wait_old => 1);

    ok(recovered($a), 'removed: an instance that is reloaded starts anew');
    ok(recovered($b), 'removed: the other finds the new store by itself');
    is(fetch($b, 'GET', '/v1/intents/before-removal')->{status}, 404,
       'removed: and it is empty');
}

$_->quit for $a, $b;


# root may write what is read-only: no trouble at all

SKIP: {
    skip('not root', 1) if $> != 0;

    my $root = SubmissionCluster->new(user => 'root root');
    my $instance = $root->instance('root', %instance);

    $root->start;

    is(post_intent($instance, 'before')->{status}, 200, 'root: writes');
    chmod(0444, $root->store->file) or die "chmod: $!";
    is(post_intent($instance, 'after')->{status}, 200,
       'root: writes a read-only file too');
    is($instance->log_count(qr/store_down/), 0, 'root: sees no trouble');

    $root->finish;
}


# the disk is full: a small one of our own

SKIP: {
    my $small = SubmissionCluster->new;
    my $disk = "$small->{dir}/store";
    my $why = $small->mount_tmpfs($disk, '64m');

    if ($why) {
        $small->finish;
        skip("no small disk: $why", 1);
    }

    $small->instance($_, %instance) for qw(c d);
    $small->start;

    trouble($small, 'full', state => 'failing', unready => 1,
            begin => sub { $small->store->fill },
            meanwhile => sub {
                is(fetch($_, 'POST', '/v1/intents/nowhere/cancel',
                         '{}')->{status},
                   404, 'full: what writes nothing is answered')
                    for $small->instances;
            },
            end => sub { $small->store->make_room });

    ok($small->store->sound, 'full: the store is sound');

    for my $instance ($small->instances) {
        cmp_ok($instance->metric('store_errors_total{op="intents_submit",'
                                 . 'class="permanent"}'), '>', 0,
               "full: nothing that passes by itself, $instance->{name}");
    }

    $small->finish;
}


$cluster->done;

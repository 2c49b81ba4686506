# Schedules of the configuration: a leader seeds them, a reload replaces them and
# removes those that are gone, and nobody changes them by HTTP.  A schedule whose
# target is not configured says so, once in the log and in itself, is in nobody's way,
# and runs again when the target is there.
#
# Goes red when: a reload leaves the old rule, or removes what was made by HTTP; a PUT
# changes what the configuration has; a schedule without a target comes up again and
# again, stops others, or never runs again.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP;
use Test::More;

use SubmissionCluster;

my $run = SubmissionCluster::Executor->new(instances => ['a']);
my ($store) = ($run->store);
my ($instance) = $run->instances;
my $targets = $instance->{targets};

$instance->{server} = 'location /o/v1/ { submission_api main access=operate; }';
$instance->{targets} = $targets . <<'END';
        schedule nightly every=1d start=02:00 target=http.hook
                 payload_file=nightly.json;
        schedule local "cron=30 2 * * 1-5" timezone=Europe/Stockholm
                 target=http.hook 'payload={"a": 1}' misfire=skip overlap=allow;
        schedule often every=1s target=http.hook overlap=allow;
END

open(my $file, '>', "$instance->{dir}/conf/nightly.json") or die;
print $file qq({"report": "all"}\n);
close $file;

$run->start;


sub ask {
    my ($method, $path, $body) = @_;

    my $answer = fetch($instance, $method, "/o/v1/schedules$path",
                       defined $body ? encode_json($body) : undef);

    return { %$answer, json => eval { decode_json($answer->{body}) } };
}

sub ids { return join ' ', map { $_->{id} } @{ask('GET', '')->{json}{schedules}} }

sub ran { return scalar keys %{$store->intents("$_[0]\@")} }


wait_for('they are seeded', sub { ids() eq 'local nightly often' });

my $s = ask('GET', '/nightly')->{json};

is($s->{source}, 'configuration', 'where it is from');
is($s->{every}, 'PT86400S', 'its interval');
like($s->{nextRunAt}, qr/T02:00:00\.000000Z\z/, 'its next time');
is_deeply($s->{payload}, { report => 'all' }, 'the file is its payload');
is($s->{modifiedBy}, 'configuration', 'whose it is');

my $local = ask('GET', '/local')->{json};

is("$local->{cron} $local->{timeZone} $local->{misfire} $local->{overlap}",
   '30 2 * * 1-5 Europe/Stockholm skip allow', 'the other one');

wait_for('it runs', sub { ran('often') >= 2 });

my %mine = (submissionTarget => 'push.marketing', every => 'PT1S',
            overlap => 'allow');

for my $answer (ask('PUT', '/nightly', \%mine), ask('DELETE', '/nightly')) {
    is($answer->{status}, 409, 'it is not changed by HTTP');
    is($answer->{json}{error}{code}, 'schedule_configured', 'and says why');
}

is(ask('POST', '/often/pause')->{status}, 200, 'it can be paused');
is(ask('PUT', '/mine', \%mine)->{status}, 201, 'another one can be made');

my ($nightly) = ask('GET', '/nightly')->{json};

$instance->{targets} = $targets;
$instance->{targets} =~ s/target push\.marketing .*?\n        \}\n//s;
$instance->{targets} .= <<'END';
        schedule nightly every=1d start=02:00 target=http.hook
                 payload_file=nightly.json;
        schedule often every=1s target=http.hook misfire=all overlap=allow;
END

wait_for('mine has run', sub { ran('mine') >= 1 });
$instance->reload(wait_old => 1);
wait_for('what is gone is removed', sub { ids() eq 'mine nightly often' });

is_deeply(ask('GET', '/nightly')->{json}, $nightly, 'the same is as it was');

wait_for('another rule is taken',
         sub { ask('GET', '/often')->{json}{misfire} eq 'all' });

my $often = ask('GET', '/often')->{json};

is($often->{misfire}, 'all', 'another rule is taken');
ok($often->{paused}, 'and it is paused still');

# mine has no target now

wait_for('mine does not run', sub { ask('GET', '/mine')->{json}{error} });
is(ask('GET', '/mine')->{json}{error}, 'its target is not configured', 'why');

my $before = ran('often');

is(ask('POST', '/often/resume')->{status}, 200, 'the other goes on');
wait_for('and runs', sub { ran('often') >= $before + 3 });
is($instance->log_count(qr/schedule_stopped .*schedule="mine" target="push.marketing"/),
   1, 'one line says that mine does not');
$instance->expect_log(qr/schedule_stopped/);
is(ask('POST', '/mine/run')->{json}{error}{code}, 'unknown_target',
   'nor by hand');

$before = ran('mine');
$instance->{targets} = $targets;
$instance->reload(wait_old => 1);
wait_for('with its target, mine runs again', sub { ran('mine') > $before });
is(ids(), 'mine', 'and no other is left');
ok(!exists ask('GET', '/mine')->{json}{error}, 'without an error');

is(ask('DELETE', '/mine')->{status}, 200, 'it is deleted');
$run->wait_terminal($_) for 'mine@', 'often@';

$run->done;

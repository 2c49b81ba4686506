# contrib/grafana/submission.json: each expression of the board is asked of a
# Prometheus (Debian's) that scrapes two instances under load, and each has a
# number.  A board is looked at when something is wrong, and an empty panel says
# then that all is well.  The alerts are loaded there, too, and are quiet.
#
# Goes red when: a metric or a label is renamed, and the board is not; an expression
# does not parse, or compares what never matches; /metrics is not what Prometheus
# reads.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/../lib";

use JSON::PP qw(decode_json);
use POSIX ();
use Test::More;
use Time::HiRes qw(time);

use SubmissionNeeds 'no_store';
use SubmissionCluster;

my $top = $SubmissionCluster::top;

chomp(my $binary = `$top/t/tools/get-prometheus.sh $top/build/prometheus prometheus`);
plan(skip_all => 'there is no Prometheus (Debian: prometheus)') if $? != 0;

my $run = SubmissionCluster::Executor->new(
    instances => ['a', 'b'],
    targets => { 'sms.bad' => { path => '/bad', policy => 'max_attempts 2',
                                outcomes => 'invalid_recipient' },
                 'sms.ill' => { path => '/ill', policy => 'max_attempts 2' } });
my ($gateway, $cluster) = ($run->gateway, $run->cluster);

$run->start;
$gateway->behave('/bad' => 'reject invalid_recipient', '/ill' => 'answer 500');


# Prometheus, in the foreground

my $dir = "$cluster->{dir}/prometheus";
my $port = SubmissionCluster::free_port();
my $pid;

END {
    if ($pid) {
        my $status = $?;
        kill KILL => $pid;
        waitpid $pid, 0;
        $? = $status;
    }
}

mkdir $dir or die "$dir: $!";

my $targets = join ', ', map { "'127.0.0.1:$_->{port}'" } $run->instances;

open(my $conf, '>', "$dir/prometheus.yml") or die "prometheus.yml: $!";
print $conf <<"END";
global: { scrape_interval: 500ms, evaluation_interval: 1s }
rule_files: ['$top/contrib/prometheus/alerts.yml']
scrape_configs:
  - job_name: sm
    static_configs: [ { targets: [ $targets ] } ]
END
close $conf;

$pid = fork // die "fork(): $!";

if ($pid == 0) {
    setpgrp(0, 0);
    $SIG{$_} = 'DEFAULT' for qw(PIPE INT TERM HUP);
    open(STDIN, '<', '/dev/null');
    open(STDOUT, '>', "$dir/log");
    open(STDERR, '>&', \*STDOUT);
    { exec($binary, "--config.file=$dir/prometheus.yml",
           "--storage.tsdb.path=$dir/data",
           "--web.listen-address=127.0.0.1:$port") }
    POSIX::_exit(127);
}


sub ask {
    my ($path) = @_;

    # its answers are chunked, which the clients of these tests do not read

    my $json = eval {
        decode_json(`curl -s 'http://127.0.0.1:$port/api/v1/$path'`);
    } // {};

    die "$path: $json->{error}\n" if ($json->{status} // '') eq 'error';

    return $json->{data};
}


sub query {
    my ($expr) = @_;

    (my $escaped = $expr) =~ s/([^\w.-])/sprintf '%%%02X', ord $1/ge;

    return ask("query?query=$escaped");
}


# what Grafana would put in; label_values() is Grafana's own

sub samples {
    my ($expr, @legend) = @_;

    my $label;

    ($expr, $label) = ($1, $2) if $expr =~ /^label_values\((.*), (\w+)\)$/;

    $expr =~ s/\$job\b/sm/g;
    $expr =~ s/\$target\b/.*/g;
    $expr =~ s/\$__rate_interval\b/5s/g;

    die "$expr: what is \$$1?\n" if $expr =~ /\$(\w+)/;

    my @result = @{(query($expr) // {})->{result} // []};

    return grep { defined $_ } map { $_->{metric}{$label} } @result if $label;

    # a sum by a label that is not there has a number, too

    for my $name (@legend) {
        @result = grep { defined $_->{metric}{$name} } @result;
    }

    return grep { /^-?\d/ } map { $_->{value}[1] } @result;
}


wait_for('Prometheus has scraped both', sub {
    my $up = query('sum(up)') // return;
    ($up->{result}[0]{value}[1] // 0) == 2;
}, 60);

my @loads = map {
    $cluster->load(prefix => "g$_->[0]", connections => 2, rate => $_->[1],
                   target => $_->[0], total => 100_000)->start;
} ['sms.realtime', 60], ['sms.bad', 10], ['sms.ill', 10];

my @board = map { decode_json($_) }
            split /\n/, `$top/t/tools/prometheus.py expressions $top/contrib/grafana/submission.json`;

is($?, 0, 'the board is read');
cmp_ok(scalar @board, '>', 40, 'it has expressions');

# each has a number at some time: of a quantile there is none before anything has
# been observed twice

my %said;
my %empty = map { (join(': ', @$_) => [@$_[1 .. $#$_]]) } @board;

my $next = 0;

eval {
    wait_for('each expression has a number', sub {
        return if time < $next;
        $next = time + 0.5;

        for my $name (sort keys %empty) {
            delete $empty{$name} if eval { samples(@{$empty{$name}}) };
            diag($@) if $@ && !$said{$name}++;
        }

        !%empty;
    }, 30);
    1;
} or diag($@);

is(join("\n", sort keys %empty), '', 'no expression of the board is empty');

is_deeply([sort map { samples('label_values(submission_build_info, '
                              . 'instance)') } 1],
          [sort map { "127.0.0.1:$_->{port}" } $run->instances],
          'both instances are there');

my %alerts = map { $_->{name} => $_ } map { @{$_->{rules}} }
             @{ask('rules')->{groups}};

cmp_ok(scalar keys %alerts, '>=', 12, 'Prometheus has the alerts');
is_deeply([grep { $alerts{$_}{health} ne 'ok' } sort keys %alerts], [],
          'and can ask for each');

# sms.ill is down, as soon as its gateway has answered that often

is_deeply([grep { $alerts{$_}{state} eq 'firing' && $_ ne 'SubmissionTargetDown' }
           sort keys %alerts], [], 'none of which fires but for the ill target');

$_->close for @loads;
$run->wait_terminal(undef, 60);
$run->done;

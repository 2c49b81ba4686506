# contrib/prometheus/alerts.yml: each alert fires when it should, and not when it
# should not, by promtool; each of those cases can fail; and what the alerts name,
# metrics and pages, is there.
#
# Goes red when: an expression or a number of an alert is changed and its cases are
# not; an alert has no case; a metric is renamed and the alerts or the board of
# Grafana are not; a page or a section that an alert names is moved.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Temp qw(tempdir);
use Test::More;

use SubmissionNeeds 'no_store';

chdir realpath("$FindBin::Bin/..") or die "$!\n";

my $rules = 'contrib/prometheus/alerts.yml';
my $tests = 'contrib/prometheus/alerts_test.yml';
my $board = 'contrib/grafana/submission.json';

my $dir = tempdir('prometheus.XXXXXX', CLEANUP => 1,
                  DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp');

chomp(my $promtool = `t/tools/get-prometheus.sh "\$PWD/build/prometheus" promtool`);
is($?, 0, 'promtool') or BAIL_OUT('there is no promtool');

sub promtool {
    my (@args) = @_;

    my $said = `'$promtool' @args 2>&1`;

    return $? == 0 ? '' : "failed: $said";
}

is(promtool("check rules --lint-fatal $rules"), '', 'the rules are rules');


# alone, so that the mutants need not evaluate all the others

my @alerts = split /\n/, `t/tools/prometheus.py mutants $rules $tests $dir`;

is($?, 0, 'each alert has a case that fires and one that does not');
cmp_ok(scalar @alerts, '>=', 12, 'and there are some');

# of several files it says for each what came of it

my $files = join ' ', map { "$dir/*.$_.yml" } qw(as-is always never);
my $said = `'$promtool' test rules $files 2>&1`;
my %result = $said =~ m{^Unit Testing:\s+\S+/(\S+)\.yml\n\s*(\w+)}mg;

for my $alert (@alerts) {
    is($result{"$alert.as-is"}, 'SUCCESS', $alert);
    is($result{"$alert.$_"}, 'FAILED', "$alert: one that $_ fires is found out")
        for qw(always never);
}

diag($said) if grep { $result{"$_.as-is"} ne 'SUCCESS' } @alerts;


# what is named

open my $in, '<', 'docs/reference/metrics.md' or die "metrics.md: $!\n";
my $reference = do { local $/; <$in> };

my %described = map { $_ => 1 } $reference =~ /^\| `(submission_\w+)/mg;
my @unknown = grep { my $name = $_;
                     !grep { $described{$name =~ s/_(?:$_)$//r} }
                           qw(bucket sum count -) }
              split /\n/, `t/tools/prometheus.py metrics $rules $board`;

is("@unknown", '', 'metrics.md describes the metrics');

my @pages = split /\n/, `t/tools/prometheus.py runbooks $rules`;

is(scalar @pages, scalar @alerts, 'each alert names a page');
is(join(' ', grep { !there($_) } @pages), '', 'which is there, with its anchor');


# a reference has many sections: an anchor says which

is(join(' ', grep { m{^docs/reference/[^#]+$} } @pages), '',
   'no alert leads to the top of a reference');
ok(!there("$pages[0]#nothing-of-that-name"), 'an anchor that is not there is found out');

done_testing();


# anchors as GitHub makes them of titles

sub there {
    my ($file, $anchor) = split /#/, $_[0];

    open my $page, '<', $file or return 0;
    return 1 unless defined $anchor;

    return grep { $_ eq $anchor }
           map { lc() =~ s/[^\w\- ]//gr =~ tr/ /-/r } map { /^#+ +(.*?)\s*$/ } <$page>;
}

# The core's parsers under libFuzzer, ASAN and UBSan: t/fuzz/*.c, which say what
# must hold of any input.  Each is run over the corpus that is kept, and then on
# inputs made of it; the seed is fixed, so that each run is the same run.
#
# FUZZ_SECONDS makes it go on for so long, from another seed each time and from
# what it found before; FUZZ="json text" picks some.
#
# Goes red when: a property of a harness does not hold, a sanitizer reports, or
# an input takes more than ten seconds.  The input is build/fuzz/<name>-crash-*
# then: "build/fuzz/<name> <file>" shows it again.

use strict;
use warnings;

use Cwd qw(abs_path);
use File::Basename qw(basename dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use constant RUNS => 40_000;

my $top = abs_path(dirname(__FILE__) . '/../..');
my @names = split ' ', $ENV{FUZZ} // '';

@names = map { basename($_, '.c') } sort glob "$top/t/fuzz/*.c" if !@names;


# its last lines, if it failed

sub fuzz {
    my ($name, @arguments) = @_;

    open(my $pipe, '-|', 'sh', '-c', 'exec "$@" 2>&1', 'sh',
         "$top/build/fuzz/$name", "-dict=$top/t/fuzz/words.dict",
         "-artifact_prefix=$top/build/fuzz/$name-", '-timeout=10',
         '-max_len=4096', @arguments)
        or die "sh: $!";

    my @lines = <$pipe>;

    return close($pipe) ? '' : join '', splice(@lines, @lines > 60 ? -60 : 0);
}


for my $name (@names) {
    my $corpus = "$top/t/fuzz/corpus/$name";
    my $new = "$top/build/fuzz/new/$name";
    my @inputs = glob "$corpus/*";

    ok(@inputs > 1, "$name: a corpus of " . @inputs . ' inputs');
    is(fuzz($name, '-runs=0', $corpus), '', "$name: all of them");

    if ($ENV{FUZZ_SECONDS}) {
        make_path($new);
        is(fuzz($name, "-max_total_time=$ENV{FUZZ_SECONDS}", $new, $corpus),
           '', "$name: $ENV{FUZZ_SECONDS} seconds");

    } else {
        is(fuzz($name, '-seed=1', '-runs=' . RUNS, tempdir(CLEANUP => 1),
                $corpus),
           '', "$name: " . RUNS . ' more');
    }
}

done_testing();

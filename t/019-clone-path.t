# A clone whose path has a space in it: "make build" makes a module there that
# nginx loads.  nginx's configure splits such a path, so it is made through a
# symbolic link.  So is a clone below "a.Smith" or "src.cc", where configure takes
# what follows the dot for the suffix of a source.
#
# Goes red when: make hands the path itself to configure ("invalid option", "no
# rule to make target"), or a script on the way does not quote it.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(abs_path);
use File::Basename qw(dirname);
use File::Path qw(make_path remove_tree);
use Test::More;

use SubmissionNeeds qw(no_store no_checker);

my $top = abs_path(dirname(__FILE__) . '/..');
my $base = ($ENV{SUBMISSION_TEST_DIR} // "$top/build") . "/path.$$";
my $clone = "$base/a clone";

make_path("$clone/t", "$base/tmp");

system('cp', '-r', (map { "$top/$_" } qw(GNUmakefile Makefile config src sql console)),
       $clone) == 0 or die "cp failed\n";
system('cp', '-r', "$top/t/tools", "$clone/t") == 0 or die "cp failed\n";

# another make runs this test, and has told its own children things

delete @ENV{qw(MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES)};
local $ENV{TMPDIR} = "$base/tmp";

my $said = `make -C '$clone' build 2>&1`;

is($?, 0, 'make build') or diag($said);
ok(-e "$clone/build/ngx_http_submission_module.so",
   'the module is where it belongs');

my ($link) = glob "$base/tmp/*/clone";

is(abs_path($link // '/'), abs_path($clone), 'by a link to the clone');

open(my $conf, '>', "$base/nginx.conf") or die "nginx.conf: $!";
print $conf qq(load_module "$clone/build/ngx_http_submission_module.so";\n),
            qq(pid "$base/nginx.pid";\nevents { }\nhttp { }\n);
close $conf or die "nginx.conf: $!";

# "make build" is for the machine's own nginx, whichever this run is on

my $nginx = '/usr/sbin/nginx';

$said = `'$nginx' -t -e stderr -p '$base/' -c '$base/nginx.conf' 2>&1`;

is($?, 0, 'nginx loads it') or diag($said);


# whether make goes through a link is seen by what it would do

for my $name (qw(a.Smith src.cc plain)) {
    make_path("$base/$name/t");
    system('cp', '-r', (map { "$top/$_" } qw(GNUmakefile Makefile)), "$base/$name") == 0
        && system('cp', '-r', "$top/t/tools", "$base/$name/t") == 0
        or die "cp failed\n";

    $said = `make -n -C '$base/$name' clean 2>&1`;

    is($said =~ m{^cd '\Q$base\E/tmp/[^/']+/clone'}m ? 'a link' : 'itself',
       $name eq 'plain' ? 'itself' : 'a link', "$name: made through");
}

remove_tree($base);

done_testing();

# sql/install.sh for SQL Server and Babelfish, by stand-ins for sqlcmd and bsqldb: what
# they are given, and where the password is.
#
# Goes red when: the tool is left to ask for a password although nobody sees it ask; a
# password is on a command line, or is asked for again at each try; a function is not
# dropped before it is made again on Babelfish, so that a second run fails; two runs at
# once are not kept apart; nginx's role may call what only procedures should.

use strict;
use warnings;

use FindBin;
use lib "$FindBin::Bin/lib";

use Cwd qw(realpath);
use File::Temp qw(tempdir);
use Test::More;

use SubmissionNeeds 'no_store';

my $top = realpath("$FindBin::Bin/..");
my $dir = tempdir('install.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                  CLEANUP => 1);

delete @ENV{qw(SQLCMD SQLCMDUSER SQLCMDPASSWORD)};


# A client that writes down its arguments, and where it finds the password.  Before
# the last of $TRIES it fails as for a lock time-out.

for my $client (qw(sqlcmd bsqldb)) {
    open(my $file, '>', "$dir/$client") or die "$client: $!";
    print $file <<'END';
#!/bin/sh
IFS= read -r line
echo "args: $*
environment: ${SQLCMDPASSWORD:-none}
input: ${line:-none}" >> "$0.log"
[ "$(grep -c ^args: "$0.log")" -ge "${TRIES:-1}" ] || { echo "Msg 1222"; exit 1; }
echo "installed"
END
    close $file;
    chmod(0755, "$dir/$client") or die "chmod: $!";
}


# with a terminal: what is typed there

open(my $pty, '>', "$dir/terminal.py") or die "terminal.py: $!";
print $pty <<'END';
import os, pty, sys

typed = sys.argv[1].encode() + b"\n"
pid, fd = pty.fork()

if pid == 0:
    os.execv(sys.argv[2], sys.argv[2:])

said = b""

while True:
    try:
        data = os.read(fd, 4096)
    except OSError:
        break
    if not data:
        break
    said += data
    if data.endswith(b"Password: "):
        os.write(fd, typed)

sys.stdout.write(said.decode())
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
END
close $pty;


# the status, what was said, and what the client found

sub install {
    my ($client, $typed, @args) = @_;

    my @command = ("$top/sql/install.sh", 'mssql', '-S', 'db1', @args);

    @command = defined $typed ? ('python3', "$dir/terminal.py", $typed, @command)
                              : ('setsid', '--wait', @command);

    local $ENV{SQLCMD} = "$dir/$client";
    unlink("$dir/$client.log");

    open(my $out, '-|') // do { die "fork: $!" } or do {
        open(STDIN, '<', '/dev/null');
        open(STDERR, '>&', \*STDOUT);
        exec(@command) or exit 127;
    };

    my $said = do { local $/; <$out> } // '';
    close $out;

    my $status = $? >> 8;
    my $log = '';

    if (open(my $file, '<', "$dir/$client.log")) {
        $log = do { local $/; <$file> };
    }

    return ($status, $said, $log);
}


for my $client (qw(sqlcmd bsqldb)) {
    my $place = $client eq 'sqlcmd' ? 'environment' : 'input';

    $ENV{TRIES} = 3;

    my ($status, $said, $log) = install($client, 'Typed 1;}', '-U', 'sa');

    delete $ENV{TRIES};

    is($status, 0, "$client: a password that is typed: $said");
    is(() = $said =~ /Password:/g, 1, "$client: it is asked for once");
    unlike($said, qr/Typed 1/, "$client: it is not shown");
    is(() = $log =~ /^$place: Typed 1;\}$/mg, 3,
       "$client: every try has it in its $place");
    unlike($log, qr/^args: .*Typed/m, "$client: it is not an argument");

    ($status, $said, $log) = install($client, '', '-U', 'sa');

    is($status, 2, "$client: nothing is typed");
    like($said, qr/no password/, "$client: in words");
    is($log, '', "$client: nothing is run");

    ($status, $said, $log) = install($client, undef, '-U', 'sa');

    is($status, 2, "$client: no terminal, no password");
    like($said, qr/SQLCMDPASSWORD was expected in the environment/,
         "$client: it says what to do");
    is($log, '', "$client: nothing is run");

    local $ENV{SQLCMDPASSWORD} = 'Set 2';

    ($status, $said, $log) = install($client, undef, '-Usa');

    is($status, 0, "$client: SQLCMDPASSWORD");
    like($log, qr/^$place: Set 2$/m, "$client: it has that");
    unlike($log, qr/^args: .*Set/m, "$client: it is not an argument");

    delete local $ENV{SQLCMDPASSWORD};

    for my $args (['-U', 'sa', '-P', 'x'], ['-E'], ['-U', 'sa', '-G'],
                  ['--authentication-method', 'ActiveDirectoryAzCli'], [])
    {
        ($status, $said, $log) = install($client, undef, @$args);
        is($status, 0, "$client @$args: nobody is asked");
    }
}


# what is run

my %text = map { $_ => scalar `$top/sql/install.sh print $_` }
           qw(mssql babelfish);

for my $dialect (sort keys %text) {
    my $text = $text{$dialect};

    like($text, qr/\A(?:(?!^GO$).)*sp_getapplock.*?57008/ms,
         "$dialect: one at a time, before all else");
    like($text, qr/sp_releaseapplock[^;]*;\nGO\n\z/, "$dialect: and to the end");

    my @granted = $text =~ /^GRANT\s+EXECUTE\s+ON\s+OBJECT::submission\.(\w+)
                             \s+TO\s+submission_nginx;$/mgx;

    cmp_ok(scalar @granted, '>', 40, "$dialect: rights, one by one");
    is_deeply([grep { /audit_add|intents_ended|fence|inflight_since/ } @granted],
              [], "$dialect: none on what writes the audit, or is not a call");
    unlike($text, qr/GRANT EXECUTE ON SCHEMA/, "$dialect: none on the schema");
    like($text, qr/^BEGIN TRANSACTION;.*?^GRANT EXECUTE.*?^COMMIT TRANSACTION;/ms,
         "$dialect: with the procedures, in one transaction");
}


# a second run on Babelfish: what is made is dropped before, by its whole name

my @made = $text{babelfish} =~ /^CREATE (?:PROCEDURE|FUNCTION) ([\w.]+)/mg;
my @dropped = $text{babelfish}
    =~ /^DROP (?:PROCEDURE|FUNCTION) IF EXISTS ([\w.]+);\nGO$/mg;

cmp_ok(scalar @made, '>', 40, scalar(@made) . ' are made on Babelfish');
is_deeply(\@dropped, \@made, 'each is dropped before, by its name');


# make honours TEST_JOBS of the environment, which Babelfish needs

sub jobs {
    return `make -s -C $top --eval 'jobs: ; \@echo \$(TEST_JOBS)' jobs @_`;
}

{
    local %ENV = (%ENV, TEST_JOBS => 3);

    delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS)};

    is(jobs(), "3\n", 'TEST_JOBS=3 make');
    is(jobs('TEST_JOBS=2'), "2\n", 'make TEST_JOBS=2');
}


done_testing();

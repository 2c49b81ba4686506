package SubmissionRefused;

# Configurations that nginx must refuse, and the message for each: tables that
# "nginx -t" is run on, row by row.
#
#   use SubmissionRefused;
#
#   refused(manager => <<'EOT');
#   invalid value "{value}" of "{directive}": a time between 10ms and 1d was
#   expected
#       renew_interval soon;                # no time
#       acquire_interval 9ms;               # too short
#
#   "{directive}" directive is duplicate
#       renew_interval 30s;
#           renew_interval 30s;
#   EOT
#
#   done_testing();
#
# SubmissionTable.pm says what a table is.  Below a message are the
# configurations that must end in it, and in no other.  A comment says what is
# wrong with one.
#
# The first argument says where these lines stand:
#
#   manager            in submission_manager "main", which has a target "t"
#   target             in a target "x" of it, which has a gateway_type sms, a
#                      gateway_url and a policy unless the lines have them
#   main, http, server in these blocks; "main" is there unless they have a
#                      submission_manager
#   location ...       in this location
#   targets.json       they are this file, which "targets" in the manager names
#   targets.json x     they are members of the only target in this file, which
#                      has others as "target" above
#
# Wherever the manager and the server are, there is an API, and the rest that a
# manager needs, unless the lines have that directive for "main" themselves.
# More arguments are lines beside them: main, http, manager, server.  dispatch()
# is the location that another manager needs; with "bare" "main" has none.  With
# "listen" the server listens there, and "no_store" leaves "store" out; "by" is a
# command that runs nginx.
#
# In a message, and in lines, beyond what any table has:
#
#   {root}             the server root; root() in Perl, and put() makes a file
#   {port}             the port of the server; port() in Perl
#   {contract}         the directives that a target needs
#   {file}             "targets file" and the name of targets.json
#
# In a message alone:
#
#   {here}             the file and line where the configuration is wrong: its
#                      last line, or that with the comment "# here"
#   {there}            the file and line with the comment "# there"
#   {begin}, {end}     the first and the last line of the manager, or target,
#                      that the lines stand in
#   {directive}        the directive of the wrong line
#   {parameter}        its last argument
#   {name}, {value}    what is before and after the "=" of that, if it has one
#   {any}              any text
#   {then}             the end of a warning that another one follows
#
# " in {here}" is added to a message that does not have a place; one that has
# none ends with "{nowhere}".
#
# nginx may say nothing else, and a test may call refused() beside run_tests().
#
# warned() takes such tables of what nginx must take with a warning and nothing
# else, and silent() one of what it must take without a word: its "messages" are
# what the rows have in common.

use strict;
use warnings;

use Exporter 'import';
use File::Basename qw(dirname);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use Test::More;

use SubmissionPace qw(busy);
use SubmissionPorts qw(free_port);
use SubmissionTable qw(rows clip);

our @EXPORT = qw(refused warned silent put root port dispatch);

my $root = tempdir('refused.XXXXXX', DIR => $ENV{SUBMISSION_TEST_DIR} || '/tmp',
                   CLEANUP => 1);
my $nginx = $ENV{SUBMISSION_NGINX} || '/usr/sbin/nginx';
my $seconds = 20 * (($ENV{SUBMISSION_CHECK} // '') ? 4 : 1);
my $port = $ENV{TEST_NGINX_PORT} // free_port();

my %location = (
    submission_api => "location /v1/ {\nsubmission_api main;\n}",
    submission_dispatch => dispatch('main'),
);

my %words = (
    root => $root, port => $port, contract => contract(''),
    file => "targets file \"$root/conf/targets.json\"",
);

my %member = (
    submissionTarget => '"x"', gatewayType => '"sms"',
    gatewayUrl => '"http://gateway"', policy => '"one_shot"',
);


sub root { return $root }
sub port { return $port }


# the location that a manager sends attempts through

sub dispatch {
    my ($manager) = @_;

    my $path = $manager eq 'main' ? '/_dispatch' : "/_dispatch_$manager";

    return "location = $path {\ninternal;\nsubmission_dispatch $manager;\n"
           . "proxy_pass \$submission_gateway_url;\n}";
}


# a file below the server root

sub put {
    my ($name, $text, $mode) = @_;

    my $path = "$root/$name";

    make_path(dirname($path));
    open(my $file, '>:raw', $path) or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
    chmod $mode // 0644, $path or die "$path: $!\n";
}


sub refused { table('exit status 1', @_) }
sub warned  { table('exit status 0', @_) }
sub silent  { table('', @_) }


# "end" is how nginx ends; if it is empty, it must end well and say nothing

sub table {
    my ($end, $where, $table, %beside) = @_;

    local $Test::Builder::Level = $Test::Builder::Level + 3;

    for my $row (map { named($_) } rows($table, %words)) {
        my %lines = place($where, $row->{lines}, \%beside);

        put('conf/targets.json', $lines{file}) if defined $lines{file};
        put('conf/nginx.conf', configuration(%lines));

        check(run($lines{by}), $row, $end);

        unlink "$root/conf/targets.json";
    }
}


# The name of a row, from its comments, and the line that is wrong.

sub named {
    my ($row) = @_;

    my @lines = @{$row->{lines}};
    my ($name) = map { /\s# (?:(?:here|there)(?:: |\z))?(.+)/ ? $1 : () } @lines;

    my $first = clip($lines[0] =~ s/\s+# .*//r);

    my ($here) = grep { $lines[$_] =~ /\s# here/ } 0 .. $#lines;

    $lines[-1] .= ' # here' unless defined $here;
    $row->{wrong} = $lines[$here // -1];
    $row->{name} = defined $name ? "$first ($name)" : $first;
    $row->{lines} = \@lines;

    return $row;
}


# The configuration

sub place {
    my ($where, $lines, $beside) = @_;

    my $text = join "\n", @$lines;
    my %lines = %$beside;

    if ($where =~ /^location/) {
        ($where, $text) = ('server', "$where {\n$text\n}");

    } elsif ($where eq 'target') {
        my $rest = contract($text);
        ($where, $text) = ('manager', "target x { # begin\n$text\n$rest\n} # end");

    } elsif ($where =~ /^targets\.json/) {
        $text =~ s/^ {4}|\s+# .*//mg;
        $text = '{"targets":[{' . members($text) . '}]}' if $where =~ / x\z/;

        $lines{file} = "$text\n";
        ($where, $text) = ('manager', 'targets targets.json; # here');
    }

    $lines{$where} = join "\n", $lines{$where} // (), $text;

    return %lines;
}


# what a target needs beyond these lines, so that they are what is wrong

sub contract {
    my ($text) = @_;

    my %default = (gateway_type => 'sms', gateway_url => 'http://127.0.0.1:1',
                   policy => 'one_shot');

    return join ' ', map { "$_ $default{$_};" }
                     grep { $text !~ /\b$_\b/ } sort keys %default;
}


sub members {
    my ($text) = @_;

    return join ',', $text, map { "\"$_\":$member{$_}" }
                            grep { $text !~ /"$_"/ } sort keys %member;
}


sub configuration {
    my (%lines) = @_;

    $lines{$_} //= '' for qw(main http manager server);

    if ($lines{http} !~ /\bsubmission_manager\b/) {
        $lines{manager} .= "\nstore sqlite data/submission.db;"
            unless $lines{no_store} || $lines{manager} =~ /^\s*store\b/m;
        $lines{http} .= "\nsubmission_manager main { # begin\n$lines{manager}\n"
                        . "target t {\n$words{contract}\n}\n} # end";
    }

    for my $directive (sort keys %location) {
        $lines{server} .= "\n$location{$directive}"
            unless $lines{bare} || $lines{server} =~ /\b$directive\s+main\b/;
    }

    my $load = join "\n", map { "load_module $_;" }
               split ' ', $ENV{TEST_NGINX_LOAD_MODULES} // '';
    my $listen = $lines{listen} // "127.0.0.1:$port";
    my $temporary = join "\n", map { "${_}_temp_path tmp/$_;" }
                    qw(client_body proxy fastcgi uwsgi scgi);

    return <<"END";
$load
pid logs/nginx.pid;
error_log stderr info;
thread_pool submission threads=4;
$lines{main}
events {
}
http {
access_log off;
$temporary
$lines{http}
server {
listen $listen;
$lines{server}
}
}
END
}


# what nginx says to it, and how it ends

sub run {
    my ($by) = @_;

    make_path("$root/logs", "$root/tmp", "$root/html");

    my $pid = open(my $out, '-|') // die "fork: $!\n";

    if (!$pid) {
        open(STDERR, '>&', \*STDOUT) or die "stderr: $!\n";
        exec @{$by || []}, $nginx, '-t', '-p', "$root/", '-c', 'conf/nginx.conf',
             '-e', 'stderr';
        die "$nginx: $!\n";
    }

    local $SIG{ALRM} = sub { kill KILL => $pid };
    alarm($seconds * busy());

    my $said = join '', grep { !/^nginx: (?:the )?configuration file / } <$out>;

    alarm 0;
    close $out;

    my $end = $? & 127 ? 'signal ' . ($? & 127) : 'exit status ' . ($? >> 8);

    return $said =~ s/^\S+ \S+ \[(?:emerg|warn)\] \S+: //mgr . $end;
}


sub check {
    my ($said, $row, $end) = @_;

    my $expected = $end ? message($row) . "\n$end" : 'exit status 0';

    if ($expected =~ /\{any\}/) {
        $expected = join '.*', map { quotemeta } split /\{any\}/, $expected, -1;
        $expected = qr/\A$expected\z/;
    }

    my $right = ref $expected ? like($said, $expected, $row->{name})
                              : is($said, $expected, $row->{name});

    diag("the configuration:\n" . join "\n", @{$row->{lines}}) unless $right;
}


sub message {
    my ($row) = @_;

    my $message = $row->{message};

    $message .= ' in {here}'
        unless $message =~ /\{(?:here|there|begin|end|nowhere)\}|:\d+\z|\{any\}\z/;
    $message =~ s/\{nowhere\}//;
    $message =~ s/\{(here|there|begin|end)\}/marked($1)/ge;
    $message =~ s/ ?\{then\} /\n/g;

    my ($directive, @arguments) = words($row->{wrong});
    my $parameter = $arguments[-1] // '';
    my ($name, $value) = $parameter =~ /^(\w+)=(.*)\z/s;

    my %word = (directive => $directive, parameter => $parameter,
                name => $name // '', value => $value // $parameter);

    $message =~ s/\{(directive|parameter|name|value)\}/$word{$1}/g;

    return $message;
}


# the words of a directive, as nginx reads them

sub words {
    my ($line) = @_;

    my %escaped = (t => "\t", r => "\r", n => "\n");
    my @words;

    while ($line =~ /\G\s*(?:(["'])((?:\\.|(?!\1).)*)\1|([^\s;{]+))/gc) {
        my $word = $2 // $3;
        $word =~ s{\\([trn"'\\])}{$escaped{$1} // $1}ge;
        push @words, $word;
    }

    return @words;
}


# the line with a comment

sub marked {
    my ($mark) = @_;

    open(my $file, '<', "$root/conf/nginx.conf") or die "nginx.conf: $!\n";

    while (my $line = <$file>) {
        return "$root/conf/nginx.conf:$." if $line =~ /\s# $mark\b/;
    }

    return "(no line has \"# $mark\")";
}


1;

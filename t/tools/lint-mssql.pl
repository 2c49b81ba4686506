#!/usr/bin/perl

# lint-mssql.pl <file>...
#
# Checks what SQL Server demands of sql/mssql and Babelfish, on which the tests
# run, does not.  Each finding is a line "<file>:<line>: <rule>: <what>"; with
# findings, it exits with 1.
#
#   set-options  The seven options are set before the first GO.  Without them
#                SQL Server refuses to use filtered indexes (1934).
#   collation    A column of characters has a binary collation, in tables, table
#                variables and OPENJSON ... WITH.  That of the database would
#                conflict with it in CASE, UNION or = (457, 468).
#   path         The path of a column of OPENJSON ... WITH is on the line of its
#                collation, which sql/install.sh removes for Babelfish.
#   time         Times are datetime2(6), and clocks are cast to it, because a
#                cursor has microseconds.
#   datediff     DATEDIFF_BIG is used: an int overflows after 24 days of
#                milliseconds.
#   replace      CREATE OR ALTER is used, so that a procedure is never missing.
#   index        An index has a batch of its own, which asks for that index: what
#                failed once is made by the next run.  If it is made twice, in a
#                migration and in the schema, both are the same.
#   retype       A column whose type changes is in no index: each index is dropped
#                before, and made after it (5074).
#   forceseek    The table that an UPDATE or a DELETE changes has no FORCESEEK with
#                an index, which is allowed only for tables that are read.
#   union        With three SELECTs or more, the first has a type for each NULL:
#                two NULLs without a type become an int, and a text is none (245).
#   commit       A procedure sends its answer after its commit.
#   charindex    CHARINDEX has a binary collation.  With that of the database, a
#                space may be found where there is none, and a long document is
#                slow.
#   left         submission_left() is used in place of LEFT(), which may leave half
#                of a character at the end, unless the result is only compared.
#   schemabinding  A scalar function has it.  Otherwise SQL Server assumes that it
#                reads tables, and evaluates it again for each row.
#   right        Rights are given on procedures one by one, not on the schema, and
#                role.sql gives exactly those that nginx calls.

use strict;
use warnings;

use constant COLLATE => qr/\bCOLLATE\s+Latin1_General_BIN2\b/i;

my @options = qw(ANSI_NULLS QUOTED_IDENTIFIER ANSI_PADDING ANSI_WARNINGS
                 ARITHABORT CONCAT_NULL_YIELDS_NULL);
my $found = 0;
my ($name, $text, %made);


sub found {
    my ($at, $rule, $what) = @_;

    my $line = 1 + (substr($text, 0, $at) =~ tr/\n//);

    print "$name:$line: $rule: $what\n";
    $found++;
}


# Returns what is inside of the parenthesis that opens at a place.

sub inside {
    my ($at) = @_;

    my $depth = 0;

    for (my $i = $at; $i < length $text; $i++) {
        my $c = substr $text, $i, 1;

        $depth++ if $c eq '(';
        $depth-- if $c eq ')';

        return substr $text, $at + 1, $i - $at - 1 if $depth == 0;
    }

    found($at, 'syntax', 'a parenthesis is not closed');
    return '';
}


# Checks the columns of characters of a list of columns that opens at a place.

sub columns {
    my ($at) = @_;

    my $list = inside($at);
    my $start = 0;
    my $depth = 0;

    for my $i (0 .. length $list) {
        my $c = $i < length $list ? substr($list, $i, 1) : ',';

        $depth++ if $c eq '(';
        $depth-- if $c eq ')';

        next if $c ne ',' || $depth;

        my $column = substr $list, $start, $i - $start;

        if ($column =~ /^(\s*)(\[?\w+\]?)\s+n?(?:var)?(?:char|text)\b/i
            && $column !~ COLLATE)
        {
            found($at + 1 + $start + length $1, 'collation',
                  "column $2 has no COLLATE Latin1_General_BIN2");
        }

        if ($column =~ /^(\s*)(\[?\w+\]?)\s[^']*\bCOLLATE\b[^']*\n[^']*'/i) {
            found($at + 1 + $start + length $1, 'path',
                  "column $2 has its path on another line");
        }

        $start = $i + 1;
    }
}


# Returns all indexes that are made, also in a string: name, table, columns, place.

sub indexes {
    my @indexes;

    while ($text =~ /\bCREATE\s+((?:\w+\s+){0,2})INDEX\s+(\w+)\s+
                     ON\s+([\w.]+)\s*(.*?)
                     (?=\s*(?:;|WITH\s*\(\s*ONLINE\b|^GO\b|\z))/gmsix)
    {
        my ($at, $kind, $index, $table, $what) = ($-[0], $1, $2, $3, $4);

        $what = lc "$kind $what";
        $what =~ s/''/'/g;
        $what =~ s/\s+/ /g;
        $what =~ s/ ?([(),]) ?/$1/g;

        push @indexes, { at => $at, name => $index, table => $table,
                         what => $what };
    }

    return @indexes;
}


sub check_indexes {
    my @indexes = indexes();

    for (@indexes) {
        my $first = $made{$_->{name}} //= { %$_, file => $name };

        found($_->{at}, 'index', "$_->{name} is another one in $first->{file}")
            if $first->{table} ne $_->{table} || $first->{what} ne $_->{what};
    }

    while ($text =~ /\bALTER\s+TABLE\s+([\w.]+)\s+ALTER\s+COLUMN\s+(\w+)/gi) {
        my ($at, $table, $column) = ($-[0], $1, $2);

        for (@indexes) {
            next if $_->{table} ne $table || $_->{what} !~ /\b\Q$column\E\b/;

            found($at, 'retype', "$_->{name} has $column, and is not dropped before")
                if substr($text, 0, $at)
                   !~ /\bDROP\s+INDEX\s+IF\s+EXISTS\s+\Q$_->{name}\E\b/i;

            found($at, 'retype', "$_->{name} has $column, and is made before")
                if $_->{at} < $at;
        }
    }
}


# Returns the procedures that src/store calls.

sub called {
    open(my $file, '<', 'src/store/sm_store_procs.h')
        or die "sm_store_procs.h: $!\n";
    my $header = do { local $/; <$file> };

    return $header =~ /^\s+X\(\w+, "(\w+)"/mg;
}


sub check_rights {
    found($-[0], 'right', 'a right on a schema: one by one was expected')
        while $text =~ /\bGRANT\b[^;]*\bON\s+SCHEMA\b/gi;

    return if $name !~ /\brole\.sql$/;

    my %wanted = map { $_ => 1 } called();

    while ($text =~ /\bGRANT\s+(\w+)\s+ON\s+OBJECT::submission\.submission_(\w+)
                     \s+TO\s+submission_nginx\b/gix)
    {
        found($-[0], 'right', "$1 on $2, which nginx does not call")
            if uc $1 ne 'EXECUTE' || !delete $wanted{$2};
    }

    found(0, 'right', "nginx calls $_, and may not") for sort keys %wanted;
}


sub check_functions {
    while ($text =~ /\bCHARINDEX\s*(\()/gi) {
        my $at = $-[0];

        found($at, 'charindex', 'no COLLATE Latin1_General_BIN2')
            if inside($-[1]) !~ COLLATE;
    }

    while ($text =~ /\bCREATE\s+OR\s+ALTER\s+FUNCTION\s+([\w.]+)
                     ((?:(?!^GO\b).)*?)\bBEGIN\b/gmsix)
    {
        found($-[0], 'schemabinding', "$1 is not WITH SCHEMABINDING")
            if $2 !~ /\bWITH\s+SCHEMABINDING\b/i;
    }

    (my $rest = $text)
        =~ s{^CREATE OR ALTER FUNCTION submission\.submission_left\b.*?^GO\b}
            {(my $lines = $&) =~ s/[^\n]/ /g; $lines}ems;

    while ($rest =~ /(?<![\w.])LEFT\s*(\()/gi) {
        my $at = $-[0];
        my $after = substr $text, $-[1] + 2 + length inside($-[1]);

        found($at, 'left', 'submission.submission_left() was expected')
            if $after !~ /\A\s*(?:COLLATE\s+\w+\s*)?(?:=|<>)/i;
    }
}


sub check {
    my ($first) = $text =~ /\A(.*?)^GO\b/msi;

    for my $option (@options) {
        found(0, 'set-options', "SET $option ON is not at the head")
            if ($first // '') !~ /^SET\b[^;]*\b$option\b[^;]*\bON\s*;/mi;
    }

    found(0, 'set-options', 'SET NUMERIC_ROUNDABORT OFF is not at the head')
        if ($first // '') !~ /^SET\s+NUMERIC_ROUNDABORT\s+OFF\s*;/mi;

    columns($-[1]) while $text =~ /\bTABLE\s+[\w.\[\]]+\s*(\()/gi;
    columns($-[1]) while $text =~ /\@\w+\s+TABLE\s*(\()/gi;
    columns($-[1])
        while $text =~ /\bOPENJSON\s*(?:\([^()]*\))\s*WITH\s*(\()/gi;

    found($-[0], 'time', "$& where datetime2(6) was expected")
        while $text =~ /\b(?:datetime2\b(?!\s*\(\s*6\s*\))|datetime\b(?!2)|smalldatetime\b|datetimeoffset\b)(?:\(\d\))?/gi;

    while ($name !~ /monitor\.sql$/
           && $text =~ /\bSYS(?:UTC)?DATETIME\s*\(\s*\)|\bGET(?:UTC)?DATE\s*\(/gi)
    {
        my ($at, $before, $after) = ($-[0], $`, $');

        found($at, 'time', 'a clock that is not cast to datetime2(6) at once')
            if $before !~ /\bCAST\s*\(\s*\z/i
               || $after !~ /\A\s*AS\s+datetime2\s*\(6\)\s*\)/i;
    }

    found($-[0], 'datediff', 'DATEDIFF where DATEDIFF_BIG was expected')
        while $text =~ /\bDATEDIFF\s*\(/gi;

    found($-[0], 'replace', 'CREATE OR ALTER was expected')
        while $text =~ /^[ ]*(?:CREATE|DROP)\s+(?:PROC|PROCEDURE|FUNCTION|VIEW|TRIGGER)\b/gmi;

    found($-[0], 'commit', 'the answer is sent before the commit')
        while $text =~ /\bCOMMIT(?:\s+TRAN(?:SACTION)?)?\s*;?\s*\bEND\s*;?\s*^GO\b/gmi;

    check_indexes();
    check_rights();
    check_functions();

    found($-[0], 'forceseek', "$1 is changed: INDEX (...) was expected")
        while $text =~ /\b(?:UPDATE|DELETE)(?:\s+TOP\s*\([^()]*\))?\s+(\w+)\s[^;]*?
                        \bAS\s+\1\s+WITH\s*\([^;()]*\bFORCESEEK\s*\(/gix;

    while ($text =~ /\b(SELECT\b[^;]*?)\bUNION\s+ALL\b([^;]*)/gi) {
        my ($at, $first, $rest) = ($-[0], $1, $2);

        1 while $first =~ s/\([^()]*\)//g;
        1 while $rest =~ s/\([^()]*\)//g;

        found($at, 'union', "\"$1\" has no type")
            if $rest =~ /\bUNION\s+ALL\b/i && $first =~ /\b(NULL\s+AS\s+\w+)/i;
    }

    while ($text =~ /(?:\A|^GO\b)(.*?)(?=^GO\b|\z)/gmsi) {
        my ($at, $batch) = ($-[1], $1);
        my @made = $batch =~ /\bCREATE\s+(?:UNIQUE\s+)?(?:\w*CLUSTERED\s+)?(?:INDEX)\s+(\w+)/gi;

        next if !@made;

        found($at, 'index', "$made[0] shares its batch with others")
            if @made > 1 || $batch =~ /\bCREATE\s+TABLE\b/i;

        (my $like = $made[0]) =~ s/_/[_]/g;

        found($at, 'index', "nobody asks whether $made[0] is there")
            if $batch !~ /\bsys\.indexes\b/i
               || index($batch, "'$made[0]") < 0 && index($batch, "'$like") < 0;
    }
}


for (@ARGV) {
    $name = $_;

    next if $name =~ /\*/;             # the shell found no file for the pattern

    open(my $file, '<', $name) or die "$name: $!\n";
    $text = do { local $/; <$file> };
    close $file;

    # Comments are removed; line numbers stay.

    $text =~ s/--[^\n]*//g;
    $text =~ s{/\*.*?\*/}{ (my $c = $&) =~ s/[^\n]/ /g; $c }gse;

    check();
}

exit($found ? 1 : 0);

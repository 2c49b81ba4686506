#!/usr/bin/perl

# lint-layers.pl [<file>...]
#
# What the layers of src/ may know of each other (docs/architecture.md):
#
#   nginx     src/core and src/store have no header and no symbol of nginx's
#   pure      src/core calls nothing but what computes: of what its objects
#             import, by nm, libc's memory and strings, yajl, and its own
#   sql       a database's own headers stay in src/store
#   door      a folder's files are included by others through its door alone:
#             src/store/sm_store.h, any header of src/core, and of a folder
#             src/x its ngx_http_submission_x.h
#   below     src/core includes nothing of other folders, src/store of src/core
#             alone
#   first     whoever includes nginx's headers, by whichever way, includes them
#             before any other: what libc declares depends on what nginx's
#             define, such as _GNU_SOURCE
#
# Without files: all of src/.  A file of t/lint/ takes a place in src/ by its
# first lines, and is to be refused by the rule that it names:
#
#   /* refused: door */
#   /* as: src/leader/a.c */
#   /* with: src/task/private.h */        more headers that are there
#
# Prints "<file>:<line>: <rule>: <what>" for each, and exits with 1.

use strict;
use warnings;

use File::Basename qw(basename dirname);
use File::Temp qw(tempdir);

my @pure = (qr/(?:sm|yajl)_\w+/, qr/(?:mem|str)\w+/, qr/(?:m|c|re)alloc|free/,
            qr/v?snprintf|qsort|bsearch|abort/,
            qr/_GLOBAL_OFFSET_TABLE_|__stack_chk_fail/);

my $sql = qr/sqlite3(?:ext)?|libpq-fe|libpq\/.*|sql|sqlext|sqltypes|sqlucode
             |odbcinst(?:ext)?|pg_config.*/x;

my $cc = $ENV{CC} || 'cc';
my $tmp = tempdir(CLEANUP => 1);
my %refused;

# by their names: they are included without a path, and there is one of each

my %path = map { basename($_) => $_ } files('h');
my %folder = map { $_ => folder($path{$_}) } keys %path;
my %leads;


sub files {
    my ($ext) = @_;

    return glob "src/*.$ext src/*/*.$ext";
}


# "" for what is in src/ itself

sub folder {
    my ($file) = @_;

    return $file =~ m{^src/([^/]+)/} ? $1 : '';
}


sub refuse {
    my ($file, $line, $rule, $what) = @_;

    print "$file:$line: $rule: $what\n";
    $refused{$file} = 1;
}


sub is_door {
    my ($header, $folder) = @_;

    return $folder eq '' || $folder eq 'core'
           || $header eq ($folder eq 'store' ? 'sm_store.h'
                          : "ngx_http_submission_$folder.h");
}


sub includes {
    my ($file, $as, $n, $header, $there) = @_;

    my $in = folder($as);
    my $low = $in eq 'core' || $in eq 'store';

    refuse($file, $n, 'nginx', "$header is nginx's")
        if $low && $header =~ /^(?:ngx_|nginx|ndk)/;

    refuse($file, $n, 'sql', "$header is a database's")
        if $in ne 'store' && $header =~ /^$sql\.h$/;

    my $of = $there->{basename($header)} // return;

    return if $of eq $in;

    refuse($file, $n, 'below', "$header is of a folder above")
        if $in eq 'core' || ($in eq 'store' && $of ne 'core');

    refuse($file, $n, 'door', "$header is private to src/$of")
        if !is_door(basename($header), $of);
}


# pairs of a line's number and the header that it includes

sub included {
    my $n = 0;

    return map { $n++; /^\s*#\s*include\s*[<"]([^>"]+)[>"]/ ? [$n, $1] : () } @_;
}


# whether nginx's headers come with it

sub leads_to_nginx {
    my ($header) = @_;

    return 1 if $header eq 'ngx_config.h';

    my $path = $path{basename($header)} // return 0;

    return $leads{$path} //= do {
        open(my $in, '<', $path) or die "$path: $!\n";
        scalar(grep { leads_to_nginx($_->[1]) } included(<$in>));
    };
}


sub first {
    my ($file, @included) = @_;

    my @before;

    for (@included) {
        last if leads_to_nginx($_->[1]);
        push @before, $_;
    }

    return if @before == @included;

    refuse($file, $_->[0], 'first', "$_->[1] comes before nginx's headers")
        for @before;
}


# what the compiler leaves of it has no comments, and the lines that it had

sub text {
    my ($file) = @_;

    my $text = `$cc -w -fpreprocessed -dD -E -x c '$file'`;

    die "$cc failed\n" if $? != 0;

    return $text;
}


sub imports {
    my ($file, $as) = @_;

    my $object = "$tmp/" . basename($file) . '.o';

    system($cc, '-std=gnu11', '-D_GNU_SOURCE', '-U_FORTIFY_SOURCE', '-w', '-O1',
           '-Isrc/core', '-c', '-o', $object, $file) == 0
        or die "$file does not compile\n";

    for my $symbol (map { (split)[-1] // () } `nm -u '$object'`) {
        next if $symbol =~ /:$/ || grep { $symbol =~ /^$_$/ } @pure;

        refuse($file, 1, 'pure', "it calls $symbol()");
    }
}


sub lint {
    my ($file) = @_;

    open(my $in, '<', $file) or die "$file: $!\n";

    my ($as, %there) = ($file, %folder);
    my @lines = <$in>;

    for (@lines) {
        $as = $1 if m{^/\* as: (\S+) \*/$};
        $there{basename($1)} = folder($1) if m{^/\* with: (\S+) \*/$};
    }

    my @included = included(@lines);

    includes($file, $as, @$_, \%there) for @included;
    first($file, @included);

    if (folder($as) =~ /^(?:core|store)$/) {
        my $n = 0;

        for (split /\n/, text($file)) {
            $n = $1 - 1, next if /^# (\d+)/;
            $n++;
            refuse($file, $n, 'nginx', "$1 is nginx's")
                if /\b((?:ngx|NGX|ndk|NDK)_\w+)/ && !/^\s*#\s*include/;
        }
    }

    # what was refused need not compile

    imports($file, $as)
        if folder($as) eq 'core' && $as =~ /\.c$/ && !$refused{$file};
}


lint($_) for @ARGV ? @ARGV : (files('c'), files('h'));

exit(%refused ? 1 : 0);

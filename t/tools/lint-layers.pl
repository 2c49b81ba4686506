#!/usr/bin/perl

# lint-layers.pl [<file>...]
#
# What the layers of src/ may know of each other (docs/architecture.md):
#
#   nginx     src/core and src/store have no header and no symbol of nginx's
#   pure      src/core calls nothing but what computes: of what its objects
#             import, by nm, libc's memory, strings and jumps, yajl, and its own
#   sql       a database's own headers stay in src/store
#   door      a folder's files are included by others through its door alone:
#             src/store/sm_store.h, any header of src/core, src/module and
#             src/conf (the configuration, and the parts of the zone),
#             and of a folder src/x its ngx_http_submission_x.h
#   below     src/core includes nothing of other folders, src/store of src/core
#             alone; inside src/core, base knows neither model nor rule, and
#             model no rule
#   first     whoever includes nginx's headers, by whichever way, includes them
#             before any other: what libc declares depends on what nginx's
#             define, such as _GNU_SOURCE
#   thread    what a task runs in a thread ends in _thread; of what begins with
#             ngx_, such a function calls others of that name, and what is on
#             the list below: what computes, reads the configuration, or counts
#
#   once      a static function has a name of its own: grep finds it in one file
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
            qr/v?snprintf|qsort|bsearch|abort|_setjmp|longjmp/,
            qr/_GLOBAL_OFFSET_TABLE_|__stack_chk_fail/);

# what a thread may call of nginx's, and of ours that the event loop calls, too

my $threads = qr/ngx_(?:
    mem(?:cpy|cmp|zero|move)|str(?:len|ncmp)|cpymem|m(?:in|ax)
    |queue_\w+|atomic_\w+|memory_barrier|thread_tid|alloc|close_file
    |http_submission_(?:
        (?:lease_)?msec|(?:date_)?usec          # clocks
        |target|target_client                   # of the configuration
        |count\w*                               # counters, changed atomically
        |batch_(?:take|row)|intake_get          # under the mutex of their lane
    )
    |\w+_thread
)/x;

my $sql = qr/sqlite3(?:ext)?|libpq-fe|libpq\/.*|sql|sqlext|sqltypes|sqlucode
             |odbcinst(?:ext)?|pg_config.*/x;

my $cc = $ENV{CC} || 'cc';
my $tmp = tempdir(CLEANUP => 1);
my %refused;

# by their names: they are included without a path, and there is one of each

my %path = map { basename($_) => $_ } files('h');
my %folder = map { $_ => folder($path{$_}) } keys %path;
my %leads;
my %static;


sub files {
    my ($ext) = @_;

    return glob "src/*/*.$ext src/*/*/*.$ext";
}


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

    return $folder =~ /^(?:core|module|conf)$/
           || $header eq ($folder eq 'store' ? 'sm_store.h'
                          : "ngx_http_submission_$folder.h");
}


# the order inside src/core

my %storey = (base => 0, model => 1, rule => 2);

sub above {
    my ($file, $header) = @_;

    my ($from, $to) = map { m{^src/core/(\w+)/} ? $storey{$1} : undef }
                          $file, $header;

    return defined $from && defined $to && $to > $from;
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

    refuse($file, $n, 'below', "$header is above in src/core")
        if above($as, $path{basename($header)} // '');

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
           (map { "-I$_" } glob 'src/core/*'), '-c', '-o', $object, $file) == 0
        or die "$file does not compile\n";

    for my $symbol (map { (split)[-1] // () } `nm -u '$object'`) {
        next if $symbol =~ /:$/ || grep { $symbol =~ /^$_$/ } @pure;

        refuse($file, 1, 'pure', "it calls $symbol()");
    }
}


# a function begins with its name in the first column, and ends with a brace there

sub threads {
    my ($file) = @_;

    my ($n, $name) = (0, '');

    for (split /\n/, text($file)) {
        $n = $1 - 1, next if /^# (\d+)/;
        $n++;

        $name = $1 if /^(\w+)\(/;
        $name = '' if /^\}/;

        refuse($file, $n, 'thread', "$1() runs in a thread, and its name does not say so")
            if /(?:(?:\.|->)(?:run|contract) =|^ +sm_\w+_t,) (ngx_\w+)/
               && $1 !~ /_thread$/ && $1 ne 'ngx_http_submission_ops';

        next if $name !~ /_thread$/ || /^\w/;

        while (/\b(ngx_\w+)\(/g) {
            refuse($file, $n, 'thread', "$name() calls $1()")
                if $1 !~ /^$threads$/;
        }
    }
}


# the names of static functions in a file, each with its line

sub statics {
    my ($file) = @_;

    open(my $in, '<', $file) or die "$file: $!\n";

    my ($before, %found) = ('');

    while (<$in>) {
        $found{$1} = $. if $before =~ /^static\b[^;=({]*$/ && /^(\w+)\(/;
        $before = $_;
    }

    return %found;
}


sub once {
    my ($file, $as) = @_;

    if (!%static) {
        for my $other (files('c')) {
            my %found = statics($other);
            push @{$static{$_}}, $other for keys %found;
        }
    }

    my %own = statics($file);

    for my $name (sort keys %own) {
        refuse($file, $own{$name}, 'once', "$name() is a function of $_, too")
            for grep { $_ ne $as } @{$static{$name} // []};
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

    threads($file) if folder($as) !~ /^(?:core|store)$/ && $as =~ /\.c$/;

    once($file, $as) if $as =~ /\.c$/;

    # what was refused need not compile

    imports($file, $as)
        if folder($as) eq 'core' && $as =~ /\.c$/ && !$refused{$file};
}


lint($_) for @ARGV ? @ARGV : (files('c'), files('h'));

exit(%refused ? 1 : 0);

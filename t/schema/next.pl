#!/usr/bin/perl

# next.pl <directory>
#
# Makes a copy of sql/ there, as a made-up release of version 2 has it: intents have a
# label, and an index by it.  Modules of version 1 may use the schema, too.  The tests
# migrate to it (G18); t/schema/next has what it adds.

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);

my $dir = shift // die "usage: $0 <directory>\n";
my $top = dirname($0) . '/../..';

my %column = (
    postgres => 'varchar(64) COLLATE "C"',
    mssql => 'nvarchar(64) COLLATE Latin1_General_BIN2 NULL',
    sqlite => 'TEXT',
);

# the files that have the version, and how often

my %versions = (
    'postgres/schema.sql' => 4, 'mssql/schema.sql' => 1,
    'mssql/schema_done.sql' => 3, 'sqlite/schema.sql' => 3,
);


sub change {
    my ($name, $how) = @_;

    open(my $file, '<', "$dir/$name") or die "$name: $!\n";
    local $_ = do { local $/; <$file> };

    $how->();

    open($file, '>', "$dir/$name") or die "$name: $!\n";
    print $file $_;
    close $file or die "$name: $!\n";
}


make_path($dir);
system('cp', '-R', "$top/sql/.", $dir) == 0 or die "cp failed\n";

for my $name (sort keys %versions) {
    change($name, sub {
        my $n = s/\b((?:SELECT|VALUES)\ \(?|version\ [=<>]\ )1
                  (?=,\ 1\b|[,;)]\n)/${1}2/gx;

        $n == $versions{$name} or die "$name: it has the version $n times\n";
    });
}

for my $store (sort keys %column) {
    change("$store/schema.sql", sub {
        s/^(\ +)(replayed_as\ .*\n)/$1$2$1label $column{$store},\n/mx
            or die "$store: where do columns of intents end?\n";

        open(my $file, '<', "$top/t/schema/next/$store/schema.sql")
            or die "$store: $!\n";
        $_ .= do { local $/; <$file> };
    });

    system('cp', '-R', "$top/t/schema/next/$store/migrate", "$dir/$store") == 0
        or die "cp failed\n";
}

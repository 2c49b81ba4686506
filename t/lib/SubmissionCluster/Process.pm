package SubmissionCluster::Process;

# processes by what /proc knows of them

use strict;
use warnings;

use POSIX ();


sub info {
    my ($pid) = @_;

    open(my $file, '<', "/proc/$pid/stat") or return;
    my $line = <$file> // return;

    # the name may hold anything, parentheses too

    my ($state, $parent, $group) = $line =~ /^\d+ \(.*\) (\S) (\d+) (\d+)/s
        or return;

    return { state => $state, parent => $parent, group => $group };
}


sub alive {
    my $stat = info($_[0]) or return 0;

    return $stat->{state} !~ /[ZX]/;
}


sub all {
    opendir(my $dir, '/proc') or die "/proc: $!";

    return grep { /^\d+$/ } readdir $dir;
}


sub group {
    my ($group) = @_;

    return grep {
        my $stat = info($_);
        $stat && $stat->{group} == $group && $stat->{state} !~ /[ZX]/;
    } all();
}


sub children {
    my ($parent) = @_;

    return grep {
        my $stat = info($_);
        $stat && $stat->{parent} == $parent && $stat->{state} !~ /[ZX]/;
    } all();
}


sub title {
    my ($pid) = @_;

    open(my $file, '<', "/proc/$pid/cmdline") or return '';
    local $/;

    return (<$file> // '') =~ tr/\0/ /r;
}


# kilobytes that only this process has: no shared memory, no mapped files

sub memory {
    my ($pid) = @_;

    open(my $file, '<', "/proc/$pid/status") or return 0;

    for (<$file>) {
        return $1 if /^RssAnon:\s+(\d+) kB/;
    }

    return 0;
}


# How many it may have from now on; returns how many it might before.  It is set
# as its user, who alone may where root is not quite root.

sub limit_descriptors {
    my ($pid, $n) = @_;

    my ($uid, $gid) = (stat "/proc/$pid")[4, 5];

    open(my $file, '<', "/proc/$pid/limits") or die "limits: $!";
    my ($before) = map { /^Max open files\s+(\d+)/ } <$file>;

    my $child = fork // die "fork(): $!";

    if ($child == 0) {
        POSIX::setgid($gid);
        POSIX::setuid($uid);
        { exec('prlimit', '--pid', $pid, "--nofile=$n:") }
        POSIX::_exit(127);
    }

    waitpid($child, 0);
    die "prlimit: $?\n" if $?;

    return $before;
}


sub descriptors {
    my ($pid) = @_;

    opendir(my $dir, "/proc/$pid/fd") or return 0;

    return scalar grep { /^\d+$/ } readdir $dir;
}


1;

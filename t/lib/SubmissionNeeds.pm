package SubmissionNeeds;

# What a test needs.  Where that is not there the whole test is skipped, and
# says why:
#
#   use SubmissionNeeds 'sqlite';
#   use SubmissionTest;
#
# before what makes a store, so that none is made in vain.  The words:
#
#   no_store       no store has a part in it: it is run once, with SQLite
#   sqlite         it is about what is SQLite's own
#   postgres       it is about what is PostgreSQL's own
#   no_checker     it tells nothing under ASAN or valgrind, or cannot run there
#   no_valgrind    it starts a second binary, and valgrind runs the first only
#   browser        Chromium and its driver; it is run once, with SQLite
#   young_host     a time namespace, in which the clocks of a host that booted a
#                  moment ago can be had: of the kernel, and the right to make one
#   faketime, openssl, prlimit
#                  a program, or a library, that Debian has a package of

use strict;
use warnings;

use Test::More ();

my $store = $ENV{SUBMISSION_TEST_STORE} || 'sqlite';
my $on_sqlite = $store eq 'sqlite';
my $check = $ENV{SUBMISSION_CHECK} // '';

# each is what is missing, or nothing

my %needs = (
    no_store => sub { !$on_sqlite && 'no store has a part in it' },
    sqlite => sub { !$on_sqlite && 'a test of SQLite' },
    postgres => sub { $store !~ /\bdbname=/ && 'a test of PostgreSQL' },
    no_checker => sub { $check && "not under $check" },
    no_valgrind => sub {
        $check eq 'valgrind' && 'valgrind runs the first binary only';
    },
    faketime => sub { !faketime() && 'no libfaketime (Debian: libfaketime)' },
    openssl => sub { !_program('openssl') && 'no openssl (Debian: openssl)' },
    young_host => sub {
        system('unshare ' . join(' ', young_host(5), 'true') . ' 2> /dev/null') != 0
            && 'no time namespace can be made here (unshare --time)';
    },
    browser => sub {
        !$on_sqlite && 'the page is the same on every store'
        || $check && "not under $check"
        || !(_program('chromium') && _program('chromedriver'))
           && 'no browser (Debian: chromium, chromium-driver)';
    },
    prlimit => sub { !_program('prlimit') && 'no prlimit (Debian: util-linux)' },
);


sub import {
    my ($class, @words) = @_;

    for my $word (@words) {
        my $missing = $needs{$word} // die "\"$word\" is no need\n";
        my $why = $missing->();

        Test::More::plan(skip_all => $why) if $why;
    }
}


sub faketime { return (glob '/usr/lib/*/faketime/libfaketimeMT.so.1')[0] }


# the arguments of unshare(1): the host has been up for so many seconds

sub young_host {
    my ($seconds) = @_;

    open(my $file, '<', '/proc/uptime') or die "/proc/uptime: $!\n";
    my $back = $seconds - int((split ' ', <$file>)[0]);

    return ('--time', '--fork', '--boottime', $back, '--monotonic', $back);
}


sub _program {
    my ($name) = @_;

    return grep { -x "$_/$name" } split /:/, $ENV{PATH};
}


1;

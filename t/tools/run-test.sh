#!/bin/bash

# run-test.sh <test>
#
# For prove --exec, set by prove.sh: a test with a port and a server root of
# its own, so that several can run at once.

# at random: between two blocks of a suite nobody listens on it, and another
# must not find it free

port=$(perl -MIO::Socket::INET -e '
    for (1 .. 1000) {
        my $port = 10000 + int rand 11000;
        IO::Socket::INET->new(Listen => 1, LocalPort => $port) or next;
        print $port;
        last;
    }')

export TEST_NGINX_PORT="${TEST_NGINX_PORT:-$port}"
export TEST_NGINX_SERVROOT="$SUBMISSION_TEST_DIR/servroot.$$"

case $1 in
    *.t) exec perl "$@" ;;
    *) exec "$@" ;;
esac

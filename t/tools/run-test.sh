#!/bin/bash

# run-test.sh <test>
#
# For prove --exec, set by prove.sh: a test with a server root of its own, so that
# several can run at once.  Ports are claimed by t/lib/SubmissionPorts.pm.

export TEST_NGINX_SERVROOT="$SUBMISSION_TEST_DIR/servroot.$$"

case $1 in
    *.t) exec perl "$@" ;;
    *) exec "$@" ;;
esac

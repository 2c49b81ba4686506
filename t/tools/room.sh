#!/bin/bash

# room.sh <prefix>
#
# Makes a new directory for what a test run writes, and prints its path: below
# SUBMISSION_TEST_ROOM, or in memory where there is room for it, or in build/.
# A disk that stands still for seconds, as those of shared machines do, costs a
# test its lease.  The random part follows a hyphen: nginx's configure takes a dot
# and an "S" for the suffix of a source.

set -eu

top=$(cd "$(dirname "$0")/../.." && pwd)
room=${SUBMISSION_TEST_ROOM:-}
least=6144

if [ -z "$room" ]; then
    room=$top/build

    if [ -w /dev/shm ] \
       && [ "$(df --output=avail -m /dev/shm | tail -n 1)" -ge "$least" ]
    then
        room=/dev/shm/submission.$(id -u)
    fi
fi

mkdir -p "$room"
dir=$(mktemp -d "$room/$1-XXXXXX")
chmod 755 "$dir"

echo "$dir"

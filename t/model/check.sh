#!/bin/bash

# Checks the lease protocol, t/model/lease.pml, with spin, and says so in TAP.
#
# The protocol itself must hold in every state of an exhaustive search, and
# settle when calm comes; each variant with a part of it broken must fail.
# INSTANCES=3 searches for three instances too, which takes long.

set -u

model=$(cd "$(dirname "$0")" && pwd)/lease.pml
dir=$(cd "$(dirname "$0")/../.." && pwd)/build/model
n=0 failed=0

mkdir -p "$dir"
cd "$dir" || exit 1


# search <spin's definitions> <compiler's definitions> <pan's arguments>

search() {
    rm -f pan ./*.trail

    # shellcheck disable=SC2086
    spin $1 -a "$model" > spin.out 2>&1 \
    && gcc -O2 -DMEMLIM=6000 -DVECTORSZ=1024 -DNOFAIR -DCOLLAPSE $2 \
           -o pan pan.c > gcc.out 2>&1 \
    && timeout 900 ./pan -w24 -m1000000 $3 > pan.out 2>&1
}

errors() {
    sed -n 's/.*errors: //p' pan.out
}

result() {
    n=$((n + 1))

    if [ "$1" = 0 ]; then
        echo "ok $n - $2"
    else
        failed=$((failed + 1))
        echo "not ok $n - $2"
        sed 's/^/# /' spin.out gcc.out pan.out 2> /dev/null | head -n 30
    fi
}

# a search that was cut short shows nothing

holds() {
    search "$2" "$3" "$4"

    [ "$(errors)" = 0 ] && ! grep -Eq 'not completed|too small|out of memory' pan.out
    result $? "$1: $(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' pan.out) states"
}

fails() {
    search "$1" "$2" "$3"

    [ "$(errors)" = 1 ]
    result $? "broken:$1 is found out"
}

safety=-DSAFETY
live=

holds "2 instances, every state" "-DINSTANCES=2" "$safety" -noclaim
holds "a leader comes when calm does" "-DCALM" "$live" -a
holds "and needs no lease to expire" "-DCALM_NO_EXPIRY" "$live" -a

if [ "${INSTANCES:-2}" = 3 ]; then
    holds "3 instances, every state" "-DINSTANCES=3" "$safety" -noclaim
fi

for broken in NO_FENCE NO_LOCK RENEW_ANY_EPOCH TAKEOVER_NO_EPOCH \
              RELEASE_NO_EPOCH LEADS_TO_THE_END RESEND_IN_DOUBT NO_LOCK_FILE \
              SAME_HOLDER CLOCK_JUMPS
do
    fails " -D$broken" "$safety" -noclaim
done

# these cost a lease where a moment would do

for broken in LEADS_ON OWN_ROW_WAITS; do
    fails " -D$broken -DCALM_NO_EXPIRY" "$live" -a
done

echo "1..$n"
exit $((failed != 0))

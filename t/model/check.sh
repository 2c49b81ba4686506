#!/bin/bash

# check.sh
#
# Searches the lease protocol's model, lease.pml, for every state that it can
# reach, and shows that the search finds what it should: each of the model's
# broken variants must fail, and by the very check that is meant for it. Prints
# TAP. A search that was cut short, by depth, memory or time, has failed.
#
#   INSTANCES=3   three instances too: some minutes, and 3 GiB
#   MEMORY=4000   what one search may take, in MiB
#   TIME=600      and how long, in seconds
#
# Works in a directory of its own under build/model, and leaves it there if
# something failed, with the trail of each failed search beside its pan.

set -u

instances=${INSTANCES:-2}
memory=${MEMORY:-4000}
time=${TIME:-600}

top=$(cd "$(dirname "$0")/../.." && pwd)
model=$top/t/model/lease.pml

mkdir -p "$top/build/model"
dir=$(mktemp -d "$top/build/model/run.XXXXXX") || exit 1

number=0 failed=0

trap '[ $failed -gt 0 ] || rm -rf "$dir"' EXIT
trap 'exit 1' INT TERM


result() {
    number=$((number + 1))
    [ "$1" = ok ] || failed=$((failed + 1))
    echo "$1 $number - $2"
}

diagnose() {
    sed 's/^/# /'
}


# search <kind> <cc flags> <switches>: leaves what pan said in ./out
#
# States are searched breadth first, so that a trail is a shortest one, and
# there is no depth to run out of. Runs, with their cycles, take depth first.

search() {
    local kind=$1 cc_flags=$2 pan_flags=
    shift 2

    cc_flags="$cc_flags -DMEMLIM=$memory -DNOREDUCE -DNOFAIR"

    case $kind in
        states)
            cc_flags="$cc_flags -DSAFETY -DBFS"
            pan_flags=-w23
            ;;

        runs)
            pan_flags="-a -w23 -m2000000"
            ;;
    esac

    mkdir "$dir/$((number + 1))" && cd "$dir/$((number + 1))" || exit 1

    # found by spin -t under this name
    cp "$model" lease.pml

    # shellcheck disable=SC2086  # flags are words
    spin "${@/#/-D}" -a lease.pml > out 2>&1 \
        && cc -w $cc_flags -o pan pan.c >> out 2>&1 \
        && timeout -k 5 "$time" ./pan $pan_flags > out 2>&1
}

complete() {
    grep -q 'errors: 0$' out \
        && ! grep -Eq 'not completed|max search depth|MEMLIM|out of memory' out
}

cut_short() {
    grep -Eo 'max search depth too small|reached -DMEMLIM bound|out of memory' \
         out | head -n 1
}

what_was_searched() {
    local states depth

    states=$(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' out)
    depth=$(sed -n 's/.*depth reached \([0-9]*\),.*/\1/p' out)

    echo "$states states, depth $depth"
}

trail() {
    spin "${@/#/-D}" -t lease.pml 2>&1 | grep -E '^ *([0-9]|sql):' | head -n 60
}


# holds <name> states|runs <switch>...: nothing is found, in a whole search

holds() {
    local name=$1 kind=$2 status start=$SECONDS
    shift 2

    search "$kind" -O1 "$@"
    status=$?

    if [ $status -eq 0 ] && complete; then
        result ok "$name: $(what_was_searched), $((SECONDS - start)) s"
        return
    fi

    result "not ok" "$name"

    if [ $status -eq 124 ]; then
        echo "# took longer than $time s"

    elif [ -n "$(cut_short)" ]; then
        echo "# cut short: $(cut_short)"

    elif [ -f lease.pml.trail ]; then
        grep '^pan:1:' out | diagnose
        trail "$@" | diagnose

    else
        tail -n 20 out | diagnose
    fi
}


# fails <check> states|runs <switch>...: this check finds an error

fails() {
    local check=$1 kind=$2 name found
    shift 2

    name="$1 is found out by $check"

    case $kind in
        states) found="assertion violated  !\($check\)" ;;
        runs)   found="acceptance cycle" ;;
    esac

    search "$kind" -O0 "$@"

    if grep -Eq "^pan:1: $found" out; then
        result ok "$name: $(what_was_searched)"
        return
    fi

    result "not ok" "$name"
    grep -E '^pan:|errors:' out | diagnose
}


holds "2 instances, every state" states FORGETS
holds "2 instances, every state, with what they have in hand" \
      states LATE_CALLS=1
holds "2 instances, every state, late calls kept to their end" \
      states FORGETS LATE_CALLS=1 KEEP_REFUSED
holds "2 instances, every state, if a late renew counts" \
      states FORGETS LATE_CALLS=1 LATE_RENEW_COUNTS
holds "2 instances, what is fenced is so by any clock" \
      states FORGETS LATE_CALLS=1 CLOCK_JUMPS FENCE_ONLY
holds "2 instances, of one holder_id" states FORGETS LATE_CALLS=1 SAME_HOLDER
holds "2 instances, every state, and those that quit drain" \
      states FORGETS LATE_CALLS=1 DRAINS
holds "2 instances, the same, with what they have in hand" \
      states LATE_CALLS=0 DRAINS

holds "2 instances, a leader comes and stays" runs FORGETS LATE_CALLS=1 CALM
holds "2 instances, and what they have in hand is recorded" \
      runs LATE_CALLS=0 CALM
holds "2 instances, and none drains for ever" \
      runs FORGETS LATE_CALLS=0 CALM DRAINS
holds "2 instances, and no lease has to expire" \
      runs FORGETS LATE_CALLS=1 CALM_NO_EXPIRY

fails stale_commit         states  NO_FENCE FORGETS
fails stale_commit         states  NO_LOCK FORGETS
fails leads_without_lease  states  RENEW_ANY_EPOCH LATE_RENEW_COUNTS FORGETS
fails leads_without_lease  states  TAKEOVER_NO_EPOCH FORGETS
fails leads_without_lease  states  RELEASE_NO_EPOCH FORGETS
fails leads_without_lease  states  LATE_CLAIM_LEADS FORGETS
fails leads_without_lease  states  LEADS_TO_THE_END FORGETS
fails settles              runs    LEADS_ON CALM LATE_CALLS=0 FORGETS
fails not_begun            states  GATE_ANY_EPOCH LATE_CALLS=1
fails dropped              states  RECOVERS_ITS_OWN LATE_CALLS=1
fails sent_twice           states  RESEND_IN_DOUBT LATE_CALLS=1 FORGETS
fails settles              runs    OWN_ROW_WAITS CALM_NO_EXPIRY LATE_CALLS=0 \
                                   FORGETS
fails leads_without_lease  states  NO_LOCK_FILE FORGETS
fails leads_without_lease  states  TRUST_HOLDER SAME_HOLDER FORGETS
fails leads_without_lease  states  CLOCK_JUMPS FORGETS
fails not_begun            states  DRAINS_LATE DRAINS LATE_CALLS=0
fails late_send            states  NO_LATE_SEND FORGETS
fails late_commit          states  NO_LATE_COMMIT FORGETS

if [ "$instances" -ge 3 ]; then
    holds "3 instances, every state" states INSTANCES=3 LATE_CALLS=1 FORGETS
fi

echo "1..$number"

[ $failed -eq 0 ] || echo "# see $dir"
[ $failed -eq 0 ]

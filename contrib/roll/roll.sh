#!/bin/bash

# roll.sh [-n] [-t <seconds>] '<command>' <url>...
#
# Runs the command for one instance after the other, the leader last, so that
# leadership changes once.  A url is where an instance answers, such as
# http://sm1:8080; "{host}" and "{url}" in the command stand for it:
#
#   roll.sh 'ssh root@{host} "nginx -t && systemctl restart nginx"' \
#           http://sm1:8080 http://sm2:8080 http://sm3:8080
#
# Before it begins, every instance has to be ready and one has to lead.  After
# each command it waits until the instance is ready again, for at most so many
# seconds (60).  It stops when a command fails or an instance does not come
# back, and says what is left to do: it may be run again for that.
#
# -n runs nothing, and tells the order.

set -eu

dry='' seconds=60

usage() {
    sed -n '3,4s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while getopts nt: opt; do
    case $opt in
        n) dry=1 ;;
        t) seconds=$OPTARG ;;
        *) usage ;;
    esac
done

shift $((OPTIND - 1))

[ $# -ge 2 ] || usage

command=$1
shift
left=("$@")


say() {
    echo "roll: $*"
}

fail() {
    say "$*" >&2
    say "not done: ${left[*]}" >&2
    exit 1
}

# readyz <url>: what it says, or nothing; fails unless it is ready

readyz() {
    local said

    said=$(curl -sS -f -m 5 "$1/readyz" 2> /dev/null) && echo "$said" \
    && [[ $said == *" store=up"* ]]
}

leads() {
    [[ $(readyz "$1") == *mode=leader* ]]
}

# wait_until <condition...>

wait_until() {
    local end=$((SECONDS + seconds))

    until "$@"; do
        [ $SECONDS -lt $end ] || return 1
        sleep 0.5
    done
}

ready() {
    readyz "$1" > /dev/null
}

somebody_leads() {
    local url

    for url in "${all[@]}"; do
        ! leads "$url" || return 0
    done

    return 1
}

# Sets next to the one whose turn it is: leadership may have moved meanwhile.

choose() {
    for next in "${left[@]}"; do
        leads "$next" || return 0
    done
}

run() {
    local host=${1#*://}

    host=${host%%/*}

    local line=${command//\{url\}/$1}
    line=${line//\{host\}/${host%:*}}

    say "$1: $line"
    [ -n "$dry" ] || bash -c "$line"
}

forget() {
    local url rest=()

    for url in "${left[@]}"; do
        [ "$url" = "$1" ] || rest+=("$url")
    done

    left=("${rest[@]+"${rest[@]}"}")
}


all=("$@")

for url in "${all[@]}"; do
    ready "$url" || fail "$url is not ready: nothing was done"
done

wait_until somebody_leads || fail "nobody leads: nothing was done"

while [ ${#left[@]} -gt 0 ]; do
    choose

    if leads "$next"; then
        say "$next leads, and comes last"
    fi

    run "$next" || fail "the command failed for $next"

    [ -n "$dry" ] || wait_until ready "$next" \
        || fail "$next is not ready after $seconds seconds"

    forget "$next"
done

[ -n "$dry" ] || wait_until somebody_leads || fail "nobody leads afterwards"

for url in "${all[@]}"; do
    say "$url: $(readyz "$url")"
done

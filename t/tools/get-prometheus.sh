#!/bin/sh

# get-prometheus.sh <directory> promtool|prometheus
#
# Prints the path of that program. Both are in Debian's prometheus, which would
# start a server of its own, on the port of our demo gateway, if it were installed:
# where they are not there the package is unpacked instead.

set -eu

dir=${1:?usage: $0 <directory> promtool|prometheus}
name=${2:?usage: $0 <directory> promtool|prometheus}
tools=$(cd "$(dirname "$0")" && pwd)
package=prometheus

get() {
    apt-get -q -o APT::Sandbox::User="$(id -un)" download $package \
        || "$tools/debian-apt.sh" host deb download $package
}

if command -v "$name"; then
    exit 0
fi

if [ ! -x "$dir/$name" ]; then
    new=$dir.$$
    trap 'rm -rf "$new"' EXIT

    mkdir -p "$dir" "$new"
    cd "$new"

    get > get.log 2>&1 && dpkg -x ${package}_*.deb . || {
        cat get.log >&2
        echo "$0: cannot get $name" >&2
        exit 1
    }

    mv usr/bin/promtool usr/bin/prometheus "$dir"
    cd "$tools"
fi

echo "$dir/$name"

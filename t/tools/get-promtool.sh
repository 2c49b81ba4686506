#!/bin/sh

# get-promtool.sh <directory>
#
# Prints the path of Prometheus' promtool. It is in Debian's prometheus, which
# would start a server of its own, on the port of our demo gateway, if it were
# installed: where there is no promtool the package is unpacked instead.

set -eu

dir=${1:?usage: $0 <directory>}
tools=$(cd "$(dirname "$0")" && pwd)
package=prometheus

get() {
    apt-get -q -o APT::Sandbox::User="$(id -un)" download $package \
        || "$tools/debian-apt.sh" host deb download $package
}

if command -v promtool; then
    exit 0
fi

if [ ! -x "$dir/promtool" ]; then
    new=$dir.$$
    trap 'rm -rf "$new"' EXIT

    mkdir -p "$dir" "$new"
    cd "$new"

    get > get.log 2>&1 && dpkg -x ${package}_*.deb . || {
        cat get.log >&2
        echo "$0: cannot get promtool" >&2
        exit 1
    }

    mv usr/bin/promtool "$dir/promtool"
    cd "$tools"
fi

echo "$dir/promtool"

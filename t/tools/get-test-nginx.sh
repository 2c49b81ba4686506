#!/bin/sh

# get-test-nginx.sh <directory>
#
# Makes Test::Nginx::Socket available, and prints what to add to PERL5LIB. It is
# Debian's libtest-nginx-perl. Debian 12 and 13 lack it, but it is pure Perl:
# there the package comes from a later suite, unpacked and not installed.

set -eu

dir=${1:?usage: $0 <directory>}
tools=$(cd "$(dirname "$0")" && pwd)
package=libtest-nginx-perl

get() {
    if apt-cache show $package > /dev/null 2>&1; then
        apt-get -q -o APT::Sandbox::User="$(id -un)" download $package
        return
    fi

    "$tools/debian-apt.sh" sid deb download $package \
        || "$tools/debian-apt.sh" testing deb download $package
}

if [ ! -f "$dir/.done" ]; then
    rm -rf "$dir"
    mkdir -p "$dir"
    cd "$dir"

    get > get.log 2>&1 && dpkg -x ${package}_*.deb . || {
        cat get.log >&2
        echo "$0: cannot get $package" >&2
        exit 1
    }

    touch .done
fi

echo "$dir/usr/share/perl5"

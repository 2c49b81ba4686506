#!/bin/sh

# deps.sh <package>...
#
# Installs the Debian packages that are missing, and runs nothing if none is.
# Without root it says what to run, and fails.

set -eu

if ! command -v dpkg-query > /dev/null; then
    echo "$0: not a Debian system, make sure that these are there: $*" >&2
    exit 0
fi

installed=$(dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' "$@" \
            2> /dev/null | sed -n 's/^.i. //p') || true

missing=
for package in "$@"; do
    echo "$installed" | grep -qx "$package" || missing="$missing $package"
done

[ -n "$missing" ] || exit 0

if [ "$(id -u)" != 0 ]; then
    echo "missing Debian packages, run this as root:" >&2
    echo "    apt-get install -y --no-install-recommends$missing" >&2
    exit 1
fi

echo "installing$missing"

export DEBIAN_FRONTEND=noninteractive

apt_install() {
    # shellcheck disable=SC2086  # several packages
    apt-get install -y -q --no-install-recommends -o Dpkg::Use-Pty=0 $missing \
        < /dev/null
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT

# package lists may be absent, or too old to be of use

apt_install > "$log" 2>&1 && exit 0
apt-get update -q > "$log" 2>&1 && apt_install >> "$log" 2>&1 && exit 0

cat "$log" >&2
echo "cannot install$missing" >&2
exit 1

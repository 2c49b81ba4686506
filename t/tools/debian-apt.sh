#!/bin/sh

# debian-apt.sh <suite> deb|deb-src <apt-get arguments>...
#
# Runs apt-get on another suite of the Debian archive that this machine uses
# already ("host" is the machine's own suite), with lists and cache of its own
# under build/apt. The machine's package sources stay as they are, and no root
# is needed.

set -eu

suite=$1 type=$2
shift 2

apt=$(cd "$(dirname "$0")/../.." && pwd)/build/apt
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

private_apt() {
    dir=$1
    shift

    mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"

    apt-get -q \
        -o Dir::State::lists="$dir/lists" -o Dir::Cache="$dir/cache" \
        -o Dir::Etc::preferences=/dev/null \
        -o Dir::Etc::preferencesparts=/dev/null \
        -o Acquire::Languages=none -o Debug::NoLocking=1 \
        -o APT::Sandbox::User="$(id -un)" "$@"
}


# apt itself knows its sources, in whichever form they are written; Debian's
# main archive is told from others by what its signed Release file says

archives() {
    "$@" indextargets --format '$(REPO_URI) $(RELEASE)' \
         'Created-By: Packages' 'Component: main' \
         'Origin: Debian' 'Label: Debian' \
    | grep -Ev -e '-(proposed-)?updates$' | head -n 1
}

archive=$(archives apt-get)

if [ -z "$archive" ]; then
    # the machine has no package lists (any more)
    private_apt "$apt/machine" update > /dev/null
    archive=$(archives private_apt "$apt/machine")
fi

if [ -z "$archive" ]; then
    echo "$0: no Debian archive among this machine's package sources" >&2
    exit 1
fi

uri=${archive% *}
[ "$suite" != host ] || suite=${archive#* }

dir=$apt/$suite-$type
mkdir -p "$dir/sources"

cat > "$dir/sources/debian.sources" << END
Types: $type
URIs: $uri
Suites: $suite
Components: main
Signed-By: $keyring
END

set -- -o Dir::Etc::sourcelist=/dev/null \
       -o Dir::Etc::sourceparts="$dir/sources" "$@"

private_apt "$dir" -o Dir::Etc::sourcelist=/dev/null \
                   -o Dir::Etc::sourceparts="$dir/sources" update > /dev/null

private_apt "$dir" "$@"

#!/bin/sh

# link.sh
#
# A path to this clone that nginx's configure understands, for GNUmakefile: a
# symbolic link in a directory of one's own, the same one each time.

set -eu

top=$(cd "$(dirname "$0")/../.." && pwd -P)
dir=${TMPDIR:-/tmp}/ngx_http_submission-$(id -u)-$(printf %s "$top" \
                                                    | cksum | cut -d ' ' -f 1)

case $dir in
    *[[:space:]]* | *.S* | *.cc* | *.cpp*)
        echo "$0: TMPDIR, \"$TMPDIR\", is such a path, too" >&2
        exit 1 ;;
esac

# others may pass: workers of nginx do

# shellcheck disable=SC2174  # its parent is there
mkdir -p -m 711 "$dir"

# mkdir -p is content with a link, or with what somebody else has put there

if [ -L "$dir" ] || [ ! -O "$dir" ]; then
    echo "$0: \"$dir\" is not ours" >&2
    exit 1
fi

ln -sfn "$top" "$dir/clone"
echo "$dir/clone"

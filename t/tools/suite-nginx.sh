#!/bin/bash

# suite-nginx.sh <suite>
#
# Builds the module for the nginx of another Debian suite, from that suite's own
# packages: nginx-dev has the headers and the configure script, which is all that
# a module needs, and nginx is the program that it must be loaded into.  Nothing
# of it is installed.  In build/nginx/<suite> are then
#
#   nginx                            runs that nginx, with that suite's libraries
#   ngx_http_submission_module.so    the module for it
#
# The source package is not needed, and mirrors do not always have it.
#
# The packages are looked for again after a week; while the archive has no newer
# ones, or cannot be reached, those that are there stay.  Without any it exits
# with 3.  The module is compiled without optimization: what is asked is whether
# it compiles, loads and does what the tests say.

set -eu

suite=$1

unset MAKEFLAGS MAKELEVEL

top=$(cd "$(dirname "$0")/../.." && pwd)
dir=$top/build/nginx/$suite
root=$dir/root
objs=$dir/module

packages="nginx nginx-dev libc6 libcrypt1 libpcre2-8-0 libssl3t64 libzstd1 zlib1g"


# the packages, side by side with the old ones until all are there

get() {
    rm -rf "$dir/new"
    mkdir -p "$dir/new/debs"

    # shellcheck disable=SC2086
    (
        cd "$dir/new/debs"
        "$top/t/tools/debian-apt.sh" "$suite" deb download $packages
    ) > "$dir/get.log" 2>&1 || return

    for deb in "$dir"/new/debs/*.deb; do
        dpkg -x "$deb" "$dir/new/root" || return
        dpkg-deb -f "$deb" Package Version
    done > "$dir/new/versions"

    if cmp -s "$dir/new/versions" "$dir/versions"; then
        touch "$dir/versions"
        return
    fi

    rm -rf "$root" "$objs"
    mv "$dir/new/root" "$root"
    mv "$dir/new/versions" "$dir/versions"
}

mkdir -p "$dir"

if [ -z "$(find "$dir/versions" -mtime -7 2> /dev/null)" ]; then
    echo "getting nginx ($suite)"
    get || cat "$dir/get.log" >&2
    rm -rf "$dir/new"
fi

if [ ! -f "$dir/versions" ]; then
    echo "$0: cannot get nginx ($suite)" >&2
    exit 3
fi


# that nginx, by that suite's loader; what it does not bring, and what the module
# needs, are the machine's own

libs=$(cd "$root" && find . -name 'libc.so.6' -printf '%h\n' | head -n 1)
libs=$root/${libs#./}
loader=$(find "$root" -name 'ld-linux*.so*' -o -name 'ld64.so*' | head -n 1)

cat > "$dir/nginx.new" << END
#!/bin/sh
exec "$loader" --argv0 "\$0" --library-path "$libs" "$root/usr/sbin/nginx" "\$@"
END

chmod +x "$dir/nginx.new"
mv "$dir/nginx.new" "$dir/nginx"


# configure; the flags of the suite's own packages are for its own compiler

configure() {
    cd "$root/usr/share/nginx/src"

    # shellcheck disable=SC1091
    . ./conf_flags

    ./configure "${NGX_CONF_FLAGS[@]}" \
        --with-cc-opt="-g -O0 -fPIC" --with-ld-opt=-fPIC \
        --add-dynamic-module="$top" --builddir="$objs"
}

mkdir -p "$objs"

key=$({ echo "$objs"; cat "$dir/versions" "$top/config" "$0"
        find "$top/src" | sort; } | cksum)

if [ "$(cat "$objs/.configured" 2> /dev/null)" != "$key" ]; then
    echo "configuring the module for nginx ($suite)"

    rm -f "$objs/.configured"
    ( configure ) > "$objs/configure.log" 2>&1 \
        || { tail -n 20 "$objs/configure.log" >&2; exit 1; }
    echo "$key" > "$objs/.configured"
fi


# compile

sh "$top/src/store/sqlite/sm_sql_embed.sh" "$top/sql/sqlite" "$objs/sm_sqlite_sql.h"
sh "$top/src/console/ngx_http_submission_embed.sh" "$top/console" \
   "$objs/ngx_http_submission_console_files.h"

echo "building the module for $("$dir/nginx" -v 2>&1)"

make -s --no-print-directory -j"$(nproc)" -f "$objs/Makefile" \
     -C "$root/usr/share/nginx/src" modules

install -m 644 "$objs/ngx_http_submission_module.so" "$dir"

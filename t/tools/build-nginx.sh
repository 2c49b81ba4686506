#!/bin/sh

# build-nginx.sh <suite> <mode>
#
# Builds nginx with the module from a Debian suite's source package ("host" is
# this machine's own suite) into build/nginx/<suite>-<mode>, incrementally.
#
#   palloc   the module compiled in, every pool allocation from malloc, so that
#            valgrind sees into pools
#   asan     the same, with the address and undefined behaviour sanitizers

set -eu

suite=$1 mode=$2

unset MAKEFLAGS MAKELEVEL

top=$(cd "$(dirname "$0")/../.." && pwd)
src=$top/build/nginx-src/$suite
objs=$top/build/nginx/$suite-$mode
jobs=$(nproc)

cc_opt="-g -O1"
ld_opt=
vars=
link_with=

case $mode in

    palloc)
        cc_opt="$cc_opt -DNGX_DEBUG_PALLOC=1"
        ;;

    asan)
        cc_opt="$cc_opt -DNGX_DEBUG_PALLOC=1 -fno-omit-frame-pointer"
        cc_opt="$cc_opt -fsanitize=address,undefined -fno-sanitize-recover=all"

        # linked statically: shared, the two do not both write to log_path
        ld_opt="-fsanitize=address,undefined -static-libasan -static-libubsan"

        # nginx itself passes null pointers with a length of zero to memcpy(),
        # reads words from any address on x86, moves pointers that are null with
        # a buffer, and shifts bits into the sign in ngx_murmur_hash2(): those
        # four for our files only
        relaxed=nonnull-attribute,alignment,pointer-overflow,shift
        cc_opt="$cc_opt -fno-sanitize=$relaxed"
        vars="$objs/addon/%.o: CFLAGS += -fsanitize=$relaxed"

        link_with=$objs/lsan.o
        ;;

    *)
        echo "$0: unknown mode \"$mode\"" >&2
        exit 1
        ;;
esac


# source

if [ ! -d "$src" ]; then
    echo "getting the source of nginx ($suite)"

    rm -rf "$src.new"
    mkdir -p "$src.new"

    (
        cd "$src.new"
        "$top/t/tools/debian-apt.sh" "$suite" deb-src source nginx
    ) > "$src.log" 2>&1 || {
        cat "$src.log" >&2
        echo "$0: cannot get the source of nginx ($suite)" >&2
        exit 1
    }

    mv "$src.new"/nginx-*/ "$src"
    rm -rf "$src.new"
fi


# configure

configure() {
    # files that come out the same keep their time, and nothing is compiled
    # again because of them

    for f in ngx_auto_config.h ngx_auto_headers.h ngx_modules.c; do
        [ ! -f "$objs/$f" ] || mv "$objs/$f" "$objs/$f.old"
    done

    ASAN_OPTIONS=detect_leaks=0 ./configure \
        --builddir="$objs" --with-cc-opt="$cc_opt" --with-ld-opt="$ld_opt" \
        --with-debug --with-compat --with-threads --with-http_ssl_module \
        --with-http_v2_module --with-http_realip_module \
        --with-http_auth_request_module --with-http_stub_status_module \
        --add-module="$top" || return

    for f in ngx_auto_config.h ngx_auto_headers.h ngx_modules.c; do
        ! cmp -s "$objs/$f" "$objs/$f.old" || mv "$objs/$f.old" "$objs/$f"
    done
}

mkdir -p "$objs"
cd "$src"

key="$objs $({ cat "$top/config" "$top/t/tools/build-nginx.sh"
               find "$top/src" | sort; } | cksum)"

if [ "$(cat "$objs/.configured" 2> /dev/null)" != "$key" ]; then
    echo "configuring nginx ($suite, $mode)"

    rm -f "$objs/.configured"
    configure > "$objs/configure.log" 2>&1 \
        || { tail -n 20 "$objs/configure.log" >&2; exit 1; }
    echo "$key" > "$objs/.configured"
fi


# compile

sh "$top/src/store/sqlite/sm_sql_embed.sh" "$top/sql/sqlite" "$objs/sm_sqlite_sql.h"

echo "building nginx ($suite, $mode)"

[ -z "$link_with" ] || cc -g -O1 -c -o "$link_with" "$top/t/tools/lsan.c"

exec make -s --no-print-directory -j"$jobs" -f "$objs/Makefile" \
     ${vars:+--eval="$vars"} LINK="cc $link_with" "$objs/nginx"

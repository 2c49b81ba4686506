#!/bin/bash

# A PostgreSQL for the tests, from Debian's packages: as an unprivileged user, on a
# free port of the loopback alone.  build/postgres leads to its files.
#
#   t/tools/postgres.sh start    starts it, if it does not run already, and
#                                prints the connection string of its owner
#   t/tools/postgres.sh stop     stops it, and removes it
#   t/tools/postgres.sh kill     as the power does; "start" recovers it
#   t/tools/postgres.sh run <command>...
#                                with that string in SUBMISSION_TEST_STORE; what
#                                was started for it is stopped, however it ends
#
# SUBMISSION_POSTGRES_DIR names another directory, for a server of one's own.
# Durable as in production: fsync is on.

set -eu

cd "$(dirname "$0")/../.."

self=$PWD/t/tools/postgres.sh
dir=${SUBMISSION_POSTGRES_DIR:-$PWD/build/postgres}
data=$dir/data
bin=$(printf '%s\n' /usr/lib/postgresql/*/bin | sort -V | tail -n 1)

if [ ! -x "$bin/postgres" ]; then
    echo "postgres.sh: PostgreSQL is missing (Debian: postgresql)" >&2
    exit 1
fi

# PostgreSQL refuses to run as root

as_user() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=postgres --regid=postgres --clear-groups -- "$@"
    else
        "$@"
    fi
}

running() {
    [ -f "$data/postmaster.pid" ] \
        && as_user "$bin/pg_ctl" -D "$data" status > /dev/null 2>&1
}

remove() {
    rm -rf "$(readlink -f "$dir")" "$dir"
}

# a link to where there is room, unless the caller named the directory

create() {
    remove

    if [ -n "${SUBMISSION_POSTGRES_DIR:-}" ]; then
        mkdir -p "$dir"
    else
        mkdir -p "${dir%/*}"
        ln -s "$(t/tools/room.sh postgres)" "$dir"
    fi

    # Below the ports of clients: while the server is down, the kernel would give
    # one of those to a connection, and the server could not start again.

    perl -MIO::Socket::INET -e '
        for (1 .. 1000) {
            my $port = 29000 + int rand 3700;
            IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1,
                                  LocalPort => $port) or next;
            print "$port\n";
            last;
        }' > "$dir/port"

    head -c 18 /dev/urandom | base64 | tr '+/' 'ab' > "$dir/password"
    chmod 600 "$dir/password"

    [ "$(id -u)" != 0 ] || chown -R postgres:postgres "$dir/"

    as_user "$bin/initdb" -D "$data" -U owner --pwfile="$dir/password" \
            -A scram-sha-256 -E UTF8 --locale=C.UTF-8 > "$dir/initdb.log" 2>&1 \
        || { cat "$dir/initdb.log" >&2; exit 1; }

    cat >> "$data/postgresql.conf" << END
listen_addresses = '127.0.0.1'
port = $(cat "$dir/port")
unix_socket_directories = '$dir'
max_connections = 200
max_prepared_transactions = 0
fsync = on
END
}

case "${1:-}" in

start)
    running || [ -f "$data/PG_VERSION" ] || create

    if ! running; then
        as_user "$bin/pg_ctl" -D "$data" -l "$dir/log" -w -s start \
            < /dev/null >&2 || { tail "$dir/log" >&2; exit 1; }
    fi

    printf 'host=127.0.0.1 port=%s dbname=postgres user=owner password=%s\n' \
           "$(cat "$dir/port")" "$(cat "$dir/password")"
    ;;

stop)
    ! running || as_user "$bin/pg_ctl" -D "$data" -m immediate -s -w stop
    remove
    ;;

kill)
    ! running || as_user "$bin/pg_ctl" -D "$data" -m immediate -s -w stop
    ;;

run)
    shift

    if ! running; then
        trap '"$self" stop' EXIT
        trap 'exit 1' INT TERM HUP
    fi

    SUBMISSION_TEST_STORE=$("$self" start)
    export SUBMISSION_TEST_STORE

    # not the last command: the trap is to come
    "$@" || exit
    ;;

*)
    echo "usage: $0 start|stop|kill|run <command>" >&2
    exit 2
    ;;

esac

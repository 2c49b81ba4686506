#!/bin/sh

# install.sh postgres [<psql arguments>...]
# install.sh mssql|babelfish [<sqlcmd arguments>...]
# install.sh print postgres|mssql|babelfish
#
# Makes the schema and the procedures, or brings them up to date, on a database
# that exists, as its owner:
#
#   sql/install.sh postgres -h db1 -U owner -d submission
#   sql/install.sh mssql -S db1 -U owner -P ... -d submission
#
# Where there is no sqlcmd, FreeTDS's bsqldb does (Debian: freetds-bin), whose -S
# may be a name of freetds.conf, and whose database is -D. PSQL and SQLCMD name
# other clients. "print" shows what would be run.
#
# On PostgreSQL it is one transaction. On SQL Server the tables and indexes are
# made where they are missing, then the procedures are in one transaction: what
# runs meanwhile finds the old ones or the new.

set -eu

action=install dialect=${1:-}
[ $# = 0 ] || shift

if [ "$dialect" = print ]; then
    action=print dialect=${1:-}
fi

case $dialect in
    postgres) dir=postgres ;;
    mssql | babelfish) dir=mssql ;;
    *) sed -n '3,16s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

dir=$(cd "$(dirname "$0")/$dir" && pwd)

# Babelfish has no CREATE OR ALTER, and no COLLATE in OPENJSON ... WITH

adapt() {
    if [ "$dialect" = babelfish ]; then
        sed -e "s/^CREATE OR ALTER \([A-Z]*\) \([a-z_.]*\).*/DROP \1 IF EXISTS \2;\nGO\n\n&/" \
            -e "s/\nCREATE OR ALTER /\nCREATE /" \
            -e "s/ COLLATE Latin1_General_BIN2 '\$\./ '\$./"
    else
        cat
    fi
}

# the schema first, then what uses it, then who may

script() {
    cat "$dir/schema.sql"

    [ "$dir" = "${dir%/mssql}" ] || printf 'BEGIN TRANSACTION;\nGO\n\n'

    for file in "$dir"/*.sql; do
        case $file in
            */schema.sql | */role.sql | */monitor.sql) ;;
            *) cat "$file" ;;
        esac
    done

    [ "$dir" = "${dir%/mssql}" ] || printf 'COMMIT TRANSACTION;\nGO\n\n'

    cat "$dir/role.sql"
}

# a file that cannot be read ends it before anything has been run

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

script > "$tmp/script.sql"
adapt < "$tmp/script.sql" > "$tmp/install.sql"

if [ $action = print ]; then
    cat "$tmp/install.sql"
    exit
fi

case $dialect in

postgres)
    "${PSQL:-psql}" -X -q -1 -v ON_ERROR_STOP=1 "$@" -f "$tmp/install.sql"
    ;;

*)
    client=${SQLCMD:-$(command -v sqlcmd || command -v bsqldb || echo sqlcmd)}

    case $client in
        *bsqldb) set -- -q "$@" ;;
        *) set -- -b -I "$@" ;;
    esac

    "$client" "$@" -i "$tmp/install.sql"
    ;;

esac

#!/bin/sh

# install.sh postgres [<psql arguments>...]
# install.sh mssql [<sqlcmd arguments>...]
#
# Makes the schema and the procedures, or brings them up to date, on a database
# that exists, as its owner:
#
#   sql/install.sh postgres -h db1 -U owner -d submission
#   sql/install.sh mssql -S db1 -U owner -P ... -d submission
#
# Where there is no sqlcmd, FreeTDS's bsqldb does (Debian: freetds-bin), whose -S
# may be a name of freetds.conf, and whose database is -D. PSQL and SQLCMD name
# other clients. On PostgreSQL it is one transaction.

set -eu

dialect=${1:-}
[ $# = 0 ] || shift

dir=$(cd "$(dirname "$0")" && pwd)

files() {
    echo "$dir/$dialect/schema.sql"

    for file in "$dir/$dialect"/*.sql; do
        case $file in
            */schema.sql | */role.sql | */monitor.sql) ;;
            *) echo "$file" ;;
        esac
    done

    echo "$dir/$dialect/role.sql"
}

case $dialect in

postgres)
    files | xargs cat \
        | "${PSQL:-psql}" -X -q -1 -v ON_ERROR_STOP=1 "$@" -f -
    ;;

mssql)
    client=${SQLCMD:-$(command -v sqlcmd || command -v bsqldb || echo sqlcmd)}

    case $client in
        *bsqldb) set -- -q "$@" ;;
        *) set -- -b -I "$@" ;;
    esac

    files | while read -r file; do
        "$client" "$@" -i "$file"
    done
    ;;

*)
    sed -n '3,14s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;

esac

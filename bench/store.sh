# shellcheck shell=bash disable=SC2154

# The store that is measured.  BENCH_STORE:
#
#   sqlite      files of the bench's own, which it is unless told
#   postgres    a PostgreSQL of its own, by t/tools/postgres.sh, stopped at the
#               end; durable, with that server's own settings
#   host=...    a PostgreSQL by the connection string of a login that may make
#               databases; "bench_..." are made there, and dropped
#   Driver=...  a Babelfish by the connection string of FreeTDS, "Driver=FreeTDS;
#               Server=...;Port=...;UID=...;PWD=..."; BENCH_SQL is that of its
#               PostgreSQL.  nginx has that login there.
#
# nginx, and what is measured beside it, have a login with no more than the role
# of sql/postgres/role.sql.  A script calls store_init first, and store_done at
# its end, whatever has happened.

BENCH_STORE=${BENCH_STORE:-sqlite}

store_login=submission_bench
store_tds=
store_databases=()

store_init() {
    local string=$BENCH_STORE

    case $string in
    sqlite)
        return
        ;;

    postgres)
        export SUBMISSION_POSTGRES_DIR=$PWD/build/bench/postgres
        string=$(t/tools/postgres.sh start)
        ;;

    Driver=FreeTDS\;*)
        store_tds=$(tr ';' '\n' <<< "$string" | grep -Ev '^(Database|PWD)=' \
                    | paste -sd ';')
        store_keep "$(tr ';' '\n' <<< "$string" | sed -n 's/^PWD=//p')"
        store_psql postgres -c "SELECT 1" > /dev/null
        return
        ;;

    "${string%%=*}" | Driver=*)
        echo "BENCH_STORE: \"sqlite\", \"postgres\" or the connection" \
             "string of a PostgreSQL or a Babelfish was expected" >&2
        exit 1
        ;;
    esac

    # all but the database and the login

    store_server=$(tr ' ' '\n' <<< "$string" \
                   | grep -Ev '^(dbname|user|password)=' | paste -sd ' ')

    export PGHOST PGPORT PGUSER PGPASSWORD
    PGHOST=$(store_part host)
    PGPORT=$(store_part port)
    PGUSER=$(store_part user)
    PGPASSWORD=$(store_part password)

    store_keep "$(head -c 18 /dev/urandom | base64 | tr '+/' 'ab')"
}

# store_keep <password>: for programs beside nginx, and, as a file, for nginx

store_keep() {
    export BENCH_PASSWORD=$1
    store_password=$PWD/build/bench/password
    (umask 077 && echo "$BENCH_PASSWORD" > "$store_password")
}

store_part() {
    tr ' ' '\n' <<< "$string" | sed -n "s/^$1=//p"
}

store_done() {
    local name

    if [ "$BENCH_STORE" = postgres ]; then
        t/tools/postgres.sh stop
        return
    fi

    for name in "${store_databases[@]}"; do
        if [ -n "$store_tds" ]; then
            printf 'DROP DATABASE IF EXISTS bench_%s\nGO\n' "$name" \
                | store_bsqldb master
            continue
        fi

        store_psql postgres -c "DROP DATABASE IF EXISTS bench_$name WITH (FORCE)"
    done
}

store_psql() {
    local database=$1

    shift
    [ -z "$store_tds" ] || database=$BENCH_SQL
    psql -X -q -A -t -v ON_ERROR_STOP=1 -d "$database" "$@"
}

store_part_tds() {
    tr ';' '\n' <<< "$store_tds" | sed -n "s/^$1=//p"
}

# store_bsqldb <database> [<install.sh's dialect>]: T-SQL of the input, or the
# schema

store_bsqldb() {
    set -- "$1" "${2:-}" -S "$(store_part_tds Server)" \
           -U "$(store_part_tds UID)" -P "$BENCH_PASSWORD" -D "$1"

    if [ -n "$2" ]; then
        TDSPORT=$(store_part_tds Port) TDSVER=7.4 \
            sql/install.sh "$2" "${@:3}" > /dev/null
    else
        TDSPORT=$(store_part_tds Port) TDSVER=7.4 bsqldb -q "${@:3}" \
            2> /dev/null
    fi
}

# store_new <name>: empty, with the schema; a file has it from its first user

store_new() {
    if [ "$BENCH_STORE" = sqlite ]; then
        rm -f "$dir/data/$1.db"*
        mkdir -p "$dir/data"
        return
    fi

    store_databases+=("$1")

    if [ -n "$store_tds" ]; then
        store_bsqldb master << END
DROP DATABASE IF EXISTS bench_$1
GO
CREATE DATABASE bench_$1
GO
END
        store_bsqldb "bench_$1" babelfish
        sed "s/@/bench_$1/g" t/unit/store_mssql.sql \
            | PGOPTIONS='-c client_min_messages=warning' store_psql postgres
        return
    fi

    { echo "DROP DATABASE IF EXISTS bench_$1 WITH (FORCE);"
      echo "CREATE DATABASE bench_$1;"
    } | PGOPTIONS='-c client_min_messages=warning' store_psql postgres

    PGOPTIONS='-c client_min_messages=warning' \
        sql/install.sh postgres -d "bench_$1" > /dev/null

    # the tables as SQLite has them, times as microseconds

    store_psql "bench_$1" -f t/unit/store_postgres.sql

    store_psql "bench_$1" << END
DO \$\$ BEGIN CREATE ROLE $store_login LOGIN;
EXCEPTION WHEN duplicate_object THEN NULL; END \$\$;
GRANT submission_nginx_bench_$1 TO $store_login;
ALTER ROLE $store_login PASSWORD '$BENCH_PASSWORD';
END
}

# store_string <name>: for a program, which has the password from its environment

store_string() {
    if [ "$BENCH_STORE" = sqlite ]; then
        echo "$dir/data/$1.db"
    elif [ -n "$store_tds" ]; then
        echo "$store_tds;Database=bench_$1"
    else
        echo "$store_server dbname=bench_$1 user=$store_login"
    fi
}

# store_directive <name>: the arguments of "store"

store_directive() {
    if [ "$BENCH_STORE" = sqlite ]; then
        echo "sqlite $(store_string "$1")"
    elif [ -n "$store_tds" ]; then
        echo "odbc \"$(store_string "$1")\" password_file=$store_password"
    else
        echo "postgres \"$(store_string "$1")\" password_file=$store_password"
    fi
}

# store_sql <name> [<statement>]: or those of its input; columns are parted by |

store_sql() {
    local name=$1

    shift

    if [ "$BENCH_STORE" = sqlite ]; then
        sqlite3 -cmd '.timeout 10000' "$dir/data/$name.db" "$@"
    elif [ -n "$store_tds" ]; then
        PGOPTIONS="-c search_path=t_bench_$name,public" \
            store_psql postgres ${1:+-c "$1"}
    else
        PGOPTIONS='-c search_path=t,submission' \
            store_psql "bench_$name" ${1:+-c "$1"}
    fi
}

# store_compile <program>, with the libraries that unit tests have

store_compile() {
    # shellcheck disable=SC2046  # several folders and libraries
    gcc -std=gnu11 -O2 -Wall -Wextra -Werror \
        $(find src/core src/store -type d -printf '-I%p ') \
        -Ibuild/module -isystem /usr/include/postgresql \
        -o "build/bench/$1" "bench/$1.c" \
        $(find src/core src/store -name '*.c') \
        $(sed -n 's/^UNIT_LIBS *= *//p' Makefile)
}

# batch_rows <op>: "calls rows" of a /metrics on the input

batch_rows() {
    awk -v op="op=\"$1\"" '
        index($1, op) && $1 ~ /batch_rows_count/ { calls += $2 }
        index($1, op) && $1 ~ /batch_rows_sum/   { rows += $2 }
        END { print calls + 0, rows + 0 }'
}

# mean <rows> <calls>

mean() {
    awk -v rows="$1" -v calls="$2" \
        'BEGIN { printf "%.1f\n", calls ? rows / calls : 0 }'
}

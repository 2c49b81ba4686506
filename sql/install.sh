#!/bin/sh

# install.sh postgres [<psql arguments>...]
# install.sh mssql|babelfish [<sqlcmd arguments>...]
# install.sh print postgres|mssql|babelfish
#
# Makes the schema and the procedures in a database that exists, or brings them up to
# date. Run it as the owner of the database:
#
#   sql/install.sh postgres -h db1 -U owner -d submission
#   sql/install.sh mssql -S db1 -U owner -d submission
#
# If there is no sqlcmd, bsqldb of FreeTDS is used (Debian: freetds-bin). Its -S may be
# a name of freetds.conf, and -D names its database. PSQL and SQLCMD name other
# clients. The password of -U is taken from SQLCMDPASSWORD, or asked for on the
# terminal. "print" shows what would be run.
#
# A database of an older version is migrated with its data, while modules of that
# version use it: sql/<store>/migrate/*.sql, which only adds, runs first, then all
# other files. An installation that was interrupted goes on when it is run again. A
# database that is newer than these files is left as it is. "print postgres 1" shows
# what would be run on a database of version 1, with the migrations from there.
#
# On PostgreSQL everything but the migrations is one transaction. Objects that exist
# are not touched. A statement that locks a table waits for a moment, lets others pass,
# and tries again, so running instances and readers do not stop it, nor it them. On SQL
# Server missing tables and indexes are made first; then procedures and rights are
# changed in one transaction, so calls find either the old ones or the new ones.

set -eu

action=install dialect=${1:-}
[ $# = 0 ] || shift

if [ "$dialect" = print ]; then
    action=print dialect=${1:-} from=${2:-0}
fi

case $dialect in
    postgres) dir=postgres ;;
    mssql | babelfish) dir=mssql ;;
    *) sed -n '3,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac

dir=$(cd "$(dirname "$0")/$dir" && pwd)

# Babelfish has no CREATE OR ALTER, no COLLATE in OPENJSON ... WITH, no collations in
# UTF-8, and no online operations. It has no ownership chains either: a role that may
# call a procedure also needs the right to call what the procedure calls, so the rights
# on the schema stay.

adapt() {
    if [ "$dialect" = babelfish ]; then
        sed -e "s/^CREATE OR ALTER \([A-Z]*\) \([a-z0-9_.]*\).*/DROP \1 IF EXISTS \2;\nGO\n\n&/" \
            -e "s/\nCREATE OR ALTER /\nCREATE /" \
            -e "s/ COLLATE Latin1_General_BIN2 '\$\./ '\$./" \
            -e "s/ COLLATE Latin1_General_100_BIN2_UTF8//" \
            -e "/^SET LOCK_TIMEOUT/d" -e "s/WITH (ONLINE = ON)//"
    else
        cat
    fi
}

# Prints the version that a migration leads to: its file name begins with it.

number() {
    n=${1##*/}
    n=${n%%_*}
    echo "${n#"${n%%[!0]*}"}"
}

migrations() {
    for file in "$dir"/migrate/*.sql; do
        [ "$file" != "$dir/migrate/*.sql" ] || continue
        [ "$(number "$file")" -le "$1" ] || cat "$file"
    done
}

# SQL Server: only one install.sh works at a time. The lock belongs to the session, and
# ends with it. Its name contains the database, as all databases of a Babelfish share
# the names of locks.

lock() {
    cat << 'EOF'
DECLARE @got int, @name nvarchar(255);

SET @name = CONCAT(N'submission install.sh ', DB_NAME());

EXECUTE @got = sp_getapplock @Resource = @name, @LockMode = 'Exclusive',
                             @LockOwner = 'Session', @LockTimeout = 60000;

IF @got < 0
    THROW 57008, N'another install.sh is at work on this database', 1;
GO

EOF
}

unlock() {
    cat << 'EOF'
DECLARE @name nvarchar(255);

SET @name = CONCAT(N'submission install.sh ', DB_NAME());

EXECUTE sp_releaseapplock @Resource = @name, @LockOwner = 'Session';
GO
EOF
}

# The schema comes first, then what the procedures are made of, the procedures, how
# they are planned, who may call them, and what locks a table.

script() {
    cat "$dir/schema.sql"

    [ "$dir" = "${dir%/mssql}" ] || printf 'BEGIN TRANSACTION;\nGO\n\n'

    for file in "$dir/intent.sql" "$dir/rows.sql"; do
        [ ! -e "$file" ] || cat "$file"
    done

    for file in "$dir"/*.sql; do
        case $file in
            */schema.sql | */intent.sql | */rows.sql | */monitor.sql) ;;
            */plans.sql | */role.sql | */trigger.sql) ;;
            *) cat "$file" ;;
        esac
    done

    [ ! -e "$dir/plans.sql" ] || cat "$dir/plans.sql"
    cat "$dir/role.sql"

    [ "$dir" = "${dir%/mssql}" ] || printf 'COMMIT TRANSACTION;\nGO\n\n'

    [ ! -e "$dir/trigger.sql" ] || cat "$dir/trigger.sql"
}

# The script for psql. Only one install.sh works at a time; the lock belongs to the
# session, as an index cannot be made concurrently in a transaction. The migrations
# begin with the version of the database. No name is looked up in "public": a function
# that somebody else has put there would run with the owner's rights.

session() {
    cat << 'EOF'
\set VERBOSITY verbose
SET client_min_messages = warning;
SET search_path = pg_catalog, pg_temp;

DO $$
BEGIN
    FOR i IN 1 .. 300 LOOP
        IF pg_try_advisory_lock(7002, 1) THEN
            RETURN;
        END IF;

        PERFORM pg_sleep(0.2);
        COMMIT;
    END LOOP;

    RAISE EXCEPTION 'another install.sh is at work on this database';
END
$$;

\set version 0
SELECT to_regclass('submission.submission_schema') IS NOT NULL AS there
\gset
\if :there
    SELECT coalesce(max(version), 0) AS version FROM submission.submission_schema
    \gset
\endif
EOF

    for file in "$dir"/migrate/*.sql; do
        [ "$file" != "$dir/migrate/*.sql" ] || continue
        n=$(number "$file")

        printf 'SELECT :version BETWEEN 1 AND %s AS older\n' $((n - 1))
        printf '\\gset\n\\if :older\n'
        printf '\\echo migrating to version %s: %s\n' "$n" "${file##*/}"
        cat "$file"
        printf '\\endif\n'
    done

    echo "SET lock_timeout = '200ms';"
    echo 'BEGIN;'
    script
    echo 'COMMIT;'

    cat << 'EOF'
SELECT max(s.version) AS now,
       CASE WHEN :version = 0 THEN 'it is new'
            WHEN :version < max(s.version) THEN 'it was of version ' || :version
            ELSE 'as it was; the functions are those of these files' END AS did
FROM submission.submission_schema AS s
\gset
\echo the schema is of version :now (:did)
SELECT submission.submission_role('nginx') AS role
\gset
\echo logins of nginx need the role :"role"
EOF
}

# A file that cannot be read ends the script here, before anything has been run.

tmp=$(mktemp -d) terminal=''
trap 'rm -rf "$tmp"; [ -z "$terminal" ] || stty "$terminal" < /dev/tty' EXIT
trap 'exit 1' HUP INT TERM

case $action-$dialect in
    install-postgres) session ;;
    print-postgres) [ "$from" = 0 ] || migrations "$from"; script ;;
    *) lock; migrations 1; script; unlock ;;
esac > "$tmp/script.sql"

adapt < "$tmp/script.sql" > "$tmp/install.sql"

if [ $action = print ]; then
    cat "$tmp/install.sql"
    exit
fi

# Runs the script once. A table that is in use all the time is waited for in several
# short attempts. An attempt that has waited in vain ends with an SQLSTATE of
# PostgreSQL, or with the error 1222 of SQL Server, where only migrations have a
# time-out.

attempt() {
    if [ "$dialect" = postgres ]; then
        "${PSQL:-psql}" -X -q -v ON_ERROR_STOP=1 "$@" -f "$tmp/install.sql" \
            2> "$tmp/said"
    else
        printf '%s\n' "${SQLCMDPASSWORD:-}" \
        | "$client" "$@" -i "$tmp/install.sql" > "$tmp/said" 2>&1
    fi
}

if [ "$dialect" = postgres ]; then
    in_vain='55P03|40P01'
else
    in_vain=1222
    client=${SQLCMD:-$(command -v sqlcmd || command -v bsqldb || echo sqlcmd)}

    # If there is a login without a password, it is asked for here, once: the client
    # may run several times, and its output goes to a file, so nobody would see it ask.

    login=${SQLCMDUSER:-} given=${SQLCMDPASSWORD:+environment}

    for arg; do
        case $arg in
            -U* | --user-name*) login=named ;;
            -P* | --password* | -E | -G | --authentication-method*) given=argument ;;
        esac
    done

    if [ -n "$login" ] && [ -z "$given" ]; then

        if ! (: < /dev/tty) 2> /dev/null; then
            echo "$0: no password: SQLCMDPASSWORD was expected in the environment," \
                 "as there is no terminal to ask on" >&2
            exit 2
        fi

        terminal=$(stty -g < /dev/tty)
        stty -echo < /dev/tty
        printf 'Password: ' > /dev/tty
        IFS= read -r SQLCMDPASSWORD < /dev/tty || SQLCMDPASSWORD=''
        stty "$terminal" < /dev/tty
        terminal=''
        echo > /dev/tty

        [ -n "$SQLCMDPASSWORD" ] || { echo "$0: no password" >&2; exit 2; }

        given=environment
    fi

    # sqlcmd reads the password from its environment, and bsqldb from its input, so it
    # is never on a command line.

    case $client in
        *bsqldb)
            [ "$given" != environment ] || set -- -P - "$@"
            set -- -q "$@"
            ;;
        *)
            [ "$given" != environment ] || export SQLCMDPASSWORD
            set -- -b -I "$@"
            ;;
    esac
fi

tries=60

while :; do
    status=0
    attempt "$@" || status=$?

    tries=$((tries - 1))

    if [ $tries = 0 ] || ! grep -Eqw "$in_vain" "$tmp/said"; then
        break
    fi

    echo "a table is in use: trying again"
    sleep 1
done

if [ "$dialect" = postgres ]; then
    sed '/^LOCATION:/d' "$tmp/said" >&2
else
    cat "$tmp/said"
fi

exit "$status"

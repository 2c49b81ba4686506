#!/bin/sh

# install.sh postgres [<psql arguments>...]
# install.sh mssql|babelfish [<sqlcmd arguments>...]
# install.sh print postgres|mssql|babelfish
#
# Makes the schema and the procedures, or brings them up to date, on a database
# that exists, as its owner:
#
#   sql/install.sh postgres -h db1 -U owner -d submission
#   sql/install.sh mssql -S db1 -U owner -d submission
#
# Where there is no sqlcmd, FreeTDS's bsqldb does (Debian: freetds-bin), whose -S
# may be a name of freetds.conf, and whose database is -D. PSQL and SQLCMD name
# other clients. The password of -U is SQLCMDPASSWORD, or is asked for on the
# terminal. "print" shows what would be run.
#
# A database of an older version is migrated with its data, while modules of that
# version use it: first sql/<store>/migrate/*.sql, which only adds, then all else.
# What was interrupted goes on when it is run again; a database that is newer than
# these files is left as it is.  "print postgres 1" shows what would be run on a
# database of version 1, with the migrations from there.
#
# On PostgreSQL all but the migration is one transaction. What is there already is
# not touched, and what locks a table waits for it for a moment, lets others pass and
# tries again: instances that work, and readers, are not in the way. On SQL Server the
# tables and indexes are made where they are missing, then the procedures and the
# rights are in one transaction: what runs meanwhile finds the old ones or the new.

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
# UTF-8, nothing online, and no chains of ownership: a role that may call a procedure
# there also needs the right to call what that calls, so rights on the schema stay.

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

# what a migration's name begins with is the version that it leads to

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

# For SQL Server: one install.sh at a time.  The lock is the session's, and ends with
# it; its name has the database, as Babelfish has one set of names for all.

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

    cat "$dir/rows.sql"

    for file in "$dir"/*.sql; do
        case $file in
            */schema.sql | */rows.sql | */monitor.sql) ;;
            */plans.sql | */role.sql | */trigger.sql) ;;
            *) cat "$file" ;;
        esac
    done

    [ ! -e "$dir/plans.sql" ] || cat "$dir/plans.sql"
    cat "$dir/role.sql"

    [ "$dir" = "${dir%/mssql}" ] || printf 'COMMIT TRANSACTION;\nGO\n\n'

    [ ! -e "$dir/trigger.sql" ] || cat "$dir/trigger.sql"
}

# For psql: one at a time, though no transaction may last while an index is made
# beside others; and the migrations from the version that is there.  Nothing is looked
# up in "public", where others may have put what would then run with the owner's rights.

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

# a file that cannot be read ends it before anything has been run

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

# A table that others use all the time is waited for in short turns. What a turn in
# vain ends with, at the database that is named: 1222 of SQL Server, where nothing but
# migrations has one, or an SQLSTATE.

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

    # A login without a password: that is asked for here, once.  The client may run
    # several times, and what it says is kept, so that nobody would see it ask.

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

    # sqlcmd has it from its environment, bsqldb from its input: it is on no command line

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

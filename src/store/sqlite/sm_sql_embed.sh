#!/bin/sh

# sm_sql_embed.sh <directory> [<header>]
#
# Prints a C header with one string per file: sm_sqlite_sql_NAME for NAME.sql,
# and sm_sqlite_sql_migrate_NNN for migrate/NNN_*.sql.  Blank lines and lines
# that are only a comment are left out, and so are the files that operators run
# by hand.  The array sm_sqlite_sql_migrations[] lists the migrations and ends
# with NULL.
#
# With a second argument the header is written to that file.  If nothing
# changed, the file keeps its time.

set -eu

dir=${1:?usage: $0 <directory> [<header>]}
header=${2:-}

prefix=sm_$(basename "$dir")_sql

embed() {
    migrations=

    echo '#include <stddef.h>'
    echo

    for sql in "$dir"/*.sql "$dir"/migrate/*.sql; do
        [ "$sql" != "$dir/migrate/*.sql" ] || continue
        [ -f "$sql" ] || { echo "$0: no .sql file in $dir" >&2; return 1; }

        case $sql in
            */monitor.sql | */restored.sql) continue ;;
        esac

        name=$(basename "$sql" .sql)

        case $sql in
            */migrate/*)
                name=migrate_${name%%_*}
                migrations="$migrations    ${prefix}_$name,
"
                ;;
        esac

        echo "static const char ${prefix}_${name}[] ="

        grep -Ev '^[[:space:]]*(--.*)?$' "$sql" \
        | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/\t/\\t/g' \
              -e 's/^/    "/' -e 's/$/\\n"/'

        echo '    "";'
        echo
    done

    printf 'static const char *const %s_migrations[] = {\n%s    NULL\n};\n' \
           "$prefix" "$migrations"
}

if [ -z "$header" ]; then
    embed
    exit
fi

embed > "$header.new"

if cmp -s "$header.new" "$header"; then
    rm "$header.new"
else
    mv "$header.new" "$header"
fi

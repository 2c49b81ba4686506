#!/bin/bash

# T-SQL by Debian's sqlfluff, dialect tsql, for what does not parse and for the rules
# below.

set -eu

cd "$(dirname "$0")/../.."

status=0

# What sqlfluff 1.4 does not parse, and SQL Server does, by name:
#
#   OPENJSON (...) WITH (...)      its columns go; lint-mssql.pl looks at them
#   EXECUTE (N'...')               as sp_executesql
#   OFFSET ... FETCH ...           goes
#   FOR JSON PATH                  goes
#   SET LOCK_TIMEOUT               goes

# It takes minutes for all of them: what it has passed is kept in build/lint.

passed=build/lint/passed new=build/lint/new
mkdir -p "$passed"
rm -rf "$new"
mkdir "$new"

for file in sql/mssql/*.sql sql/mssql/migrate/*.sql \
            t/schema/next/mssql/migrate/*.sql
do
    [ "$file" != 'sql/mssql/migrate/*.sql' ] || continue

    perl -0pe "s/(OPENJSON\\([^()]*\\)) WITH \\((?:[^()]|\\([^()]*\\))*\\)/\$1/g;
               s/EXECUTE \\((N'(?:[^']|'')*')\\)/EXECUTE sp_executesql \$1/g;
               s/\s+OFFSET \S+ ROWS FETCH NEXT \S+ ROWS ONLY//g;
               s/\s+FOR JSON PATH(, ROOT\('\w+'\))?//g;
               s/^SET LOCK_TIMEOUT .*;\\n//mg" \
         "$file" > "$new/${file##*/}"

    if cmp -s "$new/${file##*/}" "$passed/${file##*/}"; then
        rm "$new/${file##*/}"
    fi
done

# a table's alias that is there twice, or not at all; references without one
# between several tables; = NULL; sp_...; UNIONs of different widths

rules=L020,L021,L026,L027,L049,L056,L068

printf '[sqlfluff]\nlarge_file_skip_byte_limit = 0\n' > build/lint/sqlfluff

if [ -n "$(ls "$new")" ]; then
    if sqlfluff lint --config build/lint/sqlfluff --dialect tsql --nocolor \
                --disable-progress-bar --processes "$(nproc)" \
                --rules "$rules" "$new"
    then
        mv "$new"/*.sql "$passed"
    else
        status=1
    fi
fi

exit $status

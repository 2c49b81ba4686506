#!/bin/bash

# lint.sh
#
# What can be said of sql/mssql without a SQL Server, and of shell scripts:
#
#   - our own rules, t/tools/lint-mssql.pl, which refuse each of t/lint/*.sql for
#     the reason in its first line
#   - Debian's sqlfluff, dialect tsql, for what does not parse and for the rules
#     below
#   - shellcheck
#
# The PostgreSQL part of the tests has plpgsql_check: t/cluster/68-install.t.

set -eu

cd "$(dirname "$0")/../.."

status=0

t/tools/lint-mssql.pl sql/mssql/*.sql || status=1

for file in t/lint/*.sql; do
    rule=$(sed -n '1s/^-- refused: //p' "$file")

    if [ -z "$rule" ] \
       || ! t/tools/lint-mssql.pl "$file" | grep -q ": $rule: "
    then
        echo "$file: was not refused for \"$rule\""
        status=1
    fi
done


# What sqlfluff 1.4 does not parse, and SQL Server does, by name:
#
#   OPENJSON (...) WITH (...)      its columns go; lint-mssql.pl looks at them
#   EXECUTE (N'...')               as sp_executesql
#   OFFSET ... FETCH ...           goes
#   FOR JSON PATH                  goes

# It takes a minute for all of them: what it has passed is kept in build/lint.

passed=build/lint/passed new=build/lint/new
mkdir -p "$passed"
rm -rf "$new"
mkdir "$new"

for file in sql/mssql/*.sql; do
    perl -0pe "s/(OPENJSON\\([^()]*\\)) WITH \\((?:[^()]|\\([^()]*\\))*\\)/\$1/g;
               s/EXECUTE \\((N'(?:[^']|'')*')\\)/EXECUTE sp_executesql \$1/g;
               s/\s+OFFSET \S+ ROWS FETCH NEXT \S+ ROWS ONLY//g;
               s/\s+FOR JSON PATH//g" \
         "$file" > "$new/${file##*/}"

    if cmp -s "$new/${file##*/}" "$passed/${file##*/}"; then
        rm "$new/${file##*/}"
    fi
done

# a table's alias that is there twice, or not at all; references without one
# between several tables; = NULL; sp_...; UNIONs of different widths

rules=L020,L021,L026,L027,L049,L056,L068

if [ -n "$(ls "$new")" ]; then
    if sqlfluff lint --dialect tsql --nocolor --disable-progress-bar \
                --rules "$rules" "$new"
    then
        mv "$new"/*.sql "$passed"
    else
        status=1
    fi
fi

shellcheck -x sql/install.sh t/tools/lint.sh || status=1

exit $status

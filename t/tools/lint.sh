#!/bin/bash

# lint.sh
#
# What can be said of all this without running it:
#
#   - the layers of src/, by t/tools/lint-layers.pl
#   - the T-SQL, without a SQL Server: our own rules, by t/tools/lint-mssql.pl,
#     and Debian's sqlfluff, by t/tools/lint-sqlfluff.sh
#   - the description of the API, by t/tools/openapi.py, and where there is
#     Node.js, by @redocly/cli
#   - shell scripts by shellcheck, Perl by perl -c
#   - each number and each name of a test is there once, and whatever a file of
#     the tree says of t/ is there
#   - headers that have grown, as a hint and not as an error
#
# Our own rules refuse each of t/lint/* for the reason in its first line.
#
# The PostgreSQL part of the tests has plpgsql_check: t/cluster/68-install-sql.t.

set -eu

cd "$(dirname "$0")/../.."

status=0

# in_tree <arguments of grep>: all files but what was built, found or fed

in_tree() {
    grep -rI --exclude-dir=build --exclude-dir=.git --exclude-dir=corpus \
         --exclude=CHANGES "$@" ./* ./.[!.]*
}

t/tools/lint-layers.pl || status=1
t/tools/lint-mssql.pl sql/mssql/*.sql sql/mssql/migrate/*.sql \
                      t/schema/next/mssql/migrate/*.sql || status=1

for file in t/lint/*; do
    case $file in
        *.sql) lint=t/tools/lint-mssql.pl ;;
        *) lint=t/tools/lint-layers.pl ;;
    esac

    rule=$(sed -En '1s@^(-- |/\* )refused: ([^*]*[^ *]).*@\2@p' "$file")

    if [ -z "$rule" ] || ! "$lint" "$file" | grep -q ": $rule: "; then
        echo "$file: was not refused for \"$rule\""
        status=1
    fi
done


# The description of the API.  Redocly's linter has rules of taste beyond ours; it
# is kept in build/, and left out where it cannot be had.

version=2.73.0

t/tools/openapi.py lint || status=1

if command -v npm > /dev/null; then
    dir=build/redocly/$version
    redocly=$dir/node_modules/.bin/redocly

    [ -x "$redocly" ] \
    || npm install --prefix "$dir" --no-audit --no-fund --ignore-scripts \
           --loglevel error "@redocly/cli@$version" > /dev/null 2>&1 || true

    export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

    # Debian's own Node.js may be too old for it

    if "$redocly" --version > /dev/null 2>&1; then
        said=$("$redocly" lint --config t/tools/redocly.yaml \
                          docs/reference/openapi.yaml 2>&1) \
        || { echo "$said"; status=1; }
    else
        echo "@redocly/cli does not run here, and is left out"
    fi
fi


# names of tests, and of what is named

twice=$(perl -MFile::Basename -e '
    for (@ARGV) {
        my ($number, $name) = basename($_) =~ /^(\d+)-(.*)/ or next;

        for my $what (dirname($_) . "/$number-", "called $name") {
            print "there are two tests $what\n" if $there{$what}++ == 1;
        }
    }' t/*.t t/cluster/*.t)

[ -z "$twice" ] || { echo "$twice"; status=1; }

missing=$(in_tree -onE \
              '\bt/([a-z]+/)?[A-Za-z0-9_-]+\.(t|c|h|pm|pl|sh|sql|pml)\b' \
          | while IFS=: read -r file line name; do
                [ -e "$name" ] || echo "$file:$line: there is no $name"
            done | sed '/NN*-/d')

[ -z "$missing" ] || { echo "$missing"; status=1; }


# A header is for those who include it: a long one has more than one concern.

long=$(find src -name '*.h' -exec wc -l {} + \
       | awk '$2 != "total" && $1 > 250 { print $1, $2 }' | sort -rn \
       | awk '{ printf "%s%s (%d)", (NR > 1 ? ", " : ""), $2, $1 }')

[ -z "$long" ] || echo "hint: headers of more than 250 lines: $long"


# shell and Perl

in_tree -lE '^#!/bin/(ba)?sh$|^# shellcheck shell=' --exclude='*.t' \
| tr '\n' '\0' | xargs -0 shellcheck -x || status=1

test_nginx=$(t/tools/get-test-nginx.sh "$PWD/build/test-nginx")

# what it warns of is known at run time

find t -name '*.pm' -o -name '*.pl' -o -name '*.t' | tr '\n' '\0' \
| PERL5LIB="$test_nginx:$PWD/t/lib" SUBMISSION_TEST_STORE='' \
  xargs -0 -n 1 -P "$(nproc)" \
        sh -c 'said=$(perl -c "$0" 2>&1) || { echo "$said"; exit 1; }' \
|| status=1

t/tools/lint-sqlfluff.sh || status=1

exit $status

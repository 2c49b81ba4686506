#!/bin/bash

# prove.sh [-n <nginx>] [-m <module>] [-c asan|valgrind] [--] [<prove arguments>...]
#
# Runs tests by prove, against this nginx binary, with this dynamic module
# (none when the module is compiled in), under this checker, which fails the run
# on any report, whether or not a test noticed.  An answer that does not fit
# docs/reference/openapi.yaml fails it, too: t/tools/openapi.py.
#
# Tests find in the environment:
#   SUBMISSION_NGINX, TEST_NGINX_BINARY            the nginx to run
#   SUBMISSION_MODULE, TEST_NGINX_LOAD_MODULES     the module to load, if any
#   SUBMISSION_CHECK                               asan, valgrind, or nothing
#   SUBMISSION_TEST_DIR, TMPDIR                    directories of this run's own
#   TEST_NGINX_SERVROOT                            for Test::Nginx: run-test.sh

set -eu

nginx=/usr/sbin/nginx module='' check=''

while getopts n:m:c: opt; do
    case $opt in
        n) nginx=$OPTARG ;;
        m) module=$OPTARG ;;
        c) check=$OPTARG ;;
        *) exit 2 ;;
    esac
done

shift $((OPTIND - 1))

top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"

[ -x "$nginx" ] || { echo "$0: no nginx at \"$nginx\"" >&2; exit 1; }


dir=$(t/tools/room.sh prove)
find "${dir%/*}" -maxdepth 1 -name 'prove-*' -mmin +360 -exec rm -rf {} +
mkdir -m 1777 "$dir/reports" "$dir/tmp"

test_nginx=$("$top/t/tools/get-test-nginx.sh" "$top/build/test-nginx")

export PERL5LIB="$test_nginx:$top/t/lib${PERL5LIB:+:$PERL5LIB}"
export SUBMISSION_NGINX="$nginx" TEST_NGINX_BINARY="$nginx"
export SUBMISSION_MODULE="$module" TEST_NGINX_LOAD_MODULES="$module"
export SUBMISSION_CHECK="$check" SUBMISSION_TEST_DIR="$dir"
export TMPDIR="$dir/tmp"

# machines are busy, and a login takes seconds on Babelfish

case ${SUBMISSION_TEST_STORE:-} in
    *FreeTDS*) export TEST_NGINX_TIMEOUT="${TEST_NGINX_TIMEOUT:-20}" ;;
esac

if [ -z "$check" ]; then
    export TEST_NGINX_TIMEOUT="${TEST_NGINX_TIMEOUT:-5}"
fi

case $check in

    asan)
        options="log_path=$dir/reports/san,detect_stack_use_after_return=1"
        export ASAN_OPTIONS="$options,check_initialization_order=1"
        export UBSAN_OPTIONS="$options,print_stacktrace=1"
        export LSAN_OPTIONS="suppressions=$top/t/tools/lsan.supp,print_suppressions=0"
        export TEST_NGINX_TIMEOUT="${TEST_NGINX_TIMEOUT:-10}"
        ;;

    valgrind)
        export VALGRIND_NGINX="$nginx" VALGRIND_REPORTS="$dir/reports"
        export SUBMISSION_NGINX="$top/t/tools/valgrind-nginx.sh"
        export TEST_NGINX_BINARY="$SUBMISSION_NGINX"
        export TEST_NGINX_TIMEOUT="${TEST_NGINX_TIMEOUT:-30}"
        ;;

esac

status=0
prove --exec "$top/t/tools/run-test.sh" "$@" < /dev/null 2> >(tee "$dir/said" >&2) \
    || status=$?

reports=$(find "$dir/reports" -type f -size +0)

if [ -n "$reports" ]; then
    for report in $reports; do
        echo "---- $report"
        head -n 100 "$report"
    done

    echo "$check: $(echo "$reports" | wc -l) report(s), failed"
    exit 1
fi

# what the tests were answered, against the description of the API

if [ -d "$dir/answers" ] && ! t/tools/openapi.py answers "$dir/answers"; then
    status=1
fi

if [ $status = 0 ]; then
    rm -rf "$dir"
else
    echo "what failed said:"
    grep -A 12 '^ *#  *Failed ' "$dir/said" | head -n 200
    echo "what the tests left is in $dir"
fi

exit $status

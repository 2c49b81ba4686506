#!/bin/sh

# stands in for the nginx binary under valgrind: see prove.sh

case " $* " in
    *" -v "* | *" -V "*)
        exec "$VALGRIND_NGINX" "$@"
        ;;
esac

exec valgrind -q --vgdb=no --trace-children=yes --num-callers=30 \
     --leak-check=full --show-leak-kinds=definite \
     --errors-for-leak-kinds=definite \
     --suppressions="$(dirname "$0")/valgrind.supp" \
     --log-file="$VALGRIND_REPORTS/valgrind.%p" \
     "$VALGRIND_NGINX" "$@"

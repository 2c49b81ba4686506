#!/bin/sh

# ngx_http_submission_embed.sh <directory> [<header>]
# ngx_http_submission_embed.sh -c <file>
#
# Prints a C header with the files of the console: a table of their names,
# types, sizes and tags, and the bytes of each, compressed.  Scripts and style
# sheets lose their indentation and comments; names stay as they are.
# With a second argument it goes to that file, which stays untouched, and keeps
# its time, when nothing changed.  -c prints what is left of one file.

set -eu

# the same everywhere: neither the locale nor the time of a file counts

LC_ALL=C
export LC_ALL

files() {
    (cd "$dir" && find . -type f ! -name '.*' | sed 's|^\./||' | sort)
}

type_of() {
    case $1 in
        *.html) echo 'text/html; charset=utf-8' ;;
        *.css)  echo 'text/css; charset=utf-8' ;;
        *.js)   echo 'text/javascript; charset=utf-8' ;;
        *.svg)  echo 'image/svg+xml' ;;
        *.txt)  echo 'text/plain; charset=utf-8' ;;
        *)      echo "$0: $1 has no type" >&2; return 1 ;;
    esac
}

# what goes without saying goes: indentation and comments; of the vendored
# library, whose strings are all of one line, also blanks around signs, but for
# lines with a string or, perhaps, a regular expression

script() {
    sed -e 's/^[[:blank:]]*//' -e '/^\/\//d' -e '/^\/\*$/,/^\*\/$/d' \
        -e "/[\"'\`]/!s/[[:blank:]]*\/\/ .*//" -e '/^$/d' "$1"
}

bytes() {
    case $1 in
        */vendor/*.js)
            script "$1" \
            | sed -e "/[\"'\`\/]/!s/ *\([=,;?:{}()&|<>*]\) */\1/g" ;;
        *.js)
            script "$1" ;;
        *.css)
            sed -e 's/^ *//' -e 's/ *\([{};,]\) */\1/g' -e 's/: /:/g' \
                -e '/^$/d' "$1" ;;
        *)
            cat "$1" ;;
    esac
}

embed() {
    n=0

    for file in $(files); do
        n=$((n + 1))
        echo "static const u_char ngx_http_submission_console_${n}[] = {"
        bytes "$dir/$file" | gzip -9n | od -An -v -tx1 \
        | sed -e 's/ \(..\)/0x\1,/g'
        echo '};'
        echo
    done

    echo 'static const ngx_http_submission_file_t'
    echo '    ngx_http_submission_console_files[] = {'

    n=0

    for file in $(files); do
        n=$((n + 1))
        type=$(type_of "$file")
        size=$(bytes "$dir/$file" | wc -c)
        tag=$(bytes "$dir/$file" | sha256sum | cut -c1-16)

        echo
        echo "    { ngx_string(\"$file\"), ngx_string(\"$type\"),"
        echo "      ngx_string(\"W/\\\"$tag\\\"\"), $((size)),"
        echo "      ngx_http_submission_console_$n,"
        echo "      sizeof(ngx_http_submission_console_$n) },"
    done

    echo '};'
}

if [ "${1:-}" = -c ]; then
    bytes "$2"
    exit
fi

dir=${1:?usage: $0 <directory> [<header>]}
header=${2:-}

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

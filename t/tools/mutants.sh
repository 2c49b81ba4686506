#!/bin/bash

# mutants.sh [-l] [<words of a name>...]
#
# Breaks the guarantees one by one, as t/tools/mutants.list says, in a copy of
# the tree under build/mutants, and runs the test that must go red for each.
# Fails when one lives, when the text that it changes is not there any more (or
# not once), when it does not compile, or when its test is red without it.
#
#   mutants.sh                 all of them
#   mutants.sh G6              those of a guarantee
#   mutants.sh "the fence"     those whose names have that
#   mutants.sh -l              their names
#
# What was built stays in the copy, so that a mutant costs the compilation of
# one file.  build/mutants/logs has what each said.  MUTANT_SECONDS (600) is
# how long a test may take: one that hangs is red.

set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
list=$top/t/tools/mutants.list
tree=$top/build/mutants/tree
logs=$top/build/mutants/logs
nginx=${NGINX_BIN:-/usr/sbin/nginx}
seconds=${MUTANT_SECONDS:-600}

unset MAKEFLAGS MAKELEVEL MFLAGS


# name, where, old text, new text, store, test: one line each

rows() {
    perl -e '
        my ($list, @words) = @ARGV;
        open my $file, "<", $list or die "$list: $!\n";
        my (@rows, $row, $key);

        while (<$file>) {
            chomp;
            next if /^#/ || /^\s*$/;

            if (/^(\S.*)/) {
                push @rows, $row = { name => $1, on => "sqlite" };

            } elsif (/^    (in|on|red|-|\+)(?:\s+(.*))?$/) {
                $key = $1;
                $row->{$key} = $2 // "";

            } elsif (/^     +(\S.*)/ && $key) {
                $row->{$key} .= " $1";

            } else {
                die "$list:$.: \"$_\" is not understood\n";
            }
        }

        for my $row (@rows) {
            for (qw(in - red)) {
                die "$list: \"$row->{name}\" has no \"$_\"\n" if !$row->{$_};
            }

            next if grep { index($row->{name}, $_) < 0 } @words;
            print join("\x1f", map { $_ // "" } @$row{qw(name in - + on red)}),
                  "\n";
        }' "$list" "$@"
}


# The copy is what the tree is.  Files that are the same keep their times, and
# those that are restored get new ones, so that make sees both.

sync_tree() {
    perl -MFile::Compare -MFile::Copy -MFile::Find -MFile::Path=make_path -e '
        my ($top, $tree) = @ARGV;
        my %there;

        find({ no_chdir => 1, wanted => sub {
            my $path = substr($_, length($top) + 1);
            if ($path =~ m{^(?:build|\.git|demo/[^.]+)$} && -d) {
                $File::Find::prune = 1;
                return;
            }
            return if !-f;
            my $copy = "$tree/$path";
            $there{$copy} = 1;
            return if -f $copy && compare($_, $copy) == 0;
            make_path($copy =~ s{/[^/]+$}{}r);
            copy($_, $copy) or die "$copy: $!\n";
            chmod((stat)[2] & 07777, $copy);
        } }, $top);

        find({ no_chdir => 1, wanted => sub {
            if ($_ eq "$tree/build") {
                $File::Find::prune = 1;
                return;
            }
            unlink if -f && !$there{$_};
        } }, $tree);' "$top" "$tree"
}


# what stands there once becomes something else; white space is white space

apply() {
    perl -MFile::Find -e '
        my ($tree, $where, $old, $new) = @ARGV;
        my $pattern = join "\\s+", map { quotemeta } split " ", $old;
        my ($n, $path, $text) = (0);

        find({ no_chdir => 1, wanted => sub {
            return if !/\.(?:c|h|js|sh|sql)$/ || !-f;
            open my $file, "<", $_ or die "$_: $!\n";
            my $all = join "", <$file>;
            my $found = () = $all =~ /$pattern/g;
            ($path, $text) = ($_, $all) if $found;
            $n += $found;
        } }, "$tree/$where");

        die "the text stands there $n times, not once\n" if $n != 1;
        $text =~ s/$pattern/$new/;
        open my $file, ">", $path or die "$path: $!\n";
        print $file $text;
        close $file or die "$path: $!\n"' "$tree" "$@"
}


build() {
    case $1 in
        t/unit/*.c) target=build/unit/$(basename "$1" .c) ;;
        t/fuzz/*.c) target=build/fuzz/$(basename "$1" .c) ;;
        *.t) target=build ;;
        *) echo "test \"$1\" is not understood"; return 1 ;;
    esac

    [ -f "$tree/$1" ] || { echo "there is no test \"$1\""; return 1; }

    make -s --no-print-directory -C "$tree" "$target"
}


run_test() {
    local on=() command

    [ "$2" = sqlite ] || on=(t/tools/postgres.sh run)

    case $1 in
        t/unit/*.c) command=("build/unit/$(basename "$1" .c)") ;;
        t/fuzz/*.c) command=(env FUZZ="$(basename "$1" .c)" perl t/fuzz/core.t) ;;
        *) command=(t/tools/prove.sh -n "$nginx"
                    -m "$tree/build/ngx_http_submission_module.so" -- "$1") ;;
    esac

    (
        cd "$tree" || exit 1
        export SUBMISSION_TEST_ROOM=$tree/build/room
        rm -rf "$SUBMISSION_TEST_ROOM"
        export SUBMISSION_TEST_STORE=sqlite
        exec timeout -k 10 "$seconds" "${on[@]}" "${command[@]}" < /dev/null
    )
}


# the time it took goes into $took

timed() {
    local start=$SECONDS status

    "$@"
    status=$?
    took=$((SECONDS - start))
    return $status
}


say() {
    printf '%-7s %-58s %-32s %4s s\n' "$1" "$name" "$test" "$took"
}


names=
[ "${1:-}" != -l ] || { names=yes; shift; }

selected=$(rows "$@") || exit 1
[ -n "$selected" ] || { echo "no mutant is named so: $*" >&2; exit 1; }
[ -z "$names" ] || { cut -d $'\x1f' -f 1 <<< "$selected"; exit 0; }

mkdir -p "$tree" "$logs"
sync_tree || exit 1

# downloaded once

[ -d "$tree/build/test-nginx" ] || [ ! -d "$top/build/test-nginx" ] \
    || { mkdir -p "$tree/build" \
         && cp -a "$top/build/test-nginx" "$tree/build/"; }

declare -A green
killed=0 bad=0 number=0

while IFS=$'\x1f' read -r name where old new on test <&3; do

    number=$((number + 1)) took=0
    log=$logs/$number

    # the test, as the tree is

    if [ -z "${green[$on $test]:-}" ]; then
        if ! build "$test" > "$log" 2>&1; then
            green[$on $test]=broken
        elif run_test "$test" "$on" >> "$log" 2>&1; then
            green[$on $test]=green
        else
            green[$on $test]=red
        fi
    fi

    if [ "${green[$on $test]}" != green ]; then
        bad=$((bad + 1))
        say ERROR
        echo "        the test is ${green[$on $test]} without it, see $log"
        continue
    fi

    # the mutant

    if ! apply "$where" "$old" "$new" > "$log" 2>&1; then
        verdict=ERROR
        echo "        $where: $(cat "$log")"
    elif ! timed build "$test" > "$log" 2>&1; then
        verdict=ERROR
        echo "        it does not compile, see $log"
    elif timed run_test "$test" "$on" >> "$log" 2>&1; then
        verdict=LIVES
    else
        verdict=killed
    fi

    say $verdict

    if [ $verdict = killed ]; then
        killed=$((killed + 1))
    else
        bad=$((bad + 1))
    fi

    sync_tree || exit 1

done 3<<< "$selected"

echo "$killed of $number are killed"
[ $bad = 0 ]

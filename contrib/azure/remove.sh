#!/bin/bash

# remove.sh --group <name> [--subscription <id>] [--yes]
#
# Removes the resource group that make.sh has made, with everything in it: the
# server, the database with all intents, the firewall rules and the identity.
# Asks before, unless there is --yes.  A group of another origin is left alone.

set -euo pipefail

group='' subscription='' yes=''

die() {
    echo "$0: $*" >&2
    exit 1
}

usage() {
    sed -n '3,7s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    case $1 in
        --group) group=${2:?} && shift ;;
        --subscription) subscription=${2:?} && shift ;;
        --yes) yes=yes ;;
        *) usage ;;
    esac

    shift
done

[ -n "$group" ] || usage

command -v az > /dev/null || die "there is no \"az\""

[ -n "$subscription" ] || subscription=$(az account show --query id -o tsv)

azure() {
    az "$@" --subscription "$subscription" --only-show-errors
}

if [ "$(azure group exists --name "$group")" != true ]; then
    echo "there is no resource group \"$group\""
    exit 0
fi

made_by=$(azure group show --name "$group" --query 'tags."made-by"' -o tsv)

[ "$made_by" = submission-contrib ] \
    || die "the resource group \"$group\" was not made by make.sh"

azure resource list --resource-group "$group" --query '[].id' -o tsv

if [ -z "$yes" ]; then
    read -r -p "Remove all of that, with its data? Type the group's name: " answer
    [ "$answer" = "$group" ] || die "nothing was removed"
fi

azure group delete --name "$group" --yes

echo "resource group $group is removed"

#!/bin/bash

# make.sh --group <name> --region <region> --server <name> [<option>...]
#
# Makes what nginx needs on Azure SQL, with the az command line: a resource group,
# a logical server that takes Entra ID tokens and no passwords, a database with the
# schema, firewall rules, and a managed identity whose user in the database has the
# role submission_nginx.  Prints the "store" directive.  May run again.
#
#   --subscription <id>        default: that of "az account show"
#   --database <name>          default: submission
#   --identity <name>          default: submission-nginx
#   --sku <name>               service objective of the database, default: S2
#   --admin-id <object id>     administrator of the server, with --admin-name and
#   --admin-name <name>        --admin-type; default: who is signed in.  Whoever
#   --admin-type <type>        runs this must be that user, or of that group
#   --allow <name>=<first>[-<last>]
#                              a firewall rule; this machine needs one, too
#   --vm <name>                a virtual machine that gets the identity
#   --vm-group <name>          the resource group of those machines
#
# Needs az, logged in, and sqlcmd of https://github.com/microsoft/go-sqlcmd.
# remove.sh removes all of it.

set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)

group='' region='' server='' subscription=''
database=submission identity=submission-nginx sku=S2
admin_id='' admin_name='' admin_type=User
rules=() vms=() vm_group=''

die() {
    echo "$0: $*" >&2
    exit 1
}

usage() {
    sed -n '3,25s/^# \{0,1\}//p' "$0" >&2
    exit 2
}

while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || usage

    case $1 in
        --group) group=$2 ;;
        --region) region=$2 ;;
        --server) server=$2 ;;
        --subscription) subscription=$2 ;;
        --database) database=$2 ;;
        --identity) identity=$2 ;;
        --sku) sku=$2 ;;
        --admin-id) admin_id=$2 ;;
        --admin-name) admin_name=$2 ;;
        --admin-type) admin_type=$2 ;;
        --allow) rules+=("$2") ;;
        --vm) vms+=("$2") ;;
        --vm-group) vm_group=$2 ;;
        *) usage ;;
    esac

    shift 2
done

[ -n "$group" ] && [ -n "$region" ] && [ -n "$server" ] || usage

# they are put into SQL and into nginx's configuration

for name in "$server" "$database" "$identity"; do
    [[ $name =~ ^[A-Za-z0-9][A-Za-z0-9_-]*$ ]] || die "invalid name \"$name\""
done

case $admin_type in
    User | Group | Application) ;;
    *) die "invalid --admin-type \"$admin_type\"" ;;
esac

for rule in "${rules[@]}"; do
    [[ $rule =~ ^[A-Za-z0-9_-]+=[0-9.]+(-[0-9.]+)?$ ]] \
        || die "invalid --allow \"$rule\""
done

for program in az sqlcmd; do
    command -v "$program" > /dev/null || die "there is no \"$program\""
done

[ -n "$subscription" ] || subscription=$(az account show --query id -o tsv)

azure() {
    az "$@" --subscription "$subscription" --only-show-errors
}

if [ -z "$admin_id" ]; then
    admin_id=$(az ad signed-in-user show --query id -o tsv)
    admin_name=$(az ad signed-in-user show --query userPrincipalName -o tsv)
fi

[ -n "$admin_name" ] || die "--admin-id needs --admin-name"


# A group that is there already is used only if this script has made it: removing
# it removes whatever is in it.

if [ "$(azure group exists --name "$group")" = true ]; then
    made_by=$(azure group show --name "$group" \
                  --query 'tags."made-by"' -o tsv)
    [ "$made_by" = submission-contrib ] \
        || die "the resource group \"$group\" was not made by this script"
fi

echo "resource group $group"
azure group create --name "$group" --location "$region" \
    --tags made-by=submission-contrib -o none

echo "server $server"
azure sql server create --resource-group "$group" --location "$region" \
    --name "$server" --minimal-tls-version 1.2 --enable-ad-only-auth \
    --external-admin-principal-type "$admin_type" \
    --external-admin-name "$admin_name" --external-admin-sid "$admin_id" -o none

for rule in "${rules[@]}"; do
    range=${rule#*=}

    echo "firewall rule ${rule%%=*}"
    azure sql server firewall-rule create --resource-group "$group" \
        --server "$server" --name "${rule%%=*}" \
        --start-ip-address "${range%-*}" --end-ip-address "${range#*-}" -o none
done

# a lease is renewed all the time, so that a database that pauses itself never would

echo "database $database"
azure sql db create --resource-group "$group" --server "$server" \
    --name "$database" --service-objective "$sku" -o none

echo "managed identity $identity"
azure identity create --resource-group "$group" --name "$identity" \
    --location "$region" -o none

identity_id=$(azure identity show --resource-group "$group" \
                  --name "$identity" --query id -o tsv)
object_id=$(azure identity show --resource-group "$group" \
                --name "$identity" --query principalId -o tsv)
host=$(azure sql server show --resource-group "$group" --name "$server" \
           --query fullyQualifiedDomainName -o tsv)

for vm in "${vms[@]}"; do
    echo "virtual machine $vm"
    azure vm identity assign --resource-group "${vm_group:-$group}" \
        --name "$vm" --identities "$identity_id" -o none
done

# the token is that of az, whatever sqlcmd would find by itself

echo "schema and procedures"
entra=(-S "tcp:$host,1433" -d "$database" -N
       --authentication-method ActiveDirectoryAzCli)

SQLCMD=sqlcmd "$top/sql/install.sh" mssql "${entra[@]}"

echo "user $identity"
sqlcmd -b "${entra[@]}" -v identity="$identity" object_id="$object_id" \
    -i "$here/user.sql"

echo
sed -e "s/@HOST@/$host/" -e "s/@DATABASE@/$database/" \
    -e "s/@OBJECT_ID@/$object_id/" "$here/store.conf"

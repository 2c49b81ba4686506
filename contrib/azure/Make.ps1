<#
.SYNOPSIS
Makes what nginx needs on Azure SQL, with the Az PowerShell module.

.DESCRIPTION
A resource group, a logical server that takes Entra ID tokens and no passwords, a
database with the schema, firewall rules, and a managed identity whose user in the
database has the role submission_nginx. Prints the "store" directive. May run again.

Needs the modules Az.Accounts, Az.Resources, Az.Sql, Az.ManagedServiceIdentity and
SqlServer, a session of Connect-AzAccount, and "sh" for sql/install.sh (Git for
Windows has one). Remove.ps1 removes all of it.

.PARAMETER Allow
Firewall rules: a hashtable of names and addresses, @{ office = '192.0.2.1' } or
@{ office = '192.0.2.1-192.0.2.9' }. This machine needs one, too.

.EXAMPLE
./Make.ps1 -Group submission -Region westeurope -Server contoso-submission `
    -Allow @{ here = '192.0.2.1' }
#>

[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)] [string] $Group,
    [Parameter(Mandatory = $true)] [string] $Region,
    [Parameter(Mandatory = $true)]
    [ValidatePattern('^[A-Za-z0-9][A-Za-z0-9_-]*$')] [string] $Server,
    [string] $Subscription,
    [ValidatePattern('^[A-Za-z0-9][A-Za-z0-9_-]*$')]
    [string] $Database = 'submission',
    [ValidatePattern('^[A-Za-z0-9][A-Za-z0-9_-]*$')]
    [string] $Identity = 'submission-nginx',
    [string] $Sku = 'S2',
    [string] $AdminId,
    [string] $AdminName,
    [hashtable] $Allow = @{}
)

$ErrorActionPreference = 'Stop'

$top = Join-Path $PSScriptRoot '../..'

if ($Subscription) {
    Set-AzContext -Subscription $Subscription | Out-Null
}

if (-not $AdminId) {
    $user = Get-AzADUser -SignedIn
    $AdminId = $user.Id
    $AdminName = $user.UserPrincipalName
}

if (-not $AdminName) {
    throw '-AdminId needs -AdminName'
}


# A group that is there already is used only if this script has made it: removing
# it removes whatever is in it.

$there = Get-AzResourceGroup -Name $Group -ErrorAction SilentlyContinue

if ($there) {
    if (-not $there.Tags -or $there.Tags['made-by'] -ne 'submission-contrib') {
        throw "the resource group `"$Group`" was not made by this script"
    }
} else {
    Write-Host "resource group $Group"
    New-AzResourceGroup -Name $Group -Location $Region `
        -Tag @{ 'made-by' = 'submission-contrib' } | Out-Null
}

if (-not (Get-AzSqlServer -ResourceGroupName $Group -ServerName $Server `
              -ErrorAction SilentlyContinue)) {
    Write-Host "server $Server"
    New-AzSqlServer -ResourceGroupName $Group -Location $Region `
        -ServerName $Server -MinimalTlsVersion '1.2' `
        -EnableActiveDirectoryOnlyAuthentication `
        -ExternalAdminName $AdminName -ExternalAdminSID $AdminId | Out-Null
}

foreach ($name in $Allow.Keys) {
    $range = $Allow[$name] -split '-'
    $old = Get-AzSqlServerFirewallRule -ResourceGroupName $Group `
               -ServerName $Server -FirewallRuleName $name `
               -ErrorAction SilentlyContinue

    Write-Host "firewall rule $name"

    if ($old) {
        Set-AzSqlServerFirewallRule -ResourceGroupName $Group `
            -ServerName $Server -FirewallRuleName $name `
            -StartIpAddress $range[0] -EndIpAddress $range[-1] | Out-Null
    } else {
        New-AzSqlServerFirewallRule -ResourceGroupName $Group `
            -ServerName $Server -FirewallRuleName $name `
            -StartIpAddress $range[0] -EndIpAddress $range[-1] | Out-Null
    }
}

# a lease is renewed all the time, so that a database that pauses itself never would

if (-not (Get-AzSqlDatabase -ResourceGroupName $Group -ServerName $Server `
              -DatabaseName $Database -ErrorAction SilentlyContinue)) {
    Write-Host "database $Database"
    New-AzSqlDatabase -ResourceGroupName $Group -ServerName $Server `
        -DatabaseName $Database -RequestedServiceObjectiveName $Sku | Out-Null
}

$id = Get-AzUserAssignedIdentity -ResourceGroupName $Group -Name $Identity `
          -ErrorAction SilentlyContinue

if (-not $id) {
    Write-Host "managed identity $Identity"
    $id = New-AzUserAssignedIdentity -ResourceGroupName $Group `
              -Name $Identity -Location $Region
}

$fqdn = (Get-AzSqlServer -ResourceGroupName $Group `
             -ServerName $Server).FullyQualifiedDomainName


# newer modules keep the token in a SecureString

$token = (Get-AzAccessToken -ResourceUrl 'https://database.windows.net/').Token

if ($token -is [System.Security.SecureString]) {
    $token = [System.Net.NetworkCredential]::new('', $token).Password
}

$sql = @{
    ServerInstance = "tcp:$fqdn,1433"
    Database = $Database
    AccessToken = $token
    AbortOnError = $true
    QueryTimeout = 600
}

Write-Host 'schema and procedures'

$script = (New-TemporaryFile).FullName

try {
    & sh (Join-Path $top 'sql/install.sh') print mssql |
        Set-Content -Path $script -Encoding utf8

    if ($LASTEXITCODE -ne 0) {
        throw 'sql/install.sh print mssql failed'
    }

    # the files have no variables of sqlcmd

    Invoke-Sqlcmd @sql -InputFile $script -DisableVariables
} finally {
    Remove-Item $script
}

Write-Host "user $Identity"

Invoke-Sqlcmd @sql -InputFile (Join-Path $PSScriptRoot 'user.sql') `
    -Variable "identity=$Identity", "object_id=$($id.PrincipalId)"

Write-Host ''
Write-Host "the identity of the virtual machines: $($id.Id)"
Write-Host ''

(Get-Content (Join-Path $PSScriptRoot 'store.conf')) `
    -replace '@HOST@', $fqdn `
    -replace '@DATABASE@', $Database `
    -replace '@OBJECT_ID@', $id.PrincipalId

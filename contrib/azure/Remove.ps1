<#
.SYNOPSIS
Removes the resource group that Make.ps1 or make.sh has made, with everything in it.

.DESCRIPTION
The server, the database with all intents, the firewall rules and the identity. Asks
before, unless there is -Force. A group of another origin is left alone.

.EXAMPLE
./Remove.ps1 -Group submission
#>

[CmdletBinding()]
param(
    [Parameter(Mandatory = $true)] [string] $Group,
    [string] $Subscription,
    [switch] $Force
)

$ErrorActionPreference = 'Stop'

if ($Subscription) {
    Set-AzContext -Subscription $Subscription | Out-Null
}

$there = Get-AzResourceGroup -Name $Group -ErrorAction SilentlyContinue

if (-not $there) {
    Write-Host "there is no resource group `"$Group`""
    return
}

if (-not $there.Tags -or $there.Tags['made-by'] -ne 'submission-contrib') {
    throw "the resource group `"$Group`" was not made by Make.ps1 or make.sh"
}

Get-AzResource -ResourceGroupName $Group | ForEach-Object { $_.ResourceId }

if (-not $Force) {
    $answer = Read-Host 'Remove all of that, with its data? Type the name of the group'

    if ($answer -ne $Group) {
        throw 'nothing was removed'
    }
}

Remove-AzResourceGroup -Name $Group -Force | Out-Null
Write-Host "resource group $Group is removed"

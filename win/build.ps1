# Configures and builds everything for Windows: .\win\build.ps1 [-Preset windows]
param([string]$Preset = 'windows')
$ErrorActionPreference = 'Stop'
Set-Location (Split-Path $PSScriptRoot)
cmake --preset $Preset -DHAKOZUNA_BUILD_TESTS=OFF
if ($LASTEXITCODE) { exit $LASTEXITCODE }
cmake --build "build/$Preset"
exit $LASTEXITCODE

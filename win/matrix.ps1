# The benchmark contract's way of measuring on Windows: a fresh process per sample, allocators in turn with the order rotated each run, medians.
# Memory is the peak working set, where other systems report peak RSS.
#
#   .\win\matrix.ps1 [-Build build\windows] [-Runs 10] program arguments...
param([string]$Build = 'build\windows', [int]$Runs = 10, [Parameter(Mandatory, ValueFromRemainingArguments)][string[]]$Program)
$ErrorActionPreference = 'Stop'
$launcher = Join-Path $Build 'bin\hakozuna.exe'
$allocators = @('system') + @(& $launcher list)
$samples = @{}
foreach ($name in $allocators) { $samples[$name] = @() }

function Measure-Once([string]$name) {
  $words = if ($name -eq 'system') { $Program } else { @($launcher, 'run', '--line', $name, '--') + $Program }
  $output = & $words[0] @($words | Select-Object -Skip 1)
  # The program reports itself, one line: <seconds> <peak working set in bytes>.
  $figures = -split ($output | Select-Object -Last 1)
  [pscustomobject]@{ Seconds = [double]$figures[0]; PeakMiB = [double]$figures[1] / 1MB; ExitCode = $LASTEXITCODE }
}

function Get-Median($values) { $sorted = @($values | Sort-Object); $sorted[[int][math]::Floor($sorted.Count / 2)] }

for ($run = 0; $run -lt $Runs; $run++) {
  for ($i = 0; $i -lt $allocators.Count; $i++) {
    $name = $allocators[($i + $run) % $allocators.Count]
    $samples[$name] += Measure-Once $name
  }
}
foreach ($name in $allocators) {
  $failed = @($samples[$name] | Where-Object ExitCode -ne 0).Count
  '{0,-8} {1,9:n3} s {2,9:n1} MiB peak {3,3} failed' -f $name, (Get-Median $samples[$name].Seconds), (Get-Median $samples[$name].PeakMiB), $failed
}

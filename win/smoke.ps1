# Runs a program on every line that is built and compares its exit code: .\win\smoke.ps1 [-Build build\windows] [program arguments...]
param([string]$Build = 'build\windows', [Parameter(ValueFromRemainingArguments)][string[]]$Program = @('cmd.exe', '/c', 'exit 7'))
$rest = @($Program | Select-Object -Skip 1)
& $Program[0] @rest
$expected = $LASTEXITCODE
$launcher = Join-Path $Build 'bin\hakozuna.exe'
$wrong = 0
foreach ($line in & $launcher list) {
  & $launcher run --line $line -- @Program
  if ($LASTEXITCODE -eq $expected) { "$line ok" } else { "$line exit code $LASTEXITCODE, expected $expected"; $wrong++ }
}
exit $wrong

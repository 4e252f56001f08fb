# Says what a build on Windows needs and whether it is here. Changes nothing.
$ErrorActionPreference = 'Stop'
$missing = 0
foreach ($tool in 'cmake', 'ninja', 'x86_64-w64-mingw32-g++', 'python') {
  $found = Get-Command $tool -ErrorAction SilentlyContinue
  if ($found) { "{0,-24} {1}" -f $tool, $found.Source } else { "{0,-24} missing" -f $tool; $missing++ }
}
exit $missing

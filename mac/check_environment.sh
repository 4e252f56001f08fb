#!/usr/bin/env bash
# Says whether this Mac has what the scripts beside it need: macOS 11 or later, Apple's command line tools, CMake 3.25, Ninja, Python 3.9. Installs
# nothing.
#
#   mac/check_environment.sh
set -uo pipefail

if [ "$(uname -s)" != Darwin ]; then
  echo "mac/check_environment.sh: this is not a Mac; mac/setup_cross.sh prepares to build for one" >&2
  exit 2
fi

missing=0
need() {
  local what=$1
  shift
  if "$@" >/dev/null 2>&1; then
    echo "ok       $what"
  else
    echo "missing  $what"
    missing=1
  fi
}

at_least() { # VERSION MINIMUM
  [ "$(printf '%s\n%s\n' "$2" "$1" | sort -t. -k1,1n -k2,2n | head -1)" = "$2" ]
}

need "macOS 11 or later" at_least "$(sw_vers -productVersion)" 11.0
need "command line tools: xcode-select --install" xcrun --find clang
need "CMake 3.25 or later: brew install cmake" at_least "$(cmake --version 2>/dev/null | awk 'NR == 1 { print $3 }')" 3.25
need "Ninja: brew install ninja" ninja --version
need "Python 3.9 or later" python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))'

case "$(csrutil status 2>/dev/null)" in
  *enabled*) echo "note     System Integrity Protection is on: programs of the system (/bin, /usr/bin) drop DYLD_INSERT_LIBRARIES" ;;
esac
exit "$missing"

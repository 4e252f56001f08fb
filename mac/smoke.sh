#!/usr/bin/env bash
# Runs a small program under each library that mac/build.sh made, and asks the library whether it served the program.
#
#   mac/smoke.sh
#
# DYLD_INSERT_LIBRARIES is how a library gets into a program that was not linked with it. System Integrity Protection takes the variable away from
# programs in /bin, /usr/bin and their like, from those with the hardened runtime, and from whatever they start; so the program is one of
# our own, and is started without `env`, which is in /usr/bin.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "mac/smoke.sh: $1" >&2
  exit 1
}
[ "$(uname -s)" = Darwin ] || fail "this is not a Mac"
ls build/mac/lib/libhakozuna_*.dylib >/dev/null 2>&1 || fail "no libraries: run mac/build.sh first"

xcrun clang++ -std=c++20 -O1 -fno-builtin -o build/mac/smoke mac/smoke.cpp || fail "the program cannot be built"
for library in build/mac/lib/libhakozuna_*.dylib; do
  line=$(basename "$library" .dylib)
  line=${line#libhakozuna_}
  DYLD_INSERT_LIBRARIES=$PWD/$library ./build/mac/smoke "$line" || fail "$line: failed"
  echo "$line: ok"
done

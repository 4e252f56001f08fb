#!/usr/bin/env bash
# Runs the rows of bench/matrix under each library that mac/build.sh made and under the system's own malloc, a fresh process each, in turn, and prints
# what bench_matrix prints: a line of JSON a run, behind the names of the row and the allocator.
#
#   mac/matrix.sh [RUNS]        default 5; the environment may set THREADS (16) and ITERS (50000)
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "mac/matrix.sh: $1" >&2
  exit 1
}
[ "$(uname -s)" = Darwin ] || fail "this is not a Mac; linux/matrix.sh is for Linux"
ls build/mac/lib/libhakozuna_*.dylib >/dev/null 2>&1 || fail "no libraries: run mac/build.sh first"

readonly program=build/mac/bench_matrix
xcrun clang -std=c11 -O2 -fno-builtin -Ibench -Ibench/matrix -include mac/bench/pthread_barrier.h -o "$program" \
  bench/matrix/{bench_matrix,inbox,options,workload}.c bench/support/malloc_provider.c mac/bench/process_status.c ||
  fail "bench/matrix cannot be built"

# "NAME ARGUMENT..." of each row.
rows() {
  PYTHONPATH=bench/matrix python3 -B -c '
import sys
from rows import ROWS
for row in ROWS:
    print(row.name, *row.arguments(*map(int, sys.argv[1:])))' "${THREADS:-16}" "${ITERS:-50000}" "$1"
}

for ((run = 0; run < ${1:-5}; ++run)); do
  rows "$run" | while read -r name arguments; do
    for library in "" build/mac/lib/libhakozuna_*.dylib; do
      # The arguments are words without spaces.
      # shellcheck disable=SC2086
      result=$(DYLD_INSERT_LIBRARIES=${library:+$PWD/$library} "./$program" $arguments) || result=failed
      echo "$name $(basename "${library:-system}" .dylib) $result"
    done
  done
done

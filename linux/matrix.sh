#!/usr/bin/env bash
# From a bare Debian 12 to the table: installs packages, builds the release preset, tries every allocator on a tiny row, then
# measures all lines beside mimalloc, tcmalloc, jemalloc and glibc in one session and prints what it found.
#
#   ./linux/matrix.sh [--full] [OPTION OF bench/matrix/run_matrix.py]...
#
#   (nothing)   16 threads x 50,000 allocations, 5 runs: three minutes with one line on two CPUs, and the build
#   --full      16 threads x 50,000 and 2 threads x 1,000,000, 10 runs of each: about a quarter of an hour
#   --check     judge the targets of hz8 too; exit code 1 if one is missed
#
# The environment may set RUNS, THREADS, ITERS, and JOBS (of the build). Results go to results/, which git ignores.
set -euo pipefail
cd "$(dirname "$0")/.."

full=0
options=()
for word in "$@"; do
  case "$word" in
    --full) full=1 ;;
    --help | -h)
      sed -n '2,/^set -/{/^#/s/^# \{0,1\}//p}' linux/matrix.sh
      exit 0
      ;;
    *) options+=("$word") ;;
  esac
done

readonly log_directory=results/matrix-$(date +%Y%m%d-%H%M%S)
readonly python=/usr/bin/python3  # Debian's: the one that has Debian's matplotlib

say() {
  echo "== $1"
}

run_matrix() {
  "$python" -B bench/matrix/run_matrix.py "$@"
}

# Runs a step whose output matters only when it fails.
quietly() {
  local log=$log_directory/$1.log
  shift
  if ! "$@" >"$log" 2>&1; then
    tail -n 60 "$log" >&2
    echo "linux/matrix.sh: failed: $* (all of its output: $log)" >&2
    exit 1
  fi
}

say "packages"
./linux/setup.sh build bench
mkdir -p "$log_directory"

say "build"
quietly configure cmake --preset release
quietly build cmake --build --preset release --target matrix --parallel "${JOBS:-$(nproc)}"
if [ -z "$(tr -d '[:space:]' <build/release/bench/lines.txt)" ]; then
  echo "linux/matrix.sh: this tree builds no line yet; only the peers are measured" >&2
fi

say "smoke test: every allocator on two tiny rows"
quietly smoke run_matrix --strict --out "$log_directory/smoke" --rows guard_local0,small_interleaved_remote90 \
  --threads 4 --iters 2000 --runs 1 --timeout 30

say "matrix: results in $log_directory"
status=0
if [ "$full" = 1 ]; then
  run_matrix --out "$log_directory/t16" --threads "${THREADS:-16}" --iters "${ITERS:-50000}" --runs "${RUNS:-10}" \
    "${options[@]}" || status=$?
  run_matrix --out "$log_directory/t2" --threads 2 --iters 1000000 --runs "${RUNS:-10}" "${options[@]}" || status=$?
else
  run_matrix --out "$log_directory/t16" --threads "${THREADS:-16}" --iters "${ITERS:-50000}" --runs "${RUNS:-5}" \
    "${options[@]}" || status=$?
fi
exit "$status"

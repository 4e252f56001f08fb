#!/usr/bin/env bash
# Builds everything and runs every test. From a bare Debian 12: ./linux/test.sh
#
# usage: ./linux/test.sh [--strict] [--no-setup] [PRESET...]
#
#   --strict     a program the tests use that is missing is a failure, not a skipped test (also: STRICT_TESTS=1)
#   --no-setup   installs no packages
#   PRESET       release, debug, asan, tsan and, by cross compilers, windows, macos-arm64, macos-x86_64, arm64: all if none is given
#
# The last line is the total, like `123 passed, 0 failed, 0 skipped`. Exits with 1 if anything failed, a build included, and with 2 if
# the arguments make no sense. What the tests wrote is in build/test-results.
# Not -e: one preset that fails must not keep the others from running.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1

say() {
  echo "== $1"
}

readonly all_presets=(release debug asan tsan windows macos-arm64 macos-x86_64 arm64)

is_preset() {
  [[ " ${all_presets[*]} " == *" $1 "* ]]
}

# Installs what a preset for another system needs besides. That it cannot be had is seen in missing_for.
set_up_cross() {
  case "$1" in
    arm64 | windows) ./linux/setup.sh "$1" ;;
    macos-*) ./linux/setup.sh macos && ./mac/setup_cross.sh ;;
  esac
}

# Names the programs that a preset for another system needs and that are not there.
missing_for() {
  local program programs=()
  case "$1" in
    arm64) programs=(aarch64-linux-gnu-g++ qemu-aarch64-static) ;;
    windows) programs=(x86_64-w64-mingw32-g++-posix wine) ;;
    macos-*) programs=(build/cross/bin/c++ build/cross/bin/ld64.lld) ;;
  esac
  for program in "${programs[@]}"; do
    command -v "$program" >/dev/null || echo "$program"
  done
}

# Builds a preset and runs its tests; leaves build/test-results/PRESET.xml, or the reason why not in PRESET.broken, which is a failure, or
# PRESET.skipped.
run_preset() {
  local preset=$1 results=build/test-results
  local log=$results/$preset.log missing
  missing=$(missing_for "$preset" | paste -sd' ')
  if [ -n "$missing" ]; then
    say "$preset: cannot be built here"
    local outcome=skipped
    [ "${STRICT_TESTS:-}" = 1 ] && outcome=broken
    echo "not installed: $missing" >"$results/$preset.$outcome"
    return
  fi
  say "$preset: building"
  if ! { cmake --preset "$preset" && cmake --build --preset "$preset"; } >"$log" 2>&1; then
    tail -n 60 "$log"
    echo "the build failed, see $log" >"$results/$preset.broken"
    return
  fi
  say "$preset: testing"
  # With pages larger than the machine's the emulator's mmap fails now and then where several threads map at once.
  local repeat=()
  [ "$preset" = arm64 ] && repeat=(--repeat until-pass:2)
  # Failed tests are counted from the results; the exit code says no more.
  STRESS_SECONDS=${STRESS_SECONDS:-1} \
    ctest --test-dir "build/$preset" --output-on-failure --no-tests=error -j "$(nproc)" "${repeat[@]}" \
    --output-junit "$PWD/$results/$preset.xml" --output-log "$results/$preset.tests.log" --progress ||
    say "$preset: not all tests passed"
  [ -f "$results/$preset.xml" ] || echo "ctest wrote no results" >"$results/$preset.broken"
}

setup=1
presets=()
for argument in "$@"; do
  case "$argument" in
    --strict) export STRICT_TESTS=1 ;;
    --no-setup) setup=0 ;;
    -h | --help)
      sed -n '2,/^# Not -e/{/^# Not -e/d;s/^# \{0,1\}//p}' linux/test.sh
      exit 0
      ;;
    *)
      if ! is_preset "$argument"; then
        echo "test.sh: unknown argument '$argument': --strict, --no-setup, ${all_presets[*]}" >&2
        exit 2
      fi
      presets+=("$argument")
      ;;
  esac
done
[ ${#presets[@]} -gt 0 ] || presets=("${all_presets[@]}")

if [ "$setup" -eq 1 ]; then
  ./linux/setup.sh build bench test || exit 1
  for preset in "${presets[@]}"; do set_up_cross "$preset"; done
fi

# A compiler, an interpreter or a server that is found elsewhere first is not what the packages brought.
export PATH=/usr/bin:/bin:/usr/sbin:/sbin:$PATH

rm -rf build/test-results
mkdir -p build/test-results
for preset in "${presets[@]}"; do run_preset "$preset"; done
/usr/bin/python3 linux/test_summary.py build/test-results "${presets[@]}"

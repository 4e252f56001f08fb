#!/usr/bin/env bash
# Installs the Debian packages that the scripts beside this one need.
#
#   linux/setup.sh GROUP...
#
#   build   compiler, CMake and the libraries the release preset needs (the libraries of the unit tests too)
#   bench   the allocators to compare with, Google Benchmark, valgrind (callgrind), Python with matplotlib
#   apps    the real programs that are measured: redis, sqlite3
#   test    everything the tests run: apps, and git, perl, Python's own test suite, memcached, node, java, valgrind, clang
#   arm64, windows, macos   beside build: what the presets of these names cross-compile with, and run programs under. For macOS,
#                           mac/setup_cross.sh installs the compiler after that
#
# Installs only what is missing, and asks for root (sudo) only then: with everything there it changes nothing and works for any
# user. Services that come with a package (redis, memcached) are not started. Exit code 2: wrong arguments; 1: it cannot be done.
set -euo pipefail

readonly groups="build, bench, apps, test, arm64, windows, macos"
readonly build_packages=(
  g++ cmake ninja-build git ca-certificates python3 libcli11-dev nlohmann-json3-dev libgtest-dev libgmock-dev)
readonly bench_packages=(
  libmimalloc2.0 libtcmalloc-minimal4 libjemalloc2 libbenchmark-dev valgrind python3-matplotlib)
readonly apps_packages=(redis-server redis-tools sqlite3 g++ python3)
readonly test_packages=(
  "${apps_packages[@]}" bash coreutils binutils git perl libpython3.11-testsuite gcc cmake pkg-config memcached nodejs
  default-jdk-headless valgrind clang)
readonly arm64_packages=(g++-aarch64-linux-gnu qemu-user-static googletest)
readonly windows_packages=(g++-mingw-w64-x86-64-posix wine64 wine googletest)
macos_packages=(lld)
command -v npm >/dev/null || macos_packages+=(npm)  # with node from elsewhere there is one already, and Debian's would not go with it
readonly macos_packages

fail() {
  echo "linux/setup.sh: $1" >&2
  exit "${2:-1}"
}

packages_of() {
  case "$1" in
    build) printf '%s\n' "${build_packages[@]}" ;;
    bench) printf '%s\n' "${bench_packages[@]}" ;;
    apps) printf '%s\n' "${apps_packages[@]}" ;;
    test) printf '%s\n' "${test_packages[@]}" ;;
    arm64) printf '%s\n' "${arm64_packages[@]}" ;;
    windows) printf '%s\n' "${windows_packages[@]}" ;;
    macos) printf '%s\n' "${macos_packages[@]}" ;;
    *) fail "no such group: $1; there are $groups" 2 ;;
  esac
}

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

as_root() {
  if [ "$(id -u)" = 0 ]; then
    env "$@"
  else
    sudo env "$@"
  fi
}

# Debian starts a service when its package is installed, unless this file forbids it.
readonly service_policy=/usr/sbin/policy-rc.d
forbid_services() {
  [ -e "$service_policy" ] && return
  trap 'as_root rm -f "$service_policy"' EXIT
  printf '#!/bin/sh\nexit 101\n' | as_root tee "$service_policy" >/dev/null
  as_root chmod 755 "$service_policy"
}

main() {
  [ $# -gt 0 ] || fail "name what to install: $groups" 2
  local group package wanted=() missing=()
  for group in "$@"; do
    # The list is taken apart here and not in a pipe, so that an unknown group ends the script.
    local list
    list=$(packages_of "$group")
    mapfile -t -O "${#wanted[@]}" wanted <<<"$list"
  done
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    fail "this system has no apt-get. Install what these Debian packages hold, then use CMake and the programs of bench/ \
directly (docs/benchmarks.md): ${wanted[*]}"
  fi
  for package in "${wanted[@]}"; do
    is_installed "$package" || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0

  if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
    fail "packages are missing and there is no sudo. As root: apt-get install ${missing[*]}"
  fi
  echo "linux/setup.sh: installing ${missing[*]}"
  forbid_services
  as_root apt-get update -q || fail "apt-get update failed"
  as_root DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends "${missing[@]}" ||
    fail "apt-get could not install ${missing[*]}"
}

main "$@"

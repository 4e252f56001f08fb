#!/usr/bin/env python3
"""Runs bench_matrix under several allocators, in one session and in turn, and writes tables of what it measured.

A fresh process per sample. Outputs: README.log (environment), samples.csv, summary.md, summary.png.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import allocators, environment  # noqa: E402
from report.locations import DEFAULT_BUILD, ROOT, Build, Parser, UsageError, positive_int  # noqa: E402
from report.progress import Progress  # noqa: E402

import plot  # noqa: E402
import samples  # noqa: E402
import summary  # noqa: E402
import targets  # noqa: E402
from rows import ROWS  # noqa: E402


def parse_arguments(words):
    parser = Parser(prog="run_matrix.py", description=__doc__.splitlines()[0])
    parser.add_argument("--allocators", metavar="LIST", help="names (lines of the build, mimalloc, tcmalloc, jemalloc, "
                        "glibc, ceiling) or NAME=PATH, with commas between; default: all there are")
    parser.add_argument("--rows", metavar="LIST", help="rows, with commas between; default: all of "
                        + ", ".join(row.name for row in ROWS))
    parser.add_argument("--threads", type=positive_int, default=16, help="default 16")
    parser.add_argument("--iters", type=positive_int, default=50000,
                        help="allocations of each thread, default 50000 (medium_phase_r90: at most 1000)")
    parser.add_argument("--runs", type=positive_int, default=10, help="samples of each allocator and row, default 10")
    parser.add_argument("--timeout", type=positive_int, default=120, help="seconds for one sample, default 120")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write; default: results/matrix-<date>")
    parser.add_argument("--build-dir", type=Path, default=DEFAULT_BUILD, help="default: build/release")
    parser.add_argument("--check", action="store_true",
                        help="judge the targets of the line as well; exit code 1 if one is missed")
    parser.add_argument("--strict", action="store_true", help="exit code 1 if a sample failed")
    parser.add_argument("--line", default="hz8", help="the line that --check judges, default hz8")
    parser.add_argument("--from", dest="source", type=Path, metavar="DIR",
                        help="measure nothing: summarise the samples.csv of an earlier run")
    return parser, parser.parse_args(words)


def choose_rows(text):
    known = {row.name: row for row in ROWS}
    if not text:
        return ROWS
    names = list(dict.fromkeys(filter(None, text.split(","))))
    for name in names:
        if name not in known:
            raise UsageError(f"no such row: {name}; there are {', '.join(known)}")
    if not names:
        raise UsageError("no row is named")
    return [known[name] for name in names]


def measure(options, directory):
    """Takes all samples. They are written after each, so that an interrupted run is not lost."""
    build = Build(options.build_dir)
    program = build.program("bench_matrix")
    launcher = build.program("bench_launch")
    rows = choose_rows(options.rows)
    chosen = allocators.resolve(options.allocators or allocators.default_names(build, with_ceiling=True), build)
    if options.check and options.line not in [allocator.name for allocator in chosen]:
        raise UsageError(f"--check judges {options.line}, which is not among the allocators")
    plan = list(samples.schedule(chosen, rows, options.runs))
    if not plan:
        raise UsageError("the ceiling runs local rows only")

    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{directory} cannot be made: {error.strerror}") from error
    settings = [("threads", options.threads), ("iterations", options.iters), ("runs", options.runs),
                ("timeout", f"{options.timeout} s"), ("rows", ", ".join(row.name for row in rows))]
    (directory / "README.log").write_text(environment.describe(chosen, settings), encoding="utf-8")
    progress = Progress(len(plan))
    taken = []
    for run, row, allocator in plan:
        progress.step(f"run {run + 1}/{options.runs} {row.name} {allocator.name}")
        taken.append(samples.take(program, launcher, allocator, row, run, options.threads, options.iters,
                                  options.timeout))
        samples.write_csv(directory / "samples.csv", taken)
    progress.finish()
    heading = (f"{options.threads} threads, {options.iters:,} allocations each, {options.runs} runs, "
               f"{time.strftime('%Y-%m-%d')}\n{environment.machine()}")
    (directory / "heading.txt").write_text(heading + "\n", encoding="utf-8")
    return taken


def load(directory):
    if not (directory / "samples.csv").is_file():
        raise UsageError(f"no samples.csv in {directory}")
    return samples.read_csv(directory / "samples.csv")


def write_report(directory, taken, options):
    """summary.md and the picture; returns the exit code."""
    heading_file = directory / "heading.txt"
    heading = heading_file.read_text(encoding="utf-8").strip() if heading_file.is_file() else str(directory)
    rows = summary.by_row(taken)
    text = summary.markdown(taken, heading)
    good = not (options.strict and any(sample.failure for sample in taken))
    if options.check:
        judged, all_hold = targets.report(rows, options.line)
        text += "\n" + judged
        good = good and all_hold
    (directory / "summary.md").write_text(text, encoding="utf-8")
    print(text)
    try:
        plot.draw(rows, directory / "summary.png", heading)
    except ImportError:
        print("run_matrix.py: no picture: matplotlib is not installed (Debian: python3-matplotlib)", file=sys.stderr)
    print(f"Written to {directory}: " + ", ".join(sorted(path.name for path in directory.iterdir())))
    return 0 if good else 1


def main(words):
    parser, options = parse_arguments(words)
    try:
        if options.source:
            return write_report(options.source, load(options.source), options)
        directory = options.out or ROOT / "results" / f"matrix-{time.strftime('%Y%m%d-%H%M%S')}"
        return write_report(directory, measure(options, directory), options)
    except UsageError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nrun_matrix.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Runs real programs under several allocators, in one session and in turn: redis, python, sqlite and g++."""

import csv
import re
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import allocators, environment, order, ranks, tables  # noqa: E402
from report.locations import DEFAULT_BUILD, ROOT, Build, Parser, UsageError, positive_int  # noqa: E402
from report.progress import Progress  # noqa: E402

import commands  # noqa: E402
import redis  # noqa: E402
from sample import MeasuringError, Sample  # noqa: E402

APPS = {"redis": redis, "python": commands.python, "sqlite": commands.sqlite, "g++": commands.gxx}


def preload_of(allocator):
    """glibc is preloaded as well: a program may be linked with another allocator (Debian's redis is, with jemalloc)."""
    if allocator.library:
        return allocator.preload()
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        if re.search(r"/libc(\.so\.6|-2\.\d+\.so)$", line):
            return line.split(maxsplit=5)[5]
    raise UsageError("this interpreter does not use the GNU C library")


def take(launcher, app, allocator, run, timeout):
    try:
        measured = APPS[app].measure(launcher, preload_of(allocator), timeout)
    except MeasuringError as error:
        return Sample(app, allocator.name, run + 1, failure=str(error))
    return Sample(app, allocator.name, run + 1, measured=measured)


def table(app, samples):
    """The medians of one program, the best first; those with a failure last."""
    module = APPS[app]
    grouped = {}
    for sample in samples:
        grouped.setdefault(sample.allocator, []).append(sample)
    medians = {name: ranks.median([sample.measured.score for sample in group if sample.measured])
               for name, group in grouped.items() if any(sample.measured for sample in group)}
    reference = medians.get(allocators.GLIBC)
    lines = []
    for name, group in grouped.items():
        good = [sample.measured for sample in group if sample.measured]
        failures = [sample.failure for sample in group if sample.failure]
        score = medians.get(name)
        speed = None
        if score and reference:
            speed = score / reference if module.HIGHER_IS_BETTER else reference / score
        rests = [measured.rest_rss for measured in good if measured.rest_rss is not None]
        lines.append(((bool(failures), -(speed or 0)), [
            name, tables.NOTHING if score is None else f"{score:,.0f}" if module.HIGHER_IS_BETTER else f"{score:.3f}",
            tables.ratio(speed), tables.mib(ranks.median([measured.peak_rss for measured in good]) if good else None),
            tables.mib(ranks.median(rests) if rests else None),
            f"{len(failures)} of {len(group)}: {failures[0][:100]}" if failures else ""]))
    lines.sort(key=lambda entry: entry[0])
    header = ["allocator", module.SCORE, "speed, x glibc", "peak MiB", "rest MiB", "failed"]
    return tables.markdown(header, [line for _, line in lines])


def write_csv(path, samples):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["app", "allocator", "run", "failure", "score", "peak_rss", "rest_rss"])
        for sample in samples:
            measured = sample.measured
            figures = [measured.score, measured.peak_rss, measured.rest_rss] if measured else ["", "", ""]
            writer.writerow([sample.app, sample.allocator, sample.run, sample.failure, *figures])


def choose_apps(text):
    names = list(dict.fromkeys(filter(None, text.split(","))))
    for name in names:
        if name not in APPS:
            raise UsageError(f"no such program: {name}; there are {', '.join(APPS)}")
        for program in APPS[name].NEEDS:
            if not shutil.which(program):
                raise UsageError(f"{program} is not installed (linux/setup.sh apps)")
    if not names:
        raise UsageError("no program is named")
    return names


def parse_arguments(words):
    parser = Parser(prog="run_apps.py", description=__doc__)
    parser.add_argument("--allocators", metavar="LIST", help="names or NAME=PATH; default: all lines and peers")
    parser.add_argument("--apps", metavar="LIST", default=",".join(APPS), help=f"default {','.join(APPS)}")
    parser.add_argument("--runs", type=positive_int, default=3, help="default 3")
    parser.add_argument("--timeout", type=positive_int, default=120, help="seconds for one sample, default 120")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write; default: results/apps-<date>")
    parser.add_argument("--build-dir", type=Path, default=DEFAULT_BUILD, help="default: build/release")
    return parser, parser.parse_args(words)


def run(options):
    build = Build(options.build_dir)
    launcher = build.program("bench_launch")
    apps = choose_apps(options.apps)
    chosen = allocators.resolve(options.allocators or allocators.default_names(build), build)
    directory = options.out or ROOT / "results" / f"apps-{time.strftime('%Y%m%d-%H%M%S')}"
    directory.mkdir(parents=True, exist_ok=True)
    settings = [("runs", options.runs), ("programs", ", ".join(apps))]
    (directory / "README.log").write_text(environment.describe(chosen, settings), encoding="utf-8")

    progress = Progress(len(apps) * len(chosen) * options.runs)
    taken = []
    for number in range(options.runs):
        for app in apps:
            for allocator in order.rotated(chosen, number):
                progress.step(f"run {number + 1}/{options.runs} {app} {allocator.name}")
                taken.append(take(launcher, app, allocator, number, options.timeout))
                write_csv(directory / "samples.csv", taken)
    progress.finish()
    text = f"# Real programs\n\n{environment.machine()}\nMedians of {options.runs} runs, all in one session. "
    text += f"rest: resident {redis.SECONDS_AFTER_FLUSH} s after FLUSHALL.\n"
    for app in apps:
        text += f"\n## {app}\n\n" + table(app, [sample for sample in taken if sample.app == app])
    (directory / "summary.md").write_text(text, encoding="utf-8")
    print(text)
    return 0


def main(words):
    parser, options = parse_arguments(words)
    try:
        return run(options)
    except UsageError as error:
        parser.error(str(error))
    except KeyboardInterrupt:
        print("\nrun_apps.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

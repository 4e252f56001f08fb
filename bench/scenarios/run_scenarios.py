#!/usr/bin/env python3
"""Plays latency and workload scenarios under several allocators, in one session and in turn; the same calls for each.

Latency (random, alternating, cycles): percentiles of single calls. Workloads (json 64 KiB, mir 256 KiB, vm 2 MiB, mixed):
buffers that are filled and thrown away; the time of filling them is shown beside that of the calls.
"""

import csv
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from report import allocators, environment, launch, order, ranks, tables  # noqa: E402
from report.locations import DEFAULT_BUILD, ROOT, Build, Parser, UsageError, positive_int  # noqa: E402
from report.progress import Progress  # noqa: E402

SCENARIOS = ["random", "alternating", "cycles", "json", "mir", "mixed", "vm"]
CALLS = ["malloc", "free", "realloc", "touch"]
PERCENTILES = ["p50", "p95", "p99", "p99_9", "max"]


def take(launcher, program, allocator, scenario, run, timeout):
    """One sample: the program's record, or {"failure": why}."""
    identity = {"scenario": scenario, "allocator": allocator.name, "run": run + 1}
    outcome = launch.run(launcher, [program, scenario, "--run", str(run)], allocator.preload(), timeout)
    if outcome.failure:
        return {**identity, "failure": outcome.failure}
    record = json.loads(outcome.stdout)
    if not allocators.served_by(allocator, record["served_by"]):
        return {**identity, "failure": f"not served by it: malloc is that of {record['served_by']}"}
    return {**record, **identity, "failure": ""}


def flat(sample):
    """A sample as one line of samples.csv."""
    line = {name: sample.get(name, "") for name in
            ("scenario", "allocator", "run", "failure", "calls_per_s", "peak_rss", "minor_faults", "timer_ns")}
    for call in CALLS:
        for name in PERCENTILES:
            line[f"{call}_{name}"] = sample.get(call, {}).get(name, "")
    return line


def write_csv(path, samples):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, flat(samples[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(map(flat, samples))


def table(samples):
    """The medians of one scenario, by calls per second; those with a failure last."""
    grouped = {}
    for sample in samples:
        grouped.setdefault(sample["allocator"], []).append(sample)
    used = [call for call in CALLS if any(sample.get(call, {}).get("count") for sample in samples)]
    lines = []
    for name, group in grouped.items():
        good = [sample for sample in group if not sample["failure"]]
        failures = [sample["failure"] for sample in group if sample["failure"]]
        failed = f"{len(failures)} of {len(group)}: {failures[0][:100]}" if failures else ""
        if not good:
            lines.append(((True, 0), [name, *[tables.NOTHING] * (2 + len(used)), failed]))
            continue
        rate = ranks.median([sample["calls_per_s"] for sample in good])
        percentiles = ["/".join(tables.whole(ranks.median([sample[call][percentile] for sample in good]))
                                for percentile in PERCENTILES) for call in used]
        peak = tables.mib(ranks.median([sample["peak_rss"] for sample in good]))
        lines.append(((bool(failures), -rate), [name, tables.mega(rate), peak, *percentiles, failed]))
    lines.sort(key=lambda entry: entry[0])
    return tables.markdown(["allocator", "M calls/s", "peak MiB", *used, "failed"], [line for _, line in lines])


def choose_scenarios(text):
    names = list(dict.fromkeys(filter(None, text.split(","))))
    for name in names:
        if name not in SCENARIOS:
            raise UsageError(f"no such scenario: {name}; there are {', '.join(SCENARIOS)}")
    if not names:
        raise UsageError("no scenario is named")
    return names


def parse_arguments(words):
    parser = Parser(prog="run_scenarios.py", description=__doc__.splitlines()[0])
    parser.add_argument("--allocators", metavar="LIST", help="names or NAME=PATH; default: all lines and peers")
    parser.add_argument("--scenarios", metavar="LIST", default=",".join(SCENARIOS), help=f"default {','.join(SCENARIOS)}")
    parser.add_argument("--runs", type=positive_int, default=5, help="default 5")
    parser.add_argument("--timeout", type=positive_int, default=60, help="seconds for one sample, default 60")
    parser.add_argument("--out", type=Path, metavar="DIR", help="where to write; default: results/scenarios-<date>")
    parser.add_argument("--build-dir", type=Path, default=DEFAULT_BUILD, help="default: build/release")
    return parser, parser.parse_args(words)


def run(options):
    build = Build(options.build_dir)
    launcher, program = build.program("bench_launch"), build.program("bench_scenarios")
    scenarios = choose_scenarios(options.scenarios)
    chosen = allocators.resolve(options.allocators or allocators.default_names(build), build)
    directory = options.out or ROOT / "results" / f"scenarios-{time.strftime('%Y%m%d-%H%M%S')}"
    directory.mkdir(parents=True, exist_ok=True)
    settings = [("runs", options.runs), ("scenarios", ", ".join(scenarios))]
    (directory / "README.log").write_text(environment.describe(chosen, settings), encoding="utf-8")

    progress = Progress(options.runs * len(scenarios) * len(chosen))
    taken = []
    for number in range(options.runs):
        for scenario in scenarios:
            for allocator in order.rotated(chosen, number):
                progress.step(f"run {number + 1}/{options.runs} {scenario} {allocator.name}")
                taken.append(take(launcher, program, allocator, scenario, number, options.timeout))
    progress.finish()
    write_csv(directory / "samples.csv", taken)
    text = (f"# Scenarios\n\n{environment.machine()}\nMedians of {options.runs} runs, all in one session. Times in ns: "
            "p50/p95/p99/p99.9/max, the cost of the clock taken off.\n"
            "calls/s includes reading the clock. touch: first use of the memory.\n")
    for scenario in scenarios:
        text += f"\n## {scenario}\n\n" + table([sample for sample in taken if sample["scenario"] == scenario])
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
        print("\nrun_scenarios.py: interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

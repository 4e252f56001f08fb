"""Samples of the matrix: one process each, kept in samples.csv."""

import csv
import json
from dataclasses import asdict, dataclass, fields

from report import allocators, launch, order


@dataclass(frozen=True)
class Sample:
    row: str
    allocator: str
    run: int  # from 1
    failure: str = ""  # empty: the figures are good
    ops_per_s: float = 0.0
    post_rss: int = 0
    peak_rss: int = 0
    minor_faults: int = 0
    work_ms: float = 0.0
    tail_ms: float = 0.0
    wall_ms: float = 0.0


MEASURED = ["ops_per_s", "post_rss", "peak_rss", "minor_faults", "work_ms", "tail_ms", "wall_ms"]


def can_run(allocator, row):
    """The ceiling hands each thread one buffer: it is no allocator for blocks that live side by side."""
    return allocator.name != allocators.CEILING or row.is_local()


def schedule(chosen, rows, runs):
    """(run from 0, row, allocator) in the order of measuring."""
    for run in range(runs):
        for row in rows:
            for allocator in order.rotated(chosen, run):
                if can_run(allocator, row):
                    yield run, row, allocator


def take(program, launcher, allocator, row, run, threads, iterations, timeout):
    """Runs one sample. Whatever goes wrong is a sample too."""
    command = [program, *row.arguments(threads, iterations, run)]
    outcome = launch.run(launcher, command, allocator.preload(), timeout)
    identity = {"row": row.name, "allocator": allocator.name, "run": run + 1}
    if outcome.failure:
        return Sample(**identity, failure=outcome.failure)
    try:
        record = json.loads(outcome.stdout)
        measured = {name: record[name] for name in MEASURED}
        provider = record["served_by"]
    except (ValueError, KeyError, TypeError):
        return Sample(**identity, failure="no result on its standard output")
    if not allocators.served_by(allocator, provider):
        return Sample(**identity, failure=f"not served by it: malloc is that of {provider}")
    return Sample(**identity, **measured)


def write_csv(path, samples):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Sample)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(sample) for sample in samples)


def read_csv(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [Sample(**{field.name: field.type(record[field.name]) for field in fields(Sample)})
                for record in csv.DictReader(file)]

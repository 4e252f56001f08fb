"""Programs that run once and end: measured by their wall time and peak memory."""

import os
from pathlib import Path

from report import launch

from sample import Measured, MeasuringError

HERE = Path(__file__).resolve().parent


class Command:
    SCORE = "seconds"
    HIGHER_IS_BETTER = False

    def __init__(self, program, input_file=None, environment=None):
        self.NEEDS = program[:1]
        self._program = program
        self._input = input_file
        self._environment = environment or {}

    def measure(self, launcher, preload, timeout):
        options = {"env": {**os.environ, **self._environment}}
        if self._input:
            options["input"] = self._input.read_text(encoding="utf-8")
        outcome = launch.run(launcher, self._program, preload, timeout, **options)
        if outcome.failure:
            raise MeasuringError(outcome.failure)
        if "cannot be preloaded" in outcome.stderr:  # the loader only warns
            raise MeasuringError(outcome.stderr.splitlines()[0])
        return Measured(outcome.wall_s, outcome.peak_rss)


# PYTHONMALLOC: CPython's own pools would hide the allocator.
python = Command(["/usr/bin/python3", "-S", str(HERE / "workload.py")], environment={"PYTHONMALLOC": "malloc"})
sqlite = Command(["sqlite3", "-batch", ":memory:"], input_file=HERE / "workload.sql")
gxx = Command(["g++", "-std=c++17", "-O1", "-c", str(HERE / "workload.cpp"), "-o", "/dev/null"])

"""Starting a program under an allocator, through the small launcher that keeps the peak memory figure honest."""

import json
import os
import signal
import subprocess
from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    failure: str  # empty: it ended with exit code 0
    stdout: str
    stderr: str
    wall_s: float = 0.0
    user_s: float = 0.0
    system_s: float = 0.0
    peak_rss: int = 0
    minor_faults: int = 0


def _failure_of(record, stderr):
    if record["status"] == "exited" and record["code"] == 0:
        return ""
    if record["status"] == "timeout":
        return "timeout"
    if record["status"] == "killed":
        what = signal.Signals(record["code"]).name
    else:
        what = f"exit code {record['code']}"
    first_line = next((line for line in stderr.splitlines() if line.strip()), "")
    return f"{what}: {first_line}" if first_line else what


def command_line(launcher, program, preload=None, timeout=None, report_fd=2):
    options = ["--report-fd", str(report_fd)]
    if preload:
        options += ["--preload", preload]
    if timeout:
        options += ["--timeout", str(timeout)]
    return [str(launcher), *options, "--", *map(str, program)]


def run(launcher, program, preload=None, timeout=None, **options):
    """Runs `program` (a list) to its end. `options` go to subprocess.run (env, cwd, input)."""
    read_end, write_end = os.pipe()
    try:
        options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
        if options["stdin"] is None:
            del options["stdin"]
        result = subprocess.run(
            command_line(launcher, program, preload, timeout, write_end), pass_fds=[write_end],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False, **options)
        os.close(write_end)
        write_end = -1
        with os.fdopen(read_end) as report:
            read_end = -1
            text = report.read()
    finally:
        for end in (read_end, write_end):
            if end >= 0:
                os.close(end)
    if not text:
        return Outcome(f"the launcher failed: {result.stderr.strip()}", result.stdout, result.stderr)
    record = json.loads(text)
    return Outcome(_failure_of(record, result.stderr), result.stdout, result.stderr, record["wall_s"],
                   record["user_s"], record["system_s"], record["peak_rss"], record["minor_faults"])

"""redis: throughput under redis-benchmark, and what the server still holds three seconds after FLUSHALL."""

import csv
import math
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from report import launch

from sample import Measured, MeasuringError

NEEDS = ["redis-server", "redis-benchmark", "redis-cli"]
SCORE = "requests/s"
HIGHER_IS_BETTER = True
BENCHMARK = ["-n", "200000", "-c", "50", "-P", "16", "-t", "set,get,lpush,lrange_100"]
SECONDS_AFTER_FLUSH = 3
SECONDS_TO_START = 10


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A redis-server under an allocator, with nothing on disk."""

    def __init__(self, launcher, preload, directory):
        self.port = _free_port()
        self._log = open(Path(directory) / "server.log", "w+", encoding="utf-8", errors="replace")
        program = ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
                   "--daemonize", "no", "--dir", directory]
        self._launcher = subprocess.Popen(
            launch.command_line(launcher, program, preload), stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log)

    def log(self):
        self._log.flush()
        self._log.seek(0)
        return self._log.read()

    def ask(self, *words):
        result = subprocess.run(["redis-cli", "-p", str(self.port), *words], capture_output=True, text=True,
                                check=False, timeout=30)
        return result.stdout if result.returncode == 0 else ""

    def wait_until_ready(self):
        deadline = time.monotonic() + SECONDS_TO_START
        while time.monotonic() < deadline and self._launcher.poll() is None:
            if "PONG" in self.ask("ping"):
                return
            time.sleep(0.05)
        raise MeasuringError("the server did not start: " + (self.log().strip().splitlines() or ["no output"])[-1])

    def process(self):
        for line in self.ask("info", "server").splitlines():
            if line.startswith("process_id:"):
                return int(line.partition(":")[2])
        raise MeasuringError("the server does not answer")

    def stop(self):
        self.ask("shutdown", "nosave")
        try:
            self._launcher.wait(10)
        except subprocess.TimeoutExpired:
            self._launcher.send_signal(signal.SIGTERM)  # the launcher kills the server
            self._launcher.wait()
        self._log.close()


def _status(process, key):
    for line in Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise MeasuringError(f"/proc has no {key}")


def _geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def rates(csv_text):
    """{test: requests per second} from redis-benchmark --csv."""
    found = {}
    for record in csv.reader(csv_text.splitlines()):
        if len(record) > 1 and record[0] != "test":
            found[record[0]] = float(record[1])
    return found


def _load(server, timeout):
    try:
        result = subprocess.run(["redis-benchmark", "-p", str(server.port), *BENCHMARK, "--csv"], capture_output=True,
                                text=True, check=False, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise MeasuringError("timeout") from None
    measured = rates(result.stdout)
    # lpush runs a second time to fill the list for lrange.
    if result.returncode != 0 or len(measured) < 4 or "error" in result.stderr.lower():
        raise MeasuringError(f"redis-benchmark failed: {result.stderr.strip()[:200]}")
    return measured


def measure(launcher, preload, timeout):
    with tempfile.TemporaryDirectory() as directory:
        server = Server(launcher, preload, directory)
        try:
            server.wait_until_ready()
            process = server.process()
            if preload and Path(preload).resolve().name not in Path(f"/proc/{process}/maps").read_text(encoding="utf-8"):
                raise MeasuringError("the library is not in the server")
            measured = _load(server, timeout)
            server.ask("flushall")
            time.sleep(SECONDS_AFTER_FLUSH)
            return Measured(_geometric_mean(list(measured.values())), _status(process, "VmHWM"), _status(process, "VmRSS"))
        finally:
            server.stop()

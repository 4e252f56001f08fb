import unittest

import support

import redis
import run_apps
from sample import Measured, Sample

RUNNER = support.BENCH / "apps" / "run_apps.py"


class Redis(unittest.TestCase):
    def test_rates(self):
        text = '"test","rps","avg_latency_ms"\n"SET","1000.50","0.1"\n"LPUSH (needed to benchmark LRANGE)","500.00","0.2"\n'
        self.assertEqual(redis.rates(text), {"SET": 1000.5, "LPUSH (needed to benchmark LRANGE)": 500.0})


class Table(unittest.TestCase):
    def test_less_time_is_more_speed_and_a_failure_is_a_row(self):
        text = run_apps.table("sqlite", [
            Sample("sqlite", "glibc", 1, measured=Measured(2.0, 10 << 20)),
            Sample("sqlite", "fast", 1, measured=Measured(1.0, 20 << 20)),
            Sample("sqlite", "broken", 1, failure="SIGSEGV")])
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[2:]]
        self.assertEqual(lines[0], ["fast", "1.000", "2.00", "20.00", "-", ""])
        self.assertEqual(lines[1], ["glibc", "2.000", "1.00", "10.00", "-", ""])
        self.assertEqual(lines[2], ["broken", "-", "-", "-", "-", "1 of 1: SIGSEGV"])

    def test_more_requests_are_more_speed(self):
        text = run_apps.table("redis", [Sample("redis", "glibc", 1, measured=Measured(100.0, 1, 1 << 20)),
                                        Sample("redis", "fast", 1, measured=Measured(150.0, 1, 2 << 20))])
        self.assertIn("| fast      |        150 |           1.50 |", text)


class Runner(support.HarnessTest):
    def test_a_program_under_a_library_that_cannot_be_loaded_failed(self):
        result = support.run("/usr/bin/env", "python3", "-B", RUNNER, "--build-dir", support.BUILD, "--out", self.directory / "out", "--apps",
                             "python", "--runs", 1, "--allocators", f"crash={support.CRASH},text={support.__file__}")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| crash .*1 of 1: SIGABRT: crash on purpose")
        self.assertRegex(result.stdout, r"\| text .*1 of 1: .*cannot be preloaded")

    def test_wrong_arguments(self):
        for words, part in ((["--apps", "nosuch"], "nosuch"), (["--allocators", "nosuch"], "nosuch"), (["--runs", "0"], "--runs")):
            with self.subTest(words):
                self.assert_usage_error(
                    support.run("/usr/bin/env", "python3", "-B", RUNNER, "--build-dir", support.BUILD, *words), part)


if __name__ == "__main__":
    unittest.main()

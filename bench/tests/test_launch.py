import os
import time
import unittest
from pathlib import Path

import support

from report import launch


class Launch(support.HarnessTest):
    def run_shell(self, script, **options):
        return launch.run(support.LAUNCHER, ["/bin/sh", "-c", script], **options)

    def test_success(self):
        outcome = self.run_shell("echo out; echo err >&2")
        self.assertEqual((outcome.failure, outcome.stdout, outcome.stderr), ("", "out\n", "err\n"))
        self.assertGreater(outcome.peak_rss, 0)

    def test_exit_code_and_what_was_said(self):
        self.assertEqual(self.run_shell("echo why >&2; exit 3").failure, "exit code 3: why")

    def test_signal(self):
        self.assertEqual(self.run_shell("kill -SEGV $$").failure, "SIGSEGV")

    def test_a_program_that_is_not_there(self):
        self.assertEqual(launch.run(support.LAUNCHER, ["/no/such/program"]).failure, "exit code 127")

    def test_a_timeout_ends_the_program_and_its_children(self):
        begin = time.monotonic()
        outcome = self.run_shell("sleep 60 & echo $!; wait", timeout=0.3)
        self.assertEqual(outcome.failure, "timeout")
        self.assertLess(time.monotonic() - begin, 10)
        child = Path("/proc") / outcome.stdout.strip()
        deadline = time.monotonic() + 10
        while child.exists() and child.joinpath("stat").read_text().split()[2] != "Z" and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertTrue(not child.exists() or child.joinpath("stat").read_text().split()[2] == "Z")

    def test_the_preload_is_the_programs_alone_and_replaces_ours(self):
        self.assertEqual(self.run_shell("echo ${LD_PRELOAD-none}", env={**os.environ, "LD_PRELOAD": ""}).stdout, "none\n")
        self.assertEqual(self.run_shell("echo $LD_PRELOAD", preload=str(support.SIZES)).stdout.strip(), str(support.SIZES))

    def test_the_peak_is_the_programs_own(self):
        ballast = bytearray(b"x") * (64 << 20)
        self.assertLess(launch.run(support.LAUNCHER, ["/bin/true"]).peak_rss, 4 << 20)
        self.assertEqual(len(ballast), 64 << 20)

    def test_wrong_arguments(self):
        for words in ([], ["--report-fd", "1"], ["--report-fd", "1", "--"], ["--nothing", "1", "--", "true"],
                      ["--timeout", "x", "--", "true"], ["--", "true"]):
            with self.subTest(words):
                self.assert_usage_error(support.run(support.LAUNCHER, *words), "bench_launch: ")


if __name__ == "__main__":
    unittest.main()

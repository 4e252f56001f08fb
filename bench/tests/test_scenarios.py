import json
import unittest

import support

import run_scenarios
from report import launch

PROGRAM = support.BUILD / "bin" / "bench_scenarios"
RUNNER = support.BENCH / "scenarios" / "run_scenarios.py"


class Program(support.HarnessTest):
    def test_every_scenario_frees_what_it_allocates(self):
        for scenario in run_scenarios.SCENARIOS:
            with self.subTest(scenario):
                record = json.loads(support.run(PROGRAM, scenario).stdout)
                self.assertEqual(record["malloc"]["count"], record["free"]["count"])
                self.assertEqual(record["calls"], sum(record[kind]["count"] for kind in ("malloc", "free", "realloc")))
                for kind in ("malloc", "free", "touch"):
                    times = [record[kind][name] for name in run_scenarios.PERCENTILES]
                    self.assertEqual(times, sorted(times))
                    self.assertGreater(times[-1], 0)

    def digest(self, run):
        outcome = launch.run(support.LAUNCHER, [PROGRAM, "random", "--run", str(run)], str(support.SIZES))
        self.assertEqual(outcome.failure, "")
        return outcome.stderr

    def test_a_run_is_the_same_trace_for_everyone(self):
        self.assertIn("digest", self.digest(0))
        self.assertEqual(self.digest(0), self.digest(0))
        self.assertNotEqual(self.digest(0), self.digest(1))

    def test_wrong_arguments(self):
        for words in ([], ["nosuch"], ["json", "--run"], ["json", "--run", "x"], ["json", "--nothing", "1"]):
            with self.subTest(words):
                self.assert_usage_error(support.run(PROGRAM, *words), "usage")


class Runner(support.HarnessTest):
    def scenarios(self, *words):
        return support.run("/usr/bin/env", "python3", "-B", RUNNER, "--build-dir", support.BUILD, "--out", self.directory, *words)

    def test_what_fails_is_a_row(self):
        result = self.scenarios("--allocators", f"glibc,crash={support.CRASH}", "--scenarios", "vm", "--runs", 1)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(result.stdout, r"\| glibc +\| +\d")
        self.assertRegex(result.stdout, r"\| crash .*1 of 1: SIGABRT: crash on purpose")
        self.assertEqual(len((self.directory / "samples.csv").read_text().splitlines()), 3)

    def test_wrong_arguments(self):
        for words, part in ((["--scenarios", "nosuch"], "nosuch"), (["--allocators", "nosuch"], "nosuch")):
            with self.subTest(words):
                self.assert_usage_error(self.scenarios(*words), part)


if __name__ == "__main__":
    unittest.main()

import json
import unittest

import support

from report import launch

BENCH_MATRIX = support.BUILD / "bin" / "bench_matrix"
RUNNER = support.BENCH / "matrix" / "run_matrix.py"
CEILING = support.BUILD / "lib" / "libceiling.so"


class Program(support.HarnessTest):
    def test_wrong_arguments(self):
        for words, part in ((["--threads", "0"], "--threads 0"), (["--threads"], "--threads needs"),
                            (["--iters", "-1"], "--iters -1"), (["--iters", "5x"], "5x"), (["--remote-pct", "101"], "101"),
                            (["--interleaved", "2"], "0 to 1"), (["--nothing", "1"], "--nothing"), (["word"], "word"),
                            (["--min-size", "0"], "--min-size 0"), (["--min-size", "9", "--max-size", "8"], "above"),
                            (["--runs", "99999999999999999999999"], "--runs")):
            with self.subTest(words):
                self.assert_usage_error(support.run(BENCH_MATRIX, *words), part)

    def test_one_object_a_run(self):
        result = support.run(BENCH_MATRIX, "--threads", 3, "--iters", 200, "--min-size", 16, "--max-size", 4096,
                             "--remote-pct", 90, "--interleaved", 1, "--live-window", 8, "--runs", 3, "--run", 5)
        self.assertEqual(result.returncode, 0, result.stderr)
        records = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual([record["run"] for record in records], [5, 6, 7])
        for record in records:
            self.assertEqual((record["threads"], record["iters"], record["remote_pct"], record["live_window"]),
                             (3, 200, 90, 8))
            for name in ("ops_per_s", "post_rss", "peak_rss", "minor_faults", "work_ms", "tail_ms"):
                self.assertGreater(record[name], 0, name)
            self.assertGreaterEqual(record["peak_rss"], record["post_rss"])
            self.assertAlmostEqual(record["ops_per_s"] * record["wall_ms"] / 1e3, 600, delta=1)

    def test_every_pattern_ends(self):
        for interleaved, remote, window in ((0, 0, 0), (0, 90, 16), (0, 100, 0), (1, 0, 0), (1, 0, 16), (1, 50, 0), (1, 100, 0)):
            for threads in (1, 2, 7):
                with self.subTest(interleaved=interleaved, remote=remote, window=window, threads=threads):
                    result = support.run(BENCH_MATRIX, "--threads", threads, "--iters", 333, "--interleaved", interleaved,
                                         "--remote-pct", remote, "--live-window", window)
                    self.assertEqual(result.returncode, 0, result.stderr)

    def digest(self, run):
        outcome = launch.run(support.LAUNCHER, [BENCH_MATRIX, "--threads", "1", "--iters", "500", "--run", str(run)],
                             str(support.SIZES))
        self.assertEqual(outcome.failure, "")
        return outcome.stderr

    def test_a_run_is_the_same_stream_for_everyone_and_another_in_the_next_run(self):
        self.assertIn("digest", self.digest(0))
        self.assertEqual(self.digest(0), self.digest(0))
        self.assertNotEqual(self.digest(0), self.digest(1))

    def test_the_harness_itself_is_small(self):
        ballast = bytearray(b"x") * (64 << 20)  # must not show in the program's peak
        command = [BENCH_MATRIX, "--threads", "16", "--iters", "1000", "--max-size", "2048"]
        outcome = launch.run(support.LAUNCHER, command, str(CEILING))
        self.assertEqual(outcome.failure, "")
        record = json.loads(outcome.stdout)
        self.assertEqual(record["served_by"], str(CEILING))
        self.assertLess(record["peak_rss"], 4 << 20)
        self.assertLess(record["post_rss"], 4 << 20)
        self.assertEqual(len(ballast), 64 << 20)


class Runner(support.HarnessTest):
    def matrix(self, *words, rows="guard_local0,main_interleaved_r50", **options):
        return support.run("/usr/bin/env", "python3", "-B", RUNNER, "--build-dir", support.BUILD, "--out", self.directory / "out",
                           "--rows", rows, "--threads", 2, "--iters", 100, "--runs", 2, *words, **options)

    def read(self, name):
        return (self.directory / "out" / name).read_text()

    def test_everything_is_written(self):
        result = self.matrix("--allocators", "glibc,ceiling")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(len(self.read("samples.csv").splitlines()), 1 + 2 * (2 + 1))
        self.assertIn("guard_local0", self.read("summary.md"))
        self.assertIn(self.read("summary.md").strip(), result.stdout)
        for what in ("machine:", "transparent huge pages:", "libceiling.so", "runs: 2"):
            self.assertIn(what, self.read("README.log"))
        again = support.run("/usr/bin/env", "python3", "-B", RUNNER, "--from", self.directory / "out")
        self.assertEqual(again.returncode, 0, again.stderr)

    def test_what_fails_is_a_row(self):
        words = ["--allocators", f"glibc,crash={support.CRASH},hang={support.HANG},none={support.__file__}", "--timeout", 1]
        result = self.matrix(*words, rows="guard_local0")
        self.assertEqual(result.returncode, 0, result.stderr)
        summary = self.read("summary.md")
        self.assertRegex(summary, r"\| crash .*2 of 2 failed: SIGABRT: crash on purpose")
        self.assertRegex(summary, r"\| hang .*2 of 2 failed: timeout")
        self.assertRegex(summary, r"\| none .*2 of 2 failed: not served by it: malloc is that of .*libc")
        self.assertEqual(self.matrix(*words[:1], f"crash={support.CRASH}", "--strict").returncode, 1)

    def test_the_check_needs_the_line_and_fails_without_its_peers(self):
        self.assert_usage_error(self.matrix("--allocators", "glibc", "--check"), "hz8")
        self.assertEqual(self.matrix("--allocators", "glibc", "--check", "--line", "glibc").returncode, 1)
        self.assertIn("MISSED", self.read("summary.md"))

    def test_wrong_arguments(self):
        for words, part in ((["--allocators", "nosuch"], "nosuch"), (["--rows", "nosuch"], "nosuch"),
                            (["--runs", "0"], "--runs"), (["--threads", "x"], "--threads"), (["--nothing"], "--nothing"),
                            (["--build-dir", "/no/such"], "/no/such"), (["--from", "/no/such"], "/no/such"),
                            (["--allocators", "ceiling", "--rows", "main_interleaved_r50"], "ceiling")):
            with self.subTest(words):
                self.assert_usage_error(self.matrix(*words), part)


if __name__ == "__main__":
    unittest.main()

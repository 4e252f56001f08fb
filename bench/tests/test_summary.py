import unittest

import support  # noqa: F401  (finds the modules)

import samples
import summary
from report.allocators import Allocator
from rows import ROWS
from samples import Sample


def taken(allocator, *rates, row="guard_local0", **figures):
    return [Sample(row, allocator, run + 1, ops_per_s=rate, **figures) for run, rate in enumerate(rates)]


class Figures(unittest.TestCase):
    def test_medians(self):
        one = summary.figures("a", [
            Sample("r", "a", 1, ops_per_s=30, post_rss=3, peak_rss=30, minor_faults=1),
            Sample("r", "a", 2, ops_per_s=10, post_rss=1, peak_rss=50, minor_faults=2),
            Sample("r", "a", 3, ops_per_s=20, post_rss=2, peak_rss=40, minor_faults=9)])
        self.assertEqual((one.ops, one.ops_p25, one.ops_min), (20, 20, 10))
        self.assertEqual((one.post_rss, one.peak_rss, one.minor_faults), (2, 40, 2))
        self.assertTrue(one.is_clean())

    def test_a_failed_sample_counts_as_failed_and_not_as_zero(self):
        one = summary.figures("a", [*taken("a", 10, 20), Sample("r", "a", 3, failure="timeout")])
        self.assertEqual(one.ops_min, 10)
        self.assertEqual(one.failures, ("timeout",))
        self.assertFalse(one.is_clean())

    def test_an_allocator_that_always_failed_has_no_figures(self):
        one = summary.figures("a", [Sample("r", "a", 1, failure="SIGSEGV")])
        self.assertIsNone(one.ops)
        self.assertEqual(one.samples, 1)


class Ranking(unittest.TestCase):
    def setUp(self):
        self.entries = summary.by_row([
            *taken("slow", 10), *taken("fast", 40), *taken("mimalloc", 20), *taken("ceiling", 90),
            Sample("guard_local0", "jemalloc", 1, ops_per_s=80), Sample("guard_local0", "jemalloc", 2, failure="timeout"),
            Sample("guard_local0", "broken", 1, failure="SIGABRT: boom")])["guard_local0"]

    def test_failed_ones_come_last(self):
        self.assertEqual([entry.allocator for entry in summary.ranked(self.entries)],
                         ["ceiling", "fast", "mimalloc", "slow", "jemalloc", "broken"])

    def test_the_best_peer_is_a_peer_without_failures(self):
        self.assertEqual(summary.best_peer(self.entries), 20)

    def test_the_table_shows_all(self):
        text = summary.markdown(sum(([Sample("guard_local0", entry.allocator, 1, ops_per_s=entry.ops or 0,
                                             failure="" if entry.ops else "SIGABRT: boom")]
                                     for entry in self.entries.values()), []), "heading")
        table = text[text.index("## Rows"):]
        line = {row.split("|")[1].strip(): row for row in table.splitlines() if row.startswith("|")}
        self.assertIn("1 of 1 failed: SIGABRT: boom", line["broken"])
        self.assertEqual(line["ceiling"].split("|")[2].strip(), "-")  # no rank
        self.assertEqual(line["jemalloc"].split("|")[2].strip(), "1")
        self.assertEqual(line["mimalloc"].split("|")[9].strip(), "0.25")


class Samples(support.HarnessTest):
    def test_the_file_holds_everything(self):
        original = [Sample("r", "a", 1, "", 1.5, 2, 3, 4, 5.5, 6.5, 7.5), Sample("r", "b", 1, 'exit code 1: "x", y')]
        path = self.directory / "samples.csv"
        samples.write_csv(path, original)
        self.assertEqual(samples.read_csv(path), original)

    def test_the_ceiling_runs_local_rows_only(self):
        plan = list(samples.schedule([Allocator("ceiling", None), Allocator("glibc", None)], ROWS, 1))
        self.assertEqual({row.name for _, row, allocator in plan if allocator.name == "ceiling"},
                         {row.name for row in ROWS if row.name.endswith("_local0")})
        self.assertEqual({row.name for _, row, allocator in plan if allocator.name == "glibc"}, {row.name for row in ROWS})

    def test_the_phase_row_does_not_keep_everything_of_a_long_run(self):
        phase = next(row for row in ROWS if row.name == "medium_phase_r90")
        self.assertEqual(phase.arguments(16, 50000, 0)[3], "1000")
        self.assertEqual(phase.arguments(16, 10, 0)[3], "10")


if __name__ == "__main__":
    unittest.main()

import unittest

import support  # noqa: F401  (finds the modules)

import targets
from summary import Figures

MIB = 1 << 20


def entries(ops=100.0, post=3 * MIB, peak=10 * MIB, failures=()):
    """A row in which the line's bounds are 100 ops/s and 10 MiB of peak."""
    def peer(name, rate, peer_peak):
        return Figures(name, 1, (), rate, rate, rate, 50 * MIB, peer_peak, 1)
    return {
        "hz8": Figures("hz8", 1, tuple(failures), ops, ops, ops, post, peak, 1),
        "mimalloc": peer("mimalloc", 90.0, 30 * MIB), "jemalloc": peer("jemalloc", 100.0, 10 * MIB),
        "glibc": peer("glibc", 80.0, 5 * MIB), "tcmalloc": peer("tcmalloc", 500.0, 20 * MIB)}


def report(*rows):
    return targets.report({f"row{index}": row for index, row in enumerate(rows)}, "hz8")


class Rows(unittest.TestCase):
    def test_on_the_bounds_all_hold(self):
        verdict = targets.judge_row("row", entries(post=4 * MIB), "hz8")
        self.assertTrue(verdict.post_holds() and verdict.speed_holds() and verdict.peak_holds())

    def test_beyond_the_bounds_none_holds(self):
        verdict = targets.judge_row("row", entries(79.9, 4 * MIB + 1, 10 * MIB + 1), "hz8")
        self.assertFalse(verdict.post_holds() or verdict.speed_holds() or verdict.peak_holds())
        self.assertFalse(verdict.speed_floor_holds())

    def test_the_fastest_peer_is_no_bound_and_glibc_bounds_no_memory(self):
        verdict = targets.judge_row("row", entries(), "hz8")
        self.assertEqual((verdict.speed, verdict.peak), (1.0, 1.0))

    def test_a_failed_sample_misses_everything(self):
        verdict = targets.judge_row("row", entries(failures=["timeout"]), "hz8")
        self.assertFalse(verdict.post_holds() or verdict.speed_holds() or verdict.peak_holds())

    def test_nothing_holds_against_peers_that_were_not_measured(self):
        row = entries()
        del row["jemalloc"]
        self.assertFalse(targets.judge_row("row", row, "hz8").speed_holds())


class All(unittest.TestCase):
    def test_two_rows_may_be_a_little_slower(self):
        text, holds = report(*[entries()] * 8, entries(85), entries(80))
        self.assertTrue(holds, text)
        self.assertIn("8 of 10 rows, 8 needed: holds", text)

    def test_not_three(self):
        self.assertFalse(report(*[entries()] * 7, *[entries(85)] * 3)[1])

    def test_not_below_the_floor(self):
        self.assertFalse(report(*[entries()] * 9, entries(79))[1])

    def test_no_row_may_keep_memory(self):
        text, holds = report(*[entries()] * 9, entries(post=5 * MIB))
        self.assertFalse(holds)
        self.assertIn("5.00 MISSED", text)

    def test_nothing_measured_holds_nothing(self):
        self.assertFalse(report()[1])


if __name__ == "__main__":
    unittest.main()

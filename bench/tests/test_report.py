import io
import unittest

import support

from report import allocators, order, ranks, tables
from report.locations import Build, UsageError
from report.progress import Progress


class Ranks(unittest.TestCase):
    def test_the_median_of_an_even_number_is_the_upper_one(self):
        self.assertEqual(ranks.median([10, 1, 9, 2, 8, 3, 7, 4, 6, 5]), 6)

    def test_the_quarter_of_ten_is_the_third(self):
        self.assertEqual(ranks.percentile([10, 1, 9, 2, 8, 3, 7, 4, 6, 5], 0.25), 3)

    def test_ends(self):
        self.assertEqual(ranks.percentile([5, 1, 3], 0), 1)
        self.assertEqual(ranks.percentile([5, 1, 3], 1), 5)
        self.assertEqual(ranks.percentile([7], 0.25), 7)

    def test_nothing_has_no_median(self):
        with self.assertRaises(ValueError):
            ranks.median([])


class Order(unittest.TestCase):
    def test_everyone_is_first_once_and_runs_in_every_round(self):
        items = ["a", "b", "c"]
        rounds = [order.rotated(items, run) for run in range(3)]
        self.assertEqual([first for first, *_ in rounds], items)
        for one in rounds:
            self.assertEqual(sorted(one), items)


class Tables(unittest.TestCase):
    def test_columns_line_up(self):
        lines = tables.markdown(["name", "n"], [["a", 1], ["long name", 1000]]).splitlines()
        self.assertEqual(len({len(line) for line in lines}), 1)
        self.assertEqual(lines[2], "| a         |    1 |")

    def test_numbers(self):
        self.assertEqual(tables.mib(3 << 19), "1.50")
        self.assertEqual(tables.mega(123_456_789), "123.5")
        self.assertEqual(tables.mega(1_234_567), "1.23")
        self.assertEqual(tables.mega(12_345), "0.012")
        self.assertEqual(tables.ratio(None), "-")


class Allocators(unittest.TestCase):
    def setUp(self):
        self.build = Build(support.BUILD)

    def test_names_and_paths(self):
        chosen = allocators.resolve(f"system,ceiling,mine={support.CRASH}", self.build)
        self.assertEqual([one.name for one in chosen], ["glibc", "ceiling", "mine"])
        self.assertIsNone(chosen[0].preload())
        self.assertEqual(chosen[2].preload(), str(support.CRASH))

    def test_what_is_wrong_is_named(self):
        for text, part in (("nosuch", "nosuch"), ("mine=/no/such/file", "/no/such/file"), ("glibc,system", "twice"),
                           (",", "no allocator"), ("a b=/dev/null", "a b")):
            with self.subTest(text), self.assertRaises(UsageError) as caught:
                allocators.resolve(text, self.build)
            self.assertIn(part, str(caught.exception))

    def test_who_serves(self):
        glibc, crash = allocators.resolve(f"glibc,crash={support.CRASH}", self.build)
        self.assertTrue(allocators.served_by(glibc, "/lib/x86_64-linux-gnu/libc.so.6"))
        self.assertFalse(allocators.served_by(glibc, str(support.CRASH)))
        self.assertTrue(allocators.served_by(crash, str(support.CRASH)))
        self.assertFalse(allocators.served_by(crash, "/lib/x86_64-linux-gnu/libc.so.6"))

    def test_the_lines_measured_by_default_are_those_of_the_build(self):
        listed = (support.BUILD / "bench" / "lines.txt").read_text().split()
        self.assertNotIn("bump", listed)
        self.assertLessEqual(set(self.build.lines()), set(listed))


class ProgressLine(unittest.TestCase):
    def test_a_log_is_not_flooded(self):
        stream = io.StringIO()
        progress = Progress(100, stream)
        for number in range(100):
            progress.step(f"sample {number}")
        progress.finish()
        lines = stream.getvalue().splitlines()
        self.assertEqual(lines[0], "[1/100] sample 0")
        self.assertEqual(len(lines), 2)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""The driver itself: it must see every kind of difference, and must not see one where there is none."""
import os
import pathlib
import tempfile
import unittest

import harness


class CompareTest(unittest.TestCase):
    def test_the_same_is_the_same(self):
        harness.compare(["a\n", "b\n"], ["a\n", "b\n"])

    def test_a_difference_is_a_failure_that_shows_it(self):
        with self.assertRaisesRegex(harness.Failure, "-b\n.*\\+c"):
            harness.compare(["a\n", "b\n"], ["a\n", "c\n"])


class RunTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.run_under_test = harness.Run(pathlib.Path(self.directory.name) / "work")

    def tearDown(self):
        self.run_under_test.stop_all()
        self.directory.cleanup()

    def test_output_and_exit_code_are_noted(self):
        self.run_under_test.command("/bin/sh", "-c", "echo text; exit 3", exit_code=3)
        self.assertIn("text\nexit code 3", self.run_under_test.transcript[0])

    def test_another_exit_code_is_a_failure(self):
        with self.assertRaises(harness.Failure):
            self.run_under_test.command("/bin/false")

    def test_a_signal_is_a_failure(self):
        with self.assertRaises(harness.Failure):
            self.run_under_test.command("/bin/sh", "-c", "kill -ABRT $$")

    def test_a_timeout_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "timeout"):
            self.run_under_test.command("/bin/sleep", "10", timeout=0.2)

    def test_a_message_of_the_library_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "double free"):
            self.run_under_test.command("/bin/sh", "-c", "echo 'hakozuna: hz8: double free of 0x10' >&2")

    def test_a_library_that_cannot_be_loaded_is_a_failure(self):
        run = harness.Run(pathlib.Path(self.directory.name) / "other", library="/nonexistent.so")
        with self.assertRaisesRegex(harness.Failure, "ld.so"):
            run.command("/bin/true")
        with self.assertRaises(harness.Failure):
            harness.prove_preload("/bin/true", "/nonexistent.so")

    def test_a_file_is_noted_by_its_contents(self):
        for text in ("a", "b"):
            self.run_under_test.write("file", text)
            self.run_under_test.digest("file")
        self.assertNotEqual(*self.run_under_test.transcript)

    def test_a_server_that_ends_early_is_a_failure(self):
        self.run_under_test.start("/bin/false")
        with self.assertRaisesRegex(harness.Failure, "ended with 1"):
            self.run_under_test.wait_until(lambda: False, "never")


class CaseTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = pathlib.Path(directory.name) / "case"

    def test_a_program_that_is_not_there_is_a_reason_to_skip(self):
        case = harness.Case("x", lambda run: None, ("no-such-program-at-all",))
        with self.assertRaisesRegex(harness.Skip, "not installed"):
            harness.record(case, self.work, False)
        with self.assertRaisesRegex(harness.Skip, "not installed"):
            harness.run_and_compare(case, self.work, "/lib/x.so", False)

    def test_nothing_noted_is_a_failure(self):
        with self.assertRaisesRegex(harness.Failure, "noted nothing"):
            harness.record(harness.Case("x", lambda run: None, ()), self.work, False)

    def test_without_a_record_there_is_nothing_to_compare_with(self):
        case = harness.Case("x", lambda run: run.note("a"), ())
        with self.assertRaisesRegex(harness.Failure, "--record"):
            harness.run_and_compare(case, self.work, None, False)

    def test_what_was_recorded_is_compared(self):
        harness.record(harness.Case("x", lambda run: run.note("a"), ()), self.work, False)
        harness.run_and_compare(harness.Case("x", lambda run: run.note("a"), ()), self.work, None, False)
        with self.assertRaisesRegex(harness.Failure, "-a\n\\+b"):
            harness.run_and_compare(harness.Case("x", lambda run: run.note("b"), ()), self.work, None, False)


if __name__ == "__main__":
    unittest.main()

"""Programs that know nothing of us do the same with a line in them as without, and all their blocks are the line's.

    redirection_test.py --prefix DIR --launcher hakozuna.exe --library hakozuna_LINE.dll --line LINE --programs DIR
"""
import argparse
import os
import shutil
import sys
import tempfile
import unittest

import under_wine

ARGUMENTS = ["plain", "two words", "", 'a "quoted" word', "ends in a backslash\\", 'backslashes \\\\" and quote', "tab\there", "%PATH%", "a^b&c"]


def program(name):
    return os.path.join(options.programs, name)


def run(command, **settings):
    settings.setdefault("timeout", 120)
    return under_wine.run(options.prefix, command, capture_output=True, **settings)


def served(command, **settings):
    return run([options.launcher, "run", "--line", options.line, "--", *command], **settings)


def proofs(outcome):
    lines = [line.strip() for line in outcome.stderr.decode(errors="replace").splitlines()]
    return [line[len("proof: "):].rsplit(": ", 1) for line in lines if line.startswith("proof: ")]


class RedirectionTest(unittest.TestCase):
    def check(self, command, expected_code, least_proofs, **settings):
        without = run(command, **settings)
        self.assertEqual(without.returncode, expected_code, without)
        self.assertEqual({answer for _, answer in proofs(without)}, {"no line"}, "the programs can tell")
        with_line = served(command, **settings)
        self.assertEqual(with_line.stdout, without.stdout)
        self.assertEqual(with_line.returncode, expected_code, with_line)
        self.assertGreaterEqual(len(proofs(with_line)), least_proofs)
        for what, answer in proofs(with_line):
            self.assertEqual(answer, "ours", what)

    def test_c_program(self):
        with tempfile.TemporaryDirectory() as folder:
            self.check([program("c_program.exe"), *ARGUMENTS], 37, 4, cwd=folder, env={"A_VARIABLE": "its value"}, input=b"a line\n")

    def test_cpp_program(self):
        self.check([program("cpp_program.exe")], 5, 3)

    def test_what_is_loaded_late(self):
        self.check([program("late_program.exe")], 9, 4)

    def test_line_that_is_loaded_late(self):
        outcome = run([program("late_program.exe"), "Z:" + options.library.replace("/", "\\")])
        self.assertEqual(outcome.returncode, 9, outcome)
        self.assertEqual({answer for _, answer in proofs(outcome)}, {"ours"})

    def test_options_and_statistics(self):
        outcome = run([options.launcher, "run", "--line", options.line, "--stats=json", "--on-error=report", "--option", "PURGE_DELAY_MS=100",
                       "--", program("cpp_program.exe")])
        self.assertEqual(outcome.returncode, 5, outcome)
        self.assertIn(b'"line": "%s"' % options.line.encode(), outcome.stderr)
        self.assertIn(b'"identity_holds": true', outcome.stderr)

    def test_line_is_listed(self):
        self.assertIn(options.line, run([options.launcher, "list"]).stdout.decode().split())

    def expect_refusal(self, outcome, code, *words):
        self.assertEqual(outcome.returncode, code, outcome)
        message = outcome.stderr.decode(errors="replace").strip()
        self.assertEqual(len(message.splitlines()), 1, message)
        for word in ("hakozuna: ", *words):
            self.assertIn(word, message)

    def test_missing_program(self):
        self.expect_refusal(served(["no_such_program"]), 127, "no_such_program", "not found")
        self.expect_refusal(served([program("no_such_program.exe")]), 127, "not found")

    def test_what_is_no_64_bit_program(self):
        with tempfile.TemporaryDirectory() as folder:
            text = os.path.join(folder, "text.exe")
            with open(text, "w") as file:
                file.write("not a program\n")
            self.expect_refusal(served([text]), 126, "cannot be executed")
            other = os.path.join(folder, "other.exe")
            shutil.copy(program("cpp_program.exe"), other)
            with open(other, "r+b") as file:
                file.seek(0x3c)
                header = int.from_bytes(file.read(4), "little")
                file.seek(header + 4)
                file.write(b"\x4c\x01")  # the machine: i386
            self.expect_refusal(served([other]), 126)

    def test_missing_line(self):
        self.expect_refusal(run([options.launcher, "run", "--line", "hz0", "--", program("cpp_program.exe")]), 125, "hz0")

    def test_line_that_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            for file in (options.launcher, program("cpp_program.exe")):
                shutil.copy(file, folder)
            with open(os.path.join(folder, "hakozuna_hz8.dll"), "w") as file:
                file.write("not a library\n")
            outcome = run([os.path.join(folder, "hakozuna.exe"), "run", "--", os.path.join(folder, "cpp_program.exe")])
            self.expect_refusal(outcome, 125, "does not load")
            self.assertEqual(outcome.stdout, b"", "the program has not run")

    def test_bad_arguments(self):
        for words in (["run"], ["run", "--"], ["run", "--no-such-option", "--", "x"], ["walk"], ["run", "--option", "NONSENSE", "--", "x"]):
            self.expect_refusal(run([options.launcher, *words]), 2)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in ("prefix", "launcher", "library", "line", "programs"):
        parser.add_argument("--" + name, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])

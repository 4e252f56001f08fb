"""What the tests of the harness share. Importing it makes the modules of the runners importable."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BENCH = Path(__file__).resolve().parents[1]
for folder in ("apps", "scenarios", "instructions", "matrix", "."):
    sys.path.insert(0, str(BENCH / folder))

BUILD = Path(os.environ["BENCH_TEST_BUILD"])
LIBRARIES = Path(os.environ["BENCH_TEST_LIBRARIES"])
LAUNCHER = BUILD / "bin" / "bench_launch"
CRASH, HANG, SIZES = (LIBRARIES / f"{name}.so" for name in ("crash", "hang", "sizes"))


def run(*words, **options):
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=100, check=False, **options)


class HarnessTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def assert_usage_error(self, result, *parts):
        """One line on stderr that holds `parts`, nothing on stdout, exit code 2."""
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

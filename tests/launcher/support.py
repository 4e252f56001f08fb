"""What the tests of the launcher share: where things are, and running the command."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

COMMAND = Path(os.environ["LAUNCHER_TEST_COMMAND"])
HELPER = Path(os.environ["LAUNCHER_TEST_HELPER"])
FILES = Path(os.environ["LAUNCHER_TEST_FILES"])
LINES = FILES / "lines"
PROGRAMS = FILES / "programs"
BEHAVE = PROGRAMS / "behave"
STATIC = PROGRAMS / "behave_static"
PLAIN = LINES / "libhakozuna_plain.so"


def environment(**changes):
    """The environment of the test without what would lead the launcher elsewhere; a change to None removes."""
    result = {name: value for name, value in os.environ.items()
              if not name.startswith(("HAKOZUNA_", "LD_", "LAUNCHER_TEST_"))}
    result["HAKOZUNA_LIBRARY_DIR"] = str(LINES)
    result.update({name: str(value) for name, value in changes.items() if value is not None})
    for name in [name for name, value in changes.items() if value is None]:
        result.pop(name, None)
    return result


def hakozuna(*words, command=COMMAND, env=None, **options):
    options.setdefault("stdin", subprocess.DEVNULL if "input" not in options else None)
    if options["stdin"] is None:
        del options["stdin"]
    return subprocess.run([str(command), *map(str, words)], env=env or environment(),
                          capture_output=True, text=True, timeout=60, **options)


class LauncherTest(unittest.TestCase):
    def assert_one_line(self, result, exit_code, *parts):
        """A failure as it must look: that exit code, one line on stderr that holds the parts, nothing on stdout."""
        self.assertEqual(result.returncode, exit_code, result.stderr)
        self.assertEqual(result.stdout, "")
        self.assertTrue(result.stderr.startswith("hakozuna: "), result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for part in parts:
            self.assertIn(part, result.stderr)

    def temporary_directory(self):
        directory = Path(tempfile.mkdtemp(prefix="launcher-test-"))
        self.addCleanup(shutil.rmtree, directory)
        return directory

    def installed_tree(self, readable_by_all=False):
        """A copy of the launcher, its helper and one line as they lie when installed; the command in it."""
        root = self.temporary_directory()
        for source, folder in ((COMMAND, "bin"), (HELPER, "libexec/hakozuna"), (PLAIN, "lib")):
            (root / folder).mkdir(parents=True)
            shutil.copy2(source, root / folder)
        if readable_by_all:
            root.chmod(0o755)
        return root / "bin" / COMMAND.name

    def script(self, text, name="script"):
        path = self.temporary_directory() / name
        path.write_text(text)
        path.chmod(0o755)
        return path

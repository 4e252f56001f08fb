"""hakozuna doctor on programs that gain privileges. Only root can make such programs; the verdict is checked against what the
loader really does."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from support import BEHAVE, LauncherTest, environment, hakozuna

NOBODY = 65534


def privileges_work():
    """Whether this user and the file system of the temporary directory allow set-id programs at all."""
    return os.geteuid() == 0 and not os.statvfs(tempfile.gettempdir()).f_flag & os.ST_NOSUID


@unittest.skipUnless(privileges_work(), "needs root and a file system that honours set-id bits")
class SecureExecution(LauncherTest):
    def setUp(self):
        self.command = self.installed_tree(readable_by_all=True)
        self.program = self.command.parent / "program"
        shutil.copy(BEHAVE, self.program)
        self.program.chmod(0o755)

    def as_user(self, user, *words):
        return hakozuna(*words, command=self.command, env=environment(HAKOZUNA_LIBRARY_DIR=None), cwd="/",
                        user=user, group=user, extra_groups=[])

    def check(self, user, served, *parts):
        """The doctor's verdict, and that it is the truth."""
        verdict = self.as_user(user, "doctor", "--line", "plain", "--", self.program)
        self.assertEqual(verdict.returncode, 0 if served else 1, verdict.stdout + verdict.stderr)
        for part in parts:
            self.assertIn(part, verdict.stdout)
        run = self.as_user(user, "run", "--line", "plain", "--", self.program, "line")
        self.assertEqual(run.stdout, "plain\n" if served else "system\n")

    def test_a_plain_program_is_served(self):
        self.check(0, True)
        self.check(NOBODY, True)

    def test_setuid(self):
        os.chown(self.program, NOBODY, -1)
        self.program.chmod(0o4755)
        self.check(0, False, f"setuid to user {NOBODY}", "ignores LD_PRELOAD")
        # Its owner gains nothing by it.
        self.check(NOBODY, True, "gains no privileges")

    def test_setgid(self):
        os.chown(self.program, -1, NOBODY)
        self.program.chmod(0o2755)
        self.check(0, False, f"setgid to group {NOBODY}")

    @unittest.skipUnless(shutil.which("setcap", path="/usr/sbin:/sbin:/usr/bin"), "needs setcap")
    def test_file_capabilities(self):
        setcap = shutil.which("setcap", path="/usr/sbin:/sbin:/usr/bin")
        if subprocess.run([setcap, "cap_net_bind_service+ep", self.program], capture_output=True).returncode:
            self.skipTest("the file system has no capabilities")
        self.check(NOBODY, False, "file capabilities", "AmbientCapabilities")
        self.check(0, True, "gains no privileges")

    def test_set_id_bits_of_a_script_do_not_count(self):
        self.program.write_text(f"#!{self.program.parent / 'interpreter'}\n")
        shutil.copy(BEHAVE, Path(self.program.parent / "interpreter"))
        os.chown(self.program, NOBODY, -1)
        self.program.chmod(0o4755)
        verdict = self.as_user(0, "doctor", "--line", "plain", "--", self.program)
        self.assertEqual(verdict.returncode, 0, verdict.stdout)


if __name__ == "__main__":
    unittest.main()

"""hakozuna list: what is installed."""

import json
import shutil
import unittest

from support import FILES, PLAIN, LauncherTest, environment, hakozuna


class List(LauncherTest):
    def listing(self, **changes):
        result = hakozuna("list", "--json", env=environment(**changes))
        return json.loads(result.stdout)

    def test_lines_with_version_path_and_purpose(self):
        lines = {line["name"]: line for line in self.listing()["lines"]}
        self.assertEqual(set(lines), {"plain", "slow", "large"})
        self.assertEqual(lines["plain"]["path"], str(PLAIN))
        self.assertEqual(lines["plain"]["version"], "1.2.3")
        self.assertTrue(lines["plain"]["purpose"].endswith("."))

    def test_the_table_holds_the_same(self):
        result = hakozuna("list")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        row = next(line for line in result.stdout.splitlines() if line.startswith("plain"))
        self.assertIn("1.2.3", row)
        self.assertIn(str(PLAIN), row)

    def test_the_default_line_comes_first_and_names_without_version_are_preferred(self):
        directory = self.temporary_directory()
        for name in ("libhakozuna_aa.so.1", "libhakozuna_hz8.so.0.1.0", "libhakozuna_hz8.so", "libhakozuna_hz8.a"):
            shutil.copy(PLAIN, directory / name)
        (directory / "libhakozuna_dangling.so").symlink_to(directory / "nothing")
        lines = self.listing(HAKOZUNA_LIBRARY_DIR=directory)["lines"]
        self.assertEqual([line["path"] for line in lines],
                         [str(directory / "libhakozuna_hz8.so"), str(directory / "libhakozuna_aa.so.1")])
        self.assertNotEqual(lines[0]["purpose"], lines[1]["purpose"])

    def test_a_library_that_does_not_load_is_told(self):
        directory = self.temporary_directory()
        (directory / "libhakozuna_bad.so").write_text("no library")
        (line,) = self.listing(HAKOZUNA_LIBRARY_DIR=directory)["lines"]
        self.assertEqual(line["version"], "does not load")

    def test_a_library_that_does_not_say_its_version(self):
        (line,) = self.listing(HAKOZUNA_LIBRARY_DIR=FILES / "broken")["lines"]
        self.assertEqual(line["version"], "unknown")

    def test_no_line(self):
        result = hakozuna("list", env=environment(HAKOZUNA_LIBRARY_DIR=self.temporary_directory()))
        self.assertEqual(result.returncode, 1)
        self.assertIn("No line found in", result.stdout)

    def test_peers_in_the_library_path_come_first_and_other_architectures_do_not_count(self):
        directory = self.temporary_directory()
        shutil.copy(PLAIN, directory / "libjemalloc.so.7.1")
        (directory / "libjemalloc.so").symlink_to("libjemalloc.so.7.1")
        foreign = bytearray(PLAIN.read_bytes())
        foreign[18] ^= 0xFF  # the machine
        (directory / "libmimalloc.so.9").write_bytes(foreign)
        peers = {peer["name"]: peer for peer in self.listing(LD_LIBRARY_PATH=directory)["peers"]}
        self.assertEqual(peers["jemalloc"]["version"], "7.1")
        self.assertTrue(peers["jemalloc"]["path"].startswith(str(directory)))
        self.assertFalse(peers.get("mimalloc", {}).get("path", "").startswith(str(directory)))

    def test_bad_arguments(self):
        self.assert_one_line(hakozuna("list", "--", "true"), 2, "list")
        self.assert_one_line(hakozuna("list", "everything"), 2, "everything")


if __name__ == "__main__":
    unittest.main()

"""hakozuna compare: measures, keeps order, sees different behaviour, and applies its rule."""

import json
import os
import pty
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from support import BEHAVE, COMMAND, PLAIN, PROGRAMS, LauncherTest, environment, hakozuna


def compare(*words, lines="plain", runs=1, json_output=True, options=(), **keywords):
    return hakozuna("compare", "--lines", lines, "--runs", runs, *(["--json"] if json_output else []), *options,
                    "--", *words, **keywords)


class Measuring(LauncherTest):
    def rows(self, result):
        self.assertIn(result.returncode, (0, 1), result.stderr)
        return {row["name"]: row for row in json.loads(result.stdout)["allocators"]}

    def test_wall_and_cpu_time(self):
        median = self.rows(compare(BEHAVE, "pause", "300"))["system"]["median"]
        self.assertGreaterEqual(median["wall_ms"], 300)
        self.assertLess(median["cpu_ms"], 150)

    def test_peak_memory_and_faults_are_the_programs_own(self):
        small = self.rows(compare(BEHAVE, "touch", "0"))["system"]["median"]
        large = self.rows(compare(BEHAVE, "touch", "32"))["system"]["median"]
        # The launcher itself peaks higher than this: nothing of that may show.
        self.assertLess(small["peak_rss_mib"], 3)
        self.assertGreater(large["peak_rss_mib"], 32)
        self.assertLess(large["peak_rss_mib"], 36)
        # Faults may come a huge page at a time.
        self.assertGreaterEqual(large["minor_faults"], small["minor_faults"] + 16)

    def test_the_launcher_peaks_higher_than_a_small_program(self):
        # What makes the test above mean something.
        with subprocess.Popen([COMMAND, "list"], env=environment(), stdout=subprocess.DEVNULL) as process:
            _, _, usage = os.wait4(process.pid, 0)
            process.returncode = 0
        self.assertGreater(usage.ru_maxrss, 3 * 1024)

    def test_children_are_counted(self):
        median = self.rows(compare("/bin/sh", "-c", f"'{BEHAVE}' touch 32; true"))["system"]["median"]
        self.assertGreater(median["peak_rss_mib"], 32)

    def test_every_allocator_really_serves(self):
        result = compare("/bin/sh", "-c", f"'{BEHAVE}' line | grep -q plain", lines="plain,large", runs=2)
        ended = {name: {sample["ended"] for sample in row["samples"]} for name, row in self.rows(result).items()}
        self.assertEqual(ended, {"system": {"exit code 1"}, "plain": {"exit code 0"}, "large": {"exit code 1"}})

    def test_the_system_allocator_is_the_systems_also_under_run(self):
        result = hakozuna("run", "--line", "large", "--", COMMAND, "compare", "--lines", "plain", "--runs", "1",
                          "--json", "--", "/bin/sh", "-c", f"test $('{BEHAVE}' line) = system")
        self.assertEqual(self.rows(result)["system"]["samples"][0]["ended"], "exit code 0")

    def test_each_run_reads_a_file_on_standard_input_from_the_beginning(self):
        with tempfile.TemporaryFile("w+") as file:
            file.write("needle\n")
            file.flush()
            file.seek(0)
            rows = self.rows(compare("grep", "-q", "needle", runs=2, stdin=file))
        for row in rows.values():
            self.assertEqual([sample["ended"] for sample in row["samples"]], ["exit code 0"] * 2)

    def test_other_standard_input_is_not_passed_on(self):
        self.assertEqual(self.rows(compare("cat", input="text"))["plain"]["samples"][0]["ended"], "exit code 0")

    def test_peers(self):
        directory = self.temporary_directory()
        (directory / "libjemalloc.so.2").write_bytes(PLAIN.read_bytes())
        rows = self.rows(compare(BEHAVE, "exit-if-served", options=["--peers"],
                                 env=environment(LD_LIBRARY_PATH=directory)))
        self.assertEqual(rows["jemalloc"]["kind"], "peer")
        self.assertEqual(rows["jemalloc"]["samples"][0]["ended"], "exit code 3")

    def test_all_lines_by_default(self):
        result = hakozuna("compare", "--runs", "1", "--json", "--", "true")
        self.assertEqual(set(self.rows(result)), {"system", "plain", "slow", "large"})


class Progress(LauncherTest):
    def test_plain_lines_with_the_order_rotated_where_there_is_no_terminal(self):
        result = compare("true", lines="plain,large", runs=3)
        self.assertEqual(result.stderr.splitlines(), [
            "[1/10] rehearsal: system",
            "[2/10] run 1 of 3: system", "[3/10] run 1 of 3: plain", "[4/10] run 1 of 3: large",
            "[5/10] run 2 of 3: plain", "[6/10] run 2 of 3: large", "[7/10] run 2 of 3: system",
            "[8/10] run 3 of 3: large", "[9/10] run 3 of 3: system", "[10/10] run 3 of 3: plain"])

    def test_one_line_that_is_rewritten_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = subprocess.Popen([COMMAND, "compare", "--lines", "plain", "--runs", "1", "--", "true"],
                                   env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=theirs)
        os.close(theirs)
        self.assertEqual(process.wait(timeout=60), 0)
        shown = b""
        try:
            while piece := os.read(ours, 4096):
                shown += piece
        except OSError:
            pass  # the end of a terminal
        os.close(ours)
        self.assertNotIn(b"\n", shown)
        self.assertEqual(shown.count(b"["), 3 + 4)  # three steps; each and the end clear the line by ESC [ K
        self.assertTrue(shown.endswith(b"\r\033[K"))


class Behaviour(LauncherTest):
    def differences(self, *words, **keywords):
        result = compare(*words, **keywords)
        report = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1 if report["differences"] else 0)
        return report

    def test_the_same(self):
        report = self.differences("echo", "same")
        self.assertEqual((report["differences"], report["not_compared"]), ([], []))

    def test_a_failure_under_every_allocator_is_no_difference(self):
        self.assertEqual(self.differences("false")["differences"], [])

    def test_another_exit_code(self):
        report = self.differences(BEHAVE, "exit-if-served")
        self.assertEqual(report["differences"],
                         [{"allocator": "plain", "what": "exit code 3 (system exit code 0)"}])
        self.assertIsNone(report["line"])

    def test_a_signal(self):
        (difference,) = self.differences(BEHAVE, "abort-if-served")["differences"]
        self.assertIn("killed by signal 6", difference["what"])

    def test_other_output(self):
        (difference,) = self.differences(BEHAVE, "line")["differences"]
        self.assertEqual(difference["what"], "standard output differs (6 bytes, system 7 bytes)")
        (difference,) = self.differences(BEHAVE, "complain-if-served")["differences"]
        self.assertEqual(difference["what"], "standard error differs (19 bytes, system 0 bytes)")

    def test_output_that_always_varies(self):
        report = self.differences(BEHAVE, "process-number")
        self.assertEqual((report["differences"], report["not_compared"]), ([], ["standard output"]))

    def test_statistics_of_the_line_are_not_taken_for_output(self):
        result = compare("/bin/sh", "-c", "echo stats=$HAKOZUNA_STATS | grep -qx stats=",
                         env=environment(HAKOZUNA_STATS="text"))
        self.assertEqual(json.loads(result.stdout)["allocators"][0]["samples"][0]["ended"], "exit code 0")


class Rule(LauncherTest):
    def test_time_decides_where_it_differs(self):
        report = json.loads(compare(BEHAVE, "pause", "100", lines="slow,large", runs=3).stdout)
        self.assertEqual(report["line"], "large")

    def test_the_line_named_is_the_one_the_rule_gives(self):
        report = json.loads(compare(BEHAVE, "pause", "500", lines="large,plain", runs=3).stdout)
        medians = {row["name"]: row["median"] for row in report["allocators"] if row["kind"] == "line"}
        fastest = min(median["wall_ms"] for median in medians.values())
        equal = {name: median["peak_rss_mib"] for name, median in medians.items()
                 if median["wall_ms"] <= fastest * 1.03}
        self.assertGreater(medians["large"]["peak_rss_mib"], medians["plain"]["peak_rss_mib"] + 4)
        self.assertEqual(report["line"], min(equal, key=equal.get))

    def test_a_line_that_loses_to_the_system_allocator_is_not_recommended(self):
        result = compare(BEHAVE, "pause", "100", lines="slow", runs=3, json_output=False)
        self.assertIn("No line suits this program better than the system allocator; the nearest is slow", result.stdout)
        report = json.loads(compare(BEHAVE, "pause", "100", lines="slow", runs=3).stdout)
        self.assertFalse(report["better_than_system"])
        self.assertGreater(report["time_ratio"], 1.5)

    def test_the_rule_is_documented(self):
        self.assertIn("within 3 % of the fastest", hakozuna("compare", "--help").stdout)


class Table(LauncherTest):
    def test_the_table(self):
        result = compare(BEHAVE, "exit-if-served", lines="plain", runs=2, json_output=False)
        lines = result.stdout.splitlines()
        self.assertRegex(lines[0], r"^allocator +wall ms +fastest +CPU ms +peak RSS MiB +minor faults +exit$")
        self.assertRegex(lines[1], r"^system +\d+\.\d +\d+\.\d +\d+\.\d +\d+\.\d\d +[\d,]+ +0$")
        self.assertRegex(lines[2], r"^plain .* 3$")
        self.assertEqual(len({len(line) for line in lines[:3]}), 1)
        self.assertIn("Medians of 2 runs each, in turn.", lines)
        self.assertIn("DIFFERENT under plain: exit code 3 (system exit code 0).", lines)
        self.assertIn("No line can be recommended", lines[-1])


class Failing(LauncherTest):
    def test_bad_arguments(self):
        for words, part in ((["--runs", "0", "--", "true"], "--runs"), (["--runs", "many", "--", "true"], "many"),
                            (["--lines", "hz99", "--", "true"], "hz99"), ([], "compare"),
                            (["--fast", "--", "true"], "--fast")):
            with self.subTest(words=words):
                self.assert_one_line(hakozuna("compare", *words), 2, part)

    def test_a_program_that_cannot_be_started(self):
        self.assert_one_line(compare("no-such-program"), 127, "no-such-program")
        self.assert_one_line(compare("/etc/passwd"), 126, "/etc/passwd")

    def test_a_program_that_cannot_be_served(self):
        self.assert_one_line(compare(PROGRAMS / "own_malloc"), 1, "defines malloc itself", "hakozuna doctor")

    def test_no_library(self):
        empty = self.temporary_directory()
        result = hakozuna("compare", "--", "true", env=environment(HAKOZUNA_LIBRARY_DIR=empty))
        self.assert_one_line(result, 125, str(empty))

    def test_nothing_is_left_running_when_the_launcher_is_killed(self):
        pid_file = self.temporary_directory() / "pid"
        process = subprocess.Popen(
            [COMMAND, "compare", "--lines", "plain", "--", "/bin/sh", "-c",
             f"echo $$ > '{pid_file}.new'; mv '{pid_file}.new' '{pid_file}'; exec sleep 60"],
            env=environment(), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while not pid_file.exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        program = Path("/proc") / pid_file.read_text().strip()
        process.send_signal(signal.SIGKILL)
        process.wait(timeout=60)
        while self.is_running(program) and time.monotonic() < deadline:
            time.sleep(0.01)
        self.assertFalse(self.is_running(program))

    @staticmethod
    def is_running(process):
        try:  # a zombie that its new parent has not waited for has ended
            return (process / "stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False


if __name__ == "__main__":
    unittest.main()

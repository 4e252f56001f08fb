"""hakozuna run: the program is served and is otherwise left alone."""

import os
import signal
import subprocess
import unittest

from support import BEHAVE, COMMAND, LINES, PLAIN, LauncherTest, environment, hakozuna


def run(*words, **options):
    return hakozuna("run", "--line", "plain", "--", *words, **options)


class Passing(LauncherTest):
    def test_the_line_serves_the_program(self):
        self.assertEqual(run(BEHAVE, "line").stdout, "plain\n")
        self.assertEqual(hakozuna("run", "--line", "large", "--", BEHAVE, "line").stdout, "large\n")

    def test_the_line_serves_the_programs_that_the_program_starts(self):
        self.assertEqual(run("/bin/sh", "-c", f"'{BEHAVE}' line; true").stdout, "plain\n")

    def test_exit_codes(self):
        for code in (0, 1, 2, 42, 125, 126, 127, 255):
            result = run(BEHAVE, "exit", code)
            self.assertEqual((result.returncode, result.stderr), (code, ""))

    def test_death_by_a_signal_of_its_own(self):
        self.assertEqual(run(BEHAVE, "signal").returncode, -signal.SIGABRT)

    def test_the_program_is_the_process_that_was_started(self):
        process = subprocess.Popen([COMMAND, "run", "--line", "plain", "--", BEHAVE, "process-number"],
                                   env=environment(), stdout=subprocess.PIPE, text=True)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(int(output), process.pid)

    def test_signals_from_outside_reach_it(self):
        for number in (signal.SIGTERM, signal.SIGUSR1):
            process = subprocess.Popen(
                [COMMAND, "run", "--line", "plain", "--", "/bin/sh", "-c", "echo ready; exec sleep 60"],
                env=environment(), stdout=subprocess.PIPE)
            with process.stdout:
                process.stdout.readline()
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=60), -number)

    def test_arguments_arrive_as_they_are(self):
        words = ["two words", "", "-x", "--line", "hz3", "--", "--help", "*", "$HOME", "\"'\\", "\u00e9", "a\nb"]
        self.assertEqual(run(BEHAVE, "arguments", *words).stdout, "".join(f"<{word}>" for word in words))

    def test_standard_input_and_error_are_the_programs(self):
        self.assertEqual(run("cat", input="one\ntwo\n").stdout, "one\ntwo\n")
        self.assertEqual(run("/bin/sh", "-c", "echo wrong >&2").stderr, "wrong\n")

    def test_open_descriptors_and_directory_are_kept(self):
        reading, writing = os.pipe()
        os.write(writing, b"kept\n")
        os.close(writing)
        directory = self.temporary_directory().resolve()
        result = run("/bin/sh", "-c", f"cat <&{reading}; pwd -P", pass_fds=[reading], cwd=directory)
        os.close(reading)
        self.assertEqual(result.stdout, f"kept\n{directory}\n")

    def test_a_script_without_an_interpreter_line_runs_as_in_a_shell(self):
        self.assertEqual(run(self.script("echo $((6 * 7))\n")).stdout, "42\n")


class Preload(LauncherTest):
    def preload(self, before, line="plain"):
        return hakozuna("run", "--line", line, "--", "printenv", "LD_PRELOAD",
                        env=environment(LD_PRELOAD=before)).stdout.strip()

    def test_it_is_alone_where_nothing_was(self):
        self.assertEqual(self.preload(None), str(PLAIN))

    def test_it_comes_before_what_was_there(self):
        self.assertEqual(self.preload("libm.so.6:libdl.so.2"), f"{PLAIN}:libm.so.6:libdl.so.2")

    def test_another_line_gives_way_to_it(self):
        before = f"{LINES}/libhakozuna_large.so:libm.so.6"
        self.assertEqual(self.preload(before), f"{PLAIN}:libm.so.6")

    def test_run_inside_run_uses_the_inner_line(self):
        result = run(COMMAND, "run", "--line", "large", "--", BEHAVE, "line")
        self.assertEqual(result.stdout, "large\n")


class Options(LauncherTest):
    def variables(self, *words):
        result = hakozuna("run", "--line", "plain", *words, "--", "env")
        self.assertEqual(result.returncode, 0, result.stderr)
        return {name: value for name, _, value in (line.partition("=") for line in result.stdout.splitlines())
                if name.startswith("HAKOZUNA_") and name != "HAKOZUNA_LIBRARY_DIR"}

    def test_nothing_is_set_that_was_not_asked_for(self):
        self.assertEqual(self.variables(), {})

    def test_stats(self):
        self.assertEqual(self.variables("--stats"), {"HAKOZUNA_STATS": "text"})
        self.assertEqual(self.variables("--stats=text"), {"HAKOZUNA_STATS": "text"})
        self.assertEqual(self.variables("--stats=json"), {"HAKOZUNA_STATS": "json"})

    def test_on_error(self):
        for value in ("abort", "report", "ignore"):
            self.assertEqual(self.variables("--on-error", value), {"HAKOZUNA_ON_ERROR": value})

    def test_other_options(self):
        self.assertEqual(
            self.variables("--option", "PURGE_DELAY_MS=100", "--option", "HAKOZUNA_LIMIT=1GiB", "--option", "X=a=b"),
            {"HAKOZUNA_PURGE_DELAY_MS": "100", "HAKOZUNA_LIMIT": "1GiB", "HAKOZUNA_X": "a=b"})

    def test_bad_arguments(self):
        for words, part in (
                (["run", "--on-error", "explode", "--", "true"], "explode"),
                (["run", "--stats=xml", "--", "true"], "xml"),
                (["run", "--option", "PURGE", "--", "true"], "PURGE"),
                (["run", "--option", "=3", "--", "true"], "=3"),
                (["run", "--option", "a b=3", "--", "true"], "a b=3"),
                (["run", "--option"], "--option"),
                (["run", "--colour", "--", "true"], "--colour"),
                (["run", "true"], "true"),
                (["run"], "write -- before it"),
                (["run", "--"], "write -- before it"),
                (["walk", "--", "true"], "walk"),
                (["--", "true"], "subcommand is required"),
                ([], "subcommand is required")):
            # A bad line name must not hide what is tested here.
            if words[:1] == ["run"]:
                words = ["run", "--line", "plain", *words[1:]]
            with self.subTest(words=words):
                self.assert_one_line(hakozuna(*words), 2, part)

    def test_a_line_that_is_not_there(self):
        self.assert_one_line(hakozuna("run", "--line", "hz99", "--", "true"), 2, "hz99", "plain", str(LINES))


class Failing(LauncherTest):
    def test_a_missing_program(self):
        self.assert_one_line(run("no-such-program-anywhere"), 127, "no-such-program-anywhere: not found")
        self.assert_one_line(run("/no/such/program"), 127, "/no/such/program: not found")
        self.assert_one_line(run(""), 127, "not found")

    def test_a_missing_program_where_a_directory_of_path_may_not_be_searched(self):
        command = self.installed_tree(readable_by_all=True)
        closed = self.temporary_directory()
        closed.chmod(0)
        anybody = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
        result = hakozuna("run", "--line", "plain", "--", "no-such-program", command=command, cwd="/",
                          env=environment(HAKOZUNA_LIBRARY_DIR=None, PATH=f"/usr/bin:{closed}"), **anybody)
        self.assert_one_line(result, 127, "no-such-program: not found")

    def test_a_script_whose_interpreter_is_missing(self):
        self.assert_one_line(run(self.script("#!/no/such/interpreter\n")), 127, "interpreter")

    def test_what_cannot_be_executed(self):
        file = self.temporary_directory() / "data"
        file.write_text("data")
        self.assert_one_line(run(file), 126, str(file))
        self.assert_one_line(run("/"), 126)

    def test_no_library(self):
        empty = self.temporary_directory()
        result = hakozuna("run", "--", "true", env=environment(HAKOZUNA_LIBRARY_DIR=empty))
        self.assert_one_line(result, 125, str(empty), "HAKOZUNA_LIBRARY_DIR")

    def test_a_path_that_cannot_be_preloaded(self):
        directory = self.temporary_directory() / "with space"
        directory.mkdir()
        (directory / PLAIN.name).symlink_to(PLAIN)
        result = hakozuna("run", "--line", "plain", "--", "true",
                          env=environment(HAKOZUNA_LIBRARY_DIR=directory))
        self.assert_one_line(result, 125, "with space")


class Finding(LauncherTest):
    def test_libraries_beside_the_launcher_wherever_that_lies(self):
        command = self.installed_tree()
        link = self.temporary_directory() / "link"
        link.symlink_to(command)
        for name in (command, link):
            result = hakozuna("run", "--line", "plain", "--", "printenv", "LD_PRELOAD", command=name,
                              env=environment(HAKOZUNA_LIBRARY_DIR=None))
            self.assertEqual(result.stdout.strip(), str(command.parent.parent / "lib" / PLAIN.name))

    def test_a_relative_directory_becomes_absolute(self):
        result = hakozuna("run", "--line", "plain", "--", "printenv", "LD_PRELOAD", cwd=LINES.parent,
                          env=environment(HAKOZUNA_LIBRARY_DIR="lines"))
        self.assertEqual(result.stdout.strip(), str(PLAIN))


class Help(LauncherTest):
    def test_help_and_version(self):
        for words in (["--help"], ["run", "--help"], ["doctor", "--help"], ["compare", "--help"], ["list", "--help"]):
            result = hakozuna(*words)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertIn("Usage: hakozuna", result.stdout)
        self.assertIn("hakozuna run -- ./server", hakozuna("run", "--help").stdout)
        self.assertRegex(hakozuna("--version").stdout, r"^hakozuna \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()

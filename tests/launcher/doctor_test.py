"""hakozuna doctor: every reason why a program cannot be served is named, and service is proved."""

import os
import re
import shutil
import unittest

from support import BEHAVE, FILES, PLAIN, PROGRAMS, STATIC, LauncherTest, environment, hakozuna

MACHINE_OFFSET = 18  # e_machine in an ELF header, two bytes
CLASS_OFFSET = 4     # EI_CLASS, 1 = 32 bits
MACHINE_386 = 3
MACHINE_OTHER = {"x86_64": (183, "arm64"), "aarch64": (62, "x86-64")}


def doctor(*words, line="plain", **options):
    return hakozuna("doctor", "--line", line, "--", *words, **options)


class DoctorTest(LauncherTest):
    def assert_served(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("verdict   served by plain", result.stdout)
        self.assertRegex(result.stdout, r"proof +the loader put libhakozuna_plain\.so first")

    def assert_not_served(self, result, *parts):
        self.assertEqual((result.returncode, result.stderr), (1, ""), result.stdout)
        self.assertIn("verdict   not served", result.stdout)
        self.assertIn("  to do   ", result.stdout)
        self.assertNotIn("\nproof", result.stdout)
        for part in parts:
            self.assertIn(part, result.stdout)

    def changed_copy(self, change, source=BEHAVE):
        """A copy of a binary with its bytes changed by a function."""
        path = self.temporary_directory() / source.name
        path.write_bytes(change(bytearray(source.read_bytes())))
        path.chmod(0o755)
        return path

    def with_loader(self, loader):
        """A program that asks for another dynamic loader."""
        def change(data):
            match = re.search(rb"/lib[^\0]*/ld-linux[^\0]*\0", data)
            self.assertIsNotNone(match)
            self.assertLessEqual(len(loader), len(match.group()) - 1)
            data[match.start():match.end()] = loader.encode().ljust(len(match.group()), b"\0")
            return data
        return self.changed_copy(change)


class Served(DoctorTest):
    def test_a_dynamic_program_and_its_code_does_not_run(self):
        marker = self.temporary_directory() / "marker"
        self.assert_served(doctor("touch", marker))
        self.assertFalse(marker.exists())

    def test_a_program_without_any_use_of_malloc_of_its_own(self):
        self.assert_served(doctor(BEHAVE))

    def test_a_script_counts_as_its_interpreter(self):
        script = self.script("#!/bin/sh\nexit 1\n")
        result = doctor(script)
        self.assert_served(result)
        self.assertIn(f"script    {script}, run by /bin/sh", result.stdout)

    def test_a_script_run_by_env(self):
        result = doctor(self.script("#!/usr/bin/env -S A=1 perl -w\n"))
        self.assert_served(result)
        self.assertIn("run by perl", result.stdout)

    def test_a_script_without_an_interpreter_line(self):
        self.assertIn("run by /bin/sh", doctor(self.script("exit 0\n")).stdout)

    def test_what_else_is_preloaded_stays(self):
        self.assert_served(doctor(BEHAVE, env=environment(LD_PRELOAD="libm.so.6")))

    def test_a_program_linked_with_another_allocator_still_gets_our_malloc(self):
        directory = self.temporary_directory()
        library = directory / "libjemalloc.so.2"
        shutil.copy(PLAIN, library)
        result = doctor(BEHAVE, env=environment(LD_PRELOAD=library))
        self.assert_served(result)
        self.assertIn("it also loads libjemalloc.so.2", result.stdout)


class NotServed(DoctorTest):
    @unittest.skipUnless(STATIC.exists(), "no static C library on this system")
    def test_a_static_binary(self):
        self.assert_not_served(doctor(STATIC), "static binary", "libhakozuna_<line>.a")

    def test_musl(self):
        program = self.with_loader(f"/lib/ld-musl-{os.uname().machine}.so.1")
        self.assert_not_served(doctor(program), "musl", "glibc")

    def test_another_loader(self):
        self.assert_not_served(doctor(self.with_loader("/system/bin/linker64")), "linker64 is not glibc's")

    def test_a_loader_that_is_missing(self):
        self.assert_not_served(doctor(self.with_loader("/lib/ld-linux-none.so.9")), "ld-linux-none.so.9 is not on")

    def test_another_architecture(self):
        machine, name = MACHINE_OTHER[os.uname().machine]
        def change(data):
            data[MACHINE_OFFSET] = machine
            return data
        self.assert_not_served(doctor(self.changed_copy(change)), f"a binary for {name}")

    def test_a_32_bit_binary(self):
        def change(data):
            data[CLASS_OFFSET] = 1
            data[MACHINE_OFFSET] = MACHINE_386
            return data
        self.assert_not_served(doctor(self.changed_copy(change)), "a binary for 32-bit x86")

    def test_a_damaged_binary(self):
        self.assert_not_served(doctor(self.changed_copy(lambda data: data[:len(data) // 2])), "damaged")
        self.assert_not_served(doctor(self.changed_copy(lambda data: data[:20])))

    def test_neither_binary_nor_script(self):
        self.assert_not_served(doctor(self.changed_copy(lambda data: b"\0" * 100)), "neither")

    def test_a_malloc_of_its_own(self):
        self.assert_not_served(doctor(PROGRAMS / "own_malloc"), "defines malloc itself", "MALLOC=libc")

    def test_an_allocator_under_names_of_its_own(self):
        self.assert_not_served(doctor(PROGRAMS / "own_names"), "jemalloc", "je_malloc")

    def test_a_sanitizer(self):
        program = self.changed_copy(lambda data: data.replace(b"libc.so.6\0", b"libasan.8\0"))
        self.assert_not_served(doctor(program), "built with a sanitizer (libasan.8)", "-fsanitize")

    def test_a_missing_program(self):
        self.assert_not_served(doctor("no-such-program"), "'no-such-program' is not found in any directory of PATH")
        self.assert_not_served(doctor("./no-such-program"), "'./no-such-program' is not found")

    def test_a_file_without_permission(self):
        path = self.script("#!/bin/sh\n")
        path.chmod(0o644)
        self.assert_not_served(doctor(path), "may execute", "chmod +x")
        self.assert_not_served(doctor("/"), "may execute")

    def test_a_script_with_a_missing_interpreter(self):
        self.assert_not_served(doctor(self.script("#!/no/such/interpreter\n")),
                               "its interpreter '/no/such/interpreter' is not found")

    @unittest.skipUnless(STATIC.exists(), "no static C library on this system")
    def test_a_script_with_a_static_interpreter(self):
        self.assert_not_served(doctor(self.script(f"#!{STATIC}\n")), "script ", "static binary")

    def test_a_script_that_clears_the_environment(self):
        self.assert_not_served(doctor(self.script("#!/usr/bin/env -S -i perl\n")), "env -i")

    def test_a_script_that_interprets_itself(self):
        path = self.script("")
        path.write_text(f"#!{path}\n")
        self.assert_not_served(doctor(path), "without an end")

    def test_a_library_the_program_needs_is_missing(self):
        def change(data):
            self.assertIn(b"libc.so.6\0", data)
            return data.replace(b"libc.so.6\0", b"libq.so.6\0")
        self.assert_not_served(doctor(self.changed_copy(change)), "libq.so.6")


class Library(DoctorTest):
    def test_no_library(self):
        empty = self.temporary_directory()
        result = doctor(BEHAVE, env=environment(HAKOZUNA_LIBRARY_DIR=empty))
        self.assert_not_served(result, str(empty), "HAKOZUNA_LIBRARY_DIR")

    def test_a_library_without_malloc(self):
        result = doctor(BEHAVE, line="empty", env=environment(HAKOZUNA_LIBRARY_DIR=FILES / "broken"))
        self.assert_not_served(result, "does not define malloc and free")

    def broken_library(self, change):
        directory = self.temporary_directory()
        (directory / PLAIN.name).write_bytes(change(bytearray(PLAIN.read_bytes())))
        return doctor(BEHAVE, env=environment(HAKOZUNA_LIBRARY_DIR=directory))

    def test_a_library_for_another_architecture(self):
        machine, name = MACHINE_OTHER[os.uname().machine]
        def change(data):
            data[MACHINE_OFFSET] = machine
            return data
        self.assert_not_served(self.broken_library(change), f"is for {name}")

    def test_a_library_that_is_no_library(self):
        self.assert_not_served(self.broken_library(lambda data: b"no library"), "cannot be read as a shared library")

    def test_a_library_the_loader_refuses(self):
        def change(data):
            # Tables intact, but the version of the C library that it asks for does not exist.
            self.assertIn(b"GLIBC_2.", data)
            return data.replace(b"GLIBC_2.", b"GLIBC_9.")
        self.assert_not_served(self.broken_library(change), "the loader refuses", "GLIBC_9.")

    def test_a_path_with_a_space(self):
        directory = self.temporary_directory() / "with space"
        directory.mkdir()
        shutil.copy(PLAIN, directory)
        self.assert_not_served(doctor(BEHAVE, env=environment(HAKOZUNA_LIBRARY_DIR=directory)), "with space")


class Arguments(DoctorTest):
    def test_bad_arguments(self):
        self.assert_one_line(hakozuna("doctor"), 2, "doctor")
        self.assert_one_line(hakozuna("doctor", "--line", "hz99", "--", "true"), 2, "hz99")
        self.assert_one_line(hakozuna("doctor", "--deep", "--", "true"), 2, "--deep")

    def test_it_finds_the_libraries_of_an_installed_tree(self):
        result = hakozuna("doctor", "--line", "plain", "--", BEHAVE, command=self.installed_tree(),
                          env=environment(HAKOZUNA_LIBRARY_DIR=None))
        self.assert_served(result)


if __name__ == "__main__":
    unittest.main()

#!/usr/bin/env python3
"""What a line's shared library and archive are made of: names, dependencies, thread-local storage, hardening."""
import argparse
import re
import subprocess
import sys
import unittest

MAX_TLS_BYTES = 64  # the loader's surplus for libraries that are loaded late is small

options = None


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def listed_names():
    with open(options.names, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


def symbols(*nm_options):
    """(name with version, type) of each symbol nm prints."""
    for line in run(options.nm, *nm_options).splitlines():
        fields = line.split()
        if len(fields) >= 2 and not line.endswith(":"):
            yield fields[-1], fields[-2]


def defined_names(*nm_options):
    return sorted(name for name, _ in symbols("--defined-only", "--extern-only", *nm_options))


class Names(unittest.TestCase):
    def test_list_has_no_name_twice(self):
        self.assertEqual(len(listed_names()), len(set(listed_names())))

    def test_library_exports_the_list_exactly(self):
        self.assertEqual(defined_names("-D", options.library), sorted(listed_names()))

    def test_archive_exports_the_list_exactly(self):
        self.assertEqual(defined_names(options.archive), sorted(listed_names()))

    def test_archive_is_one_object(self):
        members = [line for line in run(options.nm, options.archive).splitlines() if line.endswith(":")]
        self.assertEqual(len(members), 1, members)

    def test_functions_are_strong(self):
        # A weak one could be overruled by the allocator it is to replace.
        weak = [n for n, kind in symbols("-D", "--defined-only", options.library) if kind not in "TB"]
        self.assertEqual(weak, [])


class Dependencies(unittest.TestCase):
    def test_needs_nothing_but_libc(self):
        needed = re.findall(r"\(NEEDED\).*\[(.*)\]", run(options.readelf, "-dW", options.library))
        others = [n for n in needed if n != "libc.so.6" and not re.fullmatch(r"ld-linux.*\.so\.\d+", n)]
        self.assertIn("libc.so.6", needed)
        self.assertEqual(others, [])

    def test_every_strong_reference_is_to_libc(self):
        strong = [name for name, kind in symbols("-D", "--undefined-only", options.library) if kind == "U"]
        others = [name for name in strong if "@GLIBC_" not in name]
        self.assertTrue(strong)
        self.assertEqual(others, [])

    def test_soname_is_versioned(self):
        found = re.findall(r"\(SONAME\).*\[(.*)\]", run(options.readelf, "-dW", options.library))
        self.assertEqual(found, [options.soname])
        self.assertRegex(options.soname, r"^libhakozuna_\w+\.so\.\d+$")

    def test_no_call_of_our_own_functions_goes_through_the_loader(self):
        relocations = run(options.readelf, "-rW", options.library)
        targets = set(re.findall(r"R_\w+\s+[0-9a-f]+\s+(\w+)", relocations))
        self.assertEqual(targets & set(listed_names()), set())


class ThreadLocalStorage(unittest.TestCase):
    def test_is_small(self):
        segments = [l.split() for l in run(options.readelf, "-lW", options.library).splitlines()]
        sizes = [int(s[5], 16) for s in segments if s and s[0] == "TLS"]
        self.assertLessEqual(sum(sizes), MAX_TLS_BYTES)

    def test_is_initial_exec_only(self):
        # The other models call the loader, which may call malloc.
        relocations = run(options.readelf, "-rW", options.library)
        self.assertEqual(re.findall(r"R_\w*(?:DTPMOD|DTPOFF|DTPREL|TLSDESC|TLS_DTP)\w*", relocations), [])
        undefined = [name for name, _ in symbols("-D", "--undefined-only", options.library)]
        self.assertEqual([name for name in undefined if name.startswith("__tls_get_addr")], [])


class Hardening(unittest.TestCase):
    def setUp(self):
        self.dynamic = run(options.readelf, "-dW", options.library)
        self.segments = run(options.readelf, "-lW", options.library)

    def test_bound_at_load_and_read_only_then(self):
        self.assertRegex(self.dynamic, r"\(FLAGS\).*BIND_NOW")
        self.assertRegex(self.segments, r"\bGNU_RELRO\b")

    def test_no_text_relocations(self):
        self.assertNotRegex(self.dynamic, r"TEXTREL")

    def test_nothing_is_writable_and_executable(self):
        self.assertRegex(self.segments, r"\bGNU_STACK\b")
        self.assertNotRegex(self.segments, r"(?m)^\s*(LOAD|GNU_STACK)\s.*\sRWE\s")

    def test_stays_loaded(self):
        # After a dlclose its blocks would be left without the code that frees them.
        self.assertRegex(self.dynamic, r"\(FLAGS_1\).*NODELETE")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("library", "archive", "soname", "names", "nm", "readelf"):
        parser.add_argument("--" + name, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])

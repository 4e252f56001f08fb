#!/usr/bin/env python3
"""What a line's library for macOS is made of, read from the file: it needs no Mac. That it works is another matter (docs/platforms.md)."""
import argparse
import sys
import unittest

import mach_o

LIBSYSTEM = "/usr/lib/libSystem.B.dylib"
LIBCXX = "/usr/lib/libc++.1.dylib"

# Of libc++, beside what is replaced: the new-handler, and catching what it throws.
CXX_RUNTIME = {
    "__ZSt15get_new_handlerv", "__ZSt17__throw_bad_allocv", "__ZSt9terminatev", "___cxa_begin_catch", "___cxa_end_catch",
    "___gxx_personality_v0"}

options = None
library = None


def listed(path):
    with open(path, encoding="utf-8") as file:
        lines = [line.strip() for line in file]
    return [line for line in lines if line and not line.startswith("#")]


class Kind(unittest.TestCase):
    def test_is_a_library_for_the_cpu(self):
        self.assertEqual(library.file_type, mach_o.DYLIB_FILE_TYPE)
        self.assertEqual(library.cpu, options.cpu)

    def test_loads_on_the_oldest_system(self):
        self.assertEqual(library.minimum_system, ("macos", options.minimum))

    def test_is_found_relative_to_who_loads_it(self):
        self.assertEqual(library.install_name, f"@rpath/libhakozuna_{options.line}.dylib")
        self.assertEqual(library.rpaths, [])  # a path of the machine that built it


class Names(unittest.TestCase):
    def test_exports_the_list_exactly(self):
        self.assertEqual(sorted(library.exports()), sorted("_" + name for name in listed(options.exports)))

    def test_needs_nothing_but_the_system(self):
        self.assertLessEqual(set(library.dylibs), {LIBSYSTEM, LIBCXX})
        self.assertIn(LIBSYSTEM, library.dylibs)

    def test_takes_of_the_cxx_runtime_what_it_replaces_and_little_else(self):
        ordinal = library.dylibs.index(LIBCXX) + 1
        taken = {s.name for s in library.symbols if s.is_undefined and s.library_ordinal == ordinal}
        operators = {"_" + name for name in listed(options.interposed) if name.startswith("_Z")}
        self.assertLessEqual(taken, operators | CXX_RUNTIME)


    def test_a_new_handlers_exception_is_caught(self):
        # What says where, and the function that reads it: linkers have left them out.
        self.assertIsNotNone(library.section("__gcc_except_tab"))
        self.assertIn("___gxx_personality_v0", library.binds().values())


class Interposition(unittest.TestCase):
    def pairs(self):
        """(address of the word with the replacement, its value, what the system's function is called) of each pair."""
        section = library.section("__interpose")
        self.assertIsNotNone(section, "there is no section __interpose")
        words = list(library.words(section))
        self.assertEqual(len(words) % 2, 0)
        binds = library.binds()
        return [(words[i][0], words[i][1], binds.get(words[i + 1][0])) for i in range(0, len(words), 2)]

    def test_every_name_of_the_list_is_replaced(self):
        replaced = sorted(str(name) for _, _, name in self.pairs())
        self.assertEqual(replaced, sorted("_" + name for name in listed(options.interposed)))

    def test_replacements_are_our_own_functions(self):
        # The loader takes no pair whose first half does not lie in the library.
        binds = library.binds()
        functions = {s.value for s in library.symbols if not s.is_undefined and s.name.startswith("_replaced_")}
        text = next(s for s in library.segments if s.name == "__TEXT")
        for address, value, name in self.pairs():
            self.assertNotIn(address, binds, name)
            target = value & (2**36 - 1)  # above: where the next word of a chain is
            self.assertTrue(text.address <= target < text.address + text.size, name)
            self.assertIn(target, functions, name)


class Start(unittest.TestCase):
    def test_one_initialiser_runs(self):
        # More would be a constructor of some object, which malloc must not wait for. The compiler's own registers the destructor.
        pointers = library.section("__mod_init_func")
        offsets = library.section("__init_offsets")
        count = (pointers.size // 8 if pointers else 0) + (offsets.size // 4 if offsets else 0)
        names = {s.name for s in library.symbols if "GLOBAL_" in s.name}
        self.assertLessEqual(count, 2, names)
        self.assertGreaterEqual(count, 1)

    def test_no_variable_of_a_thread_goes_through_the_loader(self):
        # The first access of a thread would call the loader, which calls malloc.
        variables = [s.name for s in library.sections if s.flags & mach_o.SECTION_TYPE == mach_o.THREAD_LOCAL_VARIABLES]
        self.assertEqual(variables, [])
        self.assertEqual([s.name for s in library.symbols if "tlv" in s.name], [])

    def test_nothing_is_writable_and_executable(self):
        self.assertEqual([s.name for s in library.segments if s.protection & 2 and s.protection & 4], [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("library", "line", "cpu", "minimum", "exports", "interposed"):
        parser.add_argument("--" + name, required=True)
    options, rest = parser.parse_known_args()
    with open(options.library, "rb") as file:
        library = mach_o.MachO(file.read())
    unittest.main(argv=[sys.argv[0], *rest])

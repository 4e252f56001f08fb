#!/usr/bin/env python3
"""Installs into an empty prefix, moves it, and builds and runs C and C++ programs against it: through the CMake package, through
pkg-config, and with the archive. Each program succeeds only if its blocks are the line's."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

options = None


def run(*command, **environment):
    """The output of a command that must succeed."""
    done = subprocess.run([str(c) for c in command], env={**os.environ, **environment}, text=True, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: exit {done.returncode}\n{done.stdout}")
    return done.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        holder = tempfile.TemporaryDirectory(prefix="hakozuna-install-")
        cls.addClassCleanup(holder.cleanup)
        cls.work = pathlib.Path(holder.name)
        run(options.cmake, "--install", options.build_dir, "--prefix", cls.work / "first place")
        # Nothing may remember where it was installed first; a blank in a path is nothing special.
        cls.prefix = cls.work / "second place"
        (cls.work / "first place").rename(cls.prefix)
        cls.libdir = cls.prefix / options.libdir

    def run_consumer(self, program, **environment):
        self.assertIn(" ours", run(program, options.line, **environment))

    def pkg_config(self, *arguments):
        text = run(options.pkg_config, *arguments, f"hakozuna_{options.line}",
                   PKG_CONFIG_PATH=str(self.libdir / "pkgconfig"))
        # pkg-config writes for a shell: a blank in a path is escaped.
        return run("sh", "-c", f"printf '%s\\n' {text.strip()}").splitlines()

    def compile(self, language, output, *arguments):
        compiler, source = {"c": (options.cc, "consumer.c"), "cxx": (options.cxx, "consumer.cpp")}[language]
        program = self.work / output
        run(compiler, "-O1", "-fno-builtin", pathlib.Path(options.consumer) / source, "-o", program, *arguments)
        return program

    def test_files(self):
        name = f"hakozuna_{options.line}"
        for path in ("include/hakozuna/hakozuna.h", f"{options.libdir}/lib{name}.a", f"{options.libdir}/lib{name}.so",
                     f"{options.libdir}/lib{name}.so.{options.version}", f"{options.libdir}/pkgconfig/{name}.pc",
                     f"{options.libdir}/cmake/hakozuna/hakozunaConfig.cmake"):
            self.assertTrue((self.prefix / path).is_file(), path)
        self.assertFalse(list(self.prefix.rglob("*bump*")) and options.line != "bump", "a test line is installed")

    def test_cmake_package(self):
        build = self.work / "build"
        run(options.cmake, "-S", options.consumer, "-B", build, "-G", options.generator, f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCMAKE_C_COMPILER={options.cc}", f"-DCMAKE_CXX_COMPILER={options.cxx}",
            f"-DLINE={options.line}", f"-DVERSION={options.version}")
        run(options.cmake, "--build", build)
        for program in ("c_consumer", "cxx_consumer", "c_consumer_static", "cxx_consumer_static"):
            with self.subTest(program):
                self.run_consumer(build / program)

    def test_pkg_config(self):
        self.assertEqual(self.pkg_config("--modversion"), [options.version])
        flags = self.pkg_config("--cflags", "--libs")
        for language in ("c", "cxx"):
            with self.subTest(language):
                program = self.compile(language, f"pkg_config_{language}", *flags)
                self.run_consumer(program, LD_LIBRARY_PATH=str(self.libdir))

    def test_archive_by_name(self):
        archive = self.libdir / f"libhakozuna_{options.line}.a"
        for language in ("c", "cxx"):
            for static in ((), ("-static",)):
                with self.subTest(language=language, static=static):
                    program = self.compile(language, f"archive_{language}{len(static)}", *self.pkg_config("--cflags"),
                                           archive, *static)
                    self.run_consumer(program)

    def test_preloaded_into_a_program_that_knows_nothing(self):
        library = self.libdir / f"libhakozuna_{options.line}.so"
        # LD_PRELOAD has no way to write a blank in a path.
        link = self.work / "preloaded.so"
        link.symlink_to(library)
        self.assertEqual(run("/bin/echo", "text", LD_PRELOAD=str(link)), "text\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("line", "version", "build-dir", "consumer", "libdir", "cmake", "generator", "pkg-config", "cc", "cxx"):
        parser.add_argument("--" + name, required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])

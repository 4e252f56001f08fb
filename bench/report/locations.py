"""Where the runners find what they run."""

import argparse
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DEFAULT_BUILD = ROOT / "build" / "release"


class UsageError(Exception):
    """Wrong arguments: one line on stderr and exit code 2."""


class Build:
    """A build tree of this project."""

    def __init__(self, directory):
        self.directory = Path(directory).resolve()

    def program(self, name):
        path = self.directory / "bin" / name
        if not path.is_file():
            raise UsageError(f"{path} is not there: build first (cmake --preset release && "
                             "cmake --build --preset release), or name the build tree with --build-dir")
        return path

    def library(self, name):
        return self.directory / "lib" / name

    def lines(self):
        """The names of the lines whose library is built, but for those that exist for tests only."""
        listing = self.directory / "bench" / "lines.txt"
        names = listing.read_text().split() if listing.is_file() else []
        return [name for name in names if self.library(f"libhakozuna_{name}.so").is_file()]


def positive_int(text):
    """For argparse: a whole number from 1."""
    value = int(text)
    if value < 1:
        raise ValueError(text)
    return value


positive_int.__name__ = "number from 1"


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")

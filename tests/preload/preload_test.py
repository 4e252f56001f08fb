#!/usr/bin/env python3
"""Runs a real program without and with a hakozuna library and compares: same output, same exit code.

usage: preload_test.py --record [--work DIR] [--short] CASE...
       preload_test.py --library LIB.so [--helpers DIR] [--work DIR] [--short] CASE...     (--list shows the cases)

--record runs the program without a library, once for all the lines that are compared with it later.

Exit code: 0 the same, 1 different or broken, 77 a program is not installed. With STRICT_TESTS=1 in the environment what is
missing is a failure.
"""
import argparse
import os
import pathlib
import sys
import tempfile

import harness
import case_compilers  # noqa: F401  each registers its cases
import case_costs
import case_interpreters  # noqa: F401
import case_servers  # noqa: F401
import case_tools  # noqa: F401

SKIPPED = 77


def run_case(name, options):
    """Returns an exit code."""
    try:
        directory = pathlib.Path(options.work) / name
        if options.record:
            harness.record(harness.CASES[name], directory, options.short)
        elif name == "load-cost":
            case_costs.check_load_cost(options.library, options.helpers)
        elif name == "valgrind":
            case_costs.check_valgrind(options.library, options.helpers)
        else:
            harness.run_and_compare(harness.CASES[name], directory, options.library, options.short)
    except harness.Skip as reason:
        print(f"{name}: skipped: {reason}")
        return 1 if os.environ.get("STRICT_TESTS") == "1" else SKIPPED
    except harness.Failure as failure:
        print(f"{name}: failed: {failure}")
        return 1
    print(f"{name}: passed")
    return 0


def main():
    names = sorted([*harness.CASES, "load-cost", "valgrind"])
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--record", action="store_true", help="run without a library, for later comparison")
    what.add_argument("--library", help="the shared library of a line")
    parser.add_argument("--helpers", default=".", help="where the helper programs of the tests are")
    parser.add_argument("--work", default=os.path.join(tempfile.gettempdir(), f"hakozuna-preload-{os.getuid()}"),
                        help="where files are written")
    parser.add_argument("--short", action="store_true", help="less work, for a slow library")
    parser.add_argument("--list", action="store_true", help="print the names of the cases")
    parser.add_argument("cases", nargs="*", metavar="CASE", choices=[*names, []])
    options = parser.parse_args()
    if options.list:
        print("\n".join(names))
        return 0
    if not options.cases or not (options.library or options.record):
        parser.error("a --library or --record, and a case are needed")
    if options.library:
        options.library = os.path.abspath(options.library)
        if not os.path.exists(options.library):
            parser.error(f"no such library: {options.library}")
    elif set(options.cases) - set(harness.CASES):
        parser.error("load-cost and valgrind have nothing to record")
    codes = [run_case(name, options) for name in options.cases]
    return 1 if 1 in codes else SKIPPED if SKIPPED in codes else 0


if __name__ == "__main__":
    sys.exit(main())

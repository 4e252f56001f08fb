#!/usr/bin/env python3
"""malloc, free and the operators keep no stack frame and call nothing in their hot part: slow paths are tail calls elsewhere."""
import argparse
import re
import subprocess
import sys

HOT_FUNCTIONS = ("malloc", "free", "_Znwm", "_ZnwmRKSt9nothrow_t", "_ZdlPv", "_ZdlPvm")
FRAME_OR_CALL = re.compile(r"\b(push|pop|call|leave|enter)[a-z]*\b|\b(sub|add|lea)[a-z]*\b.*%rsp$")


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def instructions(options, name, extents):
    start, size = extents[name]
    text = run(options.objdump, "-d", "--no-show-raw-insn", f"--start-address={start}",
               f"--stop-address={start + size}", options.library)
    return re.findall(r"^\s+[0-9a-f]+:\s+(.*?)\s*(?:#.*)?$", text, re.MULTILINE)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("library", "nm", "objdump"):
        parser.add_argument("--" + name, required=True)
    options = parser.parse_args()
    extents = {}
    for line in run(options.nm, "-D", "-S", "--defined-only", options.library).splitlines():
        fields = line.split()
        if len(fields) == 4:
            extents[fields[3]] = (int(fields[0], 16), int(fields[1], 16))

    failed = False
    for name in HOT_FUNCTIONS:
        body = instructions(options, name, extents)
        bad = [instruction for instruction in body if FRAME_OR_CALL.search(instruction)]
        print(f"{name}: {len(body)} instructions" + "".join(f"\n    {i}" for i in bad))
        failed |= not body or bool(bad)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

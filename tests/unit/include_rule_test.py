#!/usr/bin/env python3
"""The rule of the layers (CONTRIBUTING.md): includes go downwards only.

usage: include_rule_test.py SRC

    base < arch, os < mem < core < api      a line uses base to core; no line includes another; os may use arch

Also: quoted includes are spelled from the root of SRC, and nothing includes the front door but the front door.
"""
import pathlib
import re
import sys

RANK = {"base": 0, "arch": 1, "os": 2, "mem": 3, "core": 4, "api": 5}
LINE_RANK = RANK["core"]
# Not part of the libraries: programs that may use what they like of them.
PROGRAMS = {"launcher"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)


def layer_of(path):
    """The layer ("base", ...) or the line ("hz8") a path below SRC belongs to."""
    parts = pathlib.PurePosixPath(path).parts
    return parts[1] if parts[0] == "common" and len(parts) > 2 else parts[0]


def problem_with(includer, included, src):
    """Why `includer` may not include `included` (both relative to SRC), or None."""
    if included.startswith("hakozuna/"):
        return None
    if not (src / included).is_file():
        return "is not spelled from the root of the sources, or does not exist"
    upper, lower = layer_of(includer), layer_of(included)
    if upper == lower:
        return None
    if lower not in RANK:
        return f"{lower} is a line: only the line itself may include it"
    limit = RANK.get(upper, LINE_RANK + 1)
    if RANK[lower] >= limit:
        return f"{lower} does not lie below {upper}"
    return None


def main():
    src = pathlib.Path(sys.argv[1])
    files = [f for f in sorted(src.rglob("*")) if f.suffix in (".h", ".cpp", ".c")]
    files = [f for f in files if f.relative_to(src).parts[0] not in PROGRAMS]
    if not files:
        sys.exit(f"no sources below {src}")
    problems = 0
    for file in files:
        includer = file.relative_to(src).as_posix()
        for included in INCLUDE.findall(file.read_text()):
            problem = problem_with(includer, included, src)
            if problem:
                print(f'{includer}: #include "{included}": {problem}')
                problems += 1
    print(f"{len(files)} files, {problems} includes against the rule")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()

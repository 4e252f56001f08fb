#!/usr/bin/env python3
"""Adds up what CTest wrote for each preset, names what failed and what was skipped, and prints the total as the last line.

usage: test_summary.py RESULTS PRESET...      RESULTS holds PRESET.xml (CTest's JUnit file), or why there is none: PRESET.broken,
                                              or PRESET.skipped, which counts as one skipped test
"""
import collections
import pathlib
import sys
import xml.etree.ElementTree as ElementTree


FAILURES_SHOWN = 10  # with what they printed; one defect may fail hundreds


def outcome_of(testcase):
    """("passed" | "failed" | "skipped", why)"""
    status = testcase.get("status")
    if status == "run":
        return "passed", ""
    skipped = testcase.find("skipped")
    reason = skipped.get("message", "") if skipped is not None else ""
    # A program that could not be started has not run either, but did not ask to be skipped.
    if status in ("notrun", "disabled") and (reason.startswith("SKIP_") or status == "disabled"):
        return "skipped", skip_reason(testcase)
    failure = testcase.find("failure")
    return "failed", reason or (failure.get("message", "") if failure is not None else "")


def skip_reason(testcase):
    """The test's own words for why it does not run."""
    lines = (testcase.findtext("system-out") or "").splitlines()
    for number, line in enumerate(lines):
        if "skipped: " in line:
            return line.split("skipped: ", 1)[1]
        if line.endswith(": Skipped") and number + 1 < len(lines):
            return lines[number + 1]
    return "no reason given"


def last_words(testcase, lines=25):
    """The end of what a failed test printed: where only the end of a long log is kept, it is all there is to go by."""
    return (testcase.findtext("system-out") or "").rstrip().splitlines()[-lines:]


def main():
    results, presets = pathlib.Path(sys.argv[1]), sys.argv[2:]
    total = collections.Counter()
    failed, said, skipped = [], {}, collections.defaultdict(list)
    for preset in presets:
        broken, left_out = results / f"{preset}.broken", results / f"{preset}.skipped"
        counts = collections.Counter()
        if broken.exists():
            counts["failed"] += 1
            failed.append(f"{preset}: {broken.read_text().strip()}")
        elif left_out.exists():
            counts["skipped"] += 1
            skipped[left_out.read_text().strip()].append(f"{preset}: all of it")
        else:
            for testcase in ElementTree.parse(results / f"{preset}.xml").iter("testcase"):
                outcome, why = outcome_of(testcase)
                counts[outcome] += 1
                name = f"{preset}: {testcase.get('name')}"
                if outcome == "failed":
                    failed.append(f"{name} {why}".rstrip())
                    said[failed[-1]] = last_words(testcase)
                elif outcome == "skipped":
                    skipped[why].append(name)
        print(f"{preset}: {counts['passed']} passed, {counts['failed']} failed, {counts['skipped']} skipped")
        if not sum(counts.values()):
            failed.append(f"{preset}: no tests")
            counts["failed"] += 1
        total += counts
    for why, names in sorted(skipped.items()):
        print(f"\nskipped, {why}:")
        print("".join(f"  {name}\n" for name in names), end="")
    for name in list(said)[:FAILURES_SHOWN]:
        print(f"\n{name} printed at last:")
        print("".join(f"  | {line}\n" for line in said[name]), end="")
    if failed:
        print("\nfailed:")
        print("".join(f"  {name}\n" for name in failed), end="")
    print(f"\n{total['passed']} passed, {total['failed']} failed, {total['skipped']} skipped")
    return 1 if total["failed"] or not total["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())

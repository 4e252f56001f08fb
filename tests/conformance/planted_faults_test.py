#!/usr/bin/env python3
"""The conformance suite must notice a line that is wrong: it is run over tests/lines/faulty with one fault at a time.

Only the tests that are named for a fault are run: they must all fail under it, and pass where nothing is wrong. The whole suite cannot be asked:
bump, below the fault, is too simple to pass all of it, and some faults are the end of the program.
"""
import argparse
import os
import re
import subprocess
import sys
import unittest

# Fault: tests made to notice it. All of them must, and none of them by a crash.
FAULTS = {
    "overlap": ["Malloc.EverySizeTo70000IsAlignedAndWritable", "Realloc.EveryTransitionKeepsTheContents", "UsableSize.IsStable"],
    "twice": ["Malloc.BlocksOfOneSizeDoNotOverlap", "Malloc.BlocksOfManySizesKeepTheirContents",
              "Aligned.MixedWithOtherBlocksNothingOverlaps"],
    "alignment": ["PosixMemalign.EveryAlignmentAndSize", "AlignedAlloc.EveryAlignmentAlsoWhereTheSizeIsNoMultiple",
                  "Memalign.EveryPowerOfTwo", "Valloc.IsPageAligned", "OperatorNew.AlignedFormsWithEveryDelete"],
    "usable_too_large": ["UsableSize.GoodSizeSaysWhatMallocGives", "Calloc.IsZeroToTheUsableEnd",
                         "Statistics.LiveIsTheSumOfTheUsableSizes"],
    "usable_too_small": ["UsableSize.GoodSizeSaysWhatMallocGives", "Malloc.EverySizeTo70000IsAlignedAndWritable",
                         "Realloc.EveryTransitionKeepsTheContents"],
    "dirty_calloc": ["Calloc.RecycledMemoryOfEveryClassIsZero", "Calloc.IsZeroToTheUsableEnd", "Calloc.MultipliesCountAndSize"],
    "resize": ["Realloc.EveryTransitionKeepsTheContents", "Realloc.InAnotherThreadThanTheOwner"],
    "leak": ["Introspection.Mallinfo2FollowsWhatIsAllocated", "Statistics.LiveIsTheSumOfTheUsableSizes"],
    "identity": ["Statistics.IdentityHoldsAtTheStart", "Statistics.IdentityHoldsAfterTraffic",
                 "Statistics.IdentityHoldsAfterThreadsAndTrim", "Statistics.IdentityHoldsWhileBlocksAreLive"],
    "errno": ["Failure.MallocOfWhatNoProcessHas", "Failure.MoreThanTheAddressSpace", "Realloc.FailureLeavesTheBlock"],
    "free_errno": ["Malloc.FreePreservesErrno", "Malloc.FreePreservesErrnoInAnotherThread"],
    "zero_size": ["Malloc.ZeroBytesGiveDistinctBlocks"],
    "good_size": ["UsableSize.GoodSizeSaysWhatMallocGives", "Failure.GoodSizeOfTheImpossibleIsZero"],
}

options = None


def run_suite(fault, tests):
    """(exit code, names of the tests that failed, all output) of some conformance tests over the faulty line."""
    environment = {**os.environ, "LD_PRELOAD": options.library}
    environment.pop("HAKOZUNA_TEST_FAULT", None)
    if fault:
        environment["HAKOZUNA_TEST_FAULT"] = fault
    command = [options.program, "--line=faulty", f"--library={options.library}", f"--helpers={options.helpers}",
               f"--gtest_filter={':'.join(tests)}"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", timeout=120, check=False)
    failed = set(re.findall(r"^\[  FAILED  \] (\S+?)(?:,| \()", done.stdout, re.MULTILINE))
    return done.returncode, failed, done.stdout + done.stderr


class PlantedFaults(unittest.TestCase):
    def test_without_a_fault_all_pass(self):
        tests = sorted(set().union(*FAULTS.values()))
        code, failed, output = run_suite(None, tests)
        self.assertEqual((code, failed), (0, set()), output[-3000:])
        self.assertIn(f"Running {len(tests)} tests", output)

    def test_each_is_noticed(self):
        for fault, tests in FAULTS.items():
            for test in tests:
                with self.subTest(fault=fault, test=test):
                    code, failed, output = run_suite(fault, [test])
                    self.assertEqual((code, failed), (1, {test}), output[-3000:])

    def test_one_that_does_not_exist_is_refused(self):
        code, _, output = run_suite("no_such_fault", ["Malloc.ZeroBytesGiveDistinctBlocks"])
        self.assertLess(code, 0, output[-3000:])


def main():
    global options
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True, help="conformance_tests")
    parser.add_argument("--library", required=True, help="libhakozuna_faulty.so")
    parser.add_argument("--helpers", required=True)
    options, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()

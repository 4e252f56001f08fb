import json
import shutil
import unittest

import support

import run_instructions

PROGRAM = support.BUILD / "bin" / "bench_instructions"


class Arithmetic(unittest.TestCase):
    def test_start_and_loop_drop_out(self):
        # 1,000 for the start, 5 for the loop, 40 for the pair.
        counts = {"real": (1000 + 45 * 10, 1000 + 45 * 30), "empty": (1000 + 5 * 10, 1000 + 5 * 30)}
        self.assertEqual(run_instructions.per_pair(counts, (10, 30)), 40)


class Program(support.HarnessTest):
    def test_wrong_arguments(self):
        for words in ([], ["hot"], ["hot", "real"], ["hot", "real", "x"], ["cold", "real", "1"], ["hot", "unreal", "1"]):
            with self.subTest(words):
                self.assert_usage_error(support.run(PROGRAM, *words), "usage")

    @unittest.skipUnless(shutil.which("valgrind"), "valgrind is not installed")
    def test_a_pair_of_the_c_library_is_counted(self):
        result = support.run("/usr/bin/env", "python3", "-B", support.BENCH / "instructions" / "run_instructions.py", "--build-dir",
                             support.BUILD, "--allocators", "glibc", "--workloads", "hot", "--json")
        self.assertEqual(result.returncode, 0, result.stderr)
        count = json.loads(result.stdout)["glibc"]["hot"]
        self.assertTrue(20 < count < 400, count)


if __name__ == "__main__":
    unittest.main()

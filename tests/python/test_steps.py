"""The summary that closes a run of the checks counts what passed, failed and was skipped."""

import os
import subprocess
import sys
import unittest

import support

SUMMARY = os.path.join(support.REPOSITORY, "scripts", "test_summary.py")
STEPS = "0\tformat\n2\tRust tests\n190\tPython checks\n200\tend\n"
LOG = """
== format

== Rust tests
test result: ok. 10 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s
test result: ok. 5 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s

== Python checks
test_a (test_a.A.test_a) ... skipped 'no Chromium'
test_b (test_a.A.test_b) ... ok
full       skipped: this system mounts nothing
1 passed, {failed} failed, 1 skipped
"""


class Summary(unittest.TestCase):
    def summary(self, status=0, failed=0, steps=STEPS):
        folder = support.temporary_folder("steps")
        texts = {"log": LOG.format(failed=failed), "steps": steps, "skipped": "a::x\tno corpus\na::x\tno corpus\nb::y\tno corpus\n"}
        for name, text in texts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        done = subprocess.run([sys.executable, SUMMARY, folder, str(status)], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout.split("\n")[2:-1]

    def test_every_skip_is_counted_with_its_reason(self):
        code, lines = self.summary()
        self.assertEqual(code, 0)
        self.assertEqual([line.split() for line in lines[:4]][1:], [
            ["format", "2"],
            ["Rust", "tests", "188", "15"],
            ["Python", "checks", "10", "1", "2"],
        ])
        # Two Rust tests skipped, one of them twice; they had passed for their harness.
        self.assertEqual(lines[4:], [
            "skipped: no Chromium",
            "skipped, 2 times: no corpus",
            "skipped: this system mounts nothing",
            "14 passed, 0 failed, 4 skipped",
        ])

    def test_a_failure_is_never_a_success(self):
        code, lines = self.summary(failed=2)
        self.assertEqual((code, lines[-1]), (1, "14 passed, 2 failed, 4 skipped"))
        code, lines = self.summary(status=101, steps="0\tformat\n2\tRust tests\n190\tend\n")
        self.assertEqual(code, 101)
        self.assertEqual(lines[-2], "failed: Rust tests; the steps behind it did not run")
        self.assertTrue(lines[-1].endswith(" 1 failed, 4 skipped"), lines[-1])


if __name__ == "__main__":
    unittest.main()

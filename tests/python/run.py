#!/usr/bin/env python3
"""Runs the Python checks and closes with one line that counts them.

    python3 tests/python/run.py [PATTERN]

PATTERN picks test files (default: test_*.py). Exit status 1 when a check failed.
"""

import os
import sys
import unittest

import ending

HERE = os.path.dirname(os.path.abspath(__file__))


class Counting(unittest.TextTestResult):
    """Also counts what passed; a failed set-up stands for a class and is no test that ran."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def main():
    pattern = sys.argv[1] if len(sys.argv) > 1 else "test_*.py"
    sys.path.insert(0, HERE)
    suite = unittest.TestLoader().discover(HERE, pattern=pattern, top_level_dir=HERE)
    result = unittest.TextTestRunner(verbosity=2, resultclass=Counting).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    print(f"{result.passed} passed, {failed} failed, {len(result.skipped)} skipped")
    return 0 if result.wasSuccessful() and result.testsRun else 1


if __name__ == "__main__":
    ending.run(main)

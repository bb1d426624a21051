#!/usr/bin/env python3
"""Runs the Python checks and closes with one line that counts them.

    python3 tests/python/run.py [PATTERN]

PATTERN picks test files (default: test_*.py). Each file has a process of its own, as many at a time as there are processors; what
it printed comes as a whole when it has ended. Exit status 1 when a check failed.
"""

import concurrent.futures
import os
import re
import subprocess
import sys
import time
import unittest
from pathlib import Path

import ending

HERE = Path(__file__).resolve().parent
# Files that take minutes begin first, the longest of them before the others.
LONGEST = ("test_lake.py", "test_views.py", "test_questions.py", "test_engines.py", "test_older_formats.py", "test_package.py")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", re.MULTILINE)


class Counting(unittest.TextTestResult):
    """Also counts what passed; a failed set-up stands for a class and is no test that ran."""

    passed = 0

    def addSuccess(self, test):
        super().addSuccess(test)
        self.passed += 1


def closing(passed, failed, skipped):
    """The last line, and the exit status."""
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 0 if passed + skipped and not failed else 1


def run_here(name):
    """Runs one file in this process."""
    sys.path.insert(0, str(HERE))
    suite = unittest.TestLoader().discover(str(HERE), pattern=name, top_level_dir=str(HERE))
    result = unittest.TextTestRunner(verbosity=2, resultclass=Counting).run(suite)
    failed = len(result.failures) + len(result.errors) + len(result.unexpectedSuccesses)
    return closing(result.passed, failed, len(result.skipped))


def run_apart(path):
    """Runs one file in a process of its own; returns what it printed, and its counts."""
    begun = time.monotonic()
    command = [sys.executable, __file__, path.name]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    text, counts = done.stdout, COUNTS.search(done.stdout)
    # A process that has not come to its end has failed, whatever its tests said.
    passed, failed, skipped = map(int, counts.groups()) if counts else (0, 0, 0)
    if done.returncode and not failed:
        failed = 1
        text += f"{path.name} ended with {done.returncode}\n"
    said = COUNTS.sub("", text).rstrip()
    return f"{path.name}: {time.monotonic() - begun:.0f} s\n{said}\n", (passed, failed, skipped)


def main():
    files = sorted(HERE.glob(sys.argv[1] if len(sys.argv) > 1 else "test_*.py"))
    if len(files) == 1:
        return run_here(files[0].name)
    # So that no processor waits for one of them at the end.
    files.sort(key=lambda path: LONGEST.index(path.name) if path.name in LONGEST else len(LONGEST))
    counts = [0, 0, 0]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_apart, path) for path in files]):
            text, of_file = done.result()
            print(text, flush=True)
            counts = [sum(pair) for pair in zip(counts, of_file)]
    return closing(*counts)


if __name__ == "__main__":
    ending.run(main)

#!/usr/bin/env python3
"""Says what a run of `scripts/test` came to: each step's time and counts, what was skipped and why, and one closing line.

    scripts/test_summary.py FOLDER STATUS

FOLDER holds `log`, all that the steps printed; `steps`, a line for each step that began (seconds since the run began, a tab, its
name); and, where a Rust test skipped, `skipped`, a line for each (the test's name, a tab, the reason), for the test harness shows
nothing of a test that passes. STATUS is the exit status of the last step that ran. Ends with that status, or with 1 where a
step that ended well counted a failure, so that no failed check passes.
"""

import collections
import re
import sys
from pathlib import Path

STEP = re.compile(r"^== (.+)$")
RUST = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;")
PYTHON = re.compile(r"^(\d+) passed, (\d+) failed, \d+ skipped$")
PYTHON_SKIP = re.compile(r"skipped (?P<quote>['\"])(.*)(?P=quote)$")
SCRIPT_SKIP = re.compile(r"^(?:\S+ +)?skipped: (.+)$", re.IGNORECASE)


class Step:
    """One step of the run: when it began, and what its lines count."""

    def __init__(self, began, name):
        self.began, self.name = began, name
        self.passed = self.failed = self.seconds = 0
        self.skipped = collections.Counter()

    def read(self, line):
        if found := RUST.match(line) or PYTHON.match(line):
            self.passed += int(found[1])
            self.failed += int(found[2])
        elif found := PYTHON_SKIP.search(line):
            self.skipped[found[2]] += 1
        elif found := SCRIPT_SKIP.match(line):
            self.skipped[found[1]] += 1


def steps_of(folder):
    """The steps of a run with what the log says of each."""
    cells = [line.split("\t", 1) for line in (folder / "steps").read_text().splitlines()]
    steps = [Step(int(began), name) for began, name in cells]
    for step, following in zip(steps, steps[1:]):
        step.seconds = following.began - step.began
    waiting, current = iter(steps[:-1]), None
    for line in (folder / "log").read_text(errors="replace").splitlines():
        if STEP.match(line):
            current = next(waiting, current)
        elif current is not None:
            current.read(line)
    # The last line of `steps` is the end of the run.
    return steps[:-1]


def skips_of(folder):
    """Why Rust tests skipped, with how many did."""
    path = folder / "skipped"
    lines = set(path.read_text().splitlines()) if path.exists() else set()
    return collections.Counter(line.split("\t", 1)[-1] for line in lines)


def show(steps, skips):
    print("\n== summary")
    print(f"{'step':<28}{'seconds':>8}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for step in steps:
        counts = [step.passed, step.failed, sum(step.skipped.values())]
        cells = "".join(f"{count or '':>{width}}" for count, width in zip(counts, (8, 8, 9)))
        print(f"{step.name:<28}{step.seconds:>8}{cells}".rstrip())
    for reason, count in sorted(skips.items()):
        print(f"skipped, {count} times: {reason}" if count > 1 else f"skipped: {reason}")


def main():
    folder, status = Path(sys.argv[1]), int(sys.argv[2])
    steps, skips = steps_of(folder), skips_of(folder)
    # A Rust test that skips ends well, and was counted so.
    passed = sum(step.passed for step in steps) - sum(skips.values())
    for step in steps:
        skips += step.skipped
    show(steps, skips)
    if status:
        print(f"failed: {steps[-1].name if steps else 'the set-up'}; the steps behind it did not run")
    failed = max(sum(step.failed for step in steps), min(status, 1))
    print(f"{passed} passed, {failed} failed, {sum(skips.values())} skipped")
    return status or min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())

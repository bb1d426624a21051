"""Says what a run that met a fault has left behind, and whether that may be, for scripts/faults/run."""

import errno
import json
import os
import re
from pathlib import Path

import measuring

# Exit codes of the program.
SUCCESS, INTERNAL, USAGE, NO_INPUT, DAMAGED, OUTPUT = 0, 1, 2, 3, 4, 6
PUBLISHED_WITH_OUTPUT_FAILURE = "the trace is in its place"


def digest(trace):
    """The hash of each file of a trace, whatever varies from run to run left out; None for no trace."""
    return measuring.digests(trace, of_the_run=("run",)) if trace.is_dir() else None


def others(out):
    """What lies in the output folder beside traces, and what is in there, as paths."""
    if not out.is_dir():
        return set()
    found = (file for file in out.rglob("*") if not file.relative_to(out).parts[0].startswith("trace="))
    return {file.relative_to(out).as_posix() for file in found}


class Judge:
    """Knows the trace that should come about, and the one that was there before (None: none)."""

    def __init__(self, new, old):
        self.new, self.old = new, old

    def state(self, folder):
        """Which trace stands in a folder: new, old, none, or a mixture. A replaced trace that a killed run has set aside
        counts as there: the next run puts it back."""
        out = folder / "out"
        trace = out / "trace=example"
        if not os.path.lexists(trace):
            aside = [digest(old) for old in out.glob(".etl2parquet-example*/old")] if self.old else []
            return "old" if aside == [self.old] else "none"
        try:
            found = digest(trace)
        except (OSError, ValueError, KeyError):
            return "mixture"
        if found == self.new:
            return "new"
        return "old" if self.old and found == self.old else "mixture"

    def seen(self, folder):
        """As `state`, to a reader who may be overtaken by a replacement; then it is new."""
        trace = folder / "out" / "trace=example"
        try:
            opened = os.open(trace, os.O_DIRECTORY)
        except FileNotFoundError:
            return "none"
        try:
            found = digest(Path(f"/proc/self/fd/{opened}"))
        except (OSError, ValueError, KeyError):
            found = {}
        try:
            is_overtaken = os.path.lexists(trace) and os.stat(trace).st_ino != os.fstat(opened).st_ino
        except FileNotFoundError:
            is_overtaken = True
        os.close(opened)
        if is_overtaken or found == self.new:
            return "new"
        return "old" if self.old and found == self.old else "mixture"

    def after(self, folder, ended, expectation, before):
        """What is wrong right after a fault. `before`: what lay beside traces before the run."""
        state = self.state(folder)
        wrong = []
        if state == "mixture":
            wrong.append("a mixture is published")
        if state == "none" and self.old:
            wrong.append("the old trace is gone")
        wrong += expectation(ended, state, self.old is not None)
        if ended.code > 0:
            wrong += said_badly(ended)
            if not expectation.may_leave:
                wrong += left_behind(folder, before)
        return wrong

    def at_the_end(self, folder, code):
        """What is wrong after the run was repeated without a fault."""
        wrong = [] if code == SUCCESS else [f"repeated, it ends with {code}"]
        state = self.state(folder)
        if state != "new":
            wrong.append(f"repeated, it leaves the trace: {state}")
        if rest := others(folder / "out"):
            wrong.append(f"repeated, it leaves {sorted(rest)[:3]}")
        if rest := [name for name in os.listdir(folder / "out") if name != "trace=example"]:
            wrong.append(f"repeated, it leaves {rest}")
        if rest := list((folder / "tmp").iterdir()):
            wrong.append(f"repeated, it leaves temporary files: {rest[:3]}")
        return wrong


def said_badly(ended):
    """A failure says so, in a line that begins with `error:`, and is no bug."""
    if re.search(r"panicked|this is a bug|bug:", ended.said):
        return [f"it calls itself a bug: {ended.said.strip()[:300]}"]
    if ended.code < 128 and not re.search(r"^error: .", ended.said, re.MULTILINE):
        return [f"it ends with {ended.code} and names no error: {ended.said.strip()[:300]}"]
    return []


def left_behind(folder, before):
    """What a run that failed by itself should have removed."""
    out = folder / "out"
    # Behind a line with its seal.
    texts = [report.read_bytes().split(b"\n", 1)[1] for report in out.glob(".etl2parquet-*.plan-*/report-*.json")]
    reports = [json.loads(text) for text in texts]
    attempts = {report["attempt"] for report in reports}
    new = {path for path in others(out) - before if not is_of_a_plan(path, attempts)}
    wrong = [f"it leaves {sorted(new)[:3]} behind"] if new else []
    if temporary := list((folder / "tmp").iterdir()):
        wrong.append(f"it leaves temporary files: {temporary[:3]}")
    return wrong


def is_of_a_plan(path, attempts):
    """Whether a path is a whole piece of a plan's folder, which stays for whoever goes on with it: also a file that a report
    names, by the attempt that wrote it."""
    first, *rest = Path(path).parts
    unfinished = [part for part in rest if part.endswith(".tmp")]
    return ".plan-" in first and all(part.split(".")[-2] in attempts for part in unfinished)


def wrong_code(ended, expected=""):
    """Says how a run ended that should not have."""
    return f"exit code {ended.code}{expected}: {ended.said.strip()[:300]}"


class Failure:
    """Of a call that failed: the run fails as an output failure, or does without what failed."""

    def __init__(self, may_leave=False, codes=(OUTPUT,)):
        self.may_leave, self.codes = may_leave, codes

    def __call__(self, ended, state, was_there):
        if ended.code == SUCCESS:
            return []
        if ended.code not in self.codes:
            return [wrong_code(ended, f", expected one of {self.codes}")]
        if state == "new" and PUBLISHED_WITH_OUTPUT_FAILURE not in ended.said:
            return [f"the trace is published, and it fails without saying so: {ended.said.strip()[:300]}"]
        return []


class Success:
    """Of a disturbance that is none: the run ends well."""

    may_leave = False

    def __call__(self, ended, state, was_there):
        return [] if ended.code == SUCCESS else [wrong_code(ended)]


class Killed:
    """Of a run that was killed."""

    may_leave = True

    def __call__(self, ended, state, was_there):
        return [] if ended.code == -9 else [f"exit code {ended.code}, expected the end by SIGKILL"]


class Stopped:
    """Of signals: the run ends with one of these codes and has published nothing, or it was at its end already."""

    may_leave = False

    def __init__(self, codes, may_be_published=False):
        self.codes, self.may_be_published = codes, may_be_published

    def __call__(self, ended, state, was_there):
        if ended.code == SUCCESS:
            return []
        if ended.code not in self.codes:
            return [wrong_code(ended, f", expected one of {self.codes}")]
        if state == "new" and not self.may_be_published:
            return [f"published, and exit code {ended.code}"]
        return []


def expected_of(kind, number):
    """What a failing call in the output folder comes to. What cannot be listed or removed stays, and so does what cannot be
    locked: it may be another run's."""
    # To whoever reads them, the plan and what is stored beside it are an input.
    codes = (OUTPUT, NO_INPUT) if kind in ("read", "open", "stat") else (OUTPUT,)
    is_transient = number == errno.EINTR and kind in ("write", "read", "open", "create", "fsync", "list")
    if is_transient:
        return Success()
    return Failure(may_leave=kind in ("unlink", "rmdir", "list", "stat", "open", "rename", "flock", "any"), codes=codes)

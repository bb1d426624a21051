"""The campaign of scripts/faults/run that disturbs `report`, of a trace as it was recorded and of a converted one."""

import errno
import os
import signal
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from judge import INTERNAL, NO_INPUT, OUTPUT, SUCCESS, expected_of, said_badly, wrong_code
from runs import NONE, Fault
from trials import CHANGING, Sandbox

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# Calls on what is read.
READING = ("open", "read", "stat", "mmap")
OLD = b"the page before\n"


class Report:
    """A trace and, beside it, the page of an earlier report. `folder` is what every trial begins with."""

    def __init__(self, program, name, trace, folder):
        self.program, self.name, self.folder = program, name, folder
        self.subject = "out" if name == "converted" else trace.name
        (folder / "page").mkdir(parents=True)
        self.page(folder).write_bytes(OLD)
        (folder / trace.name).write_bytes(trace.read_bytes())
        if name == "converted":
            self._succeed(["convert", trace, "-o", folder / "out", "-q"])
        with Sandbox(folder) as made:
            self._succeed(self.words(made), made)
            self.new = self.page(made).read_bytes()
        assert self.new.startswith(b"<!DOCTYPE html>"), "it writes a page"

    def _succeed(self, words, folder=None):
        ended = self.program.run(words, folder or self.folder)
        assert ended.code == SUCCESS, f"{words} without a fault: {ended}"

    @staticmethod
    def page(folder):
        """Where the page lies."""
        return folder / "page" / "report.html"

    def words(self, folder):
        """The command."""
        return ["report", folder / self.subject, "-o", self.page(folder), "-q", "--threads", "1"]

    def count(self, place):
        """The calls below a place without a fault, by kind."""
        with Sandbox(self.folder) as folder:
            return self.program.run_with(NONE, folder / place, self.words(folder), folder).count()

    def after(self, folder, ended, place, fault):
        """What is wrong right after a fault."""
        page = self.page(folder)
        found = page.read_bytes() if page.is_file() else None
        state = {self.new: "new", OLD: "old", None: "gone"}.get(found, "a mixture")
        action, _, number = fault.do.partition(":")
        if action in ("kill", "killed"):
            wrong = [] if state in ("old", "new") else [f"the page is {state}"]
            return wrong + ([] if ended.code == -9 else [wrong_code(ended)])
        if action in ("signal", "signals"):
            # Under load it may come when the page is in its place.
            codes, right, may_leave = (SUCCESS, 128 + int(number)), ("old", "new"), False
        else:
            expected = expected_of(fault.kind, int(number))
            may_leave = expected.may_leave and place == "page"
            # What cannot be looked at is no converted trace, and then no trace at all.
            read = (NO_INPUT, INTERNAL) if self.name == "recorded" else (OUTPUT, NO_INPUT)
            codes = (SUCCESS, *(expected.codes if place == "page" else read))
            right = ("old",)
        wrong = [] if ended.code in codes else [wrong_code(ended, f", expected one of {codes}")]
        right = ("new",) if ended.code == SUCCESS else right
        wrong += [] if state in right else [f"exit code {ended.code}, and the page is {state}: {ended.said.strip()[:300]}"]
        if ended.code != SUCCESS:
            wrong += said_badly(ended)
        return wrong + ([] if may_leave else left(folder))

    def repeated(self, folder):
        """What is wrong after another report: it does not mind what a killed one has left."""
        before = left(folder)
        ended = self.program.run(self.words(folder), folder)
        wrong = [] if ended.code == SUCCESS else [f"repeated, {wrong_code(ended)}"]
        wrong += [] if self.page(folder).read_bytes() == self.new else ["repeated, it leaves another page"]
        return wrong + ([] if left(folder) == before else [f"repeated, {what}" for what in left(folder)])


def left(folder):
    """What lies beside the page, or in the folder for temporary files."""
    names = [path.name for path in (folder / "page").iterdir() if path.name != "report.html"]
    names += [path.name for path in (folder / "tmp").iterdir()]
    return [f"it leaves {sorted(names)[:3]}"] if names else []


def disturbed(report, place, fault):
    """One fault, the look at what it left, the repetition."""
    with Sandbox(report.folder) as folder:
        ended = report.program.run_with(fault, folder / place, report.words(folder), folder)
        met = ended.met()
        wrong = report.after(folder, ended, place, fault) if met else []
        wrong += report.repeated(folder)
        where = f"at call {fault.at} ({(met or 'no call').replace(str(folder), '')}): "
        return f"{report.name}: {fault.kind} {fault.do}", ended, [where + what for what in wrong], met is not None


def faults_of(report):
    """Kills, failures and signals at every call that changes something beside the page, failures at every call on what is
    read."""
    errors = [f"errno:{number}" for number in ERRORS]
    signals = [f"{times}:{int(number)}" for number in SIGNALS for times in ("signal", "signals")]
    counted = report.count("page")
    for kind in CHANGING:
        for at in range(1, counted[kind] + 1):
            yield from (("page", Fault(kind, at, do)) for do in ("kill", "killed", *errors, *signals))
    counted = report.count(report.subject)
    for kind in READING:
        for at in range(1, counted[kind] + 1):
            yield report.subject, Fault(kind, at, f"errno:{errno.EIO}")


def reports(tally, ways):
    """SIGKILL, ENOSPC, EIO, EACCES, SIGINT and SIGTERM, one signal and two, at every call of `report` that changes something, and EIO
    at every call on what it reads, of a recorded trace and of a converted one."""
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(dir=Sandbox.root))
    for name in ("recorded", "converted"):
        report = Report(ways[0].program, name, ways[0].trace, folder / name)
        places, faults = zip(*faults_of(report))
        with ProcessPoolExecutor(os.cpu_count()) as pool:
            for result in pool.map(disturbed, [report] * len(faults), places, faults, chunksize=8):
                tally.add(*result)
    return time.monotonic() - started

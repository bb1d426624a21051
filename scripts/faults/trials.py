"""What scripts/faults/run tries: ways to a trace, and one fault on each of them."""

import os
import shutil
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from judge import Judge, digest, others
from runs import NONE, Fault

# Calls after which something else lies on the disk.
CHANGING = ("create", "write", "fsync", "rename", "mkdir", "unlink", "rmdir", "truncate", "link", "flock")
PARTITION_BYTES = "64KiB"
FINDINGS_SHOWN = 20


class Way:
    """A way to a trace: commands one after another, over an old trace or none. `snapshots[n]` is the folder before
    command n, in which `out` is the output folder."""

    def __init__(self, program, name, trace, folder):
        self.program, self.name, self.trace = program, name, trace
        self.in_steps, self.replaces = "steps" in name, "replace" in name
        self.commands = ["convert"]
        self.plan = None
        self.snapshots = [folder / "0"]
        self._prepare(folder)

    def _prepare(self, folder):
        first = self.snapshots[0]
        first.mkdir(parents=True)
        if self.replaces:
            self._succeed(["convert", self.trace, "-o", first / "out", "-q", "--raw", "always"], first)
        old = digest(first / "out" / "trace=example")
        if self.in_steps:
            self._plan_commands(folder)
        for number in range(len(self.commands)):
            after = folder / str(number + 1)
            shutil.copytree(self.snapshots[-1], after)
            self._succeed(self.words(number, after), after)
            self.snapshots.append(after)
        new = digest(self.snapshots[-1] / "out" / "trace=example")
        assert new and new != old, "the way leads to no new trace"
        self.judge = Judge(new, old)

    def _plan_commands(self, folder):
        tried = folder / "tried"
        tried.mkdir()
        self._succeed([*self._plan(tried)], tried)
        [plan] = (tried / "out").iterdir()
        self.plan = plan.name
        partitions = len(list(plan.glob("segments-*")))
        assert partitions > 1, "there should be several partitions"
        self.commands = ["plan", *(f"convert-partition {number}" for number in range(partitions)), "commit"]

    def _plan(self, folder):
        return ["plan", self.trace, "-o", folder / "out", "-q", "--threads", "1", "--partition-bytes", PARTITION_BYTES,
                *self._if_exists()]

    def _if_exists(self):
        return ["--if-exists", "replace"] if self.replaces else []

    def _succeed(self, words, folder):
        ended = self.program.run(words, folder)
        assert ended.code == 0, f"{words} without a fault: {ended}"

    def words(self, number, folder):
        """A command in a folder."""
        command, *rest = self.commands[number].split()
        if command == "convert":
            return ["convert", self.trace, "-o", folder / "out", "-q", "--threads", "1", *self._if_exists()]
        if command == "plan":
            return self._plan(folder)
        return [command, folder / "out" / self.plan, *rest, "-q", "--threads", "1"]

    def repeat(self, number, folder, from_the_start=False):
        """Goes the rest of the way without a fault; the exit code of the command that failed, or the last. Where the trace
        is in its place, it stays."""
        is_new = self.judge.state(folder) == "new"
        begin = 0 if from_the_start and not is_new else number
        for command in range(begin, len(self.commands)):
            words = self.words(command, folder)
            if is_new and words[0] == "convert" and not self.replaces:
                words += ["--if-exists", "skip"]
            ended = self.program.run(words, folder)
            if ended.code != 0:
                return ended
        return ended

    def count(self, number, under):
        """The calls of a command without a fault, by kind."""
        with Sandbox(self.snapshots[number]) as folder:
            ended = self.program.run_with(NONE, under(self, folder), self.words(number, folder), folder)
            assert ended.code == 0, f"{self.commands[number]} without a fault: {ended}"
            return ended.count()


class Sandbox:
    """A copy of a folder, for one trial."""

    root = None

    def __init__(self, source):
        self.source = source

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(dir=Sandbox.root))
        shutil.copytree(self.source, self.folder, symlinks=True, dirs_exist_ok=True)
        return self.folder

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


@dataclass
class Tally:
    """What was tried, and what was found."""

    tried: Counter = field(default_factory=Counter)
    missed: int = 0
    ends: Counter = field(default_factory=Counter)
    findings: list = field(default_factory=list)

    def add(self, name, ended, wrong, is_met=True):
        """Counts a trial."""
        self.tried[name] += 1
        self.missed += not is_met
        self.ends[ended.code] += 1
        self.findings += [f"{name}: {what}" for what in wrong]


def in_out(_way, folder):
    """Faults are counted in the output folder."""
    return folder / "out"


def attempt(way, number, fault, expectation, under=in_out):
    """One trial: the fault, the look at what it left, the repetition. Returns how the run ended, the call that met the
    fault, and what is wrong."""
    with Sandbox(way.snapshots[number]) as folder:
        before = others(folder / "out")
        ended = way.program.run_with(fault, under(way, folder), way.words(number, folder), folder)
        met = ended.met()
        if met is None:
            # There is a call less than was counted; then nothing may have failed.
            return ended, met, [] if ended.code == 0 else [f"exit code {ended.code} without a fault: {ended.said[:300]}"]
        wrong = way.judge.after(folder, ended, expectation, before)
        again = way.repeat(number, folder, from_the_start=fault.at % 2 == 0)
        wrong += way.judge.at_the_end(folder, again.code)
        if wrong and again.code:
            wrong.append(f"repeated, it says {again.said.strip()[:300]}")
        return ended, met.replace(str(folder), ""), wrong


def sweep(tally, ways, faults_of, under=in_out, numbers=None):
    """Tries faults at every call of the commands of some ways. `faults_of` gives pairs of fault and expectation, from a
    kind and the number of its calls."""
    started = time.monotonic()
    trials = []
    for way in ways:
        for number, command in enumerate(way.commands):
            # One partition is like another.
            if numbers and number not in numbers or command.startswith("convert-partition") and number > 1:
                continue
            counted = way.count(number, under)
            for kind, count in sorted(counted.items()):
                trials += [(way, number, *pair, under) for pair in faults_of(kind, count)]

    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for (way, number, fault, _, _), (ended, met, wrong) in zip(trials, pool.map(attempt, *zip(*trials), chunksize=8)):
            name = f"{way.name}: {way.commands[number]}: {fault.kind} {fault.do}"
            tally.add(name, ended, [f"at call {fault.at} ({met}): {what}" for what in wrong], met is not None)
    return time.monotonic() - started


def at_every_call(kind, count, do, expectation):
    """The same at each call of a kind."""
    return [(Fault(kind, at, do), expectation) for at in range(1, count + 1)]

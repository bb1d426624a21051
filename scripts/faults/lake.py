"""The campaign of scripts/faults/run that disturbs `compact`: a trace comes to a lake, and one goes."""

import errno
import hashlib
import os
import shutil
import signal
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from judge import INTERNAL, SUCCESS, expected_of, said_badly, wrong_code
from runs import NONE, Fault
from trials import CHANGING, Sandbox

ERRORS = (errno.ENOSPC, errno.EIO, errno.EACCES)
SIGNALS = (signal.SIGINT, signal.SIGTERM)
# All that a lake is besides its manifest.
FOLDERS = ("events", "manifests", "sidecar")


def contents(lake):
    """The files of a lake with their hashes, its manifest apart from the others."""
    files = {path.relative_to(lake).as_posix(): path for path in lake.rglob("*") if path.is_file()}
    hashes = {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in files.items()}
    return hashes.pop("lake.json", None), hashes


class Lake:
    """Two traces, and a lake that has one of them and another that is to go. `folder` is what every trial begins with."""

    def __init__(self, program, trace, folder):
        self.program, self.folder = program, folder
        whole, inputs = trace.read_bytes(), folder / "in"
        inputs.mkdir(parents=True)
        for name in ("a", "b", "gone"):
            (inputs / f"{name}.etl").write_bytes(whole)
        self._succeed(["convert", inputs, "-o", folder / "out", "-q", "--provider", "Kernel-Process"])
        self._succeed(["compact", folder / "out/trace=a", folder / "out/trace=gone", "-o", folder / "lake", "-q", "--by", "none"])
        shutil.rmtree(folder / "out/trace=gone")
        self.old = contents(folder / "lake")
        with Sandbox(folder) as made:
            ended = program.run(self.words(made), made)
            assert ended.code == SUCCESS, f"compact without a fault: {ended}"
            self.new = contents(made / "lake")
        assert None not in (self.old[0], self.new[0]) and self.old != self.new, "the lake changes"

    def _succeed(self, words):
        ended = self.program.run(words, self.folder)
        assert ended.code == SUCCESS, f"{words} without a fault: {ended}"

    @staticmethod
    def words(folder):
        """The command."""
        return ["compact", folder / "out", "-o", folder / "lake", "-q", "--threads", "1", "--forget", "gone"]

    def count(self):
        """The calls below the lake without a fault, by kind."""
        with Sandbox(self.folder) as folder:
            return self.program.run_with(NONE, folder / "lake", self.words(folder), folder).count()

    def state(self, folder):
        """Which lake a reader finds who goes by the manifest, and what else lies there."""
        found, files = contents(folder / "lake")
        for name, (manifest, hashes) in {"old": self.old, "new": self.new}.items():
            if found == manifest:
                is_whole = all(files.get(path) == digest for path, digest in hashes.items())
                return name if is_whole else f"half of the {name} one", sorted(set(files) - set(hashes))
        return "gone" if found is None else "a mixture", []

    def after(self, folder, ended, fault):
        """What is wrong right after a fault."""
        state, rest = self.state(folder)
        action, _, number = fault.do.partition(":")
        if action in ("kill", "killed"):
            wrong = [] if state in ("old", "new") else [f"the lake is {state}"]
            return wrong + ([] if ended.code == -9 else [wrong_code(ended)])
        if action in ("signal", "signals"):
            codes = (SUCCESS, 128 + int(number))
        else:
            codes = (SUCCESS, *expected_of(fault.kind, int(number)).codes, INTERNAL)
        wrong = [] if ended.code in codes else [wrong_code(ended, f", expected one of {codes}")]
        right = ("new",) if ended.code == SUCCESS else ("old", "new")
        wrong += [] if state in right else [f"exit code {ended.code}, and the lake is {state}: {ended.said.strip()[:300]}"]
        if ended.code != SUCCESS:
            wrong += said_badly(ended)
        # What cannot be removed stays for the next run, and what two signals have cut short.
        may_leave = fault.kind in ("unlink", "rmdir", "flock", "rename", "fsync") or action == "signals"
        return wrong + ([] if may_leave or not rest else [f"it leaves {rest[:3]}"])

    def repeated(self, folder):
        """What is wrong after another run."""
        words = self.words(folder) if self.state(folder)[0] == "old" else self.words(folder)[:-2]
        ended = self.program.run(words, folder)
        state, rest = self.state(folder)
        wrong = [] if ended.code == SUCCESS else [f"repeated, {wrong_code(ended)}"]
        wrong += [] if (state, rest) == ("new", []) else [f"repeated, the lake is {state}, with {rest[:3]}"]
        left = [path.name for path in (folder / "lake").iterdir() if path.name not in (*FOLDERS, "lake.json")]
        return wrong + ([f"repeated, it leaves {left}"] if left else [])


def disturbed(lake, fault):
    """One fault, the look at what it left, the repetition."""
    with Sandbox(lake.folder) as folder:
        ended = lake.program.run_with(fault, folder / "lake", lake.words(folder), folder)
        met = ended.met()
        wrong = lake.after(folder, ended, fault) if met else []
        wrong += lake.repeated(folder)
        where = f"at call {fault.at} ({(met or 'no call').replace(str(folder), '')}): "
        return f"compact: {fault.kind} {fault.do}", ended, [where + what for what in wrong], met is not None


def lakes(tally, ways):
    """SIGKILL before and after, ENOSPC, EIO, EACCES, SIGINT and SIGTERM, one signal and two, at every call of `compact` that changes
    something in the folder of the lake."""
    started = time.monotonic()
    lake = Lake(ways[0].program, ways[0].trace, Path(tempfile.mkdtemp(dir=Sandbox.root)) / "lake")
    dos = ["kill", "killed", *(f"errno:{number}" for number in ERRORS)]
    dos += [f"{times}:{int(number)}" for number in SIGNALS for times in ("signal", "signals")]
    counted = lake.count()
    faults = [Fault(kind, at, do) for kind in CHANGING for at in range(1, counted[kind] + 1) for do in dos]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(disturbed, [lake] * len(faults), faults, chunksize=8):
            tally.add(*result)
    return time.monotonic() - started

"""The campaign of scripts/faults/run that disturbs `--if-exists update` over several traces."""

import errno
import json
import os
import shutil
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from judge import DAMAGED, OUTPUT, digest, expected_of, said_badly, wrong_code
from runs import NONE, Fault
from trials import CHANGING, Sandbox

# What an earlier run has converted and what is there now; None: nothing.
TRACES = ("unchanged", "changed", "new")
# No traces: the earlier run has found that out of the one, and nobody of the other.
REFUSED = ("refused", "unreadable")
# What is kept of inputs that became no trace.
KEPT = ".etl2parquet"
ERRORS = (errno.ENOSPC, errno.EIO)


class Update:
    """Three traces and two files that are none, of which an earlier run has seen a part."""

    def __init__(self, program, trace, folder):
        self.program, self.inputs, self.before = program, folder / "in", folder / "before"
        self.inputs.mkdir(parents=True)
        self.before.mkdir()
        whole = trace.read_bytes()
        self._input("unchanged", whole)
        self._input("changed", whole[: len(whole) // 2])
        self._input("refused", b"no trace")
        self._run(self.before)
        self.old = self._state(self.before)
        self._input("changed", whole)
        self._input("new", whole)
        self._input("unreadable", b"no trace either")
        after = folder / "after"
        shutil.copytree(self.before, after)
        self.code = self._run(after).code
        self.new, self.kept = self._state(after), kept(after)
        assert self.code == DAMAGED and set(self.kept) == {f"{name}.json" for name in REFUSED}, (self.code, self.kept)
        assert None not in self.new.values() and self.old["new"] is None, "an update converts what is new"
        assert self.old["changed"] not in (None, self.new["changed"]), "an update converts what has changed"

    def _input(self, name, content):
        (self.inputs / f"{name}.etl").write_bytes(content)

    def words(self, folder, *more):
        """The command."""
        return ["convert", self.inputs, "-o", folder / "out", "-q", "--threads", "1", "--if-exists", "update", *more]

    def _run(self, folder):
        return self.program.run(self.words(folder), folder)

    @staticmethod
    def _state(folder):
        return {name: digest(folder / "out" / f"trace={name}") for name in TRACES}

    def state(self, folder):
        """Of each trace: old, new or none; anything else is a mixture."""
        found = {}
        for name in TRACES:
            try:
                seen = digest(folder / "out" / f"trace={name}")
            except (OSError, ValueError, KeyError):
                seen = "unreadable"
            found[name] = "new" if seen == self.new[name] else "old" if seen == self.old[name] else "mixture"
        return found

    def count(self):
        """The calls of the update without a fault, by kind."""
        with Sandbox(self.before) as folder:
            return self.program.run_with(NONE, folder / "out", self.words(folder), folder).count()

    def after(self, folder, ended, state, fault):
        """What is wrong right after a fault."""
        wrong = [f"of {name} a mixture is published" for name, found in state.items() if found == "mixture"]
        wrong += [f"{name} is no whole refusal" for name, text in kept(folder).items() if text != self.kept.get(name)]
        if fault.do.startswith("kill"):
            return wrong + ([] if ended.code == -9 else [wrong_code(ended)])
        if ended.code not in (self.code, OUTPUT):
            wrong.append(wrong_code(ended, f", expected {OUTPUT} or {self.code}"))
        may_leave = expected_of(fault.kind, int(fault.do.split(":")[1])).may_leave
        return wrong + said_badly(ended) + ([] if may_leave else others(folder))

    def repeated(self, folder, state):
        """What is wrong after another update: it does what is left, and nothing twice."""
        summary = folder / "summary.json"
        ended = self.program.run(self.words(folder, "--summary", summary), folder)
        wrong = [] if ended.code == self.code else [f"repeated, {wrong_code(ended)}"]
        wrong += [f"repeated, it leaves {name}: {found}" for name, found in self.state(folder).items() if found != "new"]
        wrong += [f"repeated, {what}" for what in others(folder)]
        if kept(folder) != self.kept:
            wrong.append(f"repeated, it keeps {sorted(kept(folder))}")
        told = {trace["trace"]: trace["status"] for trace in json.loads(summary.read_text())["traces"]}
        expected = {name: "skipped" if found == "new" else "published" for name, found in state.items()}
        expected |= dict.fromkeys(REFUSED, "quarantined")
        return wrong + ([] if told == expected else [f"repeated, it tells {told}, expected {expected}"])


def kept(folder):
    """The refusals, whole or not, without what varies."""
    found = {}
    for file in (folder / "out" / KEPT).glob("*.json"):
        try:
            found[file.name] = json.loads(file.read_text())
        except ValueError:
            found[file.name] = None
    return found


def others(folder):
    """What lies beside traces and refusals, or in the folder for temporary files."""
    left = [path.name for path in (folder / "out").iterdir() if not path.name.startswith("trace=") and path.name != KEPT]
    left += [path.name for path in (folder / "out" / KEPT).glob("*") if path.suffix != ".json"]
    left += [path.name for path in (folder / "tmp").iterdir()]
    return [f"it leaves {sorted(left)[:3]}"] if left else []


def disturbed(update, fault):
    """One fault, the look at what it left, the repetition."""
    with Sandbox(update.before) as folder:
        ended = update.program.run_with(fault, folder / "out", update.words(folder), folder)
        met = ended.met()
        state = update.state(folder)
        wrong = update.after(folder, ended, state, fault) if met else []
        wrong += update.repeated(folder, state)
        name = f"update: {fault.kind} {fault.do}"
        where = f"at call {fault.at} ({(met or 'no call').replace(str(folder), '')}): "
        return name, ended, [where + what for what in wrong], met is not None


def updates(tally, ways):
    """SIGKILL, ENOSPC and EIO at every call that changes something of an update of several traces."""
    started = time.monotonic()
    update = Update(ways[0].program, ways[0].trace, Path(tempfile.mkdtemp(dir=Sandbox.root)))
    counted = update.count()
    dos = ["kill", "killed", *(f"errno:{number}" for number in ERRORS)]
    faults = [Fault(kind, at, do) for kind in CHANGING for at in range(1, counted[kind] + 1) for do in dos]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(disturbed, [update] * len(faults), faults, chunksize=8):
            tally.add(*result)
    return time.monotonic() - started

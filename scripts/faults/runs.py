"""Runs of the program in which one system call goes wrong (faults_shim.c), for scripts/faults/run."""

import os
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import measuring

SOURCE = Path(__file__).parent / "shim.c"
# No run takes longer; one that hangs must end as a finding.
PATIENCE = 60
# What a run is recognized by when it did not end in time.
HUNG = -1000


def compile_shim(folder):
    """Compiles what is preloaded; without a compiler the script ends."""
    shim = Path(folder) / "shim.so"
    command = [os.environ.get("CC", "cc"), "-O1", "-Wall", "-shared", "-fPIC", "-o", str(shim), str(SOURCE)]
    try:
        compiled = subprocess.run(command, check=False)
    except FileNotFoundError:
        sys.exit(f"{command[0]} is needed to compile {SOURCE.name}")
    if compiled.returncode != 0:
        sys.exit(f"{SOURCE.name} does not compile")
    return shim


@dataclass(frozen=True)
class Fault:
    """What happens at a call: `kind` as the shim counts them, `at` from 1, `do` in the shim's words."""

    kind: str
    at: int
    do: str

    def __str__(self):
        return f"{self.kind} {self.at} {self.do}"


NONE = Fault("any", 0, "kill")


@dataclass(frozen=True)
class Ended:
    """How a run ended: exit code (negative: the signal), what it said, and the counted calls as (kind, path, is met)."""

    code: int
    said: str
    calls: tuple = ()

    def met(self):
        """The first call that met the fault, as text; None where none did."""
        return next((f"{kind} {path}" for kind, path, is_met in self.calls if is_met), None)

    def count(self):
        """How many calls of each kind there were."""
        return Counter(kind for kind, _, _ in self.calls)


class Program:
    """The program, with the shim before it."""

    def __init__(self, binary, shim, scratch):
        self.binary, self.shim, self.scratch = str(binary), str(shim), Path(scratch)

    def run(self, words, folder, before=()):
        """Runs to the end without a fault; `before` is what the command line begins with."""
        with self._start(words, folder, None, before) as child:
            return self._end(child, None)

    def run_with(self, fault, under, words, folder, while_stopped=None):
        """Runs with a fault among the calls below `under`; `while_stopped` is called when the fault has stopped it."""
        log = Path(tempfile.mktemp(dir=self.scratch))
        with self._start(words, folder, (fault, under, log)) as child:
            if while_stopped:
                _, status = os.waitpid(child.pid, os.WUNTRACED)
                if not os.WIFSTOPPED(status):
                    # It ended before.
                    child.returncode = os.waitstatus_to_exitcode(status)
                else:
                    while_stopped()
                    child.send_signal(signal.SIGCONT)
            return self._end(child, log)

    def begin(self, words, folder, fault=None):
        """Begins to run; the fault is a pair of it and what it counts under."""
        log = Path(tempfile.mktemp(dir=self.scratch)) if fault else None
        return self._start(words, folder, fault and (*fault, log)), log

    def end(self, child, log):
        """Waits for what `begin` began."""
        with child:
            return self._end(child, log)

    def _start(self, words, folder, faulty, before=()):
        temporary = Path(folder) / "tmp"
        temporary.mkdir(exist_ok=True)
        environment = {**measuring.environment(), "TMPDIR": str(temporary)}
        if faulty:
            fault, under, log = faulty
            environment |= {"LD_PRELOAD": self.shim, "FAULTS_UNDER": str(under), "FAULTS_LOG": str(log)}
            environment |= {"FAULTS_KIND": fault.kind, "FAULTS_AT": str(fault.at), "FAULTS_DO": fault.do}
        command = [*before, self.binary, *map(str, words)]
        pipe = subprocess.PIPE
        return subprocess.Popen(command, env=environment, stdout=pipe, stderr=pipe, text=True, errors="replace")

    @staticmethod
    def _end(child, log):
        try:
            out, errors = child.communicate(timeout=PATIENCE)
            code = child.returncode
        except subprocess.TimeoutExpired:
            child.kill()
            out, errors = child.communicate()
            code = HUNG
        return Ended(code, out + errors, read_log(log))


def read_log(log):
    """The calls that the shim has counted."""
    if not log or not log.exists():
        return ()
    calls = []
    for line in log.read_text(errors="replace").splitlines():
        _, kind, path = line.split(" ", 2)
        calls.append((kind, path.removesuffix(" !"), path.endswith(" !")))
    log.unlink()
    return tuple(calls)

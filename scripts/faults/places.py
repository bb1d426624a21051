"""The campaigns of scripts/faults/run that disturb what is around the program: full disks, limits, changing inputs, other runs."""

import ctypes
import functools
import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from judge import DAMAGED, INTERNAL, NO_INPUT, OUTPUT, SUCCESS, Failure, others
from runs import Fault
from trials import Sandbox, Way

LIBC = ctypes.CDLL(None, use_errno=True)
# MS_REMOUNT, MNT_DETACH.
REMOUNT, DETACH = 32, 2
PAGE = 4096
ROOMY = "size=256m,nr_inodes=100000"


def in_parallel(tally, trials, one):
    """Counts what becomes of trials: `one` gives a name, how the run ended, and what is wrong, or None where it has none."""
    started = time.monotonic()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for result in pool.map(one, *zip(*trials), chunksize=4):
            if result:
                tally.add(*result)
    return time.monotonic() - started


def last_of(way):
    """The commands of a way that stand for all: one partition is like another."""
    return [number for number, command in enumerate(way.commands) if command[-1] not in "23456789"]


# --- a disk that is full -----------------------------------------------------------------------------------------------


def can_mount():
    """Whether a tmpfs can be mounted in a namespace of our own."""
    command = ["unshare", "-Urm", "sh", "-c", "mount -t tmpfs x /mnt"]
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def full(tally, ways):
    """Disks of every size, by pages and by inodes, up to the one that is large enough. To be called where one can mount."""
    # A size of 0 is none.
    trials = [(way, number, kind, room) for way in ways for number in last_of(way)
              for kind, most in (("size", 100), ("nr_inodes", 80)) for room in range(1, most)]
    return in_parallel(tally, trials, on_full_disk)


def on_full_disk(way, number, kind, room):
    """A command on a disk with room for so many pages or inodes beside what is there."""
    folder = Path(tempfile.mkdtemp(dir=Sandbox.root))
    mount(folder, ROOMY)
    try:
        shutil.copytree(way.snapshots[number], folder, dirs_exist_ok=True)
        (folder / "tmp").mkdir(exist_ok=True)
        before, there = others(folder / "out"), os.statvfs(folder)
        used = (there.f_blocks - there.f_bfree) * there.f_frsize if kind == "size" else there.f_files - there.f_ffree
        mount(folder, f"{kind}={used + room * (PAGE if kind == 'size' else 1)}", REMOUNT)
        ended = way.program.run(way.words(number, folder), folder)
        wrong = way.judge.after(folder, ended, Failure(), before)
        mount(folder, ROOMY, REMOUNT)
        wrong += way.judge.at_the_end(folder, way.repeat(number, folder).code)
    finally:
        LIBC.umount2(str(folder).encode(), DETACH)
        folder.rmdir()
    name = f"{way.name}: {way.commands[number]}: disk that is full by {kind}"
    return name, ended, [f"with room for {room}: {what}" for what in wrong]


def mount(folder, options, flags=0):
    """Mounts a tmpfs, or changes what it may hold."""
    words = [str(word).encode() for word in ("tmpfs", folder, "tmpfs")]
    if LIBC.mount(*words, ctypes.c_ulong(flags), options.encode()) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount a tmpfs with {options}")


# --- a limit of file sizes ---------------------------------------------------------------------------------------------


def limits(tally, ways):
    """Limits of file sizes, up to the largest file."""
    trials = [(way, number, limit) for way in ways for number in last_of(way) for limit in range(0, 40_000, 500)]
    return in_parallel(tally, trials, under_limit)


def under_limit(way, number, limit):
    """A command that may write files of so many bytes."""
    with Sandbox(way.snapshots[number]) as folder:
        before = others(folder / "out")
        ended = way.program.run(way.words(number, folder), folder, ("prlimit", f"--fsize={limit}"))
        wrong = way.judge.after(folder, ended, Failure(), before)
        wrong += way.judge.at_the_end(folder, way.repeat(number, folder).code)
        if ended.code == OUTPUT and "ulimit -f" not in ended.said:
            wrong.append(f"it does not name the limit: {ended.said.strip()[:300]}")
    return f"{way.name}: {way.commands[number]}: limit of file sizes", ended, [f"{limit}: {what}" for what in wrong]


# --- an input that changes while it is read ----------------------------------------------------------------------------


def cut(path):
    os.truncate(path, path.stat().st_size // 2)


def emptied(path):
    os.truncate(path, 0)


def grown(path):
    with path.open("ab") as file:
        file.write(bytes(4096))


def rewritten(path):
    with path.open("r+b") as file:
        content = bytearray(file.read())
        content[::7] = bytes(len(content[::7]))
        file.seek(0)
        file.write(content)


def touched(path):
    os.utime(path)


def removed(path):
    path.unlink()


def replaced(path):
    other = path.with_name("other")
    other.write_bytes(path.read_bytes()[: path.stat().st_size - 4096])
    other.replace(path)


CHANGES = (cut, emptied, grown, rewritten, touched, removed, replaced)


def changes(tally, ways):
    """Changes of the input at every call on it, made while the program is stopped there."""
    trials = []
    for way in ways:
        for number in last_of(way):
            calls = sum(way.count(number, lambda way, _: way.trace).values())
            trials += [(way, number, at, change) for change in CHANGES for at in range(1, calls + 1)]
    return in_parallel(tally, trials, while_read)


@functools.cache
def own_way(way, process):
    """The same way with an input that no other process reads."""
    folder = Path(tempfile.mkdtemp(dir=Sandbox.root, prefix=f"{process}-"))
    trace = Path(shutil.copy2(way.trace, folder))
    return Way(way.program, way.name, trace, folder / "way")


def while_read(way, number, at, change):
    """A change of the input at a call on it."""
    original, way = way.trace, own_way(way, os.getpid())
    with Sandbox(way.snapshots[number]) as folder:
        before = others(folder / "out")
        fault, words = Fault("any", at, "stop"), way.words(number, folder)
        published = []

        def disturb():
            published.append(way.judge.seen(folder) == "new")
            change(way.trace)

        ended = way.program.run_with(fault, way.trace, words, folder, disturb)
        is_met = ended.met() is not None
        # The first look is at the kind of file alone: what changes before it is opened again is the input. And what is
        # published is of what was read.
        reads = sum(kind == "read" for kind, _, _ in ended.calls[: at - 1])
        is_in_time = is_met and reads > 1 and not any(published)
        wrong = changed_while_read(way, folder, ended, before) if is_in_time else []
        shutil.copy2(original, way.trace)
        if is_in_time:
            wrong += way.judge.at_the_end(folder, way.repeat(number, folder).code)
    name = f"{way.name}: {way.commands[number]}: input {change.__name__}"
    return (name, ended, [f"at call {at}: {what}" for what in wrong]) if is_in_time else None


def changed_while_read(way, folder, ended, before):
    wrong = way.judge.after(folder, ended, Failure(codes=(INTERNAL, NO_INPUT)), before)
    if ended.code in (SUCCESS, DAMAGED):
        wrong.append("it goes on with an input that has changed")
    if ended.code == INTERNAL and not re.search("the (file|input) (changed|must not change) ", ended.said):
        wrong.append(f"it does not say that the input changed: {ended.said.strip()[:300]}")
    return wrong


# --- several runs into one folder --------------------------------------------------------------------------------------

ROUNDS = 300


def crowds(tally, ways):
    """Two to eight runs at a time into one folder, half of them killed somewhere."""
    trials = [(way, seed) for way in ways for seed in range(ROUNDS)]
    return in_parallel(tally, trials, in_crowd)


def in_crowd(way, seed):
    """Some runs, which a reader watches, and one more at the end."""
    draw = random.Random(seed)
    number = draw.randrange(len(way.commands))
    with Sandbox(way.snapshots[number]) as folder:
        begun = []
        for _ in range(draw.randint(2, 8)):
            fault = draw.random() < 0.5 and (Fault("any", draw.randint(1, 500), "kill"), folder / "out")
            begun.append(way.program.begin(way.words(number, folder), folder, fault or None))
            time.sleep(draw.random() * 0.004)
        wrong = watched(way, folder, begun)
        ended = [way.program.end(*run) for run in begun]
        wrong += agreed(way, folder, ended)
        wrong += way.judge.at_the_end(folder, way.repeat(number, folder).code)
    name = f"{way.name}: {way.commands[number].split()[0]}: {len(begun)} runs at a time"
    return name, ended[0], [f"seed {seed}: {what}" for what in wrong]


def watched(way, folder, begun):
    """What a reader sees while the runs go on: always a whole trace, or none where none was."""
    wrong = set()
    while any(child.poll() is None for child, _ in begun):
        state = way.judge.seen(folder)
        if state == "mixture" or state == "none" and way.judge.old:
            wrong.add(f"a reader sees: {state}")
    return sorted(wrong)


def agreed(way, folder, ended):
    """Whether exit codes agree with what is there."""
    codes, state = [run.code for run in ended], way.judge.state(folder)
    wrong = [] if set(codes) <= {SUCCESS, OUTPUT, -9} else [f"exit codes {codes}: {[run.said for run in ended]}"]
    if state == "mixture":
        wrong.append("a mixture is published")
    publishes = len(way.commands) == 1
    if publishes and SUCCESS in codes and state != "new":
        wrong.append(f"exit code 0, and the trace is: {state}")
    if publishes and not way.replaces and codes.count(SUCCESS) > 1:
        wrong.append("two runs have published one trace")
    return wrong

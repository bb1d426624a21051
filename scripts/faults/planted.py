"""Faults made on purpose, which scripts/faults/run must find: of traces, of what is left behind, of programs that publish badly."""

import os
import shutil
import sys

from campaigns import not_on_disk
from judge import PUBLISHED_WITH_OUTPUT_FAILURE, Failure, Killed
from runs import Ended, Fault, Program
from trials import Sandbox, Way, attempt

# A program that publishes a trace, which lies there finished, file by file. One process: its filter would end any other.
BAD_PUBLISHER = """#!{python} -IS
import shutil, sys
shutil.copytree({finished!r}, sys.argv[4] + "/trace=example", dirs_exist_ok=True)
"""


def check(program, trace, work):
    """The planted faults that are not found."""
    copy = work / "planted" / "example.etl"
    copy.parent.mkdir()
    copy.write_bytes(trace.read_bytes())
    way = Way(program, "replace", copy, work / "planted" / "way")
    missed = [name for name, spoil in SPOILED.items() if not finds_spoiled(way, spoil)]
    missed += [name for name, (code, said, codes) in BADLY_ENDED.items() if not finds_badly_ended(way, code, said, codes)]
    missed += [] if finds_bad_publisher(way, work / "planted") else ["a program that publishes file by file"]
    missed += [name for name, calls in BADLY_ORDERED.items() if not not_on_disk(calls, "/o")]
    return missed + ([] if misses_nothing(way) else ["a good trace is taken for a bad one"])


def published(folder):
    return folder / "out" / "trace=example"


def some_part(folder):
    return sorted(published(folder).rglob("*.parquet"))[0]


def flip(folder):
    file = some_part(folder)
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)


def tear(folder):
    """Half of the files are those of the old trace."""
    old = folder / "old"
    for file in sorted(old.rglob("*.parquet"))[::2]:
        shutil.copyfile(file, published(folder) / file.relative_to(old))


# Each makes something of a folder with the new trace, and the old one beside it, that must not be.
SPOILED = {
    "a file is missing": lambda folder: some_part(folder).unlink(),
    "a file is cut": lambda folder: os.truncate(some_part(folder), 10),
    "a bit is flipped": flip,
    "half of the files are old": tear,
    "a file is too many": lambda folder: (published(folder) / "events" / "part.tmp").touch(),
    "there is no manifest": lambda folder: (published(folder) / "sidecar" / "manifest.json").unlink(),
    "the manifest is cut": lambda folder: os.truncate(published(folder) / "sidecar" / "manifest.json", 100),
    "the old trace has gone": lambda folder: shutil.rmtree(published(folder)),
    "a staging folder is left": lambda folder: (folder / "out" / ".etl2parquet-example").mkdir(),
    "a lock is left": lambda folder: (folder / "out" / "lock").touch(),
    "a temporary file is left": lambda folder: (folder / "tmp" / "spill").touch(),
}

# Exit code, what is said, and the codes that would be right.
BADLY_ENDED = {
    "a failure has the code of another": (3, "error: disk full", (6,)),
    "a failure says nothing": (6, "", (6,)),
    "a failure is a panic": (6, "error: the program stopped itself: panicked at", (6,)),
    "a crash": (-11, "", (6,)),
    "a hang": (-1000, "", (6,)),
    "a failure that has published and does not say so": (6, "error: not published", (6,)),
}

BADLY_ORDERED = {
    "a file is published before it is on disk": (
        ("create", "/o/.s/parts/a.1.tmp", False),
        ("write", "/o/.s/parts/a.1.tmp", False),
        ("rename", "/o/.s/new/a", False),
        ("fsync", "/o/.s/new", False),
        ("rename", "/o/trace=a", False),
        ("fsync", "/o", False),
    ),
    "a trace is published before its folder is on disk": (
        ("mkdir", "/o/.s/new", False),
        ("rename", "/o/.s/new/a", False),
        ("rename", "/o/trace=a", False),
        ("fsync", "/o", False),
    ),
    "the name of a trace is not brought to disk": (("rename", "/o/trace=a", False),),
}

COUNT = len(SPOILED) + len(BADLY_ENDED) + len(BADLY_ORDERED) + 2


def finds_spoiled(way, spoil):
    with Sandbox(way.snapshots[-1]) as folder:
        shutil.copytree(published(way.snapshots[0]), folder / "old")
        spoil(folder)
        right_after = way.judge.after(folder, Ended(6, f"error: {PUBLISHED_WITH_OUTPUT_FAILURE}"), Failure(), set())
        return bool(right_after) and bool(way.judge.at_the_end(folder, 0))


def finds_badly_ended(way, code, said, codes):
    has_published = "published" in said
    with Sandbox(way.snapshots[-1 if has_published else 0]) as folder:
        return bool(way.judge.after(folder, Ended(code, said), Failure(codes=codes), set()))


def misses_nothing(way):
    """Right after a good run, and after one that changed nothing, nothing is wrong."""
    with Sandbox(way.snapshots[-1]) as new, Sandbox(way.snapshots[0]) as old:
        wrong = way.judge.after(new, Ended(0, ""), Failure(), set()) + way.judge.at_the_end(new, 0)
        return not wrong + way.judge.after(old, Ended(6, "error: disk full"), Failure(), set())


def finds_bad_publisher(way, folder):
    """Killed while it publishes, it leaves a mixture."""
    script = folder / "bad"
    script.write_text(BAD_PUBLISHER.format(python=sys.executable, finished=str(published(way.snapshots[-1]))))
    script.chmod(0o755)
    program = Program(script, way.program.shim, way.program.scratch)
    bad = Way(program, "convert", way.trace, folder / "bad-way")
    found = [wrong for at in range(1, 10) for wrong in attempt(bad, 0, Fault("create", at, "kill"), Killed())[2]]
    return any("a mixture is published" in wrong for wrong in found)

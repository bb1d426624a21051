"""The campaign of scripts/faults/run whose input lies on a disk that cannot read it: a loop device over an image that was cut."""

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from judge import NO_INPUT, Failure, others
from trials import Sandbox, Way

MIB = 1 << 20
BLOCK = 1024
# Behind the metadata of so small a file system, and nothing but the trace behind it.
IMAGE = 16 * MIB


class Disk:
    """A file system of its own, in an image; mounted through a loop device, which needs the right to do so."""

    def __init__(self, folder, files):
        self.image, self.root = folder / "image", folder / "mounted"
        self.whole = folder / "whole"
        self.root.mkdir()
        self.whole.touch()
        os.truncate(self.whole, IMAGE)
        run("mkfs.ext4", "-q", "-b", str(BLOCK), "-O", "^has_journal", self.whole)
        run("mount", "-o", "loop", self.whole, self.root)
        try:
            self.paths = [Path(shutil.copy2(file, self.root)) for file in files]
            os.sync()
        finally:
            run("umount", self.root)

    def __enter__(self):
        shutil.copyfile(self.whole, self.image)
        run("mount", "-o", "loop,ro", self.image, self.root)
        return self

    def __exit__(self, *_):
        run("umount", self.root)

    def blocks(self, path):
        """Where the blocks of a file lie in the image, in bytes."""
        found = []
        for line in run("filefrag", "-v", path).splitlines():
            words = line.replace(":", " ").replace("..", " ").split()
            if words and words[0].isdigit() and len(words) > 5:
                first, last = int(words[3]), int(words[4])
                found += [block * BLOCK for block in range(first, last + 1)]
        return found


def run(*command):
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def can_mount():
    """Whether this system lets us mount an image."""
    if not all(shutil.which(program) for program in ("mkfs.ext4", "mount", "umount", "filefrag")):
        return False
    with tempfile.TemporaryDirectory() as folder:
        try:
            Disk(Path(folder), [])
        except subprocess.CalledProcessError:
            return False
    return True


def disk(tally, ways):
    """An input of which every block, and all behind it, cannot be read."""
    if not can_mount():
        print("disk       skipped: this system lets nobody mount an image through a loop device")
        return 0
    started = time.monotonic()
    folder = Path(tempfile.mkdtemp(dir=Sandbox.root))
    device = Disk(folder, [ways[0].trace])
    [trace] = device.paths
    with device:
        own = [Way(way.program, way.name, trace, folder / way.name) for way in ways if not way.in_steps]
        blocks = device.blocks(trace)
    assert len(blocks) * BLOCK >= ways[0].trace.stat().st_size, "the trace is all there"
    for way in own:
        for number in range(len(blocks)):
            tally.add(*unreadable_from(way, device, blocks[number]))
    return time.monotonic() - started


def unreadable_from(way, device, place):
    """A conversion of an input that cannot be read from a block on."""
    with Sandbox(way.snapshots[0]) as folder:
        before = others(folder / "out")
        with device:
            os.truncate(device.image, place)
            ended = way.program.run(way.words(0, folder), folder)
        wrong = way.judge.after(folder, ended, Failure(codes=(NO_INPUT,)), before)
        if ended.code != NO_INPUT:
            wrong.append(f"it goes on with an input that cannot be read: exit code {ended.code}")
        if str(way.trace) not in ended.said:
            wrong.append(f"it does not name the input: {ended.said.strip()[:300]}")
        with device:
            wrong += way.judge.at_the_end(folder, way.repeat(0, folder).code)
    return f"{way.name}: unreadable blocks", ended, [f"from byte {place} of the disk on: {what}" for what in wrong]

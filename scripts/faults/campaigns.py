"""The campaigns of scripts/faults/run that make single calls fail, by count: kills, failures, halves, inputs, signals, power."""

import errno
import signal
import time

from judge import INTERNAL, NO_INPUT, Failure, Killed, Stopped, Success, expected_of
from runs import NONE, Fault
from trials import CHANGING, Sandbox, at_every_call, in_out, sweep

# Calls that need room on the disk.
FILLING = ("create", "write", "fsync", "rename", "mkdir", "truncate", "link")
ERRORS = ("ENOSPC", "EIO", "EACCES", "EDQUOT", "EINTR", "EMFILE")
# A failure like any other, and one that is none. The rest is told apart in messages alone.
TELLING = ("EIO", "EINTR")
# Beside those, what only some calls fail with.
ERRORS_OF = {
    "write": ("EFBIG", "ESTALE"),
    "rename": ("EINVAL", "EXDEV", "EBUSY"),
    "mkdir": ("EROFS", "ENAMETOOLONG"),
    "rmdir": ("EBUSY", "ENOTEMPTY"),
    "flock": ("ENOLCK", "EWOULDBLOCK"),
    "fsync": ("EINVAL",),
    "mmap": ("ENOMEM", "ENODEV"),
}
LASTING = ("ENOSPC", "EIO", "EACCES", "EDQUOT")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT)


def kills(tally, ways):
    """SIGKILL in the place of every call that changes something."""
    return sweep(tally, ways, lambda kind, count: at_every_call(kind, count, "kill", Killed()) if kind in CHANGING else [])


def space(tally, ways):
    """ENOSPC at every call that needs room."""

    def faults(kind, count):
        return at_every_call(kind, count, f"errno:{errno.ENOSPC}", Failure()) if kind in FILLING else []

    return sweep(tally, ways, faults)


def more_kills(tally, ways):
    """SIGKILL before every call, and after every one that changes something."""

    def faults(kind, count):
        after = at_every_call(kind, count, "killed", Killed()) if kind in CHANGING else []
        return at_every_call(kind, count, "kill", Killed()) + after

    return sweep(tally, ways, faults)


def plain(tally, ways):
    """SIGKILL and failures at every call that gives a name, where the system cannot exchange two folders."""

    def faults(kind, count):
        if kind not in ("rename", "mkdir", "unlink", "rmdir", "fsync"):
            return []
        # There is a rename more in a replacement.
        killed = at_every_call(kind, count + 1, "plain-kill", Killed())
        failing = at_every_call(kind, count + 1, f"plain-errno:{errno.EIO}", expected_of(kind, errno.EIO))
        return killed + failing

    return sweep(tally, ways, faults)


def failures(tally, ways):
    """Errors at every call: one for all, EINTR, those that only such a call has, and by turns the others; and, by turns,
    errors that stay from a call on."""
    alike = [name for name in ERRORS if name not in TELLING]

    def faults(kind, count):
        found = []
        for name in (*TELLING, *ERRORS_OF.get(kind, ())):
            number = getattr(errno, name)
            found += at_every_call(kind, count, f"errno:{number}", expected_of(kind, number))
        lasting = Failure(may_leave=True, codes=expected_of(kind, errno.EIO).codes)
        for at in range(1, count + 1):
            number = getattr(errno, alike[at % len(alike)])
            found.append((Fault(kind, at, f"errno:{number}"), expected_of(kind, number)))
            found.append((Fault(kind, at, f"errno+:{getattr(errno, LASTING[at // 2 % len(LASTING)])}"), lasting))
        return found

    return sweep(tally, ways, faults)


def halves(tally, ways):
    """Half of the bytes at every call that reads or writes."""

    def faults(kind, count):
        return at_every_call(kind, count, "short", Success()) if kind in ("read", "write") else []

    return sweep(tally, ways, faults) + sweep(tally, ways, faults, in_input)


def inputs(tally, ways):
    """Every error at every call on the input, and its end where there should be more."""

    def faults(kind, count):
        found = []
        for name in ERRORS:
            number = getattr(errno, name)
            is_retried = number == errno.EINTR and kind != "stat"
            expected = Success() if is_retried else Failure(codes=(NO_INPUT, INTERNAL))
            found += at_every_call(kind, count, f"errno:{number}", expected)
        if kind == "read":
            found += at_every_call(kind, count, "eof", Failure(codes=(INTERNAL,)))
        return found

    return sweep(tally, ways, faults, in_input)


def signals(tally, ways):
    """A signal, or two, at every call that changes something."""

    def faults(kind, count):
        if kind not in CHANGING:
            return []
        found = at_every_call(kind, count, f"signal:{int(signal.SIGXFSZ)}", Success())
        for number in SIGNALS:
            # Under load it may come when the trace is in its place.
            expected = Stopped((128 + number,), may_be_published=True)
            found += at_every_call(kind, count, f"signal:{int(number)}", expected)
            # The second takes the folder from under the hands of the threads.
            found += at_every_call(kind, count, f"signals:{int(number)}", expected)
        return found

    return sweep(tally, ways, faults)


def power(tally, ways):
    """What is on disk when the trace, or the report on a partition, gets its name: all that it stands for."""
    started = time.monotonic()
    for way in ways:
        for number, command in enumerate(way.commands):
            with Sandbox(way.snapshots[number]) as folder:
                words = way.words(number, folder)
                ended = way.program.run_with(NONE, in_out(way, folder), words, folder)
            wrong = not_on_disk(ended.calls, str(folder / "out"))
            tally.add(f"{way.name}: {command}: order of fsync and rename", ended, wrong)
    return time.monotonic() - started


def not_on_disk(calls, out):
    """What gets a name that others go by before it is on disk. `calls` are those of one thread."""
    dirty, wrong, published = set(), [], False
    for kind, path, _ in calls:
        above, name = path.rsplit("/", 1)
        if kind in ("write", "create"):
            dirty.add(path)
        # Of a name of its own, that a process gives only for a while, nothing has to remain.
        is_passing = name.endswith(".tmp") and ".plan-" in above.rsplit("/", 1)[1]
        if kind in ("create", "mkdir") and not is_passing:
            dirty.add(above)
        elif kind == "fsync":
            dirty.discard(path)
        elif kind == "rename":
            wrong += [f"{path} has its name before {late} is on disk" for late in sorted(filter(stands_for(path, out), dirty))]
            published |= above == out and name.startswith("trace=")
            dirty.add(above)
    if published and out in dirty:
        wrong.append("the name of the trace is not brought to disk")
    return wrong


def stands_for(path, out):
    """Whether a file or folder is among those that a name stands for: the trace's, a report's, a plan's."""
    above, name = path.rsplit("/", 1)
    if above == out and name.startswith("trace="):
        return lambda late: "/new" in late or "/parts/" in late and late.endswith(".tmp")
    if name.startswith("report-"):
        return lambda late: late.startswith(f"{above}/parts")
    if name == "job.json":
        return lambda late: late.startswith(above) and not late.startswith(f"{above}/parts")
    return lambda late: False


def in_input(way, _folder):
    """Faults are counted on the input."""
    return way.trace

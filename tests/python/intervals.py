"""What took time, found in the rows by other code than the program's: activities, operations on files, time on processors. And a made
trace with what each rule is about."""

import collections
import contextlib
import glob
import os

import duckdb
import support
from made import add_dataset

# The times of made rows are that many nanoseconds behind the begin of the recording.
MS = 1_000_000


def letter(name):
    """The id of a made activity."""
    return f"{ord(name):08x}-0000-4000-8000-00000000000{ord(name) % 10}"


def start_ns(folder):
    with contextlib.closing(duckdb.connect()) as connection:
        return connection.execute(f"SELECT min(start_anchor_ns) FROM '{folder}/sidecar/clock.parquet'").fetchone()[0]


def activities(folder):
    """Starts with their stops: (provider, name, activity, process, thread, from, to)."""
    found = []
    for path in glob.glob(os.path.join(folder, "events", "*")):
        provider = os.path.basename(path)
        with contextlib.closing(duckdb.connect()) as connection:
            rows = connection.execute(f"""SELECT opcode, activity_id, task, event_name, process_id, thread_id, timestamp_ns
                FROM read_parquet('{path}/**/*.parquet', union_by_name = true) WHERE opcode IN (1, 2) AND activity_id IS NOT NULL
                ORDER BY seq""").fetchall()
        stacks = collections.defaultdict(list)
        for opcode, activity, task, name, process, thread, time in rows:
            if opcode == 1:
                stacks[activity, task].append((name.removesuffix("/Start"), activity, process, thread, time))
            elif stacks[activity, task]:
                found.append((provider, *stacks[activity, task].pop(), time))
    return sorted(found)


def processor_time(folder):
    """Spans on processors by process, (from, to), of switches that nothing contradicts: by comparing each with all others."""
    with contextlib.closing(duckdb.connect()) as connection:
        rows = connection.execute(f"""SELECT input, cpu, timestamp_ns, NewThreadId, OldThreadId, process_id
            FROM '{folder}/events/Kernel-Thread/*.parquet' WHERE event_name = 'Thread/CSwitch' ORDER BY seq""").fetchall()
    named = collections.defaultdict(list)
    by_processor = collections.defaultdict(list)
    for input_number, cpu, time, new, old, process in rows:
        by_processor[input_number, cpu].append((time, new, old, process))
        for thread in {new, old}:
            named[input_number, thread].append(time)
    spans = collections.defaultdict(list)
    for (input_number, _), switches in by_processor.items():
        for (begin, thread, _, process), (end, _, taken, _) in zip(switches, switches[1:]):
            is_elsewhere = any(begin < time < end for time in named[input_number, thread])
            if thread and taken == thread and not is_elsewhere and process:
                spans[process].append((begin, end))
    return spans


def made(folder):
    """A converted trace with activities and operations on files that no trace at hand has; its folder."""
    support.run("convert", support.EXAMPLE, "-o", folder, "-q")
    folder = os.path.join(folder, "trace=example")
    start = start_ns(folder)

    def rows(*of):
        return [{"seq": 1_000_000 + at, "timestamp_ns": start + at * MS, "input": 0, **row} for at, row in of]

    def mark(at, opcode, activity, name, process, thread, task=1, **more):
        step = {1: "Start", 2: "Stop"}[opcode]
        return at, {"opcode": opcode, "activity_id": letter(activity), "task": task, "event_name": f"{name}/{step}", "process_id": process, "thread_id": thread, **more}

    add_dataset(folder, "Shop", rows(
        mark(2, 2, "A", "Order", 10, 1),  # a stop before any start
        mark(10, 1, "A", "Order", 10, 1),
        mark(20, 1, "B", "Pay", 10, 1, task=2, related_activity_id=letter("A")),
        mark(25, 1, "A", "Order", 10, 1),  # the same again, within itself
        mark(30, 2, "A", "Order", 10, 1),
        mark(40, 2, "B", "Pay", 10, 2, task=2),  # in another thread
        mark(45, 1, "C", "Order", 10, 2),  # overlaps with A and is not within it
        mark(60, 2, "A", "Order", 10, 1),
        mark(70, 2, "C", "Order", 10, 2),
        mark(80, 1, "D", "Order", 10, 1),
        mark(90, 2, "D", "Order", 11, 5),  # in another process
        mark(95, 1, "E", "Order", 10, 1),  # never stops: the next is of another task
        mark(96, 2, "E", "Order", 10, 1, task=9),
    ))  # fmt: skip
    add_dataset(folder, "Till", rows(mark(85, 1, "D", "Count", 11, 5), mark(100, 2, "D", "Count", 11, 5)))

    def operation(at, name, packet, thread, **more):
        return at, {"event_name": f"FileIo/{name}", "IrpPtr": packet, "process_id": 10, "thread_id": thread, **more}

    add_dataset(folder, "Kernel-FileIo", rows(
        operation(10, "Create", 1, 1, OpenPath=r"C:\shop\a.txt", FileObject=9),
        operation(12, "Read", 2, 2, FileObject=9, Offset=4096, IoSize=512),
        operation(14, "OperationEnd", 2, 2, NtStatus=0),
        operation(15, "OperationEnd", 2, 2, NtStatus=0),  # the operation has ended
        operation(20, "OperationEnd", 1, 2, NtStatus=-1073741772),
        operation(30, "Write", 3, 1, FileName=r"C:\shop\b.txt", IoSize=8),  # its end is not recorded: the packet is in use again
        operation(35, "Write", 3, 1, FileName=r"C:\shop\b.txt", IoSize=9),
        operation(40, "OperationEnd", 3, 1, NtStatus=0),
        operation(50, "Read", 4, 1, FileObject=9),
    ))  # fmt: skip
    return folder


# The activities of the made trace: provider, name, activity, process, thread, from, to.
MADE = [
    ("Shop", "Order", letter("A"), 10, 1, 10, 60),
    ("Shop", "Order", letter("A"), 10, 1, 25, 30),
    ("Shop", "Order", letter("C"), 10, 2, 45, 70),
    ("Shop", "Order", letter("D"), 10, 1, 80, 90),
    ("Shop", "Pay", letter("B"), 10, 1, 20, 40),
    ("Till", "Count", letter("D"), 11, 5, 85, 100),
]

"""What the rows of events say about activities, garbage collections and packets of TCP and UDP, in plain Python: the judge of these views.

It walks over rows in the order of the trace with stacks and dictionaries, and shares no SQL with the views.
"""

import collections
import glob
import ipaddress
import os

import pyarrow.parquet

RUNTIME = "Microsoft-Windows-DotNETRuntime"
START, STOP = 1, 2
BEGIN, END = "GarbageCollection/GCSuspendEEBegin", "GarbageCollection/GCRestartEEEnd"
GC_START, GC_STOP, HEAP, HISTORY = (f"GarbageCollection/{name}" for name in ("Start", "Stop", "GCHeapStats", "GCPerHeapHistory"))
# The reason of a pause in which a background collection prepares its end.
PREPARES = 6
BACKGROUND = 1


def rows(folder, dataset, columns=None):
    """The rows of a dataset, in order; columns that it lacks are None."""
    found = []
    for path in glob.glob(os.path.join(glob.escape(folder), "events", dataset, "**", "*.parquet"), recursive=True):
        file = pyarrow.parquet.ParquetFile(path)
        there = [name for name in columns or file.schema_arrow.names if name in file.schema_arrow.names]
        found += file.read(columns=there).to_pylist()
    return sorted(found, key=lambda row: row["seq"])


def datasets(folder):
    return sorted(os.listdir(os.path.join(folder, "events")))


# --- Activities ---


def activities(folder):
    """Starts with their stops, (start, stop, depth, parent): a stop ends the last open start of its provider, activity and task."""
    marks = []
    columns = ["seq", "timestamp_ns", "opcode", "task", "activity_id", "related_activity_id", "thread_id"]
    for provider in datasets(folder):
        marks += [(provider, row) for row in rows(folder, provider, columns) if row["opcode"] in (START, STOP) and row["activity_id"]]
    marks.sort(key=lambda mark: mark[1]["seq"])
    still_open, last_start, found = collections.defaultdict(list), {}, []
    for provider, row in marks:
        opened = still_open[provider, row["activity_id"], row["task"]]
        if row["opcode"] == START:
            related = row["related_activity_id"]
            parent = last_start.get(related) if related and related != row["activity_id"] else None
            opened.append((row, len(opened) + 1, parent))
            last_start[row["activity_id"]] = row["seq"]
        elif opened:
            start, depth, parent = opened.pop()
            duration = row["timestamp_ns"] - start["timestamp_ns"]
            found.append((provider, start["seq"], row["seq"], duration, row["thread_id"], depth, parent))
    return sorted(found, key=lambda one: one[1])


# --- Garbage collections ---


def runtimes(folder):
    """The events of each process and run-time in it, in order."""
    found = collections.defaultdict(list)
    for row in rows(folder, RUNTIME):
        if str(row["event_name"]).startswith("GarbageCollection/"):
            found[row["process_id"], row.get("ClrInstanceID")].append(row)
    return found.values()


def pauses(folder):
    """Each whole pause, (begin, end, numbers of its collections): those that start within, and the one that it prepares to end."""
    found = []
    for events in runtimes(folder):
        begin, numbers = None, set()
        for row in events:
            if row["event_name"] == BEGIN:
                begin, numbers = row, {row["Count"]} if row["Reason"] == PREPARES else set()
            elif row["event_name"] == GC_START and begin:
                numbers.add(row["Count"])
            elif row["event_name"] == END and begin:
                found.append((begin["seq"], row["timestamp_ns"] - begin["timestamp_ns"], sorted(numbers)))
                begin = None
    return sorted(found)


def total(values):
    """The sum of what is there; None of nothing."""
    there = [value for value in values if value is not None]
    return sum(there) if there else None


def collections_of(folder):
    """Each collection: start, generation, stop, size before, size behind, promoted."""
    found = []
    for events in runtimes(folder):
        # By number those that run; by thread the one that it stopped last; and the sizes by heap of the one that stops next.
        running, stopped, sizes = {}, {}, {}
        for row in events:
            name, thread = row["event_name"], row["thread_id"]
            if name == GC_START and row["Count"] not in running:
                found.append(Collection(row))
                running[row["Count"]] = found[-1]
            elif name == GC_STOP:
                stopped[thread] = running.pop(row["Count"], None) or Collection(row)
                stopped[thread].stop = row["seq"]
                stopped[thread].sizes, sizes = sizes, {}
            elif name == HISTORY:
                # One of the background that has stopped tells its own, unless another runs, which is going to.
                own, runs = stopped.get(thread), any(one.is_background for one in running.values())
                of_heap = own.sizes if own and own.is_background and not runs else sizes
                of_heap[row["HeapIndex"]] = total(value["SizeBefore"] for value in row["Values"] or [])
            elif name == HEAP and thread in stopped:
                stopped[thread].tell(row)
    return sorted(one.told() for one in found)


class Collection:
    def __init__(self, row):
        self.start, self.generation, self.is_background = row["seq"], row["Depth"], row.get("Type") == BACKGROUND
        self.stop, self.sizes, self.after, self.promoted = None, {}, None, None

    def tell(self, row):
        """What the first statistics behind its stop say."""
        if self.after is None:
            self.after = total(row.get(f"GenerationSize{n}") for n in range(5))
            self.promoted = total(row.get(f"TotalPromotedSize{n}") for n in range(5))

    def told(self):
        return (self.start, self.generation, self.stop, total(self.sizes.values()), self.after, self.promoted)


# --- TCP and UDP ---


def ends(protocol, direction, row):
    """Local and remote end, sender and receiver: Windows writes the own end of a connection first, and of datagrams the sender."""
    first, second = (row["saddr"], row["sport"]), (row["daddr"], row["dport"])
    nobody = (None, None)
    if direction == "sent":
        return first, second, first, second
    if protocol == "tcp":
        return (first, second, second, first) if direction == "received" else (first, second, nobody, nobody)
    to = ipaddress.ip_address(row["daddr"])
    if direction == "received" and (to.is_multicast or str(to) == "255.255.255.255"):
        return (None, row["dport"]), first, first, second
    return nobody, nobody, nobody, nobody

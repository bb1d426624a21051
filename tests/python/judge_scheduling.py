"""Who ran, waited and was interrupted, by plain rules over the rows of events: the judge of the views of scheduling.

It reads Parquet with pyarrow and shares nothing with the views. Each function gives rows as dictionaries; times are nanoseconds.
"""

import bisect
import collections
import functools
import glob
import os

import pyarrow.parquet

WAITING, READY, STANDBY, OTHER = "waiting", "ready", "standby", "other"
# KTHREAD_STATE: what a thread is in from the switch that takes it from the processor.
STATES = {5: WAITING, 1: READY, 7: READY, 3: STANDBY}
TERMINATED = 4
INTERRUPTS = {
    "PerfInfo/DPC": "dpc",
    "PerfInfo/ThreadedDPC": "dpc",
    "PerfInfo/TimerDPC": "dpc",
    "PerfInfo/ISR": "isr",
    "PerfInfo/ISR-MSI": "isr",
}


COMMON = "timestamp_ns seq cpu thread_id attribution stack input event_name"
SWITCH = "NewThreadId OldThreadId OldThreadState OldThreadWaitReason TThreadId Flag"
WALK = "EventTimeStamp_ns StackThread StackProcess"
PERFORMANCE = "InitialTime_ns Routine Vector InstructionPointer ThreadId Count Reserved"


def read(pattern, columns=None):
    """The rows of all files, with NULL for a column that a file lacks."""
    rows = []
    for path in sorted(glob.glob(pattern, recursive=True)):
        file = pyarrow.parquet.ParquetFile(path)
        columns = columns or file.schema_arrow.names
        found = file.read(columns=columns).to_pylist()
        rows += ({**dict.fromkeys(columns), **row} for row in found)
    return rows


class Trace:
    """What a converted trace says of scheduling, in the order of its events."""

    def __init__(self, folder):
        def events(dataset, columns, *names):
            found = read(f"{glob.escape(folder)}/events/{dataset}/**/*.parquet", f"{COMMON} {columns}".split())
            return sorted((row for row in found if row["event_name"] in names), key=lambda row: row["seq"])

        def sidecar(name):
            return read(f"{glob.escape(folder)}/sidecar/{name}.parquet")

        self.sessions, self.streams = sidecar("sessions"), sidecar("streams")
        self.images = sidecar("images")
        self.machines = {row["input"]: row["machine"] for row in self.sessions}
        self.switches = events("Kernel-Thread", SWITCH, "Thread/CSwitch")
        self.readies = events("Kernel-Thread", SWITCH, "Thread/ReadyThread")
        self.lives = events("Kernel-Thread", SWITCH, "Thread/Start", "Thread/End")
        self.walks = events("Kernel-StackWalk", WALK, "StackWalk/Stack", "StackWalk/StackKeyKernel", "StackWalk/StackKeyUser")
        self.walks_of = by_key(
            self.walks, lambda row: (self.machines[row["input"]], row["StackThread"], row["EventTimeStamp_ns"])
        )
        self.interrupts = events("Kernel-PerfInfo", PERFORMANCE, *INTERRUPTS)
        self.samples = events("Kernel-PerfInfo", PERFORMANCE, "PerfInfo/SampleProf")
        self.threads = by_key(sidecar("threads"), lambda row: (row["machine"], row["thread_id"]))
        self.processes = by_key(sidecar("processes"), lambda row: (row["machine"], row["process_id"]))

    def process(self, machine, thread, time, switched=False):
        """Whose a thread is at a time: process id and name. The walks of the switch that brings it name the process of a stranger."""
        if thread == 0:
            return 0, "Idle"
        owner = [row["process_id"] for row in self.threads.get((machine, thread), []) if at(row, time)]
        if not owner and switched:
            walked = {row["StackProcess"] for row in self.walks_of.get((machine, thread, time), [])}
            owner = list(walked - {None}) if len(walked) == 1 else []
        if not owner:
            return None, None
        name = [row["image_name"] for row in self.processes.get((machine, owner[-1]), []) if at(row, time)]
        return owner[-1], name[-1] if name else None


def by_key(rows, key):
    """The rows of each key, in their order."""
    groups = collections.defaultdict(list)
    for row in rows:
        groups[key(row)].append(row)
    return groups


def at(row, time):
    """Whether a span of the sidecar holds a time."""
    return row["from_ns"] <= time < row["to_ns"]


def unsigned(address):
    """An address, which stands as a signed number of 64 bits."""
    return address & 0xFFFF_FFFF_FFFF_FFFF


# --- Processors ---


def streams(trace):
    """Each processor's first and last time by input and processor: the stream's, or the switches' where two inputs have one name."""
    inputs, spans = by_key(trace.sessions, lambda row: row["source"]), {}
    for row in trace.switches:
        first, _ = spans.get((row["input"], row["cpu"]), (row["timestamp_ns"], None))
        spans[row["input"], row["cpu"]] = (first, row["timestamp_ns"])
    for row in trace.streams:
        owners = inputs[row["source"]]
        if len(owners) == 1:
            spans[owners[0]["input"], row["cpu"]] = (row["first_time_ns"], row["last_time_ns"])
    return spans


def interval(trace, key, thread, begin, end, because, seq=None):
    """One row of `intervals`."""
    state = "unknown" if because else ("idle" if thread == 0 else "busy")
    machine = trace.machines[key[0]]
    process, name = trace.process(machine, thread, begin, switched=seq is not None)
    row = {"input": key[0], "cpu": key[1], "machine": machine, "seq": seq, "thread_id": thread, "process_id": process}
    row |= {"process_name": name, "from_ns": begin, "to_ns": end, "duration_ns": end - begin}
    return {**row, "state": state, "unknown_because": because}


def intervals(trace):
    """What each processor did from switch to switch; what the next switch contradicts, and the edges, are unknown."""
    spans, rows = streams(trace), []
    switches = by_key(trace.switches, lambda row: (row["input"], row["cpu"]))
    recorded = {key[0] for key in switches}
    for key, (first, last) in spans.items():
        if key[0] in recorded and key not in switches and last > first:
            rows.append(interval(trace, key, None, first, last, "no switch"))
    for key, found in switches.items():
        if key[1] is None:
            rows += unplaced(trace, key, found)
            continue
        first, last = spans[key]
        if first < found[0]["timestamp_ns"]:
            rows.append(interval(trace, key, None, first, found[0]["timestamp_ns"], "before first switch"))
        for one, following in zip(found, found[1:] + [None]):
            ran, begin = one["NewThreadId"], one["timestamp_ns"]
            because, end = "last switch", max(begin, last)
            if following:
                because = None if following["OldThreadId"] == ran is not None else "contradicted"
                end = following["timestamp_ns"]
            rows.append(interval(trace, key, ran, begin, end, because, one["seq"]))
    return not_elsewhere(trace, rows)


def unplaced(trace, key, found):
    """Switches without a processor: nobody knows which of them is the next of the same one."""
    for one, following in zip(found, found[1:] + found[-1:]):
        yield interval(trace, key, one["NewThreadId"], one["timestamp_ns"], following["timestamp_ns"], "no processor", one["seq"])


def not_elsewhere(trace, rows):
    """Of known intervals, those in which another processor's switch brings or takes their thread are contradicted, too."""
    seen = collections.defaultdict(list)
    for switch in trace.switches:
        for thread in {switch["NewThreadId"], switch["OldThreadId"]}:
            seen[switch["input"], thread].append((switch["timestamp_ns"], switch["cpu"]))
    for row in rows:
        if row["state"] == "busy":
            found = seen[row["input"], row["thread_id"]]
            begin = bisect.bisect_right(found, row["from_ns"], key=lambda one: one[0])
            end = bisect.bisect_left(found, row["to_ns"], key=lambda one: one[0])
            if any(cpu != row["cpu"] for _, cpu in found[begin:end]):
                row.update(state="unknown", unknown_because="elsewhere")
    return rows


# --- Threads ---


def departures(trace):
    """Each time that a thread left a processor and, before it left one again, was brought to one: (machine, out, in).

    A thread that has ended runs no more: what has its id then is another one.
    """
    left = {}
    for row in sorted(trace.switches + trace.lives, key=lambda row: row["seq"]):
        machine = trace.machines[row["input"]]
        if row["event_name"] != "Thread/CSwitch":
            left.pop((machine, row["TThreadId"]), None)
            continue
        left[machine, row["OldThreadId"]] = row
        out = left.pop((machine, row["NewThreadId"]), None)
        if out and row["NewThreadId"] and out["OldThreadState"] != TERMINATED:
            yield machine, out, row


def off_cpu(trace):
    """From each departure to the next run: waiting until the first ReadyThread, ready when preempted, standby, or other."""
    readies = by_key(trace.readies, lambda row: (trace.machines[row["input"]], row["TThreadId"]))
    for machine, out, back in departures(trace):
        thread, begin, end = back["NewThreadId"], out["timestamp_ns"], back["timestamp_ns"]
        state, ready = STATES.get(out["OldThreadState"], OTHER), None
        times = {WAITING: 0, READY: 0, STANDBY: 0, OTHER: 0, state: end - begin}
        if state == WAITING:
            between = [row for row in readies[machine, thread] if out["seq"] < row["seq"] < back["seq"]]
            ready = between[0] if between else None
            times[WAITING] = ready["timestamp_ns"] - begin if ready else None
            times[READY] = end - ready["timestamp_ns"] if ready else None
        process, name = trace.process(machine, thread, end, switched=True)
        yield {
            "machine": machine,
            "thread_id": thread,
            "process_id": process,
            "process_name": name,
            "from_ns": begin,
            "ready_ns": ready and ready["timestamp_ns"],
            "to_ns": end,
            "off_cpu_ns": end - begin,
            "state": state,
            "thread_state": out["OldThreadState"],
            "wait_reason": out["OldThreadWaitReason"] if state == WAITING else None,
            "waiting_ns": times[WAITING],
            "ready_for_ns": times[READY],
            "standby_ns": times[STANDBY],
            "cpu": back["cpu"],
            "out_cpu": out["cpu"],
            "out_seq": out["seq"],
            "ready_seq": ready and ready["seq"],
            "in_seq": back["seq"],
            "ready": ready,
            "back": back,
        }


def running(known, ready):
    """The thread that the last switch before an event brought to its processor, if the interval is known."""
    before = [row for row in known[ready["input"], ready["cpu"]] if row["seq"] is not None and row["seq"] < ready["seq"]]
    return {row["thread_id"] for row in before[-1:] if row["state"] != "unknown"}


def walked(trace, ready):
    """The threads that the walks of an event name."""
    walks = (row for row in trace.walks if row["input"] == ready["input"] and row["cpu"] in (None, ready["cpu"]))
    return {row["StackThread"] for row in walks if row["EventTimeStamp_ns"] == ready["timestamp_ns"]}


def interrupting(trace, ready):
    """What interrupted the thread of a processor at the time of an event: an ISR, a DPC, or nothing that was recorded."""
    here = (row for row in trace.interrupts if row["input"] == ready["input"] and row["cpu"] == ready["cpu"])
    here = (row for row in here if (row["InitialTime_ns"] or row["timestamp_ns"]) <= ready["timestamp_ns"] < row["timestamp_ns"])
    # A threaded DPC runs in a thread, which is switched to like any other.
    kinds = {INTERRUPTS[row["event_name"]] for row in here if row["event_name"] != "PerfInfo/ThreadedDPC"}
    return max(kinds, default=None)


def readier(trace, known, ready):
    """Who made a thread ready: 'dpc' or 'isr' and no thread, 'thread' and its id, or nobody knows."""
    if ready is None:
        return None, None
    if ready["Flag"] is not None and ready["Flag"] & 1:
        return "dpc", None
    if kind := interrupting(trace, ready):
        return kind, None
    if ready["attribution"] == "header" and ready["thread_id"] not in (None, ready["TThreadId"]):
        return "thread", ready["thread_id"]
    ran, walks = running(known, ready), walked(trace, ready)
    told = ran & walks or ran | walks
    return ("thread", *told) if len(told) == 1 else (None, None)


def waits(trace):
    """The waits among `off_cpu`, with who ended them and the stacks of both sides."""
    known = by_key(intervals(trace), lambda row: (row["input"], row["cpu"]))
    for row in off_cpu(trace):
        if row["state"] != WAITING:
            continue
        how, thread = readier(trace, known, row["ready"])
        process = (None, None)
        if thread is not None:
            process = trace.process(row["machine"], thread, row["ready_ns"])
        yield {
            **row,
            "readied_by": how,
            "readied_by_thread_id": thread,
            "readied_by_process_id": process[0],
            "readied_by_process_name": process[1],
            "stack": row["back"]["stack"],
            "readied_by_stack": row["ready"] and row["ready"]["stack"],
        }


def usage(trace):
    """Of each thread the time in each state; where one wait has no ReadyThread, nobody knows how long it waited or was ready in all."""
    rows = {}

    def row_of(one):
        key = {column: one[column] for column in ("machine", "process_id", "process_name", "thread_id")}
        sums = "running_ns runs waiting_ns waits ready_ns standby_ns waiting_or_ready_ns other_ns unknown_ns".split()
        return rows.setdefault(tuple(key.values()), {**key, **dict.fromkeys(sums, 0)})

    for one in intervals(trace):
        row, time = row_of(one), one["to_ns"] - one["from_ns"]
        if one["state"] == "unknown":
            row["unknown_ns"] += time
        else:
            row["running_ns"] += time
            row["runs"] += 1
    for one in off_cpu(trace):
        row = row_of(one)
        row["waits"] += one["state"] == WAITING
        row["other_ns"] += one["off_cpu_ns"] if one["state"] == OTHER else 0
        row["standby_ns"] += one["standby_ns"]
        row["waiting_or_ready_ns"] += one["off_cpu_ns"] if one["waiting_ns"] is None else 0
        for column, part in (("waiting_ns", one["waiting_ns"]), ("ready_ns", one["ready_for_ns"])):
            row[column] = None if None in (row[column], part) else row[column] + part
    return list(rows.values())


# --- Interrupts ---


def kernel_module(trace, machine, address, time):
    """File name and path of the kernel's image that holds an address at a time."""
    for row in trace.images:
        if row["process_id"] == 0 and row["machine"] == machine and at(row, time):
            if 0 <= unsigned(address) - unsigned(row["base"]) < row["size"]:
                return row["file_name"], row["path"]
    return None, None


def interrupts(trace):
    """Each DPC and interrupt: from when to when, and whose routine."""
    for row in trace.interrupts:
        machine, begin, end = trace.machines[row["input"]], row["InitialTime_ns"], row["timestamp_ns"]
        module = (None, None) if row["Routine"] is None else kernel_module(trace, machine, row["Routine"], end)
        yield {
            "machine": machine,
            "input": row["input"],
            "cpu": row["cpu"],
            "seq": row["seq"],
            "kind": INTERRUPTS[row["event_name"]],
            "event_name": row["event_name"],
            "from_ns": begin,
            "to_ns": end,
            "duration_ns": None if begin is None else end - begin,
            "routine": row["Routine"],
            "module": module[0],
            "module_path": module[1],
            "vector": row["Vector"],
        }


def innermost(candidates):
    """What a processor does at an instant of which several things are said: an ISR before a DPC before its thread."""
    return min(candidates, key=["isr", "dpc", "busy", "idle", "unknown"].index, default="unknown")


def cpu_time(trace):
    """How each recorded processor spent the time of its stream: every instant counts once."""
    spans, recorded = streams(trace), {row["input"] for row in trace.switches}
    kinds = by_key(interrupts(trace), lambda row: (row["input"], row["kind"]))
    told = by_key([*intervals(trace), *interrupts(trace)], lambda row: (row["input"], row["cpu"]))
    for key, (first, last) in spans.items():
        if key[0] not in recorded or key[1] is None or first == last:
            continue
        timed = (row for row in told[key] if row["from_ns"] is not None)
        parts = [(max(first, row["from_ns"]), min(last, row["to_ns"]), row.get("kind") or row["state"]) for row in timed]
        sums = dict.fromkeys(["busy", "idle", "dpc", "isr", "unknown"], 0)
        for begin, end, what in exclusive(parts, first, last):
            sums[what] += end - begin
        for kind in ("dpc", "isr"):
            sums[kind] = sums[kind] if kinds[key[0], kind] else None
        span = last - first
        row = {"machine": trace.machines[key[0]], "input": key[0], "cpu": key[1], "from_ns": first, "to_ns": last, "span_ns": span}
        row.update({f"{what}_ns": time for what, time in sums.items()})
        yield {**row, "known_share": round((span - sums["unknown"]) / span, 9) if span else None}


def exclusive(parts, first, last):
    """Cuts overlapping parts at each begin and end, and says of each piece the innermost that holds it."""
    changes = collections.defaultdict(collections.Counter)
    for begin, end, what in parts:
        if begin < end:
            changes[begin][what] += 1
            changes[end][what] -= 1
    now, edges = collections.Counter(), sorted({first, last, *changes})
    for begin, end in zip(edges, edges[1:]):
        now.update(changes[begin])
        yield begin, end, innermost([what for what, count in now.items() if count > 0])


# --- Samples ---


def interrupted(sample):
    """What the flags of a sample say that its processor executed: the two lowest bits behind the count of 16 bits."""
    flags = sample["Reserved"]
    if flags is None:
        return None
    return "isr" if flags & 0b10 else "dpc" if flags & 0b01 else "none"


def mode(address, pointer_size, in_kernel):
    """Whether an address is the kernel's: the upper half, of which a kernel of 32 bits may leave a part to programs."""
    if in_kernel or address >> 63:
        return "kernel"
    return "user" if pointer_size == 8 or address < 0x8000_0000 else None


def samples(trace):
    """Each sample with its process, all modules that hold its address at its time, the newest last, mode and interrupt."""
    sizes = {row["input"]: row["pointer_size"] for row in trace.sessions}
    images = by_key(trace.images, lambda row: (row["machine"], row["process_id"]))

    @functools.cache
    def holding(machine, process, address):
        """The images of a process that hold an address at some time."""
        found = [row for row in images[machine, process] if 0 <= address - unsigned(row["base"]) < row["size"]]
        return sorted(found, key=lambda row: row["from_ns"])

    for row in trace.samples:
        machine, address, time = trace.machines[row["input"]], unsigned(row["InstructionPointer"]), row["timestamp_ns"]
        process, _ = trace.process(machine, row["ThreadId"], time)
        kernel = [image for image in holding(machine, 0, address) if at(image, time)]
        own = [image for image in holding(machine, process, address) if process and at(image, time)]
        yield {
            "seq": row["seq"],
            "process_id": process,
            "thread_id": row["ThreadId"],
            "modules": [image["file_name"] for image in kernel + own],
            "mode": mode(address, sizes[row["input"]], bool(kernel)),
            "weight": row["Count"],
            "interrupt": interrupted(row),
        }

"""What the frames of stacks lie in, and what adds up over call paths, by plain rules over the rows: the judge of charts of stacks.

It reads Parquet with pyarrow and shares nothing with the product. Addresses are signed: those of the kernel are below 0.
"""

import bisect
import collections
import glob

import judge_scheduling as judge

IDENTITY = "file_name time_stamp size pdb_name pdb_guid pdb_age".split()


class Ranges:
    """Rows with an address range, by machine and process."""

    def __init__(self, rows):
        self.rows = collections.defaultdict(list)
        for number, row in enumerate(rows):
            if row["size"] is not None:
                self.rows[row["machine"], row["process_id"]].append({**row, "number": number})
        for found in self.rows.values():
            found.sort(key=lambda row: row["base"])
        self.bases = {owner: [row["base"] for row in found] for owner, found in self.rows.items()}
        self.longest = max((row["size"] for found in self.rows.values() for row in found), default=0)

    def at(self, owner, address, time):
        """The row that has an address at a time; of several the one that came last."""
        bases = self.bases.get(owner, [])
        near = range(bisect.bisect_left(bases, address - self.longest), bisect.bisect_right(bases, address))
        rows = [self.rows[owner][at] for at in near]
        held = [r for r in rows if r["base"] <= address < r["base"] + r["size"] and r["from_ns"] <= time < r["to_ns"]]
        return max(held, key=lambda row: (row["from_ns"], row["base"]), default=None)


class Frames:
    """What addresses lie in."""

    def __init__(self, folder):
        def sidecar(name):
            return judge.read(f"{glob.escape(folder)}/sidecar/{name}.parquet")

        self.images, self.methods = Ranges(sidecar("images")), Ranges(sidecar("methods"))

    def at(self, machine, process, address, time):
        own = self.images.at((machine, process), address, time) if process else None
        image = own or self.images.at((machine, 0), address, time)
        return image, None if process is None else self.methods.at((machine, process), address, time)

    def name(self, machine, process, address, first, last):
        """What the page calls a frame, and whether that is a function of a name."""
        (image, method), (other, other_method) = (self.at(machine, process, address, time) for time in (first, last))
        if (image is None) != (other is None):
            return "(in a module that changed)", False
        same_method = (method and method["number"]) == (other_method and other_method["number"])
        name = None
        if method and same_method:
            name = ".".join(filter(None, [method["namespace"], method["name"]]))
        if image is None:
            if not same_method:
                return "(in a module that changed)", False
            if name is None:
                return ("(of no known process)" if process is None and address >= 0 else "(in no module)"), False
            return name, True
        if any(image[column] != other[column] for column in ["base", *IDENTITY]):
            return "(in a module that changed)", False
        return f"{image['file_name']}!{name or '?'}", name is not None


def looked_up(stack):
    """The address itself where the processor was, and that before of where a call returns to."""
    for depth, address in enumerate(stack):
        is_exact = depth == 0 or (address >= 0 and stack[depth - 1] < 0)
        yield address if is_exact else address - 1


class Paths:
    """Amounts by call path and by function. What is added: process name, machine, process, time, stack, stack_id and amount."""

    def __init__(self, folder, rows):
        rows, frames, spans = [row for row in rows if row[-1] > 0], Frames(folder), collections.defaultdict(list)
        for _, machine, process, time, _, number, _ in rows:
            spans[machine, process, number].append(time)
        self.paths, self.own, self.all = (collections.Counter() for _ in range(3))
        resolved = {}
        for name, machine, process, _, stack, number, amount in rows:
            key = (machine, process, number)
            if stack and key not in resolved:
                times = min(spans[key]), max(spans[key])
                resolved[key] = [frames.name(machine, process, address, *times) for address in looked_up(stack)]
            self.add(name, resolved[key] if stack else [("(no stack recorded)", False)], amount)
        self.longer = collections.defaultdict(list)
        for path in self.paths:
            self.longer[path[:-1]] += [path] if path else []

    def add(self, process, frames, amount):
        path = [process]
        for at, (name, is_named) in enumerate(reversed(frames)):
            if at == 0 or is_named or path[-1] != name:
                path.append(name)
        for length in range(len(path) + 1):
            self.paths[tuple(path[:length])] += amount
        self.own[frames[0][0]] += amount
        for name in {name for name, _ in frames}:
            self.all[name] += amount

    def below(self, path):
        """The paths that are longer by one."""
        return self.longer[path]


def samples(folder, idle=0):
    """The samples of busy processors."""
    machines = {row["input"]: row["machine"] for row in judge.read(f"{glob.escape(folder)}/sidecar/sessions.parquet")}
    columns = "event_name timestamp_ns input process_id process_name ThreadId Reserved stack stack_id".split()
    for row in judge.read(f"{glob.escape(folder)}/events/Kernel-PerfInfo/**/*.parquet", columns):
        if row["event_name"] != "PerfInfo/SampleProf":
            continue
        bits, process = row["Reserved"] or 0, row["process_id"]
        interrupt = "interrupt service routines" if bits & 2 else "deferred procedure calls" if bits & 1 else None
        if process == idle and interrupt is None:
            continue
        name = interrupt or row["process_name"] or (f"thread {row['ThreadId']}" if process is None else f"process {process}")
        yield name, machines[row["input"]], process, row["timestamp_ns"], row["stack"], row["stack_id"], 1


def waits(folder):
    """The waits that ended, with the stacks of the switches that ended them."""
    for row in judge.waits(judge.Trace(folder)):
        process, stack = row["process_id"], row["stack"]
        name = row["process_name"] or (f"thread {row['thread_id']}" if process is None else f"process {process}")
        yield name, row["machine"], process, row["to_ns"], stack, tuple(stack or ()), row["off_cpu_ns"]

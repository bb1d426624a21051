"""The views of scheduling against their judge: on made rows, a case for each rule, and on every trace that has the events."""

import collections
import contextlib
import itertools
import os
import shutil
import unittest

import pyarrow.parquet

import judge_scheduling as judge
import support
from engines import duckdb_with
from made import add_dataset, replace_table

# Per view: what the judge says of it, and the columns of which he says it.
VIEWS = {
    "cpu_intervals": (
        judge.intervals,
        "input machine cpu seq from_ns to_ns duration_ns thread_id process_id process_name state unknown_because",
    ),
    "off_cpu": (
        judge.off_cpu,
        "machine thread_id process_id process_name from_ns ready_ns to_ns off_cpu_ns state thread_state wait_reason waiting_ns "
        "ready_for_ns standby_ns cpu out_cpu out_seq ready_seq in_seq",
    ),
    "waits": (
        judge.waits,
        "machine thread_id process_id process_name from_ns ready_ns to_ns off_cpu_ns waiting_ns ready_for_ns wait_reason readied_by "
        "readied_by_thread_id readied_by_process_id readied_by_process_name cpu out_seq ready_seq in_seq stack readied_by_stack",
    ),
    "cpu_usage": (
        judge.usage,
        "machine process_id process_name thread_id running_ns runs waiting_ns waits ready_ns standby_ns waiting_or_ready_ns other_ns "
        "unknown_ns",
    ),
    "interrupts": (
        judge.interrupts,
        "machine input cpu seq kind event_name from_ns to_ns duration_ns routine module module_path vector",
    ),
    "cpu_time": (
        judge.cpu_time,
        "machine input cpu from_ns to_ns span_ns busy_ns idle_ns dpc_ns isr_ns unknown_ns known_share",
    ),
}
SAMPLE = "seq process_id thread_id weight interrupt"
SCHEDULED = ["filtrace-diskio"]
SAMPLED = ["filtrace-diskio", "perfview-net.4.5.2.x64", "perfview-net.4.5.x86-old"]


def lines(rows):
    """Rows as sorted text, lists as lists whatever the engine calls them."""
    return sorted(repr(tuple(list(value) if isinstance(value, (list, tuple)) else value for value in row)) for row in rows)


def ruled(trace, view):
    """What the judge says of a view."""
    rule, columns = VIEWS[view]
    return lines([row[column] for column in columns.split()] for row in rule(trace))


def compare(test, rows, trace, view):
    """Demands of a view what the judge says; shows the rows of either that the other has not."""
    found, expected = (collections.Counter(some) for some in (lines(rows), ruled(trace, view)))
    test.assertEqual(sorted((found - expected).elements()), sorted((expected - found).elements()), VIEWS[view][1])


def compare_samples(test, connection, name, trace):
    """Demands of `cpu_samples` what the judge says, and of its sums those of the judge's rows."""
    told = sorted(judge.samples(trace), key=lambda row: row["seq"])
    expected = [(*(row[column] for column in SAMPLE.split()), (row["modules"] or [None])[-1]) for row in told]
    found = connection.execute(f"SELECT {', '.join(SAMPLE.split())}, module, mode FROM cpu_samples WHERE trace = ? ORDER BY seq", [name])
    found = found.fetchall()
    test.assertEqual(len(found), len(expected))
    wrong = [(have[:-1], want) for have, want in zip(found, expected) if have[:-1] != want]
    test.assertEqual((wrong[:5], len(wrong)), ([], 0))
    # Of an address that is in no module the view may say that it does not know.
    modes = [(have, row["mode"]) for have, row in zip(found, told) if have[-1] != row["mode"]]
    test.assertEqual([one for one in modes if one[0][-2:] != (None, None)], [])
    totals = collections.Counter()
    for row, module in zip(told, expected):
        totals[module[-1]] += row["weight"]
    sums = "SELECT module, CAST(sum(weight) AS BIGINT) FROM cpu_samples WHERE trace = ? GROUP BY module"
    test.assertEqual(dict(connection.execute(sums, [name]).fetchall()), totals)


def query(view, trace):
    columns = ", ".join(VIEWS[view][1].split()).replace("known_share", "round(known_share, 9)")
    return f"SELECT {columns} FROM {view} WHERE trace = '{trace}'"


class Made:
    """Rows of events in the order in which they are told, each case on a machine and in an input of its own."""

    def __init__(self, first_seq, factor=1):
        self.factor = factor
        self.rows = {"Kernel-Thread": [], "Kernel-PerfInfo": [], "Kernel-StackWalk": []}
        self.sidecar = {"sessions": [], "clock": [], "streams": [], "threads": [], "processes": [], "images": []}
        self.cases, self.seq = {}, itertools.count(first_seq)

    def case(self, name, *streams):
        """Begins a case; `streams` are (cpu, first, last)."""
        assert name not in self.cases, name
        self.number = self.cases[name] = len(self.cases) + 1
        self.input(self.number, f"{self.number}.etl", *streams)
        for thread in range(10, 60):
            self.span("threads", thread_id=thread, process_id=thread // 10)
        for process in range(1, 6):
            self.span("processes", process_id=process, image_name=f"{process}.exe")

    def input(self, number, source, *streams):
        self.now = number
        self.sidecar["sessions"].append({"source": source, "input": number, "machine": self.number, "pointer_size": 8})
        self.sidecar["clock"].append({"source": source})
        for cpu, first, last in streams:
            times = {"first_time_ns": first * self.factor, "last_time_ns": last * self.factor}
            self.sidecar["streams"].append({"source": source, "cpu": cpu, **times})

    def span(self, table, begin=0, end=10_000, **row):
        times = {"from_ns": begin * self.factor, "to_ns": end * self.factor}
        self.sidecar[table].append({**row, **times, "machine": self.number})

    def event(self, dataset, name, time, cpu, **row):
        common = {"event_name": name, "timestamp_ns": time * self.factor, "cpu": cpu, "input": self.now, "seq": next(self.seq)}
        self.rows[dataset].append({**common, **{column: value for column, value in row.items() if value is not None}})

    def switch(self, time, cpu, old, new, state=5, **row):
        fields = {"OldThreadId": old, "NewThreadId": new, "OldThreadState": state, "OldThreadWaitReason": 7}
        self.event("Kernel-Thread", "Thread/CSwitch", time, cpu, **fields, **row)

    def ready(self, time, cpu, thread, flag=0, header=None, **row):
        who = {"thread_id": header, "attribution": "header"} if header else {"thread_id": thread, "attribution": "payload"}
        self.event("Kernel-Thread", "Thread/ReadyThread", time, cpu, TThreadId=thread, Flag=flag, **who, **row)

    def walk(self, time, cpu, thread, process=None):
        fields = {"EventTimeStamp_ns": time * self.factor, "StackThread": thread, "StackProcess": process, "Stack__field": [1, 2]}
        self.event("Kernel-StackWalk", "StackWalk/Stack", time, cpu, **fields)

    def interrupt(self, name, begin, end, cpu, routine=-4096):
        fields = {"InitialTime_ns": begin and begin * self.factor, "Routine": routine}
        self.event("Kernel-PerfInfo", f"PerfInfo/{name}", end, cpu, **fields)

    def sample(self, time, address, thread=10, flags=0):
        fields = {"InstructionPointer": address, "ThreadId": thread, "Count": 1, "Reserved": flags}
        # Threads from 60 on are in no table.
        process = thread // 10 if thread < 60 else None
        who = {"process_id": process, "process_name": f"{process}.exe" if process else None, "thread_id": thread, "attribution": "thread"}
        self.event("Kernel-PerfInfo", "PerfInfo/SampleProf", time, 0, **fields, **who)

    def write(self, folder):
        for dataset, rows in self.rows.items():
            add_dataset(folder, dataset, rows)
        for name, rows in self.sidecar.items():
            path = os.path.join(folder, "sidecar", f"{name}.parquet")
            replace_table(folder, name, pyarrow.parquet.read_table(path).to_pylist() + rows)


def wait_of(made, thread, ready=None, cpu=0, begin=100, end=400, readier=20):
    """A thread that waits on one processor from begin to end, while `readier` runs on processor 1."""
    made.switch(50, 1, 0, readier)
    made.switch(60, cpu, 0, thread)
    made.switch(begin, cpu, thread, 0, stack=[9])
    if ready:
        ready()
    made.switch(end, cpu, 0, thread, stack=[5, 6])
    made.switch(end + 10, cpu, thread, 0)
    made.switch(end + 20, 1, readier, 0)


def processors(made):
    """What a processor ran: contradictions, edges, processors without switches, without a number, and inputs of one name."""
    made.case("contradicted", (0, 0, 1000), (1, 0, 500), (2, 70, 70))
    for time, old, new in [(100, 0, 10), (200, 10, 11), (300, 19, 12), (400, 12, 0)]:
        made.switch(time, 0, old, new)
    made.case("elsewhere", (0, 0, 1000), (1, 0, 1000))
    for time, cpu, old, new in [(100, 0, 0, 10), (200, 1, 0, 11), (300, 1, 11, 10), (350, 1, 10, 0), (400, 0, 10, 0), (400, 1, 0, 10)]:
        made.switch(time, cpu, old, new)
    made.case("undecoded", (0, 0, 1000))
    for time, old, new in [(100, 0, 10), (200, 10, None), (300, None, 10), (400, 10, 0)]:
        made.switch(time, 0, old, new)
    made.case("over two inputs", (0, 0, 1000))
    made.switch(100, 0, 0, 10)
    made.switch(200, 0, 10, 0)
    made.input(900, "other.etl", (1, 0, 1000))
    made.switch(300, 1, 0, 10)
    made.switch(400, 1, 10, 0)
    made.case("two inputs of a processor", (0, 0, 1000))
    made.switch(100, 0, 0, 10)
    made.input(903, "another.etl", (0, 0, 1000))
    made.switch(200, 0, 0, 11)
    made.switch(250, 0, 11, 0)
    made.now = made.number
    made.switch(300, 0, 10, 0)
    made.case("edges", (0, 100, 400))
    made.switch(100, 0, 0, 10)
    made.switch(400, 0, 10, 11)
    made.case("no number", (None, 0, 1000))
    for time, old, new in [(100, 0, 10), (200, 10, 11), (300, 0, 12), (400, 11, 0)]:
        made.switch(time, None, old, new)
    made.case("second input", (0, 0, 1000))
    made.switch(100, 0, 0, 10)
    made.switch(200, 0, 10, 0)
    made.input(901, "second.etl", (0, 0, 2000))
    made.case("one name", (0, 0, 1000))
    made.switch(100, 0, 0, 10)
    made.switch(200, 0, 10, 0)
    made.input(902, f"{made.number}.etl", (0, 500, 2000))


def states(made):
    """The states in which a thread leaves, and what it does until it runs again."""
    for state in (1, 3, 5, 7, 9):
        made.case(f"state {state}", (0, 0, 1000))
        for time, old, new in [(100, 10, 11), (400, 11, 10), (500, 10, 11)]:
            made.switch(time, 0, old, new, state=state)
    made.case("left twice", (0, 0, 1000))
    for time, old, new in [(100, 10, 0), (200, 10, 0), (300, 0, 10), (350, 11, 10), (400, 10, 10), (500, 10, 0)]:
        made.switch(time, 0, old, new)
    made.case("another process", (0, 0, 1000))
    made.span("threads", 0, 300, thread_id=77, process_id=1)
    made.span("threads", 300, thread_id=77, process_id=2)
    for time, old, new in [(100, 0, 77), (200, 77, 0), (310, 0, 77), (400, 77, 0)]:
        made.switch(time, 0, old, new)


def strangers(made):
    """Threads that no table has: the walk of a switch names the process, of that switch alone."""
    made.case("walked", (0, 0, 1000))
    for time, old, new, process in [(100, 0, 78, 2), (200, 78, 0, None), (300, 0, 78, None), (400, 78, 10, None), (500, 10, 78, 3)]:
        who = {"process_id": process, "thread_id": new, "attribution": "walk"} if process else {}
        made.switch(time, 0, old, new, **who)
        if process:
            made.walk(time, 0, new, process)
    made.switch(600, 0, 78, 0)


def wake_ups(made):
    """Who readied: by the header, by what ran, by a walk, by a DPC or an interrupt."""

    def case(name, *events):
        made.case(name, (0, 0, 1000), (1, 0, 1000))
        wait_of(made, 10, lambda: [event() for event in events])

    case("nobody")
    case("by header", lambda: made.ready(200, 1, 10, header=30, stack=[3, 4]))
    case("header of the readied", lambda: made.ready(200, 1, 10, header=10))
    case("several", lambda: made.ready(200, 1, 10), lambda: made.ready(300, 1, 10, header=30))
    case("remote", lambda: made.ready(200, 1, 10))
    case("on the idle processor", lambda: made.ready(200, 0, 10))
    case("confirmed", lambda: made.ready(200, 1, 10), lambda: made.walk(200, 1, 20))
    case("denied", lambda: made.ready(200, 1, 10), lambda: made.walk(200, 1, 21))
    case("by DPC", lambda: made.ready(200, 1, 10, flag=1))
    case("by DPC with a header", lambda: made.ready(200, 1, 10, flag=5, header=30))
    case("within an interrupt", lambda: made.ready(200, 1, 10), lambda: made.interrupt("ISR", 190, 210, 1))
    case("within a DPC", lambda: made.ready(200, 1, 10), lambda: made.interrupt("DPC", 190, 210, 1))
    case("without a flag", lambda: made.ready(200, 1, 10, flag=None))
    to, back = (lambda: made.switch(200, 1, 20, 21)), (lambda: made.switch(200, 1, 21, 20))
    case("at the time of a switch", to, lambda: made.ready(200, 1, 10), back)
    case("on a processor without a number", lambda: made.ready(200, None, 10))
    case("walked by two", lambda: made.ready(200, 1, 10), lambda: [made.walk(200, 1, thread) for thread in (20, 21)])
    case("walk of another processor", lambda: made.ready(200, 1, 10), lambda: made.walk(200, 0, 33))
    case("walk of another time", lambda: made.ready(200, 1, 10), lambda: made.walk(201, 1, 33))
    made.case("readied once of twice", (0, 0, 1000), (1, 0, 1000))
    wait_of(made, 10, lambda: made.ready(200, 1, 10))
    made.switch(600, 0, 0, 10)
    made.switch(700, 0, 10, 0, state=1)
    made.switch(750, 0, 0, 10)
    made.case("on a contradicted processor", (0, 0, 1000), (1, 0, 1000))
    for time, cpu, old, new in [(50, 1, 0, 20), (100, 0, 10, 0)]:
        made.switch(time, cpu, old, new)
    made.ready(200, 1, 10)
    for time, cpu, old, new in [(400, 0, 0, 10), (500, 1, 29, 0)]:
        made.switch(time, cpu, old, new)
    for name, walks in (("unknown", []), ("unknown but walked", [31]), ("unknown but walked by two", [31, 32])):
        made.case(name, (0, 0, 1000), (1, 0, 1000))
        made.switch(100, 0, 10, 0)
        made.ready(200, 1, 10)
        for thread in walks:
            made.walk(200, 1, thread)
        made.switch(400, 0, 0, 10)
        made.switch(500, 1, 31, 0)


def interrupts(made):
    """DPCs and interrupts: within each other, over switches, at edges, of drivers one after another."""
    made.case("nested", (0, 0, 1000))
    made.switch(100, 0, 0, 10)
    made.interrupt("ISR", 200, 300, 0)
    made.switch(400, 0, 10, 0)
    made.interrupt("DPC", 150, 450, 0)
    made.interrupt("ISR-MSI", 440, 460, 0)
    made.switch(600, 0, 0, 10)
    made.switch(700, 0, 10, 11)
    made.case("at edges", (0, 100, 1000), (1, 0, 900))
    made.interrupt("TimerDPC", 50, 150, 0)
    made.switch(200, 0, 0, 10)
    made.interrupt("ThreadedDPC", 180, 220, 0)
    made.switch(300, 0, 19, 10)
    made.interrupt("DPC", 200, 240, 1)
    made.interrupt("DPC", 210, 230, 1)
    made.interrupt("DPC", 900, 1000, 0)
    made.case("drivers", (0, 0, 1000))
    for name, begin, end in [("a.sys", 0, 300), ("b.sys", 500, 1000)]:
        made.span("images", begin, end, process_id=0, base=-8192, size=4097, file_name=name, path=f"\\{name}")
    made.span("images", process_id=1, base=-4096, size=4096, file_name="user.dll", path="\\user.dll")
    made.switch(10, 0, 0, 10)
    made.interrupt("ISR", None, 50, 0, -4096)
    for time, routine in [(100, -4096), (200, -4095), (350, -4096), (400, None), (600, -4096), (700, -8192), (800, -8193)]:
        made.interrupt("ISR", time - 5, time, 0, routine)


def samples(made):
    """Samples with each of the flags, and in modules one after another, of the kernel, of a program and of none."""
    made.case("samples", (0, 0, 1000))
    for name, begin, end in [("a.sys", 0, 300), ("b.sys", 500, 1000)]:
        made.span("images", begin, end, process_id=0, base=-8192, size=4097, file_name=name, path=f"\\{name}")
    for name, process in [("one.dll", 1), ("two.dll", 2)]:
        made.span("images", process_id=process, base=4096, size=4096, file_name=name, path=f"\\{name}")
    for time, flags in [(10, 0), (11, 1), (12, 2), (13, 3), (14, 4), (15, 64), (16, 65), (17, None)]:
        made.sample(time, 5000, flags=flags)
    for time, address in [(100, -8192), (200, -4096), (250, -4095), (350, -8192), (500, -8192), (1000, -8192), (600, 4095), (700, 8192)]:
        made.sample(time, address)
    for thread, address in itertools.product((0, 10, 20, 30, 99), (4096, -8192)):
        made.sample(800, address, thread)
    made.case("samples of 32 bits", (0, 0, 1000))
    made.sidecar["sessions"][-1]["pointer_size"] = 4
    made.span("images", process_id=0, base=0x8000_1000, size=4096, file_name="nt.exe", path="\\nt.exe")
    for address in (0x8000_1000, 0x8000_2000, 0x7FFF_0000):
        made.sample(100, address)


RAN = "cpu from_ns to_ns thread_id unknown_because"
BY = "readied_by readied_by_thread_id"
PARTS = "busy_ns idle_ns dpc_ns isr_ns unknown_ns span_ns"
LEFT = "state off_cpu_ns waiting_ns ready_for_ns standby_ns"
# What each case means, by hand: so that judge and view do not err together.
BY_HAND = {
    "contradicted": [
        (
            "cpu_intervals",
            RAN,
            [
                (0, 0, 100, None, "before first switch"),
                (0, 100, 200, 10, None),
                (0, 200, 300, 11, "contradicted"),
                (0, 300, 400, 12, None),
                (1, 0, 500, None, "no switch"),
                (0, 400, 1000, 0, "last switch"),
            ],
        ),
        ("cpu_time", PARTS, [(0, 0, None, None, 500, 500), (200, 0, None, None, 800, 1000)]),
    ],
    "edges": [("cpu_intervals", RAN, [(0, 100, 400, 10, None), (0, 400, 400, 11, "last switch")])],
    "elsewhere": [("cpu_time", PARTS, [(0, 0, None, None, 1000, 1000), (150, 50, None, None, 800, 1000)])],
    "state 1": [("off_cpu", LEFT, [("ready", 300, 0, 300, 0), ("ready", 100, 0, 100, 0)])],
    "state 3": [("off_cpu", LEFT, [("standby", 300, 0, 0, 300), ("standby", 100, 0, 0, 100)])],
    "state 5": [("off_cpu", LEFT, [("waiting", 300, None, None, 0), ("waiting", 100, None, None, 0)])],
    "state 7": [("off_cpu", LEFT, [("ready", 300, 0, 300, 0), ("ready", 100, 0, 100, 0)])],
    "state 9": [("off_cpu", LEFT, [("other", 300, 0, 0, 0), ("other", 100, 0, 0, 0)])],
    "left twice": [("off_cpu", "from_ns to_ns", [(200, 300), (400, 400)])],
    "over two inputs": [("off_cpu", "from_ns to_ns out_cpu cpu", [(200, 300, 0, 1)])],
    "several": [("waits", BY + " waiting_ns ready_for_ns", [("thread", 20, 100, 200)])],
    "by header": [("waits", BY + " readied_by_process_name stack readied_by_stack", [("thread", 30, "3.exe", [5, 6], [3, 4])])],
    "header of the readied": [("waits", BY, [("thread", 20)])],
    "remote": [("waits", BY, [("thread", 20)])],
    "on the idle processor": [("waits", BY, [("thread", 0)])],
    "confirmed": [("waits", BY, [("thread", 20)])],
    "at the time of a switch": [("waits", BY, [(None, None), ("thread", 21)])],
    "denied": [("waits", BY, [(None, None)])],
    "nobody": [("waits", BY + " waiting_ns", [(None, None, None)])],
    "on a contradicted processor": [("waits", BY + " waiting_ns", [(None, None, 100)])],
    "unknown": [("waits", BY + " waiting_ns", [(None, None, 100)])],
    "unknown but walked": [("waits", BY, [("thread", 31)])],
    "unknown but walked by two": [("waits", BY, [(None, None)])],
    "by DPC": [("waits", BY, [("dpc", None)])],
    "by DPC with a header": [("waits", BY, [("dpc", None)])],
    "within an interrupt": [("waits", BY, [("isr", None)])],
    "within a DPC": [("waits", BY, [("dpc", None)])],
    "nested": [("cpu_time", PARTS, [(150, 140, 190, 120, 400, 1000)])],
    "at edges": [("cpu_time", PARTS, [(0, 0, 40, None, 860, 900), (0, 0, 190, None, 710, 900)])],
    "drivers": [
        (
            "interrupts",
            "to_ns module",
            [(50, "a.sys"), (100, "a.sys"), (200, None), (350, None), (400, None), (600, "b.sys"), (700, "b.sys"), (800, None)],
        ),
    ],
}


class MadeRows(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = support.convert([support.EXAMPLE], support.temporary_folder("judge-scheduling"))
        folder = support.dataset(cls.out, support.EXAMPLE)
        # Once more with other times: what one trace has of a thread is nothing to another.
        shutil.copytree(folder, os.path.join(cls.out, "trace=again"))
        cls.made, again = Made(1_000_000), Made(2_000_000, factor=3)
        for made, name in ((cls.made, "example"), (again, "again")):
            for cases in (processors, states, strangers, wake_ups, interrupts, samples):
                cases(made)
            made.write(os.path.join(cls.out, f"trace={name}"))
        cls.traces = {name: judge.Trace(os.path.join(cls.out, f"trace={name}")) for name in ("example", "again")}
        cls.trace = cls.traces["example"]
        cls.views = cls.enterClassContext(contextlib.closing(duckdb_with(cls.out)))

    def of(self, case, rule, columns):
        """Columns of what the judge says of a case, in the order of times."""
        rows = [row for row in rule(self.trace) if row["machine"] == self.made.cases[case]]
        rows.sort(key=lambda row: (row["to_ns"], row["from_ns"]))
        return [tuple(row[column] for column in columns.split()) for row in rows]

    def test_the_judge_says_what_is_known_by_hand(self):
        for case, expected in BY_HAND.items():
            for view, columns, rows in expected:
                with self.subTest(case=case, view=view):
                    self.assertEqual(self.of(case, VIEWS[view][0], columns), rows)

    def test_views_say_what_the_judge_says(self):
        for (name, trace), view in itertools.product(self.traces.items(), VIEWS):
            with self.subTest(trace=name, view=view):
                compare(self, self.views.execute(query(view, name)).fetchall(), trace, view)

    def test_samples_are_where_a_search_through_all_modules_finds_them(self):
        for name, trace in self.traces.items():
            compare_samples(self, self.views, name, trace)

    def test_the_time_of_each_processor_is_counted_once(self):
        parts = "busy_ns + idle_ns + coalesce(dpc_ns, 0) + coalesce(isr_ns, 0) + unknown_ns"
        wrong = f"SELECT * FROM cpu_time WHERE coalesce({parts}, -1) <> span_ns OR span_ns <> to_ns - from_ns"
        self.assertEqual(self.views.execute(wrong).fetchall(), [])


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        cls.out = support.temporary_folder("judge-scheduling-corpus")
        support.convert([os.path.join(corpus, f"{name}.etl") for name in SAMPLED], cls.out, "--progress", "never")
        cls.views = cls.enterClassContext(contextlib.closing(duckdb_with(cls.out)))
        cls.traces = {name: judge.Trace(os.path.join(cls.out, f"trace={name}")) for name in SAMPLED}

    def test_views_say_what_the_judge_says(self):
        for (name, trace), view in itertools.product(self.traces.items(), VIEWS):
            with self.subTest(trace=name, view=view):
                compare(self, self.views.execute(query(view, name)).fetchall(), trace, view)

    def test_the_judge_finds_what_is_known_of_a_trace(self):
        self.assertEqual([name for name, trace in self.traces.items() if trace.switches], SCHEDULED)
        trace = self.traces["filtrace-diskio"]
        told = collections.Counter(row["unknown_because"] for row in judge.intervals(trace))
        # The next switch contradicts 1,051 of 3,083, a switch of another processor 9 more: 25.1 of 25.9 s.
        self.assertEqual(told, {None: 2023, "contradicted": 1051, "elsewhere": 9, "last switch": 32, "before first switch": 3})
        busy = sum(row["to_ns"] - row["from_ns"] for row in judge.intervals(trace) if row["state"] == "busy")
        self.assertEqual(busy, 25_902_350_000 - 25_071_413_600)
        left = collections.Counter(row["state"] for row in judge.off_cpu(trace))
        self.assertEqual(left, {"waiting": 530, "ready": 583, "standby": 501, "other": 266})
        # What is running is sampled: every sample within a known interval is of its thread.
        known = judge.by_key(judge.intervals(trace), lambda row: row["cpu"])
        for sample in trace.samples:
            time = sample["timestamp_ns"]
            ran = [row for row in known[sample["cpu"]] if row["from_ns"] < time < row["to_ns"] and row["state"] != "unknown"]
            self.assertLessEqual({row["thread_id"] for row in ran}, {sample["ThreadId"]}, sample["seq"])

    def test_samples_are_where_a_search_through_all_modules_finds_them(self):
        for name, trace in self.traces.items():
            with self.subTest(name):
                compare_samples(self, self.views, name, trace)

    def test_samples_of_idle_processors_were_often_of_interrupts(self):
        rows = judge.samples(self.traces["perfview-net.4.5.x86-old"])
        idle = collections.Counter(row["interrupt"] for row in rows if row["thread_id"] == 0)
        self.assertEqual(idle, {"none": 12_011, "isr": 168, "dpc": 22})


if __name__ == "__main__":
    unittest.main()

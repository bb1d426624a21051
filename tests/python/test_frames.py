"""What the frames of stacks lie in: the view `frames` and what is made of it, held against loops over the rows of Parquet files."""

import collections
import contextlib
import functools
import glob
import os
import re
import unittest

import pyarrow
import pyarrow.parquet

import support
from engines import duckdb_with, spark_about
from made import add_dataset, add_file

# Merged traces with .NET methods of 64 and 32 bits, and an unmerged one of switches.
TRACES = ["perfview-net.4.5.2.x64", "perfview-net.4.5.x86-old", "filtrace-diskio"]

VIEWS = ["frames", "cpu_sample_frames", "cpu_functions", "cpu_callers", "cpu_paths"]

KNOWN = "module, module_path, module_offset, function, kind, unknown_because"


def rows_of(folder, table, columns):
    """Some columns of the files of a table, row by row; a column that a file lacks is None."""
    for path in sorted(glob.glob(os.path.join(folder, table))):
        names = [name for name in columns if name in pyarrow.parquet.read_schema(path).names]
        for row in pyarrow.parquet.read_table(path, columns=names).to_pylist():
            yield {**dict.fromkeys(columns), **row}


def signed(number):
    """A number of 64 bits, as files with exact integers have it, with its sign."""
    return number - 2**64 if number is not None and number >= 2**63 else number


class Memory:
    """What addresses of processes meant, one span after another."""

    def __init__(self, folder):
        image = ["process_id", "base", "size", "path", "file_name", "time_stamp", "pdb_guid", "pdb_age", "from_ns", "to_ns"]
        method = ["process_id", "base", "size", "namespace", "name", "from_ns", "to_ns"]
        self.images, self.methods = collections.defaultdict(list), collections.defaultdict(list)
        for kept, table, columns in ((self.images, "images", image), (self.methods, "methods", method)):
            for row in rows_of(folder, f"sidecar/{table}.parquet", columns):
                kept[row["process_id"]].append(row)

    @functools.cache
    def at(self, kind, process, address):
        spans = (self.images if kind == "image" else self.methods)[process]
        return [span for span in spans if span["size"] is not None and span["base"] <= address < span["base"] + span["size"]]

    def newest(self, kind, process, address, time):
        found = [span for span in self.at(kind, process, address) if span["from_ns"] <= time < span["to_ns"]]
        return max(found, key=lambda span: (span["from_ns"], span["base"]), default=None)

    def image(self, process, address, time):
        own = self.newest("image", process, address, time) if process not in (None, 0) else None
        return own or self.newest("image", 0, address, time)

    def method(self, process, address, time):
        return self.newest("method", process, address, time) if process is not None else None


def identity(image):
    """What makes two modules the same one."""
    if image is None:
        return None
    by_pdb = (image["pdb_guid"], image["pdb_age"])
    by_file = ((image["file_name"] or "").lower(), image["time_stamp"], image["size"])
    # A file that is known by two paths is one.
    return (image["base"], image["file_name"], by_pdb if None not in by_pdb else by_file)


@functools.cache
def stacks_of(folder):
    """Stacks by process and addresses: first and last time, and how often each event name has it."""
    stacks = {}
    columns = ["process_id", "timestamp_ns", "event_name", "stack"]
    for table in ("events/*/*.parquet", "events/*/*/*.parquet"):
        for row in rows_of(folder, table, columns):
            if row["stack"] is None:
                continue
            key = (row["process_id"], tuple(signed(address) for address in row["stack"]))
            known = stacks.setdefault(key, [row["timestamp_ns"], row["timestamp_ns"], collections.Counter()])
            known[0], known[1] = min(known[0], row["timestamp_ns"]), max(known[1], row["timestamp_ns"])
            known[2][row["event_name"]] += 1
    return stacks


def frame(memory, process, stack, depth, first, last):
    """Module, path, offset, function, kind and reason of a frame."""
    address = stack[depth]
    is_where_the_thread_was = depth == 0 or (address >= 0 and stack[depth - 1] < 0)
    spot = address if is_where_the_thread_was else address - 1
    images = [memory.image(process, spot, time) for time in (first, last)]
    methods = [memory.method(process, spot, time) for time in (first, last)]
    method = methods[0] if methods[0] is methods[1] else None
    changed = identity(images[0]) != identity(images[1]) or (images[0] is None and methods[0] is not methods[1])
    if changed:
        kind = "kernel" if address < 0 else None if 2**31 <= address < 2**32 else "user"
        return (None, None, None, None, kind, "changed")
    module, is_of_kernel = (None, None, None), images[0] is not None and images[0]["process_id"] == 0
    if images[0] is not None:
        module = (images[0]["file_name"], images[0]["path"], address - images[0]["base"])
    function = None
    if method is not None:
        function = ".".join(part for part in (method["namespace"], method["name"]) if part is not None) or None
    kind = "kernel" if address < 0 or is_of_kernel else "managed" if method is not None else "user"
    if kind == "user" and images[0] is None and 2**31 <= address < 2**32:
        # Of a 32-bit kernel, or of a program.
        kind = None
    reason = None
    if function is None and images[0] is None:
        reason = "no process" if process is None and address >= 0 else "in no module"
    elif function is None:
        has_identity = identity(images[0])[2] is not None and None not in identity(images[0])[2]
        reason = "not asked" if has_identity else "no identity"
    return (*module, function, kind, reason)


@functools.cache
def frames_of(folder):
    """All frames by process, addresses of the stack, and depth."""
    memory, frames, known = Memory(folder), {}, {}
    for (process, stack), (first, last, _) in stacks_of(folder).items():
        for depth in range(len(stack)):
            frames[process, stack, depth] = frame(memory, process, stack, depth, first, last)
    return frames


def named(frame):
    """A function, as those are told apart that a view adds up."""
    return (frame[0], frame[3])


def counted(folder, event):
    """Exclusive and inclusive events by process and function, and events by process, caller and callee, of those with a stack."""
    exclusive, inclusive, calls = collections.Counter(), collections.Counter(), collections.Counter()
    frames = frames_of(folder)
    for (process, stack), (_, _, events) in stacks_of(folder).items():
        if not events[event]:
            continue
        own = [named(frames[process, stack, depth]) for depth in range(len(stack))]
        exclusive[process, own[0]] += events[event]
        for function in set(own):
            inclusive[process, function] += events[event]
        for pair in set(zip(own[1:], own)):
            calls[process, *pair] += events[event]
    return exclusive, inclusive, calls


class Made(unittest.TestCase):
    """A trace for each rule."""

    @classmethod
    def setUpClass(cls):
        cls.out = support.convert([support.EXAMPLE], support.temporary_folder("frames"), "--quiet")
        folder = os.path.join(cls.out, "trace=example")
        sample = {"event_name": "PerfInfo/SampleProf", "process_name": "a.exe"}
        stacks = [
            # (process, time, stack)
            (7, 100, [-0x800, 0x1000, 0x2000, 0x3000]),
            (7, 200, [0x1010, 0x2000, 0x1010, 0x2000]),
            (7, 900, [0x5010, 0x4000]),
            (7, 100, [0x5010, 0x4000]),
            (7, 100, [0x6010, 0x6FFF]),
            (None, 100, [-0x800, 0x1010]),
            (8, 100, [0x9010, 0x9110]),
            (7, 100, [0x80001010, 0xF0000000]),
        ]
        add_dataset(
            folder,
            "Kernel-PerfInfo",
            [
                {**sample, "process_id": process, "timestamp_ns": time, "stack": stack, "stack_id": hash(tuple(stack)), "InstructionPointer": stack[0]}
                for process, time, stack in stacks
            ]
            + [{**sample, "process_id": 7, "timestamp_ns": 300, "InstructionPointer": 0x2005}],
        )
        guid = "01234567-89ab-cdef-0123-456789abcdef"
        image = {"process_id": 7, "size": 0x1000, "from_ns": 0, "to_ns": 1000, "machine": 0, "source_of": "Image/Load"}

        def module(base, name, **more):
            return {**image, "base": base, "path": f"C:\\{name}", "file_name": name, **more}

        images = [
            module(-0x1000, "k.sys", process_id=0, pdb_guid=guid, pdb_age=1),
            module(0x80001000, "k32.sys", process_id=0, pdb_guid=guid, pdb_age=7),
            module(0x1000, "a.dll", time_stamp=5),
            module(0x2000, "b.dll", pdb_guid=guid, pdb_age=2),
            module(0x3000, "c.dll", pdb_guid=guid, pdb_age=3),
            # Another module at the same place later on.
            module(0x5000, "old.dll", to_ns=500, pdb_guid=guid, pdb_age=4),
            module(0x5000, "new.dll", from_ns=500, pdb_guid=guid, pdb_age=5),
            # The same, loaded twice.
            module(0x3000, "c.dll", from_ns=1000, to_ns=2000, pdb_guid=guid, pdb_age=3),
            module(0x6000, "native.dll", pdb_guid=guid, pdb_age=6),
            module(0x9000, "nameless.dll", process_id=8),
        ]
        methods = [
            {"process_id": 7, "base": 0x6000, "size": 0x20, "namespace": "N.C", "name": "M", "from_ns": 0, "to_ns": 1000, "machine": 0},
            {"process_id": 7, "base": 0x8000, "size": 0x20, "namespace": None, "name": "Stub", "from_ns": 0, "to_ns": 1000, "machine": 0},
        ]
        integers = dict.fromkeys(["process_id", "base", "size", "time_stamp", "checksum", "pdb_age", "from_ns", "to_ns"], pyarrow.int64())
        texts = dict.fromkeys(["path", "file_name", "pdb_name", "pdb_guid", "source_of"], pyarrow.string())
        for name, rows, types in (
            ("images", images, {**integers, **texts, "machine": pyarrow.int32()}),
            (
                "methods",
                methods,
                {
                    **dict.fromkeys(["process_id", "base", "size", "from_ns", "to_ns"], pyarrow.int64()),
                    **dict.fromkeys(["namespace", "name", "signature", "tier", "source_of"], pyarrow.string()),
                    "machine": pyarrow.int32(),
                },
            ),
        ):
            path = os.path.join(folder, "sidecar", f"{name}.parquet")
            table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(list(types.items())))
            if os.path.exists(path):
                pyarrow.parquet.write_table(table, path)
            else:
                add_file(folder, f"sidecar/{name}.parquet", table)
        cls.folder = folder

    def test_every_rule_has_the_frame_that_it_says(self):
        kernel = ("k.sys", "C:\\k.sys", 0x800, None, "kernel", "not asked")
        expected = {
            # The frame of the program below the kernel's is where it was: at the very begin of its module. The next one is a return
            # address at the begin of b.dll: the call was in a.dll before it.
            (7, (-0x800, 0x1000, 0x2000, 0x3000)): [
                (0, *kernel),
                (1, "a.dll", "C:\\a.dll", 0, None, "user", "not asked"),
                (2, "a.dll", "C:\\a.dll", 0x1000, None, "user", "not asked"),
                (3, "b.dll", "C:\\b.dll", 0x1000, None, "user", "not asked"),
            ],
            # Not the same module at both times.
            (7, (0x5010, 0x4000)): [
                (0, None, None, None, None, "user", "changed"),
                (1, "c.dll", "C:\\c.dll", 0x1000, None, "user", "not asked"),
            ],
            # A method within a module: both are known.
            (7, (0x6010, 0x6FFF)): [
                (0, "native.dll", "C:\\native.dll", 0x10, "N.C.M", "managed", None),
                (1, "native.dll", "C:\\native.dll", 0xFFF, None, "user", "not asked"),
            ],
            (None, (-0x800, 0x1010)): [(0, *kernel), (1, None, None, None, None, "user", "no process")],
            (8, (0x9010, 0x9110)): [
                (0, "nameless.dll", "C:\\nameless.dll", 0x10, None, "user", "no identity"),
                (1, "nameless.dll", "C:\\nameless.dll", 0x110, None, "user", "no identity"),
            ],
            # Of a kernel of 32 bits, whose addresses have no sign.
            (7, (0x80001010, 0xF0000000)): [
                (0, "k32.sys", "C:\\k32.sys", 0x10, None, "kernel", "not asked"),
                (1, None, None, None, None, None, "in no module"),
            ],
        }
        for engine, ask in self.engines():
            found = collections.defaultdict(list)
            for process, stack_id, _, *frame in ask(f"SELECT process_id, stack_id, frame, depth, {KNOWN} FROM frames ORDER BY 1, 2, 3"):
                found[process, stack_id].append(tuple(frame))
            for (process, stack), frames in expected.items():
                with self.subTest(engine=engine, stack=stack):
                    self.assertEqual(found[process, hash(stack)], frames)

    def test_a_function_that_recurs_counts_once(self):
        query = """SELECT module, CAST(sum(exclusive_samples) AS BIGINT), CAST(sum(inclusive_samples) AS BIGINT) FROM cpu_functions
                   WHERE process_id = 7 AND function IS NULL AND module IN ('a.dll', 'b.dll') GROUP BY module ORDER BY module"""
        calls = "SELECT caller_module, module, samples FROM cpu_callers WHERE process_id = 7 AND caller_module = 'a.dll' ORDER BY module"
        path = f"SELECT path, samples FROM cpu_paths WHERE process_id = 7 AND stack_id = {hash((0x6010, 0x6FFF))}"
        # a.dll: leaf of the second stack, and in it and the first. b.dll: the sample without a stack; in it, and in the first alone: the
        # return addresses at its begin are calls of a.dll.
        for engine, ask in self.engines():
            with self.subTest(engine):
                self.assertEqual(ask(query), [("a.dll", 1, 2), ("b.dll", 1, 2)])
                self.assertEqual(ask(calls), [("a.dll", "a.dll", 2), ("a.dll", "k.sys", 1)])
                self.assertEqual(ask("SELECT count(*) FROM cpu_sample_frames WHERE frame = 0 AND process_name = 'a.exe'"), [(9,)])
                self.assertEqual(ask(path), [("native.dll!?;native.dll!N.C.M", 1)])

    def test_queries_of_the_page_run(self):
        with open(os.path.join(support.REPOSITORY, "docs", "symbols.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```sql\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        queries = [query.strip() for block in blocks for query in block.split(";") if query.strip()]
        self.assertEqual(len(queries), 7)
        with contextlib.closing(duckdb_with(self.out)) as connection:
            for query in queries:
                connection.execute(query).fetchall()
        for query in queries:
            # Binds all names, which is what may differ.
            self.spark().sql(query)

    def test_loops_find_the_same(self):
        check_frames(self, self.out, self.folder)

    def engines(self):
        with contextlib.closing(duckdb_with(self.out)) as connection:
            yield "DuckDB", lambda query: connection.execute(query).fetchall()
        yield "Spark", lambda query: [tuple(row) for row in self.spark().sql(query).collect()]

    @classmethod
    @functools.cache
    def spark(cls):
        """A session with the views about frames, and those that they need."""
        return spark_about(cls.out, *VIEWS)


def check_frames(test, out, folder):
    """Compares all frames of a folder with one trace with those that loops find."""
    expected = frames_of(folder)
    with contextlib.closing(duckdb_with(out)) as connection:
        stacks = "SELECT DISTINCT process_id, stack_id, stack FROM all_events WHERE stack IS NOT NULL"
        of_id = {(process, stack_id): tuple(stack) for process, stack_id, stack in connection.execute(stacks).fetchall()}
        found = {}
        for process, stack_id, depth, *known in connection.execute(f"SELECT process_id, stack_id, depth, {KNOWN} FROM frames").fetchall():
            key = (process, of_id[process, stack_id], depth)
            test.assertNotIn(key, found)
            found[key] = tuple(known)
        test.assertEqual(len(found), len(expected))
        for key, known in expected.items():
            test.assertEqual(found[key], known, key)
    return expected


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.corpus, cls.outs = support.corpus_or_skip(), {}

    def converted(self, name):
        if name not in self.outs:
            source, out = os.path.join(self.corpus, f"{name}.etl"), support.temporary_folder(f"frames-{name}")
            done = support.run("convert", source, "-o", out, "--quiet")
            # 4: some traces are damaged.
            self.assertIn(done.returncode, (0, 4), done.stderr)
            self.outs[name] = out
        return self.outs[name], os.path.join(self.outs[name], f"trace={name}")

    def test_frames_lie_where_loops_find_them(self):
        frames = {}
        for name in TRACES:
            with self.subTest(name):
                out, folder = self.converted(name)
                frames[name] = check_frames(self, out, folder)
        expected = frames[TRACES[0]]
        unknown = [known for known in expected.values() if known[0] is None and known[3] is None]
        # Stubs and helpers of run-times that no event names.
        self.assertEqual((len(expected), len(unknown)), (66540, 232))
        self.assertEqual({known[5] for known in unknown}, {"in no module"})

    def test_samples_add_up_by_function_and_by_call(self):
        out, folder = self.converted(TRACES[0])
        exclusive, inclusive, calls = counted(folder, "PerfInfo/SampleProf")
        with contextlib.closing(duckdb_with(out)) as connection:
            samples = connection.execute("SELECT count(*) FROM cpu_samples").fetchone()[0]
            total = connection.execute("SELECT sum(exclusive_samples) FROM cpu_functions").fetchone()[0]
            self.assertEqual(total, samples)
            # Those with a stack.
            rows = connection.execute(
                "SELECT process_id, module, function, count(*) FILTER (frame = 0), count(*) FILTER (is_first) FROM cpu_sample_frames "
                "WHERE stack_id IS NOT NULL GROUP BY ALL"
            ).fetchall()
            self.assertEqual({(p, (m, f)): n for p, m, f, n, _ in rows if n}, dict(exclusive))
            self.assertEqual({(p, (m, f)): n for p, m, f, _, n in rows}, dict(inclusive))
            rows = connection.execute("SELECT process_id, caller_module, caller_function, module, function, samples FROM cpu_callers").fetchall()
            self.assertEqual({(p, (cm, cf), (m, f)): n for p, cm, cf, m, f, n in rows}, dict(calls))
            whole = connection.execute("SELECT sum(samples) FROM cpu_paths").fetchone()[0]
            self.assertEqual(whole, sum(exclusive.values()))
            by_function = connection.execute(
                "SELECT process_id, module, function, sum(inclusive_samples), sum(exclusive_samples) FROM cpu_functions GROUP BY ALL"
            ).fetchall()
            without = collections.Counter()
            leaf = "SELECT process_id, module, function, count(*) FROM cpu_sample_frames WHERE stack_id IS NULL GROUP BY ALL"
            for process, module, function, count in connection.execute(leaf).fetchall():
                without[process, (module, function)] += count
            self.assertEqual({(p, (m, f)): n for p, m, f, n, _ in by_function}, dict(inclusive + without))

    def test_disk_operations_have_the_stack_that_issued_them(self):
        out, folder = self.converted(TRACES[0])
        events = "events/Kernel-DiskIo/*.parquet"
        rows = sorted(rows_of(folder, events, ["seq", "event_name", "Irp", "stack"]), key=lambda row: row["seq"])
        issued, expected = {}, {}
        for row in rows:
            if row["event_name"].endswith("Init"):
                issued[row["Irp"]] = row["stack"]
            elif stack := issued.pop(row["Irp"], None):
                expected[row["seq"]] = stack
        with contextlib.closing(duckdb_with(out)) as connection:
            query = "SELECT seq, list(address ORDER BY frame) FROM disk_io_frames GROUP BY seq"
            self.assertEqual(dict(connection.execute(query).fetchall()), expected)
        self.assertEqual(len(expected), 1231)

    def test_waits_have_the_frames_of_their_stacks(self):
        out, _ = self.converted("filtrace-diskio")
        with contextlib.closing(duckdb_with(out)) as connection:
            waits = dict(connection.execute("SELECT in_seq, stack FROM waits WHERE stack IS NOT NULL").fetchall())
            found = "SELECT in_seq, list(address ORDER BY frame) FROM wait_frames GROUP BY in_seq"
            self.assertEqual(dict(connection.execute(found).fetchall()), waits)
            total = connection.execute("SELECT sum(off_cpu_ns) FROM waits WHERE stack IS NOT NULL").fetchone()[0]
            self.assertEqual(connection.execute("SELECT sum(exclusive_ns) FROM wait_functions").fetchone()[0], total)
            self.assertEqual(connection.execute("SELECT sum(off_cpu_ns) FROM wait_paths").fetchone()[0], total)
            self.assertEqual(len(waits), 530)


if __name__ == "__main__":
    unittest.main()

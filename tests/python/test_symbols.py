"""Symbols beside traces: functions, lines and inlined functions of frames are those that LLVM prints of the same binaries.

The PDBs, and what LLVM says of addresses in their binaries, are those that the tests of the reader of PDBs have; nothing here is read
with the product. Stacks lie at addresses of which LLVM and another program say the same files and lines.
"""

import collections
import contextlib
import functools
import glob
import json
import os
import re
import shutil
import signal
import struct
import time
import unittest
import uuid

import duckdb
import pyarrow
import pyarrow.parquet

import support
import test_report as pages
from engines import duckdb_with, script, spark_about
from made import add_dataset

DATA = os.path.join(support.REPOSITORY, "crates", "symbols", "tests", "data")
BINARIES = [
    "attach_amd64.dll", "attach_x86.dll", "inject_dll_amd64.exe", "inject_dll_x86.exe", "run_code_on_dllmain_amd64.dll",
    "run_code_on_dllmain_x86.dll",
]

# Of no process of the example. Its modules are loaded all the time.
PROCESS, NAME = 777777, "made.exe"
FIRST_NS = 1772442001000000000
DEPTH = 4

# What makes a row of `images` one of an unmerged trace.
OF_BINARY = {"pdb_name": None, "pdb_guid": None, "pdb_age": None}

# What a name has that says in which function it is declared: LLVM says that with parameters.
# Or it is an operator that makes a pointer to a function, and ends with the parameters of that.
WITHIN = re.compile("`[^']*[(]|operator .*[(]__")

# Names by which LLVM calls procedures of which another name has the same place, or that reach into another object file; and a sign of a
# namespace without a name, which it leaves as it is.
OF_LLVM = {
    "alloca_probe", "memmove", "vcrt_initialize", "vcrt_thread_attach", "vcrt_thread_detach", "vcrt_uninitialize",
    "vcrt_uninitialize_critical", "is_c_termination_complete", "fFEXP", "log10_pentium4", "rtzerospop", "tosnan1",
}


def data(name):
    """A file of the tests of the reader."""
    with pyarrow.input_stream(os.path.join(DATA, f"{name}.zst"), compression="zstd") as file:
        return file.read()


class Binary:
    """A binary: what a trace records of it, by the documented layout of PE files."""

    def __init__(self, name, number):
        self.name, self.stem, self.bytes = name, name.split(".")[0], data(name)
        self.base = 0x7FF600000000 + 0x1000000 * number

        def u32(at):
            return struct.unpack_from("<I", self.bytes, at)[0]

        pe = u32(0x3C)
        assert self.bytes[pe : pe + 4] == b"PE\0\0"
        sections, optional_size = struct.unpack_from("<H12xH", self.bytes, pe + 6)
        optional = pe + 24
        is_64 = struct.unpack_from("<H", self.bytes, optional)[0] == 0x20B
        self.time_stamp, self.size = u32(pe + 8), u32(optional + 56)
        debug, length = u32(optional + (160 if is_64 else 144)), u32(optional + (164 if is_64 else 148))
        for section in range(sections):
            _, address, size, place = struct.unpack_from("<4I", self.bytes, optional + optional_size + 40 * section + 8)
            if address <= debug < address + size:
                debug += place - address
                break
        record = next(u32(at + 24) for at in range(debug, debug + length, 28) if u32(at + 12) == 2)
        assert self.bytes[record : record + 4] == b"RSDS"
        self.guid, self.age = uuid.UUID(bytes_le=self.bytes[record + 4 : record + 20]), u32(record + 20)

    def image(self, **other):
        """A row of `images`."""
        image = {
            "process_id": PROCESS, "base": self.base, "size": self.size, "path": f"\\Device\\Disk\\{self.name}", "file_name": self.name,
            "time_stamp": self.time_stamp, "pdb_name": f"C:\\build\\{self.stem}.pdb", "pdb_guid": str(self.guid), "pdb_age": self.age,
            "from_ns": 0, "to_ns": 2**62, "machine": 0,
        }
        return {**image, **other}

    def put(self, store, guid=None, age=None, content=None):
        """Puts its PDB where a symbol store has one of such an identity."""
        pdb = f"{self.stem}.pdb"
        folder = os.path.join(store, pdb, key(guid or self.guid, self.age if age is None else age))
        os.makedirs(folder)
        with open(os.path.join(folder, pdb), "wb") as file:
            file.write(data(pdb) if content is None else content)

    def put_binary(self, store):
        folder = os.path.join(store, self.name, f"{self.time_stamp:08X}{self.size:x}")
        os.makedirs(folder)
        with open(os.path.join(folder, self.name), "wb") as file:
            file.write(self.bytes)


def key(guid, age):
    """What debuggers call the folder of a PDB."""
    return f"{guid.hex.upper()}{age:X}"


@functools.cache
def binaries():
    return [Binary(name, number) for number, name in enumerate(BINARIES)]


def short(name):
    """A name without its parameters: those stand in the last bracket, behind which there is at most what a method is besides."""
    closed = re.sub(r"( const| volatile| noexcept|&)*$", "", name)
    if not closed.endswith(")"):
        return name
    depth = 0
    for at in range(len(closed) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(closed[at], 0)
        if depth == 0:
            return name if closed[:at].endswith("operator") else closed[:at]
    return name


def plain(name):
    """A name without the signs that 32-bit compilers put before those of C, of which LLVM takes one off; without the words and the
    spaces in which the names of procedures and those of publics differ."""
    short_words = re.sub(r"\b(class|struct|enum|union) |\s", "", name or "").replace("deletingdestructor", "deletingdtor")
    return short_words.lstrip("_") or None


@functools.cache
def golden(binary):
    """Address, and the name, file and line of its frames, the innermost first."""

    def lines(of):
        for line in data(f"{binary.stem}.{of}").decode().splitlines():
            address, *parts = line.split("\t")
            yield int(address, 16), [tuple(parts[at : at + 3]) for at in range(0, len(parts), 3)]

    others = {address: [place for _, *place in frames] for address, frames in lines("addr2line")}
    kept = {}
    for address, frames in lines("llvm"):
        is_told = any(plain(short(name)) in OF_LLVM or name.startswith("[thunk]") or "?A0x" in name or WITHIN.search(name) for name, _, _ in frames)
        if not is_told and [place for _, *place in frames] == others[address]:
            kept[address] = [(plain(short(name)), file or None, int(line) or None) for name, file, line in frames]
    return kept


def chosen(binary, count):
    """So many addresses, those with most inlined functions and those of a function that is inlined in itself among them."""
    frames = golden(binary)

    def recurs(address):
        return len({name for name, _, _ in frames[address]}) < len(frames[address])

    rare = sorted(frames, key=lambda address: (not recurs(address), -len(frames[address]), address))[: count // 4]
    rest = sorted(frames.keys() - set(rare))
    return sorted(rare) + rest[:: len(rest) // (count - len(rare)) + 1]


def made(name, images, stacks, source=support.EXAMPLE, out=None):
    """A converted trace with such images, and samples with such stacks: process, addresses, and how many. Returns folder and trace."""
    out = support.convert([source], out or support.temporary_folder(name), "--quiet")
    folder = support.dataset(out, source)
    rows = []
    for process, stack, count in stacks:
        for _ in range(count):
            rows.append({
                "event_name": "PerfInfo/SampleProf", "process_name": NAME, "process_id": process, "thread_id": 9,
                "timestamp_ns": FIRST_NS + len(rows), "stack": list(stack), "stack_id": hash(tuple(stack)), "input": 0,
                "InstructionPointer": stack[0], "ThreadId": 9, "Reserved": 0, "Count": 1, "decode_source": "kernel",
                "decode_status": "ok", "shape": 0, "seq": 10**6 + len(rows),
            })
    add_dataset(folder, "Kernel-PerfInfo", rows)
    path = os.path.join(folder, "sidecar", "images.parquet")
    schema = pyarrow.parquet.read_schema(path)
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(images, schema=schema), path, compression="zstd")
    return out, folder


def contents(folder):
    """All files of a folder."""
    found = {}
    for path in support.files_below(folder):
        with open(os.path.join(folder, path), "rb") as file:
            found[path] = file.read()
    return found


def look_up(test, *arguments):
    done = support.run("symbols", *arguments, "--progress", "never")
    test.assertEqual(done.returncode, 0, done.stderr)
    return done.stdout


def modules_of(out):
    return pyarrow.parquet.read_table(os.path.join(out, "symbols", "modules.parquet")).to_pylist()


class Llvm(unittest.TestCase):
    """Frames in all six binaries, of which one is known by its time stamp and size alone, and one is loaded in the kernel."""

    @classmethod
    def setUpClass(cls):
        cls.by_name = {binary.name: binary for binary in binaries()}
        images = [binary.image() for binary in binaries()]
        images[1].update(OF_BINARY)
        kernel = cls.by_name["run_code_on_dllmain_amd64.dll"]
        kernel.base = -0x10000000
        images[4].update(process_id=0, base=kernel.base)
        cls.stacks, cls.frames = [], {}
        spots = [[(binary, address) for address in chosen(binary, 120)] for binary in binaries() if binary is not kernel]
        # Callers and callees are of several binaries.
        flat = [spot for some in zip(*(s[: min(map(len, spots))] for s in spots)) for spot in some]
        in_kernel = [(kernel, address) for address in chosen(kernel, 60)]
        groups = [flat[at : at + DEPTH] for at in range(0, len(flat), DEPTH)]
        groups += [in_kernel[at : at + 2] + flat[at : at + 2] for at in range(0, len(in_kernel), 2)]
        # A function that calls itself.
        groups += [[flat[at], flat[at + 1], flat[at]] for at in range(40)]
        groups += [[spot] for spot in flat[:40]]
        for number, group in enumerate(groups):
            cls.add(group, 1 + number % 3)
        cls.out, cls.folder = made("symbols", images, [(PROCESS, stack, count) for stack, count in cls.stacks])
        cls.store = support.temporary_folder("symbols-store")
        for binary in binaries():
            binary.put(cls.store)
        cls.by_name["attach_x86.dll"].put_binary(cls.store)
        cls.before, cls.script_before = contents(cls.folder), script(cls.out)
        with contextlib.closing(duckdb_with(cls.out)) as connection:
            cls.unasked = connection.execute("SELECT DISTINCT unknown_because, function FROM frames WHERE process_id = ?", [PROCESS]).fetchall()
        done = support.run("symbols", cls.out, "--symbol-path", f"nowhere;{cls.store}", "--lines", "--progress", "never")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.page = done.stdout

    @classmethod
    def tearDownClass(cls):
        binaries.cache_clear()

    @classmethod
    def add(cls, group, count):
        """Adds a stack: its leaf, and the first frame below those of the kernel, is where the thread was; behind the others is the call."""
        stack, frames = [], []
        for depth, (binary, address) in enumerate(group):
            is_exact = depth == 0 or (stack[-1] < 0 and binary.base >= 0)
            stack.append(binary.base + address + (0 if is_exact else 1))
            told = golden(binary)[address]
            for at, (name, file, line) in enumerate(told):
                frames.append((depth, len(told) - 1 - at, stack[-1], binary.name, name, file, line))
        if tuple(stack) not in cls.frames:
            cls.frames[tuple(stack)] = frames
            cls.stacks.append((stack, count))

    def functions(self):
        """Names of the frames of each stack, the innermost first, and how many samples have it."""
        for stack, count in self.stacks:
            yield hash(tuple(stack)), [(module, name) for _, _, _, module, name, _, _ in self.frames[tuple(stack)]], count

    @classmethod
    @functools.cache
    def spark(cls):
        return spark_about(cls.out, "frames", "cpu_functions")

    def in_duckdb(self, query):
        with contextlib.closing(duckdb_with(self.out)) as connection:
            return connection.execute(query).fetchall()

    def in_both(self, query):
        """The rows of a query in DuckDB; those of Spark are the same."""
        found = self.in_duckdb(query)
        with self.subTest("Spark"):
            rows = [tuple(row) for row in self.spark().sql(query).collect()]
            self.assertEqual(collections.Counter(rows), collections.Counter(found))
        return found

    def test_what_is_tested(self):
        inlined = collections.Counter(len(golden(self.by_name[name])[address]) for name, address in self.spots())
        self.assertGreater(sum(inlined.values()), 600)
        self.assertGreater(sum(count for depth, count in inlined.items() if depth > 1), 150)
        itself = [names for _, names, _ in self.functions() if any(a == b for a, b in zip(names, names[1:]))]
        self.assertGreaterEqual(len(itself), 3)

    def spots(self):
        for stack, _ in self.stacks:
            for depth, inline_depth, address, module, *_ in self.frames[tuple(stack)]:
                if inline_depth == 0:
                    before = stack[depth - 1] if depth else 0
                    is_exact = depth == 0 or (before < 0 <= address)
                    yield module, address - self.by_name[module].base - (0 if is_exact else 1)

    def test_frames_are_those_of_llvm(self):
        self.assertEqual(self.unasked, [("not asked", None)])
        found = self.in_both(f"""SELECT stack_id, frame, depth, inline_depth, address, module, function, file, line, kind, is_first,
                                unknown_because, module_offset, module_path FROM frames WHERE process_id = {PROCESS}""")
        by_stack = collections.defaultdict(dict)
        for stack_id, frame, *rest in found:
            self.assertNotIn(frame, by_stack[stack_id])
            by_stack[stack_id][frame] = rest
        self.assertEqual(by_stack.keys(), {hash(stack) for stack in self.frames})
        for stack, frames in self.frames.items():
            rows = by_stack[hash(stack)]
            self.assertEqual(sorted(rows), list(range(len(frames))))
            seen = set()
            for frame, (depth, inline_depth, address, module, name, file, line) in enumerate(frames):
                binary = self.by_name[module]
                row = [*rows[frame]]
                row[4] = plain(row[4])
                kind, is_first = "kernel" if binary.base < 0 else "user", (module, name) not in seen
                offset, path = address - binary.base, f"\\Device\\Disk\\{module}"
                self.assertEqual(row, [depth, inline_depth, address, module, name, file, line, kind, is_first, None, offset, path])
                seen.add((module, name))

    def test_samples_add_up_by_function(self):
        found = self.in_both(f"""SELECT module, function, kind, process_name, exclusive_samples, inclusive_samples FROM cpu_functions
                                WHERE process_id = {PROCESS}""")
        exclusive, inclusive = collections.Counter(), collections.Counter()
        for _, names, count in self.functions():
            exclusive[names[0]] += count
            for name in set(names):
                inclusive[name] += count
        self.assertEqual({(m, plain(f)): own for m, f, _, _, own, _ in found if own}, dict(exclusive))
        self.assertEqual({(m, plain(f)): own for m, f, _, _, _, own in found}, dict(inclusive))
        self.assertEqual(len(found), len(inclusive))
        self.assertEqual(sum(row[4] for row in found), sum(count for _, count in self.stacks))
        self.assertEqual({(row[2], row[3]) for row in found}, {("user", NAME), ("kernel", NAME)})

    def test_samples_add_up_by_call(self):
        found = self.in_duckdb(f"SELECT caller_module, caller_function, module, function, samples FROM cpu_callers WHERE process_id = {PROCESS}")
        expected = collections.Counter()
        for _, names, count in self.functions():
            for call in set(zip(names[1:], names)):
                expected[call] += count
        self.assertEqual({((cm, plain(cf)), (m, plain(f))): samples for cm, cf, m, f, samples in found}, dict(expected))
        self.assertEqual(len(found), len(expected))

    def test_paths_are_those_of_the_stacks(self):
        found = self.in_duckdb(f"SELECT stack_id, path, samples FROM cpu_paths WHERE process_id = {PROCESS}")
        expected = {stack: (["!".join(name) for name in reversed(names)], count) for stack, names, count in self.functions()}

        def parts(path):
            return ["!".join([module, plain(name)]) for module, name in (part.split("!", 1) for part in path.split(";"))]

        self.assertEqual({stack: (parts(path), samples) for stack, path, samples in found}, expected)
        self.assertEqual(len(found), len(expected))

    def test_the_report_has_the_functions(self):
        folder = support.temporary_folder("symbols-page")
        page = pages.page_of(pages.report(folder, self.folder))
        self.assertEqual(page.faults, [])
        bars = pages.Bars(re.search('<section id="sample-stacks".*?</section>', page.source, re.S).group(0)).bars
        # No table of the trace has the process.
        expected, page_name = collections.Counter(), f"process {PROCESS}"
        for _, frames, count in self.by_depth():
            path = [page_name] + ["!".join(name) for name in reversed(frames)]
            for length in range(1, len(path) + 1):
                expected[tuple(path[:length])] += count

        def named(path):
            return tuple([path[0]] + ["!".join([m, plain(f)]) for m, f in (part.split("!", 1) for part in path[1:])])

        of_process = {named(path): amount for path, (_, amount, _) in bars.items() if path and path[0] == page_name}
        # The page cuts long names.
        cut = tuple({name[:-1] for path in of_process for name in path if name.endswith("…")})
        found = {path: amount for path, amount in of_process.items() if not any(name.endswith("…") for name in path)}
        is_whole = {path: not any(name.startswith(cut) for name in path) for path in expected}
        self.assertEqual(found, {path: f"{n:,} sample{'' if n == 1 else 's'}" for path, n in expected.items() if path in found or is_whole[path]})
        self.assertGreater(len(found), 400)
        own = collections.Counter()
        for _, frames, count in self.by_depth():
            own["!".join(frames[0])] += count
        table = [row for row in page.tables["Samples in each function"][1:] if row[0].split("!")[0] in BINARIES and not row[0].endswith("…")]
        self.assertGreater(len(table), 5)
        for name, samples, *_ in table:
            module, name = name.split("!", 1)
            self.assertEqual(pages.count(samples.split(" ")[0]), own[f"{module}!{plain(name)}"])
        # All samples execute where their stacks begin.
        executed = [row for row in page.tables["Samples by function that executed"][1:] if row[0].split("!")[0] in BINARIES]
        whole = [row[:2] for row in executed if not row[0].endswith("…")]
        self.assertEqual(whole, [[name, samples.split(" ")[0]] for name, samples, *_ in table][: len(whole)])

    def by_depth(self):
        """Names of the functions that the code of the frames of each stack lies in, without those that are inlined."""
        for stack, count in self.stacks:
            yield stack, [(f[3], f[4]) for f in self.frames[tuple(stack)] if f[1] == 0], count

    def test_what_is_beside_is_not_in_the_way(self):
        self.assertIn("of 6 modules of 6", self.page)
        self.assertEqual(contents(self.folder), self.before)
        modules = {row["file_name"]: row for row in modules_of(self.out)}
        self.assertEqual({name: row["status"] for name, row in modules.items()}, dict.fromkeys(BINARIES, "found"))
        for name, row in modules.items():
            self.assertEqual((row["pdb_guid"], row["pdb_age"]), (str(self.by_name[name].guid), self.by_name[name].age))
        page = os.path.join(support.temporary_folder("symbols-page"), "page.html")
        for arguments in (["inspect", self.out], ["inspect", self.folder], ["views", self.out], ["views", self.folder],
                          ["report", self.out, "-o", page]):
            done = support.run(*arguments)
            self.assertEqual((done.returncode, done.stderr), (0, f"wrote {page}\n" if arguments[0] == "report" else ""), arguments)
        # Made tables are not those of their manifest: beside what the program wrote they are no part of it, either.
        untouched = support.convert([support.EXAMPLE], support.temporary_folder("symbols-untouched"), "--quiet")
        trace = support.dataset(untouched, support.EXAMPLE)
        verified, before = support.run("verify", untouched).stdout, contents(trace)
        shutil.copytree(os.path.join(self.out, "symbols"), os.path.join(untouched, "symbols"))
        for arguments in (["verify", untouched], ["symbols", untouched, "--symbol-path", self.store], ["verify", untouched],
                          ["convert", support.EXAMPLE, "-o", untouched, "--if-exists", "skip"], ["verify", untouched]):
            done = support.run(*arguments)
            self.assertEqual(done.returncode, 0, (arguments, done.stderr))
            if arguments[0] == "verify":
                self.assertEqual(done.stdout, verified)
        self.assertEqual(contents(trace), before)

    def test_an_older_script_still_runs(self):
        with contextlib.closing(duckdb.connect()) as connection:
            connection.execute(self.script_before)
            rows = connection.execute("SELECT DISTINCT unknown_because, function FROM frames WHERE process_id = ?", [PROCESS]).fetchall()
        self.assertEqual(rows, [("not asked", None)])

    def test_views_of_one_trace_have_the_functions(self):
        with contextlib.closing(duckdb_with(self.folder)) as connection:
            unknown = connection.execute("SELECT count(*) FROM frames WHERE process_id = ? AND function IS NULL", [PROCESS]).fetchone()
            told = connection.execute("SELECT count(*) FROM frames WHERE process_id = ?", [PROCESS]).fetchone()
        self.assertEqual((unknown[0], told[0]), (0, sum(map(len, self.frames.values()))))


class Reasons(unittest.TestCase):
    """Why a frame has no function."""

    @classmethod
    def setUpClass(cls):
        cls.store = support.temporary_folder("reasons-store")
        attach, other, exe, garbled, run, few = binaries()
        attach.put(cls.store)
        other.put(cls.store, age=other.age + 1)
        other.put_binary(cls.store)
        garbled.put(cls.store, content=b"no PDB " * 1000)
        few.put(cls.store)
        images = [
            attach.image(),
            # A PDB of the name is there, and of another age.
            other.image(pdb_age=other.age + 1),
            exe.image(),
            garbled.image(),
            run.image(**OF_BINARY, time_stamp=None),
            few.image(),
            # Of another build than the binary in the store.
            other.image(base=0x7FF700000000, file_name="renamed.dll", **OF_BINARY, time_stamp=7),
        ]
        cls.data = attach.size - 0x10
        function = min(golden(attach))
        spots = [
            (attach.base + function, None), (attach.base + 0x10, "no symbol"), (other.base + 0x1000, "mismatch"),
            (exe.base + 0x1000, "not found"), (garbled.base + 0x1000, "unreadable"), (run.base + 0x1000, "no identity"),
            (few.base + 0x1000, "few"), (0x7FF700001000, "not found"), (0x10000, "in no module"),
        ]
        cls.attach, cls.expected = attach, dict(spots)
        # Samples without callers.
        cls.stacks = [(PROCESS, [address], 1 if reason == "few" else 20) for address, reason in spots]
        cls.out, cls.folder = made("reasons", images, cls.stacks)

    def reasons(self):
        query = f"SELECT address, unknown_because FROM frames WHERE process_id = {PROCESS}"
        with contextlib.closing(duckdb_with(self.out)) as connection:
            return dict(connection.execute(query).fetchall())

    def test_every_reason(self):
        before = {a: reason if reason in ("no identity", "in no module") else "not asked" for a, reason in self.expected.items()}
        self.assertEqual(self.reasons(), before)
        missing = os.path.join(support.temporary_folder("missing"), "missing.txt")
        text = look_up(self, self.out, "--symbol-path", self.store, "--min-share", "2%", "--missing", missing)
        self.assertEqual(self.reasons(), {a: "not asked" if reason == "few" else reason for a, reason in self.expected.items()})
        attach, other, exe, garbled, run, few = binaries()
        rows = {(row["file_name"], row["status"]): row for row in modules_of(self.out)}
        self.assertEqual(
            set(rows),
            {(attach.name, "found"), (other.name, "mismatch"), (exe.name, "not found"), (garbled.name, "unreadable"),
             (run.name, "no identity"), (few.name, "not asked"), ("renamed.dll", "not found")},
        )
        self.assertEqual(rows[other.name, "mismatch"]["reason"], key(other.guid, other.age))
        found = rows[attach.name, "found"]
        # The example has 221 samples, none with a stack.
        frames = 161 + 221
        self.assertEqual((found["frames"], found["addresses"], found["named"], found["share"]), (40, 2, 1, 40 / frames))
        self.assertEqual({row["symbol_key"] for row in modules_of(self.out)} - {f"{b.guid}/{b.age}" for b in binaries()},
                         {f"{other.guid}/{other.age + 1}", f"renamed.dll/7/{other.size}", None})
        with open(missing, encoding="utf-8") as file:
            lines = file.read().splitlines()
        self.assertEqual(lines, sorted([f"{other.stem}.pdb,{key(other.guid, other.age + 1)},1", f"{exe.stem}.pdb,{key(exe.guid, exe.age)},1",
                                        f"{garbled.stem}.pdb,{key(garbled.guid, garbled.age)},1"]))
        for status in ("mismatch", "not found", "unreadable", "no identity", "not asked"):
            self.assertRegex(text, rf"(?m)^ +\S+ .*  {status}")
        # What was not asked for is when it is asked; what was missing is when it is there.
        exe.put(self.store)
        look_up(self, self.out, "--symbol-path", self.store)
        known = self.reasons()
        self.assertEqual((known[few.base + 0x1000], known[exe.base + 0x1000]), (None, None))


class Beside(unittest.TestCase):
    """The tables of a folder with several traces."""

    @classmethod
    def setUpClass(cls):
        cls.store, cls.sources = support.temporary_folder("beside-store"), support.temporary_folder("beside-sources")
        for binary in binaries():
            binary.put(cls.store)
            binary.put_binary(cls.store)
        for name in "ab":
            shutil.copy(support.EXAMPLE, os.path.join(cls.sources, f"{name}.etl"))

    def traces(self, second_image=None, change=str):
        """A folder with two traces: of some binaries both have some addresses, of others one."""
        out = support.temporary_folder("beside")
        for name, own, share in (("a", binaries()[:4], 0), ("b", binaries()[2:], 1)):
            spots = [(PROCESS, [binary.base + address], 1 + share) for binary in own for address in chosen(binary, 60)[20 * share :][:40]]
            images = [binary.image(pdb_name=change(f"C:\\build\\{binary.stem}.pdb")) for binary in own]
            if name == "b":
                images = [{**image, **(second_image or {})} for image in images]
            made("beside", images, spots, os.path.join(self.sources, f"{name}.etl"), out)
        return out

    def tables(self, out):
        return contents(os.path.join(out, "symbols"))

    def test_the_order_of_traces_makes_no_difference(self):
        once = self.traces()
        look_up(self, once, "--symbol-path", self.store, "--lines")
        expected = self.tables(once)
        self.assertEqual(len(expected), 7)
        first, second = (os.path.join(once, f"trace={name}") for name in "ab")
        path = ["--symbol-path", self.store, "--lines"]
        for runs in ([[second, first]], [[first], [second], [once]], [[second], [first, second]], [[first], [once, first]]):
            shutil.rmtree(os.path.join(once, "symbols"))
            for traces in runs:
                look_up(self, *traces, *path)
            with self.subTest(runs=[[os.path.basename(trace) for trace in traces] for traces in runs]):
                found = self.tables(once)
                self.assertEqual(found.keys(), expected.keys())
                self.assertEqual([name for name in expected if found[name] != expected[name]], [])
        # Without the last run over both, the tables of PDBs have everything, too.
        shutil.rmtree(os.path.join(once, "symbols"))
        look_up(self, second, *path)
        look_up(self, first, *path)
        found = self.tables(once)
        self.assertEqual([name for name in expected if found[name] != expected[name]], ["modules.parquet"])
        # First without lines.
        shutil.rmtree(os.path.join(once, "symbols"))
        look_up(self, once, "--symbol-path", self.store)
        look_up(self, once, *path)
        self.assertEqual([name for name in expected if self.tables(once)[name] != expected[name]], [])

    def test_a_pdb_of_two_identities_is_one_table(self):
        self.check_two_identities(self.traces(OF_BINARY), [1, 2, 2, 2, 2])

    def test_the_case_of_the_name_of_a_pdb_makes_no_difference(self):
        self.check_two_identities(self.traces(OF_BINARY, str.upper), [1])

    def check_two_identities(self, out, threads):
        """One trace records identities of PDBs, the other time stamps and sizes: what they need of a PDB is found together."""
        for number, threads in enumerate(threads):
            with self.subTest(number, threads=threads):
                shutil.rmtree(os.path.join(out, "symbols"), ignore_errors=True)
                look_up(self, out, "--symbol-path", self.store, "--threads", threads)
                query = f"""SELECT trace, count(*), count(function), count(DISTINCT address) FROM frames WHERE process_id = {PROCESS}
                            GROUP BY ALL ORDER BY ALL"""
                with contextlib.closing(duckdb_with(out)) as connection:
                    rows = connection.execute(query).fetchall()
                self.assertEqual([row[:3] for row in rows], [(trace, addresses, addresses) for trace, _, _, addresses in rows])

    def test_damaged_tables_end_with_an_error_that_names_them(self):
        out = self.traces()
        look_up(self, out, "--symbol-path", self.store)
        pdb = next(path for path in self.tables(out) if path.startswith("pdb"))
        trace = os.path.join(out, "trace=a")
        page = os.path.join(support.temporary_folder("beside-page"), "page.html")
        for path in ("modules.parquet", pdb):
            table = os.path.join(out, "symbols", path)
            with open(table, "rb") as file:
                whole = file.read()
            for damaged in (b"", b"no table " * 100, whole[: len(whole) // 2]):
                with open(table, "wb") as file:
                    file.write(damaged)
                for command in (["symbols", out, "--symbol-path", self.store], ["report", trace, "-o", page]):
                    with self.subTest(path=path, size=len(damaged), command=command[0]):
                        done = support.run(*command)
                        self.assertEqual(done.returncode, 6, done.stderr)
                        self.assertIn(os.path.join("symbols", path), done.stderr)
                        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                # DuckDB looks into files when it is told of a view.
                self.assertIn("symbol_modules", script(out))
                with self.assertRaisesRegex(duckdb.Error, re.escape(path)), contextlib.closing(duckdb_with(out)) as connection:
                    connection.execute("SELECT count(function) FROM frames").fetchall()
            # Who takes it away has it again.
            os.remove(table)
            look_up(self, out, "--symbol-path", self.store)
            if path == pdb:
                with open(table, "rb") as file:
                    self.assertEqual(file.read(), whole)
            self.assertEqual({row["status"] for row in modules_of(out)}, {"found"})


class Killed(unittest.TestCase):
    """A run that ends half-way."""

    COPIES = 60

    def test_only_whole_tables_are_left(self):
        binary, store = binaries()[0], support.temporary_folder("killed-store")
        addresses, pdb = sorted(golden(binary)), data(f"{binary.stem}.pdb")
        images, stacks = [], []
        for number in range(self.COPIES):
            guid, base = uuid.UUID(int=1000 + number), 0x7FF600000000 + 0x1000000 * number
            binary.put(store, guid=guid, content=pdb.replace(binary.guid.bytes_le, guid.bytes_le))
            images.append(binary.image(base=base, pdb_guid=str(guid), file_name=f"{number}.dll"))
            stacks.append((PROCESS, [base + addresses[0]] + [base + address + 1 for address in addresses[1:]], 1))
        out, folder = made("killed", images, stacks)
        before, symbols = contents(folder), os.path.join(out, "symbols")

        def tables():
            return [path for path in support.files_below(symbols) if path.endswith(".parquet")] if os.path.isdir(symbols) else []

        process = support.start("symbols", out, "--symbol-path", store, "--lines", "--threads", "1", "--quiet")
        with process:
            try:
                end = time.monotonic() + 60
                while len(tables()) < 8 and process.poll() is None and time.monotonic() < end:
                    time.sleep(0.001)
            finally:
                process.kill()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        left = tables()
        self.assertGreaterEqual(len(left), 8)
        self.assertLess(len(left), self.COPIES)
        for path in left:
            rows = pyarrow.parquet.read_table(os.path.join(symbols, path)).column("rva").to_pylist()
            self.assertEqual(sorted(set(rows)), addresses)
        self.assertEqual(contents(folder), before)
        with contextlib.closing(duckdb_with(out)) as connection:
            connection.execute("SELECT count(*) FROM frames").fetchone()
        half = {path: os.stat(os.path.join(symbols, path)).st_mtime_ns for path in left}
        # What is known is not asked for again, and the rest is.
        look_up(self, out, "--symbol-path", store, "--lines")
        self.assertEqual({path: os.stat(os.path.join(symbols, path)).st_mtime_ns for path in left}, half)
        found = contents(symbols)
        self.assertEqual(len([path for path in found if path.endswith(".parquet")]), self.COPIES + 1)
        shutil.rmtree(symbols)
        look_up(self, out, "--symbol-path", store, "--lines")
        again = contents(symbols)
        self.assertEqual([path for path in again if found[path] != again[path] and path != "modules.parquet"], [])


class Corpus(unittest.TestCase):
    """How many frames real traces have is counted from the rows themselves."""

    # Samples without a stack, but for those of idle processors.
    WITHOUT = {"perfview-net.4.5.2.x64": 2, "perfview-net.4.5.x86-old": 176, "filtrace-diskio": 0}

    def test_frames_are_those_of_stacks_and_samples_without_one(self):
        folder = support.corpus_or_skip()
        for name, without in self.WITHOUT.items():
            with self.subTest(name):
                out = support.convert([os.path.join(folder, f"{name}.etl")], support.temporary_folder("symbols-"))
                found = json.loads(look_up(self, out, "--symbol-path", "", "--json"))[0]
                frames, samples = 0, 0
                for path in glob.glob(os.path.join(out, f"trace={name}", "events", "*", "*.parquet")):
                    columns = pyarrow.parquet.read_table(path)
                    if "stack" not in columns.column_names:
                        continue
                    frames += sum(len(stack) for stack in columns.column("stack").to_pylist() if stack)
                    if "InstructionPointer" in columns.column_names:
                        rows = columns.select(["event_name", "process_id", "Reserved", "stack_id", "InstructionPointer"]).to_pylist()
                        samples += sum(
                            row["event_name"] == "PerfInfo/SampleProf" and row["stack_id"] is None and row["InstructionPointer"] is not None
                            and (row["process_id"] != 0 or bool((row["Reserved"] or 0) & 3))
                            for row in rows
                        )  # fmt: skip
                self.assertEqual((samples, found["frames"], found["left_out"]), (without, frames + without, 0))
                self.assertEqual(sum(module["frames"] for module in found["modules"]), found["in_modules"])
                self.assertEqual(found["in_modules"] + found["in_methods"] + found["unknown"], found["frames"])


if __name__ == "__main__":
    unittest.main()

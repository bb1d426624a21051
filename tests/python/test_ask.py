"""`events` and `query`: rows and answers at a prompt, held against the files of a conversion, which other programs read."""

import csv
import datetime
import glob
import io
import json
import math
import os
import re
import shutil
import signal
import subprocess
import time
import unittest

import duckdb

import engines
import support

PAGE = os.path.join(support.REPOSITORY, "docs", "ask.md")
WRITE = os.environ.get("ETL2PARQUET_ASK") == "write"

# Commands, and what they print.
BLOCK = re.compile(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

# Kernel events, those of manifests, and those of .NET, whose manifests lie in long texts with line breaks.
TRACES = ["tx-KernelNetwork", "filtrace-diskio", "dotnetperf-gccollectonly", "tx-HTTP_Server"]


def environment_in(folder):
    """With the programs that lines name, and a folder for temporary files that the program must leave empty."""
    temporary = os.path.join(folder, "tmp")
    os.makedirs(temporary, exist_ok=True)
    programs = [os.path.dirname(support.BINARY), os.path.dirname(support.python()), os.environ["PATH"]]
    return {**support.environment(), "PATH": os.pathsep.join(programs), "TMPDIR": temporary, "LC_ALL": "C"}


class Page(unittest.TestCase):
    def test_what_the_page_types_prints_what_it_says(self):
        folder = support.temporary_folder("ask")
        os.symlink(os.path.join(support.REPOSITORY, "examples"), os.path.join(folder, "examples"))
        environment = environment_in(folder)
        with open(PAGE, encoding="utf-8") as file:
            page = file.read()
        blocks = list(BLOCK.finditer(page))
        self.assertEqual(len(blocks), 3)
        written, behind = [], 0
        for block in blocks:
            printed = []
            for line in block[1].splitlines():
                if "jq" in line and shutil.which("jq") is None:
                    self.skipTest("no jq")
                done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment, capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 0, done.stderr)
                printed.append("".join(text.rstrip() + "\n" for text in done.stdout.splitlines()))
            text = "\n".join(filter(None, printed))
            written += [page[behind : block.start(2)], text]
            behind = block.end(2)
            if not WRITE:
                self.assertEqual(text, block[2])
        if WRITE:
            with open(PAGE, "w", encoding="utf-8") as file:
                file.write("".join([*written, page[behind:]]))


class Rows(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("rows")
        self.environment = environment_in(self.folder)

    def printed(self, *arguments, code=0):
        done = subprocess.run(
            [support.BINARY, "events", *arguments], env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, check=False
        )
        self.assertEqual(done.returncode, code, done.stderr)
        # As it is: Python would make line breaks in cells its own.
        return done.stdout.decode()

    def check(self, trace, flags=()):
        """Holds that both formats have the rows and values of the files; returns how many rows there are."""
        out = support.temporary_folder("files")
        converted = support.run("convert", trace, "-o", out, *flags)
        self.assertEqual(converted.returncode, 0, converted.stderr)
        rows = 0
        [published] = glob.glob(glob.escape(out) + "/trace=*")
        for name in sorted(os.listdir(os.path.join(published, "events"))):
            pattern = os.path.join(glob.escape(os.path.join(published, "events", name)), "*.parquet")
            with duckdb.connect() as connection, self.subTest(name):
                connection.execute("SET TimeZone = 'UTC'")
                files = f"read_parquet({engines.literal(pattern)}, hive_partitioning = false, file_row_number = true, filename = 'its file')"
                relation = connection.sql(f'SELECT * EXCLUDE (file_row_number, "its file") FROM {files} ORDER BY "its file", file_row_number')
                columns, types, expected = relation.columns, [str(kind) for kind in relation.types], relation.fetchall()
                done = [self.printed(trace, "--dataset", name, kind, *flags) for kind in ("--csv", "--jsonl")]
                objects = [json.loads(line) for line in done[1].removesuffix("\n").split("\n")]
                self.assertEqual(len(objects), len(expected))
                self.same_objects(objects, columns, types, expected)
                self.same_cells(done[0], columns, types, expected)
                rows += len(expected)
        return rows

    def same_objects(self, objects, columns, types, expected):
        for found, row in zip(objects, expected, strict=True):
            wanted = {name: as_json(value) for name, value in zip(columns, row, strict=True) if value is not None}
            # NaN is null: the key is there, unlike that of NULL.
            self.assertEqual(list(found), [name for name in columns if name in wanted])
            for name, kind in zip(columns, types, strict=True):
                if name in wanted and not same(found[name], wanted[name]):
                    self.fail(f"{name} ({kind}): {found[name]!r:.200} is not {wanted[name]!r:.200}")

    def same_cells(self, text, columns, types, expected):
        # What is quoted is text, what is not and empty is NULL: Python's reader does not say which, DuckDB's does.
        path = os.path.join(self.folder, "rows.csv")
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        names = ", ".join(f"{engines.literal(name)}: 'VARCHAR'" for name in columns)
        read = (
            f"read_csv({engines.literal(path)}, header = true, columns = {{{names}}}, nullstr = '', allow_quoted_nulls = false, "
            "delim = ',', quote = '\"', escape = '\"', new_line = '\\n', auto_detect = false, max_line_size = 100000000, parallel = false)"
        )
        with duckdb.connect() as connection:
            found = connection.sql(f"FROM {read}").fetchall()
        self.assertEqual(next(csv.reader(io.StringIO(text))), columns)
        for cells, row in zip(found, expected, strict=True):
            for name, kind, cell, value in zip(columns, types, cells, row, strict=True):
                self.assertEqual(cell is None, value is None, f"{name} ({kind}): {cell!r:.200} is not {value!r:.200}")
                if value is not None and not same_cell(cell, as_json(value), value):
                    self.fail(f"{name} ({kind}): {cell!r:.200} is not {value!r:.200}")

    def test_the_example_has_the_rows_of_its_files(self):
        self.assertEqual(self.check(support.EXAMPLE), 1219)
        self.assertEqual(self.check(support.EXAMPLE, ["--integers", "exact", "--timestamps", "nanos", "--raw", "always"]), 1219)

    def test_real_traces_have_the_rows_of_their_files(self):
        corpus = support.corpus_or_skip()
        rows = sum(self.check(os.path.join(corpus, name + ".etl")) for name in TRACES)
        self.assertGreater(rows, 10_000)

    def test_columns_filters_and_a_limit(self):
        dns = [support.EXAMPLE, "--dataset", "Microsoft-Windows-DNS-Client", "--select", "seq,QueryName"]
        every = self.printed(*dns).splitlines()
        self.assertEqual((every[0], len(every)), ("seq,QueryName", 74))
        self.assertEqual(self.printed(*dns, "--limit", "3").splitlines(), every[:4])
        self.assertEqual(self.printed(*dns, "--limit", "0").splitlines(), every[:1])
        self.assertEqual(self.printed(*dns, "--limit", "1000").splitlines(), every)
        some = self.printed(*dns, "--event", "3008").splitlines()
        self.assertTrue(1 < len(some) < len(every) and set(some) < set(every), some)
        self.assertEqual(self.printed(*dns, "--from", "2100-01-01T00:00:00Z", code=5).splitlines(), every[:1])

    def test_what_is_asked_for_has_to_be_there(self):
        for arguments, message in [
            ([support.EXAMPLE], "the trace has Microsoft-Windows-DNS-Client, "),
            ([support.EXAMPLE, "--dataset", "Microsoft-Windows-DNS"], "did you mean Microsoft-Windows-DNS-Client?"),
            ([support.EXAMPLE, "--dataset", "Microsoft-Windows-DNS-Client", "--select", "queryname"], "did you mean QueryName?"),
        ]:
            done = support.run("events", *arguments)
            self.assertEqual((done.returncode, done.stdout), (2, ""), arguments)
            self.assertIn(message, " ".join(done.stderr.split()))
        done = support.run("events", os.path.join(support.REPOSITORY, "Cargo.toml"), "--dataset", "x")
        self.assertEqual((done.returncode, done.stdout), (3, ""), done.stderr)

    def test_a_converted_trace_and_several_are_refused(self):
        out = support.convert([support.EXAMPLE], os.path.join(self.folder, "out"))
        done = support.run("events", out, "--dataset", "x")
        self.assertEqual(done.returncode, 2)
        self.assertIn("`etl2parquet query`", done.stderr)
        two = os.path.join(self.folder, "two")
        os.mkdir(two)
        for name in ("a.etl", "b.etl"):
            shutil.copy(support.EXAMPLE, os.path.join(two, name))
        done = support.run("events", two, "--dataset", "x")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(" ".join(done.stderr.split()), r"expected one trace, found 2.*a\.etl")

    def test_a_reader_that_has_seen_enough_ends_the_work(self):
        trace = support.synthetic(1_300_000)
        command = [support.BINARY, "events", trace, "--dataset", dataset_of(trace)]
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(process.stdout.readline())
        process.stdout.close()
        self.assertEqual(process.wait(10), 0)
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        begun = time.monotonic()
        process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        process.stdout.readline()
        process.send_signal(signal.SIGINT)
        process.stdout.close()
        self.assertIn(process.wait(10), (0, 130))
        self.assertLess(time.monotonic() - begun, 60)
        self.assertEqual(support.files_below(self.environment["TMPDIR"]), [])


def dataset_of(trace):
    """The first dataset of a trace."""
    document = json.loads(support.run("inspect", trace, "--json").stdout)
    return document["traces"][0]["providers"][0]["dataset"]


def as_json(value):
    """A value of DuckDB as JSON has it."""
    if hasattr(value, "isoformat"):
        return value
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, dict):
        return {key: as_json(part) for key, part in value.items() if part is not None}
    if isinstance(value, (list, tuple)):
        return [as_json(part) for part in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, (int, float, str, bool)) or value is None else str(value)


def same(found, wanted):
    if hasattr(wanted, "isoformat"):
        return instant(found) == wanted
    if isinstance(wanted, dict):
        return isinstance(found, dict) and found.keys() == wanted.keys() and all(same(found[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(same, found, wanted))
    return found == wanted and isinstance(found, bool) == isinstance(wanted, bool)


def same_cell(cell, wanted, value):
    if hasattr(value, "isoformat"):
        return instant(cell) == value
    if isinstance(value, bool):
        return cell == ("true" if value else "false")
    if isinstance(value, float):
        return math.isnan(float(cell)) if math.isnan(value) else float(cell) == value
    if isinstance(value, (list, dict)):
        return same(json.loads(cell), wanted)
    return cell == str(wanted)


def instant(text):
    """A time, to the microsecond, which is what DuckDB hands to Python."""
    return datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})\d+", r"\1", text))


class Questions(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("questions")
        self.environment = environment_in(self.folder)

    def asked(self, *arguments, code=0, given=None):
        done = subprocess.run(
            [support.BINARY, "query", *arguments], env=self.environment, input=given or "", capture_output=True, text=True, check=False
        )
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(support.files_below(self.environment["TMPDIR"]), [])
        return done

    def test_a_trace_and_what_it_was_converted_to_answer_the_same(self):
        out = support.convert([support.EXAMPLE], os.path.join(self.folder, "out"))
        question = "SELECT provider, event_name, count(*) AS n, min(seq) AS first FROM all_events GROUP BY ALL ORDER BY ALL"
        answers = [self.asked(source, question, "--csv").stdout for source in (support.EXAMPLE, out, os.path.join(out, "trace=example"))]
        # The same from the files, without views.
        rows = []
        for name in sorted(os.listdir(os.path.join(out, "trace=example", "events"))):
            files = os.path.join(out, "trace=example", "events", name, "*.parquet")
            with duckdb.connect() as connection:
                counted = f"SELECT event_name, count(*), min(seq) FROM read_parquet({engines.literal(files)}) GROUP BY ALL"
                rows += [(name, *row) for row in connection.execute(counted).fetchall()]
        expected = sorted((name, event or "NULL", str(n), str(first)) for name, event, n, first in rows)
        for answer in answers:
            found = list(csv.reader(io.StringIO(answer)))
            self.assertEqual(found[0], ["provider", "event_name", "n", "first"])
            self.assertEqual(sorted(map(tuple, found[1:])), expected)

    def test_formats_single_events_and_standard_input(self):
        question = 'SELECT count(*) AS n FROM "Example.Shop.Checkout/OrderPlaced"'
        answer = json.loads(self.asked(support.EXAMPLE, question, "--json").stdout)
        self.assertEqual(answer, [{"n": 40}])
        self.assertEqual(self.asked(support.EXAMPLE, "-", "--csv", given=question).stdout.split(), ["n", "40"])
        self.assertIn("| 40 |", self.asked(support.EXAMPLE, question, "--", "-markdown").stdout)
        self.assertIn("│", self.asked(support.EXAMPLE, question).stdout)

    def test_filters_and_folders(self):
        two = os.path.join(self.folder, "two")
        os.mkdir(two)
        for name in ("a.etl", "b.etl"):
            shutil.copy(support.EXAMPLE, os.path.join(two, name))
        question = "SELECT trace, count(*) AS n FROM all_events GROUP BY ALL ORDER BY ALL"
        answer = self.asked(two, question, "--csv", "--provider", "Microsoft-Windows-DNS-Client").stdout.split()
        self.assertEqual(answer, ["trace,n", "a,73", "b,73"])
        self.asked(support.EXAMPLE, "FROM all_events", "--from", "2100-01-01T00:00:00Z", code=5)
        out = support.convert([support.EXAMPLE], os.path.join(self.folder, "out"))
        refused = self.asked(out, "FROM all_events", "--provider", "Microsoft-Windows-DNS-Client", code=2)
        self.assertIn("WHERE", refused.stderr)

    def test_what_cannot_be_asked_keeps_no_other_from_it(self):
        mixed = os.path.join(self.folder, "mixed")
        os.mkdir(mixed)
        shutil.copy(support.EXAMPLE, os.path.join(mixed, "a.etl"))
        shutil.copy(os.path.join(support.corpus_or_skip(), "tx-HTTP_Server.etl"), os.path.join(mixed, "b.etl"))
        question = "SELECT trace, count(*) AS n FROM all_events GROUP BY ALL ORDER BY ALL"
        done = self.asked(mixed, question, "--csv", "--provider", "Microsoft-Windows-DNS-Client")
        self.assertEqual((done.stdout.split(), done.stderr), (["trace,n", "a,73"], "warning: b: no event passes the filters\n"))
        with open(os.path.join(mixed, "c.etl"), "wb") as file:
            file.write(bytes(range(256)) * 16)
        os.symlink("nowhere", os.path.join(mixed, "d.etl"))
        done = self.asked(mixed, question, "--csv", code=4)
        self.assertEqual(done.stdout.split(), ["trace,n", "a,1219", "b,2042"])
        for name in ("c.etl", "d.etl"):
            self.assertIn(os.path.join(mixed, name), done.stderr)
        # Of a folder with converted traces, these are asked.
        support.convert([os.path.join(mixed, "a.etl")], mixed)
        done = self.asked(mixed, question, "--csv")
        self.assertEqual(done.stdout.split(), ["trace,n", "a,1219"])
        self.assertIn("not asked, because the folder has converted ones: 2 traces, b first", done.stderr)
        for flags in (["--stacks", "keep"], ["--integers", "exact"]):
            self.assertIn("is for traces that are not converted", self.asked(mixed, question, *flags, code=2).stderr)

    def test_what_is_wrong_is_said(self):
        done = self.asked(support.EXAMPLE, "SELECT nothing FROM all_events", code=2)
        self.assertIn("nothing", done.stderr)
        missing = self.asked(support.EXAMPLE, "FROM all_events", "--duckdb", "/no/duckdb", code=2)
        self.assertIn("https://duckdb.org/install", missing.stderr)
        self.asked(os.path.join(support.REPOSITORY, "Cargo.toml"), "FROM all_events", code=3)

    def test_a_signal_ends_the_answer(self):
        endless = "SELECT sum(a.range * b.range) FROM range(10000000) a, range(10000000) b"
        process = subprocess.Popen(
            [support.BINARY, "query", support.EXAMPLE, endless], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
        )
        self.addCleanup(process.kill)
        time.sleep(2)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(10), 143)
        self.assertEqual(support.files_below(self.environment["TMPDIR"]), [])

"""The tables of frames beside traces: their rows are those of the view `frames`, in DuckDB, and `verify` knows them."""

import contextlib
import glob
import json
import os
import unittest

import duckdb
import pyarrow.parquet

import support
import test_frames
import test_symbols
from engines import duckdb_with


def written(out, store=""):
    """Writes the tables; what the program says of them."""
    done = support.run("symbols", out, "--symbol-path", store, "--frames", "--json", "--progress", "never")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def check(test, out, store=""):
    """Writes the tables of a folder and compares them with the view; they are written once, and no byte of a trace changes."""
    before = {folder: test_symbols.contents(folder) for folder in glob.glob(os.path.join(out, "trace=*"))}
    there = set(glob.glob(os.path.join(out, "symbols", "frames", "*")))
    tables = [table for found in written(out, store) for table in found["frame_tables"]]
    test.assertEqual(sorted(table["path"] for table in tables), sorted(glob.glob(os.path.join(out, "symbols", "frames", "*"))))
    with contextlib.closing(duckdb_with(out)) as connection:
        connection.execute("CREATE TABLE of_view AS FROM frames")
        for table in tables:
            file = f"read_parquet('{table['path']}')"
            columns = connection.execute("DESCRIBE of_view").fetchall()
            test.assertEqual([c[:2] for c in connection.execute(f"DESCRIBE FROM {file}").fetchall()], [c[:2] for c in columns])
            of_trace = f"(SELECT * FROM of_view WHERE trace = '{table['trace']}')"
            counts = f"SELECT (SELECT count(*) FROM {of_trace}), (SELECT count(*) FROM {file})"
            test.assertEqual(connection.execute(counts).fetchone(), (table["rows"],) * 2)
            for one, other in ((of_trace, file), (file, of_trace)):
                test.assertEqual(connection.execute(f"FROM {one} EXCEPT ALL FROM {other} LIMIT 5").fetchall(), [], table["trace"])
            order = f"""SELECT count(*) FROM (SELECT (machine, COALESCE(process_id, -1), stack_id, frame) AS here,
                        lag(here) OVER (ORDER BY file_row_number) AS before FROM read_parquet('{table['path']}', file_row_number = true))
                        WHERE here <= before"""
            test.assertEqual(connection.execute(order).fetchone(), (0,))
    at = {table["path"]: os.stat(table["path"]).st_mtime_ns for table in tables}
    test.assertTrue(all(table["is_new"] for table in tables if table["path"] not in there))
    again = [table for found in written(out, store) for table in found["frame_tables"]]
    test.assertEqual(again, [{**table, "is_new": False} for table in tables])
    test.assertEqual({path: os.stat(path).st_mtime_ns for path in at}, at)
    test.assertEqual({folder: test_symbols.contents(folder) for folder in before}, before)
    return tables


def found_in(out, table, *options):
    """The kinds of what is wrong with a table."""
    findings = json.loads(support.run("verify", out, "--json", *options).stdout)["findings"]
    return [finding["kind"] for finding in findings if os.path.normpath(finding["file"]) == os.path.normpath(table)]


class EveryRule(test_frames.Made):
    """A trace with a stack for each rule of the view."""

    def test_rows_are_those_of_the_view(self):
        # Of the eight stacks one occurs twice; the example has none.
        self.assertEqual(check(self, self.out)[0]["rows"], 18)

    def test_a_changed_byte_of_the_rows_is_found(self):
        table = written(self.out)[0]["frame_tables"][0]["path"]
        with open(table, "rb") as file:
            content = bytearray(file.read())
        length = int(pyarrow.parquet.read_metadata(table).metadata[b"etl2parquet.data_bytes"])
        groups = pyarrow.parquet.ParquetFile(table).metadata.row_group(0)
        chunks = [groups.column(at) for at in range(groups.num_columns)]
        self.assertEqual(length, max(chunk.dictionary_page_offset + chunk.total_compressed_size for chunk in chunks if chunk.dictionary_page_offset))
        self.assertEqual(found_in(self.out, table), [])
        for at in range(0, length, 97):
            changed = bytearray(content)
            changed[at] ^= 1
            with open(table, "wb") as file:
                file.write(changed)
            self.assertEqual(found_in(self.out, table), ["hash"])
        self.assertEqual(found_in(self.out, table, "--quick"), [])
        with open(table, "wb") as file:
            file.write(content[:-10])
        self.assertEqual(found_in(self.out, table, "--quick"), ["footer"])
        self.assertEqual([table["is_new"] for table in written(self.out)[0]["frame_tables"]], [True])
        with open(table, "rb") as file:
            self.assertEqual(file.read(), content)


class WithSymbols(test_symbols.Llvm):
    """Functions, lines and inlined functions of symbol files."""

    def test_rows_are_those_of_the_view(self):
        check(self, self.out, self.store)
        frames = pyarrow.parquet.read_table(os.path.join(self.out, "symbols", "frames", "example.parquet")).to_pylist()
        found = {}
        for row in frames:
            if row["process_id"] == test_symbols.PROCESS:
                found.setdefault(row["stack_id"], []).append((row["depth"], row["inline_depth"], row["address"], row["module"]))
        # In the order of frames.
        self.assertEqual(found, {hash(stack): [frame[:4] for frame in frames] for stack, frames in self.frames.items()})


class WithReasons(test_symbols.Reasons):
    """What is not known of symbols."""

    def test_rows_are_those_of_the_view(self):
        support.run("symbols", self.out, "--symbol-path", self.store, "--min-share", "1%")
        check(self, self.out, self.store)


def only_own(case):
    """Without the tests of the class that has the trace."""
    names = [name for name in unittest.TestLoader().getTestCaseNames(case) if name not in vars(case)]
    for name in names:
        setattr(case, name, None)


for case in (EveryRule, WithSymbols, WithReasons):
    only_own(case)


class Corpus(unittest.TestCase):
    def test_rows_are_those_of_the_view(self):
        corpus = support.corpus_or_skip()
        traces = [*test_frames.TRACES, "perfview-diaghub.user_paged.1", "dotnetperf-gccollectonly"]
        out = support.convert([os.path.join(corpus, f"{trace}.etl") for trace in traces], support.temporary_folder("frame-tables"), "--quiet")
        rows = {table["trace"]: table["rows"] for table in check(self, out)}
        self.assertEqual(rows.keys(), set(traces))
        self.assertGreater(min(rows[trace] for trace in test_frames.TRACES), 50000)
        # A trace without stacks has a table without rows, so that all have the same columns.
        self.assertEqual(rows["dotnetperf-gccollectonly"], 0)
        self.assertEqual(support.run("verify", out).returncode, 0)


class Upkeep(unittest.TestCase):
    def setUp(self):
        self.out = support.convert([support.EXAMPLE], support.temporary_folder("frame-upkeep"), "--quiet")
        written(self.out)
        self.table = os.path.join(self.out, "symbols", "frames", "example.parquet")

    def verified(self, *options):
        done = support.run("verify", self.out, "--json", *options)
        found = json.loads(done.stdout)["findings"]
        self.assertEqual(done.returncode, 7 if found else 0)
        return [(finding["kind"], os.path.basename(finding["file"])) for finding in found]

    def test_frames_of_another_trace_are_found(self):
        support.convert([support.EXAMPLE], self.out, "--quiet", "--if-exists", "replace")
        # The same files: the same trace.
        self.assertEqual(self.verified(), [])
        support.convert([support.EXAMPLE], self.out, "--quiet", "--if-exists", "replace", "--columns", "declared")
        self.assertEqual(self.verified("--quick"), [("frames", "example.parquet")])
        written(self.out)
        self.assertEqual(self.verified(), [])

    def test_frames_of_a_trace_that_is_gone_are_removed(self):
        gone = os.path.join(os.path.dirname(self.table), "gone.parquet")
        with open(self.table, "rb") as file, open(gone, "wb") as copy:
            copy.write(file.read())
        self.assertEqual(self.verified(), [("extra", "gone.parquet")])
        # Not without the option.
        support.run("symbols", self.out, "--symbol-path", "")
        self.assertTrue(os.path.exists(gone))
        written(self.out)
        self.assertFalse(os.path.exists(gone))
        self.assertEqual(self.verified(), [])

    def test_a_trace_alone_has_its_table(self):
        os.remove(self.table)
        tables = written(os.path.join(self.out, "trace=example"))[0]["frame_tables"]
        self.assertEqual([table["trace"] for table in tables], ["example"])
        query = f"SELECT count(*) FROM '{self.table}'"
        self.assertEqual(duckdb.sql(query).fetchall(), [(tables[0]["rows"],)])
        self.assertEqual(support.run("verify", os.path.join(self.out, "trace=example")).returncode, 0)


if __name__ == "__main__":
    unittest.main()

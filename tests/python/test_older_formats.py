"""Datasets of an older format version: read, and converted again where that is asked for.

`tests/older/format-3.tar.xz` is what the last version that wrote format 3 made of `tests/older/format-3.etl.xz`, the example trace of
that time.
"""

import contextlib
import hashlib
import json
import lzma
import os
import shutil
import tarfile
import unittest

import pyarrow.parquet

import support
from engines import duckdb_with, quoted, require_java, spark_with
from made import replace_table

OLDER = os.path.join(support.REPOSITORY, "tests", "older", "format-3.tar.xz")
INPUT = os.path.join(support.REPOSITORY, "tests", "older", "format-3.etl.xz")
# What `run.modified` of the dataset records, 2026-11-01.
MODIFIED_S = 1793491200
CURRENT = 5


def rewrite(folder, change):
    """Changes the manifest of a trace, and puts its hash at its end again."""
    path = os.path.join(folder, "sidecar", "manifest.json")
    record = support.manifest(folder)
    change(record)
    record["run"].pop("manifest_sha256")
    head = json.dumps(record, indent=2).removesuffix("\n  }\n}")
    digest = hashlib.sha256(head.encode()).hexdigest()
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'{head},\n    "manifest_sha256": "{digest}"\n  }}\n}}\n')


def drop_column(folder, table, column):
    """Takes a column out of a sidecar table, as if it had been written so."""
    name = f"sidecar/{table}.parquet"
    path = os.path.join(folder, name)
    pyarrow.parquet.write_table(pyarrow.parquet.read_table(path).drop_columns([column]), path)
    with open(path, "rb") as file:
        content = file.read()

    def change(record):
        [entry] = [entry for entry in record["files"] if entry["path"] == name]
        entry.update(bytes=len(content), sha256=hashlib.sha256(content).hexdigest())

    rewrite(folder, change)


class OlderFormats(unittest.TestCase):
    def setUp(self):
        folder = support.temporary_folder("older")
        self.input, self.out = os.path.join(folder, "example.etl"), os.path.join(folder, "out")
        with lzma.open(INPUT) as packed, open(self.input, "wb") as file:
            shutil.copyfileobj(packed, file)
        os.utime(self.input, (MODIFIED_S, MODIFIED_S))
        with tarfile.open(OLDER) as archive:
            archive.extractall(self.out, filter="data")
        self.trace = os.path.join(self.out, "trace=example")
        self.page = os.path.join(folder, "report.html")

    def add_current(self):
        """Puts a trace of the current format beside it."""
        newer = shutil.copy(support.EXAMPLE, os.path.join(os.path.dirname(self.input), "newer.etl"))
        support.convert([newer], self.out)

    def ask(self, *arguments, code=0):
        done = support.run(*arguments)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def convert(self, mode, code=0):
        summary = self.page + ".json"
        done = self.ask("convert", self.input, "-o", self.out, "--if-exists", mode, "--summary", summary, code=code)
        with open(summary, encoding="utf-8") as file:
            [trace] = json.load(file)["traces"]
        return trace["status"], done.stderr

    def test_update_converts_it_again_and_skip_refuses(self):
        self.assertEqual(support.manifest(self.trace)["format_version"], 3)
        status, said = self.convert("skip", code=6)
        self.assertEqual(status, "failed")
        self.assertIn("made with another format version", said)
        self.assertEqual(self.convert("update")[0], "published")
        record = support.manifest(self.trace)
        self.assertEqual((record["format_version"], record["run"]["modified"][0][:10]), (CURRENT, "2026-11-01"))
        self.assertEqual(self.convert("update")[0], "skipped")
        # Nothing but the format version decides it.
        rewrite(self.trace, lambda record: record.update(format_version=3))
        self.assertEqual(self.convert("update")[0], "published")

    def test_it_is_read(self):
        verified = self.ask("verify", self.out)
        self.assertIn("nothing is wrong; 1 trace of an older format: convert again", verified.stderr)
        self.assertEqual(json.loads(self.ask("verify", self.out, "--json").stdout)["older"], 1)
        self.ask("report", self.trace, "-o", self.page)
        self.assertIn("format 3", self.ask("inspect", self.trace).stdout)
        rewrite(self.trace, lambda record: record.update(format_version=2))
        for command in (["views", self.out], ["report", self.trace, "-o", self.page], ["inspect", self.trace]):
            said = self.ask(*command, code=6).stderr
            self.assertIn("expected format_version 3 to 5, found 2", said)
        self.assertIn("found 2 (convert the trace again)", self.ask("verify", self.out, code=7).stdout)

    def test_columns_that_came_later_are_null_in_both_engines(self):
        query = 'SELECT trace, start_time_ns IS NULL AS lacks FROM "sidecar/sessions" ORDER BY trace'
        for expected in ([("example", True)], [("example", True), ("newer", False)]):
            with contextlib.closing(duckdb_with(self.out)) as connection:
                self.assertEqual(connection.execute(query).fetchall(), expected)
                names = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
                for (name,) in names:
                    connection.execute(f"SELECT count(*) FROM (SELECT * FROM {quoted(name)})")
            with self.subTest("Spark"):
                require_java()
                found = spark_with(self.out).sql(query.replace('"', "`")).collect()
                self.assertEqual([tuple(row) for row in found], expected)
            self.add_current() if len(expected) == 1 else None

    def test_a_column_that_its_format_has_must_be_there(self):
        self.convert("replace")
        drop_column(self.trace, "sessions", "end_time_ns")
        reason = "expected the column end_time_ns, which sessions has since format 4, found none in a trace of format 5"
        for command in (["views", self.out], ["report", self.trace, "-o", self.page], ["inspect", self.trace]):
            said = self.ask(*command, code=6).stderr
            self.assertIn(f"trace=example/sidecar/sessions.parquet: {reason}", said.replace("\n", " "))
        self.assertIn(f"sidecar/sessions.parquet: {reason}", self.ask("verify", self.out, code=7).stdout)
        rewrite(self.trace, lambda record: record.update(format_version=3))
        self.ask("verify", self.out)
        drop_column(self.trace, "streams", "fill_ratio")
        self.assertIn("fill_ratio, which streams has since format 3", self.ask("verify", self.out, code=7).stdout)

    def test_every_input_has_a_clock(self):
        self.convert("replace")
        replace_table(self.trace, "clock", [])
        for command in (["report", self.trace, "-o", self.page], ["inspect", self.trace]):
            said = self.ask(*command, code=6).stderr.replace("\n", " ")
            self.assertIn("sidecar/clock.parquet: expected a row for each of 1 inputs, found 0", said)
            self.assertIn("convert the trace again", said)


if __name__ == "__main__":
    unittest.main()

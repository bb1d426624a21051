"""`describe`: its keys stand on its page, its numbers are those that DuckDB finds in the files, and it keeps to its limit."""

import glob
import json
import os
import re
import sys
import tarfile
import unittest

import support
from engines import duckdb_with, quoted
from reading import counted

PAGE = os.path.join(support.REPOSITORY, "docs", "describe.md")
OLDER = os.path.join(support.REPOSITORY, "tests", "older", "format-3.tar.xz")
LIMIT = 20_000


def described(out, *options):
    """The document about a folder with traces, or a trace, and its length in bytes without the end of the line."""
    done = support.run("describe", out, "--json", *options)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return json.loads(done.stdout), len(done.stdout.encode()) - 1


def keys(value, path=""):
    """The paths of all keys in a document."""
    if isinstance(value, dict):
        for key, below in value.items():
            name = f"{path}.{key}" if path else key
            yield name
            yield from keys(below, name)
    elif isinstance(value, list):
        for below in value:
            yield from keys(below, f"{path}[]")


def documented():
    """The keys of the page."""
    with open(PAGE, encoding="utf-8") as file:
        section = file.read().split("## Keys\n")[1].split("\n## ")[0]
    return re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)


class Checks:
    """What holds of any traces; `folder` has them."""

    def rows_of(self, connection, question):
        return connection.execute(question).fetchall()

    def hold_counts(self, connection, document):
        """Counts and times."""
        events = "SELECT count(*), min(timestamp_ns), max(timestamp_ns), count(DISTINCT trace) FROM all_events"
        [(rows, first, last, _)] = self.rows_of(connection, events)
        traces = document["traces"]
        self.assertEqual((document["events"]["written"], traces["first_time_ns"], traces["last_time_ns"]), (rows, first, last))
        named = "SELECT trace, count(*), min(timestamp_ns), max(timestamp_ns) FROM all_events GROUP BY ALL ORDER BY 1"
        found = [tuple(one[key] for key in ("trace", "rows", "first_time_ns", "last_time_ns")) for one in traces["named"] if one["rows"]]
        self.assertEqual(found, self.rows_of(connection, named))
        sessions = """SELECT count(DISTINCT trace), count(*), count(DISTINCT (trace, machine)), sum(events_lost), sum(buffers_lost),
            count(*) FILTER (events_lost IS NULL OR buffers_lost IS NULL OR loss_unknown_because IS NOT NULL) FROM "sidecar/sessions" """
        loss = [document["loss"][key] for key in ("events_lost", "buffers_lost", "unknown_inputs")]
        self.assertEqual([(traces["count"], traces["inputs"], traces["machines"], *loss)], self.rows_of(connection, sessions))
        for table in document["sidecar"]:
            self.assertEqual([(table["rows"],)], self.rows_of(connection, f"SELECT count(*) FROM {quoted(table['view'])}"), table)

    def hold_datasets(self, connection, document):
        """Datasets: which there are, their rows, events and columns."""
        common = {column["name"]: column["type"] for column in document["common_columns"]}
        of_all = "SELECT provider, count(*), count(DISTINCT trace) FROM all_events GROUP BY ALL ORDER BY 2 DESC, 1"
        found = {one["dataset"].lower(): (one["rows"], one["traces"]) for one in document["datasets"]}
        expected = {}
        for provider, rows, traces in self.rows_of(connection, of_all):
            before = expected.get(provider.lower(), (0, 0))
            expected[provider.lower()] = (before[0] + rows, before[1] + traces)
        self.assertEqual({name: counts for name, counts in found.items() if counts[0]}, expected)
        rows = [one["rows"] for one in document["datasets"]]
        self.assertEqual(rows, sorted(rows, reverse=True))
        for one in document["datasets"]:
            view = quoted(one.get("view", one["dataset"]))
            events = self.rows_of(connection, f"SELECT event_name, count(*) FROM {view} GROUP BY ALL")
            self.assertEqual({event["event"]: event["rows"] for event in one["events"]}, dict(events), one["dataset"])
            self.assertEqual(len(one["events"]), len(events))
            own = [column["name"] for column in one["columns"] if "." not in column["name"]]
            columns = {name.lower() for name, *_ in self.rows_of(connection, f"DESCRIBE {view}")}
            self.assertEqual({name.lower() for name in [*own, *common, "trace"]}, columns, one["dataset"])

    def hold_views(self, connection, document):
        """Views: their columns as DuckDB describes them, and which can be asked."""
        shared = {column["name"]: column for column in document["view_columns"]}
        answers = """SELECT question, count(*) FILTER (answerable), CAST(sum(events) AS BIGINT) FROM "sidecar/answers" GROUP BY ALL"""
        expected = {question: counts for question, *counts in self.rows_of(connection, answers)}
        for one in document["views"]:
            columns = [(column["name"], (column if "type" in column else shared[column["name"]])["type"]) for column in one["columns"]]
            found = [(name, kind) for name, kind, *_ in self.rows_of(connection, f"DESCRIBE {one['view']}")]
            self.assertEqual(columns, found, one["view"])
            self.assertTrue(one["meaning"], one["view"])
            self.assertTrue(all("meaning" in column for column in one["columns"] if "type" in column), one["view"])
            if one["view"] in expected:
                self.assertEqual([one["traces"], one["events"]], expected[one["view"]], one["view"])
                self.assertEqual(one["answerable"], one["traces"] > 0)
                self.assertEqual("needed" in one, not one["answerable"], one["view"])
        asked = {question for question in expected if question != "symbols"}
        self.assertEqual({one["view"] for one in document["views"] if "events" in one}, asked)

    def hold_units(self, connection, document):
        """Units and meanings of payload columns are those that the table `fields` has, where it does not contradict itself."""
        said = """SELECT lower(split_part(dataset, '/', 1)), lower(f."column"),
              CASE WHEN count(DISTINCT unit) = 1 THEN min(unit) END, CASE WHEN count(DISTINCT description) = 1 THEN min(description) END
            FROM "sidecar/fields" f JOIN "sidecar/catalog" c USING (trace, shape) WHERE c.rows > 0 AND f."column" IS NOT NULL
            GROUP BY ALL HAVING count(unit) + count(description) > 0"""
        expected = {(dataset, column): (unit, text) for dataset, column, unit, text in self.rows_of(connection, said)}
        columns = [(one["dataset"].lower(), column) for one in document["datasets"] for column in one["columns"]]
        found = {(dataset, column["name"].lower()): (column.get("unit"), column.get("meaning")) for dataset, column in columns}
        self.assertEqual({key: found.get(key) for key in expected}, expected)

    def hold_limit(self, folder):
        """The document within its limit, whose counts are those of what all of it has besides."""
        whole, _ = described(folder, "--full")
        short, length = described(folder)
        self.assertLessEqual(length, LIMIT, folder)
        self.assertEqual((short["limit_bytes"], whole["limit_bytes"]), (LIMIT, None))
        self.assertEqual(set(whole["left_out"].values()), {0})
        left_out, full = short["left_out"], [one for one in short["datasets"] if "columns" in one]
        self.assertEqual(len(short["traces"]["named"]) + left_out["traces"], len(whole["traces"]["named"]))
        self.assertEqual(len(short["datasets"]) + left_out["datasets"], len(whole["datasets"]))
        self.assertEqual(len(full) + left_out["datasets_in_full"], len(short["datasets"]))
        self.assertEqual(len(short["common_columns"]) + left_out["common_columns"], len(whole["common_columns"]))
        self.assertEqual(sum("columns" not in one for one in short["views"]), left_out["views_in_full"])
        of_whole = {one["dataset"]: one for one in whole["datasets"]}
        for kind in ("columns", "events"):
            missing = sum(len(of_whole[one["dataset"]][kind]) - len(one[kind]) for one in full)
            self.assertEqual(missing, left_out[kind], kind)
        self.assertEqual([one["dataset"] for one in short["datasets"]], [one["dataset"] for one in whole["datasets"]][: len(short["datasets"])])
        named = {column["name"] for one in short["views"] for column in one.get("columns", []) if "type" not in column}
        self.assertEqual(named, {column["name"] for column in short["view_columns"]})
        # What is there is the same.
        for key in ("events", "loss", "sidecar"):
            self.assertEqual(short[key], whole[key])
        return short, whole


class Example(unittest.TestCase, Checks):
    @classmethod
    def setUpClass(cls):
        cls.out = support.convert([support.EXAMPLE], support.temporary_folder("describe"), "--quiet")

    def test_every_key_stands_on_its_page(self):
        short, whole = self.hold_limit(self.out)
        with_views = {"datasets[].view"}
        found = set(keys(short)) | set(keys(whole))
        self.assertEqual(found | with_views, set(documented()))
        self.assertEqual(len(documented()), len(set(documented())))

    def test_the_numbers_are_those_of_the_files(self):
        document, _ = described(self.out, "--full")
        with duckdb_with(self.out) as connection:
            self.hold_counts(connection, document)
            self.hold_datasets(connection, document)
            self.hold_views(connection, document)
            self.hold_units(connection, document)

    def test_a_folder_that_cannot_be_written_to_is_described_too(self):
        before = described(self.out)
        kept = glob.glob(os.path.join(self.out, ".etl2parquet", "views"))
        self.assertEqual(len(kept), 1)
        os.remove(kept[0])
        mode = os.stat(os.path.dirname(kept[0])).st_mode
        os.chmod(os.path.dirname(kept[0]), 0o500)
        try:
            self.assertEqual(described(self.out), before)
        finally:
            os.chmod(os.path.dirname(kept[0]), mode)


    @unittest.skipUnless(sys.platform == "linux", "the account of what a process reads is Linux's")
    def test_rows_are_not_read(self):
        large = support.synthetic(1_000_000)
        out = support.convert([large], support.temporary_folder("describe-large"), "--quiet")
        folder = support.dataset(out, large)
        sizes = {path: os.path.getsize(os.path.join(folder, path)) for path in support.files_below(folder)}
        events = sum(size for path, size in sizes.items() if path.startswith("events"))
        code, read, _ = counted("describe", folder, "--json")
        nothing = counted("--version")[1]
        self.assertEqual(code, 0)
        # Of each file of events the footer, whose size the reader does not know beforehand.
        footers = 65536 * sum(path.startswith("events") for path in sizes)
        self.assertGreater(events, 10_000_000)
        self.assertLess(read - nothing, 3 * (sum(sizes.values()) - events) + footers)


class Older(unittest.TestCase, Checks):
    def test_traces_of_an_older_format_are_described_with_newer_ones(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("describe-older"), "--quiet", "--layout", "event")
        exact = support.convert([support.EXAMPLE], support.temporary_folder("describe-exact"), "--quiet", "--integers", "exact")
        os.rename(os.path.join(out, "trace=example"), os.path.join(out, "trace=newer"))
        with tarfile.open(OLDER) as archive:
            archive.extractall(out, filter="data")
        for folder in (exact, out, os.path.join(out, "trace=example"), os.path.join(out, "trace=newer")):
            with self.subTest(os.path.basename(folder)):
                _, document = self.hold_limit(folder)
                with duckdb_with(folder) as connection:
                    self.hold_counts(connection, document)
                    self.hold_datasets(connection, document)
                    self.hold_views(connection, document)
                    self.hold_units(connection, document)


class Corpus(unittest.TestCase, Checks):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        cls.out = support.convert([corpus], support.temporary_folder("describe-corpus"), "--quiet", "--name-from", "path")
        cls.traces = sorted(glob.glob(os.path.join(glob.escape(cls.out), "trace=*")))

    def test_the_limit_is_held_of_each_trace_and_of_all(self):
        self.assertGreater(len(self.traces), 40)
        for folder in [self.out, *self.traces]:
            with self.subTest(os.path.basename(folder)):
                short, whole = self.hold_limit(folder)
                self.assertLessEqual(set(keys(short)) | set(keys(whole)), set(documented()))

    def test_the_numbers_are_those_of_the_files(self):
        document, _ = described(self.out, "--full")
        with duckdb_with(self.out) as connection:
            self.hold_counts(connection, document)
            self.hold_datasets(connection, document)
            self.hold_views(connection, document)
            self.hold_units(connection, document)


if __name__ == "__main__":
    unittest.main()

"""A lake in Spark: views of the script, which the command line and the Python package print, have the rows that DuckDB finds, by trace and over all."""

import contextlib
import json
import os
import shutil
import unittest

import duckdb

import engines
import support
from engines import duckdb_with, literal

PACKAGE = support.package()

import etl2parquet  # noqa: E402: it is importable from here on

# Views of events of one dataset, of a table of the sidecar, of both together, and of all datasets.
VIEWS = ("disk_io", "dns_queries", "loss", "answers", "all_events")
# Few, so that there are few tables: Spark takes a second for each.
PROVIDERS = ("Kernel-DiskIo", "Microsoft-Windows-DNS-Client", "Example.Shop.Checkout")


def by_trace(view):
    return f"SELECT trace, count(*) AS n FROM {view} GROUP BY trace"


class LakesInSpark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        engines.require_java()
        inputs, out = support.temporary_folder("spark-lake-in"), support.temporary_folder("spark-lake-out")
        # The third trace has a part of the events.
        for name, providers in {"a": PROVIDERS, "b": PROVIDERS, "c": PROVIDERS[:1]}.items():
            shutil.copy(support.EXAMPLE, os.path.join(inputs, f"{name}.etl"))
            support.convert([os.path.join(inputs, f"{name}.etl")], out, "--provider", ",".join(providers))
        cls.lake = support.temporary_folder("spark-lake")
        done = support.run("compact", out, "-o", cls.lake, "--by", "none")
        if done.returncode != 0:
            raise AssertionError(done.stderr)
        cls.connection = duckdb_with(cls.lake)
        cls.addClassCleanup(cls.connection.close)
        cls.session = engines.spark_about(cls.lake, *VIEWS)

    def rows(self, query):
        """What Spark gives, in any order, which is what DuckDB gives."""
        found = sorted((tuple(row) for row in self.session.sql(query).collect()), key=repr)
        self.assertEqual(found, sorted(self.connection.execute(query).fetchall(), key=repr), query)
        return found

    def test_the_package_prints_the_statements_that_ran(self):
        printed = set(engines.without_comments(etl2parquet.views(self.lake, spark=True)))
        ran = list(engines.without_comments(support.run("views", self.lake, *VIEWS, "--spark").stdout))
        self.assertGreater(len(ran), len(VIEWS))
        self.assertEqual([statement for statement in ran if statement not in printed], [])

    def test_views_have_the_rows_of_each_trace(self):
        counts = {view: dict(self.rows(by_trace(view))) for view in VIEWS}
        # The example has 80 operations of disks, of two events each; answers has a row for each question.
        self.assertEqual(counts["disk_io"], dict.fromkeys("abc", 80))
        self.assertEqual(counts["answers"], dict.fromkeys("abc", 25))
        self.assertEqual(set(counts["dns_queries"]), {"a", "b"})
        self.assertEqual(counts["all_events"]["a"], counts["all_events"]["b"])
        self.assertLess(counts["all_events"]["c"], counts["all_events"]["a"])

    def test_events_are_counted_alike_by_name_over_all_and_in_one_trace(self):
        for where in ("", "WHERE trace = 'b'"):
            found = self.rows(f"SELECT provider, event_name, count(*) AS n FROM all_events {where} GROUP BY provider, event_name")
            self.assertGreater(len(found), 8)

    def test_values_are_those_that_duckdb_reads(self):
        found = self.rows("SELECT trace, seq, process_name, operation, file, bytes FROM disk_io")
        self.assertEqual(len(found), 240)

    def test_files_read_by_themselves_have_the_rows_that_the_manifest_names(self):
        with open(os.path.join(self.lake, "lake.json"), encoding="utf-8") as file:
            files = [entry for entry in json.load(file)["files"] if entry["path"].startswith("events/Kernel-DiskIo/")]
        paths = [os.path.join(self.lake, entry["path"]) for entry in files]
        found = {row[0]: row[1] for row in self.session.read.parquet(*paths).groupBy("trace").count().collect()}
        with contextlib.closing(duckdb.connect()) as connection:
            counted = connection.execute(f"SELECT trace, count(*) FROM read_parquet([{', '.join(map(literal, paths))}]) GROUP BY trace")
            self.assertEqual(found, dict(counted.fetchall()))
        self.assertEqual(sum(found.values()), sum(entry["rows"] for entry in files))


if __name__ == "__main__":
    unittest.main()

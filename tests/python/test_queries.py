"""Queries for a window of time read the row groups of that window and little else, in DuckDB and in Spark."""

import contextlib
import datetime
import glob
import io
import json
import os
import unittest

import duckdb
import pyarrow.compute
import pyarrow.parquet

import support
from engines import literal, spark

EVENTS = 200_000

# Small, so that a synthetic trace has tables of many row groups, and of several files.
FLAGS = ["--row-group-rows", "1024", "--max-file-size", "256KiB"]

# The table with most rows of a synthetic trace, and what it has at least.
LARGEST = "Kernel-Thread"
MIN_ROW_GROUPS = 30
MIN_FILES = 3

# No statistics show which row groups have such rows.
UNPRUNABLE = "timestamp_ns % 7 = 3"


class Table:
    """A provider table: its files, and what their footers say about `timestamp_ns`."""

    def __init__(self, folder):
        self.folder = folder
        self.files = sorted(glob.glob(os.path.join(glob.escape(folder), "*.parquet")))
        self.ranges = [extent for file in self.files for extent in footer_ranges(file)]

    def overlapping(self, first, last):
        """Row groups with a time from `first` to `last`, both included."""
        return sum(low <= last and first <= high for low, high in self.ranges)

    def rows(self, first, last):
        """Rows with such a time, without the help of any statistics."""
        times = [pyarrow.parquet.read_table(file, columns=["timestamp_ns"])["timestamp_ns"] for file in self.files]
        return sum(pyarrow.compute.sum(inside(part, first, last)).as_py() or 0 for part in times)


def footer_ranges(file):
    """Least and greatest `timestamp_ns` of each row group."""
    footer = pyarrow.parquet.read_metadata(file)
    column = footer.schema.names.index("timestamp_ns")
    statistics = [footer.row_group(group).column(column).statistics for group in range(footer.num_row_groups)]
    return [(one.min, one.max) for one in statistics]


def inside(times, first, last):
    at_least = pyarrow.compute.greater_equal(times, first)
    return pyarrow.compute.and_(at_least, pyarrow.compute.less_equal(times, last))


def in_duckdb(table, condition):
    """The count of DuckDB, and how many row groups it scanned for that."""
    pattern = literal(os.path.join(table.folder, "*.parquet"))
    query = f"select count(*) from read_parquet({pattern}) where {condition}"
    connection = duckdb.connect()
    [[count]] = connection.execute(query).fetchall()
    [[_, profile]] = connection.execute(f"explain (analyze, format json) {query}").fetchall()
    return count, json.loads(profile)["query"]["total_row_groups_scanned"]


def utc(ns):
    """A whole microsecond as ISO 8601."""
    moment = datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=ns // 1000)
    return moment.isoformat(sep=" ", timespec="microseconds") + "+00:00"


def plan(frame):
    """How Spark goes about a query, in its long form: the short one cuts filters off."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        frame.explain("formatted")
    return text.getvalue()


def pushed(frame):
    """The filters that Spark hands to the Parquet reader, as its plan has them."""
    [line] = [line for line in plan(frame).splitlines() if line.startswith("PushedFilters:")]
    return line


class Window(unittest.TestCase):
    """A window of 1 % in the middle of a recording."""

    @classmethod
    def setUpClass(cls):
        trace = support.synthetic(EVENTS)
        out = support.convert([trace], support.temporary_folder("queries"), *FLAGS)
        events = os.path.join(support.dataset(out, trace), "events")
        cls.tables = {name: Table(os.path.join(events, name)) for name in sorted(os.listdir(events))}
        cls.largest = cls.tables[LARGEST]
        start = min(low for table in cls.tables.values() for low, _ in table.ranges)
        end = max(high for table in cls.tables.values() for _, high in table.ranges)
        # Whole microseconds, so that both columns have the same rows in it.
        cls.first = (start + end) // 2 // 1000 * 1000
        cls.last = cls.first + (end - start) // 100 // 1000 * 1000 + 999

    def hold(self, condition):
        """No table is read further than its footers make necessary, and no row is missed."""
        for name, table in self.tables.items():
            with self.subTest(table=name):
                count, scanned = in_duckdb(table, condition)
                self.assertEqual(count, table.rows(self.first, self.last))
                self.assertLessEqual(scanned, table.overlapping(self.first, self.last) + len(table.files))

    def test_the_window_is_a_small_part_of_many_row_groups(self):
        groups = len(self.largest.ranges)
        self.assertGreaterEqual(groups, MIN_ROW_GROUPS)
        self.assertGreaterEqual(len(self.largest.files), MIN_FILES)
        overlapping = self.largest.overlapping(self.first, self.last)
        self.assertTrue(1 <= overlapping <= groups // 50 + 2, overlapping)
        self.assertGreater(self.largest.rows(self.first, self.last), 0)

    def test_duckdb_scans_the_window_by_nanoseconds(self):
        self.hold(f"timestamp_ns between {self.first} and {self.last}")

    def test_duckdb_scans_the_window_by_timestamp(self):
        first, last = literal(utc(self.first)), literal(utc(self.last))
        self.hold(f"timestamp between timestamptz {first} and timestamptz {last}")

    def test_duckdb_scans_all_where_no_statistics_help(self):
        _, scanned = in_duckdb(self.largest, UNPRUNABLE)
        self.assertEqual(scanned, len(self.largest.ranges))

    def test_spark_pushes_the_window_by_nanoseconds(self):
        rows = spark().read.parquet(self.largest.folder)
        found = rows.filter(rows.timestamp_ns.between(self.first, self.last))
        filters = pushed(found)
        self.assertIn(f"GreaterThanOrEqual(timestamp_ns,{self.first})", filters)
        self.assertIn(f"LessThanOrEqual(timestamp_ns,{self.last})", filters)
        self.assertEqual(found.count(), self.largest.rows(self.first, self.last))

    def test_spark_pushes_the_window_by_timestamp(self):
        first, last = literal(utc(self.first)), literal(utc(self.last))
        rows = spark().read.parquet(self.largest.folder)
        found = rows.filter(f"timestamp between timestamp {first} and timestamp {last}")
        filters = pushed(found)
        self.assertIn("GreaterThanOrEqual(timestamp,", filters)
        self.assertIn("LessThanOrEqual(timestamp,", filters)
        self.assertEqual(found.count(), self.largest.rows(self.first, self.last))

    def test_spark_pushes_no_comparison_where_no_statistics_help(self):
        found = spark().read.parquet(self.largest.folder).filter(UNPRUNABLE)
        self.assertEqual(pushed(found), "PushedFilters: [IsNotNull(timestamp_ns)]")

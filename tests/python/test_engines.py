"""DuckDB and Spark read every provider table as they find it, and see the same in it."""

import os
import shutil
import unittest

import duckdb

import support
from engines import literal, quoted, spark

CORPUS_TRACES = ["sawbuck-process_data_64_v2.etl", "tx-HTTP_Server.etl"]


def one_row(query):
    """The answer of DuckDB to a query that has one row."""
    return duckdb.connect().execute(query).fetchone()


def duckdb_counts(source):
    """Rows and, per column, values that are not NULL; `source` is the arguments of `read_parquet`."""
    names = [row[0] for row in duckdb.connect().execute(f"describe from read_parquet({source})").fetchall()]
    names = [name for name in names if name != "trace"]
    counts = ", ".join(["count(*)", *(f"count({quoted(name)})" for name in names)])
    rows, *values = one_row(f"select {counts} from read_parquet({source})")
    return rows, dict(zip(names, values))


def spark_counts(frame):
    """Rows and, per column, values that are not NULL."""
    from pyspark.sql import functions

    names = [name for name in frame.columns if name != "trace"]
    values = [functions.count(frame["`" + name.replace("`", "``") + "`"]) for name in names]
    rows, *counts = frame.select(functions.count(functions.lit(1)), *values).first()
    return rows, dict(zip(names, counts))


class Engines(unittest.TestCase):
    """Each table of two traces, then the tables that both have together."""

    @classmethod
    def setUpClass(cls):
        cls.sets = {"example": cls.example_twice()}
        folder = support.corpus()
        if folder:
            out = support.temporary_folder("engines-corpus")
            cls.sets["corpus"] = support.convert([os.path.join(folder, name) for name in CORPUS_TRACES], out)

    @staticmethod
    def example_twice():
        copies = support.temporary_folder("engines-inputs")
        inputs = [shutil.copyfile(support.EXAMPLE, os.path.join(copies, name)) for name in ("first.etl", "second.etl")]
        return support.convert(inputs, support.temporary_folder("engines-example"))

    def traces(self, out):
        """The two trace folders of a dataset."""
        names = sorted(name for name in os.listdir(out) if name.startswith("trace="))
        self.assertEqual(len(names), 2, names)
        return [os.path.join(out, name) for name in names]

    def each_table(self):
        """Each provider table: folder, rows by the manifest."""
        for out in self.sets.values():
            for trace in self.traces(out):
                for table, rows in support.tables(trace).items():
                    yield os.path.join(trace, "events", table), rows

    def each_common_table(self):
        """Each provider that both traces of a dataset have: dataset, provider folder, rows of both by the manifests."""
        for out in self.sets.values():
            first, second = (support.tables(trace) for trace in self.traces(out))
            common = sorted(first.keys() & second.keys())
            self.assertTrue(common, f"no provider in common: {sorted(first)} and {sorted(second)}")
            for table in common:
                yield out, table, first[table] + second[table]

    def test_duckdb_reads_every_table(self):
        for folder, rows in self.each_table():
            with self.subTest(table=folder):
                self.assertEqual(duckdb_counts(literal(f"{folder}/*.parquet"))[0], rows)

    def test_duckdb_reads_traces_together(self):
        for out, table, rows in self.each_common_table():
            with self.subTest(table=table):
                pattern = literal(f"{out}/trace=*/events/{table}/*.parquet")
                source = f"{pattern}, hive_partitioning = true, union_by_name = true"
                self.assertEqual(duckdb_counts(source)[0], rows)
                self.assertEqual(one_row(f"select count(distinct trace) from read_parquet({source})"), (2,))

    def test_spark_reads_every_table(self):
        session = spark()
        for folder, rows in self.each_table():
            with self.subTest(table=folder):
                counts = spark_counts(session.read.parquet(folder))
                self.assertEqual(counts[0], rows)
                self.assertEqual(counts, duckdb_counts(literal(f"{folder}/*.parquet")))

    def test_spark_reads_traces_together(self):
        session = spark()
        for out, table, rows in self.each_common_table():
            with self.subTest(table=table):
                reader = session.read.option("basePath", out).option("mergeSchema", "true")
                frame = reader.parquet(f"{out}/trace=*/events/{table}")
                pattern = literal(f"{out}/trace=*/events/{table}/*.parquet")
                together = f"{pattern}, hive_partitioning = true, union_by_name = true"
                counts = spark_counts(frame)
                self.assertEqual(counts[0], rows)
                self.assertEqual(counts, duckdb_counts(together))
                self.assertEqual(frame.select("trace").distinct().count(), 2)

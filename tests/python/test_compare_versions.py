"""The script that compares versions finds every kind of loss, and none where there is none."""

import glob
import os
import shutil
import subprocess
import unittest

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import support

SCRIPT = os.path.join(support.REPOSITORY, "scripts", "measure", "compare_versions")


def compare(out):
    command = [support.python(), SCRIPT, support.BINARY, support.BINARY, support.EXAMPLE, "--out", out]
    return subprocess.run(command, env=support.environment(), capture_output=True, text=True, timeout=support.TIMEOUT_S)


class CompareVersions(unittest.TestCase):
    """One output twice, the second one changed."""

    @classmethod
    def setUpClass(cls):
        cls.whole = support.temporary_folder("compare-versions")
        cls.unchanged = compare(cls.whole)

    def lost(self, change):
        """What the script says where `change` has been applied to the largest table with payload columns."""
        out = support.temporary_folder("compare-changed")
        shutil.copytree(self.whole, out, dirs_exist_ok=True)
        files = glob.glob(os.path.join(glob.escape(out), "new", "trace=*", "events", "*", "*.parquet"))
        tables = {file: pq.read_table(file, partitioning=None) for file in files}
        file = max(files, key=lambda file: len(self.payload_columns(tables[file])) * tables[file].num_rows)
        table, name = change(tables[file])
        pq.write_table(table, file)
        result = compare(out)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(name, result.stdout)
        return result.stdout

    @staticmethod
    def payload_columns(table):
        """Columns of numbers behind the common ones that have values."""
        columns = table.column_names[table.column_names.index("payload") + 1 :]
        return [name for name in columns if pa.types.is_integer(table[name].type) and table[name].null_count < len(table)]

    def test_one_version_loses_nothing_to_itself(self):
        self.assertEqual(self.unchanged.returncode, 0, self.unchanged.stdout + self.unchanged.stderr)
        counts = {line[14:27].strip(): int(line[:12].replace(",", "")) for line in self.unchanged.stdout.splitlines()[1:]}
        same = counts.pop("same")
        self.assertGreater(same, 0)
        self.assertEqual(set(counts.values()), {0}, self.unchanged.stdout)

    def test_a_changed_value_is_lost(self):
        def change(table):
            name = self.payload_columns(table)[0]
            return table.set_column(table.column_names.index(name), name, pc.add(table[name], 1)), name

        self.lost(change)

    def test_a_value_that_became_null_is_lost(self):
        def change(table):
            name = self.payload_columns(table)[0]
            return table.set_column(table.column_names.index(name), name, pa.nulls(len(table), pa.int64())), name

        self.lost(change)

    def test_a_changed_common_column_is_lost(self):
        def change(table):
            index = table.column_names.index("process_id")
            return table.set_column(index, "process_id", pa.nulls(len(table), pa.int64())), "process_id"

        self.lost(change)

    def test_a_name_that_is_gone_from_the_catalog_is_lost(self):
        out = support.temporary_folder("compare-names")
        shutil.copytree(self.whole, out, dirs_exist_ok=True)
        (file,) = glob.glob(os.path.join(glob.escape(out), "new", "trace=*", "sidecar", "catalog.parquet"))
        catalog = pq.read_table(file, partitioning=None)
        index = catalog.column_names.index("event_name")
        pq.write_table(catalog.set_column(index, "event_name", pa.nulls(len(catalog), pa.string())), file)
        result = compare(out)
        self.assertEqual(result.returncode, 1)
        self.assertIn("event was", result.stdout)

    def test_a_missing_row_is_lost(self):
        self.assertIn("\trows", self.lost(lambda table: (table.slice(1), "LOST")))

    def test_a_missing_trace_is_lost(self):
        out = support.temporary_folder("compare-traces")
        shutil.copytree(self.whole, out, dirs_exist_ok=True)
        (trace,) = glob.glob(os.path.join(glob.escape(out), "new", "trace=*"))
        shutil.rmtree(trace)
        result = compare(out)
        self.assertEqual(result.returncode, 1)
        self.assertIn("\ttrace", result.stdout)

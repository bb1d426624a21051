"""Spark: conversions by tasks on a cluster of two workers held against those of one process, and the data source against Parquet files."""

import concurrent.futures
import filecmp
import glob
import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
import zipfile
from functools import partial

import engines
import support

PACKAGE = support.package()
engines.require_java()

import etl2parquet  # noqa: E402: it is importable from here on
import etl2parquet.spark  # noqa: E402
from etl2parquet import _native  # noqa: E402

SESSION = None


def setUpModule():
    """Two workers, each a Java process with one processor, as a cluster has them."""
    global SESSION
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_PYTHON"] = support.python()
    from pyspark.sql import SparkSession

    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "1g",
        "spark.executorEnv.PYTHONPATH": PACKAGE,
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.local.dir": support.temporary_root(),
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": os.path.join(support.temporary_root(), "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    os.environ["PYTHONPATH"] = PACKAGE
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("etl2parquet")
    for key, value in settings.items():
        builder = builder.config(key, value)
    SESSION = builder.getOrCreate()
    SESSION.sparkContext.setLogLevel("OFF")
    etl2parquet.spark.register(SESSION)


def tearDownModule():
    SESSION.stop()


def executors():
    """The processes of this session's workers: its driver listens on a port of its own."""
    port = SESSION.sparkContext.getConf().get("spark.driver.port")
    found = subprocess.run(["pgrep", "-f", f"CoarseGrainedExecutorBackend .*@127.0.0.1:{port} "], capture_output=True, text=True, check=False).stdout
    return [int(line) for line in found.split()]


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(where, name), folder) for where, _, names in os.walk(folder) for name in names)


def without_run(document, *folders):
    """A summary without what differs from run to run."""
    text = json.dumps({key: value for key, value in document.items() if key not in ("started", "ended", "duration_ms", "run_id", "peak_memory_bytes")})
    for folder in folders:
        text = text.replace(folder, "OUT")
    return json.loads(text)


class Conversions(unittest.TestCase):
    def same_files(self, one, other):
        """Both folders have the same files, but for what manifests say of the run; returns how many."""
        names = files_below(one)
        self.assertEqual(names, files_below(other))
        for name in names:
            left, right = os.path.join(one, name), os.path.join(other, name)
            if name.endswith("manifest.json"):
                with open(left, encoding="utf-8") as file, open(right, encoding="utf-8") as same:
                    self.assertEqual(json.load(file) | {"run": None}, json.load(same) | {"run": None}, name)
            else:
                self.assertTrue(filecmp.cmp(left, right, shallow=False), name)
        return len(names)

    def check(self, given, large=etl2parquet.spark.LARGE, during=None, **options):
        """A conversion by Spark writes what one process writes, and says the same of it."""
        by_spark, by_one = support.temporary_folder("spark"), support.temporary_folder("one")
        before, etl2parquet.spark.LARGE = etl2parquet.spark.LARGE, large
        disturbing = threading.Thread(target=during, args=(by_spark,)) if during else None
        try:
            if disturbing:
                disturbing.start()
            summary = etl2parquet.spark.convert(SESSION, given, by_spark, **options)
        finally:
            etl2parquet.spark.LARGE = before
            if disturbing:
                disturbing.join()
        expected = etl2parquet.convert(given, by_one, **options)
        self.assertEqual(without_run(summary.document, by_spark), without_run(expected.document, by_one))
        self.assertGreater(self.same_files(by_spark, by_one), 10)
        return summary

    def test_a_folder_of_real_traces_becomes_what_one_process_makes_of_it(self):
        summary = self.check(support.corpus_or_skip())
        self.assertEqual({trace.status for trace in summary.traces}, {"published"})
        self.assertGreater(len(summary.traces), 40)

    def test_large_traces_are_converted_by_partitions(self):
        trace = support.synthetic(200_000)
        summary = self.check([support.EXAMPLE, trace], large=1 << 20, partition_bytes="1MiB", start="+0s")
        self.assertEqual([one.result["partitions"] for one in summary.traces][0], 1)
        self.assertGreater(summary.traces[1].result["partitions"], 3)

    def test_a_huge_trace_is_surveyed_in_stretches(self):
        trace = support.synthetic(200_000)
        before, etl2parquet.spark.STRETCH = etl2parquet.spark.STRETCH, 1 << 20
        found = []

        def look(out):
            """For stretches that were surveyed, until the trace is there."""
            until = time.monotonic() + 120
            while time.monotonic() < until and not glob.glob(os.path.join(glob.escape(out), "trace=*")):
                found.extend(glob.glob(os.path.join(glob.escape(out), ".etl2parquet-*", "stretch-*-of-?????")))
                time.sleep(0.02)

        try:
            self.check([trace], large=1 << 20, during=look, partition_bytes="1MiB")
        finally:
            etl2parquet.spark.STRETCH = before
        self.assertEqual(len(set(found)), -(-os.path.getsize(trace) // (1 << 20)))

    def test_a_worker_that_is_killed_changes_nothing(self):
        trace = support.synthetic(1_300_000)
        killed = []

        def kill(out):
            """One worker when some partitions are converted, and one when some more are."""
            until = time.monotonic() + 120
            for count in (3, 12):
                while time.monotonic() < until and len(glob.glob(os.path.join(glob.escape(out), ".etl2parquet-*.plan-*", "**", "part-*"), recursive=True)) < count:
                    time.sleep(0.02)
                [process, *_] = executors()
                os.kill(process, signal.SIGKILL)
                killed.append((process, os.path.exists(os.path.join(out, "trace=" + os.path.splitext(os.path.basename(trace))[0]))))

        summary = self.check([trace, support.EXAMPLE], large=1 << 20, during=kill, partition_bytes="1MiB")
        self.assertGreater(max(one.result["partitions"] for one in summary.traces), 20)
        self.assertEqual([was_published for _, was_published in killed], [False, False])

    def test_two_tasks_that_convert_the_same_trace_do_no_harm(self):
        """As when Spark begins a slow task once more, and as when a task is repeated after it has published."""
        out = support.temporary_folder("twice")
        trace = support.synthetic(200_000)
        [[_, recording, _]], beside, _ = _native.recordings([trace], out, [], None)
        run = etl2parquet.spark._Run(out, [("if_exists", "skip"), ("threads", "1")], beside)
        with concurrent.futures.ProcessPoolExecutor(3, multiprocessing.get_context("spawn")) as pool:
            ends = [pool.submit(etl2parquet.spark._convert, run, [recording]) for _ in range(3)]
            statuses = sorted(end.result()["document"]["traces"][0]["status"] for end in ends)
        self.assertEqual(statuses, ["published", "skipped", "skipped"])
        self.same_files(out, support.convert([trace], support.temporary_folder("once")))

    def test_inputs_that_cannot_be_read_end_as_in_one_process(self):
        folder = support.temporary_folder("bad")
        shutil.copy(support.EXAMPLE, folder)
        with open(os.path.join(folder, "bad.etl"), "wb") as file:
            file.write(b"no trace" * 1000)
        with zipfile.ZipFile(os.path.join(folder, "packed.zip"), "w", zipfile.ZIP_DEFLATED) as packed:
            for name in ("one.etl", "other.etl"):
                packed.write(support.EXAMPLE, name)
            packed.writestr("empty.etl", b"")
        # Those of the archive are one task.
        self.assertEqual(sorted(map(len, etl2parquet.spark._together([etl2parquet.spark._Job(*job) for job in _native.recordings([folder], "/tmp", [], None)[0]]))), [1, 1, 3])
        summary = self.check(folder)
        self.assertEqual((summary.exit_code, summary["bad"].status, summary["example"].status), (4, "quarantined", "published"))
        for given, options, kind in (
            (os.path.join(folder, "absent.etl"), {}, etl2parquet.InputError),
            (os.path.join(folder, "bad.etl"), {}, etl2parquet.InputError),
            (support.EXAMPLE, {"provider": "Nobody"}, etl2parquet.RefusedError),
            (support.EXAMPLE, {"fail_on": "loss"}, etl2parquet.RefusedError),
        ):
            ends = []
            for convert in (etl2parquet.convert, partial(etl2parquet.spark.convert, SESSION)):
                with self.assertRaises(kind) as raised:
                    convert(given, out := support.temporary_folder("none"), **options)
                self.assertEqual(glob.glob(os.path.join(out, "trace=*")), [])
                ends.append(without_run(raised.exception.summary.document, out))
            self.assertEqual(ends[0], ends[1], (given, options))
        # One bad input decides over all others: none is converted.
        ends = []
        for convert in (etl2parquet.convert, partial(etl2parquet.spark.convert, SESSION)):
            summary = convert(folder, out := support.temporary_folder("fail"), on_bad_input="fail")
            self.assertEqual(glob.glob(os.path.join(out, "trace=*")), [])
            ends.append(without_run(summary.document, out))
        self.assertEqual(*ends)
        self.assertEqual({trace["status"] for trace in ends[0]["traces"]}, {"not_begun"})
        out = support.convert([support.EXAMPLE], support.temporary_folder("there"))
        with self.assertRaises(etl2parquet.OutputError):
            etl2parquet.spark.convert(SESSION, support.EXAMPLE, out)
        self.assertEqual(etl2parquet.spark.convert(SESSION, support.EXAMPLE, out, if_exists="update").traces[0].status, "skipped")

    def test_a_lock_of_the_folder_grows_as_with_one_process(self):
        folders = [support.temporary_folder("lock") for _ in range(2)]
        for folder in folders:
            etl2parquet.convert(support.EXAMPLE, folder, provider="Kernel-DiskIo")
            etl2parquet.schema.lock(folder, os.path.join(folder, "schema.lock"))
        given = [os.path.join(support.corpus_or_skip(), name + ".etl") for name in ("tx-KernelNetwork", "filtrace-diskio")]
        etl2parquet.spark.convert(SESSION, given, folders[0])
        etl2parquet.convert(given, folders[1])
        self.same_files(*folders)


class Source(unittest.TestCase):
    def read(self, path, dataset, **options):
        return SESSION.read.format("etl").options(dataset=dataset, **options).load(path)

    def same(self, one, other):
        """Two data frames have the same columns with the same rows; returns how many."""
        described = [[(field.name, field.dataType.simpleString()) for field in frame.schema] for frame in (one, other)]
        self.assertEqual(*described)
        for left, right in ((one, other), (other, one)):
            self.assertEqual(left.exceptAll(right).count(), 0)
        return one.count()

    def parquet(self, out, dataset):
        folders = glob.glob(os.path.join(glob.escape(out), "trace=*", "events", dataset))
        return SESSION.read.option("basePath", out).option("mergeSchema", "true").parquet(*folders)

    def test_a_dataset_has_the_rows_of_its_files(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("files"))
        for dataset, count in (("Kernel-Thread", 484), ("Microsoft-Windows-DNS-Client", 73), ("WPP", 12)):
            self.assertEqual(self.same(self.read(support.EXAMPLE, dataset), self.parquet(out, dataset)), count)
        schema = self.read(support.EXAMPLE, "Kernel-Thread").schema
        # As the trace has it: times are never NULL, nor are addresses of a stack.
        self.assertFalse(schema["timestamp"].nullable or schema["stack"].dataType.containsNull)

    def test_all_traces_of_a_folder_are_one_table(self):
        folder = support.temporary_folder("folder")
        for name in ("tx-KernelNetwork", "filtrace-diskio", "perfview-diaghub.kernel.1"):
            shutil.copy(os.path.join(support.corpus_or_skip(), name + ".etl"), folder)
        out = support.convert([folder], support.temporary_folder("files"))
        frame = self.read(folder, "Kernel-EventTrace")
        self.assertEqual(frame.rdd.getNumPartitions(), 3)
        names = [field.name for field in frame.schema]
        files = self.parquet(out, "Kernel-EventTrace").select(*names)
        self.assertGreater(self.same(frame, files), 5)
        self.assertEqual(frame.select("trace").distinct().count(), 3)

    def test_a_large_trace_has_several_partitions(self):
        trace = os.path.join(support.corpus_or_skip(), "filtrace-diskio.etl")
        counts = []
        for dataset in ("Kernel-DiskIo", "Kernel-Image"):
            whole, cut = self.read(trace, dataset), self.read(trace, dataset, partition_bytes="100KiB")
            self.assertEqual(cut.schema, whole.schema)
            self.assertGreater(cut.rdd.getNumPartitions(), 1)
            counts.append(self.same(cut, whole))
        self.assertGreater(min(counts), 10)
        filtered = {"start": "+2s", "pid": "11112", "cpu": "3,6", "select": "seq,process_id,stack"}
        whole, cut = self.read(trace, "Kernel-DiskIo", **filtered), self.read(trace, "Kernel-DiskIo", partition_bytes="100KiB", **filtered)
        self.assertGreater(self.same(cut, whole), 0)
        self.assertEqual(self.read(trace, "Kernel-DiskIo", partition_bytes="100KiB", pid="nobody.exe").count(), 0)
        # What a plan takes on the way is gone.
        self.assertEqual(glob.glob(os.path.join(tempfile.gettempdir(), "etl2parquet-*", "job.json")), [])

    def test_filters_and_columns_are_options(self):
        frame = self.read(support.EXAMPLE, "Kernel-Thread", cpu="1,3", start="2026-03-02T09:00:03.5Z", select="cpu, timestamp_ns")
        self.assertEqual([field.name for field in frame.schema], ["cpu", "timestamp_ns", "trace"])
        all_rows = self.read(support.EXAMPLE, "Kernel-Thread")
        expected = all_rows.where("cpu IN (1, 3) AND timestamp_ns >= 1772442003500000000").select("cpu", "timestamp_ns", "trace")
        self.assertGreater(self.same(frame, expected), 20)
        # The same data frame again, without the condition.
        self.assertEqual((all_rows.where("cpu = 1").count(), all_rows.count()), (118 + 2, 484))

    def test_what_is_not_there_is_an_error(self):
        from pyspark.errors import AnalysisException

        for given, options, expected in (
            ((support.EXAMPLE, "Kernel-Threads"), {}, "no trace has a dataset Kernel-Threads: there are Example.Shop.Checkout"),
            ((support.EXAMPLE, "WPP"), {"select": "nothing"}, "WPP has no column nothing: there are timestamp"),
            ((support.EXAMPLE, "WPP"), {"colour": "red"}, "found colour"),
            ((support.EXAMPLE + "x", "WPP"), {}, "there is no such file or folder"),
        ):
            with self.assertRaisesRegex(AnalysisException, expected):
                self.read(*given, **options)


if __name__ == "__main__":
    unittest.main()

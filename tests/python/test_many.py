"""Many small traces in one run: several are at work at a time, and nobody can tell but by the time it takes."""

import json
import os
import re
import shutil
import signal
import time
import unittest

import support

# More than any number of lanes.
TRACES = 60


class Many(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("many")
        self.inputs = os.path.join(self.folder, "in")
        self.out = os.path.join(self.folder, "out")
        os.mkdir(self.inputs)

    def fill(self, count):
        for number in range(count):
            shutil.copy(support.EXAMPLE, os.path.join(self.inputs, f"n{number:04}.etl"))

    def views(self):
        done = support.run("views", self.out)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_views_of_traces_that_have_not_changed_open_none_of_their_files(self):
        self.fill(3)
        support.convert([self.inputs], self.out)
        expected, kept = self.views(), os.path.join(self.out, ".etl2parquet", "views")
        with open(kept, encoding="utf-8") as file:
            known = json.load(file)
        # They add the same.
        self.assertEqual((len(known["traces"]), len(known["parts"])), (3, 1))
        tables = [path for path in support.files_below(self.out) if path.endswith(".parquet")]
        for path in tables:
            os.rename(os.path.join(self.out, path), os.path.join(self.out, path) + ".away")
        self.assertEqual(self.views(), expected)
        # What is kept by another version, or is no JSON, counts for nothing.
        for text in (json.dumps({**known, "version": "0"}), "{"):
            with open(kept, "w", encoding="utf-8") as file:
                file.write(text)
            self.assertEqual(support.run("views", self.out).returncode, 6)
        for path in tables:
            os.rename(os.path.join(self.out, path) + ".away", os.path.join(self.out, path))
        self.assertEqual(self.views(), expected)
        # A new trace is read, and one that is gone is forgotten.
        other = os.path.join(self.folder, "other.etl")
        shutil.copy(support.EXAMPLE, other)
        support.convert([other], self.out, "--provider", "Kernel-Process")
        shutil.rmtree(os.path.join(self.out, "trace=n0000"))
        self.assertEqual(self.views(), expected)
        with open(kept, encoding="utf-8") as file:
            known = json.load(file)
        self.assertEqual((len(known["traces"]), len(known["parts"])), (3, 2))
        self.assertEqual(sorted(os.listdir(os.path.join(self.out, ".etl2parquet"))), ["views"])
        # A trace by itself keeps nothing.
        alone = support.convert([other], os.path.join(self.folder, "alone"))
        support.run("views", os.path.join(alone, "trace=other"))
        self.assertEqual(os.listdir(alone), ["trace=other"])

    def staging(self):
        return [name for name in os.listdir(self.out) if name.startswith(".")]

    def test_every_trace_is_what_it_is_alone(self):
        self.fill(TRACES)
        shutil.copy(support.EXAMPLE, os.path.join(self.folder, "n0007.etl"))
        alone = support.convert([os.path.join(self.folder, "n0007.etl")], os.path.join(self.folder, "alone"))
        for threads in ("1", "3"):
            shutil.rmtree(self.out, ignore_errors=True)
            support.convert([self.inputs], self.out, "--threads", threads)
            self.assertEqual(sorted(os.listdir(self.out)), [f"trace=n{number:04}" for number in range(TRACES)])
            both = [os.path.join(out, "trace=n0007") for out in (self.out, alone)]
            self.assertEqual(support.differences(*both), [])

    def test_results_come_in_the_order_of_the_inputs(self):
        self.fill(TRACES)
        with open(os.path.join(self.inputs, "n0005.etl"), "w", encoding="utf-8") as file:
            file.write("no trace")
        summary = os.path.join(self.folder, "summary.json")
        result = support.run("convert", self.inputs, "-o", self.out, "--summary", summary, "--progress", "always")
        self.assertEqual(result.returncode, 4, result.stderr)
        names = [f"n{number:04}" for number in range(TRACES)]
        told = re.findall(r"^(n\d{4}): (?:published|quarantined)", result.stderr, re.MULTILINE)
        self.assertEqual(told, names)
        with open(summary, encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual([trace["trace"] for trace in summary["traces"]], names)
        failed = [trace["trace"] for trace in summary["traces"] if trace["status"] != "published"]
        self.assertEqual((failed, len(summary["errors"])), (["n0005"], 1))
        self.assertEqual(self.staging(), [])

    def interrupted(self, *numbers):
        """A run that is interrupted in its midst, and how long it took to obey."""
        self.fill(400)
        process = support.start("convert", self.inputs, "-o", self.out, "--threads", "2")
        self.addCleanup(process.kill)
        end = time.monotonic() + support.TIMEOUT_S
        while not (os.path.isdir(self.out) and len(os.listdir(self.out)) > 20):
            self.assertIsNone(process.poll(), "it ended before it could be interrupted")
            self.assertLess(time.monotonic(), end)
            time.sleep(0.002)
        for number in numbers:
            process.send_signal(number)
        began = time.monotonic()
        _, errors = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 128 + numbers[0], errors)
        self.assertEqual(self.staging(), [])
        for trace in os.listdir(self.out):
            self.assertEqual(support.manifest(os.path.join(self.out, trace))["trace"], trace.removeprefix("trace="))
        self.assertLess(len(os.listdir(self.out)), 400)
        return errors, time.monotonic() - began

    def test_an_interrupt_is_obeyed_by_all_and_told_once(self):
        errors, took = self.interrupted(signal.SIGTERM)
        self.assertLessEqual(errors.count("error: interrupted"), 1)
        self.assertLess(took, 10)
        # What is there stays, the rest comes.
        support.convert([self.inputs], self.out, "--if-exists", "skip")
        self.assertEqual(len(os.listdir(self.out)), 400)

    def test_a_second_signal_leaves_nothing_of_any(self):
        self.interrupted(signal.SIGINT, signal.SIGINT)

    def test_one_bad_input_stops_the_run_where_that_is_asked_for(self):
        self.fill(TRACES)
        with open(os.path.join(self.inputs, "n0005.etl"), "w", encoding="utf-8") as file:
            file.write("no trace")
        result = support.run("convert", self.inputs, "-o", self.out, "--on-bad-input", "fail")
        self.assertEqual(result.returncode, 4, result.stderr)
        self.assertFalse(os.path.exists(self.out))


if __name__ == "__main__":
    unittest.main()

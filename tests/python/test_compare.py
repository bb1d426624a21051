"""`compare`: made traces for each rule, and the amounts of real ones held against rows and views."""

import collections
import glob
import json
import os
import shutil
import unittest

import duckdb
import pyarrow.parquet

import support
from made import add_dataset, add_file

# Traces with samples and .NET, with disk operations and files, and one with switches.
TRACES = ["perfview-net.4.5.2.x64", "filtrace-diskio", "perfview-net.4.5.x86-old", "example"]


def compare(a, b, *options):
    """The document of a comparison."""
    done = support.run("compare", a, b, "--json", "--progress", "never", *options)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def measure(document, name):
    return next(found for found in document["measures"] if found["measure"] == name)


def rows(document, name):
    """The rows of a measure, by name."""
    return {row["name"]: row for row in measure(document, name)["rows"]}


def changed(document):
    """The names of each measure that are not the same."""
    return {
        found["measure"]: {row["name"]: row["verdict"] for row in found["rows"] if row["verdict"] != "same"}
        for found in document["measures"]
        if any(row["verdict"] != "same" for row in found["rows"])
    }


class Traces:
    """Copies of the example with samples of a made profile."""

    def __init__(self):
        self.out = support.convert([support.EXAMPLE], support.temporary_folder("compare"), "--quiet")
        self.example = os.path.join(self.out, "trace=example")
        self.first = 1772442000000000000

    def made(self, folder, name, own, lost=3, interval=None):
        """A trace whose processes have so many samples in a method each, so many units of 100 ns apart."""
        trace = os.path.join(folder, f"trace={name}")
        shutil.copytree(self.example, trace)
        shutil.rmtree(os.path.join(trace, "events", "Kernel-PerfInfo"))
        methods = {(5200, "Price"): 0x6000, (5200, "Stock"): 0x7000, (5400, "Count"): 0x6000}
        samples = []
        for (process, method), count in own.items():
            base = methods[process, method]
            sample = {"event_name": "PerfInfo/SampleProf", "process_id": process, "InstructionPointer": base + 4}
            samples += [{**sample, "stack": [base + 4, 0x8004], "stack_id": base + process}] * count
        for number, sample in enumerate(samples):
            samples[number] = {**sample, "timestamp_ns": self.first + 1000 * number}
        if interval is not None:
            said = {"event_name": "PerfInfo/CollectionStart", "timestamp_ns": self.first, "Source": 0}
            samples.insert(0, {**said, "NewInterval": interval})
        manifest = os.path.join(trace, "sidecar", "manifest.json")
        with open(manifest, encoding="utf-8") as file:
            record = json.load(file)
        record["files"] = [file for file in record["files"] if "Kernel-PerfInfo" not in file["path"]]
        record["trace"] = name
        record["lost"]["events_lost"] = lost
        with open(manifest, "w", encoding="utf-8") as file:
            json.dump(record, file)
        add_dataset(trace, "Kernel-PerfInfo", samples)
        integers = dict.fromkeys(["process_id", "base", "size", "from_ns", "to_ns"], pyarrow.int64())
        texts = dict.fromkeys(["namespace", "name", "signature", "tier", "source_of"], pyarrow.string())
        always = {"size": 0x100, "from_ns": 0, "to_ns": 2 * self.first, "machine": 0, "namespace": "Shop"}
        spans = [{**always, "process_id": process, "base": base, "name": method} for (process, method), base in methods.items()]
        spans += [{**always, "process_id": process, "base": 0x8000, "name": "Main"} for process in (5200, 5400)]
        spans.sort(key=lambda row: (row["process_id"], row["base"]))
        schema = pyarrow.schema([*integers.items(), *texts.items(), ("machine", pyarrow.int32())])
        add_file(trace, "sidecar/methods.parquet", pyarrow.Table.from_pylist(spans, schema=schema))
        return trace


class Made(unittest.TestCase):
    """A trace for each rule."""

    @classmethod
    def setUpClass(cls):
        cls.traces = Traces()
        cls.own = {(5200, "Price"): 300, (5200, "Stock"): 100, (5400, "Count"): 200}
        cls.doubled = {**cls.own, (5200, "Price"): 700}

    def folder(self):
        return support.temporary_folder("compared")

    def pair(self, a, b, **more):
        folder = self.folder()
        return self.traces.made(folder, "a", a), self.traces.made(folder, "b", b, **more)

    def test_a_trace_is_as_itself(self):
        trace = self.traces.made(self.folder(), "a", self.own)
        for by in "process function event file provider".split():
            document = compare(trace, trace, "--by", by, "--min-share", "0%")
            self.assertEqual(changed(document), {}, by)
            self.assertTrue(any(found["rows"] for found in document["measures"]), by)
        done = support.run("compare", trace, trace, "--fail-above", "0%")
        self.assertEqual((done.returncode, "more than" in done.stderr), (0, False), done.stderr)

    def test_twice_the_samples_of_a_process_are_found_with_their_function(self):
        a, b = self.pair(self.own, self.doubled)
        self.assertEqual(changed(compare(a, b)), {"samples": {"shop.exe": "grew"}})
        row = rows(compare(a, b), "samples")["shop.exe"]
        length = 11995096000
        self.assertEqual((row["a"]["total"], row["b"]["total"], row["ratio"]), (400, 800, 2.0))
        self.assertEqual(row["a"]["per_second"], 400 * 1e9 / length)
        self.assertEqual((row["a"]["share"], row["b"]["share"]), (400 / 600, 800 / 1000))
        self.assertEqual(
            changed(compare(a, b, "--by", "function")),
            {
                "own_samples": {"Shop.Price": "grew"},
                "all_samples": {"Shop.Price": "grew", "Shop.Main": "grew"},
            },
        )
        own = rows(compare(a, b, "--by", "function"), "own_samples")
        self.assertEqual({name: (row["a"]["total"], row["b"]["total"]) for name, row in own.items()}, {"Shop.Price": (300, 700), "Shop.Stock": (100, 100), "Shop.Count": (200, 200)})
        for most, code in (("99%", 5), ("101%", 0)):
            done = support.run("compare", a, b, "--fail-above", most)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual("shop.exe: samples: +100.0%, more than 99.0%" in done.stderr, code == 5, done.stderr)
        # What shrank is no reason to fail.
        self.assertEqual(support.run("compare", b, a, "--fail-above", "0%").returncode, 0)

    def test_a_gate_does_not_pass_what_was_not_compared(self):
        # Neither samples nor switches.
        done = support.run("compare", support.EXAMPLE, support.EXAMPLE, "--by", "function", "--fail-above", "10%")
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertIn("nothing was compared, so that nothing is known to be within --fail-above", done.stderr)
        self.assertEqual(done.stdout.count("not compared"), done.stdout.count(": not compared: "), done.stdout)
        self.assertEqual(support.run("compare", support.EXAMPLE, support.EXAMPLE, "--by", "function").returncode, 0)
        self.assertEqual(support.run("compare", support.EXAMPLE, support.EXAMPLE, "--fail-above", "10%", "--by", "event").returncode, 0)

    def test_few_samples_more_are_chance(self):
        # The deviation of the difference of 400 and 460 is the root of 860, 29.3.
        a, b = self.pair(self.own, {**self.own, (5200, "Price"): 360})
        row = rows(compare(a, b), "samples")["shop.exe"]
        self.assertEqual((row["verdict"], row["because"]), ("unsure", "within the noise of sampling"))

    def test_what_was_lost_may_be_the_difference(self):
        a, b = self.pair(self.doubled, self.own, lost=400)
        row = rows(compare(a, b), "samples")["shop.exe"]
        self.assertEqual((row["verdict"], row["because"]), ("unsure", "what was lost, or is not known, may be the difference"))
        self.assertEqual(compare(a, b)["b"][0]["lost"], "400 events")
        # Four hundred events may be missing, and 300 more samples would prove it.
        a, b = self.pair({**self.doubled, (5200, "Stock"): 500}, self.own, lost=400)
        self.assertEqual(rows(compare(a, b), "samples")["shop.exe"]["verdict"], "shrank")

    def test_repeated_traces_prove_what_chance_does_not(self):
        a, b = self.folder(), self.folder()
        for number, more in enumerate((0, 9, 4, 12)):
            self.traces.made(a, f"a{number}", {**self.own, (5200, "Price"): 300 + more})
            self.traces.made(b, f"b{number}", {**self.own, (5200, "Price"): 330 + more, (5400, "Count"): 205 - more})
        document = compare(a, b)
        found = rows(document, "samples")
        self.assertEqual((found["shop.exe"]["verdict"], found["stock.exe"]["verdict"]), ("grew", "unsure"))
        # The most extreme of 70 ways to divide eight, and its mirror.
        self.assertAlmostEqual(found["shop.exe"]["p"], 2 / 70)
        self.assertEqual(found["stock.exe"]["because"], "the traces of a side differ as much among themselves")
        median = (404 + 409) / 2 * 1e9 / 11995096000
        self.assertAlmostEqual(found["shop.exe"]["a"]["per_second"], median)
        tested = measure(document, "samples")
        self.assertEqual((tested["tested"], tested["by_chance"]), (2, 0.1))
        shutil.rmtree(os.path.join(a, "trace=a3"))
        shutil.rmtree(os.path.join(b, "trace=b3"))
        few = rows(compare(a, b), "samples")["shop.exe"]
        self.assertEqual((few["verdict"], few["because"]), ("unsure", "too few traces: four on each side are enough"))

    def test_the_page_shows_the_same(self):
        a, b = self.pair(self.own, self.doubled)
        page = os.path.join(self.folder(), "page.html")
        done = support.run("compare", a, b, "-o", page)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertIn(">shop.exe</th>", text)
        self.assertIn("+100.0%", text)
        self.assertNotIn("<script", text)
        text = support.run("compare", a, b).stdout
        self.assertRegex(text, r"shop\.exe +33\.3 +66\.7 +\+100\.0% +80\.0% +grew")
        self.assertIn("1 row that is the same", text)

    def test_samples_of_other_intervals_prove_nothing(self):
        folder = self.folder()
        made = self.traces.made
        one, other = made(folder, "a", self.own, interval=10000), made(folder, "b", self.doubled, interval=1250)
        silent = made(folder, "c", self.doubled)
        because = "samples of the traces stand for times that differ, or are not known"
        said = {
            other: "samples prove nothing: a has a sample every 1 ms, b has a sample every 125 µs",
            silent: "samples prove nothing: a has a sample every 1 ms, c does not say how far its samples are apart",
        }
        for trace, note in said.items():
            document = compare(one, trace)
            row = rows(document, "samples")["shop.exe"]
            self.assertEqual((row["verdict"], row["because"], row["ratio"]), ("unsure", because, 2.0))
            self.assertEqual(document["notes"], [note])
            self.assertEqual(changed(compare(one, trace, "--by", "function"))["own_samples"]["Shop.Price"], "unsure")
            done = support.run("compare", one, trace, "--fail-above", "0%")
            self.assertEqual(done.returncode, 0, done.stderr)
        same = made(folder, "d", self.doubled, interval=10000)
        self.assertEqual((changed(compare(one, same)), compare(one, same)["notes"]), ({"samples": {"shop.exe": "grew"}}, []))

    def test_what_a_file_ends_before_may_be_the_difference(self):
        # Of 17 buffers of 8 KiB nine, and eleven with a part of the twelfth, of a session of twelve seconds.
        behind = "3 events, {} buffers behind the end of the file"
        cut = {
            "whole": (9 * 0x2000, behind.format(8), 6713950000),
            "within": (92842, behind.format(5) + ", what damaged parts of the file held", 9371193700),
        }
        for name, (size, lost, length) in cut.items():
            path = os.path.join(self.folder(), f"{name}.etl")
            with open(support.EXAMPLE, "rb") as whole, open(path, "wb") as file:
                file.write(whole.read(size))
            for sides in ((support.EXAMPLE, path), (path, support.EXAMPLE)):
                document = compare(*sides, "--by", "event", "--min-share", "0%")
                side = document["a" if sides[0] == path else "b"][0]
                self.assertEqual(side, {"trace": name, "length_ns": length, "longest_ns": 12000000000, "lost": lost, "unproven": None})
                self.assertEqual(set(changed(document)["events"].values()), {"unsure"})
            done = support.run("compare", support.EXAMPLE, path, "--by", "event", "--fail-above", "20%", "--no-store")
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_filters_left_out_may_be_the_difference(self):
        options = ("--from", "+2s", "--to", "+6s", "--quiet")
        out = support.convert([support.EXAMPLE], support.temporary_folder("compare-filtered"), *options)
        folder = os.path.join(out, "trace=example")
        document = compare(folder, self.traces.example, "--by", "event", "--min-share", "0%")
        # From 2.0049435 s on to 5.9973781 s: the first switch and the last sample that are kept.
        self.assertEqual((document["a"][0]["length_ns"], document["b"][0]["length_ns"]), (3992434600, 11995096000))
        reasons = {row["because"] for row in rows(document, "events").values() if row["verdict"] != "same"}
        self.assertEqual(reasons, {"filters left out 805 of the events of example"})
        self.assertEqual(set(changed(document)["events"].values()), {"unsure"})
        self.assertEqual(rows(document, "events")["Kernel-Thread Thread/CSwitch"]["b"]["total"], 446)
        self.assertEqual(changed(compare(folder, folder, "--by", "event", "--min-share", "0%")), {})

    def test_names_of_events_do_not_depend_on_the_layout(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("compare-layout"), "--layout", "event", "--quiet")
        folder = os.path.join(out, "trace=example")
        for by, name in (("event", "Kernel-Thread Thread/CSwitch"), ("provider", "Kernel-Thread")):
            document = compare(folder, self.traces.example, "--by", by, "--min-share", "0%")
            self.assertEqual(changed(document), {})
            self.assertIn(name, rows(document, "events"))
            whole = compare(self.traces.example, self.traces.example, "--by", by, "--min-share", "0%")
            self.assertEqual(document["measures"], whole["measures"])

    def test_a_trace_need_not_be_converted(self):
        document = compare(support.EXAMPLE, self.traces.example, "--by", "event", "--min-share", "0%")
        self.assertEqual(changed(document), {})

    def test_what_is_not_recorded_is_not_compared(self):
        a, b = self.pair(self.own, {})
        self.assertEqual(measure(compare(a, b), "samples")["not_compared"], "b does not record it")
        done = support.run("compare", a, os.path.join(self.folder(), "nothing"))
        self.assertEqual(done.returncode, 3, done.stderr)


class Real(unittest.TestCase):
    """What real traces have is what their rows and views say."""

    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        inputs = [support.EXAMPLE if name == "example" else os.path.join(corpus, f"{name}.etl") for name in TRACES]
        cls.out = support.convert(inputs, support.temporary_folder("compare-real"), "--quiet")

    def amounts(self, trace, by):
        """What a trace has by measure and name, as the comparison with itself says."""
        folder = os.path.join(self.out, f"trace={trace}")
        document = compare(folder, folder, "--by", by, "--min-share", "0%")
        return {
            found["measure"]: {row["name"]: row["a"]["total"] for row in found["rows"]}
            for found in document["measures"]
            if found["not_compared"] is None
        }

    def test_events_are_those_of_the_files(self):
        for trace in TRACES:
            counted, by_dataset = collections.Counter(), collections.Counter()
            for path in glob.glob(os.path.join(self.out, f"trace={trace}", "events", "*", "*.parquet")):
                dataset = os.path.basename(os.path.dirname(path))
                for row in pyarrow.parquet.ParquetFile(path).read(columns=["event_name", "event_id", "opcode"]).to_pylist():
                    number = f"event {row['event_id']}" if row["event_id"] is not None else f"opcode {row['opcode']}"
                    counted[f"{dataset} {row['event_name'] or number}"] += 1
                    by_dataset[dataset] += 1
            self.assertEqual(self.amounts(trace, "event")["events"], dict(counted), trace)
            self.assertEqual(self.amounts(trace, "provider")["events"], dict(by_dataset), trace)

    # For each measure a view that another program adds up.
    VIEWS = [
        ("samples", "process", "COALESCE(CASE interrupt WHEN 'dpc' THEN 'deferred procedure calls' WHEN 'isr' THEN 'interrupt service routines' END, process_name)", "COUNT(*)", "cpu_samples WHERE interrupt IN ('dpc', 'isr') OR process_id IS DISTINCT FROM 0"),
        ("cpu_ns", "process", "process_name", "SUM(running_ns)", "cpu_usage WHERE thread_id <> 0"),
        ("wait_ns", "process", "process_name", "SUM(off_cpu_ns)", "off_cpu WHERE state = 'waiting'"),
        ("disk_bytes", "process", "process_name", "SUM(bytes)", "disk_io"),
        ("network_bytes", "process", "process_name", "SUM(bytes)", "network WHERE direction IN ('sent', 'received')"),
        ("gc_pause_ns", "process", "process_name", "SUM(duration_ns)", "gc_pauses"),
        ("disk_bytes", "file", "file", "SUM(bytes)", "disk_io"),
        ("disk_ns", "file", "file", "SUM(duration_ns)", "disk_io"),
    ]

    def test_amounts_are_those_of_the_views(self):
        checked = collections.Counter()
        for trace in TRACES:
            folder = os.path.join(self.out, f"trace={trace}")
            connection = duckdb.connect()
            connection.execute(support.run("views", folder).stdout)
            amounts = {by: self.amounts(trace, by) for by in ("process", "file")}
            for name, by, key, amount, view in self.VIEWS:
                expected = connection.execute(f"SELECT {key} AS name, {amount} FROM {view} GROUP BY ALL").fetchall()
                expected = {name: int(total or 0) for name, total in expected if name is not None}
                found = {one: total for one, total in amounts[by].get(name, {}).items() if not one.startswith("(")}
                self.assertEqual({k: v for k, v in found.items() if v}, {k: v for k, v in expected.items() if v}, f"{trace}: {name} by {by}")
                checked[name, by] += len(expected)
        self.assertTrue(all(checked[name, by] for name, by, *_ in self.VIEWS if name != "gc_pause_ns"), checked)


if __name__ == "__main__":
    unittest.main()

"""The Python package: its rows held against the files of a conversion, which other programs read, its types against the command line."""

import dataclasses
import datetime
import doctest
import glob
import importlib.util
import json
import logging
import multiprocessing
import os
import pickle
import random
import re
import signal
import statistics
import subprocess
import sys
import threading
import time
import typing
import unittest

import duckdb
import pandas
import polars
import pyarrow
import pyarrow.parquet

import engines
import support

support.package()

import etl2parquet  # noqa: E402: it is importable from here on
from etl2parquet import _native  # noqa: E402

PACKAGE = os.path.join(support.REPOSITORY, "python", "etl2parquet")
# Pages with code, and how many blocks of it.
PAGES = {"duckdb.md": 1, "python.md": 4, "spark.md": 2, "steps.md": 3, "tables.md": 2}
# What blocks import that need not be installed here.
OTHERS = ("dask", "ray")
WRITE = os.environ.get("ETL2PARQUET_PACKAGE") == "write"

# Code, and what it prints.
BLOCK = re.compile(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

# Kernel events with stacks, those of manifests, those of .NET, those that describe themselves.
TRACES = ["tx-KernelNetwork", "filtrace-diskio", "dotnetperf-gccollectonly", "tx-HTTP_Server"]

# Options of the command line that are about a terminal, or about where the options themselves come from.
OF_A_TERMINAL = {"color", "config", "help", "log-format", "output", "quiet", "verbose"}


def long_options(*command):
    """The long options of a command, as its help lists them."""
    return set(re.findall(r"^\s+(?:-\w, )?--([a-z][a-z-]*)", support.run(*command, "--help").stdout, re.MULTILINE))


class Types(unittest.TestCase):
    def test_the_options_are_typed_as_the_program_declares_them(self):
        expected = typed_options()
        path = os.path.join(PACKAGE, "_options.py")
        if WRITE:
            with open(path, "w", encoding="utf-8") as file:
                file.write(expected)
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), expected, "ETL2PARQUET_PACKAGE=write rewrites it")

    def test_every_long_option_of_convert_is_a_keyword(self):
        named = {"start": "from", "end": "to"}
        keywords = {name for call, name, *_ in _native.all_options() if call == "convert"} | {"start", "end", "progress", "summary", "metrics"}
        options = {named.get(keyword, keyword.replace("_", "-")) for keyword in keywords}
        self.assertEqual(options, long_options("convert") - OF_A_TERMINAL)
        with self.assertRaisesRegex(etl2parquet.UsageError, "did you mean row_group_rows"):
            etl2parquet.convert(support.EXAMPLE, "/nowhere", row_group_row=5)

    def test_every_option_of_export_alone_is_a_keyword_with_its_words(self):
        own = {"format", "of", "packets", "fields"}
        hints = {name: eval(etl2parquet.export.__annotations__[name], etl2parquet.export.__globals__) for name in own}
        rows = {name for call, name, *_ in _native.all_options() if call == "rows"} | {"start", "end"}
        of_conversion = {name for call, name, *_ in _native.all_options() if call == "convert"}
        options = {option.replace("-", "_") for option in long_options("export") - OF_A_TERMINAL}
        named = {"from": "start", "to": "end"}
        options = {named.get(option, option) for option in options}
        self.assertEqual(options - of_conversion - rows - {"progress"}, own)
        text = support.run("export", "--help").stdout
        for option in sorted(own):
            listed = re.search(rf"--{option} <.*?Possible values:\n(.*?)\n\s*\n", text, re.DOTALL)[1]
            self.assertEqual(re.findall(r"^\s+- ([a-z-]+):", listed, re.MULTILINE), list(typing.get_args(hints[option])), option)

    def test_the_types_hold(self):
        done = subprocess.run(
            [support.python(), "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", os.devnull, "--config-file", os.path.join(support.REPOSITORY, "python", "pyproject.toml"), PACKAGE],
            env=support.environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_the_examples_of_the_documentation_hold(self):
        before = os.getcwd()
        os.chdir(support.REPOSITORY)
        try:
            examples = 0
            for name in sorted(glob.glob("**/*.py", root_dir=PACKAGE, recursive=True)):
                parts = ["etl2parquet", *name.removesuffix(".py").split(os.sep)]
                module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
                done = doctest.testmod(module, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
                self.assertEqual(done.failed, 0, name)
                examples += done.attempted
            self.assertGreater(examples, 20)
        finally:
            os.chdir(before)


def typed_options():
    """The file that types the options."""
    calls = {"open": "OpenOptions", "rows": "RowOptions", "convert": "ConvertOptions", "schema": "SchemaOptions", "step": "StepOptions"}
    doc = {
        "open": "Options of :func:`etl2parquet.open`.",
        "rows": "Filters of :meth:`etl2parquet.Trace.events`.",
        "convert": "Options of :func:`etl2parquet.convert` and :func:`etl2parquet.plan`.",
        "schema": "Options of :mod:`etl2parquet.schema`.",
        "step": "Options of :func:`etl2parquet.convert_partition` and :func:`etl2parquet.commit`.",
    }
    lines = [
        '"""The options of calls, as the program declares them: a test compares them, and `ETL2PARQUET_PACKAGE=write` rewrites them."""',
        "",
        "from __future__ import annotations",
        "",
        "from collections.abc import Iterable",
        "from typing import Literal, TypedDict, Union",
        "",
        "from ._arguments import Path",
        "",
        "#: A text, or a number where the text is one.",
        "Text = Union[str, int]",
    ]
    for call, name in calls.items():
        lines += ["", "", f"class {name}(TypedDict, total=False):", f'    """{doc[call]}"""', ""]
        for of, option, kind, words, is_list, help in _native.all_options():
            if of != call or option in ("start", "end"):
                continue
            of_kind = {"flag": "bool", "path": "Path", "text": "Text", "word": f"Literal[{', '.join(json.dumps(word) for word in words)}]"}[kind]
            hint = f"Union[{of_kind}, Iterable[{of_kind}], None]" if is_list else f"Union[{of_kind}, None]"
            lines += [f"    #: {help}", f"    {option}: {hint}"]
    return "\n".join(lines) + "\n"


class Page(unittest.TestCase):
    def test_what_the_pages_type_prints_what_they_say(self):
        for name, count in PAGES.items():
            with self.subTest(name):
                if name == "spark.md":
                    engines.require_java()
                self.follow(os.path.join(support.REPOSITORY, "docs", name), count)

    def follow(self, path, count):
        folder = support.temporary_folder("page")
        os.symlink(os.path.join(support.REPOSITORY, "examples"), os.path.join(folder, "examples"))
        with open(path, encoding="utf-8") as file:
            page = file.read()
        blocks = list(BLOCK.finditer(page))
        self.assertEqual((len(blocks), page.count("```python\n")), (count, count))
        written, behind = [], 0
        for block in blocks:
            absent = [name for name in OTHERS if f"import {name}" in block[1] and importlib.util.find_spec(name) is None]
            if absent:
                print(f"{os.path.basename(path)}: not run without {absent[0]}", file=sys.stderr)
                written, behind = [*written, page[behind : block.end(2)]], block.end(2)
                continue
            script = os.path.join(folder, "script.py")
            with open(script, "w", encoding="utf-8") as file:
                file.write(block[1])
            environment = {**support.environment(), "PYTHONPATH": support.package(), "PYTHONIOENCODING": "utf-8", "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": support.python()}
            done = subprocess.run([support.python(), script], cwd=folder, env=environment, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            written += [page[behind : block.start(2)], "".join(line.rstrip() + "\n" for line in done.stdout.splitlines())]
            behind = block.end(2)
        text = "".join(written) + page[behind:]
        if WRITE:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        self.assertEqual(text, page, "ETL2PARQUET_PACKAGE=write rewrites it")

    def test_the_lines_of_the_first_page_run(self):
        with open(os.path.join(support.REPOSITORY, "README.md"), encoding="utf-8") as file:
            [lines] = re.findall(r"^```python\n(.*?)^```\n", file.read(), re.MULTILINE | re.DOTALL)
        process = support.with_package(lines, cwd=support.REPOSITORY, variables={"PYTHONIOENCODING": "utf-8"})
        out, err = process.communicate(timeout=120)
        self.assertEqual((process.returncode, err), (0, ""))
        self.assertIn("shop.exe", out)


class Documents(unittest.TestCase):
    def same_fields(self, kind, found):
        """Each object of JSON has the fields of its dataclass, and no others."""
        hints = typing.get_type_hints(kind)
        self.assertEqual(set(hints), set(found), kind)
        for name, value in found.items():
            inner = [one for one in (hints[name], *typing.get_args(hints[name])) if dataclasses.is_dataclass(one)]
            for one in value if isinstance(value, list) else [value]:
                if inner and one is not None:
                    self.same_fields(inner[0], one)

    def test_dataclasses_have_all_that_the_document_has(self):
        document = json.loads(support.run("inspect", support.EXAMPLE, "--json").stdout)["traces"][0]
        document.pop("undecodable")
        self.same_fields(etl2parquet.Document, document)
        self.assertEqual(dataclasses.asdict(etl2parquet.inspect(support.EXAMPLE)), json.loads(json.dumps(document), object_hook=tuples))

    def test_a_converted_trace_has_the_same_document(self):
        corpus = support.corpus()
        real = [os.path.join(corpus, name + ".etl") for name in TRACES] if corpus else []
        for trace in [support.EXAMPLE, *real]:
            out = support.convert([trace], support.temporary_folder("document"))
            raw, converted = (etl2parquet.open(path) for path in (trace, support.dataset(out, trace)))
            self.assertEqual(raw.name, converted.name)
            one, other = (plain(opened.document) for opened in (raw, converted))
            self.assertEqual(one, other)
            self.assertEqual({name: of.events for name, of in raw.datasets.items()}, {name: of.events for name, of in converted.datasets.items()})

    def test_a_trace_shows_what_it_has(self):
        trace = etl2parquet.open(support.EXAMPLE)
        self.assertEqual(repr(trace), "<Trace example: 1,219 events in 10 datasets>")
        self.assertEqual(sorted(trace._ipython_key_completions_()), sorted(trace.datasets))
        page = trace._repr_html_()
        for text in ("<h3>example</h3>", "Kernel-Thread", "3 events, 0 buffers", "etl2parquet example"):
            self.assertIn(text, page)
        self.assertEqual(pickle.loads(pickle.dumps(trace)).document, trace.document)


def tuples(found):
    return {key: tuple(value) if isinstance(value, list) else value for key, value in found.items()}


def plain(document):
    """A document without what only one of two ways to it knows: hashes and counts of a conversion, microseconds of the files."""
    found = dataclasses.asdict(document)
    for one in found["files"]:
        one["session"]["blake3"] = None
        for name in [name for name in one["session"] if name.endswith("_time")]:
            one["session"][name] = one["session"][name] and one["session"][name][:26]
        for name in ("ties", "saturated_times", "double_formula_max_error_ns"):
            one["clock"][name] = None
    found["providers"] = sorted(found["providers"], key=lambda one: (-one["events"], one["dataset"]))
    return found


def of_files(folder, dataset, condition="true", columns="*"):
    """Rows of a dataset as DuckDB reads them from the files, in the order of the trace."""
    files = engines.literal(os.path.join(folder, "events", *dataset.split("/"), "*.parquet"))
    with duckdb.connect() as connection:
        connection.execute("SET TimeZone = 'UTC'")
        return connection.sql(f"SELECT {columns} FROM read_parquet({files}, hive_partitioning = false) WHERE {condition} ORDER BY seq").to_arrow_table()


def table_of(rows):
    return pyarrow.table(rows)


class RowsOfTraces(unittest.TestCase):
    def check(self, trace, *options, **same):
        """All rows of all datasets of a trace, converted or not, are those of the files; returns how many there are."""
        out = support.convert([trace], support.temporary_folder("rows"), *options)
        folder, count = support.dataset(out, trace), 0
        opened = [etl2parquet.open(trace, **same), etl2parquet.open(folder)]
        for dataset in opened[0].datasets:
            files = sorted(glob.glob(os.path.join(glob.escape(folder), "events", *dataset.split("/"), "*.parquet")))
            expected = pyarrow.concat_tables([pyarrow.parquet.ParquetFile(file).read() for file in files])
            for one in opened:
                found = table_of(one[dataset])
                self.assertEqual(found.schema.names, expected.schema.names)
                self.assertTrue(found.cast(expected.schema).equals(expected), (trace, dataset, one))
                self.assertEqual(list(one[dataset].columns), expected.schema.names)
            count += expected.num_rows
        return count

    def test_the_example_has_the_rows_of_its_files(self):
        self.assertEqual(self.check(support.EXAMPLE), 1219)
        exact = {"integers": "exact", "timestamps": "nanos", "raw": "always", "guid": "binary"}
        options = [part for name, word in exact.items() for part in (f"--{name}", word)]
        self.assertEqual(self.check(support.EXAMPLE, *options, **exact), 1219)

    def test_real_traces_have_the_rows_of_their_files(self):
        corpus = support.corpus_or_skip()
        whole = os.environ.get("ETL2PARQUET_WHOLE_PACKAGE") == "1"
        traces = sorted(glob.glob(os.path.join(glob.escape(corpus), "**", "*.etl"), recursive=True)) if whole else [os.path.join(corpus, name + ".etl") for name in TRACES]
        self.assertGreater(sum(map(self.check, traces)), 10_000)

    def test_filters_pass_what_sql_passes(self):
        utc = datetime.timezone.utc
        begin = datetime.datetime(2026, 3, 2, 9, 0, 3, 500000, utc)
        ns = int(begin.timestamp()) * 10**9 + 500_000_000
        start = 1772442000000000000
        dns, thread, shop = "Microsoft-Windows-DNS-Client", "Kernel-Thread", "Example.Shop.Checkout"
        cases = [
            (dns, {"event": 3008}, "event_id = 3008"),
            (dns, {"event": ["3008", "DnsNameError"]}, "event_id = 3008 OR event_name = 'DnsNameError'"),
            (dns, {"level": "warning"}, "level <= 3"),
            (dns, {"level": 4}, "level <= 4"),
            (dns, {"keywords": 0x8000000000000000}, "keywords = 0 OR keywords < 0"),
            (thread, {"event": "Thread/CSw*", "cpu": 1}, "event_name LIKE 'Thread/CSw%' AND cpu = 1"),
            (thread, {"cpu": "0,2-3"}, "cpu IN (0, 2, 3)"),
            (thread, {"level": 5}, "level <= 5"),
            (dns, {"pid": "Shop.exe"}, "lower(process_name) = 'shop.exe'"),
            (dns, {"pid": ["1320", "x*"]}, "process_id = 1320 OR lower(process_name) LIKE 'x%'"),
            (shop, {"start": begin}, f"timestamp_ns >= {ns}"),
            (shop, {"end": "2026-03-02T09:00:03.5Z"}, f"timestamp_ns < {ns}"),
            (shop, {"start": datetime.timedelta(seconds=2), "end": "+3500ms"}, f"timestamp_ns BETWEEN {start + 2 * 10**9} AND {ns - 1}"),
            (shop, {"start": pandas.Timestamp(ns, tz="UTC"), "end": pandas.Timestamp("2026-03-02 09:00:05")}, f"timestamp_ns BETWEEN {ns} AND {start + 5 * 10**9 - 1}"),
        ]  # fmt: skip
        out = support.convert([support.EXAMPLE], support.temporary_folder("filters"))
        folder = support.dataset(out, support.EXAMPLE)
        threads = of_files(folder, dns, columns="thread_id").column(0).to_pylist()
        cases.append((dns, {"tid": threads[0]}, f"thread_id = {threads[0]}"))
        passed = []
        for dataset, filters, condition in cases:
            columns = ["seq", "timestamp_ns", "event_id", "event_name"]
            expected = of_files(folder, dataset, condition, ", ".join(columns[1:])).to_pylist()
            for path in (support.EXAMPLE, folder):
                found = table_of(etl2parquet.open(path).events(dataset, select=columns[1:], **filters)).to_pylist()
                self.assertEqual(found, expected, (path, dataset, filters))
            passed.append(len(expected))
        self.assertEqual([count for count, case in zip(passed, cases) if count == 0 and case[1] not in ({"level": 5}, {"level": "warning"})], [])

    def test_filters_of_real_traces_pass_what_sql_passes(self):
        corpus, passed = support.corpus_or_skip(), 0
        for name in TRACES:
            trace = os.path.join(corpus, name + ".etl")
            folder = support.dataset(support.convert([trace], support.temporary_folder("filters")), trace)
            opened = [etl2parquet.open(trace), etl2parquet.open(folder)]
            for dataset in sorted(opened[0].datasets, key=lambda name: -opened[0].datasets[name].events)[:3]:
                rows = of_files(folder, dataset, columns="process_id, process_name, thread_id, cpu, event_name, level, timestamp_ns")

                def most(column, rows=rows):
                    found = [value for value in rows.column(column).to_pylist() if value is not None]
                    return statistics.mode(found) if found else None

                cases = [
                    (name, most(column), column)
                    for name, column in (("pid", "process_id"), ("pid", "process_name"), ("tid", "thread_id"), ("cpu", "cpu"), ("event", "event_name"))
                ]
                filters = [({name: value}, f"{column} = {value}" if isinstance(value, int) else f"lower({column}) = lower({engines.literal(value)})") for name, value, column in cases if value is not None]
                level, middle = most("level"), sorted(rows.column("timestamp_ns").to_pylist())[rows.num_rows // 2]
                if level:
                    filters.append(({"level": level}, f"level <= {level}"))
                text = f"{datetime.datetime.fromtimestamp(middle // 10**9, datetime.timezone.utc):%Y-%m-%dT%H:%M:%S}.{middle % 10**9:09}Z"
                filters += [({"start": text}, f"timestamp_ns >= {middle}"), ({"end": text}, f"timestamp_ns < {middle}")]
                for given, condition in filters:
                    columns = ["timestamp_ns", "ticks", "cpu", "event_id", "event_name", "process_id", "thread_id"]
                    expected = of_files(folder, dataset, condition, ", ".join(columns)).to_pylist()
                    for one in opened:
                        self.assertEqual(table_of(one.events(dataset, select=columns, **given)).to_pylist(), expected, (one, dataset, given))
                    passed += len(expected)
        self.assertGreater(passed, 10_000)

    def test_keyword_names_are_those_of_the_schemas(self):
        corpus = support.corpus_or_skip()
        trace = os.path.join(corpus, "dotnetperf-gccollectonly.etl")
        out = support.convert([trace], support.temporary_folder("keywords"))
        folder, dataset = support.dataset(out, trace), "Microsoft-Windows-DotNETRuntime"
        condition = "keywords = 0 OR shape IN (SELECT shape FROM read_parquet({}) WHERE list_contains(keyword_names, 'GCKeyword'))"
        condition = condition.format(engines.literal(os.path.join(folder, "sidecar", "catalog.parquet")))
        expected = of_files(folder, dataset, condition, "timestamp_ns, event_id, shape").to_pylist()
        self.assertGreater(len(expected), 0)
        for path in (trace, folder):
            rows = etl2parquet.open(path).events(dataset, select=["timestamp_ns", "event_id", "shape"], keywords="GCKeyword")
            self.assertEqual(table_of(rows).to_pylist(), expected)

    def test_columns_come_in_the_order_asked_for(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("columns"))
        for path in (support.EXAMPLE, support.dataset(out, support.EXAMPLE)):
            trace = etl2parquet.open(path)
            rows = trace.events("Kernel-DiskIo", select=("TransferSize", "timestamp", "cpu"))
            self.assertEqual(table_of(rows).column_names, ["TransferSize", "timestamp", "cpu"])
            for wrong, hint in (({"dataset": "Kernel-Disk"}, "Kernel-DiskIo"), ({"dataset": "Kernel-DiskIo", "select": ["transfersize"]}, "TransferSize")):
                with self.assertRaisesRegex(etl2parquet.UsageError, f"did you mean {hint}"):
                    trace.events(**wrong)
            with self.assertRaisesRegex(etl2parquet.UsageError, "did you mean processes"):
                trace.table("process")

    def test_tables_are_those_of_the_sidecar(self):
        # What only a conversion counts.
        counted = {"rows", "ok_rows", "payload_bytes", "ties", "saturated_times", "double_formula_max_error_ns", "blake3"}
        out = support.convert([support.EXAMPLE], support.temporary_folder("tables"))
        folder = support.dataset(out, support.EXAMPLE)
        raw, converted = etl2parquet.open(support.EXAMPLE), etl2parquet.open(folder)
        self.assertEqual(len(raw.tables), 14)
        for name in raw.tables:
            file = os.path.join(folder, "sidecar", f"{name}.parquet")
            found = table_of(converted.table(name))
            if not os.path.exists(file):
                self.assertEqual((found.num_rows, table_of(raw.table(name)).num_rows), (0, 0))
                continue
            expected = pyarrow.parquet.ParquetFile(file).read()
            self.assertTrue(found.equals(expected), name)
            kept = [column for column in expected.column_names if column not in counted]
            self.assertTrue(table_of(raw.table(name)).select(kept).cast(expected.select(kept).schema).equals(expected.select(kept)), name)

    def test_everybody_reads_every_dataset(self):
        trace = etl2parquet.open(support.EXAMPLE)
        for name, dataset in trace.datasets.items():
            rows = trace[name]
            counts = [
                table_of(rows).num_rows,
                polars.DataFrame(rows).height,
                len(polars.from_arrow(rows)),
                rows.to_polars().height,
                len(rows.to_pandas()),
                sum(batch.num_rows for batch in pyarrow.RecordBatchReader.from_stream(rows)),
                len(duckdb.from_arrow(rows).fetchall()),
                duckdb.sql("SELECT count(*) FROM rows").fetchall()[0][0],
            ]
            self.assertEqual(set(counts), {dataset.events}, name)


class Failures(unittest.TestCase):
    def test_a_failure_is_an_exception_with_what_is_known(self):
        path = os.path.join(support.temporary_folder("failures"), "no.etl")
        with open(path, "wb") as file:
            file.write(b"no trace at all" * 100)
        with self.assertRaises(etl2parquet.InputError) as caught:
            etl2parquet.open(path)
        error = caught.exception
        self.assertEqual((error.file, error.code, error.buffer), (path, "not_a_trace", None))
        self.assertTrue(error.hint)
        with self.assertRaises(etl2parquet.InputError) as caught:
            etl2parquet.convert(path, os.path.dirname(path))
        self.assertEqual((caught.exception.code, caught.exception.file), ("not_a_trace", path))
        self.assertEqual((caught.exception.summary.exit_code, caught.exception.summary["no"].status), (3, "quarantined"))
        with self.assertRaises(etl2parquet.UsageError):
            etl2parquet.open(support.EXAMPLE, threads=0)
        with self.assertRaises(TypeError):
            etl2parquet.open(support.EXAMPLE, threads=object())
        with self.assertRaisesRegex(etl2parquet.UsageError, "expected one trace, found 2"):
            etl2parquet.open(two_traces())

    def test_checks_and_other_runs_keep_traces_back(self):
        folder = support.temporary_folder("checks")
        with self.assertRaises(etl2parquet.RefusedError) as caught:
            etl2parquet.convert(support.EXAMPLE, folder, max_loss=0)
        self.assertEqual(caught.exception.summary["example"].status, "gated")
        etl2parquet.convert(support.EXAMPLE, folder)
        with self.assertRaises(etl2parquet.OutputError) as caught:
            etl2parquet.convert(support.EXAMPLE, folder)
        self.assertEqual(caught.exception.code, "output_exists")
        with self.assertRaisesRegex(etl2parquet.UsageError, "converted"):
            etl2parquet.open(support.dataset(folder, support.EXAMPLE), raw="always")

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_trace_of_another_process_is_refused(self):
        trace = etl2parquet.open(support.EXAMPLE)
        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        child = context.Process(target=lambda: results.put(failure_of(lambda: table_of(trace["WPP"]))))
        child.start()
        self.assertIn("opened in another process", results.get())
        child.join()

    @unittest.skipUnless(hasattr(os, "fork"), "no fork")
    def test_a_forked_process_works_by_itself(self):
        folder, traces = support.temporary_folder("forked"), two_traces()

        def work(name):
            out = etl2parquet.convert(traces, os.path.join(folder, name)).output
            trace = etl2parquet.open(support.EXAMPLE)
            views = etl2parquet.views(out)
            return table_of(trace["Kernel-DiskIo"]).num_rows, len(views), len(etl2parquet.verify(out).findings), len(etl2parquet.report(os.path.join(out, "trace=a")))

        context = multiprocessing.get_context("fork")
        results = context.SimpleQueue()
        expected = work("parent")
        child = context.Process(target=lambda: results.put(work("child")))
        child.start()
        child.join(60)
        child.kill()
        self.assertEqual(child.exitcode, 0)
        found = results.get()
        self.assertEqual((found[0], found[2]), (expected[0], expected[2]))

    def test_damage_of_any_kind_is_no_abort(self):
        with open(support.EXAMPLE, "rb") as file:
            good = file.read()
        numbers, opened = random.Random(7), 0
        path = os.path.join(support.temporary_folder("damage"), "flipped.etl")
        for _ in range(60):
            bad = bytearray(good)
            for _ in range(numbers.randrange(1, 40)):
                bad[numbers.randrange(len(bad))] = numbers.randrange(256)
            with open(path, "wb") as file:
                file.write(bad[: numbers.choice([len(bad), numbers.randrange(len(bad))])])
            try:
                trace = etl2parquet.open(path)
                for name in trace.datasets:
                    table_of(trace[name])
                opened += 1
            except (etl2parquet.InputError, etl2parquet.UsageError):
                pass
        self.assertGreater(opened, 5)


def failure_of(work):
    try:
        work()
    except Exception as error:
        return str(error)
    return "no failure"


def two_traces():
    folder = support.temporary_folder("two")
    for name in ("a.etl", "b.etl"):
        with open(support.EXAMPLE, "rb") as source, open(os.path.join(folder, name), "wb") as target:
            target.write(source.read())
    return folder


class Runs(unittest.TestCase):
    def test_a_conversion_writes_what_the_command_writes(self):
        inputs = two_traces()
        folder = support.temporary_folder("runs")
        by_command = support.convert([inputs], os.path.join(folder, "command"), "--provider", "Kernel-*,WPP", "--raw", "always")
        with self.assertLogs("etl2parquet", logging.INFO) as said:
            summary = etl2parquet.convert(
                [inputs], os.path.join(folder, "python"), provider=["Kernel-*", "WPP"], raw="always",
                summary=os.path.join(folder, "summary.json"), metrics=os.path.join(folder, "metrics.prom"),
            )  # fmt: skip
        self.assertIn("a: published, 1,219 events, lost: 3 events, 0 buffers", "\n".join(said.output))
        self.assertEqual((summary.exit_code, [one.status for one in summary.traces]), (0, ["published"] * 2))
        for name in ("a", "b"):
            one, other = (os.path.join(out, f"trace={name}") for out in (by_command, summary.output))
            unlike = [path for path in support.differences(one, other) if not path.endswith("manifest.json")]
            self.assertEqual(unlike, [])
            self.assertEqual(support.manifest(one)["options_hash"], support.manifest(other)["options_hash"])
        with open(os.path.join(folder, "summary.json"), encoding="utf-8") as file:
            self.assertEqual(json.load(file), summary.document)
        with open(os.path.join(folder, "metrics.prom"), encoding="utf-8") as file:
            self.assertIn('etl2parquet_run_traces{status="published"} 2', file.read())
        self.assertEqual(etl2parquet.verify(summary.output).findings, ())
        self.assertEqual(etl2parquet.views(summary.output), support.run("views", summary.output).stdout)

    def test_steps_write_what_a_conversion_writes(self):
        folder = support.temporary_folder("steps")
        whole = support.convert([support.EXAMPLE], os.path.join(folder, "whole"))
        [planned] = etl2parquet.plan(support.EXAMPLE, os.path.join(folder, "steps"))
        rows = [etl2parquet.convert_partition(planned.folder, number, threads=1) for number in range(planned.partitions)]
        self.assertEqual((sum(rows), etl2parquet.convert_partition(planned.folder, 0)), (1219, None))
        done = etl2parquet.commit(planned.folder, run_id="nightly 7")
        self.assertEqual((done.status, etl2parquet.commit(planned.folder).status), ("published", "already_committed"))
        ahead = [etl2parquet.plan(support.EXAMPLE, os.path.join(folder, "ahead"), stretch=(number, 3)) for number in (2, 0, 1)]
        self.assertEqual([(one.folder, one.partitions, one.status) for [one] in ahead], [(None, 0, "surveyed")] * 3)
        [joined] = etl2parquet.plan(support.EXAMPLE, os.path.join(folder, "ahead"))
        self.assertEqual((os.path.basename(joined.folder), joined.partitions), (os.path.basename(planned.folder), planned.partitions))
        with self.assertRaises(etl2parquet.UsageError):
            etl2parquet.plan(support.EXAMPLE, os.path.join(folder, "ahead"), stretch=(3, 3))
        unlike = support.differences(support.dataset(whole, support.EXAMPLE), done.folder)
        self.assertEqual([path for path in unlike if not path.endswith("manifest.json")], [])
        self.assertEqual(support.manifest(done.folder)["run"]["id"], "nightly 7")

    def test_progress_is_told_and_what_it_raises_ends_the_work(self):
        trace = support.synthetic(1_300_000)
        told = []
        etl2parquet.convert(trace, support.temporary_folder("progress"), progress=told.append)
        self.assertLessEqual({one.stage for one in told}, {"survey", "plan", "convert", "publish"})
        self.assertTrue(any(one.stage == "convert" and 0 < one.done <= one.total for one in told), told)
        out = support.temporary_folder("ended")

        def end(one):
            raise KeyError("enough")

        begun = time.monotonic()
        with self.assertRaisesRegex(KeyError, "enough"):
            etl2parquet.convert(trace, out, progress=end)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual([name for name in os.listdir(out) if name.startswith("trace=")], [])

    def interrupt(self, script, *arguments):
        """Starts a script and presses Ctrl-C once it says that it has begun; returns what it says, and how long it took then."""
        process = support.with_package(script, *arguments)
        self.assertEqual(process.stdout.readline(), "begun\n", process)
        time.sleep(0.3)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err, time.monotonic() - begun

    @unittest.skipIf(sys.platform == "win32", "signals")
    def test_ctrl_c_ends_a_conversion_and_a_stream(self):
        trace = support.synthetic(1_300_000)
        out = support.temporary_folder("interrupted")
        code, _, err, seconds = self.interrupt(
            "import sys, etl2parquet\nprint('begun', flush=True)\nfor _ in range(100): etl2parquet.convert(sys.argv[1], sys.argv[2], if_exists='replace')",
            trace, out,
        )  # fmt: skip
        self.assertIn("KeyboardInterrupt", err)
        self.assertLess(seconds, 3)
        self.assertEqual(code, -signal.SIGINT)
        script = (
            "import sys, time, etl2parquet, pyarrow\n"
            "trace = etl2parquet.open(sys.argv[1])\n"
            "name = max(trace.datasets, key=lambda name: trace.datasets[name].events)\n"
            "print('begun', flush=True)\n"
            "try:\n"
            "    try:\n"
            "        while True: pyarrow.table(trace[name])\n"
            # What C knows of is an error; Python's own exception follows where Python goes on.
            "    except pyarrow.ArrowInvalid: time.sleep(1)\n"
            "except KeyboardInterrupt: print('interrupted')"
        )
        code, said, err, seconds = self.interrupt(script, trace)
        self.assertEqual((code, said), (0, "interrupted\n"), err)
        self.assertLess(seconds, 3)


class Questions(unittest.TestCase):
    def test_every_source_answers_the_same(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("sql"))
        folder = support.dataset(out, support.EXAMPLE)
        question = "SELECT provider, event_name, count(*) AS n FROM all_events GROUP BY ALL ORDER BY ALL"
        expected = json.loads(support.run("query", folder, question, "--json", "--duckdb", duckdb_program()).stdout)
        for source in (support.EXAMPLE, out, folder, etl2parquet.open(support.EXAMPLE), etl2parquet.open(folder)):
            found = etl2parquet.sql(source, question)
            self.assertEqual([dict(zip(found.columns, row)) for row in found.fetchall()], expected)
            with etl2parquet.connect(source) as connection:
                self.assertEqual([dict(zip(found.columns, row)) for row in connection.sql(question).fetchall()], expected)
        self.assertEqual(etl2parquet.sql(folder, 'SELECT count(*) FROM "Kernel-Process/Process/Start"').fetchall(), [(1,)])
        with self.assertRaises(ValueError):
            etl2parquet.sql(folder, question, provider="WPP")

    def test_a_report_is_the_page_of_the_command(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("report"))
        folder, page = support.dataset(out, support.EXAMPLE), os.path.join(support.temporary_folder("page"), "page.html")
        expected = support.run("report", folder, "-o", "-").stdout
        self.assertEqual(etl2parquet.report(folder, page), expected)
        with open(page, encoding="utf-8", newline="") as file:
            self.assertEqual(file.read(), expected)

    def test_an_export_is_that_of_the_command(self):
        folder = support.temporary_folder("exported")
        for options in ({"format": "pcapng", "packets": "events"}, {"format": "timeline-jsonl", "fields": "ecs"}, {"format": "timeline", "fields": "ocsf"}):
            file, other = os.path.join(folder, "library"), os.path.join(folder, "command")
            etl2parquet.export(support.EXAMPLE, out=file, **options)
            words = [word for name, value in options.items() for word in (f"--{name}", value)]
            done = support.run("export", support.EXAMPLE, *words, "-o", other, "-q")
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(file, "rb") as one, open(other, "rb") as two:
                self.assertEqual(one.read(), two.read(), options)

    def test_what_was_converted_for_a_question_goes(self):
        temporary = support.temporary_folder("temporary")
        script = (
            "import etl2parquet, glob, gc, os, sys\n"
            "relation = etl2parquet.sql(sys.argv[1], 'FROM processes')\n"
            "assert len(os.listdir(os.environ['TMPDIR'])) == 1\n"
            "assert len(relation.fetchall()) == 8\n"
            "del relation; gc.collect()\n"
            "print(os.listdir(os.environ['TMPDIR']))"
        )
        process = support.with_package(script, support.EXAMPLE, variables={"TMPDIR": temporary})
        self.assertEqual(process.communicate(timeout=60), ("[]\n", ""))


MANIFEST = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="Example-Package" guid="{6f2f7a5e-0d7c-4d43-9d1c-3e9a4c1f7b11}" symbol="P" resourceFileName="p" messageFileName="p">
<events><event value="7" version="0" symbol="Started" template="T"/></events>
<templates><template tid="T"><data name="Id" inType="win:UInt32"/></template></templates>
</provider></events></instrumentation></instrumentationManifest>"""


class Schemas(unittest.TestCase):
    def test_functions_say_what_the_commands_say(self):
        folder = support.temporary_folder("schemas")
        file, store = os.path.join(folder, "p.man"), os.path.join(folder, "store")
        with open(file, "w", encoding="utf-8") as opened:
            opened.write(MANIFEST)

        def printed(*arguments):
            return json.loads(support.run("schema", *arguments, "--store", store).stdout)

        schema = etl2parquet.schema
        imported = schema.import_files(file, store=store)
        self.assertEqual((imported.files, imported.events, imported.new, imported.stored, imported.store), (1, 1, 1, 1, store))
        self.assertEqual(schema.import_files([file], store=store).new, 0)
        self.assertEqual(schema.providers("Kernel-*", "Example-Package", store=store), printed("list", "--provider", "Kernel-*", "--provider", "Example-Package", "--json")["providers"])
        self.assertEqual(schema.show("example-package", 7, store=store), printed("show", "Example-Package", "7", "--json")["providers"])
        self.assertEqual(schema.show("Kernel-DiskIo", no_store=True), printed("show", "Kernel-DiskIo", "--json")["providers"])
        self.assertEqual(schema.export(store=store), printed("export"))
        facts = os.path.join(folder, "facts.json")
        with open(facts, "w", encoding="utf-8") as opened:
            json.dump(schema.export(store=store), opened)
        self.assertEqual(schema.import_files(facts, store=store).new, 1)
        etl2parquet.convert(support.EXAMPLE, os.path.join(folder, "searched"))
        searched = schema.import_files(of=os.path.join(folder, "searched"), symbol_path=folder, store=store)
        self.assertEqual((searched.files, searched.new, searched.stored), (0, 0, 2), "the example lacks no formats")
        found = schema.imports(store=store)
        self.assertEqual([vars(file) | {"providers": list(file.providers)} for file in found], printed("imports", "--json")["files"])
        self.assertEqual([(file.origin, file.kind, file.events) for file in found], [("facts.json", "facts", 1), ("p.man", "manifest", 1)])
        harvested = schema.harvest(support.EXAMPLE, store=os.path.join(folder, "one"))
        self.assertEqual((harvested.traces, harvested.skipped), (1, ()))
        self.assertGreater(harvested.new, 0)
        self.assertEqual(schema.harvest([support.EXAMPLE], store=os.path.join(folder, "one")).new, 0)
        converted = schema.harvest(support.convert([support.EXAMPLE], os.path.join(folder, "converted")), store=os.path.join(folder, "other"))
        self.assertEqual((converted.providers, converted.layouts), (harvested.providers, harvested.layouts))
        with self.assertRaisesRegex(etl2parquet.UsageError, "nothing in the schema store is called q.man"):
            schema.remove("q.man", store=store)
        self.assertEqual(schema.remove("FACTS.*", store=store).removed, ("facts.json",))
        self.assertEqual([file.origin for file in schema.imports(store=store)], ["p.man"])
        with self.assertRaisesRegex(etl2parquet.UsageError, "nothing is known of a provider Example-Package"):
            schema.show("Example-Package", no_store=True)
        out = support.convert([support.EXAMPLE], os.path.join(folder, "out"))
        text = schema.lock(out, os.path.join(folder, "python.lock"))
        support.run("schema", "lock", out, "-o", os.path.join(folder, "command.lock"))
        with open(os.path.join(folder, "command.lock"), encoding="utf-8") as one, open(os.path.join(folder, "python.lock"), encoding="utf-8") as other:
            self.assertEqual((one.read(), other.read()), (text, text))
        self.assertIn("Example.Shop.Checkout", text)


def duckdb_program():
    return os.path.join(os.path.dirname(support.python()), "duckdb")


class Threads(unittest.TestCase):
    def test_threads_open_read_and_drop_at_random(self):
        seconds = float(os.environ.get("ETL2PARQUET_THREADS_SECONDS", "8"))
        until, failures, reads = time.monotonic() + seconds, [], []

        def work(seed):
            numbers = random.Random(seed)
            try:
                while time.monotonic() < until:
                    trace = etl2parquet.open(support.EXAMPLE, threads=numbers.choice([1, 2]))
                    for _ in range(numbers.randrange(6)):
                        name = numbers.choice(list(trace.datasets))
                        reader = pyarrow.RecordBatchReader.from_stream(trace[name])
                        if numbers.random() < 0.5:
                            reads.append(sum(batch.num_rows for batch in reader) == trace.datasets[name].events)
                        del reader
                        if numbers.random() < 0.1:
                            etl2parquet.convert(support.EXAMPLE, support.temporary_folder("t"), provider="WPP", threads=1)
            except BaseException as error:
                failures.append(error)

        before = threads_of_process()
        threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(seconds + 120)
        self.assertEqual([thread for thread in threads if thread.is_alive()], [])
        self.assertEqual((failures, set(reads)), ([], {True}))
        ended = time.monotonic() + 10
        while threads_of_process() > before and time.monotonic() < ended:
            time.sleep(0.05)
        self.assertLessEqual(threads_of_process(), before)


def threads_of_process():
    return len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0


if __name__ == "__main__":
    unittest.main()

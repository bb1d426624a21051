"""All traces of the corpus in one folder: every provider reads as one table, in every engine and whatever the options."""

import concurrent.futures
import json
import os
import subprocess
import unittest

import engines
import support
from pyarrow import parquet

# Engines that read every table as one; the checker knows them by these names.
ENGINES = ("duckdb", "polars", "pyarrow", "iceberg", "delta")

# Checks at a time, and how many of the largest datasets Spark reads, for which a table takes seconds.
WORKERS = 2
LARGEST = 10

# Lakes that are no default have names and types of it, which a test here shows: two engines read them. With
# ETL2PARQUET_WHOLE_LAKE=1, as `scripts/night` sets it, all do, and Iceberg all files of a provider with one folder for each event:
# it copies for every file all schemas that the table has had, so that a provider of a hundred events with 400 columns takes minutes.
WHOLE = bool(os.environ.get("ETL2PARQUET_WHOLE_LAKE"))
BRIEF = ("duckdb", "pyarrow")

# What a lake may be converted with. None of it changes a column's name or type.
OPTIONS = {
    "default": (),
    "declared": ("--columns", "declared"),
    "event": ("--layout", "event"),
}


class Lake(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        cls.corpus = corpus
        cls.outs = {}
        for name, flags in OPTIONS.items():
            cls.outs[name] = support.temporary_folder(f"lake-{name}")
            done = support.run("convert", corpus, "-o", cls.outs[name], "--name-from", "path", "--quiet", *flags)
            # Some traces are damaged, some no traces at all.
            if done.returncode not in (0, 4):
                raise AssertionError(f"{name}: exit {done.returncode}\n{done.stderr}")
        pool = concurrent.futures.ThreadPoolExecutor(WORKERS)
        cls.addClassCleanup(pool.shutdown, cancel_futures=True)
        cls.checks = {}
        for name, flags in [(name, ()) for name in OPTIONS] + [("event", ("--folders",))]:
            for engine in ENGINES if WHOLE or name == "default" else BRIEF:
                check = pool.submit(cls.run_checker, cls.outs[name], f"--{engine}", *flags)
                cls.checks.setdefault((name, flags), {})[engine] = check

    @classmethod
    def run_checker(cls, out, *flags):
        command = support.checker(cls.corpus, "check_lake.py", out, *flags)
        environment = dict(os.environ, SPARK_LOCAL_IP="127.0.0.1")
        return subprocess.run(
            command, capture_output=True, text=True, timeout=support.TIMEOUT_S, check=False, env=environment
        )

    def judge(self, done):
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        *rows, last = done.stdout.splitlines()
        self.assertTrue(rows[0].startswith("traces: ") and last.startswith("findings: "), done.stdout)
        self.assertEqual(rows[2:], [])

    def check(self, name, *flags):
        for engine, check in self.checks[name, flags].items():
            with self.subTest(options=name, engine=engine):
                self.judge(check.result())

    def test_every_provider_is_one_table(self):
        self.check("default")

    def test_every_provider_is_one_table_with_all_declared_columns(self):
        self.check("declared")

    def test_all_declared_columns_of_a_provider_are_the_same_in_every_trace(self):
        schemas = {}
        for (trace, provider), columns in tables(self.outs["declared"]).items():
            schemas.setdefault(provider, {}).setdefault(tuple(columns), trace)
        known = settled() & set(schemas)
        self.assertGreater(len(known), 30)
        several = {provider: list(schemas[provider].values()) for provider in known if len(schemas[provider]) > 1}
        self.assertEqual(several, {})

    def test_every_provider_is_one_table_of_events(self):
        self.check("event")

    def test_every_event_is_one_table(self):
        self.check("event", "--folders")

    def test_spark_reads_the_largest_providers_as_one_table(self):
        engines.require_java()
        self.judge(self.run_checker(largest(self.outs["default"], LARGEST), "--spark"))

    def test_options_change_no_name_and_no_type(self):
        expected = columns(self.outs["declared"])
        self.assertGreater(len(expected), 1000)
        for name in ("default", "event"):
            with self.subTest(options=name):
                found = columns(self.outs[name])
                self.assertEqual({key: kind for key, kind in found.items() if expected.get(key) != kind}, {})


def largest(out, count):
    """A folder with the providers of most rows alone, and what the sidecar says of their events."""
    rows = {}
    for trace in sorted(os.listdir(out)):
        for table, number in support.tables(os.path.join(out, trace)).items():
            rows[table] = rows.get(table, 0) + number
    kept = set(sorted(rows, key=lambda table: (-rows[table], table))[:count])
    return part_of(out, "lake-largest", [path for path in event_files(out) if path.split(os.sep)[2] in kept])


def event_files(out):
    return [path for path in support.files_below(out) if path.split(os.sep)[1] == "events"]


def part_of(out, name, kept):
    """A folder with some files below `events`, and the tables of the sidecar that tell of events."""
    folder = support.temporary_folder(name)
    told = [path for path in support.files_below(out) if os.path.basename(path) in ("catalog.parquet", "fields.parquet")]
    for path in kept + told:
        os.makedirs(os.path.dirname(os.path.join(folder, path)), exist_ok=True)
        os.link(os.path.join(out, path), os.path.join(folder, path))
    return folder


def settled():
    """The datasets of providers and classes of which the built-in schemas know events."""
    listed = json.loads(support.run("schema", "list", "--no-store", "--json").stdout)
    return {provider["name"] for provider in listed["providers"] if provider.get("events")}


def tables(out):
    """Names and types of the columns of every table, in order, by trace and folder below `events`."""
    found = {}
    for path in support.files_below(out):
        trace, part, *folder, _ = path.split(os.sep)
        if part == "events":
            schema = parquet.read_schema(os.path.join(out, path))
            found[trace, os.path.join(*folder)] = [(field.name, str(field.type)) for field in schema]
    return found


def columns(out):
    """The types of the columns of every provider of every trace, by trace, provider and name."""
    return {
        (trace, folder.split(os.sep)[0], name): kind
        for (trace, folder), columns in tables(out).items()
        for name, kind in columns
    }

"""The DuckDB extension: its rows held against Parquet files of a conversion, which DuckDB reads by itself, in both versions that are here."""

import glob
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
import unittest

import duckdb

import support

EXTENSION = os.path.join(support.package(), "etl2parquet", "etl2parquet.duckdb_extension")

import etl2parquet  # noqa: E402: it is importable from here on
import etl2parquet.duckdb  # noqa: E402

# Kernel events with stacks, those of manifests, those of .NET, those that describe themselves, and what no schema describes.
TRACES = ["tx-KernelNetwork", "filtrace-diskio", "dotnetperf-gccollectonly", "tx-HTTP_Server", "pyetwkit-sample"]
DNS = "Microsoft-Windows-DNS-Client"


def connected():
    """A connection of DuckDB 2.0 that has the extension."""
    connection = etl2parquet.duckdb.load()
    connection.execute("SET TimeZone = 'UTC'")
    return connection


def older(*statements):
    """What the program of DuckDB 1.5 answers to the last of some statements, with the same binary loaded."""
    program = os.path.join(os.path.dirname(support.python()), "duckdb")
    command = [program, "-unsigned", "-json", "-c", f"LOAD '{EXTENSION}'; SET TimeZone = 'UTC'; {'; '.join(statements)}"]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout or "[]")


def text(value):
    """A text of SQL."""
    return "'" + str(value).replace("'", "''") + "'"


def converted(trace):
    """The folder of a trace, converted."""
    return support.dataset(support.convert([trace], support.temporary_folder("duckdb"), "--schemas", "none"), trace)


def files(folder, table):
    """The rows of a table as DuckDB reads its files."""
    found = sorted(glob.glob(os.path.join(glob.escape(folder), *table.split("/"), "*.parquet")) or [os.path.join(folder, table + ".parquet")])
    return f"read_parquet([{', '.join(map(text, found))}], hive_partitioning = false)"


def corpus_traces():
    corpus = support.corpus_or_skip()
    if os.environ.get("ETL2PARQUET_WHOLE_PACKAGE") == "1":
        return sorted(glob.glob(os.path.join(glob.escape(corpus), "**", "*.etl"), recursive=True))
    return [os.path.join(corpus, name + ".etl") for name in TRACES]


class Extension(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.connection = connected()

    def rows(self, statement):
        return self.connection.execute(statement).fetchall()

    def same(self, one, other):
        """Two tables have the same columns, of the same types, with the same rows; returns how many these are."""
        described = [[column[:2] for column in self.rows(f"DESCRIBE FROM {table}")] for table in (one, other)]
        self.assertEqual(*described, one)
        for left, right in ((one, other), (other, one)):
            self.assertEqual(self.rows(f"SELECT count(*) FROM (FROM {left} EXCEPT ALL FROM {right})"), [(0,)], (left, right))
        return self.rows(f"SELECT count(*) FROM {one}")[0][0]

    def check(self, trace):
        """Every dataset and table of a trace, and what all events have."""
        folder, count = converted(trace), 0
        for dataset, provider, events in self.rows(f"FROM etl_datasets({text(trace)}, schemas := 'none')"):
            found = self.same(f"read_etl({text(trace)}, dataset := {text(dataset)}, schemas := 'none')", files(folder, f"events/{dataset}"))
            self.assertEqual(found, events, (dataset, provider))
            count += found
        common = [name for name, *_ in self.rows(f"DESCRIBE FROM {text(trace)}")]
        lake = duckdb.connect()
        lake.execute("SET TimeZone = 'UTC'")
        lake.execute(support.run("views", folder).stdout)
        self.assertEqual(common, [name for name, *_ in lake.execute("DESCRIBE all_events").fetchall() if name != "trace"])
        digest = f"SELECT provider, count(*), sum(hash(timestamp_ns, seq, cpu, process_id, event_name, keywords, stack)::HUGEINT) FROM {{}} GROUP BY 1 ORDER BY 1"
        all_events = self.rows(digest.format(f"read_etl({text(trace)}, schemas := 'none')"))
        self.assertEqual(sum(events for _, events, _ in all_events), count)
        by_file = []
        for provider, *_ in all_events:
            source = f"(SELECT {text(provider)} AS provider, * EXCLUDE (provider) FROM {files(folder, f'events/{provider}')})"
            has_provider = "provider" in [name for name, *_ in self.rows(f"DESCRIBE FROM {files(folder, f'events/{provider}')}")]
            by_file += self.rows(digest.format(source if has_provider else source.replace(" EXCLUDE (provider)", "")))
        self.assertEqual(all_events, by_file)
        return count

    def test_the_example_has_the_rows_of_its_files(self):
        self.assertEqual(self.check(support.EXAMPLE), 1219)

    def test_real_traces_have_the_rows_of_their_files(self):
        self.assertGreater(sum(map(self.check, corpus_traces())), 90_000)

    def test_tables_are_those_of_the_sidecar(self):
        folder, names = converted(support.EXAMPLE), []
        for path in sorted(glob.glob(os.path.join(folder, "sidecar", "*.parquet"))):
            name = os.path.splitext(os.path.basename(path))[0]
            columns = self.rows(f"DESCRIBE FROM etl_table('{support.EXAMPLE}', '{name}')")
            self.assertEqual([column[:2] for column in columns], [column[:2] for column in self.rows(f"DESCRIBE FROM {files(folder, 'sidecar/' + name)}")], name)
            names.append(name)
        self.assertIn("lost_events", names)
        for name in ("lost_events", "processes", "threads", "images"):
            self.assertGreater(self.same(f"etl_table('{support.EXAMPLE}', '{name}')", files(folder, f"sidecar/{name}")), 0)

    def test_one_binary_serves_an_older_duckdb(self):
        folder = converted(support.EXAMPLE)
        for dataset in (DNS, "Kernel-Thread", "WPP"):
            one, other = f"read_etl('{support.EXAMPLE}', dataset := '{dataset}')", files(folder, f"events/{dataset}")
            self.assertEqual(older(f"SELECT count(*) AS n FROM (FROM {one} EXCEPT ALL FROM {other})"), [{"n": 0}])
            self.assertEqual(older(f"SELECT count(*) AS n FROM (FROM {other} EXCEPT ALL FROM {one})"), [{"n": 0}])
            self.assertEqual(older(f"SELECT column_name, column_type FROM (DESCRIBE FROM {one})"), older(f"SELECT column_name, column_type FROM (DESCRIBE FROM {other})"))
        self.assertEqual(older(f"SELECT count(*) AS n FROM '{support.EXAMPLE}'"), [{"n": 1219}])

    def test_filters_pass_what_sql_passes(self):
        ns = 1772442003500000000
        cases = [
            (DNS, "event := 3008", "event_id = 3008"),
            (DNS, "event := ['3008', 'DnsNameError']", "event_id = 3008 OR event_name = 'DnsNameError'"),
            (DNS, "level := 'information'", "level <= 4"),
            (DNS, "level := 4", "level <= 4"),
            ("Kernel-Thread", "pid := ['4', 'Shop.exe']", "process_id = 4 OR lower(process_name) = 'shop.exe'"),
            ("Kernel-Thread", "event := 'Thread/CSw*', cpu := 1", "event_name LIKE 'Thread/CSw%' AND cpu = 1"),
            ("Kernel-Thread", "cpu := [0, 2, 3]", "cpu IN (0, 2, 3)"),
            ("Example.Shop.Checkout", "start := TIMESTAMPTZ '2026-03-02 10:00:03.5+01'", f"timestamp_ns >= {ns}"),
            ("Example.Shop.Checkout", "\"end\" := TIMESTAMP '2026-03-02 09:00:03.5'", f"timestamp_ns < {ns}"),
            ("Example.Shop.Checkout", "start := '+2s', \"end\" := '2026-03-02T09:00:03.5Z'", f"timestamp_ns BETWEEN 1772442002000000000 AND {ns - 1}"),
        ]  # fmt: skip
        folder = converted(support.EXAMPLE)
        for dataset, filters, condition in cases:
            source = files(folder, f"events/{dataset}")
            found = self.rows(f"SELECT count(*), sum(seq) FROM read_etl('{support.EXAMPLE}', dataset := '{dataset}', {filters})")
            self.assertEqual(found, self.rows(f"SELECT count(*), sum(seq) FROM {source} WHERE {condition}"), filters)
            self.assertTrue(0 < found[0][0] < self.rows(f"SELECT count(*) FROM {source}")[0][0] or "level" in filters, filters)
        # Without a dataset they choose among all events.
        found = self.rows(f"SELECT provider, count(*) FROM read_etl('{support.EXAMPLE}', cpu := 1) GROUP BY ALL ORDER BY ALL")
        expected = self.rows(f"SELECT provider, count(*) FROM '{support.EXAMPLE}' WHERE cpu = 1 GROUP BY ALL ORDER BY ALL")
        self.assertEqual(found, expected)
        self.assertGreater(len(found), 3)

    def test_a_provider_names_its_dataset(self):
        by_name = self.rows(f"SELECT count(*), count(QueryName) FROM read_etl('{support.EXAMPLE}', provider := 'microsoft-windows-dns-client')")
        self.assertEqual(by_name, self.rows(f"SELECT count(*), count(QueryName) FROM read_etl('{support.EXAMPLE}', dataset := '{DNS}')"))
        self.assertEqual(by_name, self.rows(f"SELECT count(*), count(QueryName) FROM read_etl('{support.EXAMPLE}', provider := '*-dns-*')"))

    def test_columns_that_nobody_asks_for_are_not_read(self):
        plan = self.rows(f"EXPLAIN SELECT QueryName FROM read_etl('{support.EXAMPLE}', dataset := '{DNS}')")[0][1]
        self.assertIn("QueryName", plan)
        self.assertNotIn("event_id", plan)
        # In another order than declared, one of them twice, and none at all.
        source = f"read_etl('{support.EXAMPLE}', dataset := '{DNS}')"
        self.assertEqual(self.rows(f"SELECT QueryName, seq, QueryName FROM {source} WHERE QueryName IS NOT NULL ORDER BY seq LIMIT 1"), [("pay.example.com", 68, "pay.example.com")])
        self.assertEqual(self.rows(f"SELECT 1 FROM {source}"), [(1,)] * 73)

    def test_a_trace_may_be_named_more_than_once(self):
        source = f"read_etl('{support.EXAMPLE}', dataset := '{DNS}')"
        joined = self.rows(f"SELECT count(*) FROM {source} a JOIN {source} b USING (seq) JOIN '{support.EXAMPLE}' c USING (seq)")
        self.assertEqual(joined, [(73,)])
        statement = "EXECUTE counted"
        self.connection.execute(f"PREPARE counted AS SELECT count(*) FROM {source} WHERE seq > 0")
        self.assertEqual(self.rows(statement), self.rows(statement))

    def test_a_trace_that_was_replaced_is_read_anew(self):
        path = os.path.join(support.temporary_folder("replaced"), "TRACE's.ETL")
        shutil.copy(support.EXAMPLE, path)
        self.assertEqual(self.rows(f"SELECT count(*) FROM {text(path)}"), [(1219,)])
        with open(path, "r+b") as file:
            file.truncate(os.path.getsize(path) // 2)
        now = self.rows(f"SELECT count(*) FROM {text(path)}")[0][0]
        out = support.temporary_folder("damaged")
        self.assertEqual(support.run("convert", path, "-o", out).returncode, 4)
        written = support.manifest(support.dataset(out, path))["files"]
        self.assertEqual(now, sum(entry["rows"] for entry in written if entry["path"].startswith("events/")))
        damage = self.rows(f"SELECT code FROM etl_table({text(path)}, 'issues') ORDER BY ALL")
        self.assertIn(("truncated_buffer",), damage)
        self.assertLess(now, 1219)

    def test_what_cannot_be_read_is_an_error_of_sql(self):
        cases = [
            ("FROM 'absent.etl'", r"absent\.etl: there is no such file or folder"),
            (f"FROM read_etl({text(os.path.dirname(support.EXAMPLE))}, pid := 4, dataset := 'Foo')", r"the trace has no dataset Foo \(it has Microsoft-Windows-DNS-Client"),
            (f"FROM read_etl('{support.EXAMPLE}', dataset := 'Kernel-Threads')", r"did you mean Kernel-Thread\?"),
            (f"FROM read_etl('{support.EXAMPLE}', provider := 'Kernel-*')", r"Kernel-\* has 6 datasets, of which one is to be named by dataset \(it has Kernel-Image"),
            (f"FROM read_etl('{support.EXAMPLE}', provider := 'Nobody')", r"the trace has no events of Nobody"),
            (f"FROM read_etl('{support.EXAMPLE}', provider := 'a', dataset := 'b')", "expected a dataset or a provider, found both"),
            (f"FROM read_etl('{support.EXAMPLE}', level := 'loud')", "level=loud: expected critical"),
            (f"FROM read_etl('{support.EXAMPLE}', provoder := 'a')", 'Invalid named parameter "provoder"'),
            (f"FROM read_etl('{support.EXAMPLE}', guid := 'uuid')", 'Invalid named parameter "guid"'),
            (f"FROM etl_table('{support.EXAMPLE}', 'lost')", r"the sidecar has no table lost \(did you mean lost_events\?\)"),
            ("FROM read_etl(NULL)", "read_etl was called with NULL"),
            ("FROM read_etl('https://example.org/boot.etl')", r"expected a path of this system, found an address \(https://\)"),
            (f"FROM read_etl('{__file__}')", "is no trace|not a trace|expected"),
        ]  # fmt: skip
        for statement, expected in cases:
            with self.assertRaisesRegex(duckdb.Error, expected, msg=statement):
                self.rows(statement)
        self.assertEqual(self.rows("SELECT 42"), [(42,)])

    def test_every_option_of_opening_and_filtering_is_an_argument(self):
        options = {name for call, name, *_ in etl2parquet._native.all_options() if call in ("open", "rows")}
        statement = "SELECT unnest(parameters) FROM duckdb_functions() WHERE function_name = 'read_etl'"
        found = {name for (name,) in self.rows(statement)}
        self.assertEqual(options - found, {"guid", "timestamps"})
        self.assertEqual({name for name in found - options if not re.fullmatch(r"col\d+", name)}, {"dataset", "provider"})

    def test_a_connection_must_allow_it(self):
        with self.assertRaisesRegex(etl2parquet.UsageError, "allows no extension without a signature") as raised:
            etl2parquet.duckdb.load(duckdb.connect())
        self.assertIn("etl2parquet.duckdb.CONFIG", raised.exception.hint)


class Page(unittest.TestCase):
    def test_the_first_lines_of_the_page_print_what_it_says(self):
        """But for the build, whose outcome the wheel has."""
        with open(os.path.join(support.REPOSITORY, "docs", "duckdb.md"), encoding="utf-8") as file:
            [(lines, expected)] = re.findall(r"^```sh\n(.*?)^```\n\n```text\n(.*?)^```\n", file.read(), re.MULTILINE | re.DOTALL)
        build, *asking = lines.splitlines()
        self.assertEqual(build, "python3 duckdb/pack.py")
        folder = support.temporary_folder("page")
        os.symlink(os.path.join(support.REPOSITORY, "examples"), os.path.join(folder, "examples"))
        os.mkdir(os.path.join(folder, "target"))
        shutil.copy(EXTENSION, os.path.join(folder, "target"))
        environment = {**support.environment(), "PATH": os.path.dirname(support.python()) + os.pathsep + os.environ["PATH"]}
        done = subprocess.run(["sh", "-ec", "\n".join(asking)], cwd=folder, env=environment, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((done.stderr, done.stdout), ("", expected))


class Harm(unittest.TestCase):
    def test_damage_of_any_kind_is_no_crash(self):
        """In a process of its own, which would not come to its end."""
        folder = support.temporary_folder("damage")
        with open(support.EXAMPLE, "rb") as file:
            good = file.read()
        numbers = random.Random(11)
        for number in range(60):
            bad = bytearray(good)
            for _ in range(numbers.randrange(1, 40)):
                bad[numbers.randrange(len(bad))] = numbers.randrange(256)
            with open(os.path.join(folder, f"{number}.etl"), "wb") as file:
                file.write(bad[: numbers.choice([len(bad), numbers.randrange(len(bad))])])
        hostile = os.path.join(support.corpus_or_skip(), "..", "hostile")
        paths = sorted(glob.glob(os.path.join(folder, "*.etl")) + glob.glob(os.path.join(glob.escape(hostile), "*.etl")))
        script = (
            "import sys, duckdb, etl2parquet.duckdb\n"
            "connection, read, refused = etl2parquet.duckdb.load(), 0, 0\n"
            "for path in sys.argv[1:]:\n"
            "    try:\n"
            "        connection.execute('SELECT count(*), sum(hash(e)::HUGEINT) FROM read_etl(?) e', [path]).fetchall()\n"
            "        for (dataset,) in connection.execute('SELECT dataset FROM etl_datasets(?)', [path]).fetchall():\n"
            "            connection.execute('SELECT sum(hash(e)::HUGEINT) FROM read_etl(?, dataset := ?) e', [path, dataset]).fetchall()\n"
            "        read += 1\n"
            "    except duckdb.Error as error:\n"
            "        assert 'bug' not in str(error), error\n"
            "        refused += 1\n"
            "print(read, refused)"
        )
        process = support.with_package(script, *paths)
        out, err = process.communicate(timeout=300)
        self.assertEqual((process.returncode, err), (0, ""))
        read, refused = map(int, out.split())
        self.assertEqual(read + refused, len(paths))
        self.assertGreater(read, 5)
        self.assertGreater(refused, 0)

    def test_ctrl_c_ends_the_opening_and_the_reading(self):
        trace = support.synthetic(1_300_000)
        script = (
            "import sys, time, duckdb, etl2parquet.duckdb\n"
            "connection = etl2parquet.duckdb.load()\n"
            "print('begun', flush=True)\n"
            "try:\n"
            "    try:\n"
            "        while True: connection.execute(sys.argv[2], [sys.argv[1]]).fetchall()\n"
            # What has ended the query is told first, and then Python's own exception.
            "    except Exception: time.sleep(1)\n"
            "except KeyboardInterrupt: pass\n"
            "print('interrupted')\n"
            "print(connection.execute('SELECT count(*) FROM read_etl(?)', [sys.argv[3]]).fetchall())"
        )
        for statement in ("SELECT count(*) FROM etl_datasets(?)", "SELECT sum(hash(e)::HUGEINT) FROM read_etl(?) e"):
            process = support.with_package(script, trace, statement, support.EXAMPLE)
            self.assertEqual(process.stdout.readline(), "begun\n")
            time.sleep(0.7)
            begun = time.monotonic()
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
            self.assertLess(time.monotonic() - begun, 3)
            self.assertEqual((process.returncode, out), (0, "interrupted\n[(1219,)]\n"), err)


if __name__ == "__main__":
    unittest.main()

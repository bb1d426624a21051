"""Tables of Iceberg, Delta and DuckLake over a lake: what their own readers read is what the lake has, between any two commits, too."""

import contextlib
import datetime
import hashlib
import importlib.util
import json
import os
import shutil
import unittest
from unittest import mock

import deltalake
import duckdb
import polars
import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pyiceberg.catalog.sql import SqlCatalog

import engines
import support
from engines import literal, quoted

support.package()

import etl2parquet  # noqa: E402: it is importable from here on
from etl2parquet.tables import _files, _lake, _schema, _sync, _views, delta, ducklake, iceberg  # noqa: E402

TRACES = "sidecar/traces"
# Few tables of events, so that a test takes seconds; one that describes itself, and one with structures in lists.
PROVIDERS = ("--provider", "Kernel-DiskIo", "--provider", "Example.Shop.Checkout")


def made(lake, name, *flags, new=True):
    """Converts the example under a name and brings it into the lake; returns the folder that it was converted to."""
    inputs, out = support.temporary_folder("tables-in"), support.temporary_folder("tables-out")
    shutil.copy(support.EXAMPLE, os.path.join(inputs, f"{name}.etl"))
    support.convert([inputs], out, *(flags or PROVIDERS))
    compact(out, "-o", lake)
    return out


def compact(*arguments):
    done = support.run("compact", *arguments, "--quiet")
    if done.returncode != 0:
        raise AssertionError(done.stderr)


def lake_files(lake):
    """The files of each table by lake.json."""
    tables = {}
    with open(os.path.join(lake, "lake.json"), encoding="utf-8") as file:
        for one in json.load(file)["files"]:
            part, _, rest = one["path"].partition("/")
            table = "sidecar/manifests" if part == "manifests" else f"{part}/{rest.partition('/')[0]}"
            tables.setdefault(table, []).append(os.path.join(lake, one["path"]))
    return tables


def rows_of(lake):
    """How many rows each trace has in each table of a lake, as DuckDB counts them in the files."""
    with duckdb.connect() as connection:
        return {table: dict(connection.execute(f"SELECT trace, count(*) FROM read_parquet({files}) GROUP BY ALL").fetchall()) for table, files in lake_files(lake).items()}


class Iceberg:
    """A catalogue in SQLite."""

    name = "iceberg"

    def __init__(self):
        self.folder = support.temporary_folder("iceberg")
        uri = "sqlite:///" + os.path.join(self.folder, "catalog.db").replace("\\", "/")
        self.catalog = SqlCatalog("lab", uri=uri, warehouse="file://" + os.path.join(self.folder, "warehouse"))

    def sync(self, lake, **options):
        return iceberg.sync(self.catalog, lake, **options)

    def tables(self):
        return iceberg._IcebergTables(self.catalog, "etl_")

    def identifier(self, table):
        part, _, name = table.partition("/")
        return (f"etl_{part}", name)

    def opened(self, table):
        return self.catalog.load_table(self.identifier(table))

    def arrow(self, table, back=0):
        opened = self.opened(table)
        snapshots = sorted(opened.snapshots(), key=lambda one: one.timestamp_ms)
        return opened.scan(snapshot_id=snapshots[-1 - back].snapshot_id if snapshots else None).to_arrow()

    def polars(self, table):
        return polars.scan_iceberg(self.opened(table))

    def of_trace(self, table, trace):
        """Rows of a trace, and the files that were opened for them."""
        scan = self.opened(table).scan(row_filter=f"trace == '{trace}'")
        return scan.to_arrow().num_rows, len(list(scan.plan_files()))

    def type_of(self, table, column):
        return str(self.opened(table).schema().find_field(column).field_type)

    def interfere(self, table):
        """A change by somebody else."""
        self.opened(table).delete("trace == 'a'")

    def views(self):
        return iceberg.views(self.catalog)


class Delta:
    """A folder."""

    name = "delta"

    def __init__(self):
        self.folder = support.temporary_folder("delta")

    def sync(self, lake, **options):
        return delta.sync(lake, self.folder, **options)

    def tables(self):
        return delta._DeltaTables(self.folder)

    def opened(self, table, version=None):
        return deltalake.DeltaTable(os.path.join(self.folder, *table.split("/")), version=version)

    def arrow(self, table, back=0):
        return self.opened(table, self.opened(table).version() - back).to_pyarrow_table()

    def polars(self, table):
        return polars.scan_delta(os.path.join(self.folder, *table.split("/")))

    def of_trace(self, table, trace):
        opened = self.opened(table)
        actions = pyarrow.table(opened.get_add_actions(flatten=True)).to_pylist()
        named = [one for one in actions if one["min.trace"] <= trace <= one["max.trace"]]
        return opened.to_pyarrow_table(filters=[("trace", "=", trace)]).num_rows, len(named)

    def type_of(self, table, column):
        return next(field.type.type for field in self.opened(table).schema().fields if field.name == column)

    def interfere(self, table):
        self.opened(table).delete("trace = 'a'")

    def views(self):
        return delta.views(self.folder)


class DuckLake:
    """A catalogue of DuckDB's in a file."""

    name = "ducklake"

    def __init__(self):
        self.folder = support.temporary_folder("ducklake")
        self.connection = with_extension("ducklake")
        attached = f"ducklake:{os.path.join(self.folder, 'lab.ducklake')}"
        self.connection.execute(f"ATTACH {literal(attached)} AS lab (DATA_PATH {literal(os.path.join(self.folder, 'files'))})")

    def sync(self, lake, **options):
        return ducklake.sync(self.connection, lake, catalog="lab", **options)

    def tables(self):
        return ducklake._DuckLakeTables(self.connection, "lab")

    def path(self, table):
        return "lab." + ".".join(map(quoted, table.split("/", 1)))

    def arrow(self, table, back=0):
        with contextlib.closing(self.connection.cursor()) as cursor:
            cursor.execute("SET TimeZone = 'UTC'")
            at = ""
            if back:
                part, name = table.split("/", 1)
                [(identity,)] = cursor.execute(f"SELECT table_id FROM ducklake_table_info('lab') JOIN __ducklake_metadata_lab.ducklake_schema USING (schema_id) WHERE table_name = '{name}' AND schema_name = '{part}'").fetchall()
                changed = f"SELECT snapshot_id FROM lab.snapshots() WHERE list_contains(changes['tables_inserted_into'], '{identity}') OR list_contains(changes['tables_deleted_from'], '{identity}') ORDER BY 1 DESC"
                versions = [version for (version,) in cursor.execute(changed).fetchall()]
                at = f" AT (VERSION => {versions[0] - 1})"
            return cursor.execute(f"FROM {self.path(table)}{at}").to_arrow_table()

    def polars(self, table):
        return polars.from_arrow(self.arrow(table)).lazy()

    def of_trace(self, table, trace):
        [(rows,)] = self.connection.execute(f"SELECT count(*) FROM {self.path(table)} WHERE trace = '{trace}'").fetchall()
        [(files,)] = self.connection.execute(f"SELECT count(DISTINCT filename) FROM {self.path(table)} WHERE trace = '{trace}'").fetchall()
        return rows, files

    def type_of(self, table, column):
        return dict(row[:2] for row in self.connection.execute(f"DESCRIBE {self.path(table)}").fetchall())[column]

    def interfere(self, table):
        with contextlib.closing(self.connection.cursor()) as cursor:
            cursor.execute(f"DELETE FROM {self.path(table)} WHERE trace = 'a'")

    def views(self):
        return ducklake.views(self.connection, catalog="lab")


def with_extension(name):
    """A connection of DuckDB with one of its own extensions; skips the test where it is not installed."""
    if importlib.util.find_spec("duckdb_extensions"):
        import duckdb_extensions

        for one in ("avro", name) if name == "iceberg" else (name,):
            duckdb_extensions.import_extension(one)
    connection = duckdb.connect()
    try:
        connection.execute(f"LOAD {name}")
    except duckdb.Error:
        connection.close()
        raise unittest.SkipTest(f"DuckDB {duckdb.__version__} has not got its extension {name} here") from None
    return connection


class AllKinds(unittest.TestCase):
    kinds = (Iceberg, Delta, DuckLake)

    def each(self, test):
        for kind in self.kinds:
            with self.subTest(kind.name):
                test(kind())

    def seen(self, tables):
        """What the documented views show: rows of each trace in each view, by SQL over what the tables' own readers read."""
        with duckdb.connect() as connection:
            present = sorted(tables.tables().tables())
            for table in present:
                connection.register(table, tables.arrow(table))
            connection.execute(_views.script(present, quoted, "duckdb"))
            if TRACES not in present:
                return {}
            names = {table: table.partition("/")[2] for table in present}
            return {table: dict(connection.execute(f"SELECT trace, count(*) FROM {quoted(name)} GROUP BY ALL").fetchall()) for table, name in names.items()}

    def test_every_reader_reads_the_rows_of_the_lake(self):
        lake = support.temporary_folder("lake")
        made(lake, "a")
        made(lake, "b", "--provider", "Kernel-*")
        made(lake, "c")
        expected = lake_files(lake)

        def check(tables):
            synced = tables.sync(lake)
            self.assertEqual((synced.added, synced.replaced, synced.removed), (("a", "b", "c"), (), ()))
            self.assertEqual([change.table for change in synced.commits], [*sorted(expected), TRACES])
            self.assertEqual(tables.sync(lake).commits, ())
            for table, files in expected.items():
                lazy = tables.polars(table)
                self.assertEqual(lazy.select("trace").collect()["trace"].null_count(), 0)
                self.assert_same_rows(tables.arrow(table), files, (tables.name, table, "own"))
                self.assert_same_rows(lazy.collect().to_arrow(), files, (tables.name, table, "polars"))
            self.assertEqual(tables.of_trace("events/Kernel-DiskIo", "b"), (160, 1))
            self.assertEqual(sorted(tables.arrow(TRACES)["trace"].to_pylist()), ["a", "b", "c"])

        self.each(check)

    def assert_same_rows(self, found, files, about):
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            connection.register("found", found)
            of_lake = f"read_parquet({files}, union_by_name = true)"
            names = [row[0] for row in connection.execute(f"DESCRIBE FROM {of_lake}").fetchall()]
            self.assertEqual(set(found.schema.names), set(names), about)
            # pyiceberg reads a list of structures that is NULL as an empty one (apache/iceberg-python#3833); other readers of the table do not.
            lists = [field.name for field in found.schema if about[::2] == ("iceberg", "own") and str(field.type).startswith(("list<element: struct", "large_list<element: struct"))]
            columns = ", ".join(f"coalesce({quoted(name)}, [])" if name in lists else quoted(name) for name in names)
            self.assertEqual(connection.execute(f"SELECT count(*) FROM {of_lake}").fetchone(), (found.num_rows,), about)
            for one, other in (("found", of_lake), (of_lake, "found")):
                left = connection.execute(f"SELECT count(*) FROM (SELECT {columns} FROM {one} EXCEPT ALL SELECT {columns} FROM {other})")
                self.assertEqual(left.fetchone(), (0,), about)

    def test_times_in_nanoseconds_stay_integers(self):
        lake = support.temporary_folder("lake")
        made(lake, "a")

        def check(tables):
            tables.sync(lake)
            for table, column in (("events/Kernel-DiskIo", "timestamp_ns"), ("sidecar/processes", "from_ns")):
                self.assertIn(tables.type_of(table, column), ("long", "BIGINT"))
            [file] = lake_files(lake)["events/Kernel-DiskIo"]
            expected = pyarrow.parquet.read_table(file, columns=["timestamp_ns"])["timestamp_ns"].to_pylist()
            self.assertEqual(sorted(tables.arrow("events/Kernel-DiskIo")["timestamp_ns"].to_pylist()), sorted(expected))
            self.assertTrue(any(time % 1000 for time in expected))

        self.each(check)

    def test_between_any_two_commits_a_view_shows_traces_whole_or_not_at_all(self):
        lake = support.temporary_folder("lake")
        made(lake, "a"), made(lake, "b"), made(lake, "c")
        first = rows_of(lake)
        states = [shutil.copytree(lake, support.temporary_folder("lake"), dirs_exist_ok=True)]
        # a stays, b is another, c goes, d comes.
        made(lake, "b", "--provider", "Kernel-DiskIo", "--from", "+4s"), made(lake, "d")
        compact("-o", lake, "--forget", "c")
        states.append(lake)
        second = rows_of(lake)
        self.assertNotEqual(first["events/Kernel-DiskIo"]["b"], second["events/Kernel-DiskIo"]["b"])

        def of(rows, trace):
            return {table: counts[trace] for table, counts in rows.items() if counts.get(trace)}

        def check(tables):
            tables.sync(states[0])
            seen, commit = [self.seen(tables)], _sync._commit

            def look(*arguments):
                done = commit(*arguments)
                seen.append(self.seen(tables))
                return done

            with mock.patch.object(_sync, "_commit", look):
                synced = tables.sync(states[1])
            self.assertEqual((synced.added, synced.replaced, synced.removed), (("d",), ("b",), ("c",)))
            order = [change.table for change in synced.commits]
            self.assertEqual((order[0], order[-1], order.count(TRACES)), (TRACES, TRACES, 2))
            self.assertGreater(len(order), 10)
            for step, views in enumerate(seen):
                begun, ended = step > 0, step == len(order)
                views = {table: counts for table, counts in views.items() if table != TRACES}
                self.assertEqual(of(views, "a"), of(first, "a"), step)
                self.assertEqual(of(views, "b"), {} if begun and not ended else of(second if ended else first, "b"), step)
                self.assertEqual(of(views, "c"), {} if begun else of(first, "c"), step)
                self.assertEqual(of(views, "d"), of(second, "d") if ended else {}, step)

        self.each(check)

    def test_a_run_that_ends_between_two_commits_is_taken_up_by_the_next(self):
        lake = support.temporary_folder("lake")
        made(lake, "a"), made(lake, "b")
        before = shutil.copytree(lake, support.temporary_folder("lake"), dirs_exist_ok=True)
        made(lake, "b", "--provider", "Kernel-DiskIo", "--from", "+4s")
        expected = {table: counts for table, counts in rows_of(lake).items() if counts}

        def check(tables):
            tables.sync(before)
            for last in (1, 2, 1):
                left, commit = [last], _sync._commit

                def end(*arguments):
                    if not left[0]:
                        raise KeyboardInterrupt
                    left[0] -= 1
                    return commit(*arguments)

                with mock.patch.object(_sync, "_commit", end), self.assertRaises(KeyboardInterrupt):
                    tables.sync(lake)
                self.assertEqual({counts.get("b") for counts in self.seen(tables).values()}, {None})
            tables.sync(lake)
            seen = {table: counts for table, counts in self.seen(tables).items() if counts and table != TRACES}
            self.assertEqual(seen, expected)
            self.assertEqual(tables.sync(lake).commits, ())

        self.each(check)

    def test_a_trace_that_is_gone_is_seen_by_time_travel_until_it_expires(self):
        lake = support.temporary_folder("lake")
        made(lake, "a"), made(lake, "b")

        def check(tables):
            own = shutil.copytree(lake, support.temporary_folder("lake"), dirs_exist_ok=True)
            tables.sync(own)
            compact("-o", own, "--forget", "b")
            tables.sync(own, keep=datetime.timedelta(days=30))
            self.assertEqual(set(self.seen(tables)["events/Kernel-DiskIo"]), {"a"})
            shutil.rmtree(own)
            earlier = tables.arrow("events/Kernel-DiskIo", back=1)["trace"].to_pylist()
            self.assertEqual((earlier.count("a"), earlier.count("b")), (160, 160))
            before = len([file for file in support.files_below(tables.folder) if file.endswith(".parquet")])
            compact(made(own, "a"), "-o", own)
            tables.sync(own, keep=datetime.timedelta(0))
            left = [file for file in support.files_below(tables.folder) if file.endswith(".parquet") and "_delta_log" not in file]
            expected = sum(len(files) for files in lake_files(own).values())
            empty = sum(1 for files in lake_files(own).values() for file in files if not pyarrow.parquet.read_metadata(file).num_rows)
            self.assertEqual(len(left), expected - empty + 1)
            self.assertLess(len(left), before)
            self.assertEqual(tables.arrow("events/Kernel-DiskIo")["trace"].to_pylist(), ["a"] * 160)

        self.each(check)

    def test_columns_come_and_none_goes(self):
        lake = support.temporary_folder("lake")
        made(lake, "a", "--provider", "Example.Shop.Checkout", "--event", "OrderPlaced")
        few = set(pyarrow.parquet.read_schema(lake_files(lake)["events/Example.Shop.Checkout"][0]).names)
        first = shutil.copytree(lake, support.temporary_folder("lake"), dirs_exist_ok=True)
        made(lake, "b")
        files = lake_files(lake)["events/Example.Shop.Checkout"]
        many = {name for file in files for name in pyarrow.parquet.read_schema(file).names}
        self.assertLess(few, many)
        second = shutil.copytree(lake, support.temporary_folder("lake"), dirs_exist_ok=True)

        def check(tables):
            tables.sync(first)
            synced = tables.sync(second)
            new = next(change.new_columns for change in synced.commits if change.table == "events/Example.Shop.Checkout")
            self.assertEqual(set(new), many - few)
            self.assert_same_rows(tables.arrow("events/Example.Shop.Checkout"), files, (tables.name, "events/Example.Shop.Checkout", "own"))
            for name in new:
                # None of them is dropped, and none of them is NULL where the trace has it.
                of_b = [pyarrow.parquet.read_table(file) for file in files if name in pyarrow.parquet.read_schema(file).names]
                expected = sum(table.filter(pyarrow.compute.field("trace") == "b")[name].null_count for table in of_b)
                found = tables.polars("events/Example.Shop.Checkout").filter(polars.col("trace") == "b").collect()
                self.assertEqual(found[name].null_count(), expected, name)
            tables.sync(first)
            found = tables.arrow("events/Example.Shop.Checkout")
            self.assertEqual(set(found.schema.names), many)
            found = tables.polars("events/Example.Shop.Checkout").collect()
            self.assertEqual({found[name].null_count() for name in new}, {found.height})

        self.each(check)

    def test_types_that_do_not_fit_are_refused_before_the_first_commit(self):
        exact = support.temporary_folder("lake")
        made(exact, "a", *PROVIDERS, "--integers", "exact")

        def check(tables):
            with self.assertRaisesRegex(etl2parquet.UsageError, "column cpu of events/Example.Shop.Checkout is uint16") as caught:
                tables.sync(exact)
            self.assertIn("--integers exact", caught.exception.hint)
            self.assertEqual([table for table in tables.tables().tables() if tables.tables().files(table)], [])

        self.each(check)
        one, other = (pyarrow.schema([pyarrow.field("Amount", kind)]) for kind in (pyarrow.int64(), pyarrow.string()))
        with self.assertRaisesRegex(etl2parquet.UsageError, "column Amount of events/Shop has several types: int64; string"):
            _schema.united(one, other, "events/Shop")

    def test_members_of_structures_are_added(self):
        folder, table = support.temporary_folder("members"), "events/X"
        members = [{"a": 1, "b": 2}, {"c": 3, "a": 4}]
        files = []
        for number, one in enumerate(members):
            path = os.path.join(folder, f"{number}.parquet")
            struct = pyarrow.struct([pyarrow.field(name, pyarrow.int64()) for name in one])
            columns = pyarrow.schema([pyarrow.field("trace", pyarrow.string(), False), ("s", struct), ("l", pyarrow.list_(struct))])
            pyarrow.parquet.write_table(pyarrow.Table.from_pylist([{"trace": f"t{number}", "s": one, "l": [one]}], columns), path)
            files.append(_lake.LakeFile(path, f"{number}.parquet", 1, os.path.getsize(path), f"t{number}", f"t{number}"))
        schemas = [_lake.schema_of(table, [file]) for file in files]
        together = _schema.united(*schemas, table)
        self.assertEqual([field.name for field in together.field("s").type], ["a", "b", "c"])
        self.assertEqual([field.name for field in together.field("l").type.value_type], ["a", "b", "c"])

        def check(tables):
            kind = tables.tables()
            for number, (file, schema) in enumerate(zip(files, (schemas[0], together))):
                before = frozenset(one.name for one in files[:number])
                change = _sync.Change(table, schema, (file,), frozenset(), before, ("s", "l") if number else ())
                kind.place(table, file)
                if number and tables.name == "ducklake":
                    with self.assertRaisesRegex(etl2parquet.UsageError, "column s of events/X has new members, which DuckLake cannot add"):
                        _sync._commit(kind, change)
                    return
                _sync._commit(kind, change)
            rows = tables.polars(table).collect().sort("trace").to_dicts()
            expected = [dict.fromkeys("abc") | one for one in members]
            self.assertEqual([row["s"] for row in rows], expected)
            self.assertEqual([row["l"] for row in rows], [[one] for one in expected])

        self.each(check)

    def test_scripts_of_views_name_tables_as_engines_do(self):
        lake = support.temporary_folder("lake")
        made(lake, "a", "--provider", "Kernel-DiskIo")
        of_delta, of_iceberg = Delta(), Iceberg()
        of_delta.sync(lake), of_iceberg.sync(lake)
        cases = [
            (delta.views(of_delta.folder, engine="spark"), f"delta.`{of_delta.folder}/events/Kernel-DiskIo`", f"delta.`{of_delta.folder}/sidecar/traces`"),
            (iceberg.views(of_iceberg.catalog, engine="spark"), "`lab`.`etl_events`.`Kernel-DiskIo`", "`lab`.`etl_sidecar`.`traces`"),
        ]
        for script, table, traces in cases:
            lines = script.splitlines()
            self.assertEqual(lines[0], f"CREATE OR REPLACE TEMPORARY VIEW `traces` AS SELECT * FROM {traces};")
            self.assertEqual(lines[1], f"CREATE OR REPLACE TEMPORARY VIEW `Kernel-DiskIo` AS SELECT * FROM {table} WHERE trace IN (SELECT trace FROM {traces});")
            self.assertEqual(len(lines), len(lake_files(lake)) + 1)
        attached = iceberg.views(of_iceberg.catalog, name="rest").splitlines()
        self.assertEqual(attached[1], 'CREATE OR REPLACE VIEW "Kernel-DiskIo" AS SELECT * FROM "rest"."etl_events"."Kernel-DiskIo" WHERE trace IN (SELECT trace FROM "rest"."etl_sidecar"."traces");')

    def test_rows_without_a_trace_and_files_that_are_not_as_published_are_refused(self):
        lake = support.temporary_folder("lake")
        made(lake, "a")
        [file] = lake_files(lake)["events/Kernel-DiskIo"]
        rows = pyarrow.parquet.read_table(file)
        absent = rows.drop_columns("trace")
        null = absent.add_column(0, "trace", pyarrow.array([None] + ["a"] * (rows.num_rows - 1), pyarrow.string()))
        cases = [(absent, "a column trace"), (null, "no row lacks its trace"), (rows.slice(1), "expected 160 rows")]

        def check(tables):
            for changed, message in cases:
                pyarrow.parquet.write_table(changed, file)
                if changed is not cases[-1][0]:
                    reseal(lake, file)
                with self.assertRaisesRegex(etl2parquet.InputError, message):
                    tables.sync(lake)
            os.unlink(file)
            with self.assertRaisesRegex(etl2parquet.OutputError, "was changed while it was read"):
                tables.sync(lake)
            self.assertEqual([table for table in tables.tables().tables() if tables.tables().files(table)], [])

        self.each(check)
        with open(os.path.join(lake, "lake.json"), "r+", encoding="utf-8") as changed:
            text = changed.read()
            changed.seek(0)
            changed.write(text.replace('"trace": "a"', '"trace": "z"'))
        with self.assertRaisesRegex(etl2parquet.OutputError, "its hash is another one"):
            delta.sync(lake, support.temporary_folder("delta"))
        with self.assertRaisesRegex(etl2parquet.OutputError, "cannot read the manifest"):
            delta.sync(os.path.join(lake, "nowhere"), support.temporary_folder("delta"))

    def test_a_table_that_another_run_changes_meanwhile_is_busy(self):
        lake = support.temporary_folder("lake")
        made(lake, "a")

        def check(tables):
            own = shutil.copytree(lake, support.temporary_folder("lake"), dirs_exist_ok=True)
            tables.sync(own)
            made(own, "b")
            compact("-o", own, "--forget", "a")
            kind = type(tables.tables())
            # The step of a commit behind which the files of the table are known.
            step = "_add_columns" if tables.name == "ducklake" else "opened"
            real, interfered = getattr(kind, step), []

            def opened(self, about):
                found, table = real(self, about), about if isinstance(about, str) else about.table
                if table == "events/Kernel-DiskIo" and committing and not interfered:
                    interfered.append(table)
                    tables.interfere(table)
                return found

            committing, commit = [], kind.commit

            def begun(self, change):
                committing[:] = [change.table] if change.table == "events/Kernel-DiskIo" else []
                return commit(self, change)

            with mock.patch.object(kind, step, opened), mock.patch.object(kind, "commit", begun):
                with self.assertRaisesRegex(etl2parquet.BusyError, "another run has changed the table events/Kernel-DiskIo"):
                    tables.sync(own)
            tables.sync(own)
            self.assertEqual(self.seen(tables)["events/Kernel-DiskIo"], {"b": 160})

        self.each(check)

    def test_the_views_of_a_script_are_read_by_duckdb(self):
        lake = support.temporary_folder("lake")
        made(lake, "a"), made(lake, "b")
        expected = rows_of(lake)

        def check(tables):
            connection = tables.connection if tables.name == "ducklake" else with_extension(tables.name)
            tables.sync(lake)
            connection.execute(tables.views())
            for table, counts in expected.items():
                view = quoted(table.partition("/")[2])
                self.assertEqual(dict(connection.execute(f"SELECT trace, count(*) FROM {view} GROUP BY ALL").fetchall()), counts)
            self.assertEqual(connection.execute("SELECT trace FROM traces ORDER BY 1").fetchall(), [("a",), ("b",)])

        self.each(check)

    def test_spark_reads_the_files_that_tables_name(self):
        session = engines.spark()
        lake, tables = support.temporary_folder("lake"), Delta()
        made(lake, "a"), made(lake, "b")
        tables.sync(lake)
        for table in ("events/Kernel-DiskIo", TRACES):
            files = session.read.option("mergeSchema", "true").parquet(*tables.opened(table).file_uris())
            files.createOrReplaceTempView("spark_" + table.partition("/")[2].replace("-", "_").lower())
        rows = session.sql("SELECT trace, count(*) AS rows FROM spark_kernel_diskio WHERE trace IN (SELECT trace FROM spark_traces) GROUP BY trace").collect()
        self.assertEqual({row.trace: row.rows for row in rows}, {"a": 160, "b": 160})


class Files(unittest.TestCase):
    def test_files_are_links_where_they_can_be_and_copies_elsewhere(self):
        folder = support.temporary_folder("files")
        source = os.path.join(folder, "source")
        with open(source, "w", encoding="utf-8") as file:
            file.write("rows")
        _files.place(source, os.path.join(folder, "linked"), "x.parquet")
        self.assertTrue(os.path.samefile(source, os.path.join(folder, "linked", "x.parquet")))
        with mock.patch("os.link", side_effect=OSError("another file system")):
            _files.place(source, os.path.join(folder, "copied"), "x.parquet")
        copied = os.path.join(folder, "copied", "x.parquet")
        self.assertFalse(os.path.samefile(source, copied))
        self.assertEqual(os.listdir(os.path.dirname(copied)), ["x.parquet"])
        with open(copied, encoding="utf-8") as file:
            self.assertEqual(file.read(), "rows")

    def test_names_of_tables_are_those_of_datasets_and_never_those_of_two(self):
        names = [_files.table_name(f"events/{name}") for name in ("Kernel-DiskIo", "A B", "A#B", "A_B", "A~0123abcd")]
        self.assertEqual((names[0], names[4]), ("Kernel-DiskIo", "A~0123abcd"))
        self.assertEqual(len(set(names)), 5)


def reseal(lake, file):
    """Makes lake.json name a changed file as it is now."""
    path = os.path.join(lake, "lake.json")
    with open(path, encoding="utf-8") as manifest:
        found = json.load(manifest)
    for one in found["files"]:
        if os.path.join(lake, *one["path"].split("/")) == file:
            one["bytes"] = os.path.getsize(file)
    del found["written_by"]["manifest_sha256"]
    head = json.dumps(found, indent=2, ensure_ascii=False).removesuffix("\n  }\n}")
    digits = hashlib.sha256(head.encode()).hexdigest()
    with open(path, "w", encoding="utf-8", newline="") as manifest:
        manifest.write(f'{head},\n    "manifest_sha256": "{digits}"\n  }}\n}}\n')


if __name__ == "__main__":
    unittest.main()

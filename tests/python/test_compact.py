"""`compact`: a lake holds every row of every trace once, whatever the way in which it came to be, and reads as the folder does."""

import contextlib
import glob
import hashlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
import unittest

import duckdb
import pyarrow.parquet

import support
from engines import duckdb_with, literal, quoted, spark_statements

# Small ones, of many kinds of providers.
TRACES = [
    "tx-HTTP_Server",
    "krabsetw-powershell",
    "s4-WindowsUpdate.20251008",
    "perfview-primitive-types",
    "perfview-SelfDescribingSingleEvent",
    "sawbuck-process_data_64_v3",
    "sawbuck-image_data_32_v1",
    "onedrive-19.067.0404.0004",
    "kqltools-SampleEtl",
    "msbuild-PerfViewData",
]


def compact(*arguments, code=0):
    """Runs it; the document that it prints."""
    done = support.run("compact", *arguments, "--json", "--progress", "never")
    if done.returncode != code:
        raise AssertionError(f"compact {arguments}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout) if code == 0 else done.stderr


def manifest(lake):
    with open(os.path.join(lake, "lake.json"), encoding="utf-8") as file:
        return json.load(file)


def contents(lake):
    """All files with their hashes."""
    found = {}
    for path in support.files_below(lake):
        with open(os.path.join(lake, path), "rb") as file:
            found[path] = hashlib.sha256(file.read()).hexdigest()
    return found


def copies(count, *flags, prefix="t"):
    """A folder with so many traces, all of the same recording."""
    inputs, out = support.temporary_folder("compact-in"), support.temporary_folder("compact-out")
    for number in range(count):
        shutil.copy(support.EXAMPLE, os.path.join(inputs, f"{prefix}{number:03}.etl"))
    return support.convert([inputs], out, *flags)


def traces_of(out):
    return sorted(glob.glob(os.path.join(glob.escape(out), "trace=*")))


def tables_of(out):
    """The files of each table of a folder, by their traces."""
    tables = {}
    for folder in traces_of(out):
        for file in support.manifest(folder)["files"]:
            if file["path"].endswith(".parquet"):
                table = os.path.dirname(file["path"]) if file["path"].startswith("events/") else file["path"].removesuffix(".parquet")
                tables.setdefault(table, []).append(os.path.join(folder, file["path"]))
    return tables


class Lakes(unittest.TestCase):
    def assert_same_rows(self, out, lake):
        """Every row of every trace is in the lake once, with equal values, and nothing else is there."""
        expected, files = tables_of(out), {}
        for file in manifest(lake)["files"]:
            files.setdefault(os.path.dirname(file["path"]), []).append(os.path.join(lake, file["path"]))
        self.assertEqual(set(files) - {"manifests"}, set(expected))
        connection = duckdb.connect()
        for table, paths in expected.items():
            with self.subTest(table):
                folder = f"read_parquet({paths}, union_by_name = true, hive_partitioning = true, hive_types = {{'trace': VARCHAR}})"
                compacted = f"read_parquet({files[table]}, union_by_name = true)"
                names = [row[0] for row in connection.execute(f"DESCRIBE FROM {folder}").fetchall()]
                found = [row[0] for row in connection.execute(f"DESCRIBE FROM {compacted}").fetchall()]
                self.assertEqual(set(found), set(names))
                columns = ", ".join(map(quoted, names))
                counts = [connection.execute(f"SELECT count(*) FROM {rows}").fetchone() for rows in (folder, compacted)]
                self.assertEqual(counts[0], counts[1])
                for one, other in ((folder, compacted), (compacted, folder)):
                    left = connection.execute(f"SELECT count(*) FROM (SELECT {columns} FROM {one} EXCEPT ALL SELECT {columns} FROM {other})")
                    self.assertEqual(left.fetchone(), (0,))

    def assert_whole(self, lake):
        done = support.run("verify", lake)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_rows_are_those_of_the_folder_in_either_layout(self):
        for flags in ([], ["--layout", "event"], ["--guid", "uuid", "--integers", "exact"]):
            with self.subTest(flags):
                out, lake = copies(5, *flags), support.temporary_folder("lake")
                done = compact(out, "-o", lake)
                self.assertEqual((done["traces"], len(done["added"]), done["mismatches"]), (5, 5, []))
                self.assert_same_rows(out, lake)
                self.assert_whole(lake)

    def test_rows_are_those_of_the_corpus(self):
        corpus, out, lake = support.corpus_or_skip(), support.temporary_folder("compact-corpus"), support.temporary_folder("lake")
        inputs = [path for name in TRACES for path in glob.glob(os.path.join(corpus, name + ".*")) if path.endswith((".etl", ".diagsession"))]
        done = support.run("convert", *inputs, "-o", out)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        done = compact(out, "-o", lake, "--by", "none")
        self.assertEqual(done["traces"], len(traces_of(out)))
        self.assert_same_rows(out, lake)
        self.assertIn(support.run("verify", lake).returncode, (0, 7) if done["mismatches"] else (0,))
        # Each by itself, in another order.
        other, folders = support.temporary_folder("lake"), traces_of(out)
        random.Random(3).shuffle(folders)
        for folder in folders:
            compact(folder, "-o", other, "--by", "none")
        self.assertEqual(contents(other), contents(lake))

    def test_views_answer_as_on_the_folder(self):
        out, lake = copies(3), support.temporary_folder("lake")
        support.convert([support.EXAMPLE], out, "--provider", "Kernel-Process")
        compact(out, "-o", lake)
        with contextlib.closing(duckdb_with(out)) as folder, contextlib.closing(duckdb_with(lake)) as compacted:
            names = "SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1"
            views = [name for (name,) in folder.execute(names).fetchall()]
            self.assertEqual([name for (name,) in compacted.execute(names).fetchall()], views)
            self.assertGreater(len(views), 60)
            for view in views:
                with self.subTest(view):
                    columns = folder.execute(f"DESCRIBE {quoted(view)}").fetchall()
                    self.assertEqual(compacted.execute(f"DESCRIBE {quoted(view)}").fetchall(), columns)
                    rows = [connection.execute(f"SELECT * FROM {quoted(view)} ORDER BY ALL").fetchall() for connection in (folder, compacted)]
                    self.assertEqual(rows[0], rows[1])
            one = "SELECT count(*) FROM all_events WHERE trace = 't001'"
            self.assertEqual(compacted.execute(one).fetchall(), folder.execute(one).fetchall())
        # The script of the other engine names the same files.
        text = "".join(spark_statements(lake))
        self.assertTrue(all(os.path.basename(file["path"])[:-8] in text for file in manifest(lake)["files"] if not file["path"].startswith("manifests")))

    def test_orders_and_runs_make_no_difference(self):
        out, lakes = copies(12, "--provider", "Kernel-*"), []
        folders = traces_of(out)
        for order in (folders, folders[::-1]):
            lakes.append(support.temporary_folder("lake"))
            compact(*order, "-o", lakes[-1])
        lakes.append(support.temporary_folder("lake"))
        for part in (folders[5:9], folders[:2], folders[2:]):
            compact(*part, "-o", lakes[-1])
        expected = contents(lakes[0])
        self.assertEqual([contents(lake) for lake in lakes[1:]], [expected, expected])
        # What is there already is not written again.
        done = compact(out, "-o", lakes[0])
        self.assertEqual((done["written_files"], done["removed_files"], contents(lakes[0])), (0, 0, expected))

    def test_a_row_group_and_a_file_end_where_rows_say(self):
        """More rows than a block and than a file holds, and small traces behind one another."""
        out = support.temporary_folder("compact-large")
        large = os.path.join(support.temporary_folder("compact-in"), "large.etl")
        shutil.copy(support.synthetic(300_000), large)
        support.convert([large], out, "--max-file-size", "1MiB")
        for trace in traces_of(copies(3)):
            shutil.move(trace, out)
        lakes = [support.temporary_folder("lake") for _ in range(2)]
        compact(out, "-o", lakes[0], "--by", "none", "--target-size", "2MiB")
        for trace in traces_of(out)[::-1]:
            compact(trace, "-o", lakes[1], "--by", "none", "--target-size", "2MiB")
        self.assertEqual(contents(lakes[0]), contents(lakes[1]))
        self.assert_same_rows(out, lakes[0])
        self.assert_whole(lakes[0])
        for path in glob.glob(os.path.join(lakes[0], "events", "*", "*.parquet")):
            metadata = pyarrow.parquet.read_metadata(path)
            self.assertEqual(metadata.schema.column(0).name, "trace")
            order = [column.column_index for column in metadata.row_group(0).sorting_columns]
            self.assertEqual([metadata.schema.column(column).name for column in order], ["trace", "timestamp_ns", "seq"])
            self.assertIn("RLE_DICTIONARY", metadata.row_group(0).column(0).encodings)

    def test_a_file_ends_before_the_row_group_that_would_take_it_past_its_target(self):
        """So that each but the last is smaller than the target by less than a row group, which has 96 MiB of values at most."""
        inputs, out = support.temporary_folder("compact-in"), support.temporary_folder("compact-out")
        trace = os.path.join(inputs, "long.etl")
        maker = os.path.join(os.path.dirname(support.BINARY), "examples", "make_trace")
        # One provider: two row groups of 1,048,576 rows, and what is left.
        subprocess.run([maker, "bulk", trace, "2200000", "1"], check=True, stdin=subprocess.DEVNULL, timeout=support.TIMEOUT_S)
        support.convert([trace], out)

        def files(lake, table):
            """The bytes of each file of a table, and of its row groups."""
            same = [file for file in manifest(lake)["files"] if os.path.dirname(file["path"]) == table]
            metadata = [pyarrow.parquet.read_metadata(os.path.join(lake, file["path"])) for file in same]
            sizes = [[sum(of.row_group(number).column(at).total_compressed_size for at in range(of.num_columns)) for number in range(of.num_row_groups)] for of in metadata]
            return [file["bytes"] for file in same], sizes

        whole, lake = support.temporary_folder("lake"), support.temporary_folder("lake")
        compact(out, "-o", whole, "--by", "none", "--target-size", "1GiB")
        largest = max(manifest(whole)["files"], key=lambda file: file["rows"])
        table = os.path.dirname(largest["path"])
        _, [[first, second, third]] = files(whole, table)
        target = first + second - 1024
        self.assertLess(second + third, target)
        compact(out, "-o", lake, "--by", "none", "--target-size", str(target))
        sizes, found = files(lake, table)
        self.assertEqual(found, [[first], [second, third]])
        self.assertGreater(sizes[0], target - second)

    def test_one_trace_writes_its_buckets_alone(self):
        out, lake = copies(40, "--provider", "Kernel-Process"), support.temporary_folder("lake")
        folders = traces_of(out)
        compact(*folders[:-1], "-o", lake)
        before = {file["path"] for file in manifest(lake)["files"]}
        done = compact(folders[-1], "-o", lake)
        [added] = done["added"]
        bucket = next(f"{trace['day']}-b{trace['bucket']:02}" for trace in manifest(lake)["traces"] if trace["trace"] == added)
        after = {file["path"] for file in manifest(lake)["files"]}
        changed = before ^ after
        self.assertGreater(len(changed), 10)
        self.assertEqual({os.path.basename(path)[: len(bucket)] for path in changed}, {bucket})
        self.assertEqual({path for path in support.files_below(lake) if path.endswith(".parquet")}, after)

    def test_traces_are_replaced_and_forgotten(self):
        out, lake = copies(6, "--provider", "Kernel-Process"), support.temporary_folder("lake")
        compact(out, "-o", lake)
        trace = traces_of(out)[2]
        # Converted anew, and with more of it.
        inputs = support.temporary_folder("compact-in")
        shutil.copy(support.EXAMPLE, os.path.join(inputs, "t002.etl"))
        support.convert([inputs], out, "--if-exists", "replace", "--provider", "Kernel-Process,Kernel-DiskIo")
        done = compact(trace, "-o", lake)
        self.assertEqual((done["added"], done["replaced"], done["traces"]), ([], ["t002"], 6))
        self.assert_same_rows(out, lake)
        # The traces that stay need not be there any more.
        kept = support.temporary_folder("compact-kept")
        for folder in traces_of(out)[1:5]:
            shutil.move(folder, kept)
        done = compact("-o", lake, "--forget", "t000", "--forget", "t005")
        self.assertEqual((done["forgotten"], done["traces"]), (["t000", "t005"], 4))
        self.assert_same_rows(kept, lake)
        self.assert_whole(lake)
        fresh = support.temporary_folder("lake")
        compact(kept, "-o", fresh)
        self.assertEqual(contents(fresh), contents(lake))
        self.assertIn("expected a trace of the lake, found t000", compact("-o", lake, "--forget", "t000", code=2))
        self.assertIn("which the lake was made with", compact(kept, "-o", lake, "--by", "none", code=2))
        self.assertIn("found trace=t00", compact(lake, "-o", kept, code=2))
        self.assertIn("found a lake", compact(lake, "-o", support.temporary_folder("lake"), code=2))
        compact("-o", lake, *(word for number in range(1, 5) for word in ("--forget", f"t{number:03}")))
        self.assertEqual([path for path in support.files_below(lake) if path.endswith(".parquet")], [])
        compact(kept, "-o", lake)
        self.assertEqual(contents(fresh), contents(lake))

    def test_the_first_trace_of_a_bucket_goes(self):
        """What stays has tables without rows, which no file is of, and one in which the trace that goes had all rows."""
        out, lake, fresh = copies(16, "--provider", "Kernel-Process"), support.temporary_folder("lake"), support.temporary_folder("lake")
        compact(out, "-o", lake)
        first = {}
        for trace in manifest(lake)["traces"]:
            first.setdefault(trace["bucket"], trace["trace"])
        for name in first.values():
            # Half of the recording: it is cut, which the other traces' tables say nothing of.
            with open(support.EXAMPLE, "rb") as file:
                content = file.read()
            inputs = support.temporary_folder("compact-in")
            with open(os.path.join(inputs, f"{name}.etl"), "wb") as file:
                file.write(content[: len(content) // 2 + 100])
            self.assertEqual(support.run("convert", inputs, "-o", out, "--if-exists", "replace", "--provider", "Kernel-Process").returncode, 4)
        compact(out, "-o", lake)
        self.assertLess(len(first), 16)
        done = compact("-o", lake, *(word for name in first.values() for word in ("--forget", name)))
        self.assertEqual(done["forgotten"], sorted(first.values()))
        compact(*(trace for trace in traces_of(out) if os.path.basename(trace)[6:] not in first.values()), "-o", fresh)
        self.assertEqual(contents(lake), contents(fresh))
        self.assert_whole(lake)

    def test_traces_that_do_not_bind_stand_side_by_side(self):
        out, lake = copies(2, "--provider", "Kernel-Process,Kernel-DiskIo"), support.temporary_folder("lake")
        for folder in traces_of(copies(2, "--integers", "exact", "--guid", "uuid", "--provider", "Kernel-Process", prefix="u")):
            shutil.move(folder, out)
        done = compact(out, "-o", lake, "--by", "none")
        self.assertIn(("*", "activity_id", "type"), [(one["table"], one["subject"], one["kind"]) for one in done["mismatches"]])
        self.assertEqual({variant["file"] for one in done["mismatches"] for variant in one["variants"]}, {"trace=t000", "trace=u000"})
        rows = {}
        for file in manifest(lake)["files"]:
            table = pyarrow.parquet.read_table(os.path.join(lake, file["path"]))
            for trace in table["trace"].to_pylist():
                rows[os.path.dirname(file["path"]), trace] = rows.get((os.path.dirname(file["path"]), trace), 0) + 1
        for folder in traces_of(out):
            for dataset, count in support.tables(folder).items():
                self.assertEqual(rows["events/" + dataset, os.path.basename(folder).removeprefix("trace=")], count)
        # One column that says it is a UUID, in files of their own.
        files = [file["path"] for file in manifest(lake)["files"] if "Kernel-Process/" in file["path"] and "sidecar" not in file["path"]]
        kinds = {str(pyarrow.parquet.read_schema(os.path.join(lake, path)).field("activity_id").type) for path in files}
        self.assertEqual(len(kinds), 2)
        self.assertEqual(support.run("verify", lake).returncode, 7)
        other = support.temporary_folder("lake")
        for folder in traces_of(out)[::-1]:
            compact(folder, "-o", other, "--by", "none")
        self.assertEqual(contents(other), contents(lake))

    def test_verify_finds_what_is_not_as_it_was(self):
        out, lake = copies(2, "--provider", "Kernel-Process"), support.temporary_folder("lake")
        compact(out, "-o", lake)
        path = os.path.join(lake, next(file["path"] for file in manifest(lake)["files"] if file["path"].startswith("events/")))
        with open(path, "rb") as file:
            whole = file.read()

        def found(*flags):
            document = json.loads(support.run("verify", lake, "--json", *flags).stdout)
            return [finding["kind"] for finding in document["findings"]]

        self.assertEqual((found(), found("--quick")), ([], []))
        for content, kinds in ((whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], ["hash"]), (whole[:-1], ["size"]), (None, ["missing"])):
            os.remove(path)
            if content is not None:
                with open(path, "wb") as file:
                    file.write(content)
            self.assertEqual(found(), kinds)
            with open(path, "wb") as file:
                file.write(whole)
        with open(os.path.join(os.path.dirname(path), "mine.parquet"), "wb"):
            pass
        self.assertEqual(found(), ["extra"])
        os.remove(os.path.join(os.path.dirname(path), "mine.parquet"))
        with open(os.path.join(lake, "lake.json"), "r+", encoding="utf-8") as file:
            text = file.read().replace('"t000"', '"t00x"')
            file.seek(0)
            file.write(text)
        self.assertEqual(found(), ["manifest"])
        self.assertEqual(support.run("compact", out, "-o", lake).returncode, 6)

    @unittest.skipUnless(hasattr(signal, "SIGKILL"), "this system kills in another way")
    def test_a_run_that_is_killed_leaves_the_old_lake_or_the_new_one(self):
        out = copies(24, "--provider", "Kernel-Process")
        old, new = support.temporary_folder("lake"), support.temporary_folder("lake")
        compact(*traces_of(out)[:12], "-o", old)
        shutil.copytree(old, new, dirs_exist_ok=True)
        begun = time.monotonic()
        compact(out, "-o", new)
        lasts, ends, both = time.monotonic() - begun, [contents(old), contents(new)], set()
        names = [{name: hashes[name] for name in hashes if name.endswith(".parquet")} for hashes in ends]
        for number in range(16):
            lake = support.temporary_folder("lake")
            shutil.copytree(old, lake, dirs_exist_ok=True)
            process = support.start("compact", out, "-o", lake)
            time.sleep(lasts * (number + 1) / 14)
            process.kill()
            process.communicate()
            found = contents(lake)
            which = [end["lake.json"] for end in ends].index(found["lake.json"])
            both.add(which)
            self.assertEqual({name: found.get(name) for name in names[which]}, names[which])
            # Views read nothing of what is left.
            with contextlib.closing(duckdb_with(lake)) as connection:
                self.assertEqual(connection.execute("SELECT count(DISTINCT trace) FROM all_events").fetchone(), ((12, 24)[which],))
            compact(out, "-o", lake)
            self.assertEqual(contents(lake), ends[1])
        self.assertIn(0, both)

    def test_a_count_over_many_traces_takes_a_tenth_of_the_time(self):
        out, lake = copies(300, "--provider", "Kernel-Thread"), support.temporary_folder("lake")
        compact(out, "-o", lake)
        folder = literal(os.path.join(out, "trace=*", "events", "Kernel-Thread", "*.parquet"))
        files = [os.path.join(lake, file["path"]) for file in manifest(lake)["files"] if file["path"].startswith("events/Kernel-Thread/")]
        questions = [
            f"FROM read_parquet({folder}, union_by_name = true, hive_partitioning = true)",
            f"FROM read_parquet({files}, union_by_name = true)",
        ]
        connection, least, answers = duckdb.connect(), [float("inf")] * 2, [None, None]
        for _ in range(5):
            for which, question in enumerate(questions):
                begun = time.perf_counter()
                answers[which] = connection.execute(f"SELECT event_name, count(*) {question} GROUP BY 1 ORDER BY 1").fetchall()
                least[which] = min(least[which], time.perf_counter() - begun)
        self.assertEqual(answers[0], answers[1])
        print(f"\n300 traces, count by event name: folder {least[0] * 1000:.1f} ms, lake {least[1] * 1000:.1f} ms, {least[0] / least[1]:.1f} times")
        self.assertGreaterEqual(least[0] / least[1], 10)


if __name__ == "__main__":
    unittest.main()

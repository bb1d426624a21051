"""The scripts of `views`: every view binds and runs on every trace, and the answers are those of queries by hand."""

import contextlib
import dataclasses
import functools
import glob
import ipaddress
import json
import os
import random
import re
import shutil
import subprocess
import unittest

import duckdb
import pyarrow
import pyarrow.parquet

import engines
import support
from engines import duckdb_with, literal, quoted, script, spark_statements, spark_with
from made import add_dataset, add_file, replace_table

# Views that every script has.
ANSWERS = set(
    """processes threads images files methods cpu_samples stack_walks cpu_intervals off_cpu waits cpu_usage interrupts cpu_time
    disk_io file_io network packet_reports packets image_loads page_faults registry gc_pause_collections gc_pauses gc_collections
    exceptions jit http_requests dns_queries windows_update services activities loss answers""".split()
)
# Views that scripts have which `views` prints.
FRAMES = set(
    """symbol_functions symbol_modules frames event_frames cpu_sample_frames wait_frames exception_frames gc_pause_frames disk_io_frames
    page_fault_frames cpu_functions cpu_callers cpu_paths wait_functions wait_callers wait_paths""".split()
)
SPARK_TRACES = ["filtrace-diskio", "dotnetperf-gccollectonly", "tx-HTTP_Server", "krabsetw-powershell", "s4-WindowsUpdate.20251008"]

PARTITIONED_TRACES = ["perfview-net.4.5.2.x64", "filtrace-diskio", "dotnetperf-gccollectonly"]


def convert(name, *inputs, flags=()):
    """A folder with converted traces."""
    out = support.temporary_folder(name)
    done = support.run("convert", *inputs, "-o", out, "--progress", "never", *flags)
    # 4: some traces of the corpus are damaged on purpose.
    if done.returncode not in (0, 4):
        raise AssertionError(done.stderr)
    return out


def views(connection):
    return [name for (name,) in connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()]


def addresses():
    """Addresses of IPv6 in hexadecimal digits, most with runs of zeros: a run of the same length twice, at both ends, and of one group."""
    chance = random.Random(7)
    groups = [[chance.choice((0, 0, 0, 1, 0x20, 0xABCD, 0xFFFF)) for _ in range(8)] for _ in range(500)]
    mapped = [[0, 0, 0, 0, 0, 0xFFFF, 0xC0A8, number] for number in (0, 1, 0xFFFF)]
    return ["".join(f"{group:04X}" for group in address) for address in [[0] * 8, [1] * 8, *mapped, *groups]]


def rfc5952(digits):
    """Its text as RFC 5952 has it, by Python."""
    address = ipaddress.IPv6Address(bytes.fromhex(digits))
    return f"::ffff:{address.ipv4_mapped}" if address.ipv4_mapped else address.compressed


def statements(text):
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


class Example(unittest.TestCase):
    """What holds without the corpus."""

    def test_answers_are_the_same_in_every_layout_and_with_exact_integers(self):
        answers = []
        for number, flags in enumerate([[], ["--layout", "event"], ["--integers", "exact"]]):
            out = convert(f"views-{number}", support.EXAMPLE, flags=flags)
            with contextlib.closing(duckdb_with(out)) as connection:
                found = {}
                for view in views(connection):
                    rows = connection.execute(f"SELECT * FROM (SELECT * FROM {quoted(view)})").fetchall()
                    found[view] = len(rows)
                # Of the header columns, those that are no lists.
                found["rows"] = connection.execute("SELECT provider, seq, event_name FROM all_events").fetchall()
            answers.append(found)
        self.assertGreater(len(answers[0]["rows"]), 0)
        self.assertEqual(answers[0], answers[1])
        self.assertEqual(answers[0], answers[2])

    def test_the_folder_is_set_from_outside(self):
        out = convert("views-moved", support.EXAMPLE)
        text, moved = script(out), support.temporary_folder("views-there")
        os.rename(out, os.path.join(moved, "lake"))
        with contextlib.closing(duckdb.connect()) as connection:
            connection.execute(f"SET VARIABLE root = {literal(os.path.join(moved, 'lake'))}")
            connection.execute(text)
            self.assertGreater(connection.execute("SELECT count(*) FROM all_events").fetchone()[0], 0)

    def test_documented_lines_run_in_the_program_of_duckdb(self):
        recording = os.path.join(support.temporary_folder("views-recording"), "a.etl")
        shutil.copy(support.EXAMPLE, recording)
        folder = convert("views-lines", recording, flags=["--views", "both"])
        work = support.temporary_folder("views-work")
        os.rename(folder, os.path.join(work, "out"))
        data = os.path.join(work, "data")
        environment = {**os.environ, "PATH": os.pathsep.join([os.path.dirname(support.BINARY), os.path.dirname(support.python()), os.environ["PATH"]])}
        with open(os.path.join(support.REPOSITORY, "docs", "views.md"), encoding="utf-8") as file:
            blocks = re.findall(r"^```sh\n(.*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        self.assertGreaterEqual(len(lines), 8)
        os.makedirs(data)
        shutil.copytree(os.path.join(work, "out"), os.path.join(data, "out"))
        for line in lines:
            with self.subTest(line):
                line = line.replace("/data/out", os.path.join(data, "out"))
                done = subprocess.run(line, shell=True, cwd=work, env=environment, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, "Error" in done.stderr), (0, False), done.stderr)
                if "answers" in line:
                    self.assertIn("rows", done.stdout)

    def opened(self, out, traces):
        """Rows of each view of each of these traces, by trace and view, with all files of the other traces of the folder made unreadable."""
        rows = {}
        with contextlib.closing(duckdb_with(out)) as connection:
            # What is no Parquet file any more cannot have been opened.
            for path in glob.glob(os.path.join(glob.escape(out), "trace=*-copy", "**", "*.parquet"), recursive=True):
                with open(path, "wb"):
                    pass
            # Symbols are beside the traces, and of none.
            for view in sorted(set(views(connection)) - {"missing", "symbol_functions", "symbol_modules"}):
                for trace in traces:
                    with self.subTest(view, trace=trace):
                        asked = f"SELECT * FROM {quoted(view)} WHERE trace = '{trace}'"
                        rows[trace, view] = len(connection.execute(asked).fetchall())
            for view in ("loss", "answers"):
                with self.assertRaises(duckdb.Error):
                    connection.execute(f"SELECT count(*) FROM (SELECT * FROM {view})").fetchall()
        return rows

    def with_copies(self, out):
        traces = [name.removeprefix("trace=") for name in os.listdir(out)]
        for trace in traces:
            shutil.copytree(os.path.join(out, f"trace={trace}"), os.path.join(out, f"trace={trace}-copy"))
        return traces

    def test_a_question_about_one_trace_opens_no_file_of_another(self):
        out = convert("views-one", support.EXAMPLE)
        rows = self.opened(out, self.with_copies(out))
        self.assertGreater(len(rows), 80)
        for view in ("activities", "all_events", "answers", "cpu_intervals", "cpu_samples", "cpu_time", "cpu_usage", "loss", "waits"):
            self.assertGreater(rows["example", view], 0, view)

    def test_a_question_about_one_real_trace_opens_no_file_of_another(self):
        corpus = support.corpus_or_skip()
        names = ("dotnetperf-gccollectonly", "filtrace-diskio", "perfview-net.4.5.x86-old")
        out = convert("views-real", *(os.path.join(corpus, f"{name}.etl") for name in names))
        rows = self.opened(out, self.with_copies(out))
        for name, views_of in zip(names, (("gc_collections", "gc_pauses", "gc_pause_collections"), ("waits", "stack_walks"), ("cpu_samples", "network"))):
            for view in views_of:
                self.assertGreater(rows[name, view], 0, (name, view))

    def test_views_that_are_asked_for_come_with_what_they_need(self):
        out = convert("views-asked", support.EXAMPLE)
        with contextlib.closing(duckdb.connect()) as connection:
            connection.execute(script(out, "LOSS"))
            self.assertEqual(sorted(views(connection)), ["loss", "sidecar/lost_events"])
            connection.execute("SELECT * FROM loss").fetchall()
        done = support.run("views", out, "cpu_smples")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("(there is cpu_samples)", done.stderr)
        path = os.path.join(out, "views.sql")
        self.assertEqual(support.run("views", out, "--single-events", "-o", path).stdout, "")
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read(), script(out))

    def test_views_of_single_events_are_there_where_they_are_asked_for(self):
        out = convert("views-single", support.EXAMPLE)
        found = {}
        for flags in ([], ["--single-events"], ["Kernel-Process/Process/Start"]):
            with contextlib.closing(duckdb.connect()) as connection:
                connection.execute(support.run("views", out, *flags).stdout)
                found[" ".join(flags)] = set(views(connection))
        single = {view for view in found["--single-events"] if "/" in view and not view.startswith("sidecar/")}
        self.assertEqual(found["--single-events"] - single, found[""])
        self.assertEqual(found["Kernel-Process/Process/Start"], {"Kernel-Process/Process/Start"})
        self.assertGreater(len(single), 20)

    def test_packets_are_read_from_their_bytes_in_both_engines(self):
        out = convert("views-packets", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        ethernet = "ffffffffffff 0200000000 01".replace(" ", "")
        ipv4 = "4500 0028 0000 0000 40 06 0000 c0a80001 0a0000fe 01bb c350"
        ipv6 = "60000000 0008 11 40 20010db8000000000000000000000001 fe800000000000000001000000000002 0035 1f90"
        mapped = "60000000 0000 3a 40 00000000000000000000ffffc0a80001 00000000000000000000000000000000"
        later = "4500 0028 0000 0010 40 11 0000 c0a80001 0a0000fe 01bb c350"
        columns = ["event_id", "ComponentId", "DirTag", "DropReason", "PacketType", "OriginalPayloadSize", "Payload__field"]
        rows = [
            (160, 7, 3, 0, 1, 54, ethernet + "0800" + ipv4),
            (170, 7, 2, 8, 1, 62, ethernet + "8100 0005 86dd" + ipv6),
            (160, 9, 0, 0, 3, 40, mapped),
            (160, 7, 1, 0, 3, 40, later),
            (160, 7, 1, 0, 1, 14, ethernet + "0806"),
            (160, 7, 1, 0, 1, 20, ethernet + "0800 45"),
        ]
        rows = [(*row[:-1], bytes.fromhex(row[-1].replace(" ", ""))) for row in rows]
        pktmon = [dict(zip(columns, row)) for row in rows] + [{"event_id": 20, "Id": 7, "Name": "vmswitch.sys"}]
        add_dataset(folder, "Microsoft-Windows-PktMon", pktmon)
        frame = bytes.fromhex((ethernet + "0800" + ipv4).replace(" ", ""))
        ndis = {"event_id": 1001, "MiniportIfIndex": 4, "FragmentSize": 54, "Fragment": frame}
        first, rest = 0x1_4000_0001, 0x1_8000_0001
        add_dataset(folder, "Microsoft-Windows-NDIS-PacketCapture", [{**ndis, "keywords": bits} for bits in (first, rest)])
        query = """SELECT source, component_id, component, direction, drop_reason, link_type, bytes, protocol, source_address,
            source_port, destination_address, destination_port FROM packet_reports ORDER BY source DESC, seq"""
        tcp = ("tcp", "192.168.0.1", 443, "10.0.0.254", 50000)
        expected = [
            ("pktmon", 7, "vmswitch.sys", "received", None, "ethernet", 54, *tcp),
            ("pktmon", 7, "vmswitch.sys", "sent", 8, "ethernet", 62, "udp", "2001:db8::1", 53, "fe80::1:0:0:2", 8080),
            ("pktmon", 9, None, None, None, "ip", 40, "icmpv6", "::ffff:192.168.0.1", None, "::", None),
            ("pktmon", 7, "vmswitch.sys", "received", None, "ip", 40, "udp", "192.168.0.1", None, "10.0.0.254", None),
            ("pktmon", 7, "vmswitch.sys", "received", None, "ethernet", 14, None, None, None, None, None),
            ("pktmon", 7, "vmswitch.sys", "received", None, "ethernet", 20, None, None, None, None, None),
            ("ndis", 4, None, "sent", None, "ethernet", 54, *tcp),
            ("ndis", 4, None, "sent", None, "ethernet", 54, None, None, None, None, None),
        ]
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute(query).fetchall(), expected)
            texts = connection.execute("SELECT ipv6_text(x), ipv4_text(x) FROM unnest(?) AS t(x)", [addresses()]).fetchall()
        session = spark_with(out)
        self.assertEqual([tuple(row) for row in session.sql(query).collect()], expected)
        session.createDataFrame([(x,) for x in addresses()], "x STRING").createOrReplaceTempView("addresses")
        in_spark = session.sql("SELECT ipv6_text(x), ipv4_text(x) FROM addresses").collect()
        self.assertEqual(texts, [(rfc5952(x), str(ipaddress.IPv4Address(bytes.fromhex(x[:8])))) for x in addresses()])
        self.assertEqual([tuple(row) for row in in_spark], texts)

    def test_coverage_leaves_out_what_gaps_cover_and_counts_no_time_twice(self):
        out = convert("views-coverage", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        source, streams = "a.etl", [(0, 0, 1000), (1, 100, 1100), (2, 0, 0)]
        rows = [dict(zip(("cpu", "first_time_ns", "last_time_ns"), row)) for row in streams]
        replace_table(folder, "streams", [{"source": source, **row} for row in rows])
        gap = {"source": source, "kind": "sequence_gap"}
        gaps = [(0, 100, 300), (0, 200, 400), (0, 150, 160), (None, 900, 2000)]
        gaps = [{**gap, "cpu": cpu, "from_time_ns": begin, "to_time_ns": end} for cpu, begin, end in gaps]
        # What was never lost, and what other programs did not get, is no gap.
        none = [{**gap, "cpu": 1, "count": 0}, {**gap, "kind": "real_time_buffers_lost"}]
        replace_table(folder, "lost_events", gaps + none)
        query = "SELECT cpu, from_ns, to_ns, intact_ns, intact_share FROM coverage({}) ORDER BY cpu"
        expected = {
            "NULL, NULL": [(0, 0, 1000, 600, 0.6), (1, 100, 1100, 800, 0.8), (2, 0, 0, 0, None)],
            "350, 950": [(0, 350, 950, 500, 500 / 600), (1, 350, 950, 550, 550 / 600)],
        }
        session = spark_with(out)
        with contextlib.closing(duckdb_with(out)) as connection:
            for arguments, rows in expected.items():
                self.assertEqual(connection.execute(query.format(arguments)).fetchall(), rows)
                self.assertEqual([tuple(row) for row in session.sql(query.format(arguments)).collect()], rows)
        # A loss at a time that nobody knows leaves nothing of its recording.
        replace_table(folder, "lost_events", [{**gap, "kind": "events_lost"}])
        with contextlib.closing(duckdb_with(out)) as connection:
            rows = connection.execute("SELECT DISTINCT intact_ns FROM coverage(NULL, NULL)").fetchall()
        self.assertEqual(rows, [(0,)])

    def test_stacks_of_both_sides_of_a_wait(self):
        out = convert("views-waits", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        switch = {"event_name": "Thread/CSwitch", "cpu": 0}
        ready = {"event_name": "Thread/ReadyThread", "cpu": 1, "thread_id": 930, "attribution": "header", "TThreadId": 910}
        add_dataset(
            folder,
            "Kernel-Thread",
            [
                {**switch, "timestamp_ns": 1000, "OldThreadId": 910, "OldThreadState": 5, "NewThreadId": 920, "stack": [8]},
                {**ready, "timestamp_ns": 1500, "Flag": 0, "stack": [-5, -6]},
                {**switch, "timestamp_ns": 2000, "OldThreadId": 920, "OldThreadState": 1, "NewThreadId": 910, "stack": [-7, 1, 2]},
            ],
        )
        query = "SELECT from_ns, ready_ns, to_ns, readied_by_thread_id, stack, readied_by_stack FROM waits WHERE thread_id = 910"
        expected = [(1000, 1500, 2000, 930, [-7, 1, 2], [-5, -6])]
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute(query).fetchall(), expected)
        self.assertEqual([tuple(row) for row in spark_with(out).sql(query).collect()], expected)

    def test_operations_on_files_have_the_path_that_their_key_means(self):
        out = convert("views-files", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        told, renamed = "\\Device\\HarddiskVolume2\\a.txt", "\\Device\\HarddiskVolume2\\b.txt"
        rows = [
            {"event_name": "FileIo/Create", "timestamp_ns": 100, "FileObject": 9, "OpenPath": told},
            {"event_name": "FileIo/Read", "timestamp_ns": 110, "FileObject": 5, "FileKey": 9},
            {"event_name": "FileIo/DirEnum", "timestamp_ns": 120, "FileKey": 9, "FileName": "*.txt"},
            {"event_name": "FileIo/RenamePath", "timestamp_ns": 130, "FileKey": 9, "FileName": renamed},
            # Its key means nothing from then on.
            {"event_name": "FileIo/FileDelete", "timestamp_ns": 200, "FileObject": 9, "FileName": told},
            {"event_name": "FileIo/Read", "timestamp_ns": 210, "FileKey": 9},
            # Of a key that nothing tells of.
            {"event_name": "FileIo/Create", "timestamp_ns": 220, "FileObject": 8, "OpenPath": told},
            {"event_name": "FileIo/DirEnum", "timestamp_ns": 230, "FileKey": 8, "FileName": "*.txt"},
        ]
        who = {"process_id": 7, "process_name": "a.exe", "thread_id": 8}
        add_dataset(folder, "Kernel-FileIo", [{**row, **who} for row in rows])
        keys = {"file_key": [9], "path": ["C:\\a.txt"], "from_ns": [100], "to_ns": [200], "source_of": ["FileIo/Create"], "machine": [0]}
        add_file(folder, "sidecar/files.parquet", pyarrow.table(keys))
        query = "SELECT operation, file, process_name FROM file_io WHERE thread_id = 8 ORDER BY timestamp_ns"
        paths = ["C:\\a.txt"] * 3 + [renamed, "C:\\a.txt", None, told, None]
        expected = [(row["event_name"].removeprefix("FileIo/"), path, "a.exe") for row, path in zip(rows, paths)]
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute(query).fetchall(), expected)
        self.assertEqual([tuple(row) for row in spark_with(out).sql(query).collect()], expected)

    def test_a_thread_that_has_the_id_of_one_that_ended_has_waited_for_nothing(self):
        out = convert("views-threads", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        shutil.rmtree(os.path.join(folder, "events", "Kernel-Thread"))
        manifest = support.manifest(folder)
        manifest["files"] = [file for file in manifest["files"] if "/Kernel-Thread/" not in file["path"]]
        with open(os.path.join(folder, "sidecar", "manifest.json"), "w", encoding="utf-8") as file:
            json.dump(manifest, file)

        def switch(time, old, state, new):
            row = {"event_name": "Thread/CSwitch", "timestamp_ns": time, "OldThreadId": old, "OldThreadState": state, "OldThreadWaitReason": 0, "NewThreadId": new}
            return {**row, "input": 0, "cpu": 0}

        def life(name, time, thread):
            return {"event_name": f"Thread/{name}", "timestamp_ns": time, "TThreadId": thread, "input": 0, "cpu": 0}

        add_dataset(folder, "Kernel-Thread", [
            # The same thread all the time.
            switch(1000, 71, 5, 0), switch(1600, 0, 2, 71),
            # The last switch of the first 72 is lost: only its end is there, and the start of the second.
            switch(2000, 72, 5, 0), life("End", 2100, 72), life("Start", 2900, 72), switch(3000, 0, 2, 72),
            # Nothing says when the second 73 begins.
            switch(4000, 73, 4, 0), switch(5000, 0, 2, 73),
            # The first run of 74 is its first.
            life("Start", 6000, 74), switch(6100, 0, 2, 74), switch(6200, 74, 1, 0), switch(6250, 0, 2, 74),
        ])  # fmt: skip
        query = "SELECT thread_id, state, from_ns, to_ns FROM off_cpu ORDER BY from_ns"
        expected = [(71, "waiting", 1000, 1600), (74, "ready", 6200, 6250)]
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute(query).fetchall(), expected)
        self.assertEqual([tuple(row) for row in spark_with(out).sql(query).collect()], expected)
        # The programs for viewers follow the same rule by code of their own.
        done = support.run("export", folder, "--format", "folded", "--of", "waits", "-o", "-")
        self.assertEqual([line.rsplit(" ", 1)[1] for line in done.stdout.splitlines()], ["600"], done.stderr)

    def test_names_of_values_of_the_registry_are_no_keys(self):
        out = convert("views-registry", support.EXAMPLE)
        names = [
            ("QueryValue", 1, "early"), ("KCBRundownEnd", 1, "\\A"), ("SetValue", 1, "late"), ("KCBCreate", 2, "\\B"), ("Open", 2, "below"),
            ("DeleteValue", 2, "gone"), ("KCBDelete", 2, "\\B"), ("QueryValue", 2, "nobody"), ("KCBCreate", 2, "\\C"), ("QueryValue", 2, "c"), ("Counters", 3, ""),
            ("RunDown", 4, "\\D"), ("QueryValue", 4, "d"),
        ]  # fmt: skip
        rows = [{"event_name": f"Registry/{name}", "KeyHandle": handle, "KeyName": text} for name, handle, text in names]
        add_dataset(os.path.join(out, "trace=example"), "Kernel-Registry", [{**row, "input": 0} for row in rows])
        query = "SELECT operation, key_name, value_name FROM registry ORDER BY seq"
        expected = [
            ("QueryValue", "\\A", "early"), ("SetValue", "\\A", "late"), ("Open", "below", None), ("DeleteValue", "\\B", "gone"), ("QueryValue", None, "nobody"),
            ("QueryValue", "\\C", "c"), ("QueryValue", "\\D", "d"),
        ]  # fmt: skip
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute(query).fetchall(), expected)
        self.assertEqual([tuple(row) for row in spark_with(out).sql(query).collect()], expected)

    def test_what_is_no_fault_and_no_operation_has_no_row(self):
        out = convert("views-kinds", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        faults = [{"event_name": f"PageFault/{name}", "VirtualAddress": 1} for name in ("VirtualAlloc", "DemandZeroFault", "HRRundown", "HardFault")]
        add_dataset(folder, "Kernel-PageFault", faults)
        told, renamed = "\\Device\\HarddiskVolume2\\a.txt", "\\Device\\HarddiskVolume2\\b.txt"
        add_dataset(folder, "Microsoft-Windows-Kernel-File", [
            {"event_name": "Create", "FileObject": 5, "FileName": told}, {"event_name": "RenamePath", "FileObject": 5, "FilePath": renamed},
            {"event_name": "OperationEnd", "FileObject": 5}, {"event_name": "Rename", "FileObject": 5},
        ])  # fmt: skip
        queries = {
            "SELECT kind FROM page_faults ORDER BY seq": [("DemandZeroFault",), ("HardFault",)],
            "SELECT operation, file FROM file_io ORDER BY seq": [("Create", told), ("RenamePath", renamed), ("Rename", None)],
        }
        with contextlib.closing(duckdb_with(out)) as connection:
            for query, expected in queries.items():
                self.assertEqual(connection.execute(query).fetchall(), expected)

    def test_a_pause_whose_end_is_lost_is_none_with_the_next(self):
        out = convert("views-pauses", support.EXAMPLE)
        begin, stopped, end = "GarbageCollection/GCSuspendEEBegin", "GarbageCollection/GCSuspendEEEnd", "GarbageCollection/GCRestartEEEnd"
        # Of the second pause the end is lost, and of the third the begin.
        names = [begin, stopped, end, begin, stopped, stopped, end, begin, stopped, end]
        add_dataset(
            os.path.join(out, "trace=example"),
            "Microsoft-Windows-DotNETRuntime",
            [{"event_name": name, "process_id": 7, "ClrInstanceID": 9, "Reason": 1, "timestamp_ns": 10 * at} for at, name in enumerate(names)],
        )
        query = "SELECT from_ns, to_ns, duration_ns FROM gc_pauses ORDER BY from_ns"
        expected = [(0, 20, 20), (70, 90, 20)]
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute(query).fetchall(), expected)
        self.assertEqual([tuple(row) for row in spark_with(out).sql(query).collect()], expected)

    def test_addresses_that_the_kernel_cannot_have_are_of_user_mode(self):
        out = convert("views-modes", support.EXAMPLE)
        addresses = [-5, 0x7FFC_2B1D_9660, 0x7FFF_FFFF, 0x8000_0000, 0xFFFF_FFFF, 0x1_0000_0000]
        rows = [{"event_name": "PerfInfo/SampleProf", "process_id": 77, "input": 0, "InstructionPointer": address} for address in addresses]
        add_dataset(os.path.join(out, "trace=example"), "Kernel-PerfInfo", rows)
        expected = ["kernel", "user", "user", None, None, "user"]
        with contextlib.closing(duckdb_with(out)) as connection:
            for column, view in [("mode", "cpu_samples"), ("kind", "cpu_sample_frames")]:
                query = f"SELECT {column} FROM {view} WHERE process_id = 77 ORDER BY seq"
                self.assertEqual(connection.execute(query).fetchall(), [(kind,) for kind in expected], view)

    def test_rows_of_views_have_the_process_of_their_events(self):
        out = convert("views-processes", support.EXAMPLE)
        folder = os.path.join(out, "trace=example")
        # As rows of a merged recording of two machines: one id, two processes.
        who = [{"process_id": 7, "process_name": name} for name in ("a.exe", "b.exe")]
        start = {"activity_id": "00000000-0000-0000-0000-000000000001", "opcode": 1}
        add_dataset(folder, "Lab", [{**who[0], **start}, {**who[0], **start, "opcode": 2}])
        add_dataset(folder, "Kernel-Registry", [{**row, "event_name": "Registry/Open"} for row in who])
        thrown = {"event_id": 80, "ExceptionType": "E"}
        add_dataset(folder, "Microsoft-Windows-DotNETRuntime", [{**row, **thrown} for row in who])
        queries = {
            "SELECT process_id, process_name FROM activities WHERE provider = 'Lab'": [(7, "a.exe")],
            "SELECT process_id, process_name FROM registry ORDER BY seq": [(7, "a.exe"), (7, "b.exe")],
            "SELECT process_id, process_name FROM exceptions ORDER BY seq": [(7, "a.exe"), (7, "b.exe")],
        }
        session = spark_with(out)
        with contextlib.closing(duckdb_with(out)) as connection:
            for query, expected in queries.items():
                with self.subTest(query):
                    self.assertEqual(connection.execute(query).fetchall(), expected)
                    self.assertEqual([tuple(row) for row in session.sql(query).collect()], expected)

    def test_a_dataset_that_is_called_like_an_answer_has_a_view_of_its_own(self):
        out = convert("views-names", support.EXAMPLE)
        add_dataset(os.path.join(out, "trace=example"), "processes", [{"event_id": 1}, {"event_id": 2}])
        with contextlib.closing(duckdb_with(out)) as connection:
            self.assertEqual(connection.execute("SELECT count(*) FROM processes_events").fetchone(), (2,))
            count = connection.execute("SELECT count(*) FROM all_events WHERE provider = 'processes'").fetchone()
            self.assertEqual(count, (2,))
            columns = [row[0] for row in connection.execute("DESCRIBE processes").fetchall()]
        self.assertIn("image_name", columns)


@dataclasses.dataclass(frozen=True)
class Counted:
    """Of the views of a trace: rows and columns by view, the view `answers`, and how many modules name their PDB."""

    rows: dict
    columns: dict
    answers: list
    symbols: int


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        # Without what lies beside the traces: some are converted by themselves, too.
        cls.out = convert("views-corpus", support.corpus_or_skip(), flags=["--schemas", "none", "--views", "both"])

    def trace(self, name):
        folder = os.path.join(self.out, f"trace={name}")
        return contextlib.closing(duckdb_with(folder)), os.path.join(folder, "events")

    @classmethod
    def traces(cls):
        return sorted(name for name in os.listdir(cls.out) if name.startswith("trace="))

    @classmethod
    @functools.cache
    def counted(cls):
        """Rows of each view of the script of each trace, by trace and view, asked from another folder; every view runs once."""
        counts = {}
        for trace in cls.traces():
            with contextlib.closing(duckdb.connect()) as connection:
                connection.execute(f"SET VARIABLE root = {literal(cls.out)}")
                connection.execute(cls.own_script(trace, "views.sql"))
                rows = {}
                for view in views(connection):
                    try:
                        rows[view] = connection.execute(f"SELECT count(*) FROM (SELECT * FROM {quoted(view)})").fetchone()[0]
                    except duckdb.Error as error:
                        raise AssertionError(f"{trace}: {view}: {error}") from error
                asked = "SELECT question, answerable, events, needed FROM answers"
                answers = connection.execute(asked).fetchall()
                symbols = connection.execute("SELECT count(*) FROM images WHERE pdb_guid IS NOT NULL").fetchone()[0]
                columns = {}
                for view, *column in connection.execute("SELECT table_name, column_name, data_type FROM duckdb_columns()").fetchall():
                    columns.setdefault(view, []).append(column)
            counts[trace] = Counted(rows, columns, answers, symbols)
        return counts

    @classmethod
    def own_script(cls, trace, name):
        with open(os.path.join(cls.out, trace, "sidecar", name), encoding="utf-8") as file:
            return file.read()

    def test_a_question_can_be_answered_where_its_view_has_rows(self):
        undecoded = []
        for trace, counted in self.counted().items():
            with self.subTest(trace):
                self.assertEqual(len(counted.answers), 25)
                for question, answerable, events, needed in counted.answers:
                    has_rows = (counted.symbols if question == "symbols" else counted.rows[question]) > 0
                    self.assertEqual(needed is None, answerable, question)
                    self.assertLessEqual(answerable, events > 0, question)
                    if has_rows and not answerable:
                        undecoded.append((trace, question, needed.split(":")[0]))
                    else:
                        self.assertEqual(answerable, has_rows, question)
        # Rows that nothing decodes are in a view, too, but answer nothing.
        hint = "the payload fits the schema only with pointers of the other size"
        traces = [f"trace=sawbuck-image_data_64_v{version}" for version in (0, 1, 2)]
        self.assertEqual(undecoded, [(trace, "image_loads", hint) for trace in traces])

    def test_inspect_answers_as_the_sidecar_does(self):
        for name in ["perfview-net.4.5.2.x64", "filtrace-diskio", "tx-HTTP_Server", "perfview-smallEtlFile"]:
            done = support.run("inspect", "--json", os.path.join(support.corpus(), f"{name}.etl"))
            inspected = [tuple(row.values()) for row in json.loads(done.stdout)["traces"][0]["answers"]]
            opened, _ = self.trace(name)
            with self.subTest(name), opened as connection:
                written = connection.execute("SELECT * EXCLUDE (trace, known_share) FROM answers").fetchall()
                self.assertEqual(sorted(inspected), sorted(written))

    def test_scripts_of_the_sidecar_are_those_that_are_printed(self):
        scripts = [("views.sql", []), ("views.spark.sql", ["--spark"])]
        sizes = {trace: [len(self.own_script(trace, name)) for name, _ in scripts] for trace in self.traces()}
        self.assertLess(max(map(max, sizes.values())), 100_000)
        self.assertLess(sizes["trace=perfview-smallEtlFile"][0], 18_000)
        # Those of a sample, and of the longest script.
        for trace in {*self.traces()[::15], max(sizes, key=sizes.get)}:
            for name, flags in scripts:
                with self.subTest(trace=trace, name=name):
                    printed = set(statements(script(os.path.join(self.out, trace), *flags)))
                    # The folder that holds the traces is the one in which the script is run.
                    own = statements(self.own_script(trace, name))
                    lines = {statement.splitlines()[-1] for statement in own if statement not in printed}
                    expected = "CREATE OR REPLACE MACRO traces_folder() AS COALESCE(getvariable('root'), '.')"
                    self.assertEqual(lines, {expected} if name == "views.sql" else {"SET etl2parquet.root=."})

    def test_every_view_runs_on_every_trace_in_any_folder(self):
        columns = {}
        for trace, counted in self.counted().items():
            # What a trace lacks has the columns that it would have.
            for view in ANSWERS & set(counted.columns):
                found = counted.columns[view]
                self.assertEqual(columns.setdefault(view, found), found, (trace, view))
        self.assertEqual(set(columns), ANSWERS)
        # The folder in which a script is run is that of the traces, where no variable says another.
        for trace in self.traces()[::10]:
            with self.subTest(trace), contextlib.closing(duckdb.connect()) as here, contextlib.chdir(self.out):
                here.execute(self.own_script(trace, "views.sql"))
                rows = {view: here.execute(f"SELECT count(*) FROM (SELECT * FROM {quoted(view)})").fetchone()[0] for view in views(here)}
                self.assertEqual(rows, self.counted()[trace].rows)

    def test_views_of_all_traces_together_have_the_rows_of_each(self):
        names = ["cpu_samples", "disk_io", "network", "gc_pauses", "jit", "waits", "all_events", "loss"]
        count = {name: sum(counted.rows[name] for counted in self.counted().values()) for name in names}
        with contextlib.closing(duckdb_with(self.out)) as connection:
            together = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
        self.assertEqual(together, count)

    def test_answers_do_not_depend_on_partitions(self):
        corpus = support.corpus()
        for name in PARTITIONED_TRACES:
            out = convert(f"views-{name}", os.path.join(corpus, f"{name}.etl"), flags=["--partition-bytes", "64KiB"])
            folders = [os.path.join(root, f"trace={name}") for root in (self.out, out)]
            files = [len(support.manifest(folder)["files"]) for folder in folders]
            with contextlib.ExitStack() as stack:
                whole, parts = (stack.enter_context(contextlib.closing(duckdb_with(folder))) for folder in folders)
                self.assertLess(files[0], files[1], name)
                self.assertEqual(sorted(views(whole)), sorted(views(parts)))
                # Those about frames take long where stacks are many: all of them of one trace.
                of_frames = FRAMES if name == "filtrace-diskio" else {"frames"}
                for view in set(views(whole)) - FRAMES | of_frames:
                    with self.subTest(trace=name, view=view):
                        # Rows as text, since not all types have an order.
                        query = f"SELECT CAST(v AS VARCHAR) AS line FROM {quoted(view)} v ORDER BY line"
                        self.assertEqual(parts.execute(query).fetchall(), whole.execute(query).fetchall())

    def test_samples_have_the_module_that_a_join_by_hand_finds(self):
        opened, events = self.trace("perfview-net.4.5.2.x64")
        with opened as connection:
            # In arithmetic of 128 bits, and without times: no id of this trace is used twice.
            by_hand = connection.execute(f"""
                WITH unsigned AS (SELECT DISTINCT ProcessId AS pid, lower(regexp_extract(FileName, '[^\\\\]+$')) AS module,
                  ImageBase::HUGEINT + CASE WHEN ImageBase < 0 THEN 18446744073709551616::HUGEINT ELSE 0 END AS base,
                  ImageSize AS size FROM read_parquet('{events}/Kernel-Image/*.parquet') WHERE FileName IS NOT NULL),
                threads AS (SELECT DISTINCT TThreadId AS tid, ProcessId AS pid
                  FROM read_parquet('{events}/Kernel-Thread/*.parquet') WHERE TThreadId IS NOT NULL AND TThreadId <> 0),
                samples AS (SELECT seq, ThreadId AS tid, InstructionPointer::HUGEINT
                  + CASE WHEN InstructionPointer < 0 THEN 18446744073709551616::HUGEINT ELSE 0 END AS ip
                  FROM read_parquet('{events}/Kernel-PerfInfo/*.parquet') WHERE event_name = 'PerfInfo/SampleProf')
                SELECT seq, min(t.pid), min(i.module) FROM samples s JOIN threads t ON t.tid = s.tid
                JOIN unsigned i ON (i.pid = t.pid OR i.pid = 0) AND s.ip >= i.base AND s.ip < i.base + i.size
                GROUP BY seq ORDER BY seq""").fetchall()
            by_view = connection.execute("""SELECT seq, process_id, lower(module) FROM cpu_samples
                WHERE thread_id <> 0 AND module IS NOT NULL ORDER BY seq""").fetchall()
            self.assertEqual(by_view, by_hand)
            # The rest runs in code that no module or method of the trace covers, 50 of it in the page of the HAL.
            found = connection.execute("""SELECT count(*), count(process_name), count(coalesce(module, function_name))
                FROM cpu_samples WHERE thread_id <> 0""").fetchone()
            self.assertEqual(found, (6215, 6215, 6031))

    def test_modules_have_one_path_and_functions_one_row(self):
        for name, counts in [("perfview-net.4.5.2.x64", (35, 1)), ("perfview-net.4.5.x86-old", (111, 6))]:
            opened, _ = self.trace(name)
            with self.subTest(name), opened as connection:
                loads = "SELECT count(*), count(*) FILTER (WHERE path LIKE '_:\\%') FROM image_loads"
                self.assertEqual(connection.execute(loads).fetchone(), counts)
                paths = """SELECT count(*) FROM image_loads l JOIN images i ON i.process_id = l.process_id AND i.base = l.base
                    AND l.timestamp_ns >= i.from_ns AND l.timestamp_ns < i.to_ns WHERE i.path <> l.path"""
                self.assertEqual(connection.execute(paths).fetchone(), (0,))
                keys = "SELECT machine, process_id, process_name, module, function, kind FROM cpu_functions GROUP BY ALL HAVING count(*) > 1"
                self.assertEqual(connection.execute(keys).fetchall(), [])
                sums = "SELECT (SELECT sum(exclusive_samples) FROM cpu_functions), (SELECT count(*) FROM cpu_samples)"
                self.assertEqual(len(set(connection.execute(sums).fetchone())), 1)

    def test_files_have_one_path_whatever_view_tells_it(self):
        opened, _ = self.trace("perfview-net.4.5.2.x64")
        with opened as connection:
            disk = connection.execute("SELECT count(DISTINCT file) FROM disk_io WHERE file LIKE '_:%'").fetchone()
            self.assertEqual(disk, (37,))
            # Shares of other machines have no letter, and volumes of this one do.
            paths = connection.execute("""SELECT count(*), count(*) FILTER (WHERE file LIKE '_:%'),
                count(*) FILTER (WHERE file LIKE '\\Device\\Harddisk%') FROM file_io""").fetchone()
            self.assertEqual(paths, (592, 529, 0))

    def test_bytes_of_disks_and_network_are_those_of_the_events(self):
        opened, _ = self.trace("perfview-net.4.5.2.x64")
        with opened as connection:
            self.assertEqual(
                connection.execute("""SELECT direction, sum(bytes) FROM network WHERE protocol = 'tcp'
                    AND direction <> 'other' GROUP BY 1 ORDER BY 1""").fetchall(),
                [("received", 80565), ("sent", 11436388)],
            )
            by_view = connection.execute("""SELECT file, count(*), sum(bytes) FROM disk_io WHERE operation = 'Read'
                AND file IS NOT NULL GROUP BY 1 ORDER BY 1""").fetchall()
            self.assertEqual(sum(count for _, count, _ in by_view), 1207)
            total = connection.execute("SELECT sum(bytes) FROM disk_io WHERE operation = 'Read'").fetchone()
            self.assertEqual(total, (19564544,))
            self.assertEqual(connection.execute("SELECT count(*), count(process_name) FROM image_loads").fetchone(), (35, 35))

    def test_switches_add_up_to_the_time_between_the_first_and_the_last(self):
        opened, events = self.trace("filtrace-diskio")
        with opened as connection:
            spans = connection.execute(f"""SELECT cpu, max(timestamp_ns) - min(timestamp_ns)
                FROM read_parquet('{events}/Kernel-Thread/*.parquet') WHERE event_name = 'Thread/CSwitch'
                GROUP BY cpu HAVING count(*) > 1 ORDER BY cpu""").fetchall()
            between = "unknown_because IS NULL OR unknown_because IN ('contradicted', 'elsewhere')"
            view = f"SELECT cpu, sum(duration_ns)::BIGINT FROM cpu_intervals WHERE {between} GROUP BY cpu ORDER BY cpu"
            self.assertEqual([row for row in connection.execute(view).fetchall() if row[1] > 0], spans)
            by_usage = connection.execute("SELECT sum(running_ns)::BIGINT, sum(unknown_ns)::BIGINT FROM cpu_usage").fetchone()
            by_time = "SELECT sum(busy_ns + idle_ns)::BIGINT, sum(unknown_ns)::BIGINT FROM cpu_time"
            self.assertEqual(by_usage, connection.execute(by_time).fetchone())

    def test_waits_have_the_stacks_that_the_kernel_sent(self):
        opened, events = self.trace("filtrace-diskio")
        with opened as connection:
            # A walk names the time and the thread of its event: here those of switches, of which no two are at one time.
            by_hand = connection.execute(f"""SELECT count(DISTINCT s.seq) FROM read_parquet('{events}/Kernel-Thread/*.parquet') s
                JOIN read_parquet('{events}/Kernel-StackWalk/*.parquet') w
                ON w.EventTimeStamp_ns = s.timestamp_ns AND w.StackThread = s.NewThreadId
                WHERE s.event_name = 'Thread/CSwitch' AND s.seq IN (SELECT in_seq FROM waits)""").fetchone()
            found = connection.execute("SELECT count(stack), count(*) FROM waits").fetchone()
            self.assertEqual(found, (by_hand[0], 530))
            self.assertGreater(found[0], 500)

    def test_services_and_the_log_of_windows_update(self):
        opened, _ = self.trace("perfview-net.4.5.2.x64")
        with opened as connection:
            rows = connection.execute("""SELECT display_name, state, process_name FROM services
                WHERE service_name IN ('AeLookupSvc', 'Dhcp') ORDER BY 1""").fetchall()
            self.assertEqual(rows[0], ("Application Experience", "stopped", None))
            self.assertEqual(rows[1], ("DHCP Client", "running", "svchost.exe"))
        opened, _ = self.trace("s4-WindowsUpdate.20251008")
        with opened as connection:
            line = connection.execute("SELECT line FROM windows_update ORDER BY seq LIMIT 1").fetchone()[0]
        self.assertEqual(
            line,
            "2025/10/08 21:03:26.9403716 11168 10232 Agent           Reschedule the tasks in callback work item if they are "
            "waiting to execute.",
        )

    def test_pauses_of_net_have_their_process(self):
        opened, _ = self.trace("dotnetperf-gccollectonly")
        with opened as connection:
            pauses = connection.execute("""SELECT process_name, count(*), sum(duration_ns)::BIGINT FROM gc_pauses
                GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 2""").fetchall()
        self.assertEqual(pauses, [("ServiceHub.Host.CLR.x86.exe", 219, 315502300), ("dotnet.exe", 121, 1203220900)])

    def test_spark_gives_the_rows_that_duckdb_gives(self):
        session = engines.spark()
        for name in SPARK_TRACES:
            folder = os.path.join(self.out, f"trace={name}")
            with self.subTest(name), contextlib.closing(duckdb_with(folder)) as connection:
                for statement in spark_statements(folder):
                    session.sql(statement)
                with open(os.path.join(folder, "sidecar", "views.spark.sql"), encoding="utf-8") as file:
                    own = [statement for statement in statements(file.read()) if not statement.endswith("root=.")]
                # Once more, with those of the sidecar in place of the same that were printed.
                for statement in own:
                    session.sql("\n".join(line for line in statement.splitlines() if not line.startswith("--")))
                # Those about frames take long, and test_frames.py has others of them: some of one trace.
                of_frames = {"frames", "wait_functions", "wait_paths"} if name == SPARK_TRACES[0] else set()
                asked = sorted(set(views(connection)) - FRAMES | of_frames)
                rows = {view: connection.execute(f"SELECT count(*) FROM {quoted(view)}").fetchone()[0] for view in asked}
                for view in filter(rows.get, asked):
                    self.assertEqual(session.sql(f"SELECT count(*) FROM `{view}`").collect()[0][0], rows[view], view)
                # Those without rows together: a job of Spark takes a second.
                empty = " UNION ALL ".join(f"SELECT '{view}' FROM `{view}`" for view in asked if not rows[view])
                self.assertEqual(session.sql(empty).limit(1).collect(), [])


if __name__ == "__main__":
    unittest.main()

"""Sections of the page of `report`: on made rows they say what is written out here, and on traces of the corpus what the views say."""

import collections
import json
import os
import re
import shutil
import unittest

import pyarrow.parquet

import judge_scheduling as judge
import made
import support
import test_judge_scheduling as scheduling
from test_report import duration, named, page_of, ranked, report, running, size, with_views


def page_of_folder(folder):
    page = page_of(report(support.temporary_folder("report-section"), folder))
    if page.faults:
        raise AssertionError(page.faults)
    return page


def converted(name):
    """The output of a trace of the corpus, and its folder."""
    trace = os.path.join(support.corpus_or_skip(), name + ".etl")
    out = support.convert([trace], support.temporary_folder("report-sections"))
    return out, support.dataset(out, trace)


def example():
    """A converted trace to which rows are added."""
    out = support.convert([support.EXAMPLE], support.temporary_folder("report-sections-made"))
    return out, support.dataset(out, support.EXAMPLE)


def span(folder):
    """The first and the last time of the streams."""
    rows = made_rows(folder, "sidecar/streams.parquet")
    return min(row["first_time_ns"] for row in rows), max(row["last_time_ns"] for row in rows)


def made_rows(folder, path):
    return pyarrow.parquet.read_table(os.path.join(folder, path)).to_pylist()


def shown(table):
    """The rows of a table without that which adds up the others."""
    return [row for row in table[1:] if not re.search(r"^and [\d,]+ more", row[0])]


class Section(unittest.TestCase):
    def check(self, page, caption, connection, query, most=20):
        """The rows of a table are the first of a query; what is left out is added up."""
        expected = [[str(cell) for cell in row] for row in connection.execute(query).fetchall()]
        self.assertGreater(len(expected), 0, caption)
        table = page.tables[caption]
        self.assertEqual(shown(table), expected[:most], caption)
        self.assertEqual(len(table) - 1 - len(shown(table)), int(len(expected) > most), caption)


def with_words(connection):
    """Functions that show numbers as the page does."""
    connection.create_function("shown", lambda number: f"{number:,}", ["BIGINT"], "VARCHAR")
    connection.create_function("size", size, ["BIGINT"], "VARCHAR")
    connection.create_function("duration", duration, ["BIGINT"], "VARCHAR")


DISK_SUMS = """count(*) n, COALESCE(sum(bytes) FILTER (operation = 'Read'), 0)::BIGINT r,
    COALESCE(sum(bytes) FILTER (operation = 'Write'), 0)::BIGINT w, COALESCE(sum(duration_ns), 0)::BIGINT t, count(duration_ns) k"""
DISK_SHOWN = """size(r), size(w), shown(n), CASE k WHEN 0 THEN '–' ELSE duration(t) END,
    CASE k WHEN 0 THEN '–' ELSE duration(t // k) END"""


def add_dataset(folder, name, rows):
    """A dataset of made rows instead of what was there; what is None is NULL."""
    path = os.path.join(folder, "sidecar", "manifest.json")
    with open(path, encoding="utf-8") as file:
        record = json.load(file)
    record["files"] = [one for one in record["files"] if not one["path"].startswith(f"events/{name}/")]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(record, file)
    shutil.rmtree(os.path.join(folder, "events", name), ignore_errors=True)
    made.add_dataset(folder, name, [{column: value for column, value in row.items() if value is not None} for row in rows])


def add_files(folder, rows):
    """The table of files, which a trace without any does not have."""
    numbers = [(name, pyarrow.int64()) for name in ("file_key", "from_ns", "to_ns", "machine")]
    schema = pyarrow.schema([*numbers, ("path", pyarrow.string()), ("source_of", pyarrow.string())])
    made.add_file(folder, "sidecar/files.parquet", pyarrow.Table.from_pylist(rows, schema=schema))


class Files(Section):
    """Disks and files are those of `disk_io`, `page_faults` and `file_io`."""

    def compare(self, out, page):
        with with_views(out) as connection:
            with_words(connection)
            name = "COALESCE(file, '(path not recorded)')"
            self.check(page, "Disk operations by disk", connection, f"""SELECT d, {DISK_SHOWN} FROM (
                SELECT COALESCE(disk::VARCHAR, 'not recorded') d, {DISK_SUMS} FROM disk_io GROUP BY 1) ORDER BY r + w DESC, d""")
            for caption, weight in [("by bytes", "r + w"), ("by time", "t")]:
                self.check(page, f"Disk operations by file, {caption}", connection, f"""SELECT f, {DISK_SHOWN} FROM (
                    SELECT {name} f, {DISK_SUMS} FROM disk_io GROUP BY 1) ORDER BY {weight} DESC, f""")
            if connection.execute("SELECT count(*) FROM page_faults WHERE kind = 'HardFault'").fetchone()[0]:
                self.check(page, "Hard page faults by file", connection, f"""SELECT f, CASE k WHEN 0 THEN '–' ELSE duration(t) END,
                    shown(n), size(b) FROM (SELECT {name} f, count(*) n, COALESCE(sum(bytes), 0)::BIGINT b, count(duration_ns) k,
                    COALESCE(sum(duration_ns) FILTER (duration_ns >= 0), 0)::BIGINT t
                    FROM page_faults WHERE kind = 'HardFault' GROUP BY 1) ORDER BY t DESC, f""")
            if connection.execute("SELECT count(*) FROM file_io WHERE operation IN ('Read', 'Write')").fetchone()[0]:
                self.check(page, "Reads and writes of programs by file", connection, f"""SELECT f, size(r), size(w), shown(n) FROM (
                    SELECT {name} f, count(*) n, COALESCE(sum(bytes) FILTER (operation = 'Read'), 0)::BIGINT r,
                    COALESCE(sum(bytes) FILTER (operation = 'Write'), 0)::BIGINT w
                    FROM file_io WHERE operation IN ('Read', 'Write') GROUP BY 1) ORDER BY r + w DESC, f""")

    def test_traces_of_the_corpus(self):
        for name in ["perfview-net.4.5.2.x64", "perfview-net.4.5.x86-old", "filtrace-diskio"]:
            with self.subTest(trace=name):
                out, folder = converted(name)
                self.compare(out, page_of_folder(folder))

    def test_made_cases(self):
        out, folder = example()
        key, ms = -0x10, 1_000_000
        add_files(folder, [
            {"file_key": key, "path": r"C:\a", "from_ns": 0, "to_ns": 100 * ms, "machine": 0},
            {"file_key": key, "path": r"C:\b", "from_ns": 100 * ms, "to_ns": 2**62, "machine": 0},
            {"file_key": 7, "path": r"C:\a", "from_ns": 0, "to_ns": 2**62, "machine": 0},
            {"file_key": 8, "path": None, "from_ns": 0, "to_ns": 2**62, "machine": 0},
            {"file_key": 9, "path": r"C:\elsewhere", "from_ns": 0, "to_ns": 2**62, "machine": 1},
        ])

        def disk(time, name, file, number, amount, took):
            return {"event_name": f"DiskIo/{name}", "timestamp_ns": time * ms, "input": 0, "FileObject": file, "DiskNumber": number,
                    "TransferSize": amount, "HighResResponseTime_ns": took}

        add_dataset(folder, "Kernel-DiskIo", [
            # One path by two keys, one key with two paths.
            disk(10, "Read", key, 0, 4096, 3 * ms), disk(10, "Write", 7, 0, 1024, ms), disk(100, "Read", key, 1, 512, 9 * ms),
            # No path, another machine's, no key, no disk.
            disk(10, "Write", 8, 1, 1, ms), disk(10, "Write", 9, 1, 1, ms), disk(10, "Write", None, None, 1, None),
            # What only begins, and a flush.
            disk(10, "ReadInit", key, 0, 1 << 30, ms), disk(10, "FlushBuffers", 7, 0, 1 << 30, 2 * ms),
        ])

        def fault(time, file, amount, began, name="HardFault"):
            return {"event_name": f"PageFault/{name}", "timestamp_ns": time * ms, "input": 0, "FileObject": file,
                    "ByteCount": amount, "InitialTime_ns": None if began is None else began * ms}

        add_dataset(folder, "Kernel-PageFault", [
            fault(20, key, 4096, 15), fault(20, 7, 8192, None), fault(120, key, 4096, 119), fault(20, key, 4096, 1, "DemandZeroFault"),
        ])

        def asked(time, name, file, amount, **more):
            return {"event_name": f"FileIo/{name}", "timestamp_ns": time * ms, "input": 0, "FileKey": file, "FileObject": 8,
                    "IoSize": amount, "FileName": None, **more}

        add_dataset(folder, "Kernel-FileIo", [
            asked(10, "Read", key, 10), asked(10, "Write", None, 5), asked(10, "Read", key, 3, FileName=r"D:\own"),
            asked(10, "Create", key, 1 << 40), asked(100, "Read", key, None),
        ])
        add_dataset(folder, "Microsoft-Windows-Kernel-File", [
            {"event_name": "Write", "timestamp_ns": 100 * ms, "input": 0, "FileKey": key, "FileObject": 8, "IOSize": 2048, "FileName": None},
        ])
        page = page_of_folder(folder)
        pathless = "(path not recorded)"
        self.assertEqual(shown(page.tables["Disk operations by disk"]), [
            ["0", "4.00 KiB", "1.00 KiB", "3", "6 ms", "2 ms"],
            ["1", "512 B", "2 B", "3", "11 ms", "3.666 ms"],
            ["not recorded", "0 B", "1 B", "1", "–", "–"],
        ])
        rows = [
            [r"C:\a", "4.00 KiB", "1.00 KiB", "3", "6 ms", "2 ms"],
            [r"C:\b", "512 B", "0 B", "1", "9 ms", "9 ms"],
            [pathless, "0 B", "3 B", "3", "2 ms", "1 ms"],
        ]
        self.assertEqual(shown(page.tables["Disk operations by file, by bytes"]), rows)
        self.assertEqual(shown(page.tables["Disk operations by file, by time"]), [rows[1], rows[0], rows[2]])
        self.assertEqual(shown(page.tables["Hard page faults by file"]), [
            [r"C:\a", "5 ms", "2", "12.00 KiB"], [r"C:\b", "1 ms", "1", "4.00 KiB"],
        ])
        self.assertEqual(shown(page.tables["Reads and writes of programs by file"]), [
            [r"C:\b", "0 B", "2.00 KiB", "2"], [r"C:\a", "10 B", "0 B", "1"], [pathless, "0 B", "5 B", "1"], [r"D:\own", "3 B", "0 B", "1"],
        ])
        self.compare(out, page)


class Starts(Section):
    """What processes did in their first five seconds."""

    COLUMNS = ["process", "id", "looked at", "on processors", "waited", "read", "written", "hard faults", "modules", "last module after"]

    def test_made_cases(self):
        _, folder = example()
        ms, forever = 1_000_000, 10**12
        cases = scheduling.Made(1_000_000, ms)
        cases.case("starts", (0, 0, 20_000), (1, 0, 20_000))

        def process(number, begin, end=forever, **row):
            times = {name: value * ms for name, value in row.items() if name.endswith("_ns")}
            cases.span("processes", begin, end, process_id=number, image_name=f"{number}.exe", **{**row, **times})

        process(6, 1000, started_ns=1000, parent_process_id=1, command_line="6.exe /a")
        # One id twice: the first ended, of the second it is only known that the id means another one later.
        process(7, 2000, 2600, started_ns=2000, ended_ns=2500, parent_process_id=11)
        process(7, 3000, 4000, started_ns=3000)
        # Up to the end of the recording.
        process(8, 18_000, started_ns=18_000)
        # Before the recording, and what had ended before.
        process(9, 0, started_ns=-5)
        process(10, 0, started_ns=5000, is_defunct=True)
        for thread, owner, begin in [(60, 6, 0), (70, 7, 0), (71, 7, 2900), (80, 8, 0)]:
            cases.span("threads", begin, forever, thread_id=thread, process_id=owner)
        for time, cpu, old, new in [
            (1500, 0, 0, 60), (2000, 0, 60, 70), (2400, 0, 70, 60), (5900, 0, 60, 0), (6500, 0, 0, 60), (7000, 0, 60, 0),
            (18_500, 0, 0, 80), (19_500, 0, 80, 0), (3000, 1, 0, 71), (3500, 1, 71, 0), (3900, 1, 0, 71), (4200, 1, 71, 0),
        ]:
            cases.switch(time, cpu, old, new)
        # A tenth of a second of an interrupt is nobody's.
        cases.interrupt("ISR", 2500, 2600, 0)
        cases.rows["Kernel-Thread"].sort(key=lambda row: row["timestamp_ns"])
        for seq, row in enumerate(cases.rows["Kernel-Thread"]):
            row["seq"] = seq
        for dataset, rows in cases.rows.items():
            add_dataset(folder, dataset, rows)
        for name, rows in cases.sidecar.items():
            made.replace_table(folder, name, rows)

        def event(time, name, **row):
            return {"event_name": name, "timestamp_ns": time * ms, "input": 1, **row}

        add_dataset(folder, "Kernel-DiskIo", [
            event(time, f"DiskIo/{name}", thread_id=thread, TransferSize=amount, HighResResponseTime_ns=1)
            for time, name, thread, amount in [
                (1200, "Read", 60, 4096), (6001, "Read", 60, 1), (3999, "Write", 71, 512), (4000, "Write", 71, 1), (1200, "ReadInit", 60, 1)]
        ])
        add_dataset(folder, "Kernel-PageFault", [
            event(1300, "PageFault/HardFault", process_id=6), event(6000, "PageFault/HardFault", process_id=6),
            event(1300, "PageFault/DemandZeroFault", process_id=6),
        ])
        add_dataset(folder, "Kernel-Image", [
            event(time, f"Image/{name}", ProcessId=number)
            for time, name, number in [(1001, "Load", 6), (1400, "Load", 6), (1500, "UnLoad", 6), (18_001, "Load", 8), (6000, "Load", 6)]
        ])
        add_dataset(folder, "Microsoft-Windows-Kernel-Process", [event(1002, "", event_id=5, ProcessID=6)])
        tables = page_of_folder(folder).tables
        unknown = "not recorded"
        self.assertEqual(tables["Processes that started"][1:], [
            ["6.exe", "6", "+1 s", "1.exe (1)", "–", "6.exe /a"],
            ["8.exe", "8", "+18 s", unknown, "–", unknown],
            ["7.exe", "7", "+3 s", unknown, "–", unknown],
            ["7.exe", "7", "+2 s", "process 11", "500 ms", unknown],
        ])
        self.assertEqual(tables["First seconds of processes"], [
            self.COLUMNS,
            ["6.exe", "6", "5 s", "3.9 s", "500 ms", "4.00 KiB", "0 B", "1", "2", "400 ms"],
            ["8.exe", "8", "2 s", "1 s", "0 ns", "0 B", "0 B", "0", "1", "1 ms"],
            ["7.exe", "7", "1 s", "600 ms", "400 ms", "0 B", "512 B", "0", "0", "–"],
            ["7.exe", "7", "500 ms", "400 ms", "0 ns", "0 B", "0 B", "0", "0", "–"],
        ])
        self.check_processors(folder, tables)

    def check_processors(self, folder, tables):
        """Time of processes on processors and of waits, by the judge of scheduling."""
        trace = judge.Trace(folder)
        first, last = span(folder)
        found = []
        for row in made_rows(folder, "sidecar/processes.parquet"):
            begin = row["started_ns"]
            if begin is None or not first <= begin <= last or row["is_defunct"]:
                continue
            end = min(begin + 5 * 10**9, row["to_ns"] if row["ended_ns"] is None else row["ended_ns"], last + 1)

            def within(other, since, until, begin=begin, end=end, row=row):
                is_own = other["process_id"] == row["process_id"] and other["machine"] == row["machine"] and begin <= since < end
                return min(end, until) - since if is_own else 0

            cpu = sum(within(run, since, until) for since, until, what, run in running(trace) if what == "busy")
            waited = sum(within(off, off["from_ns"], off["to_ns"]) for off in judge.off_cpu(trace) if off["state"] == judge.WAITING)
            found.append((-cpu, begin, [row["image_name"], str(row["process_id"]), duration(end - begin), duration(cpu), duration(waited)]))
        self.assertEqual([row[:5] for row in tables["First seconds of processes"][1:]], [row for _, _, row in sorted(found)])

    def test_traces_of_the_corpus(self):
        for name in ["perfview-net.4.5.2.x64", "perfview-net.4.5.x86-old"]:
            with self.subTest(trace=name):
                out, folder = converted(name)
                first, last = span(folder)
                with with_views(out) as connection:
                    with_words(connection)
                    self.check(page_of_folder(folder), "First seconds of processes", connection, f"""WITH s AS (
                        SELECT process_id p, image_name n, started_ns b,
                            LEAST(started_ns + 5000000000, COALESCE(ended_ns, to_ns), {last} + 1) e FROM processes
                        WHERE started_ns BETWEEN {first} AND {last} AND is_defunct IS NOT TRUE)
                        SELECT n, p, duration(e - b), shown(c),
                            size((SELECT COALESCE(sum(bytes), 0)::BIGINT FROM disk_io d WHERE d.process_id = p AND operation = 'Read'
                                AND timestamp_ns >= b AND timestamp_ns < e)),
                            size((SELECT COALESCE(sum(bytes), 0)::BIGINT FROM disk_io d WHERE d.process_id = p AND operation = 'Write'
                                AND timestamp_ns >= b AND timestamp_ns < e)),
                            (SELECT count(*) FROM page_faults f WHERE f.process_id = p AND kind = 'HardFault'
                                AND timestamp_ns >= b AND timestamp_ns < e),
                            (SELECT count(*) FROM "Kernel-Image" i WHERE event_name = 'Image/Load' AND i.ProcessId = p
                                AND timestamp_ns >= b AND timestamp_ns < e),
                            duration((SELECT max(timestamp_ns) FROM "Kernel-Image" i WHERE event_name = 'Image/Load' AND i.ProcessId = p
                                AND timestamp_ns >= b AND timestamp_ns < e) - b)
                        FROM (SELECT *, (SELECT count(*) FROM cpu_samples c WHERE c.process_id = p AND timestamp_ns >= b AND timestamp_ns < e
                            AND interrupt IS DISTINCT FROM 'dpc' AND interrupt IS DISTINCT FROM 'isr') c FROM s) ORDER BY c DESC, b""")


class Timeline(Section):
    """Slices of the time, and the parts of these."""

    def slices(self, folder):
        """From when to when slices are, and their parts: eight of eight."""
        first, last = span(folder)

        def parts(first, points):
            bounds = [first + -(-points * number // 8) for number in range(9)]
            return list(zip(bounds, bounds[1:]))

        return first, [(begin, end, parts(begin, end - begin)) for begin, end in parts(first, last + 1 - first)]

    def compare(self, page, folder, title, amounts, shown_as):
        """`amounts` gives what there is between two times, by name."""
        first, slices = self.slices(folder)
        for begin, end, parts in slices:
            sums = amounts(begin, end)
            caption = f"{title}, +{duration(begin - first)} to +{duration(end - first)}: amounts by time from the beginning"
            if not sums:
                self.assertNotIn(caption, page.tables)
                continue
            table = page.tables[caption]
            self.assertEqual(table[0], ["processes", "in all", *(f"+{duration(since - first)}" for since, _ in parts)])
            in_parts = [amounts(*part) for part in parts]
            expected = ranked(sums)
            rows = [[name, shown_as(amount), *(shown_as(part[name]) for part in in_parts)] for name, amount in expected[:6]]
            if len(expected) > 6:
                names = [name for name, _ in expected[6:]]
                rest = [shown_as(sum(part[name] for name in names)) for part in [sums, *in_parts]]
                rows.append([f"and {len(names)} more", *rest])
            self.assertEqual(table[1:], rows, caption)

    def test_samples_of_the_corpus(self):
        out, folder = converted("perfview-net.4.5.2.x64")
        with with_views(out) as connection:
            samples = connection.execute("""SELECT timestamp_ns, CASE interrupt WHEN 'isr' THEN 'interrupt service routines'
                WHEN 'dpc' THEN 'deferred procedure calls' ELSE COALESCE(process_name, 'process ' || process_id, 'thread ' || thread_id) END
                FROM cpu_samples WHERE process_id IS DISTINCT FROM 0 OR interrupt IN ('dpc', 'isr')""").fetchall()
        self.assertGreater(len(samples), 1000)

        def amounts(begin, end):
            return collections.Counter(name for time, name in samples if begin <= time < end)

        self.compare(page_of_folder(folder), folder, "Samples by process", amounts, lambda n: f"{n:,} sample{'' if n == 1 else 's'}")

    def test_time_of_the_corpus(self):
        out, folder = converted("filtrace-diskio")
        names = {"dpc": "deferred procedure calls", "isr": "interrupt service routines"}
        runs = [(begin, end, named(row) if what == "busy" else names.get(what)) for begin, end, what, row in running(judge.Trace(folder))]
        runs = [run for run in runs if run[2]]
        self.assertGreater(len(runs), 100)

        def amounts(begin, end):
            sums = collections.Counter()
            for since, until, name in runs:
                if max(begin, since) < min(end, until):
                    sums[name] += min(end, until) - max(begin, since)
            return sums

        self.compare(page_of_folder(folder), folder, "Time on processors by process", amounts, duration)

    def test_waits_of_the_corpus(self):
        out, folder = converted("filtrace-diskio")
        waits = [(row["from_ns"], row["to_ns"], named(row)) for row in judge.off_cpu(judge.Trace(folder)) if row["state"] == judge.WAITING]
        self.assertGreater(len(waits), 100)

        def amounts(begin, end):
            sums = collections.Counter()
            for since, until, name in waits:
                if max(begin, since) < min(end, until):
                    sums[name] += min(end, until) - max(begin, since)
            return sums

        self.compare(page_of_folder(folder), folder, "Threads that waited, by process", amounts, duration)

    def test_disks_of_the_corpus(self):
        out, folder = converted("filtrace-diskio")
        with with_views(out) as connection:
            operations = connection.execute("""SELECT timestamp_ns, COALESCE(process_name, 'process ' || process_id, 'thread ' || thread_id,
                'no process recorded'), bytes FROM disk_io WHERE operation IN ('Read', 'Write')""").fetchall()
        self.assertGreater(len(operations), 100)

        def amounts(begin, end):
            sums = collections.Counter()
            for time, name, amount in operations:
                if begin <= time < end:
                    sums[name] += amount
            return sums

        self.compare(page_of_folder(folder), folder, "Bytes read and written by process", amounts, size)


class Collections(Section):
    """Garbage collections are those of `gc_collections`."""

    def test_traces_of_the_corpus(self):
        for name in ["dotnetperf-gccollectonly", "perfview-net.4.5.x86-old", "perfview-net.4.5.2.x64", "perfview-gcevents"]:
            with self.subTest(trace=name):
                out, folder = converted(name)
                page = page_of_folder(folder)
                process = "COALESCE(process_name, 'process ' || process_id)"
                with with_views(out) as connection:
                    with_words(connection)
                    self.check(page, "Collections by process and generation", connection, f"""SELECT w, shown(n),
                        CASE k WHEN 0 THEN '–' ELSE duration(p) END, shown(s), CASE s WHEN 0 THEN '–' ELSE duration(t // s) END, size(b)
                        FROM (SELECT {process} || ', generation ' || generation || CASE type WHEN 'BackgroundGC' THEN ', background' ELSE '' END w,
                            count(*) n, count(to_ns) s, COALESCE(sum(duration_ns), 0)::BIGINT t, COALESCE(sum(pause_ns), 0)::BIGINT p,
                            count(pause_ns) k, COALESCE(sum(promoted_bytes), 0)::BIGINT b FROM gc_collections GROUP BY 1) ORDER BY p DESC, w""")
                    if "Heaps behind collections" not in page.tables:
                        self.assertEqual(connection.execute("SELECT count(heap_bytes_after) FROM gc_collections").fetchone(), (0,))
                        continue
                    heaps = connection.execute(f"""SELECT w, shown(n), size(m), size(l) FROM (SELECT {process} w, count(*) n,
                        max(heap_bytes_after) m, arg_max(heap_bytes_after, to_ns) l
                        FROM gc_collections WHERE heap_bytes_after IS NOT NULL AND to_ns IS NOT NULL GROUP BY 1) ORDER BY m DESC, w""").fetchall()
                    self.assertEqual(page.tables["Heaps behind collections"][1:], [list(row) for row in heaps[:12]])


class Packets(Section):
    """Packets are those of `packets` and `packet_reports`."""

    def test_made_cases(self):
        out, folder = example()
        seen = {"event_id": 160, "OriginalPayloadSize": 100, "PktGroupId": 7, "DropReason": 0, "ComponentId": 1, "PktNumber": 1}
        rows = [{**seen, "ComponentId": one} for one in (1, 2, 3)]
        rows += [{**seen, "event_id": 170, "DropReason": 8, "ComponentId": 3, "OriginalPayloadSize": 120}]
        rows += [{**seen, "PktNumber": 2}, {**seen, "PktNumber": None}, {**seen, "PktNumber": None, "PktCount": 1}]
        rows += [{**seen, "event_id": 170, "DropReason": 9999, "PktNumber": 3, "ComponentId": 9, "OriginalPayloadSize": None}]
        # No report, and the names of components: of two the one that is last in their order.
        rows += [{**seen, "event_id": 10, "PktNumber": 77}]
        rows += [{"event_id": 20, "Id": one, "Name": name} for one, name in ((1, "nic"), (2, "filter"), (3, "bridge"), (3, "switch"))]
        add_dataset(folder, "Microsoft-Windows-PktMon", rows)
        captured = [
            {"event_id": 1001, "MiniportIfIndex": 4, "FragmentSize": 54}, {"event_id": 1001, "MiniportIfIndex": 4, "FragmentSize": 6},
            {"event_id": 1003, "MiniportIfIndex": 5, "FragmentSize": 1, "SourceNicName": "nic"}, {"event_id": 1002, "MiniportIfIndex": 4},
        ]
        add_dataset(folder, "Microsoft-Windows-NDIS-PacketCapture", [{"seq": 100 + at, **row} for at, row in enumerate(captured)])
        page = page_of_folder(folder)
        self.assertEqual(page.tables["Packets by who recorded them"][1:], [
            ["pktmon", "4", "320 B", "2", "8"], ["NDIS", "3", "61 B", "0", "3"],
        ])
        self.assertEqual(page.tables["Reports of packets by component"][1:], [
            ["nic (component 1)", "4", "400 B", "0"], ["interface 4", "2", "60 B", "0"], ["switch (component 3)", "2", "220 B", "1"],
            ["component 9", "1", "0 B", "1"], ["filter (component 2)", "1", "100 B", "0"], ["nic (interface 5)", "1", "1 B", "0"],
        ])
        self.assertEqual(page.tables["Drops by reason and component"][1:], [
            ["Filtered (8), switch (component 3)", "1"], ["reason 9999, component 9", "1"],
        ])
        self.assertIn("The size of 1 packet is not known.", page.source)
        with with_views(out) as connection:
            with_words(connection)
            self.check(page, "Packets by who recorded them", connection, """SELECT CASE source WHEN 'ndis' THEN 'NDIS' ELSE source END,
                shown(n), size(b), shown(d), shown(r) FROM (SELECT source, count(*) n, COALESCE(sum(bytes), 0)::BIGINT b,
                count(*) FILTER (is_dropped) d, sum(reports)::BIGINT r FROM packets GROUP BY 1) ORDER BY n DESC, 1""")
            self.check(page, "Drops by reason and component", connection, """SELECT w, shown(n) FROM (SELECT
                COALESCE(drop_reason_name || ' (' || drop_reason || ')', 'reason ' || drop_reason) || ', '
                || COALESCE(component || ' (component ' || component_id || ')', 'component ' || component_id) w, count(*) n
                FROM packet_reports WHERE drop_reason IS NOT NULL GROUP BY 1) ORDER BY n DESC, w""")


if __name__ == "__main__":
    unittest.main()

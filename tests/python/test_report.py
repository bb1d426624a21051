"""The page of `report`: its figures are those of the views, and of plain rules over the rows."""

import collections
import contextlib
import glob
import html.parser
import os
import re
import subprocess
import sys
import time
import unittest

import duckdb

import judge_scheduling as judge
import judge_stacks
import support
import test_judge_scheduling as scheduling

# Bytes that no page takes.
LARGEST = 2 << 20
VOID = {"meta", "link", "br", "img", "input", "hr"}


def report(folder, trace):
    """The page of a trace."""
    page = os.path.join(folder, "report.html")
    done = support.run("report", trace, "-o", page, "--progress", "never")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return page


def converted(name, trace):
    """The folder of a converted trace, and its page."""
    out = support.temporary_folder(name)
    done = support.run("convert", trace, "-o", out, "--progress", "never")
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    return out, report(support.temporary_folder(name + "-page"), out)


class Page(html.parser.HTMLParser):
    """What is on a page: tables by caption, headings, charts; tags that do not match are a fault."""

    def __init__(self, text):
        super().__init__()
        self.source, self.tables, self.headings, self.open, self.ids, self.charts = text, {}, [], [], [], 0
        self.marks, self.faults, self.row, self.text = [], [], None, ""
        self.feed(text)
        self.close()
        if self.open:
            self.faults.append(f"left open: {self.open}")

    def handle_startendtag(self, tag, attributes):
        self.marks.append(tag)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if "id" in attributes:
            self.ids.append(attributes["id"])
        if tag not in VOID:
            self.open.append(tag)
        if tag == "svg":
            self.charts += 1
            if attributes.get("role") != "img" or not attributes.get("aria-labelledby"):
                self.faults.append("a chart without a name")
        if tag == "tr":
            self.row = []
        self.text = ""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> without its begin")
        if tag == "caption":
            self.table = self.tables.setdefault(self.text, [])
        elif tag in ("td", "th") and self.row is not None:
            self.row.append(self.text)
        elif tag == "tr":
            self.table.append(self.row)
        elif tag in ("h1", "h2", "h3"):
            self.headings.append((int(tag[1]), self.text))
        self.text = ""

    def handle_data(self, data):
        self.text += data


def page_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return Page(file.read())


def count(text):
    return int(text.replace(",", ""))


def with_views(out):
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    done = support.run("views", out)
    if done.returncode != 0:
        raise AssertionError(done.stderr)
    connection.execute(done.stdout)
    return contextlib.closing(connection)


def duration(nanoseconds):
    """As the page shows one below an hour."""
    minutes, tenths = divmod(nanoseconds // 10**8, 600)
    if minutes > 0:
        return f"{minutes} min {tenths // 10:02}.{tenths % 10} s"
    for unit, size in [("s", 10**9), ("ms", 10**6), ("µs", 10**3)]:
        if nanoseconds >= size:
            thousandths = nanoseconds * 1000 // size
            return f"{thousandths / 1000:.3f}".rstrip("0").rstrip(".") + " " + unit
    return f"{nanoseconds} ns"


def size(amount):
    """As the page shows bytes."""
    if amount < 1024:
        return f"{amount} B"
    for unit in ["KiB", "MiB", "GiB"]:
        amount /= 1024
        if amount < 1024:
            return f"{amount:.2f} {unit}"
    raise AssertionError("larger than any in the corpus")


class Form(unittest.TestCase):
    """What holds of every page."""

    def test_the_page_is_well_formed_and_asks_for_nothing(self):
        folder = support.temporary_folder("report")
        page = report(folder, support.EXAMPLE)
        self.assertEqual(os.listdir(folder), ["report.html"], "the temporary folder is gone")
        with open(page, encoding="utf-8") as file:
            text = file.read()
        self.assertLess(len(text), LARGEST)
        self.assertNotRegex(text.lower(), r"<script|<link|<img|<iframe|javascript:|url\(|@import|\son[a-z]+=")
        self.assertEqual(re.findall(r'(?:href|src)="(?!#)', text), [])
        self.assertIn("""content="default-src 'none'; style-src 'unsafe-inline'\"""", text)
        found = Page(text)
        self.assertEqual(found.faults, [])
        self.assertEqual(len(found.ids), len(set(found.ids)), "every id once")
        levels = [level for level, _ in found.headings]
        self.assertEqual(levels[0], 1)
        self.assertTrue(all(b - a <= 1 for a, b in zip(levels, levels[1:])), levels)

    def test_a_converted_trace_has_the_same_page(self):
        out, page = converted("report-converted", support.EXAMPLE)
        direct = report(support.temporary_folder("report-direct"), support.EXAMPLE)
        with open(page, "rb") as one, open(direct, "rb") as other:
            self.assertEqual(one.read(), other.read())


@unittest.skipUnless(sys.platform == "linux", "the command that opens a file is another one here")
class Opened(unittest.TestCase):
    """`--open` hands the page to the system's command, and a page that cannot be shown is written all the same."""

    def run_with(self, folder, path):
        command = [support.BINARY, "report", support.EXAMPLE, "-o", "r.html", "--open", "--progress", "never"]
        environment = {**support.environment(), "PATH": path}
        return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=support.TIMEOUT_S)

    def test_the_page_is_handed_to_the_browser(self):
        folder = support.temporary_folder("report-open")
        opener = os.path.join(folder, "xdg-open")
        with open(opener, "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho "$1" > opened.tmp && mv opened.tmp opened\n')
        os.chmod(opener, 0o755)
        done = self.run_with(folder, folder + os.pathsep + os.environ["PATH"])
        self.assertEqual((done.returncode, done.stderr), (0, "wrote r.html\n"))
        seen, end = os.path.join(folder, "opened"), time.monotonic() + 60
        while not os.path.exists(seen) and time.monotonic() < end:
            time.sleep(0.05)
        with open(seen, encoding="utf-8") as file:
            self.assertEqual(file.read(), os.path.join(folder, "r.html") + "\n")

    def test_without_such_a_command_it_says_which_page_to_open(self):
        folder = support.temporary_folder("report-unopened")
        done = self.run_with(folder, os.path.join(folder, "nowhere"))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"^wrote r\.html\nwarning: the page cannot be shown: .*; open r\.html in a browser\n$")
        self.assertTrue(os.path.exists(os.path.join(folder, "r.html")))


class Figures(unittest.TestCase):
    """Figures on the page are those of SQL over the views."""

    @classmethod
    def setUpClass(cls):
        cls.corpus = support.corpus_or_skip()

    def of(self, name):
        out, page = converted(name, os.path.join(self.corpus, name + ".etl"))
        found = page_of(page)
        self.assertEqual(found.faults, [])
        return out, found

    def check(self, found, caption, connection, query):
        """The rows of a table, but for the one that adds up others, are the first of a query."""
        table = found.tables[caption][1:]
        expected = [[str(cell) for cell in row] for row in connection.execute(query).fetchall()]
        self.assertGreater(len(expected), 0)
        shown = [row for row in table if not re.search(r"^and [\d,]+ more", row[0])]
        width = len(expected[0])
        # Of equal weight the order is that of names.
        self.assertEqual([row[:width] for row in shown], expected[: len(shown)], caption)
        self.assertTrue(len(shown) == len(expected) or len(table) == len(shown) + 1, "what is left out is counted")

    def test_samples_network_and_disk(self):
        out, found = self.of("perfview-net.4.5.2.x64")
        with with_views(out) as connection:
            connection.create_function("shown", lambda number: f"{number:,}", ["BIGINT"], "VARCHAR")
            connection.create_function("size", size, ["BIGINT"], "VARCHAR")
            named = "COALESCE(process_name, 'process ' || process_id, 'thread ' || thread_id, 'no process recorded')"
            process = f"{named} AS who"
            # Interrupts are nobody's, and no idle time.
            shown = "(process_id IS DISTINCT FROM 0 OR interrupt IN ('dpc', 'isr'))"
            self.check(found, "Samples by process", connection,
                f"""SELECT who, shown(n) FROM (SELECT CASE interrupt WHEN 'isr' THEN 'interrupt service routines'
                WHEN 'dpc' THEN 'deferred procedure calls' ELSE {named} END AS who, count(*) n
                FROM cpu_samples WHERE {shown} GROUP BY 1) ORDER BY n DESC, who""")
            self.assertIn("interrupt service routines", [row[0] for row in found.tables["Samples by process"]])
            self.check(found, "Samples by module", connection,
                f"""SELECT m, shown(n) FROM (SELECT CASE WHEN module IS NOT NULL THEN module WHEN function_name IS NOT NULL
                THEN '.NET methods outside of modules' ELSE 'no known module' END AS m, count(*) n
                FROM cpu_samples WHERE {shown} GROUP BY 1) ORDER BY n DESC, m""")
            self.assertIn(".NET methods outside of modules", [row[0] for row in found.tables["Samples by module"]])
            self.check(found, "Samples by method", connection,
                f"""SELECT m, shown(n) FROM (SELECT COALESCE(function_namespace || '.', '') || function_name AS m, count(*) n
                FROM cpu_samples WHERE {shown} AND function_name IS NOT NULL GROUP BY 1) ORDER BY n DESC, m""")
            self.check(found, "Bytes read and written by process", connection,
                f"""SELECT who, size(r::BIGINT), size(w::BIGINT), shown(n) FROM (SELECT {process}, count(*) n,
                COALESCE(sum(bytes) FILTER (operation = 'Read'), 0) r, COALESCE(sum(bytes) FILTER (operation = 'Write'), 0) w
                FROM disk_io GROUP BY 1) ORDER BY r + w DESC, who""")
            self.check(found, "Bytes sent and received by process", connection,
                f"""SELECT who, size(s::BIGINT), size(r::BIGINT), shown(n) FROM (SELECT COALESCE(process_name, 'process ' || process_id, 'no process recorded') AS who, count(*) n,
                COALESCE(sum(bytes) FILTER (direction = 'sent'), 0) s, COALESCE(sum(bytes) FILTER (direction = 'received'), 0) r
                FROM network WHERE direction <> 'other' GROUP BY 1) ORDER BY s + r DESC, who""")
            total = connection.execute("SELECT count(*) FROM all_events").fetchone()[0]
            rows = found.tables["Events by provider"][1:]
            self.assertEqual(sum(count(row[1]) for row in rows), total)

    def test_time_on_processors(self):
        out, found = self.of("filtrace-diskio")
        with with_views(out) as connection:
            connection.create_function("duration", duration, ["BIGINT"], "VARCHAR")
            self.check(found, "Time on processors by process", connection,
                """SELECT who, duration(d::BIGINT) FROM (SELECT COALESCE(process_name, 'process ' || process_id,
                'thread ' || thread_id) who, sum(duration_ns) d FROM cpu_intervals WHERE state = 'busy' GROUP BY 1) ORDER BY d DESC, who""")
            times = connection.execute("""SELECT duration(sum(busy_ns)::BIGINT), duration(sum(busy_ns + idle_ns)::BIGINT),
                duration(sum(unknown_ns)::BIGINT) FROM cpu_time""").fetchone()
            self.assertEqual(times, ("830.936 ms", "2 min 19.3 s", "5 min 20.3 s"))
            self.assertIn(f"busy for {times[0]} of {times[1]} (", found.source)
            self.assertIn(f"for the other {times[2]}, nobody knows.", found.source)

    def test_pauses(self):
        out, found = self.of("dotnetperf-gccollectonly")
        with with_views(out) as connection:
            connection.create_function("duration", duration, ["BIGINT"], "VARCHAR")
            connection.create_function("shown", lambda number: f"{number:,}", ["BIGINT"], "VARCHAR")
            self.check(found, "Pauses by process", connection,
                """SELECT who, shown(n), duration(d::BIGINT) FROM (SELECT COALESCE(process_name, 'process ' || process_id) who, count(*) n,
                sum(duration_ns) d FROM gc_pauses GROUP BY 1) ORDER BY d DESC, who""")
            longest = connection.execute("SELECT duration(duration_ns) FROM gc_pauses ORDER BY duration_ns DESC LIMIT 10").fetchall()
            self.assertEqual([[row[1]] for row in found.tables["Longest pauses"][1:]], [list(row) for row in longest])


def events_by_name(folder):
    """Rows by dataset, name and level, counted in the files of events."""
    counts = collections.Counter()
    for path in glob.glob(os.path.join(glob.escape(folder), "events", "**", "*.parquet"), recursive=True):
        dataset = os.path.relpath(path, os.path.join(folder, "events")).split(os.sep)[0]
        for row in judge.read(path, ["event_name", "event_id", "opcode", "level"]):
            number = f"opcode {row['opcode']}" if row["event_id"] is None else f"event {row['event_id']}"
            counts[dataset, row["event_name"] or number, row["level"]] += 1
    return counts


class Events(unittest.TestCase):
    """Events by name and errors are those that lie in the files."""

    def test_names_and_errors(self):
        for name in ["perfview-net.4.5.x86-old", "tx-KernelNetwork"]:
            trace = os.path.join(support.corpus_or_skip(), name + ".etl")
            folder = support.dataset(support.convert([trace], support.temporary_folder("report-events")), trace)
            tables = page_of(report(support.temporary_folder("report-events-page"), folder)).tables
            counts, errors = collections.Counter(), collections.Counter()
            for (dataset, event, level), rows in events_by_name(folder).items():
                counts[event, dataset] += rows
                errors[f"{dataset}: {event}"] += rows if level in (1, 2) else 0
            expected = sorted(counts.items(), key=lambda item: (-item[1], item[0][1], item[0][0]))
            shown = [((row[0], row[4]), count(row[1])) for row in tables["Events by name"][1:]]
            self.assertEqual(shown, expected[:20])
            shown = [(row[0], count(row[1])) for row in tables.get("Events of errors", [[]])[1:]]
            self.assertEqual(shown, ranked(+errors)[:12])


def ranked(amounts):
    """Names with their amounts in the order of the page."""
    return sorted(amounts.items(), key=lambda item: (-item[1], item[0]))


def named(row):
    """What the page calls the process of a thread that ran or waited."""
    process, thread = row["process_id"], row["thread_id"]
    return row["process_name"] or (f"thread {thread}" if process is None else f"process {process}")


def running(trace):
    """Each time in which a processor did one thing: begin, end, what, and the interval of it; what is the innermost that holds the time."""
    told = judge.by_key([*judge.intervals(trace), *judge.interrupts(trace)], lambda row: (row["input"], row["cpu"]))
    for rows in told.values():
        rows = [row for row in rows if row["from_ns"] is not None]
        switched = [row for row in rows if "state" in row]
        if not switched:
            continue
        first, last = min(row["from_ns"] for row in switched), max(row["to_ns"] for row in switched)
        parts = [(max(first, row["from_ns"]), min(last, row["to_ns"]), row.get("kind") or row["state"]) for row in rows]
        for begin, end, what in judge.exclusive(parts, first, last):
            yield begin, end, what, next((row for row in switched if row["from_ns"] <= begin < row["to_ns"]), None)


def of_processes(trace):
    """Nanoseconds by process and kind of interrupt."""
    names, sums = {}, collections.Counter()
    for begin, end, what, row in running(trace):
        if what == "busy":
            what = named(row)
            names[what] = True
        sums[what] += end - begin
    return {name: sums[name] for name in names}, sums


class Scheduled(unittest.TestCase):
    """What the page says of processors is what plain rules over the rows say, on made cases and on a trace of the corpus."""

    def judged(self, folder):
        found = page_of(report(support.temporary_folder("report-judged"), folder))
        self.assertEqual(found.faults, [])
        return found.tables, judge.Trace(folder)

    def compare(self, folder):
        tables, trace = self.judged(folder)
        self.compare_processors(tables, trace)
        self.compare_waits(tables, trace)
        return tables, trace

    def compare_processors(self, tables, trace):
        processes, sums = of_processes(trace)
        kinds = {row["kind"] for row in judge.interrupts(trace)}
        busy = sum(processes.values())
        rows = {row[0]: row[1] for row in tables["Time of all processors"][1:]}
        interrupts = {"dpc": "deferred procedure calls", "isr": "interrupt service routines"}
        expected = {"processes": busy, "idle": sums["idle"], "unknown": sums["unknown"]}
        expected.update({interrupts[kind]: sums[kind] for kind in kinds})
        expected["in all"] = sum(expected.values())
        shown = {what: duration(time) for what, time in expected.items()}
        shown.update({name: "not recorded" for kind, name in interrupts.items() if kind not in kinds})
        self.assertEqual(rows, shown)
        # It adds up to the spans of processors; what has no processor is time that nobody knows.
        nowhere = [row for row in judge.intervals(trace) if row["cpu"] is None]
        spans = sum(row["span_ns"] for row in judge.cpu_time(trace))
        self.assertEqual(expected["in all"], spans + sum(row["to_ns"] - row["from_ns"] for row in nowhere))
        processes.update({interrupts[kind]: sums[kind] for kind in kinds})
        self.compare_names(tables["Time on processors by process"], processes, duration)

    def compare_names(self, table, amounts, shown):
        rows = [row[:2] for row in table[1:] if not row[0].startswith("and ")]
        expected = [[name, shown(amount)] for name, amount in ranked(amounts)]
        self.assertEqual(rows, expected[: len(rows)])
        self.assertTrue(len(rows) == len(expected) or len(rows) >= 12)

    def compare_waits(self, tables, trace):
        waits, longest, preempted = collections.Counter(), collections.Counter(), collections.Counter()
        for row in judge.off_cpu(trace):
            name = named(row)
            if row["state"] == judge.WAITING:
                waits[name] += row["off_cpu_ns"]
                longest[name] = max(longest[name], row["off_cpu_ns"])
            elif row["state"] == judge.READY:
                waits[name] += 0
                preempted[name] += row["off_cpu_ns"]
        table = tables["Waits by process"]
        self.compare_names(table, waits, duration)
        for name, _, _, largest, _, time in (row for row in table[1:] if not row[0].startswith("and ")):
            self.assertEqual((largest, time), (duration(longest[name]), duration(preempted[name])), name)

    def test_made_cases(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("report-made"))
        folder = support.dataset(out, support.EXAMPLE)
        made = scheduling.Made(1_000_000)
        for cases in (scheduling.processors, scheduling.states, scheduling.strangers, scheduling.interrupts):
            cases(made)
        made.write(folder)
        tables, trace = self.compare(folder)
        runs = collections.Counter()
        for row in judge.interrupts(trace):
            runs[f"{row['module'] or 'no known module'} ({row['kind'].upper()})"] += 1
        shown = {row[0]: row[2] for row in tables["Interrupts by driver"][1:]}
        self.assertEqual(shown, {name: str(count) for name, count in runs.items()})
        self.assertIn("a.sys (ISR)", shown)

    def test_a_trace_of_the_corpus(self):
        trace = os.path.join(support.corpus_or_skip(), "filtrace-diskio.etl")
        out = support.convert([trace], support.temporary_folder("report-scheduled"))
        self.compare(support.dataset(out, trace))


class Bars(html.parser.HTMLParser):
    """The bars of stacks: for each path of names what it says, and its place in the bar above it."""

    def __init__(self, text):
        super().__init__()
        self.open, self.bars, self.more = [], {}, {}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "div":
            is_bar = attributes.get("class", "").split(" ")[0] == "b"
            self.open.append({"style": attributes["style"]} if is_bar else None)
        elif self.open and self.open[-1] is not None and "title" in attributes:
            name, amount = re.fullmatch(r"(.*): (.*), (?:< )?\S+ %", attributes["title"], re.S).groups()
            self.open[-1]["name"] = name
            # The topmost bar is none of the path.
            path = tuple(bar["name"] for bar in self.open if bar)[1:]
            place = {key: float(value) for key, value in re.findall(r"(left|width):([\d.]+)%", self.open[-1]["style"])}
            (self.more if name.startswith("… and ") else self.bars)[path] = (name, amount, place)

    def handle_endtag(self, tag):
        if tag == "div":
            self.open.pop()


class Stacks(unittest.TestCase):
    """Bars of stacks are as wide as what plain rules over the rows say, and so are the tables of functions."""

    def of(self, name):
        trace = os.path.join(support.corpus_or_skip(), name + ".etl")
        folder = support.dataset(support.convert([trace], support.temporary_folder("report-stacks")), trace)
        page = page_of(report(support.temporary_folder("report-stacks-page"), folder))
        self.assertEqual(page.faults, [])
        return folder, page

    def compare(self, page, section, expected, shown, captions):
        text = re.search(f'<section id="{section}".*?</section>', page.source, re.S).group(0)
        found = Bars(text)
        self.assertEqual({path: amount for path, (_, amount, _) in found.bars.items()},
                         {path: shown(expected.paths[path]) for path in found.bars})
        for path in found.bars:
            self.compare_below(found, path, expected, shown)
        drawn = {path: expected.paths[path] for path in found.bars}
        self.assertLessEqual(len(drawn), 1500)
        self.assertTrue(len(drawn) == 1500 or len(drawn) == len(expected.paths))
        cut = [amount for path, amount in expected.paths.items() if path not in drawn]
        self.assertLessEqual(max(cut, default=0), min(drawn.values()), "the widest are drawn")
        self.compare_functions(page.tables, expected, shown, captions)
        return found

    def compare_below(self, found, path, expected, shown):
        """What is below a bar adds up to what it calls, one by one or together, and is placed side by side."""
        below, end = expected.below(path), 0.0
        places = [(found.bars[one][2], expected.paths[one]) for one in below if one in found.bars]
        cut = [expected.paths[one] for one in below if one not in found.bars]
        more = [bar for one, bar in found.more.items() if one[:-1] == path]
        self.assertEqual([bar[:2] for bar in more], [(f"… and {len(cut)} more", shown(sum(cut)))] if cut else [])
        places += [(bar[2], sum(cut)) for bar in more]
        for place, amount in sorted(places, key=lambda one: one[0].get("left", 0)):
            self.assertAlmostEqual(place["width"], 100 * amount / expected.paths[path], delta=0.0002)
            self.assertAlmostEqual(place.get("left", 0), end, delta=0.00001)
            end += place["width"]

    def compare_functions(self, tables, expected, shown, captions):
        for caption, amounts in zip(captions, [expected.own, expected.all]):
            rows = [[name, shown(expected.own[name]), shown(expected.all[name])] for name, _ in ranked(amounts)[:20]]
            self.assertEqual([[row[0], row[1], row[3]] for row in tables[caption][1:]], rows)
        self.assertEqual(sum(expected.own.values()), expected.paths[()])

    def compare_samples(self, name):
        folder, page = self.of(name)
        expected = judge_stacks.Paths(folder, judge_stacks.samples(folder))
        captions = ["Samples in each function", "Samples in each function and what it calls"]
        found = self.compare(page, "sample-stacks", expected,
                             lambda amount: f"{amount:,} sample{'' if amount == 1 else 's'}", captions)
        processes = page.tables["Samples by process"][1:]
        self.assertEqual(expected.paths[()], sum(count(row[1]) for row in processes), "all samples that the page counts")
        return folder, page, found, expected

    def test_samples_of_dotnet(self):
        _, _, found, expected = self.compare_samples("perfview-net.4.5.2.x64")
        self.assertEqual(expected.paths[()], 6320)
        self.assertIn("… and ", "".join(name for name, _, _ in found.more.values()))
        self.assertEqual(expected.own["System.DateTime.GetDatePart"], 1856)

    def test_samples_and_waits(self):
        folder, page, _, _ = self.compare_samples("filtrace-diskio")
        expected = judge_stacks.Paths(folder, judge_stacks.waits(folder))
        self.compare(page, "wait-stacks", expected, duration, ["Waits in each function", "Waits in each function and what it calls"])


if __name__ == "__main__":
    unittest.main()

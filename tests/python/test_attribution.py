"""Whose events are, held against what TraceEvent says of the same trace."""

import collections
import contextlib
import glob
import os
import re
import unittest

import duckdb

import support
from engines import literal

NAME = "perfview-net.4.5.2.x64"
LINE = re.compile(r"EVENT\s+([\d,.]+): (.*?) PID=\s*(-?[\d,]*); TID=\s*(-?[\d,]*); PName=(.*?); ProceNum=(\d+)")

# Where the two mean different things: what the header says is whose an event is here, and TraceEvent names the process that is started,
# takes the idle process for that of descriptions of the system, and reads the thread of a flush from another place.
MEANT_OTHERWISE = {
    "Windows Kernel/Process/Start",
    "Windows Kernel/Thread/Start",
    "Windows Kernel/SystemConfig/Services",
    "Windows Kernel/DiskIO/FlushBuffers",
}


def baseline(folder):
    """Microseconds from the start, kind, process, thread and name of process of each event of the baseline."""
    with open(os.path.join(folder, f"{NAME}.baseline.txt"), encoding="utf-8-sig") as lines:
        for line in lines:
            if match := LINE.match(line):
                time, kind, process, thread, name, cpu = match.groups()
                number = lambda text: int(text.replace(",", "") or -1)
                yield round(float(time.replace(",", "")) * 1000), kind, number(process), number(thread), name, int(cpu)


class TraceEvent(unittest.TestCase):
    def test_processes_threads_and_names_are_the_same(self):
        corpus = support.corpus_or_skip()
        out = support.temporary_folder("attribution")
        support.convert([os.path.join(corpus, f"{NAME}.etl")], out)
        trace = support.dataset(out, f"{NAME}.etl")
        with contextlib.closing(duckdb.connect()) as connection:
            start = connection.execute(
                f"SELECT start_anchor_ns FROM {literal(os.path.join(trace, 'sidecar', 'clock.parquet'))}"
            ).fetchone()[0]
            rows = collections.defaultdict(list)
            for file in glob.glob(os.path.join(trace, "events", "*", "*.parquet")):
                query = f"SELECT timestamp_ns, cpu, process_id, thread_id, process_name FROM {literal(file)}"
                for time, cpu, *ids in connection.execute(query).fetchall():
                    rows[round((time - start) / 1000), cpu].append(ids)
        same = collections.Counter()
        for time, kind, process, thread, name, cpu in baseline(corpus):
            found = rows[time, cpu]
            # Several events of a microsecond cannot be told apart by their time.
            if len(found) != 1 or kind in MEANT_OTHERWISE:
                continue
            found_process, found_thread, found_name = found[0]
            if process >= 0:
                self.assertEqual(found_process, process, kind)
                same["process"] += 1
            if thread >= 0:
                self.assertEqual(found_thread, thread, kind)
                same["thread"] += 1
            if name and not name.startswith("Process("):
                self.assertEqual(re.sub(r"\.exe$", "", found_name, flags=re.IGNORECASE), name, kind)
                same["name"] += 1
        self.assertEqual(same, {"process": 273, "thread": 233, "name": 271})

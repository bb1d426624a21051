"""A trace that is merged of machines which recorded at one time answers of each what the trace of that machine alone answers."""

import collections
import os
import unittest

import duckdb
from engines import duckdb_with, quoted

import support

# Machines that recorded much of the kernel and of .NET, with many ids of processes and threads in common.
TRACES = ["perfview-net.4.5.2.x64", "dotnetperf-gccollectonly", "tx-Process"]

# Numbers of rows in the whole trace, and of the machine in it.
OF_TRACE = {"trace", "seq", "start_seq", "stop_seq", "out_seq", "ready_seq", "in_seq", "input", "machine"}

VIEWS = """processes threads images files methods cpu_samples stack_walks cpu_intervals off_cpu waits cpu_usage interrupts cpu_time disk_io file_io network packets
    image_loads page_faults registry gc_pauses gc_collections exceptions jit http_requests dns_queries services activities""".split()


def header_time(trace):
    """When a session started, in Unix nanoseconds."""
    out = support.convert([trace], support.temporary_folder("alone"), "--quiet")
    sessions = os.path.join(support.dataset(out, trace), "sidecar", "clock.parquet")
    return duckdb.connect().execute(f"SELECT base_ns FROM '{sessions}'").fetchall()[0][0]


def rows(connection, view, trace, machine=None):
    """The rows of a view, of one machine where it has that, without what they are called in the whole."""
    columns = [name for name, *_ in connection.execute(f"DESCRIBE {quoted(view)}").fetchall()]
    kept = ", ".join(quoted(name) for name in columns if name not in OF_TRACE)
    condition = "" if machine is None or "machine" not in columns else f" AND machine = {machine}"
    found = connection.execute(f"SELECT {kept} FROM {quoted(view)} WHERE trace = '{trace}'{condition}").fetchall()
    return collections.Counter(map(str, found)), "machine" in columns


class Machines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        paths = [os.path.join(corpus, f"{name}.etl") for name in TRACES]
        starts = [header_time(path) for path in paths]
        offsets = [starts[0] - start + 1000 * number for number, start in enumerate(starts)]
        cls.out = support.temporary_folder("machines")
        lines = [f"{path} offset={offset:+d}ns" for path, offset in zip(paths, offsets, strict=True)]
        for name, some in [("lab", lines), *((f"alone{number}", [line]) for number, line in enumerate(lines))]:
            listed = os.path.join(support.temporary_folder("list"), "list.txt")
            with open(listed, "w", encoding="utf-8") as file:
                file.writelines(f"{line} merge={name}\n" for line in some)
            support.convert([f"@{listed}"], cls.out, "--quiet")
        cls.connection = duckdb_with(cls.out)

    def test_views_answer_of_each_machine_what_it_answers_alone(self):
        machines = self.connection.execute("SELECT input, machine FROM \"sidecar/sessions\" WHERE trace = 'lab' ORDER BY 1")
        found = dict(machines.fetchall())
        self.assertEqual(sorted(found.values()), [0, 1, 2])
        sources = self.connection.execute("SELECT input, source FROM \"sidecar/sessions\" WHERE trace = 'lab'").fetchall()
        machine_of = {os.path.splitext(source)[0]: found[number] for number, source in sources}
        answered = []
        for view in VIEWS:
            alone = [rows(self.connection, view, f"alone{number}")[0] for number in range(len(TRACES))]
            together, has_machine = rows(self.connection, view, "lab")
            self.assertEqual(together, sum(alone, collections.Counter()), view)
            answered += [view] if sum(map(bool, alone)) > 1 else []
            if has_machine:
                for name, own in zip(TRACES, alone, strict=True):
                    self.assertEqual(rows(self.connection, view, "lab", machine_of[name])[0], own, f"{view} of {name}")
        # The views in which more than one machine has rows.
        self.assertEqual(answered, ["processes", "threads", "images", "image_loads", "gc_pauses", "gc_collections", "services"])

    def test_rows_have_the_names_that_they_have_alone(self):
        columns = "timestamp_ns, provider, event_name, process_id, thread_id, process_name, attribution"
        of = f"SELECT {columns} FROM all_events WHERE trace"
        difference = (
            f"SELECT count(*) FROM (({of} = 'lab' EXCEPT ALL {of} LIKE 'alone%') UNION ALL ({of} LIKE 'alone%' EXCEPT ALL {of} = 'lab'))"
        )
        self.assertEqual(self.connection.execute(difference).fetchall()[0][0], 0)

    def test_the_machines_have_ids_in_common(self):
        for column, view, expected in [("thread_id", "threads", 510), ("process_id", "processes", 5)]:
            of = f"SELECT {column} FROM {view} WHERE trace"
            common = f"SELECT count(*) FROM ({of} = 'alone0' INTERSECT {of} = 'alone1')"
            self.assertEqual(self.connection.execute(common).fetchall()[0][0], expected)


if __name__ == "__main__":
    unittest.main()

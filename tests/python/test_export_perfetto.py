"""Traces of Perfetto, read by the messages that Perfetto's own package has, and held to the views and the rows."""

import collections
import contextlib
import functools
import glob
import os
import unittest

import duckdb
import intervals
import support
from engines import duckdb_with

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
except ImportError:
    protos = None

KERNEL = "filtrace-diskio.etl"
MANAGED = "perfview-net.4.5.2.x64.etl"
# Traces with activities of EventSource, of TraceLogging and of a manifest.
ACTIVE = ["perfview-diaghub.user_paged.1.etl", "pyetwkit-sample.etl", "krabsetw-powershell.etl", MANAGED]


def setUpModule():
    global OUT
    if protos is None:
        raise unittest.SkipTest("the package perfetto is not installed")
    corpus, out = support.corpus_or_skip(), support.temporary_folder("perfetto")
    OUT = {}
    for name in {KERNEL, MANAGED, *ACTIVE}:
        OUT[name] = os.path.join(out, name)
        run("convert", os.path.join(corpus, name), "-o", OUT[name], "-q")


def run(*arguments, expected=0):
    done = support.run(*arguments)
    assert done.returncode == expected, (arguments, done.returncode, done.stderr)
    return done


@functools.lru_cache
def exported(name, *options):
    path = os.path.join(OUT[name], "trace.perfetto")
    run("export", OUT[name], "--format", "perfetto", "-o", path, "-q", *options)
    with open(path, "rb") as file:
        data = file.read()
    trace = protos.Trace()
    trace.ParseFromString(data)
    return trace.packet


def unknown(message):
    """Whether a message, or one in it, has a field that the format does not know."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    if len(UnknownFieldSet(message)):
        return True
    for field, value in message.ListFields():
        if field.message_type is not None:
            values = value if not hasattr(value, "ListFields") else [value]
            if any(unknown(inner) for inner in values):
                return True
    return False


def ask(name, query):
    with contextlib.closing(duckdb_with(OUT[name])) as connection:
        return connection.execute(query).fetchall()


def rows(name, dataset, query):
    with contextlib.closing(duckdb.connect()) as connection:
        connection.execute(f"CREATE VIEW e AS FROM read_parquet('{OUT[name]}/trace=*/events/{dataset}/*.parquet', union_by_name = true)")
        return connection.execute(query).fetchall()


class Perfetto(unittest.TestCase):
    def test_every_field_is_one_of_the_format(self):
        packets = exported(MANAGED)
        for packet in [*packets[:2000], *packets[2000::97]]:
            self.assertFalse(unknown(packet), packet)

    def test_processes_and_threads_are_those_of_the_sidecar(self):
        for name in (KERNEL, MANAGED):
            trees = [packet for packet in exported(name) if packet.HasField("process_tree")]
            found = [(p.pid, p.ppid, "".join(p.cmdline), packet.timestamp) for packet in trees for p in packet.process_tree.processes]
            query = "SELECT process_id, coalesce(parent_process_id, 0), coalesce(image_name, ''), greatest(from_ns, 0) FROM processes"
            self.assertEqual(sorted(found), sorted(ask(name, query)))
            found = [(t.tid, t.tgid, t.name, packet.timestamp) for packet in trees for t in packet.process_tree.threads]
            query = "SELECT thread_id, process_id, coalesce(name, ''), greatest(from_ns, 0) FROM threads WHERE process_id IS NOT NULL"
            self.assertEqual(sorted(found), sorted(ask(name, query)))

    def test_switches_are_the_rows(self):
        events = [event for packet in exported(KERNEL) for event in packet.etw_events.event]
        switches = [
            (
                e.timestamp, e.cpu, s.new_thread_id, s.old_thread_id, s.new_thread_priority, s.old_thread_priority,
                s.old_thread_wait_reason if s.HasField("old_thread_wait_reason") else s.old_thread_wait_reason_int,
                s.old_thread_state if s.HasField("old_thread_state") else s.old_thread_state_int,
            )
            for e in events if e.HasField("c_switch") for s in [e.c_switch]
        ]
        expected = rows(KERNEL, "Kernel-Thread", """SELECT timestamp_ns, cpu, NewThreadId, OldThreadId, NewThreadPriority, OldThreadPriority,
            OldThreadWaitReason, OldThreadState FROM e WHERE event_name = 'Thread/CSwitch' ORDER BY seq""")
        self.assertEqual(switches, expected)
        self.assertTrue(switches)
        ready = [(e.timestamp, e.cpu, e.ready_thread.t_thread_id) for e in events if e.HasField("ready_thread")]
        query = "SELECT timestamp_ns, cpu, TThreadId FROM e WHERE event_name = 'Thread/ReadyThread' ORDER BY seq"
        has_ready = rows(KERNEL, "Kernel-Thread", "SELECT count(*) FROM e WHERE event_name = 'Thread/ReadyThread'")[0][0]
        self.assertEqual(ready, rows(KERNEL, "Kernel-Thread", query) if has_ready else [])

    def test_samples_have_their_stacks(self):
        for name in (KERNEL, MANAGED):
            packets = [packet for packet in exported(name) if packet.trusted_packet_sequence_id == 3]
            if not packets:
                continue
            self.assertEqual((packets[0].sequence_flags, packets[0].trace_packet_defaults.perf_sample_defaults.timebase.counter), (3, 1))
            names, paths, mappings, frames, stacks, found = {}, {}, {}, {}, {}, []
            for packet in packets[1:]:
                self.assertEqual(packet.sequence_flags, 2)
                data = packet.interned_data
                names.update((one.iid, one.str.decode()) for one in data.function_names)
                paths.update((one.iid, one.str.decode()) for one in data.mapping_paths)
                mappings.update((one.iid, [paths[path] for path in one.path_string_ids]) for one in data.mappings)
                frames.update((one.iid, (names[one.function_name_id], mappings[one.mapping_id][0])) for one in data.frames)
                stacks.update((one.iid, [frames[frame] for frame in one.frame_ids]) for one in data.callstacks)
                sample = packet.perf_sample
                found.append((packet.timestamp, sample.cpu, sample.tid, stacks[sample.callstack_iid]))
            expected = rows(name, "Kernel-PerfInfo", """SELECT timestamp_ns, cpu, ThreadId FROM e
                WHERE event_name = 'PerfInfo/SampleProf' ORDER BY seq""")
            self.assertEqual([one[:3] for one in found], expected)
            # The folded stacks, which test_export.py holds to the views, have the same sums.
            folded = collections.Counter()
            for line in run("export", OUT[name], "--format", "folded", "-q").stdout.splitlines():
                stack, count = line.rsplit(" ", 1)
                folded[tuple(stack.split(";")[1:])] += int(count)
            own = collections.Counter()
            for *_, stack in found:
                own[tuple(text(*frame) for frame in stack)] += 1
            self.assertEqual(own, folded)

    def test_pauses_are_those_of_the_view(self):
        found = [(one.begin, one.name, one.end) for one in slices(exported(MANAGED)) if not one.category]
        query = "SELECT from_ns, 'GC pause' || coalesce(': ' || reason, ''), from_ns + duration_ns FROM gc_pauses"
        self.assertEqual(sorted(found), sorted(ask(MANAGED, query)))

    def test_activities_are_those_of_the_rows_and_of_the_view(self):
        for name in ACTIVE:
            with self.subTest(name=name):
                found = [one for one in slices(exported(name)) if one.category == "activity"]
                [folder] = glob.glob(os.path.join(OUT[name], "trace=*"))
                expected = intervals.activities(folder)
                self.assertTrue(expected)
                self.assertEqual(sorted(activity(one) for one in found), expected)
                query = "SELECT provider, activity_id, process_id, from_ns, to_ns FROM activities"
                self.assertEqual(sorted((p, a, process, begin, end) for p, _, a, process, _, begin, end in map(activity, found)), sorted(ask(name, query)))

    def test_counters_end_with_the_sums_of_the_views(self):
        for name in (KERNEL, MANAGED):
            tracks, last = {}, {}
            for packet in exported(name):
                if packet.track_descriptor.HasField("counter"):
                    self.assertEqual(packet.track_descriptor.counter.unit, protos.CounterDescriptor.UNIT_SIZE_BYTES)
                    tracks[packet.track_descriptor.uuid] = packet.track_descriptor.name
                elif packet.track_event.type == protos.TrackEvent.TYPE_COUNTER:
                    last[tracks[packet.track_event.track_uuid]] = packet.track_event.counter_value
            expected = {}
            for disk, operation, total in rows(name, "Kernel-DiskIo", """SELECT DiskNumber, event_name, sum(TransferSize)::BIGINT FROM e
                    WHERE event_name IN ('DiskIo/Read', 'DiskIo/Write') GROUP BY ALL"""):
                expected[f"disk {disk}: bytes {'read' if operation.endswith('Read') else 'written'}"] = total
            if name == MANAGED:
                for protocol, way, total in ask(name, """SELECT upper(protocol), direction, sum(bytes)::BIGINT FROM network
                        WHERE direction IN ('sent', 'received') AND bytes IS NOT NULL GROUP BY ALL"""):
                    expected[f"{protocol}: bytes {way}"] = total
            self.assertEqual(last, expected)

    def test_filters_and_bytes(self):
        some = exported(KERNEL, "--cpu", "0")
        self.assertEqual({event.cpu for packet in some for event in packet.etw_events.event}, {0})
        one = [packet.SerializeToString() for packet in exported(KERNEL)]
        self.assertEqual(one, [packet.SerializeToString() for packet in exported(KERNEL, "--threads", "1")])
        path = os.path.join(OUT[KERNEL], "none.perfetto")
        run("export", OUT[KERNEL], "--format", "perfetto", "-o", path, "--pid", "4294967294", expected=5)
        self.assertFalse(os.path.exists(path))


Slice = collections.namedtuple("Slice", "track name category process begin end depth said")


def slices(packets):
    """Slices as the viewer builds them: events in the order of their times, those of one time in the order of the file; an end ends the
    last slice of its track that is open."""
    names, parents, processes, events = {}, {}, {}, []
    for packet in packets:
        track, event = packet.track_descriptor, packet.track_event
        if packet.HasField("track_descriptor"):
            assert track.uuid not in names
            names[track.uuid], parents[track.uuid] = track.name, track.parent_uuid
            if track.HasField("process"):
                assert (packet.machine_id, track.process.pid) not in processes.values()
                processes[track.uuid] = packet.machine_id, track.process.pid
        elif event.type in (protos.TrackEvent.TYPE_SLICE_BEGIN, protos.TrackEvent.TYPE_SLICE_END):
            events.append((packet.timestamp, event))
    found, opened = [], collections.defaultdict(list)
    for time, event in sorted(events, key=lambda one: one[0]):
        stack = opened[event.track_uuid]
        if event.type == protos.TrackEvent.TYPE_SLICE_BEGIN:
            stack.append((time, event))
            continue
        begin, first = stack.pop()
        said = {one.name: one.string_value or one.uint_value for one in first.debug_annotations}
        process = processes.get(parents[event.track_uuid], (0, None))[1]
        found.append(Slice((event.track_uuid, names[event.track_uuid]), first.name, "".join(first.categories), process, begin, time, len(stack), said))
    assert not any(opened.values())
    return found


def activity(one):
    """A slice as `intervals.activities` has it."""
    return one.track[1], one.name, one.said["activity_id"], one.process, one.said["thread_id"], one.begin, one.end


class Made(unittest.TestCase):
    """What no trace at hand has."""

    @classmethod
    def setUpClass(cls):
        cls.out = support.temporary_folder("perfetto-made")
        folder = intervals.made(cls.out)
        cls.start = intervals.start_ns(folder)
        OUT["made"] = cls.out

    def slices(self, category, *options):
        return [one for one in slices(exported("made", *options)) if one.category == category and one.process in (10, 11)]

    def after(self, one):
        return (one.begin - self.start) / intervals.MS, (one.end - self.start) / intervals.MS

    def test_every_field_is_one_of_the_format(self):
        self.assertFalse(any(map(unknown, exported("made"))))

    def test_activities_are_where_both_ends_are(self):
        found = self.slices("activity")
        self.assertEqual(sorted((*activity(one)[:5], *self.after(one)) for one in found), intervals.MADE)
        [handed] = [one for one in found if "stop_process_id" in one.said]
        self.assertEqual((handed.said["process_id"], handed.said["stop_process_id"], handed.said["stop_thread_id"], self.after(handed)), (10, 11, 5, (80, 90)))
        [paid] = [one for one in found if one.name == "Pay"]
        self.assertEqual((paid.said["related_activity_id"], paid.said["stop_thread_id"]), (intervals.letter("A"), 2))
        done = run("export", self.out, "--format", "perfetto", "-o", os.path.join(self.out, "warned.perfetto"))
        self.assertIn("1 activities are left out: their ends are not recorded", done.stderr)
        self.assertIn("2 operations on files are left out: their ends are not recorded", done.stderr)

    def test_slices_share_a_track_where_they_are_within_one_another_or_apart(self):
        found = {self.after(one): (one.track[0], one.depth) for one in self.slices("activity")}
        order, pay, again, other, handed, till = (found[times] for times in [(10, 60), (20, 40), (25, 30), (45, 70), (80, 90), (85, 100)])
        self.assertEqual((order[1], pay), (0, (order[0], 1)))
        self.assertEqual((again[1], other[1], handed[1], till[1]), (0, 0, 0, 0))
        self.assertNotEqual(again[0], order[0])
        self.assertNotEqual(other[0], order[0])
        self.assertNotIn(till[0], {order[0], again[0], other[0], handed[0]})

    def test_operations_on_files_end_with_their_packet(self):
        found = [(one.name, one.process, *self.after(one), {k: v for k, v in one.said.items() if k != "process_id"}) for one in self.slices("file")]
        expected = [
            ("Create", 10, 10, 20, {"thread_id": 1, "path": r"C:\shop\a.txt", "status": "0xc0000034"}),
            ("Read", 10, 12, 14, {"thread_id": 2, "offset": 4096, "bytes": 512, "status": "0x00000000"}),
            ("Write", 10, 35, 40, {"thread_id": 1, "path": r"C:\shop\b.txt", "bytes": 9, "status": "0x00000000"}),
        ]
        self.assertEqual(sorted(found, key=lambda one: one[2]), expected)

    def test_a_filter_chooses_by_the_begin(self):
        self.assertEqual([self.after(one) for one in self.slices("activity", "--pid", "11")], [(85, 100)])
        self.assertEqual([self.after(one) for one in self.slices("file", "--tid", "2")], [(12, 14)])


def text(function, module):
    """A frame as folded stacks have it."""
    if module == "(no module)" or "+0x" in function or function == module:
        return function.replace(";", ":")
    return f"{module}!{function}".replace(";", ":")


if __name__ == "__main__":
    unittest.main()

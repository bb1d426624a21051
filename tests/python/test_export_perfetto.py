"""Traces of Perfetto, read by the messages that Perfetto's own package has, and held to the views and the rows."""

import collections
import contextlib
import functools
import os
import unittest

import duckdb
import support
from engines import duckdb_with

try:
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
except ImportError:
    protos = None

KERNEL = "filtrace-diskio.etl"
MANAGED = "perfview-net.4.5.2.x64.etl"


def setUpModule():
    global OUT
    if protos is None:
        raise unittest.SkipTest("the package perfetto is not installed")
    corpus, out = support.corpus_or_skip(), support.temporary_folder("perfetto")
    OUT = {}
    for name in (KERNEL, MANAGED):
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
        open_slices, found = {}, []
        for packet in exported(MANAGED):
            event = packet.track_event
            if event.type == protos.TrackEvent.TYPE_SLICE_BEGIN:
                open_slices[event.track_uuid] = (packet.timestamp, event.name)
            elif event.type == protos.TrackEvent.TYPE_SLICE_END:
                found.append((*open_slices.pop(event.track_uuid), packet.timestamp))
        query = "SELECT from_ns, 'GC pause' || coalesce(': ' || reason, ''), from_ns + duration_ns FROM gc_pauses"
        self.assertEqual(sorted(found), sorted(ask(MANAGED, query)))
        self.assertFalse(open_slices)

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


def text(function, module):
    """A frame as folded stacks have it."""
    if module == "(no module)" or "+0x" in function or function == module:
        return function.replace(";", ":")
    return f"{module}!{function}".replace(";", ":")


if __name__ == "__main__":
    unittest.main()

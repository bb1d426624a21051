"""Views of activities, garbage collections, TCP and UDP, packets, stacks and coverage against judges that read the rows of events."""

import contextlib
import os
import unittest

import judge_answers as judge
import support
from engines import duckdb_with
from made import add_dataset, replace_table

GC_TRACES = ["dotnetperf-gccollectonly", "perfview-net.4.5.2.x64", "perfview-net.4.5.x86-old"]
ID = "00000000-0000-0000-0000-00000000000{}"


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out = support.temporary_folder("judge-answers")
        done = support.run("convert", support.corpus_or_skip(), "-o", cls.out, "--progress", "never")
        # 4: some traces of the corpus are damaged on purpose.
        if done.returncode not in (0, 4):
            raise AssertionError(done.stderr)
        cls.connection = duckdb_with(cls.out)

    def folder(self, trace):
        return os.path.join(self.out, f"trace={trace}")

    def traces(self, view):
        """The traces in which a view has rows."""
        return [trace for (trace,) in self.connection.execute(f"SELECT DISTINCT trace FROM {view} ORDER BY 1").fetchall()]

    def ask(self, trace, query):
        return self.connection.execute(query, [trace]).fetchall()

    def test_activities_are_starts_with_their_own_stops(self):
        query = """SELECT provider, start_seq, stop_seq, duration_ns, stop_thread_id, depth, parent_start_seq FROM activities
            WHERE trace = ? ORDER BY start_seq"""
        judged = 0
        for trace in self.traces("activities"):
            expected = judge.activities(self.folder(trace))
            self.assertEqual(self.ask(trace, query), expected, trace)
            judged += len(expected)
        self.assertGreater(judged, 50)

    def test_pauses_belong_to_their_collections(self):
        for trace in GC_TRACES:
            found = self.ask(trace, "SELECT seq, duration_ns, coalesce(gc_numbers, []) FROM gc_pauses WHERE trace = ? ORDER BY seq")
            self.assertEqual(found, judge.pauses(self.folder(trace)), trace)
        prepares = self.ask(GC_TRACES[0], """SELECT count(*), sum(duration_ns), min(len(gc_numbers)) FROM gc_pauses
            WHERE trace = ? AND reason = 'SuspendForGCPrep'""")
        self.assertEqual(prepares, [(20, 138_677_500, 1)])

    def test_collections_have_their_heap(self):
        query = """SELECT start_seq, generation, stop_seq, heap_bytes_before, heap_bytes_after, promoted_bytes FROM gc_collections
            WHERE trace = ? ORDER BY start_seq"""
        sizes = 0
        for trace in GC_TRACES:
            expected = judge.collections_of(self.folder(trace))
            self.assertEqual(self.ask(trace, query), expected, trace)
            sizes += sum(one[3] is not None for one in expected)
        self.assertGreater(sizes, 700)
        background = self.ask(GC_TRACES[0], """SELECT count(*), min(pauses), max(pauses) FROM gc_collections
            WHERE trace = ? AND type = 'BackgroundGC'""")
        self.assertEqual(background, [(20, 2, 2)])

    def test_pauses_of_a_collection_add_up(self):
        both = self.connection.execute("""SELECT sum(pause_ns) FROM gc_collections""").fetchone()[0]
        pairs = """SELECT sum(to_ns - from_ns) FROM gc_pause_collections p WHERE gc_number IS NOT NULL AND EXISTS (
            SELECT 1 FROM gc_collections c WHERE c.trace = p.trace AND c.process_id = p.process_id AND c.runtime = p.runtime
            AND c.gc_number = p.gc_number AND c.pause_ns IS NOT NULL)"""
        self.assertEqual(both, self.connection.execute(pairs).fetchone()[0])

    def test_ends_of_connections_are_the_own_and_the_other(self):
        judged = 0
        for trace in self.traces("network"):
            own = {(row["provider"], row["seq"]): row for row in self.events(trace)}
            query = """SELECT seq, protocol, direction, local_address, local_port, remote_address, remote_port, source_address,
                source_port, destination_address, destination_port FROM network WHERE trace = ? ORDER BY seq"""
            by_seq = {seq: row for (_, seq), row in own.items()}
            for seq, protocol, direction, *found in self.ask(trace, query):
                row = by_seq[seq]
                if row["saddr"] is None:
                    continue
                expected = [part for end in judge.ends(protocol, direction, row) for part in end]
                self.assertEqual(found, expected, (trace, seq))
                judged += 1
        self.assertGreater(judged, 9000)

    def events(self, trace):
        columns = ["seq", "saddr", "sport", "daddr", "dport"]
        for provider in judge.datasets(self.folder(trace)):
            if "etwork" in provider or provider in ("Kernel-TcpIp", "Kernel-UdpIp"):
                for row in judge.rows(self.folder(trace), provider, columns):
                    yield {**dict.fromkeys(columns), **row, "provider": provider}

    def test_received_connections_end_at_an_address_that_also_sends(self):
        own = """SELECT DISTINCT trace, source_address FROM network WHERE protocol = 'tcp' AND direction = 'sent'"""
        found = self.connection.execute(f"""SELECT count(*), count(*) FILTER (WHERE (trace, destination_address) IN ({own}))
            FROM network WHERE protocol = 'tcp' AND direction = 'received' AND trace IN (SELECT trace FROM ({own}))""").fetchone()
        self.assertEqual(found[0], found[1])
        self.assertGreater(found[0], 8000)

    def test_stacks_that_were_walked_are_those_of_the_rows(self):
        query = "SELECT provider, seq, thread_id, stack FROM stack_walks WHERE trace = ? ORDER BY provider, seq"
        judged = 0
        for trace in self.traces("stack_walks"):
            expected = []
            for provider in judge.datasets(self.folder(trace)):
                if provider.startswith("Kernel-"):
                    rows = judge.rows(self.folder(trace), provider, ["seq", "thread_id", "stack"])
                    expected += [(provider, row["seq"], row["thread_id"], row["stack"]) for row in rows if row.get("stack") is not None]
            self.assertEqual(self.ask(trace, query), expected, trace)
            judged += len(expected)
        self.assertGreater(judged, 10_000)

    def test_all_events_have_all_columns_of_the_header(self):
        of_all = [name for name, *_ in self.connection.execute("DESCRIBE all_events").fetchall()]
        of_one = [name for name, *_ in self.connection.execute('DESCRIBE "Kernel-EventTrace"').fetchall()]
        header = of_one[: of_one.index("payload")]
        self.assertGreater(len(header), 30)
        self.assertEqual(set(header) - {"extended"} - set(of_all), set())


class Made(unittest.TestCase):
    """Rows for what no real trace has."""

    def setUp(self):
        self.out = support.convert([support.EXAMPLE], support.temporary_folder("judge-made"), "--quiet")
        self.folder = os.path.join(self.out, "trace=example")

    def ask(self, query):
        with contextlib.closing(duckdb_with(self.out)) as connection:
            return connection.execute(query).fetchall()

    def test_nested_and_stray_activities(self):
        def mark(opcode, activity, task=1, related=None):
            return {"opcode": opcode, "activity_id": ID.format(activity), "task": task, "related_activity_id": related}

        marks = [
            mark(2, 1),  # 0: a stop without a start
            mark(1, 1),  # 1
            mark(1, 1),  # 2: nested
            mark(1, 1, task=2),  # 3: another task between
            mark(2, 1),  # 4 ends 2
            mark(1, 2, related=ID.format(1)),  # 5: its parent is the last start of the other, 3
            mark(2, 1),  # 6 ends 1
            mark(2, 1),  # 7: nothing is open
            mark(2, 1, task=2),  # 8 ends 3
            mark(2, 2),  # 9 ends 5
            mark(1, 1),  # 10: never ends
        ]
        add_dataset(self.folder, "Lab", marks)
        query = "SELECT start_seq, stop_seq, depth, parent_start_seq FROM activities WHERE provider = 'Lab' ORDER BY 1"
        self.assertEqual(self.ask(query), [(1, 6, 1, None), (2, 4, 2, None), (3, 8, 1, None), (5, 9, 1, 3)])
        found = [one[1:3] + one[5:] for one in judge.activities(self.folder) if one[0] == "Lab"]
        self.assertEqual(found, self.ask(query))

    def test_packets_count_once_whatever_they_pass(self):
        seen = {"event_id": 160, "OriginalPayloadSize": 100, "LoggedPayloadSize": 60, "PktGroupId": 7, "PacketType": 1, "DirTag": 1}
        seen |= {"DropReason": 0}
        dropped = {**seen, "event_id": 170, "DropReason": 8, "ComponentId": 3, "PktNumber": 1}
        rows = [{**seen, "ComponentId": one, "PktNumber": 1} for one in (1, 2, 3)] + [dropped]
        rows += [{**seen, "ComponentId": 1, "PktNumber": 2}, {**seen, "ComponentId": 1, "PktNumber": None}]
        names = [{"event_id": 20, "Id": one, "Name": name} for one, name in ((1, "nic"), (2, "filter"), (3, "switch"))]
        add_dataset(self.folder, "Microsoft-Windows-PktMon", rows + names)
        query = """SELECT packet_number, reports, bytes, is_dropped, drop_reason, drop_reason_name, component_ids, components
            FROM packets ORDER BY seq"""
        self.assertEqual(
            self.ask(query),
            [
                (1, 4, 100, True, 8, "Filtered", [1, 2, 3], ["filter", "nic", "switch"]),
                (2, 1, 100, False, None, None, [1], ["nic"]),
                (None, 1, 100, False, None, None, [1], ["nic"]),
            ],
        )
        self.assertEqual(self.ask("SELECT count(*), sum(bytes) FROM packet_reports"), [(6, 600)])

    def test_datagrams_to_a_group_name_their_sender(self):
        to = {"event_name": "KERNEL_NETWORK_TASK_UDPIP/KERNEL_NETWORK_OPCODE_RECVUDP", "sport": 5353, "dport": 5353, "size": 10, "PID": 4, "saddr": "10.0.0.2"}
        hosts = ["224.0.0.251", "239.255.255.250", "255.255.255.255", "10.0.0.7", "240.0.0.1"]
        rows = [{**to, "daddr": host} for host in hosts] + [{**to, "saddr": "fe80::2", "daddr": "ff02::fb"}]
        add_dataset(self.folder, "Microsoft-Windows-Kernel-Network", rows)
        group, nobody = (None, "10.0.0.2"), (None, None)
        query = "SELECT local_address, source_address FROM network WHERE remote_port = 5353 OR protocol = 'udp' AND bytes = 10 ORDER BY seq"
        self.assertEqual(self.ask(query), [group, group, group, nobody, nobody, (None, "fe80::2")])

    def test_losses_of_shared_buffers_are_the_streams(self):
        source = self.ask('SELECT DISTINCT source FROM "sidecar/streams"')[0][0]
        stream = {"source": source, "cpu": None, "first_time_ns": 1000, "last_time_ns": 2000}
        gap = {"source": source, "kind": "sequence_gap", "cpu": None, "from_time_ns": 1200, "to_time_ns": 1300, "count": 1,
               "unit": "buffers", "is_lower_bound": False, "is_certain": False, "evidence": "", "note": None}
        for streams, gaps, expected in [
            ([stream], [gap], [(None, 900)]),
            ([stream], [{**gap, "cpu": 3}], [(None, 900)]),
            ([{**stream, "cpu": 3}, {**stream, "cpu": 4}], [{**gap, "cpu": 3}], [(3, 900), (4, 1000)]),
            ([{**stream, "cpu": 3}, {**stream, "cpu": 4}], [gap], [(3, 900), (4, 900)]),
        ]:
            replace_table(self.folder, "streams", streams)
            replace_table(self.folder, "lost_events", gaps)
            with self.subTest(streams=len(streams), cpu=gaps[0]["cpu"]):
                self.assertEqual(self.ask("SELECT cpu, intact_ns FROM coverage(NULL, NULL) ORDER BY cpu"), expected)


if __name__ == "__main__":
    unittest.main()

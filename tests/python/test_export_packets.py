"""Packet captures and events as pcapng, read by a reader of pcapng that is this file's own, by tshark where there is one, and held to the views."""

import contextlib
import ipaddress
import os
import shutil
import struct
import subprocess
import unittest

import duckdb
import support
from engines import duckdb_with
from made import add_dataset

ETHERNET = bytes.fromhex("ffffffffffff 020000000001".replace(" ", ""))
IPV4 = bytes.fromhex("45000028000000004006 0000 c0a80001 0a0000fe 01bbc350 00000000 00000000 50000000 00000000".replace(" ", ""))
IPV6 = bytes.fromhex("6000000000081140 20010db8000000000000000000000001 fe800000000000000001000000000002 0035 1f90 0008 0000".replace(" ", ""))
START, END, SENT, RECEIVED, CUT, WIFI = 1 << 30, 1 << 31, 1 << 32, 1 << 33, 1 << 25, 1 << 16

PROCESS = "while process 4660 (chrome.exe), thread 9 ran, whose packet it need not be"


def setUpModule():
    global FILES
    FILES = support.temporary_folder("packets")


def run(*arguments, expected=0):
    done = support.run(*arguments)
    assert done.returncode == expected, (arguments, done.returncode, done.stderr)
    return done


def convert(name, *arguments):
    out = os.path.join(FILES, name)
    run("convert", *arguments, "-o", out, "-q")
    return out


def blocks(data):
    """The blocks of a file, each with its type and body; the two lengths of each agree."""
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<II", data, at)
        assert length % 4 == 0 and length >= 12, length
        assert struct.unpack_from("<I", data, at + length - 4)[0] == length
        yield kind, data[at + 8 : at + length - 4]
        at += length


def options(data):
    found, at = [], 0
    while at < len(data):
        code, length = struct.unpack_from("<HH", data, at)
        if code == 0:
            assert length == 0 and at + 4 == len(data)
            return found
        found.append((code, data[at + 4 : at + 4 + length]))
        at += 4 + (length + 3) // 4 * 4
    assert not found, "no end of options"
    return found


def read(path):
    """The interfaces and packets of a file."""
    with open(path, "rb") as file:
        data = file.read()
    interfaces, packets = [], []
    for number, (kind, body) in enumerate(blocks(data)):
        if number == 0:
            assert kind == 0x0A0D0D0A and body[:8] == struct.pack("<IHH", 0x1A2B3C4D, 1, 0), body
        elif kind == 1:
            link, reserved, _ = struct.unpack_from("<HHI", body)
            assert reserved == 0
            own = options(body[8:])
            assert (9, b"\x09") in own, "times in nanoseconds"
            texts = {code: value.decode() for code, value in own if code in (2, 3)}
            addresses = [(code, value) for code, value in own if code in (4, 5, 6)]
            interfaces.append((link, texts.get(2), texts.get(3), addresses))
        else:
            assert kind == 6, kind
            interface, high, low, captured, length = struct.unpack_from("<IIIII", body)
            assert interface < len(interfaces), "an interface is described before its packets"
            own = options(body[20 + (captured + 3) // 4 * 4 :])
            flags = [struct.unpack("<I", value)[0] & 3 for code, value in own if code == 2]
            ids = [struct.unpack("<Q", value)[0] for code, value in own if code == 5]
            comments = [value.decode() for code, value in own if code == 1]
            packets.append({
                "interface": interface, "time": high << 32 | low, "bytes": body[20 : 20 + captured], "length": length,
                "direction": flags[0] if flags else None, "id": ids[0] if ids else None, "comments": comments,
            })
    return interfaces, packets


def export(trace, name, *arguments):
    out = os.path.join(FILES, f"{name}.pcapng")
    run("export", trace, "--format", "pcapng", "-o", out, *arguments)
    return out


def made():
    """The example with packets of pktmon: two packets that pass three components, one of them dropped, and some others."""
    out = convert("export-packets", support.EXAMPLE)
    folder = os.path.join(out, "trace=example")
    whose = {"process_id": 4660, "process_name": "chrome.exe", "thread_id": 9}
    seen = {"event_id": 160, "PktGroupId": 7, "PacketType": 1, "DropReason": 0, "DropLocation": 0, **whose}
    tcp, udp, ip = ETHERNET + b"\x08\x00" + IPV4, ETHERNET + b"\x86\xdd" + IPV6, IPV4

    def report(number, component, direction, data, **more):
        return {
            **seen, "PktNumber": number, "ComponentId": component, "DirTag": direction, "OriginalPayloadSize": len(data) + 10,
            "LoggedPayloadSize": len(data), "Payload__field": data, **more,
        }

    drop = {"event_id": 170, "DropReason": 9, "DropLocation": 0x1234}
    rows = [
        report(1, 11, 1, tcp),
        report(2, 11, 2, udp),
        report(1, 12, 1, tcp),
        report(2, 12, 2, udp, **drop),
        report(1, 13, 1, ip, PacketType=3),
        report(3, 99, 0, b"\x88\x41" + b"w" * 30, PacketType=2, process_id=None, process_name=None, thread_id=None),
        report(4, 11, 1, b"", PacketType=8),
        {"event_id": 120, "PktGroupId": 7, "PktCount": 5, "ComponentId": 11},
        {"event_id": 20, "Id": 11, "Name": "e1000", "Description": "Intel adapter ä"},
        {"event_id": 65, "ComponentId": 11, "IpAddress": int.from_bytes(bytes([10, 0, 0, 1]), "little")},
        {"event_id": 66, "ComponentId": 11, "IpAddress__binary": ipaddress.ip_address("fe80::1").packed},
        {"event_id": 70, "ComponentId": 11, "Value__binary": bytes(range(1, 7))},
        {"event_id": 20, "Id": 12, "Name": "wfplwfs.sys", "Description": ""},
        # What is too long and too strange for a name.
        {"event_id": 20, "Id": 13, "Name": "tcpip\u202e\0" + "x" * 70_000, "Description": "\n"},
    ]
    add_dataset(folder, "Microsoft-Windows-PktMon", rows)
    return out


def ndis():
    """The example with packets of ndiscap: whole ones and fragments, which interleave."""
    out = convert("export-ndis", support.EXAMPLE)
    tcp = ETHERNET + b"\x08\x00" + IPV4
    ids = {"event_id": 1001, "MiniportIfIndex": 4, "LowerIfIndex": 4, "process_id": 4660, "process_name": "chrome.exe"}

    def fragment(thread, bits, data, **more):
        return {**ids, "thread_id": thread, "cpu": 0, "keywords": 1 | bits, "FragmentSize": len(data), "Fragment": data, **more}

    rows = [
        fragment(9, START | END | SENT, tcp),
        fragment(9, START | RECEIVED, tcp[:14]),
        fragment(10, START | RECEIVED, udp := b"12345678901234"),
        fragment(9, RECEIVED, tcp[14:34]),
        fragment(10, END | RECEIVED, udp),
        fragment(9, END | RECEIVED, tcp[34:]),
        fragment(9, START | END | RECEIVED | CUT, tcp[:30], LowerIfIndex=5),
        fragment(9, START | END | RECEIVED | WIFI, b"\x08\x42" + b"w" * 30, MiniportIfIndex=6, LowerIfIndex=6),
        fragment(9, START | END | SENT, tcp, event_id=1003, SourcePortName="port", SourceNicName="vm"),
        fragment(9, START, tcp),
        {"event_id": 5101, "IfIndex": 4, "SourceName": "Ethernet 2"},
        {"event_id": 1002, "MiniportIfIndex": 4},
    ]
    add_dataset(os.path.join(out, "trace=example"), "Microsoft-Windows-NDIS-PacketCapture", rows)
    return out


class Packets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.out, cls.ndis = made(), ndis()

    def test_a_packet_is_there_once_where_it_was_seen_first(self):
        path = export(self.out, "once")
        interfaces, packets = read(path)
        with contextlib.closing(duckdb_with(self.out)) as connection:
            rows = connection.execute("SELECT timestamp_ns, source FROM packets WHERE link_type IS NOT NULL ORDER BY seq").fetchall()
        self.assertEqual([packet["time"] for packet in packets], [time for time, _ in rows])
        tcp, udp = ETHERNET + b"\x08\x00" + IPV4, ETHERNET + b"\x86\xdd" + IPV6
        addresses = [(4, bytes([10, 0, 0, 1, 255, 255, 255, 255])), (5, ipaddress.ip_address("fe80::1").packed + b"\x80"), (6, bytes(range(1, 7)))]
        self.assertEqual(interfaces, [(1, "e1000", "Intel adapter ä", addresses), (105, "component 99", None, [])])
        dropped = "dropped: FilteredVLAN (9), location 0x1234, by component 12 (wfplwfs.sys)"
        found = [(p["interface"], p["bytes"], p["length"], p["direction"], p["id"], p["comments"]) for p in packets]
        self.assertEqual(found, [
            (0, tcp, len(tcp) + 10, 1, None, [PROCESS]),
            (0, udp, len(udp) + 10, 2, None, [dropped, PROCESS]),
            (1, b"\x88\x41" + b"w" * 30, 42, None, None, []),
        ])

    def test_all_components_share_the_id_of_a_packet(self):
        interfaces, packets = read(export(self.out, "all", "--packets", "all"))
        with contextlib.closing(duckdb_with(self.out)) as connection:
            query = "SELECT timestamp_ns, component_id FROM packet_reports WHERE link_type IS NOT NULL ORDER BY seq"
            self.assertEqual([packet["time"] for packet in packets], [time for time, _ in connection.execute(query).fetchall()])
        self.assertEqual([packet["id"] for packet in packets], [1, 2, 1, 2, 1, 3])
        self.assertEqual([interface[0] for interface in interfaces], [1, 1, 101, 105])
        self.assertEqual([packet["interface"] for packet in packets], [0, 0, 1, 1, 2, 3])
        self.assertEqual([sum("dropped" in text for text in packet["comments"]) for packet in packets], [0, 0, 0, 1, 0, 0])
        self.assertTrue(interfaces[2][1].startswith("tcpip") and len(interfaces[2][1]) <= 1024)

    def test_what_has_no_frame_is_said(self):
        done = run("export", self.out, "--format", "pcapng", "-o", os.path.join(FILES, "said.pcapng"))
        self.assertIn("1 reports of packets are left out: pktmon has recorded what it has parsed", done.stderr)
        self.assertIn("1 reports of packets are left out: they have no bytes of a frame", done.stderr)

    def test_filters_choose_among_reports(self):
        _, packets = read(export(self.out, "filtered", "--event", "170", "--packets", "all"))
        self.assertEqual([packet["time"] for packet in packets], [3])
        done = run("export", self.out, "--format", "pcapng", "-o", os.path.join(FILES, "none.pcapng"), "--pid", "1", expected=5)
        self.assertIn("no event passes the filters", done.stderr)

    def test_fragments_of_ndis_are_joined(self):
        interfaces, packets = read(export(self.ndis, "ndis"))
        tcp = ETHERNET + b"\x08\x00" + IPV4
        self.assertEqual(interfaces, [
            (1, "Ethernet 2", None, []),
            (1, "Ethernet 2", "filter with interface 5 over Ethernet 2", []),
            (105, "interface 6", None, []),
            (1, "Ethernet 2, port port", None, []),
        ])
        found = [(p["interface"], p["time"], p["bytes"], p["length"], p["direction"]) for p in packets]
        self.assertEqual(found, [
            (0, 0, tcp, 54, 2),
            (0, 2, b"12345678901234" * 2, 28, 1),
            (0, 1, tcp, 54, 1),
            # The header says how long it was, before it was cut.
            (1, 6, tcp[:30], 54, 1),
            (2, 7, b"\x08\x02" + b"w" * 30, 32, 1),
            (3, 8, tcp, 54, 2),
            (0, 9, tcp, 54, None),
        ])
        self.assertEqual(packets[3]["comments"], [PROCESS, "the capture has cut the packet"])
        self.assertIn("the flag Protected Frame is cleared: the frame was recorded decrypted", packets[4]["comments"])
        self.assertIn("the end of the packet is not recorded", packets[6]["comments"])

    def test_the_same_trace_is_the_same_bytes(self):
        with open(export(self.out, "one"), "rb") as one, open(export(self.out, "two", "--threads", "1"), "rb") as two:
            self.assertEqual(one.read(), two.read())

    @unittest.skipUnless(shutil.which("tshark"), "tshark is not there")
    def test_tshark_reads_the_same(self):
        for out, name, more in [(self.out, "once", []), (self.out, "all", ["--packets", "all"]), (self.ndis, "ndis", [])]:
            path = export(out, f"tshark-{name}", *more)
            interfaces, packets = read(path)
            rows = tshark(path, "frame.time_epoch", "frame.interface_name", "frame.len", "frame.comment")
            self.assertEqual(len(rows), len(packets))
            for (time, interface, length, comments), packet in zip(rows, packets):
                self.assertEqual(round(float(time) * 1e9), packet["time"])
                if len(interfaces[packet["interface"]][1]) < 200:
                    self.assertEqual(interface, interfaces[packet["interface"]][1])
                self.assertEqual((int(length), bool(comments)), (packet["length"], bool(packet["comments"])))
            found = tshark(path, "ip.src", "tcp.srcport")
            self.assertIn(["192.168.0.1", "443"], found)


def tshark(path, *fields):
    arguments = [argument for field in fields for argument in ("-e", field)]
    done = subprocess.run(["tshark", "-r", path, "-T", "fields", *arguments], capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


class Events(unittest.TestCase):
    """Events as packets of LINKTYPE_ETW; offsets from the figure of tcpdump.org and from EVENT_HEADER."""

    def test_events_are_those_of_the_trace(self):
        path = export(support.EXAMPLE, "events", "--packets", "events")
        interfaces, packets = read(path)
        self.assertEqual(interfaces, [(290, "Event Tracing for Windows", None, [])])
        out = convert("export-events", support.EXAMPLE, "--raw", "always")
        with open(export(out, "events-published", "--packets", "events"), "rb") as one, open(path, "rb") as two:
            self.assertEqual(one.read(), two.read())
        with contextlib.closing(duckdb.connect()) as connection:
            rows = connection.execute(f"""
                SELECT timestamp_ns, coalesce(thread_id, 4294967295), coalesce(process_id, 4294967295), c.provider_id, coalesce(e.event_id, 0),
                    coalesce(e.event_version, 0), coalesce(e.opcode, 0), coalesce(e.level, 0), coalesce(e.keywords, 0), coalesce(e.cpu, 0), payload,
                    coalesce(c.provider_name, '')
                FROM read_parquet('{out}/trace=example/events/*/*.parquet', union_by_name = true) e
                JOIN '{out}/trace=example/sidecar/catalog.parquet' c USING (shape) ORDER BY seq""").fetchall()
        self.assertEqual(len(packets), len(rows))
        for packet, row in zip(packets, rows):
            data = packet["bytes"]
            thread, process, time = struct.unpack_from("<IIq", data, 8)
            provider = "%08x-%04x-%04x-%s-%s" % (
                *struct.unpack_from("<IHH", data, 24), data[32:34].hex(), data[34:40].hex())
            event, version, _, level, opcode, _, keywords = struct.unpack_from("<HBBBBHq", data, 40)
            cpu, _, *lengths = struct.unpack_from("<HHIII", data, 80)
            starts = [96, 96 + (lengths[0] + 3) // 4 * 4]
            starts.append(starts[1] + (lengths[1] + 3) // 4 * 4)
            payload = data[96 : 96 + lengths[0]]
            name = data[starts[2] : starts[2] + lengths[2]].decode("utf-16-le").rstrip("\0")
            found = (packet["time"], thread, process, provider, event, version, opcode, level, keywords, cpu, payload or None, name)
            self.assertEqual(found, (*row[:10], row[10] or None, row[11]))
            self.assertEqual(time, row[0] // 100 + 116444736000000000)
        if shutil.which("tshark"):
            found = tshark(path, "etw.provider_id", "etw.descriptor.id")
            self.assertEqual([row[0] for row in found], [row[3] for row in rows])

    def test_without_payloads_there_are_no_packets(self):
        out = convert("export-no-payloads", support.EXAMPLE)
        path = os.path.join(FILES, "refused.pcapng")
        done = run("export", out, "--format", "pcapng", "--packets", "events", "-o", path, expected=2)
        self.assertIn("--raw always", done.stderr)
        self.assertFalse(os.path.exists(path))


if __name__ == "__main__":
    unittest.main()

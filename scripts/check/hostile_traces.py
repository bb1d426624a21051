"""Traces that were made to hurt: small files that ask for much memory or time. A writer of its own, from the format's
documents: it shares nothing with the reader, nor with the trace writer of the Rust tests."""

import random
import struct
import uuid

SYSTEM64, ERROR, PERFINFO64, EVENT64 = 0x02, 0x0D, 0x11, 0x13
BUFFER_HEADER, EVENT_HEADER, SYSTEM_HEADER = 0x48, 0x50, 0x20
GENERIC, HEADER_BUFFER = 0, 4
PROC_INDEX, COMPRESSED_BUFFER = 0x20, 0x40
COMPRESSED_MODE = 0x0400_0000
STARTED = 0x01DB_0000_0000_0000  # FILETIME
FIRST_TICK = 1_000_000
MANIFEST_EVENT = 0xFFFE


def aligned(data):
    return data + bytes(-len(data) % 8)


def event(provider, event_id, payload=b"", *, ticks=FIRST_TICK, metadata=b"", thread=1, event_property=0):
    """An EVENT_HEADER event; metadata goes into items 0C (provider traits) and 0B (TraceLogging)."""
    items = b""
    if metadata:
        traits = b"Hostile\0"
        traits = struct.pack("<H", len(traits) + 2) + traits
        items = item(0x0C, traits, True) + item(0x0B, metadata, False)
    size = EVENT_HEADER + len(items) + len(payload)
    head = struct.pack("<HBBHHIIq", size, EVENT64, 0xC0, int(bool(items)), event_property, thread, 4, ticks)
    head += provider.bytes_le + struct.pack("<HBBBBHQQ", event_id, 0, 0, 4, 0, 0, 0, 0) + bytes(16)
    return head + items + payload


def item(kind, data, more):
    size = (8 + len(data) + 7) & ~7
    return struct.pack("<HHHH", size, kind, int(more), len(data)) + data + bytes(size - 8 - len(data))


def perf_info(group, opcode, ticks, payload=b"", version=2):
    return struct.pack("<BBBBHBBq", version, 0, PERFINFO64, 0xC0, 16 + len(payload), opcode, group, ticks) + payload


def event_metadata(name, fields):
    """TraceLogging metadata: fields are (name, bytes behind the name)."""
    body = b"\0" + name.encode() + b"\0" + b"".join(field.encode() + b"\0" + kind for field, kind in fields)
    return struct.pack("<H", len(body) + 2) + body


def joined(events):
    return b"".join(map(aligned, events))


class Trace:
    """Writes a trace to a file, buffer by buffer."""

    def __init__(self, path, buffer_size=0x2000, mode=0, processors=1):
        self.file, self.buffer_size, self.mode, self.processors = open(path, "wb"), buffer_size, mode, processors
        # Of a compressed file the buffers that are not have no size in common.
        self.stride = 0x1000 if mode & COMPRESSED_MODE else buffer_size
        self.buffers = 0
        self.raw(self.framed(self.header_event(0), kind=HEADER_BUFFER))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.seek(0)
        self.file.write(self.framed(self.header_event(self.buffers), kind=HEADER_BUFFER, sequence=0))
        self.file.close()

    def header_event(self, buffers):
        payload = struct.pack("<IBBBBII", self.buffer_size, 10, 0, 1, 5, 19045, self.processors)
        payload += struct.pack("<qIIIIIIII", STARTED + 10_000_000, 156_250, 0, self.mode, buffers, 1, 8, 0, 3000)
        payload += bytes(16) + bytes(0xAC) + bytes(4)
        payload += struct.pack("<qqqII", STARTED - 1, 10_000_000, STARTED, 1, 0)
        payload += "hostile\0".encode("utf-16-le") + "hostile.etl\0".encode("utf-16-le")
        size = SYSTEM_HEADER + len(payload)
        return struct.pack("<BBBBHBBIIqII", 2, 0, SYSTEM64, 0xC0, size, 0, 0, 1, 4, FIRST_TICK, 0, 0) + payload

    def head(self, size, filled, *, sequence, kind, flags, cpu=0):
        head = struct.pack("<IIIiqqQHHI", size, 0, 0, 0, FIRST_TICK if sequence else 0, sequence, 0, cpu, 1, 3)
        return head + struct.pack("<IHH", filled, flags, kind) + bytes(16)

    def framed(self, data, *, kind=GENERIC, sequence=None, cpu=0):
        sequence = self.buffers if sequence is None else sequence
        filled = BUFFER_HEADER + len(data)
        assert filled <= self.stride, filled
        head = self.head(self.stride, filled, sequence=sequence, kind=kind, flags=PROC_INDEX, cpu=cpu)
        return (head + data).ljust(self.stride, b"\xff")

    def raw(self, data):
        self.file.write(data)
        self.buffers += 1

    def buffer(self, events, cpu=0):
        self.raw(self.framed(joined(events), cpu=cpu))

    def compressed(self, stored, expanded, sequence=None):
        """A buffer whose stored bytes expand to so many."""
        size, filled = BUFFER_HEADER + len(stored), BUFFER_HEADER + expanded
        flags = PROC_INDEX | COMPRESSED_BUFFER
        self.raw(self.head(size, filled, sequence=sequence or self.buffers, kind=GENERIC, flags=flags) + stored)

    def fill(self, events):
        """Puts events into as few buffers as hold them."""
        room, waiting = self.buffer_size - BUFFER_HEADER, []
        for data in map(aligned, events):
            if room < len(data):
                self.buffer(waiting)
                room, waiting = self.buffer_size - BUFFER_HEADER, []
            waiting.append(data)
            room -= len(data)
        self.buffer(waiting)


def provider(number):
    return uuid.UUID(fields=(number, 0x1234, 0x4321, 0x80, 0x12, 0x0011_2233_4455))


def zeros(path, size):
    """A hole of zeros, behind which stands a page of other bytes."""
    with Trace(path) as trace:
        trace.buffer([perf_info(0x30, 1, FIRST_TICK)])
        for _ in range(size // trace.buffer_size):
            trace.file.write(bytes(trace.buffer_size))
        trace.file.write(b"\x01" * 4096)


def nulls(path, size):
    """TraceLogging events of a list of 65,534 values without bytes."""
    metadata = event_metadata("E", [("a", struct.pack("<BH", 0x20, 65_534))])
    with Trace(path) as trace:
        trace.fill(event(provider(1), 0, metadata=metadata, ticks=FIRST_TICK + n) for n in range(size // 104))


def expanding(path, size, expanded=16 << 20):
    """Compressed buffers of about a hundred bytes, each of which expands to 16 MiB of events of 8 KiB."""
    period = 8184
    one = event(provider(1), 7, bytes(period - EVENT_HEADER), ticks=FIRST_TICK + 1)
    data = expanded - BUFFER_HEADER
    data -= data % period
    stored = xpress(one[:EVENT_HEADER], period, data)
    with Trace(path, buffer_size=expanded, mode=COMPRESSED_MODE) as trace:
        for _ in range(size // (len(stored) + BUFFER_HEADER)):
            trace.compressed(stored, data)


def xpress(head, period, total):
    """Plain LZ77 of `head`, zeros up to `period`, and that again and again up to `total` bytes."""
    literals = head + b"\0"
    flags = "0" * len(literals) + "11"
    flags = flags.ljust((len(flags) + 31) // 32 * 32, "1")
    groups = [struct.pack("<I", int(flags[at : at + 32], 2)) for at in range(0, len(flags), 32)]
    zero_run = period - len(literals)
    tokens = [bytes([byte]) for byte in literals]
    # Long lengths: two half bytes of 15 (the first match brings the byte of both), 255, then the length in 2 or 4 bytes.
    tokens.append(struct.pack("<HBBH", 0 << 3 | 7, 0xFF, 0xFF, zero_run - 3))
    tokens.append(struct.pack("<HBHI", (period - 1) << 3 | 7, 0xFF, 0, total - period - 3))
    parts = (group + b"".join(tokens[at * 32 : at * 32 + 32]) for at, group in enumerate(groups))
    return b"".join(parts)


def errors(path, size):
    """Nothing but headers of type ERROR, 8 bytes each."""
    one = struct.pack("<HBBI", 8, ERROR, 0xC0, 0)
    with Trace(path, buffer_size=0x10000) as trace:
        data = one * ((trace.buffer_size - BUFFER_HEADER) // 8)
        for _ in range(size // trace.buffer_size):
            trace.raw(trace.framed(data))


def times_of(trace, times):
    """A buffer of events of 16 bytes, one for each time."""
    head = int.from_bytes(perf_info(0x30, 1, 0)[:8], "little")
    flat = [head] * (2 * len(times))
    flat[1::2] = times
    return trace.framed(struct.pack(f"<{len(flat)}q", *(n - (n >> 63 << 64) for n in flat)))


def spanning(path, size):
    """Every buffer holds events of the whole time of the trace."""
    with Trace(path, buffer_size=0x10000) as trace:
        buffers, each = size // trace.buffer_size, (trace.buffer_size - BUFFER_HEADER) // 16
        for number in range(buffers):
            trace.raw(times_of(trace, [FIRST_TICK + n * buffers + number for n in range(each)]))


def disordered(path, size):
    """Times in no order, in no buffer."""
    chance = random.Random(1)
    with Trace(path, buffer_size=0x10000) as trace:
        each = (trace.buffer_size - BUFFER_HEADER) // 16
        for _ in range(size // trace.buffer_size):
            trace.raw(times_of(trace, [FIRST_TICK + (chance.getrandbits(40)) for _ in range(each)]))


def damaged_buffers(path, size):
    """Compressed buffers that claim 16 MiB and hold no event that can be read."""
    with Trace(path, buffer_size=16 << 20, mode=COMPRESSED_MODE) as trace:
        trace.buffer([perf_info(0x30, 1, FIRST_TICK)])
        stored = xpress(struct.pack("<HBB", 4, EVENT64, 0xC0) + bytes(76), 8184, (16 << 20) - BUFFER_HEADER)
        for _ in range(size // (len(stored) + BUFFER_HEADER)):
            trace.compressed(stored, (16 << 20) - BUFFER_HEADER)


def small_buffers(path, count):
    """Compressed buffers of one stored byte."""
    with Trace(path, mode=COMPRESSED_MODE) as trace:
        trace.buffer([perf_info(0x30, 1, FIRST_TICK)])
        for _ in range(count):
            trace.compressed(b"\0", 0)


def providers(path, count):
    """A provider for every event."""
    with Trace(path) as trace:
        trace.fill(event(provider(n), 1, ticks=FIRST_TICK + n) for n in range(count))


def shapes(path, count):
    """Kernel events of 16 bytes, each of another group, opcode and version."""
    with Trace(path, buffer_size=0x10000) as trace:
        trace.fill(
            perf_info(0x20 + n // 65_536, n % 256, FIRST_TICK + n, version=n // 256 % 256) for n in range(count)
        )


def manifest_chunks(path, size):
    """The first chunks of manifests that never end."""
    payload = struct.pack("<BBBBHH", 1, 1, 0, 0x5B, 2, 0) + b"<x>" + b" " * 7900
    with Trace(path) as trace:
        for n in range(size // trace.buffer_size):
            trace.buffer([event(provider(1), MANIFEST_EVENT, payload, ticks=FIRST_TICK + n, thread=n)])


def columns(path, count, per_event=400):
    """One provider with so many fields, each of another name."""
    def variant(n):
        fields = [(f"f{n * per_event + k}", b"\x07") for k in range(per_event)]
        return event(provider(1), 0, bytes(4 * per_event), metadata=event_metadata(f"E{n}", fields), ticks=FIRST_TICK + n)

    with Trace(path, buffer_size=0x10000) as trace:
        trace.fill(variant(n) for n in range(count // per_event))


def event_names(path, count):
    """One provider with so many TraceLogging events."""
    def variant(n):
        metadata = event_metadata(f"E{n}", [(f"f{n % 10}", b"\x07")])
        return event(provider(1), 0, bytes(4), metadata=metadata, ticks=FIRST_TICK + n)

    with Trace(path) as trace:
        trace.fill(variant(n) for n in range(count))


def event_source(path, manifest, events, payload=struct.pack("<I", 1), shapes=1):
    """A manifest of an EventSource in chunks, and events of id 1 with such a payload, of so many shapes."""
    chunk, text = 60_000, manifest.encode()
    parts = [text[at : at + chunk] for at in range(0, len(text), chunk)]

    def chunk_event(number, part):
        payload = struct.pack("<BBBBHH", 1, 1, 0, 0x5B, len(parts), number) + part
        return event(provider(1), MANIFEST_EVENT, payload, ticks=FIRST_TICK + number)

    with Trace(path, buffer_size=0x20000) as trace:
        trace.fill(chunk_event(number, part) for number, part in enumerate(parts))
        trace.fill(
            event(provider(1), 1, payload, ticks=FIRST_TICK + 1000 + n, event_property=n % shapes) for n in range(events)
        )


MANIFEST = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="Hostile" guid="{{{guid}}}" resourceFileName="Hostile" messageFileName="Hostile" symbol="Hostile">
<events><event value="1" version="0" level="win:Informational" symbol="One" template="OneArgs"/></events>
<templates><template tid="OneArgs"><data name="flags" inType="win:UInt32"{use}/></template></templates>{more}
</provider></events></instrumentation></instrumentationManifest>"""


def labels(path, entries, events=2000):
    """A bit map of very many entries for one bit."""
    entry = '<map value="0x1" message="$(string.a)"/>'
    more = f'<maps><bitMap name="M">{entry * entries}</bitMap></maps>'
    event_source(path, MANIFEST.format(guid=provider(1), use=' map="M"', more=more), events)


def wide_shapes(path, count, fields=4000):
    """Events of very many shapes that share one schema with very many fields; each fills the first of them."""
    more = "/>".join(f'<data name="f{n}" inType="win:UInt8"' for n in range(fields))
    event_source(path, MANIFEST.format(guid=provider(1), use=f"/>{more}", more=""), count, shapes=0x10000)


def namespaces(path, size):
    """Very many name spaces, and in their scope elements that declare one more each."""
    outer, inner = size // 100, size // 40
    levels = [" ".join(f'xmlns:n{n}="u{n}"' for n in range(first, first + 20)) for first in range(0, outer, 20)]
    more = "".join(f"<a {level}>" for level in levels) + '<b xmlns:q="u"/>' * inner + "</a>" * len(levels)
    event_source(path, MANIFEST.format(guid=provider(1), use="", more=more), 10)


def descriptions(path, count, properties=2000):
    """TRACE_EVENT_INFO of one event again and again, each of a few bytes and very many empty properties."""
    with Trace(path, buffer_size=0x10000) as trace:
        trace.fill(event_info(provider(n % 64), n // 64 % 256, properties, FIRST_TICK + n) for n in range(count))


def event_info(of, event_id, properties, ticks):
    names = 0x70 + 24 * properties
    head = of.bytes_le + bytes(16) + struct.pack("<HBBBBHQ", event_id, 0, 0, 4, 0, 0, 0) + bytes(4 * 13)
    head = head[:0x30] + struct.pack("<I", 0) + bytes(0x30)
    head += struct.pack("<III", properties, properties, 0)
    head += struct.pack("<IIHHIHHI", 0, names, 8, 0, 0, 1, 4, 0) * properties + "p\0".encode("utf-16-le")
    size = 0x30 + len(head)
    metadata = uuid.UUID("bbccf6c1-6cd1-48c4-80ff-839482e37671").bytes_le
    full = struct.pack("<HBBBBHIIq", size, 0x14, 0xC0, 0x20, 0, 0, 0xFFFF_FFFF, 0, ticks) + metadata + bytes(8)
    return full + head


def user_manifest(path, size):
    """An instrumentation manifest, not a trace."""
    one = '<event value="{n}" version="0" symbol="S{n}" template="T"/>'
    count = size // len(one.format(n=10_000))
    events = "".join(one.format(n=n % 65_536) for n in range(count))
    text = MANIFEST.format(guid=provider(1), use="", more="")
    path.write_text(text.replace("<events><event", f"<events>{events}<event"), encoding="utf-8")


def message_labels(path, count):
    """WPP messages of 4 bytes whose text is long."""
    guid = provider(1).bytes_le
    head = struct.pack("<HBBHH", 0, 0, 0x90, 10, 0xAA)

    def message(n):
        body = head + guid + struct.pack("<qII", FIRST_TICK + n, 1, 4) + struct.pack("<I", 1)
        return struct.pack("<H", len(body)) + body[2:]

    with Trace(path, buffer_size=0x10000) as trace:
        trace.fill(message(n) for n in range(count))


def message_format(path):
    """The TMF file of these messages."""
    label = "x" * 4000
    path.write_text(
        f"{provider(1)} Hostile // SRC=a.c MJ= MN=\n#typev a_c10 10 \"%0%10!s!\" //   LEVEL=A FLAGS=B FUNC=f\n{{\n"
        f"Arg, ItemListLong(zero,{label}) -- 10\n}}\n",
        encoding="utf-8",
    )

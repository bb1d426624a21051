"""Traces for measurements, as large or as many as it takes: each of a header event and events of TraceLogging providers, written down
from docs/format.md. What no event needs is a hole in the file."""

import struct
from dataclasses import dataclass
from uuid import UUID, uuid5

HEADER_BYTES, EVENT_BYTES = 72, 80
# Bytes of an event at most, a multiple of 8: its size is 16 bits wide.
LARGEST_EVENT = 65_528
# 2025-01-01, FILETIME; with a frequency of 10 MHz a tick of the clock is as long as a unit of it.
START, FREQUENCY, FIRST_TICK = 133_801_632_000_000_000, 10_000_000, 1_000_000
PROCESSORS = 8
# Events of a small trace, besides its header event.
SMALL_EVENTS = 120
GENERIC, HEADER = 0, 4
UINT64, BINARY = 10, 14
NAMESPACE = UUID("6ba7b812-9dad-11d1-80b4-00c04fd430c8")


@dataclass(frozen=True)
class Provider:
    """A TraceLogging provider with one event: its number, and bytes of which the writer has only the length."""

    name: str
    event: str

    def items(self):
        """The extended items: what the provider is called, and what its event has."""
        fields = b"Number\0" + bytes([UINT64]) + b"Data\0" + bytes([BINARY])
        return item(12, sized(self.name.encode() + b"\0"), 1) + item(11, sized(b"\0" + self.event.encode() + b"\0" + fields), 0)

    def event_start(self, ticks, number, size):
        """An event of `size` bytes without the zeros at its end."""
        items = self.items()
        data = size - EVENT_BYTES - len(items) - 10
        head = struct.pack("<HBBHHIIq", size, 0x13, 0xC0, 1, 0, 4_242, 2_121, ticks) + uuid5(NAMESPACE, self.name).bytes_le
        head += struct.pack("<HBBBBHQII16x", 0, 0, 11, 4, 0, 0, 1, 0, 0)
        return head + items + struct.pack("<QH", number, data)


def sized(text):
    return struct.pack("<H", len(text) + 2) + text


def item(kind, data, is_followed):
    size = (8 + len(data) + 7) // 8 * 8
    return (struct.pack("<HHHH", size, kind, is_followed, len(data)) + data).ljust(size, b"\0")


def buffer_header(size, number, filled, ticks, kind=GENERIC):
    """The header of a buffer; its processor follows from its number."""
    head = struct.pack("<IIIIqqQHHIIHH", size, filled, filled, 0, ticks, number, 0, number % PROCESSORS, 1, 3, filled, 0x20, kind)
    return head.ljust(HEADER_BYTES, b"\0")


def header_event(buffer_size, buffers, last_tick):
    """The first event of the file, which describes the session."""
    end = START + last_tick - FIRST_TICK
    body = struct.pack("<IBBBBIIqIIIIIIIIQQ", buffer_size, 10, 0, 1, 5, 26_100, PROCESSORS, end, 156_250, 0, 1, buffers, 1, 8, 0, 3_000, 0, 0)
    body += bytes(0xB0) + struct.pack("<qqqII", START - 36_000_000_000, FREQUENCY, START, 1, 0)
    body += "made\0".encode("utf-16-le") + "made.etl\0".encode("utf-16-le")
    size = 32 + len(body)
    return struct.pack("<BBBBHHIIqII", 2, 0, 2, 0xC0, size, 0, 0, 0, FIRST_TICK, 0, 0) + body


def write_sparse(path, buffers, buffer_size=1 << 20, ticks=1_000):
    """A trace of so many buffers, each with one event of the largest size. On disk it takes a block for each."""
    provider, step = Provider("Example.Scale.Large", "Block"), ticks
    with open(path, "wb", buffering=0) as file:
        first = header_event(buffer_size, buffers, FIRST_TICK + buffers * step)
        file.write(buffer_header(buffer_size, 0, (HEADER_BYTES + len(first) + 7) // 8 * 8, 0, HEADER) + first)
        for number in range(1, buffers):
            time = FIRST_TICK + number * step
            head = buffer_header(buffer_size, number, HEADER_BYTES + LARGEST_EVENT, time)
            file.seek(number * buffer_size)
            file.write(head + provider.event_start(time, number, LARGEST_EVENT))
        file.truncate(buffers * buffer_size)


def write_small(path, seed, events=SMALL_EVENTS, buffer_size=1 << 14):
    """A small trace: events of three providers, with numbers and times of its own."""
    providers = [Provider(f"Example.Scale.Small{(seed + of) % 5}", f"Step{of}") for of in range(3)]
    room, parts, number = buffer_size - HEADER_BYTES, [], 0
    while number < events:
        filled = bytearray()
        while number < events and len(filled) + 256 <= room:
            time = FIRST_TICK + 1 + seed + number * 100
            event = providers[number % 3].event_start(time, seed * 1_000 + number, 200)
            filled += event.ljust(200, bytes([seed % 251]))
            number += 1
        parts.append((bytes(filled), time))
    buffers, last = len(parts) + 1, parts[-1][1]
    first = header_event(buffer_size, buffers, last)
    whole = (buffer_header(buffer_size, 0, (HEADER_BYTES + len(first) + 7) // 8 * 8, 0, HEADER) + first).ljust(buffer_size, b"\0")
    for place, (filled, time) in enumerate(parts):
        header = buffer_header(buffer_size, place + 1, HEADER_BYTES + len(filled), time)
        whole += (header + filled).ljust(buffer_size, b"\xff")
    path.write_bytes(whole)

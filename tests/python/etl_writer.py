"""Writes synthetic traces of any size, as Windows lays them out on disk (docs/format.md).

Shares nothing with the reader under test, so that a wrong layout cannot agree with itself.
"""

import struct
import uuid

BUFFER_SIZE = 64 * 1024
BUFFER_HEADER = 0x48
CPUS = 2
PROVIDER = "Synthetic-Provider"
PROVIDER_ID = uuid.UUID("5d7c8a52-4f4e-4c0e-9b1a-2f6f7d3c1e90")
EVENT = "Tick"
# 2026-01-01 00:00:00 UTC as a FILETIME, and the performance counter at that instant.
START_FILETIME = 134_116_992_000_000_000
START_TICKS = 5_000_000_000
FREQUENCY = 10_000_000
TICKS_PER_EVENT = 10

HEADER_BUFFER, DATA_BUFFER = 4, 0
SYSTEM64, EVENT_HEADER64 = 0x02, 0x13
PROCESSOR_INDEX = 0x20
UINT32 = 8


def align8(size):
    return (size + 7) & ~7


def buffer_bytes(kind, cpu, sequence, time, data):
    """A whole buffer: header, events, and the 0xFF that fills the rest."""
    used = BUFFER_HEADER + len(data)
    header = bytearray(BUFFER_HEADER)
    struct.pack_into("<I", header, 0x00, BUFFER_SIZE)
    struct.pack_into("<qq", header, 0x10, time, sequence)
    struct.pack_into("<HHIIHH", header, 0x28, cpu, 1, 3, used, PROCESSOR_INDEX, kind)
    return bytes(header) + bytes(data) + b"\xff" * (BUFFER_SIZE - used)


def header_event(buffers, end_ticks):
    """The session description that opens a file: TRACE_LOGFILE_HEADER of a 64-bit system, then both names."""
    names = "synthetic\0C:\\synthetic.etl\0".encode("utf-16-le")
    event = bytearray(0x20 + 0x118) + names
    struct.pack_into("<BBBBHBB", event, 0x00, 2, 0, SYSTEM64, 0xC0, len(event), 0, 0)
    struct.pack_into("<IIq", event, 0x08, 4, 4, START_TICKS)
    end_filetime = START_FILETIME + (end_ticks - START_TICKS) * 10_000_000 // FREQUENCY
    body = 0x20
    struct.pack_into("<IBBBBII", event, body, BUFFER_SIZE, 10, 0, 1, 5, 19045, CPUS)
    struct.pack_into("<qIIII", event, body + 0x10, end_filetime, 156_250, 0, 1, buffers)
    struct.pack_into("<IIII", event, body + 0x28, 1, 8, 0, 3000)
    boot_filetime = START_FILETIME - START_TICKS * 10_000_000 // FREQUENCY
    struct.pack_into("<qqqII", event, body + 0xF8, boot_filetime, FREQUENCY, START_FILETIME, 1, 0)
    return bytes(event)


def item(kind, data, another):
    """One extended data item: its size, type, linkage, and the data padded to eight bytes."""
    size = align8(8 + len(data))
    return struct.pack("<HHHH", size, kind, int(another), len(data)) + data.ljust(size - 8, b"\0")


def tracelogging_event():
    """A self-describing event with one number, and where its time and its number stand."""
    name = PROVIDER.encode() + b"\0"
    traits = struct.pack("<H", 2 + len(name)) + name
    fields = b"\0" + EVENT.encode() + b"\0" + b"value\0" + bytes([UINT32])
    metadata = struct.pack("<H", 2 + len(fields)) + fields
    items = item(0x0C, traits, True) + item(0x0B, metadata, False)
    header = bytearray(0x50)
    size = len(header) + len(items) + 4
    struct.pack_into("<HBBHHII", header, 0x00, size, EVENT_HEADER64, 0xC0, 1, 0, 22, 11)
    header[0x18:0x28] = PROVIDER_ID.bytes_le
    struct.pack_into("<HBBBBHQ", header, 0x28, 0, 0, 11, 4, 0, 0, 1)
    event = bytes(header) + items + bytes(align8(size) - size + 4)
    return event, 0x10, len(header) + len(items)


def write_trace(path, events):
    """Writes a closed trace of `events` numbered events, one header event besides; returns the sum of the numbers.

    Buffers of the CPUs take turns; their times interleave event by event.
    """
    event, time_at, number_at = tracelogging_event()
    per_buffer = (BUFFER_SIZE - BUFFER_HEADER) // len(event)
    data = bytearray(event * per_buffer)
    rounds = -(-events // (per_buffer * CPUS))
    with open(path, "wb") as file:
        end = START_TICKS + (events + 1) * TICKS_PER_EVENT
        file.write(buffer_bytes(HEADER_BUFFER, 0, 0, 0, header_event(1 + rounds * CPUS, end)))
        for number in range(rounds * CPUS):
            first, cpu = number // CPUS * per_buffer * CPUS, number % CPUS
            numbers = range(first + cpu, min(events, first + per_buffer * CPUS), CPUS)
            for at, value in zip(range(0, len(data), len(event)), numbers):
                struct.pack_into("<q", data, at + time_at, START_TICKS + (value + 1) * TICKS_PER_EVENT)
                struct.pack_into("<I", data, at + number_at, value)
            used = memoryview(data)[: len(numbers) * len(event)]
            last = START_TICKS + (numbers[-1] + 1) * TICKS_PER_EVENT if numbers else end
            file.write(buffer_bytes(DATA_BUFFER, cpu, 1 + number, last, used))
    return events * (events - 1) // 2

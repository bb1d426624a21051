"""Writes containers that Python's own modules cannot: 7z archives and cabinets, from the documents of their formats."""

import lzma
import struct
import zlib


def number(value):
    """A number as 7z has it: the high bits of the first byte say how many bytes follow."""
    for more in range(8):
        if value < 1 << (7 * (more + 1)):
            low = value.to_bytes(8, "little")[:more]
            high = value >> (8 * more)
            return bytes([(0xFF00 >> more) & 0xFF | high]) + low
    return b"\xff" + value.to_bytes(8, "little")


def seven_zip(members, *, method="lzma2", encrypted=False):
    """A 7z archive of (name, bytes), all in one stream."""
    plain = b"".join(content for _, content in members)
    lzma2 = {"id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}
    coder, properties, packed = {
        "lzma2": lambda: (b"\x21", b"\x10", lzma.compress(plain, lzma.FORMAT_RAW, filters=[lzma2])),
        "x86": lambda: (
            b"\x21",
            b"\x10",
            lzma.compress(plain, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_X86}, lzma2]),
        ),
        "copy": lambda: (b"\x00", b"", plain),
    }[method]()
    if encrypted:
        coder = b"\x06\xf1\x07\x01"
    flags = bytes([len(coder) | (0x20 if properties else 0)])
    folder = flags + coder + (number(len(properties)) + properties if properties else b"")
    unpacked = number(len(plain))
    if method == "x86":
        # As py7zr writes it: the filter first, whose input is what the other coder unpacks.
        folder = number(2) + b"\x04\x03\x03\x01\x03" + folder + number(0) + number(1)
        unpacked *= 2
    else:
        folder = number(1) + folder
    sums = b"".join(struct.pack("<I", zlib.crc32(content)) for _, content in members)
    sizes = b"".join(number(len(content)) for _, content in members[:-1])
    streams = (
        b"\x06" + number(0) + number(1) + b"\x09" + number(len(packed)) + b"\x00"
        b"\x07\x0b" + number(1) + b"\x00" + folder + b"\x0c" + unpacked + b"\x00"
        b"\x08\x0d" + number(len(members)) + b"\x09" + sizes + b"\x0a\x01" + sums + b"\x00\x00"
    )
    names = b"\x00" + b"".join(name.encode("utf-16-le") + b"\0\0" for name, _ in members)
    files = b"\x05" + number(len(members)) + b"\x11" + number(len(names)) + names + b"\x00"
    header = b"\x01\x04" + streams + files + b"\x00"
    start = struct.pack("<QQI", len(packed), len(header), zlib.crc32(header))
    return b"7z\xbc\xaf\x27\x1c\x00\x04" + struct.pack("<I", zlib.crc32(start)) + start + packed + header


def cabinet(members, *, method="mszip"):
    """A cabinet of (name, bytes), all in one folder."""
    plain = b"".join(content for _, content in members)
    blocks = [plain[at : at + 32768] for at in range(0, len(plain), 32768)]
    pack = {"mszip": mszip, "lzx": lzx, "stored": lambda blocks: blocks}[method]
    packing = {"mszip": 1, "lzx": 0x1503, "stored": 0}[method]
    data = b""
    for block, packed in zip(blocks, pack(blocks)):
        sizes = struct.pack("<HH", len(packed), len(block))
        data += struct.pack("<I", check_sum(packed) ^ check_sum(sizes)) + sizes + packed
    entries, offset = b"", 0
    for name, content in members:
        entries += struct.pack("<IIHHHH", len(content), offset, 0, 0x5B21, 0, 0x20) + name.encode("latin-1") + b"\0"
        offset += len(content)
    files_at = 36 + 8
    data_at = files_at + len(entries)
    folder = struct.pack("<IHH", data_at, len(blocks), packing)
    header = struct.pack("<4sIIIIIBBHHHHH", b"MSCF", 0, data_at + len(data), 0, files_at, 0, 3, 1, 1, len(members), 0, 7, 0)
    return header + folder + entries + data


def mszip(blocks):
    """Each block deflated with the one before it as its dictionary."""
    before, packed = b"", []
    for block in blocks:
        deflate = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=before) if before else zlib.compressobj(9, zlib.DEFLATED, -15)
        packed.append(b"CK" + deflate.compress(block) + deflate.flush())
        before = block
    return packed


def lzx(blocks):
    """Each block as an uncompressed block of LZX; the first tells that calls are not translated."""
    packed = []
    for number_of_block, block in enumerate(blocks):
        bits = ("0" if number_of_block == 0 else "") + f"{3:03b}{len(block):024b}"
        # Words of 16 bits, the highest bit first; padding up to a whole word, of one bit at least.
        bits += "0" * (16 - len(bits) % 16)
        words = b"".join(struct.pack("<H", int(bits[at : at + 16], 2)) for at in range(0, len(bits), 16))
        packed.append(words + struct.pack("<III", 1, 1, 1) + block + b"\0" * (len(block) % 2))
    return packed


def check_sum(content):
    """Words of four bytes, exclusive or; of a shorter one at the end the first byte is the highest."""
    whole = len(content) // 4 * 4
    total = 0
    for (word,) in struct.iter_unpack("<I", content[:whole]):
        total ^= word
    return total ^ int.from_bytes(content[whole:], "big")

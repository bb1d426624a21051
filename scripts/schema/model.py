"""The plain data that every schema source is read into, and the codes of the pack's text format."""

import pathlib
from typing import NamedTuple, Optional, Tuple, Union

def read_builds():
    """Build -> the kinds of sources that are gathered of it, in order."""
    text = (pathlib.Path(__file__).resolve().parent.parent.parent / "schemas" / "releases.txt").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if not line.startswith("#")]
    return {int(row[0]): row[1] for row in rows}


# Original manifests and whole descriptions, the most trusted first; the codes are those of schemas/README.md.
WHOLE = ["perfview", "coreclr", "dotnet", "msquic", "presentmon", "tx", "uiforetw", "iisetw", "snail", "carried", "nasbench"]
# Those of manifests, whole or regenerated.
ORIGINS = [*WHOLE, "dissect"]

BUILDS = list(read_builds())
LISTED = [build for build, kinds in read_builds().items() if "l" in kinds]
DUMPED = [build for build, kinds in read_builds().items() if "d" in kinds]

# Declared in types (manifest names without prefix) -> wire code.
WIRE = {
    "UnicodeString": "w", "AnsiString": "a", "Int8": "i8", "UInt8": "u8", "Int16": "i16", "UInt16": "u16",
    "Int32": "i32", "UInt32": "u32", "Int64": "i64", "UInt64": "u64", "Float": "f32", "Double": "f64",
    "Boolean": "b32", "Binary": "bin", "GUID": "guid", "Pointer": "ptr", "FILETIME": "ft", "SYSTEMTIME": "st",
    "SID": "sid", "HexInt32": "x32", "HexInt64": "x64", "CountedUnicodeString": "cw", "CountedAnsiString": "ca",
    "CountedUtf16String": "cw", "CountedMbcsString": "ca", "CountedBinary": "cbin",
    "WString": "w", "String": "a", "SInt8": "i8", "SInt16": "i16", "SInt32": "i32", "SInt64": "i64",
    "WChar": "wc", "IPAddrV4": "ip4", "IPAddrV6": "ip6", "SizeT": "size", "Port": "port", "WmiTime": "tt",
    "UnicodeChar": "wc",
}

# Types of the kernel class data.
KERNEL_WIRE = {
    "u8": "u8", "u16": "u16", "u32": "u32", "u64": "u64", "i8": "i8", "i16": "i16", "i32": "i32", "i64": "i64",
    "f32": "f32", "f64": "f64", "bool": "b8", "ptr": "ptr", "sizet": "size", "wstr": "w", "str": "a", "sid": "wsid",
    "ipv4": "ip4", "ipv6": "ip6", "port": "port", "wmitime": "tt", "filetime": "ft", "guid": "guid",
    "group_affinity": "gaff", "wchar": "w", "bytes": "bin",
}

# The numbers of the in types, which dumps confuse with the index of a structure's first member.
TYPE_NUMBERS = {
    name: number
    for number, name in enumerate(
        "UnicodeString AnsiString Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double Boolean Binary GUID Pointer "
        "FILETIME SYSTEMTIME SID HexInt32 HexInt64 CountedUtf16String CountedMbcsString Struct".split(), 1
    )
}

INTEGERS = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "x32", "x64"}
TEXTS = {"w", "a"}
UNSIGNED = {"u8", "u16", "u32", "u64", "x32", "x64"}

# Declared out types (lower case, without prefix) -> meaning code, for integers, texts and binary values.
OUT = {
    "pid": "pid", "tid": "tid", "port": "port", "ipv4": "ip4", "ipv6": "ip6", "socketaddress": "sock",
    "win32error": "win32", "ntstatus": "ntstatus", "hresult": "hresult", "errorcode": "hex", "xml": "xml",
    "json": "json", "utf8": "utf8", "pkcs7withtypeinfo": "pkcs7", "codepointer": "code", "datetimeutc": "utc",
    "noprint": "noprint", "hexint8": "hex", "hexint16": "hex", "hexint32": "hex", "hexint64": "hex",
}


class Ref(NamedTuple):
    """An earlier field: how many levels further out, and its position there."""

    up: int
    index: int


class Field(NamedTuple):
    """One field; `members` is a tuple for a structure, else None."""

    name: str
    wire: str
    meaning: str = ""
    length: Union[None, int, Ref] = None
    count: Union[None, int, Ref, str] = None
    map: Optional[tuple] = None  # (kind, name, ((value, label), ...))
    optional: bool = False
    hidden: bool = False
    members: Optional[tuple] = None


class Event(NamedTuple):
    """One layout of one event as one source has it. `state`: '' declared, 'i' inferred, 'd' damaged.

    An event of Windows' releases has the origin `release` and the builds that list it and those whose manifest was dumped.
    """

    id: int
    version: int
    level: Optional[int]
    task: str
    opcode: str
    keywords: Tuple[str, ...]
    symbol: str
    layout: Tuple[Field, ...]
    state: str
    origin: str
    lists: frozenset = frozenset()
    dumps: frozenset = frozenset()


class Provider:
    """All that was gathered about one provider."""

    def __init__(self, guid):
        self.guid = guid
        self.names = []  # (origin, name)
        self.builds = set()  # those that register it
        self.keywords = {}  # mask -> name
        self.tasks = {}  # value -> name
        self.opcodes = {}  # (task value or None, value) -> name
        self.events = []
        self.texts = {}  # (id, version) -> (origin, what the event says in words)
        self.symbols = {}  # (id, version) -> the symbol of an event whose own sources have no name for it


def meaning_of(wire, out):
    """The meaning code of a declared out type; '' where it only repeats what the wire type says."""
    out = out.split(":")[-1].lower()
    if not out:
        return ""
    if out in OUT:
        meaning = OUT[out]
        if wire in ("ptr", "size", "x32", "x64") and meaning == "hex":
            return ""
        return meaning if wire not in ("ft", "st", "guid", "sid", "b32", "f32", "f64") or meaning == "utc" else ""
    if out == "boolean":
        return "bool" if wire in INTEGERS else ""
    if out == "string":
        return "text" if wire in ("u8", "u16", "bin") else ""
    if out == "datetime":
        return "ft" if wire in ("u64", "i64", "x64") else ""
    if out in ("byte", "short", "int", "long"):
        return "signed" if wire in UNSIGNED else ""
    if out in ("unsignedbyte", "unsignedshort", "unsignedint", "unsignedlong"):
        return "unsigned" if wire in ("i8", "i16", "i32", "i64") else ""
    return ""


def first_structure(types):
    """Where a dumped event's first structure stands, or None.

    Dumps print the index of a structure's first member in the place of its type. Members follow the top-level fields,
    so the first structure's number is the count of those, and hides behind the type of that number when there is one.
    Counted texts (22, 23) can be such indexes too, but only where a field in front can be the first structure.
    """
    numbers = [TYPE_NUMBERS.get(t, int(t) if t.isdigit() else 0) for t in types]
    for at, number in enumerate(numbers):
        hidden = numbers.index(len(types)) if len(types) in numbers[:at] else None
        if number > 23 or (number in (22, 23) and number >= len(types) and (hidden is not None or number == len(types))):
            return at if hidden is None else hidden
    return None


def clean(text):
    """A name that fits one cell: no tabs, no line ends, no outer blanks."""
    return " ".join(text.split())


def camel(text):
    """`hard page fault` -> `HardPageFault`: event names carry no blanks."""
    return "".join(word[:1].upper() + word[1:] for word in text.split())

"""Reads field lists (one tab-separated line per event), the kernel class data and the CLR additions."""

import json
import re

from schema_manifest import LEVELS, PLACEHOLDER, plain
from schema_model import Event, Field, INTEGERS, KERNEL_WIRE, Ref, WIRE, camel, clean, first_structure


def read_field_list(text, origin, provider):
    """Adds the events of a `Name(Type field, ...)` list; what such lists lose is told by the state."""
    for line in text.split("\n")[1:]:
        cells = line.split("\t")
        if len(cells) < 8:
            continue
        symbol, _, fields = cells[3].rpartition(")")[0].rpartition("(")
        layout, state = list_layout(fields)
        task, opcode, keywords = plain(cells[6]), plain(cells[4]), cells[5].split()
        keywords = tuple(plain(k) for k in keywords if plain(k) and not PLACEHOLDER.match(k))
        level = LEVELS.get(cells[7])
        provider.events.append(
            Event(int(cells[1]), int(cells[2]), level, task, opcode, keywords, clean(symbol), layout, state, origin)
        )


def list_layout(text):
    """(fields, state) of `Type name, Type name`; ends before the first structure."""
    pairs = [part.partition(" ")[::2] for part in text.split(", ")] if text else []
    end = first_structure([declared for declared, _ in pairs])
    fields = tuple(Field(clean(name), WIRE[declared], hidden=name.startswith("__bin")) for declared, name in pairs[:end])
    return fields, "" if end is None else "d"


def read_mof_list(text, known, classes):
    """Adds the classes of a list of classic events, but for those that better data describes."""
    for line in text.split("\n")[1:]:
        cells = line.split("\t")
        if len(cells) < 6:
            continue
        guid = cells[1].strip("{} ").lower()
        if guid in known:
            continue
        symbol, _, fields = cells[4].rpartition(")")[0].rpartition("(")
        symbol = re.sub(r"_V\d+$", "", symbol)
        suffix = "_" + cells[5]
        name = symbol[: -len(suffix)] if symbol.endswith(suffix) else symbol
        for layout, state in mof_layouts(fields, cells[5]):
            event = Event(0, int(cells[3]), None, name, clean(cells[5]), (), "", layout, state, "win11-26h1")
            classes.setdefault(guid, (clean(cells[0]), name, []))[2].append((int(cells[2]), event))


def mof_layouts(text, event_type):
    """The readings of a classic field list.

    The lists do not say whether a text is 16 or 8 bits wide: both readings are kept, for the payloads to decide. The
    objects of the `TextA` and `TextW` events are texts of the width that the event's name gives.
    """
    wide, state = [], ""
    for part in text.split(", ") if text else []:
        declared, _, name = part.partition(" ")
        wire = {"TextA": "a", "TextW": "w"}.get(event_type) if declared == "Object" else WIRE.get(declared)
        if wire is None:
            state = "d"
            break
        if declared == "Boolean":
            wire = "b8"
        if declared == "String":
            state = "i"
        wide.append(Field(clean(name), wire))
    if state != "i":
        return [(tuple(wide), state)]
    return [(tuple(wide), "i"), (tuple(f._replace(wire="a") if f.wire == "w" else f for f in wide), "i")]


def kernel_field(data, before):
    """A field of the kernel data; counts by name become references to earlier integers."""
    count, wire = data.get("count"), KERNEL_WIRE[data["type"]]
    meaning = "hex" if data.get("format") == "x" else ""
    length = None
    if wire == "bin":
        length, count = (count if isinstance(count, int) else None), None
        wire = "bin" if length else "restbin"
    elif data["type"] == "wchar":
        length, count = count, None
    elif wire == "u8" and isinstance(count, int) and count >= 16:
        wire, length, count = "bin", count, None
    elif isinstance(count, str) and count != "rest":
        index = [f.name for f in before].index(count)
        assert before[index].wire in INTEGERS
        count = Ref(0, index)
    if data["type"] == "wchar" and length is None:
        wire = "wc"
    if data["name"] == "EventTimeStamp":
        wire = "tt"  # the time stamp of the event that the stack belongs to
    if data["name"] in ("EndTime", "BootTime", "StartTime"):
        wire = "ft" if any(f.name == "BufferSize" for f in before) else wire  # the trace's header
    return Field(clean(data["name"]), wire, meaning, length, count, optional=bool(data.get("optional")))


def kernel_layout(datas):
    fields = []
    for data in datas:
        fields.append(kernel_field(data, fields))
    return tuple(fields)


ORIGINS = {
    "wmi-dump-win10(dissect.etl)": "dissect", "class-list-26h1(jdu2600)": "win11-26h1", "mof-vista(perfview)": "perfview",
}


def metadata(name, *fields):
    return Event(0, 0, None, "", name, (), "", fields, "", "observed")


# The descriptions that merging tools put into a trace; TRACE_EVENT_INFO and EVENT_MAP_INFO stay bytes here.
METADATA = [
    (32, metadata("EventInfo", Field("TraceEventInfo", "restbin"))),
    (33, metadata("EventMapInfo", Field("ProviderGuid", "guid"), Field("EventMapInfo", "restbin"))),
]


def read_kernel(text, classes):
    """Adds the kernel's classes: guid -> (None, class name, [(opcode, event)])."""
    for data in json.loads(text):
        events = classes.setdefault(data["class_guid"], (None, data["class_name"], []))[2]
        if data["class_name"] == "EventMetadata":
            events += METADATA
        for kind in data["event_types"]:
            layout = kernel_layout(kind["fields"])
            origins = sorted({ORIGINS.get(s, "observed") for s in kind["sources"]})
            for opcode, name in zip(kind["opcodes"], kind["names"]):
                if name == "PartitionInfoExtension":  # one list calls the two GUIDs objects
                    layout = tuple(f._replace(wire="guid") if f.wire == "restbin" else f for f in layout)
                for version in kind["versions"]:
                    event = Event(0, version, None, "", camel(clean(name)), (), "", layout, "", ",".join(origins))
                    events.append((opcode, event))


def extra_fields(datas):
    """The fields of the CLR additions."""
    fields = []
    for data in datas:
        count = data.get("count")
        if isinstance(count, str):
            count = Ref(0, [f.name for f in fields].index(count))
        if data["type"] == "struct":
            fields.append(Field(data["name"], "", count=count, members=extra_fields(data["fields"])))
        else:
            wire = {"wstr": "w"}.get(data["type"], data["type"])
            fields.append(Field(data["name"], wire, count=count))
    return tuple(fields)

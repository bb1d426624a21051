"""Reads lists of classic events, the kernel class data and the facts of newer .NET runtimes."""

import json
import re

from manifest import LEVELS, plain
from model import Event, Field, INTEGERS, KERNEL_WIRE, Provider, Ref, WIRE, camel, clean, meaning_of
from releases import lists


def read_class_lists(listed, known, classes):
    """Adds the classes that lists of classic events have, but for those that better data describes."""
    for data in listed:
        guid = data["class"]
        if guid in known:
            continue
        symbol = re.sub(r"_V\d+$", "", data["symbol"])
        suffix = "_" + data["name"]
        name = symbol[: -len(suffix)] if symbol.endswith(suffix) else symbol
        for one in data["layouts"]:
            for layout, state in mof_layouts(one["fields"], data["name"]):
                label = clean(data["name"])
                event = Event(0, data["version"], None, name, label, (), "", layout, state, "release", lists(one))
                classes.setdefault(guid, (clean(data["provider"]), name, []))[2].append((data["type"], event))


# Types of classic lists; a text is 16 or 8 bits wide.
MOF_WIRE = {**WIRE, "Boolean": "b8", "String": "w"}


def mof_layouts(datas, event_type):
    """The readings of a classic field list.

    The lists do not say whether a text is 16 or 8 bits wide: both readings are kept, for the payloads to decide. The
    objects of the `TextA` and `TextW` events are texts of the width that the event's name gives.
    """
    wide, state = [], ""
    for name, declared in datas:
        wire = {"TextA": "a", "TextW": "w"}.get(event_type) if declared == "Object" else MOF_WIRE.get(declared)
        if wire is None:
            state = "d"
            break
        if declared == "String":
            state = "i"
        wide.append(Field(clean(name), wire))
    if not any(f.wire == "w" for f in wide) or event_type == "TextW":
        return [(tuple(wide), state)]
    return [(tuple(wide), state), (tuple(f._replace(wire="a") if f.wire == "w" else f for f in wide), state)]


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


def read_facts(datas, origin, providers):
    """Adds gathered events; an object in front of a provider's has the names of its numbers."""
    maps = {}
    for data in datas:
        if "provider-facts" in data:
            facts = data["provider-facts"]
            maps = {m["name"]: read_map(m) for m in facts.get("maps", ())}
            add_names(providers.setdefault(facts["guid"], Provider(facts["guid"])), facts, origin)
        else:
            provider = providers.setdefault(data["guid"], Provider(data["guid"]))
            provider.events += [fact_event(data, layout, maps, origin) for layout in data["layouts"]]


def read_map(data):
    entries = tuple((int(value, 16), label) for value, label in data["entries"])
    return ("b" if data["kind"] == "bits" else "v", data["name"], entries)


def add_names(provider, facts, origin):
    provider.names.append((origin, facts["name"]))
    for mask, name in facts.get("keywords", ()):
        provider.keywords.setdefault(int(mask, 16), name)
    for value, name in facts.get("tasks", ()):
        provider.tasks.setdefault(value, name)
    for task, value, name in facts.get("opcodes", ()):
        provider.opcodes.setdefault((task, value), name)


def fact_event(data, layout, maps, origin):
    names = data["names"][0]
    keywords = tuple(names.get("keywords", "").split())
    task, opcode = names.get("task", ""), plain(names.get("opcode", ""))
    level = LEVELS.get(names.get("level"))
    fields = fact_fields(layout["fields"], maps)
    return Event(data["id"], data["version"], level, task, opcode, keywords, names["symbol"], fields, "", origin)


def fact_fields(datas, maps):
    """Fields of gathered events: [name, in type, what else is known of it]."""
    fields = []
    for name, declared, *rest in datas:
        more = rest[0] if rest else {}
        length, count = (rule(more.get(key), fields) for key in ("length", "count"))
        if declared == "struct":
            fields.append(Field(name, "", count=count, members=fact_fields(more["fields"], maps)))
        else:
            wire = WIRE[declared]
            meaning = meaning_of(wire, more.get("outType", ""))
            fields.append(Field(name, wire, meaning, length, count, maps.get(more.get("map"))))
    return tuple(fields)


def rule(value, before):
    """A length or count: a number, or the name of an earlier field."""
    return Ref(0, [f.name for f in before].index(value)) if isinstance(value, str) else value

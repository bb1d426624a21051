"""Settles what several sources say about one event: merge, restore, rank."""

from typing import NamedTuple

from model import Field, INTEGERS, Ref, TEXTS, WHOLE, camel

# Windows 10, nobody says which: behind the newest dump that may be it.
DISSECT_BUILD = 17133


class Settled(NamedTuple):
    guid: str
    name: str
    builds: set
    keywords: dict
    tasks: dict
    opcodes: dict
    events: list
    texts: dict


def rank(event):
    """The place among descriptions of one event: whole ones, then by the newest build, a dump before a list."""
    first = event.origin.split(",")[0]
    if first in WHOLE:
        return (0, WHOLE.index(first), 0)
    return (1, -max(event.lists | event.dumps, default=DISSECT_BUILD), not event.dumps)


def name_rank(named):
    """Whose name of a provider is taken: an original's, but for old ones, then the newest release's."""
    order = [origin for origin in WHOLE if origin != "tx"] + ["release", "dissect", "tx"]
    return order.index(named[0])


def settle_provider(provider):
    """One provider: names, and per (id, version) its distinct layouts in rank order."""
    name = min(provider.names, key=name_rank)[1]
    lore = Lore(provider.events)
    keys = {}
    for event in provider.events:
        keys.setdefault((event.id, event.version), []).extend(lore.restore(event))
    events = [with_symbol(merge(keys[key]), provider.symbols.get(key, "")) for key in sorted(keys)]
    return Settled(provider.guid, name, provider.builds, provider.keywords, provider.tasks, provider.opcodes, events, provider.texts)


def with_symbol(events, symbol):
    """The layouts of an event; its symbol is the given one where their sources have none."""
    return [e._replace(symbol=e.symbol or symbol) for e in events]


def merge(events):
    """The distinct layouts: damaged last, then by rank; a layout that only says less than another joins it.

    All have the names of the first that has real ones.
    """
    order = {"": 0, "i": 0, "d": 1}
    events = sorted(events, key=lambda e: (order[e.state], rank(e)))
    kept = []
    for event in events:
        for index, other in enumerate(kept):
            if says_no_more(event, other):
                kept[index] = joined(other, event)
                break
        else:
            kept.append(event)
    named = next((e for e in kept if e.task or e.opcode), kept[0])
    level = next((e.level for e in kept if e.level is not None), None)
    keywords = max((e.keywords for e in kept), key=len)
    names = {"level": level, "task": named.task, "opcode": named.opcode, "symbol": named.symbol, "keywords": keywords}
    return [e._replace(layout=named_codes(e.layout), **names) for e in kept]


def joined(other, event):
    origins = other.origin.split(",")
    origins += [origin for origin in event.origin.split(",") if origin not in origins]
    state = "" if "" in (other.state, event.state) and other.layout == event.layout else other.state
    layout = tuple(map(filled, other.layout, event.layout)) + other.layout[len(event.layout) :]
    return other._replace(
        origin=",".join(origins), state=state, layout=layout, lists=other.lists | event.lists, dumps=other.dumps | event.dumps,
        level=other.level if other.level is not None else event.level, keywords=other.keywords or event.keywords,
    )


def says_no_more(event, other):
    """Whether `event` has the same values on the wire, but for rules that its source may have lost."""
    if event.state == "d" and other.state != "d":
        a, b = event.layout, other.layout
        return len(a) < len(b) and all(covers(x, y) for x, y in zip(a, b))
    return len(event.layout) == len(other.layout) and all(covers(x, y) for x, y in zip(event.layout, other.layout))


def covers(poor, rich):
    """Whether a field is the other one with facts left out."""
    if poor.members is not None or rich.members is not None:
        return poor == rich
    return (
        poor.name == rich.name
        and same_wire(poor.wire, rich.wire)
        and (poor.meaning == rich.meaning or "" in (poor.meaning, rich.meaning))
        and poor.length in (None, rich.length)
        and poor.count in (None, rich.count)
    )


def filled(field, other):
    """A field with the meaning and the names of values that another description of the same bytes has."""
    return field._replace(meaning=field.meaning or other.meaning, map=field.map or other.map)


def same_wire(poor, rich):
    """Equal, or one of two spellings of the same bytes; a lost binary length may have been read as the rest."""
    same = ({"u32", "x32"}, {"u64", "x64"}, {"bin", "restbin"})
    return poor == rich or any(poor in pair and rich in pair for pair in same)


# Names that say which codes the values of a field are, in lower case and without `_`; and the integers that can hold such.
STATUS_NAMES = {
    "ntstatus": "ntstatus", "ntstatuscode": "ntstatus", "hresult": "hresult", "hr": "hresult", "hresultcode": "hresult",
    "win32error": "win32", "win32errorcode": "win32", "ndisstatus": "ndis",
}
CODES = {"u32", "i32", "x32"}


def named_codes(fields):
    """The fields, those that say by their name which status codes they hold with that meaning."""
    def known(field):
        if field.members is not None:
            return field._replace(members=named_codes(field.members))
        meaning = STATUS_NAMES.get(field.name.replace("_", "").lower())
        if meaning is None or field.wire not in CODES or field.meaning not in ("", "hex") or field.map is not None:
            return field
        return field._replace(meaning=meaning)
    return tuple(map(known, fields))


class Lore:
    """What the provider's better descriptions say about a field of a given name and type."""

    def __init__(self, events):
        self.facts = {}
        for event in events:
            if event.state != "d":
                for field in event.layout:
                    self.learn(field, event)

    def learn(self, field, event):
        if field.members is None:
            names = (target(field.length, event.layout), target(field.count, event.layout))
            best = 0 if event.origin in WHOLE else 1
            if event.origin != "release" or event.dumps:
                self.facts.setdefault((field.name, field.wire), {}).setdefault(best, set()).add((field.meaning, *names, field.map))

    def restore(self, event):
        """The readings of an event, with what its source lost put back where its provider leaves no doubt about it."""
        if event.origin in WHOLE:
            return bound(event, event.layout, event.state)
        fields, state = [], event.state
        for field in event.layout:
            new = self.enriched(field, fields) if field.members is None else field
            state = state or ("i" if new != field else "")
            fields.append(new)
        return bound(event, tuple(fields), state)

    def enriched(self, field, before):
        facts = self.facts.get((field.name, field.wire))
        if not facts:
            return field
        best = facts[min(facts)]
        meanings, maps = {f[0] for f in best}, {f[3] for f in best}
        if not field.meaning and len(meanings) == 1:
            field = field._replace(meaning=next(iter(meanings)))
        if field.map is None and len(maps) == 1 and field.wire in INTEGERS:
            field = field._replace(map=next(iter(maps)))
        rules = {(f[1], f[2]) for f in best}
        if field.length is None and field.count is None and len(rules) == 1:
            length, count = (resolve(r, before) for r in next(iter(rules)))
            if length is not NotImplemented and count is not NotImplemented:
                field = field._replace(length=length, count=count)
        return field


GUESSES = (16, 6)  # an IPv6 address or a GUID; a network card's address


def bound(event, layout, state):
    """The event with an end for every binary value. One inside that nothing gives a length: a reading per guess."""
    readings = []
    for guess in GUESSES:
        fields, result = [], state
        for index, field in enumerate(layout):
            if field.wire == "bin" and field.length is None:
                last = index == len(layout) - 1 and state != "d"
                field, result = end_of_binary(field, fields, last, result, guess)
            fields.append(field)
        reading = event._replace(layout=tuple(fields), state=result)
        if reading not in readings:
            readings.append(reading)
    return readings


def end_of_binary(field, before, last, state, guess):
    """A length field of its name, the length of the binary value just in front, the rest if it is last, else the guess."""
    at = length_field(field.name, before)
    if at is not None:
        return field._replace(length=Ref(0, at)), state or "i"
    if before and before[-1].wire == "bin" and isinstance(before[-1].length, Ref):
        return field._replace(length=before[-1].length), state or "i"
    if last:
        return field._replace(wire="restbin"), state or "i"
    return field._replace(length=guess), "d"


def length_field(name, before):
    """The earlier integer whose name is the field's name with a word for length, or the one just before of such a name."""
    words = ("length", "len", "size", "bytes", "bytecount", "cb", "count")
    wanted = {name.lower() + w for w in words} | {w + name.lower() for w in ("cb", "cb_", "size", "length")}
    wanted |= {name.lower() + "_" + w for w in words} | {name.lower() + " " + w for w in words}
    for index in range(len(before) - 1, -1, -1):
        if before[index].wire in INTEGERS and before[index].count is None and before[index].name.lower() in wanted:
            return index
    if before and before[-1].wire in INTEGERS and any(w in before[-1].name.lower() for w in ("length", "len", "size", "bytes", "cb")):
        return len(before) - 1
    return None


def target(value, layout):
    """A rule with the position replaced by the name, so that it can be carried to another layout."""
    return ("name", layout[value.index].name) if isinstance(value, Ref) else value


def resolve(value, before):
    """The rule in a layout that has these fields so far; NotImplemented where it cannot be."""
    if not isinstance(value, tuple):
        return value
    for index in range(len(before) - 1, -1, -1):
        if before[index].name == value[1] and before[index].wire in INTEGERS and before[index].count is None:
            return Ref(0, index)
    return NotImplemented


def settle_classes(classes, hooks, values):
    """The classes in GUID order: (guid, dataset, name, [(opcode, event)]), opcodes and versions ascending."""
    groups, (maps, types) = read_hooks(hooks), read_values(values)
    result = []
    for guid in sorted(classes):
        owner, name, events = classes[guid]
        generic = groups.get(guid, {})
        if owner is None:
            dataset, name = kernel_names(guid, name, hooks)
        else:
            dataset = owner if owner == name else f"{owner}-{name}"
        settled = share_versions(settle_events(events, generic))
        known = maps.get(guid, {}), types.get(guid, {})
        result.append((guid, dataset, name, [(o, with_values(e, *known)) for o, e in settled]))
    return result


def share_versions(events):
    """Gives event types of one structure the versions below their own that only others of them are described in.

    Two types are of one structure when they have the same layouts in every version that both have. Where such types
    disagree about a version, nobody knows it of the others.
    """
    layouts = {}
    for opcode, event in events:
        layouts.setdefault(opcode, {}).setdefault(event.version, []).append(event)
    shared = list(events)
    for opcode, own in layouts.items():
        lacking = {}
        for other in layouts.values():
            if of_one_structure(own, other):
                for version in other:
                    if version < min(own):
                        lacking.setdefault(version, []).append(other[version])
        for version, found in lacking.items():
            if all(fields(f) == fields(found[0]) for f in found):
                shared += [(opcode, e._replace(opcode=own[min(own)][0].opcode, state=e.state or "i")) for e in found[0]]
    return sorted(shared, key=lambda s: (s[0], s[1].version))


def of_one_structure(own, other):
    """Whether two types (events by version) have the same fields in every version that both have."""
    common = [v for v in own if v in other]
    return own is not other and any(fields(own[v])[0] for v in common) and all(fields(own[v]) == fields(other[v]) for v in common)


def fields(events):
    return [e.layout for e in events]


def read_values(values):
    """class GUID -> {field: map}, class GUID -> {field: type code}."""
    maps, types = {}, {}
    for line in values.split("\n"):
        if line and not line.startswith("#"):
            guid, field, kind, name, *entries = line.split("\t")
            if kind == "t":
                types.setdefault(guid, {})[field] = name
                continue
            entries = tuple((int(value, 16), label) for value, label in (entry.split("=", 1) for entry in entries))
            maps.setdefault(guid, {})[field] = (kind, name, entries)
    return maps, types


def with_values(event, maps, types):
    """The event with maps and types on its integer fields of these names."""
    def known(field):
        if field.wire not in INTEGERS:
            return field
        wire, _, meaning = types.get(field.name, f"{field.wire}/{field.meaning}").partition("/")
        return field._replace(wire=wire, meaning=meaning, map=maps.get(field.name, field.map))
    return event._replace(layout=named_codes(known(f) for f in event.layout))


TRACE_CONTROL = {
    "b3e675d7-2554-4f18-830b-2762732560de", "9b79ee91-b5fd-41c0-a243-4248e266e9d0", "ed54dff8-c409-4cf6-bf83-05e1e61a09c4",
    "bbccf6c1-6cd1-48c4-80ff-839482e37671", "bf6ef1cb-89b5-490a-80ac-b180cfbcff0f",
}


def kernel_names(guid, name, hooks):
    """(dataset, event name prefix) of a kernel class."""
    for line in hooks.split("\n"):
        cells = line.split("\t")
        if cells[0] == "G" and cells[2] == guid:
            return f"Kernel-{cells[3]}", cells[3]
    return (f"KernelTraceControl-{name}" if guid in TRACE_CONTROL else f"Kernel-{name}"), name


def read_hooks(hooks):
    """class GUID -> {type: generic name}."""
    guids, names = {}, {}
    for line in hooks.split("\n"):
        cells = line.split("\t")
        if cells[0] == "G":
            guids[cells[1]] = cells[2]
        elif cells[0] == "N":
            names.setdefault(guids[cells[1]], {})[int(cells[2], 16)] = cells[3]
    return names


def settle_events(events, generic):
    """Merges what several sources say of one (opcode, version) and makes the names of one version unique."""
    keys = {}
    for opcode, event in events:
        keys.setdefault((opcode & 0xFF, event.version), []).append(event)
    used, result = {}, []
    for opcode, version in sorted(keys):
        kept = []
        for event in keys[opcode, version]:
            same = [i for i, k in enumerate(kept) if k.layout == event.layout]
            if same:
                kept[same[0]] = joined(kept[same[0]], event)
            else:
                kept.append(event)
        for event in kept:
            name = event.opcode
            if used.setdefault(name, opcode) != opcode:
                name = generic.get(opcode, f"{name}{opcode}")
            result.append((opcode, event._replace(opcode=camel(name))))
    return result

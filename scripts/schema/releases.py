"""Reads what the releases of Windows register: events, names of numbers, maps, and descriptions that traces carried."""

from manifest import LEVELS, PLACEHOLDER, Damage, own_symbol, plain, reference, value_field
from model import DUMPED, Event, Field, LISTED, Provider, Ref, TYPE_NUMBERS, WIRE, clean, meaning_of

def read_releases(registered, events, providers, structures):
    """Adds the events of all releases, and what their providers' numbers mean; `structures` by provider, see `Structures`."""
    of_provider = {data["guid"]: data for data in registered}
    maps = {guid: Maps(data.get("maps", ())) for guid, data in of_provider.items()}
    for guid, data in of_provider.items():
        add_provider(providers.setdefault(guid, Provider(guid)), data)
    for data in events:
        names = event_names(data["names"])
        for layout in data["layouts"]:
            event = release_event(data, layout, names, maps[data["guid"]], structures.get(data["guid"], NOTHING_LOST))
            providers[data["guid"]].events.append(event)


def span(text, order):
    """`10586-17134 19041`: runs of builds in an order."""
    found = set()
    for run in text.split():
        first, _, last = run.partition("-")
        found.update(order[order.index(int(first)) : order.index(int(last or first)) + 1])
    return frozenset(found)


def lists(data):
    return span(data.get("lists", ""), LISTED)


def dumps(data):
    return span(data.get("manifests", ""), DUMPED)


def add_provider(provider, data):
    """Names of the newest release; originals, which were read before, keep what they said."""
    provider.names.append(("release", clean(data["name"])))
    provider.builds |= lists(data) | dumps(data)
    for mask, name, *_ in data.get("keywords", ()):
        mask = int(mask, 16)
        if mask and mask < 1 << 48 and counted(plain(name)):
            provider.keywords.setdefault(mask, plain(name))
    for value, name, *_ in data.get("tasks", ()):
        if value and plain(name):
            provider.tasks.setdefault(value, plain(name))
    for task, value, name, *_ in data.get("opcodes", ()):
        if value is not None and counted(plain(name)):
            provider.opcodes.setdefault((None if task == "*" else task, value), plain(name))


class Maps:
    """The value names of a provider; builds may disagree about one map."""

    def __init__(self, datas):
        self.by_name = {}
        for data in datas:
            entries = ((int(value, 16) & 0xFFFF_FFFF, clean(label)) for value, label in data["entries"])
            value = ("b" if data["kind"] == "bits" else "v", clean(data["name"]), tuple(e for e in entries if e[1]))
            self.by_name.setdefault(data["name"], []).append((dumps(data), value))

    def get(self, name, builds):
        """The map as the newest of the builds had it; without builds, or where none had it, the newest."""
        variants = self.by_name.get(name, ())
        for build in sorted(builds, reverse=True):
            for known, value in variants:
                if build in known:
                    return value
        return variants[0][1] if variants else None


def event_names(entries):
    """(task, opcode, keywords, symbol, level) of the newest release that has real names; the entries are newest first."""
    read = [
        (counted(plain(e.get("task", ""))), counted(plain(e.get("opcode", ""))), keywords(e), own_symbol(e.get("symbol", "")), LEVELS.get(e.get("level")))
        for e in entries
    ]
    task, opcode, _, symbol, _ = next((r for r in read if r[0]), next((r for r in read if r[1]), read[0]))
    words = next((r[2] for r in read if r[2]), ())
    level = next((r[4] for r in read if r[4] is not None), None)
    return task, opcode, words, symbol, level


def counted(name):
    """Nothing in the place of a name that only counts."""
    return "" if PLACEHOLDER.match(name) else name


def keywords(entry):
    words = (plain(word) for word in entry.get("keywords", "").split())
    return tuple(word for word in words if word and not PLACEHOLDER.match(word))


def release_event(data, layout, names, maps, structures):
    task, opcode, words, symbol, level = names
    dumped, listed = dumps(layout), lists(layout)
    datas, state = structures.put_back(layout, data["id"], data["version"])
    fields, damaged = release_fields(datas, [], maps, dumped)
    state = "d" if damaged else state
    return Event(data["id"], data["version"], level, task, opcode, words, symbol, fields, state, "release", listed, dumped)


def release_fields(datas, outer, maps, builds):
    """(fields, whether they end before the declared ones)."""
    fields = []
    for name, declared, *rest in datas:
        more = rest[0] if rest else {}
        try:
            fields.append(release_field(clean(name), declared, more, [fields] + outer, (maps, builds)))
        except Damage:
            return tuple(fields), True
    return tuple(fields), False


def release_field(name, declared, more, scopes, known):
    if declared == KNOWN:
        return Field(name, "", count=reference(more["count"], scopes), members=more["members"])
    if declared != "struct":
        maps, builds = known
        return value_field(name, declared, more, scopes, maps.get(more["map"], builds) if "map" in more else None)
    members, damaged = release_fields(more["fields"], scopes, *known)
    if damaged:
        raise Damage
    return Field(name, "", count=reference(more.get("count"), scopes), members=members)


# In the place of a type: a structure that `Structures` has put back.
KNOWN = "known structure"


class Structures:
    """Structures of a provider by field, which its lists and dumps have lost. A source prints the number of a structure's first
    member in the place of a type: how many fields and members come before it. Where that number is another one, it is none.
    """

    def __init__(self):
        self.by_field = {}

    def add(self, field, events, versions, count, members):
        first, _, last = (versions or "0-").partition("-")
        where = frozenset(map(int, events.split())), range(int(first), int(last or 255) + 1)
        self.by_field.setdefault(field, []).append((*where, count, members))

    def put_back(self, layout, event, version):
        """(fields up to the first structure that is lost, state of what stands)."""
        fields, damage = layout["fields"], layout.get("damaged_at")
        found, number = [], len(fields)
        for index, (name, declared, *_) in enumerate(fields):
            count, members = self.structure(name, event, version)
            if members and number_of(declared) == number:
                found.append([name, KNOWN, {"count": count, "members": members}])
                number, damage = number + len(members), None
            elif index == damage or members == ():
                return found, "d"
            else:
                found.append(fields[index])
        return found, "" if found == fields else "i"

    def structure(self, field, event, version):
        """(what counts it, its members): none where its members are not known, nothing where the field is no structure."""
        for events, versions, *known in self.by_field.get(field, ()):
            if version in versions and (not events or event in events):
                return known
        return None, None


def number_of(declared):
    return int(declared) if declared.isdigit() else TYPE_NUMBERS.get(declared)


NOTHING_LOST = Structures()


# In and out types by the numbers that descriptions in traces have.
IN_TYPES = dict(enumerate(
    "UnicodeString AnsiString Int8 UInt8 Int16 UInt16 Int32 UInt32 Int64 UInt64 Float Double Boolean Binary GUID Pointer "
    "FILETIME SYSTEMTIME SID HexInt32 HexInt64 CountedUnicodeString CountedAnsiString Struct CountedBinary".split(), 1,
))
OUT_TYPES = {
    1: "string", 2: "dateTime", 3: "byte", 4: "unsignedByte", 5: "short", 6: "unsignedShort", 7: "int", 8: "unsignedInt",
    9: "long", 10: "unsignedLong", 13: "boolean", 16: "HexInt8", 17: "HexInt16", 18: "HexInt32", 19: "HexInt64",
    20: "PID", 21: "TID", 22: "Port", 23: "IPv4", 24: "IPv6", 25: "SocketAddress", 28: "Xml", 29: "ErrorCode",
    30: "Win32Error", 31: "NTSTATUS", 32: "HResult", 34: "Json", 35: "Utf8", 36: "Pkcs7WithTypeInfo", 37: "CodePointer",
    38: "DateTimeUtc",
}

IS_STRUCTURE, HAS_LENGTH_FIELD, HAS_COUNT_FIELD = 1, 2, 4


def read_carried(carried, providers):
    """Adds what merged traces carried of events: each description whole, types and rules by number."""
    for data in carried:
        provider = providers.setdefault(data["provider"], Provider(data["provider"]))
        provider.names.append(("carried", data["provider_name"]))
        task, opcode = (counted(plain(data[key] or "")) for key in ("task_name", "opcode_name"))
        if task:
            provider.tasks.setdefault(data["task"], task)
        properties, maps = data["properties"], data.get("maps", {})
        fields = tuple(carried_field(properties, index, maps) for index in range(data["top"]))
        event = Event(data["id"], data["version"], data["level"], task, opcode, (), "", fields, "", "carried")
        provider.events.append(event)


def carried_field(properties, index, maps):
    """One property; the members of a structure stand behind the top ones."""
    data = properties[index]
    flags, name = data["flags"], clean(data["name"])
    count = Ref(0, data["count"]) if flags & HAS_COUNT_FIELD else None
    if flags & IS_STRUCTURE:
        members = range(data["start"], data["start"] + data["members"])
        return Field(name, "", count=count, members=tuple(carried_field(properties, m, maps) for m in members))
    wire = WIRE[IN_TYPES[data["in_type"]]]
    length = Ref(0, data["length"]) if flags & HAS_LENGTH_FIELD else None
    meaning = meaning_of(wire, OUT_TYPES.get(data["out_type"], ""))
    return Field(name, wire, meaning, length, count, carried_map(data.get("map"), maps))


def carried_map(name, maps):
    if name not in maps:
        return None
    entries = tuple((value & 0xFFFF_FFFF, clean(label)) for value, label in maps[name]["entries"])
    return ("v" if maps[name]["flag"] & 1 else "b", clean(name), entries)

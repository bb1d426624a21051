"""Reads instrumentation manifests: original ones and those regenerated from a running Windows."""

import re
import xml.etree.ElementTree as ElementTree

from model import Event, Field, INTEGERS, Provider, Ref, TEXTS, WIRE, clean, first_structure, meaning_of

LEVELS = {"LogAlways": 0, "Always": 0, "Critical": 1, "Error": 2, "Warning": 3, "Informational": 4, "Verbose": 5}
OPCODES = {
    "Info": 0, "Start": 1, "Stop": 2, "DC_Start": 3, "DC_Stop": 4, "Extension": 5, "Reply": 6, "Resume": 7,
    "Suspend": 8, "Send": 9, "Receive": 240,
}
STRING = re.compile(r"\$\(string\.(.*)\)$")
PLACEHOLDER = re.compile(r"^(task|opcode|keyword|level)_?\d+$")


def local(name):
    """A name without namespace."""
    return name.rpartition("}")[2]


def parse_xml(data):
    """The document; generated files with bare `&` and `<` inside attribute values are escaped and read again."""
    try:
        return ElementTree.fromstring(data)
    except ElementTree.ParseError:
        text = data.decode("utf-8", "replace")
        text = re.sub(r"&(?!#?\w+;)", "&amp;", text)
        text = re.sub(r'="([^"]*)"', lambda m: '="' + m.group(1).replace("<", "&lt;") + '"', text)
        return ElementTree.fromstring(text)


def children(element, name):
    """The direct children of a name, whatever their namespace."""
    return [child for child in element if local(child.tag) == name]


def descend(element, *path):
    """All elements at the end of a path of names."""
    found = [element]
    for name in path:
        found = [child for parent in found for child in children(parent, name)]
    return found


def number(text):
    """A decimal or hexadecimal number; None where there is none."""
    text = (text or "").strip()
    try:
        return int(text, 16) if text.lower().startswith("0x") else int(text)
    except ValueError:
        return None


class Names:
    """The names and values that a provider's events refer to."""

    def __init__(self, node, strings):
        self.strings = strings
        self.levels = {e.get("name"): number(e.get("value")) for e in descend(node, "levels", "level")}
        self.keywords = {}
        for e in descend(node, "keywords", "keyword"):
            self.keywords[e.get("name")] = (number(e.get("mask")), self.shown(e))
        self.tasks = {}
        self.opcodes = {}
        for e in descend(node, "opcodes", "opcode"):
            self.add_opcode(None, e)
        for tasks in children(node, "tasks"):
            self.read_tasks(tasks)

    def read_tasks(self, tasks):
        """The tasks with their opcodes, which stand inside the task or, in some manifests, behind it."""
        name = None
        for element in tasks:
            if local(element.tag) == "task":
                name = element.get("name")
                self.tasks[name] = (number(element.get("value")), self.shown(element), element.get("eventGUID"))
            own = descend(element, "opcodes", "opcode") if local(element.tag) == "task" else children(element, "opcode")
            for e in own:
                self.add_opcode(name, e)

    def add_opcode(self, task, e):
        """Notes an opcode under its name and under its value: some manifests refer to it by number."""
        entry = (number(e.get("value")), self.shown(e), number(e.get("mofValue")))
        self.opcodes[task, e.get("name")] = entry
        self.opcodes.setdefault((task, e.get("value")), entry)

    def shown(self, e):
        """The declared name, or the shown one where the declared name only counts (`task7`)."""
        name = e.get("name", "")
        if PLACEHOLDER.match(name):
            message = STRING.match(e.get("message", ""))
            name = self.strings.get(message.group(1), name) if message else name
        return plain(name)

    def opcode(self, task, name):
        """(value, shown name, classic type) of an opcode as an event names it."""
        if not name:
            return (0, "", None)
        if name.startswith("win:"):
            return (OPCODES.get(name[4:]), "" if name == "win:Info" else name[4:], None)
        for key in ((task, name), (None, name)):
            if key in self.opcodes:
                return self.opcodes[key]
        return (number(name) if number(name) is not None else OPCODES.get(name), "" if name == "Info" else plain(name), None)


def plain(name):
    """A name without `win:`; empty for the stand-ins `task_0` and the like, which say nothing."""
    name = clean(name[4:] if name.startswith("win:") else name)
    return "" if name in ("task_0", "Info", "Information") else name


def own_symbol(symbol):
    """The symbol that an event has; nothing for one that the tool put together which wrote the manifest of a running system anew.

    That tool has no symbols. It joins the task's name, which is `task_0` for an event without a task, the opcode's name, and
    the event's id and version where it needs them: `task_0160`, `task_0Start46002`, `task_01_V1`.
    """
    symbol = clean(symbol)
    return "" if symbol.startswith("task_0") else symbol


def string_table(root):
    """id -> text, of the English table, else of the first."""
    tables = {}
    for resources in descend(root, "localization", "resources"):
        for entry in descend(resources, "stringTable", "string"):
            tables.setdefault(resources.get("culture", "").lower(), {}).setdefault(entry.get("id"), entry.get("value", ""))
    return tables.get("en-us") or next(iter(tables.values()), {})


def read_maps(node, strings):
    """name -> (kind, name, entries)."""
    maps = {}
    for kind, code in (("valueMap", "v"), ("bitMap", "b")):
        for element in descend(node, "maps", kind):
            entries = []
            for entry in children(element, "map"):
                message = STRING.match(entry.get("message", ""))
                label = strings.get(message.group(1), "") if message else ""
                label = clean(label) or clean(entry.get("symbol", ""))
                value = number(entry.get("value"))
                if value is not None and label:
                    entries.append((value & 0xFFFF_FFFF, label))
            maps[element.get("name")] = (code, clean(element.get("name", "")), tuple(entries))
    return maps


class TemplateReader:
    """Turns a template's elements into fields; `regenerated` files need doubt (`first_structure`)."""

    def __init__(self, maps, regenerated):
        self.maps = maps
        self.regenerated = regenerated

    def read(self, template):
        """(fields, state)."""
        end = None
        if self.regenerated:
            data = children(template, "data")
            end = first_structure([e.get("inType", "").rpartition(":")[2] for e in data])
            template = data[:end]
        fields, state = self.level(template, [])
        return tuple(fields), state if end is None else "d"

    def level(self, parent, outer):
        fields, state = [], ""
        for element in parent:
            kind = local(element.tag)
            if kind not in ("data", "struct"):
                continue
            try:
                if kind == "struct":
                    field, inner = self.struct(element, [fields] + outer)
                    state = state or inner
                else:
                    field = self.data(element, [fields] + outer)
            except Damage:
                return fields, "d"
            fields.append(field)
        return fields, state

    def struct(self, element, scopes):
        members, state = self.level(element, scopes)
        if state == "d":
            raise Damage
        count = reference(element.get("count"), scopes)
        return Field(clean(element.get("name", "")), "", count=count, members=tuple(members)), state

    def data(self, element, scopes):
        declared = element.get("inType", "").rpartition(":")[2]
        known = self.maps.get(element.get("map"))
        return value_field(clean(element.get("name", "")), declared, element, scopes, known)


def value_field(name, declared, more, scopes, known):
    """A field that is no structure; `more` holds its out type and rules, `scopes` the fields before it, innermost first."""
    wire = WIRE.get(declared)
    if wire is None:
        raise Damage
    meaning = meaning_of(wire, more.get("outType", ""))
    length = None
    if wire in TEXTS or wire == "bin":
        length = reference(more.get("length"), scopes)
    if wire == "bin" and length is None and meaning == "ip6":
        length = 16
    count = reference(more.get("count"), scopes)
    if count == 1:
        count = None
    return Field(name, wire, meaning, length, count, known, hidden=name.startswith("__bin"))


def reference(text, scopes):
    """A constant, or the earlier integer field of that name, innermost level first."""
    if not text:
        return None
    value = number(text)
    if value is not None and not any(f.name == clean(text) for scope in scopes for f in scope):
        return value or None
    return find_ref(clean(text), scopes)


class Damage(Exception):
    """The description cannot be followed beyond this field."""


def find_ref(name, scopes):
    """The last earlier integer field of a name; Damage where there is none. Dumps drop the blanks of field names."""
    for up, scope in enumerate(scopes):
        for index in range(len(scope) - 1, -1, -1):
            if scope[index].name in (name, name.replace(" ", "")) and scope[index].wire in INTEGERS and scope[index].count is None:
                return Ref(up, index)
    raise Damage


def read_manifest(data, origin, regenerated, providers, classes):
    """Adds a manifest's providers, and the classes of its classic events, to what was gathered."""
    root = parse_xml(data)
    strings = string_table(root)
    for node in root.iter():
        if local(node.tag) != "provider" or not node.get("guid") or not children(node, "events"):
            continue
        read_provider(node, strings, origin, regenerated, providers, classes)


def read_provider(node, strings, origin, regenerated, providers, classes):
    guid = node.get("guid").strip("{} ").lower()
    provider = providers.setdefault(guid, Provider(guid))
    provider.names.append((origin, clean(node.get("name"))))
    names = Names(node, strings)
    reader = TemplateReader(read_maps(node, strings), regenerated)
    templates = {e.get("tid"): reader.read(e) for e in descend(node, "templates", "template")}
    for mask, name in names.keywords.values():
        if mask and mask < 1 << 48 and not PLACEHOLDER.match(name):
            provider.keywords.setdefault(mask, name)
    for value, name, _ in names.tasks.values():
        if value and name:
            provider.tasks.setdefault(value, name)
    for (task, _), (value, name, _) in names.opcodes.items():
        if value is not None and name:
            provider.opcodes.setdefault((names.tasks[task][0] if task else None, value), name)
    for element in descend(node, "events", "event"):
        read_event(element, names, templates, origin, provider, classes)


def read_event(element, names, templates, origin, provider, classes):
    task = element.get("task", "")
    _, task_name, class_guid = names.tasks.get(task, (None, plain(task), None))
    opcode_value, opcode_name, classic_type = names.opcode(task, element.get("opcode", ""))
    level = element.get("level", "")
    level = LEVELS.get(level[4:]) if level.startswith("win:") else names.levels.get(level, number(level))
    masks = [names.keywords.get(k, (0, plain(k))) for k in element.get("keywords", "").split()]
    keywords = tuple(n for m, n in sorted(masks, key=lambda k: k[0] or 0) if n and not PLACEHOLDER.match(n))
    template = element.get("template")
    if template and template not in templates:
        return
    layout, state = templates[template] if template else ((), "")
    event = Event(
        number(element.get("value")) & 0xFFFF, (number(element.get("version")) or 0) & 0xFF, level, task_name, opcode_name,
        keywords, own_symbol(element.get("symbol", "")), layout, state, origin,
    )
    if class_guid and task_name and not provider.names[-1][1].startswith("Microsoft-"):
        # A classic class rewritten as a manifest: its event ids are counters that no event carries.
        key = class_guid.strip("{} ").lower()
        opcode = classic_type if classic_type is not None else opcode_value
        classes.setdefault(key, (provider.names[-1][1], task_name, []))[2].append((opcode, event))
    else:
        provider.events.append(event)
        message = STRING.match(element.get("message", ""))
        text = names.strings.get(message.group(1)) if message else None
        if text:
            provider.texts.setdefault((event.id, event.version), (origin, text))

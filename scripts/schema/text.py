"""Writes providers and classes in the pack's text format (schemas/README.md)."""

from model import BUILDS, DUMPED, LISTED, Ref


def cell(field):
    """One field: type code with its rules, a blank, the name."""
    if field.members is not None:
        return ["{" + rule("*", field.count) + " " + field.name] + [c for m in field.members for c in cell(m)] + ["}"]
    code = field.wire + (f"/{field.meaning}" if field.meaning else "")
    code += rule("=", field.length) + rule("*", field.count)
    code += ("@%s" % field.map if field.map is not None else "") + ("?" if field.optional else "") + ("!" if field.hidden else "")
    return [f"{code} {field.name}"]


def rule(mark, value):
    """A length or count rule: a number, `#index` of an earlier field with a `^` per level outwards, or `rest`."""
    if value is None:
        return ""
    if isinstance(value, Ref):
        return mark + "^" * value.up + f"#{value.index}"
    return f"{mark}{value}"


class Tables:
    """The maps, layouts and origins of one section, numbered in order of first use."""

    def __init__(self):
        self.maps, self.layouts, self.sources, self.lines = {}, {}, {}, []

    def origins(self, cell):
        if cell not in self.sources:
            self.sources[cell] = len(self.sources)
            self.lines.append(row("R", self.sources[cell], cell))
        return self.sources[cell]

    def layout(self, fields):
        cells = [c for f in self.bind(fields) for c in cell(f)]
        key = tuple(cells)
        if key not in self.layouts:
            self.layouts[key] = len(self.layouts)
            self.lines.append("\t".join(["L", str(self.layouts[key]), *cells]))
        return self.layouts[key]

    def bind(self, fields):
        """The fields with each map replaced by its number."""
        bound = []
        for f in fields:
            if f.members is not None:
                f = f._replace(members=tuple(self.bind(f.members)))
            elif f.map is not None:
                f = f._replace(map=self.map(f.map))
            bound.append(f)
        return bound

    def map(self, value):
        if value not in self.maps:
            self.maps[value] = len(self.maps)
            kind, name, entries = value
            shown = [f"{v:x}={label}" for v, label in entries]
            self.lines.append("\t".join(["M", str(self.maps[value]), kind, name, *shown]))
        return self.maps[value]


def row(*cells):
    """A line without trailing empty cells."""
    cells = ["" if c is None else str(c) for c in cells]
    while cells and not cells[-1]:
        cells.pop()
    return "\t".join(cells)


def runs(builds, order):
    """`10586-17134 19041`: runs of builds in an order."""
    found = []
    for at in sorted(order.index(b) for b in builds):
        if found and found[-1][1] == at - 1:
            found[-1][1] = at
        else:
            found.append([at, at])
    return " ".join(str(order[a]) if a == b else f"{order[a]}-{order[b]}" for a, b in found)


def origins(event):
    """The origins of a layout, the one that gave the details first; of releases the builds."""
    cells = []
    for origin in event.origin.split(","):
        if origin != "release":
            cells.append(origin)
            continue
        cells += [f"dumps {runs(event.dumps, DUMPED)}"] if event.dumps else []
        cells += [f"lists {runs(event.lists, LISTED)}"] if event.lists else []
    return ",".join(cells)


def layout_cells(tables, events):
    """The layouts of one event in rank order: number, state, number of the origins."""
    return " ".join(f"{tables.layout(e.layout)}{e.state or '-'}{tables.origins(origins(e))}" for e in events)


class Keywords:
    """The keywords of a provider by position; those that only lists name have no mask."""

    def __init__(self, provider):
        named = {}
        for mask, name in sorted(provider.keywords.items()):
            named.setdefault(name, f"{mask:x}")
        used = {word for group in provider.events for word in group[0].keywords}
        named.update((word, "-") for word in sorted(used - set(named)))
        self.lines = [row("K", mask, name) for name, mask in named.items()]
        self.position = {name: index for index, name in enumerate(named)}

    def cell(self, words):
        return " ".join(str(at) for at in sorted({self.position[word] for word in words}))


def provider_lines(provider):
    """The section of one provider."""
    keywords = Keywords(provider)
    lines = [row("P", provider.guid, provider.name, runs(provider.builds, BUILDS)), *keywords.lines]
    lines += [row("T", value, name) for value, name in sorted(provider.tasks.items())]
    opcodes = sorted(provider.opcodes.items(), key=lambda o: (-1 if o[0][0] is None else o[0][0], o[0][1]))
    lines += [row("O", "*" if task is None else task, value, name) for (task, value), name in opcodes]
    tables, rows = Tables(), []
    for group in provider.events:
        e = group[0]
        level = "-" if e.level is None else e.level
        cells = layout_cells(tables, group)
        rows.append(row("E", e.id, e.version, level, cells, e.task, e.opcode, keywords.cell(e.keywords), e.symbol if not e.task else ""))
    return lines + tables.lines + rows


def text_lines(provider):
    """What the events of a provider say in words, where that may be handed on; a text is never cut or cleaned."""
    if not provider.texts:
        return []
    cells = [(id, version, origin, text) for (id, version), (origin, text) in sorted(provider.texts.items())]
    for id, version, _, text in cells:
        if any(mark in text for mark in "\t\r\n"):
            raise ValueError(f"{provider.name}, event {id} version {version}: a text of several lines or cells")
    return [row("P", provider.guid, provider.name), *("\t".join(map(str, ["X", *cell])) for cell in cells)]


def class_lines(item):
    """The section of one classic class."""
    guid, dataset, name, events = item
    tables, rows, groups = Tables(), [], {}
    for opcode, e in events:
        groups.setdefault((opcode, e.version, e.opcode), []).append(e)
    for (opcode, version, label), group in groups.items():
        rows.append(row("V", opcode, version, layout_cells(tables, group), label))
    return [row("C", guid, dataset, name)] + tables.lines + rows

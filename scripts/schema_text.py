"""Writes providers and classes in the pack's text format (schemas/README.md)."""

from schema_model import Ref


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
    """The maps and layouts of one section, numbered in order of first use."""

    def __init__(self):
        self.maps, self.layouts, self.lines = {}, {}, []

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


def provider_lines(provider):
    """The section of one provider."""
    lines = [row("P", provider.guid, provider.name)]
    lines += [row("K", f"{mask:x}", name) for mask, name in sorted(provider.keywords.items())]
    lines += [row("T", value, name) for value, name in sorted(provider.tasks.items())]
    opcodes = sorted(provider.opcodes.items(), key=lambda o: (-1 if o[0][0] is None else o[0][0], o[0][1]))
    lines += [row("O", "*" if task is None else task, value, name) for (task, value), name in opcodes]
    tables, events = Tables(), []
    for e in provider.events:
        number = tables.layout(e.layout)
        level = "-" if e.level is None else e.level
        events.append(
            row("E", e.id, e.version, level, number, e.origin, e.state or "-", e.task, e.opcode, " ".join(e.keywords),
                e.symbol if not e.task else "")
        )
    return lines + tables.lines + events


def class_lines(item):
    """The section of one classic class."""
    guid, dataset, name, events = item
    tables, rows = Tables(), []
    for opcode, e in events:
        number = tables.layout(e.layout)
        rows.append(row("V", opcode, e.version, number, e.origin, e.state or "-", e.opcode))
    return [row("C", guid, dataset, name)] + tables.lines + rows

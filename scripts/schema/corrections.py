"""Reads what is kept by hand in the pack's text format (schemas/README.md): corrections of classes, and added events."""

import re

from model import Event, Field, Provider, Ref
from releases import Structures

CELL = re.compile(
    r"(?P<wire>\w+)(/(?P<meaning>\w+))?(=(?P<length>#?\d+))?(\*(?P<count>#?\d+|rest))?(@(?P<map>\d+))?(?P<optional>\?)?(?P<hidden>!)? (?P<name>.+)"
)
STRUCTURE = re.compile(r"\{(\*(?P<count>#?\d+|rest))? (?P<name>.+)")
LAYOUT = re.compile(r"(\d+)([-id])(\d+)")


class Section:
    """What a section's lines refer to by number."""

    def __init__(self):
        self.layouts, self.origins, self.maps, self.keywords = [], [], [], []

    def line(self, kind, cells):
        if kind == "L":
            self.layouts.append(read_fields(list(cells[1:]), self.maps))
        elif kind == "R":
            self.origins.append(cells[1])
        elif kind == "M":
            entries = (entry.split("=", 1) for entry in cells[3:])
            self.maps.append((cells[1], cells[2], tuple((int(value, 16), label) for value, label in entries)))

    def layout(self, cell):
        """(fields, state, origins) of a layout as events name it."""
        layout, state, origin = LAYOUT.fullmatch(cell).groups()
        return self.layouts[int(layout)], "" if state == "-" else state, self.origins[int(origin)]


def read_corrections(text, classes):
    """Puts each corrected event type and version in the place of all that was gathered about it."""
    guid, section = None, Section()
    for kind, cells in lines(text):
        section.line(kind, cells)
        if kind == "C":
            guid, section = cells[0], Section()
            classes.setdefault(guid, (None, cells[1] if len(cells) > 1 else "", []))
        elif kind == "V":
            events = classes[guid][2]
            key = (int(cells[0]), int(cells[1]))
            events[:] = [(o, e) for o, e in events if (o & 0xFF, e.version) != key]
            fields, state, origin = section.layout(cells[2])
            events.append((key[0], Event(0, key[1], None, "", cells[3], (), "", fields, state, origin)))


def read_additions(text, providers):
    """Adds events that no gathered source has, or has whole, and names that none has."""
    provider, section = None, Section()
    for kind, cells in lines(text):
        section.line(kind, cells)
        if kind == "P":
            section = Section()
            provider = providers.setdefault(cells[0], Provider(cells[0]))
            name = cells[1]
        elif kind == "K":
            provider.keywords.setdefault(int(cells[0], 16), cells[1])
            section.keywords.append(cells[1])
        elif kind == "T":
            provider.tasks.setdefault(int(cells[0]), cells[1])
        elif kind == "O":
            provider.opcodes.setdefault((None if cells[0] == "*" else int(cells[0]), int(cells[1])), cells[2])
        elif kind == "N":
            provider.symbols[int(cells[0]), int(cells[1])] = cells[2]
        elif kind == "E":
            event, version, level, cell, task, opcode, words, symbol = (cells + [""] * 8)[:8]
            fields, state, origin = section.layout(cell)
            provider.names.append((origin, name))
            level = None if level == "-" else int(level)
            words = tuple(section.keywords[int(at)] for at in words.split())
            provider.events.append(Event(int(event), int(version), level, task, opcode, words, symbol, fields, state, origin))


def read_structures(text):
    """Provider GUID -> what its lists and dumps have lost (schemas/structures.txt)."""
    structures = {}
    for kind, cells in lines(text):
        if kind == "P":
            provider = structures.setdefault(cells[0], Structures())
        elif kind == "S":
            field, events, versions, count, *members = cells + [""] * (4 - len(cells))
            provider.add(field, events, versions, count, read_fields(members, []))
    return structures


def lines(text):
    for line in text.splitlines():
        if not line.startswith("#"):
            kind, *cells = line.split("\t")
            yield kind, cells


def read_fields(cells, maps):
    """The fields up to the end, or to the end of a structure; takes them off the list."""
    fields = []
    while cells:
        cell = cells.pop(0)
        if cell == "}":
            break
        parts = STRUCTURE.fullmatch(cell)
        if parts:
            count = read_rule(parts["count"])
            fields.append(Field(parts["name"], "", count=count, members=read_fields(cells, maps)))
        else:
            fields.append(read_cell(cell, maps))
    return tuple(fields)


def read_cell(cell, maps):
    """One field; rules that lead out of a structure have not been needed."""
    parts = CELL.fullmatch(cell)
    if parts is None:
        raise ValueError(f"`{cell}` is no field")
    length, count = read_rule(parts["length"]), read_rule(parts["count"])
    known = maps[int(parts["map"])] if parts["map"] else None
    optional, hidden = bool(parts["optional"]), bool(parts["hidden"])
    return Field(parts["name"], parts["wire"], parts["meaning"] or "", length, count, known, optional, hidden)


def read_rule(text):
    if text is None or text == "rest":
        return text
    return Ref(0, int(text[1:])) if text.startswith("#") else int(text)

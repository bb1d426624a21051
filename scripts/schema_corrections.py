"""Reads the corrections of classic classes, which are kept by hand in the pack's text format (schemas/README.md)."""

import re

from schema_model import Event, Field

CELL = re.compile(r"(?P<wire>\w+)(/(?P<meaning>\w+))?(=(?P<length>\d+))?(\*(?P<count>\d+))?(?P<optional>\?)? (?P<name>.+)")


def read_corrections(text, classes):
    """Puts each corrected event type and version in the place of all that was gathered about it."""
    guid, layouts, origins = None, [], []
    for line in text.splitlines():
        kind, *cells = line.split("\t")
        if kind == "C":
            guid, layouts, origins = cells[0], [], []
            classes.setdefault(guid, (None, cells[1] if len(cells) > 1 else "", []))
        elif kind == "L":
            layouts.append(tuple(read_cell(cell) for cell in cells[1:]))
        elif kind == "R":
            origins.append(cells[1])
        elif kind == "V":
            opcode, version, cell, name = cells
            layout, state, origin = re.fullmatch(r"(\d+)([-id])(\d+)", cell).groups()
            events = classes[guid][2]
            key = (int(opcode), int(version))
            events[:] = [(o, e) for o, e in events if (o & 0xFF, e.version) != key]
            state = "" if state == "-" else state
            events.append((key[0], Event(0, key[1], None, "", name, (), "", layouts[int(layout)], state, origins[int(origin)])))


def read_cell(cell):
    """One field; structures and rules that name other fields have not been needed."""
    parts = CELL.fullmatch(cell)
    if parts is None:
        raise ValueError(f"corrections.txt: `{cell}` is no field")
    length, count = (int(n) if n else None for n in (parts["length"], parts["count"]))
    return Field(parts["name"], parts["wire"], parts["meaning"] or "", length, count, optional=bool(parts["optional"]))

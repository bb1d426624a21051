"""The facts that the pack is built from: `schemas/facts`, gathered from other projects once and kept here.

    manifests.tsv        a manifest a line: file, origin, original or regenerated, where it is from, its licence
    manifests/*.man      manifests: identifiers, names, types, values; what events say in words where the licence allows it
    *.jsonl.xz *.tsv.xz  lists and dumps of releases, descriptions that traces carried, names of providers, status codes
"""

import json
import lzma
import pathlib
import xml.etree.ElementTree as ElementTree
from typing import NamedTuple

from manifest import PLACEHOLDER, STRING, children, local, parse_xml, string_table

FACTS = pathlib.Path(__file__).resolve().parent.parent.parent / "schemas" / "facts"

# What of a manifest is a fact, by element; what its events say in words is none.
KEPT = {
    "provider": ("name", "guid"), "keyword": ("name", "mask"), "level": ("name", "value"),
    "task": ("name", "value", "eventGUID"), "opcode": ("name", "value", "mofValue"), "valueMap": ("name",),
    "bitMap": ("name",), "map": ("value", "symbol"), "template": ("tid",), "struct": ("name", "count"),
    "data": ("name", "inType", "outType", "length", "count", "map"),
    "event": ("value", "version", "level", "task", "opcode", "keywords", "template", "symbol"),
}
# Elements whose texts are names of values.
LABELLED = {"map", "keyword", "task", "opcode"}
# Licences under which that may be handed on, too, with the notice in schemas/LICENSE-TEXTS.
TEXT_LICENCES = {"MIT"}
GROUPS = {"events", "keywords", "levels", "tasks", "opcodes", "maps", "templates"}


class Manifest(NamedTuple):
    """A line of `manifests.tsv`."""

    file: str
    origin: str
    kind: str
    source: str
    licence: str

    def is_regenerated(self):
        """Whether a tool made it from a running Windows, so that it may have lost something."""
        return self.kind == "regenerated"

    def read(self):
        """Its text."""
        return (FACTS / "manifests" / self.file).read_bytes()


def manifests():
    """All manifests in the order of their lines: of several names that a number has, the first is kept."""
    rows = (FACTS / "manifests.tsv").read_text("utf-8").splitlines()
    return [Manifest(*row.split("\t")) for row in rows if not row.startswith("#")]


def text(name):
    """A compressed text."""
    return lzma.decompress((FACTS / f"{name}.xz").read_bytes()).decode("utf-8")


def objects(name):
    """The objects of a file, one a line."""
    return map(json.loads, text(name).splitlines())


def facts_of(data, licence):
    """A manifest with its facts alone, and what its events say where its licence allows that."""
    root = parse_xml(data)
    strings, used, told = string_table(root), set(), LABELLED | ({"event"} if licence in TEXT_LICENCES else set())
    top = ElementTree.Element("instrumentationManifest")
    events = ElementTree.SubElement(ElementTree.SubElement(top, "instrumentation"), "events")
    for node in root.iter():
        if local(node.tag) == "provider" and node.get("guid") and children(node, "events"):
            events.append(facts_below(node, used, told))
    resources = ElementTree.SubElement(ElementTree.SubElement(top, "localization"), "resources", culture="en-US")
    table = ElementTree.SubElement(resources, "stringTable")
    for id in sorted(used & strings.keys()):
        ElementTree.SubElement(table, "string", id=id, value=strings[id])
    ElementTree.indent(top)
    return ElementTree.tostring(top, encoding="unicode") + "\n"


def facts_below(node, used, told):
    """An element and those below it; `used` gets the ids of the texts of the elements `told`, of names those that only count."""
    kind = local(node.tag)
    found = ElementTree.Element(kind, {name: node.get(name) for name in KEPT.get(kind, ()) if node.get(name) is not None})
    is_wanted = kind in ("map", "event") or PLACEHOLDER.match(node.get("name", ""))
    message = STRING.match(node.get("message", ""))
    if message and is_wanted and kind in told:
        found.set("message", node.get("message"))
        used.add(message.group(1))
    for child in node:
        if isinstance(child.tag, str) and (local(child.tag) in KEPT or local(child.tag) in GROUPS):
            found.append(facts_below(child, used, told))
    return found

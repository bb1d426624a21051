#!/usr/bin/env python3
"""Re-encodes gathered schema facts as the text files of `schemas/` (format: schemas/README.md).

    python3 scripts/build_schemas.py [FACTS]        FACTS defaults to ../shared/schemas-src

Writes schemas/providers/*.txt, schemas/classes.txt, schemas/names.txt and schemas/codes.txt; the other texts there are kept by
hand, and hooks.txt, values.txt, corrections.txt, additions.txt, structures.txt and releases.txt are read. The output depends on the facts alone: it is sorted, and running it twice changes nothing.
"""

import json
import lzma
import pathlib
import sys

from schema_corrections import read_additions, read_corrections, read_structures
from schema_lists import read_class_lists, read_facts, read_kernel
from schema_manifest import read_manifest
from schema_model import clean
from schema_releases import read_carried, read_releases
from schema_settle import settle_classes, settle_provider
from schema_text import class_lines, provider_lines

HERE = pathlib.Path(__file__).resolve().parent.parent
OUT = HERE / "schemas"

# Where an origin's facts come from is told in schemas/README.md; the order is the rank.
ORIGIN_OF_REPO = {
    "microsoft/perfview": "perfview", "microsoft/msquic": "msquic", "GameTechDev/PresentMon": "presentmon",
    "microsoft/Tx": "tx", "fox-it/dissect.etl": "dissect",
}

# The tables of status codes, in the order of their sections.
CODE_TABLES = ["ntstatus", "hresult", "winerror", "ndis", "ndis_oid"]


def gather(facts):
    """(providers by GUID, classes by GUID). Whole descriptions come first: the names of their numbers are kept."""
    providers, classes = {}, {}
    read_kernel((facts / "kernel-mof.json").read_text("utf-8"), classes)
    kernel = set(classes)
    entries = json.loads((facts / "index.json").read_text("utf-8"))["entries"]
    read = {(e["kind"] != "original", e["file"]): e for e in entries if e["source_repo"] in ORIGIN_OF_REPO}
    for (regenerated, file), entry in sorted(read.items()):
        if entry["kind"] in ("original", "manifest") and not file.endswith("winmeta.xml"):
            origin = ORIGIN_OF_REPO[entry["source_repo"]]
            read_manifest((facts / file).read_bytes(), origin, regenerated, providers, classes)
    read_runtimes(facts / "releases" / "clr", providers, classes)
    read_additions((OUT / "additions.txt").read_text("utf-8"), providers)
    read_releases(facts / "releases", providers, read_structures((OUT / "structures.txt").read_text("utf-8")))
    read_carried(facts / "releases" / "in-trace.jsonl", providers)
    read_class_lists(facts / "releases", kernel, classes)
    return providers, classes


def read_runtimes(folder, providers, classes):
    """Adds what newer .NET runtimes declare: their last manifest that was gathered whole, and single events after it."""
    for manifest in sorted(folder.glob("*.man.xz")):
        read_manifest(lzma.decompress(manifest.read_bytes()), "coreclr", False, providers, classes)
    for newer in sorted(folder.glob("*.jsonl")):
        read_facts(newer.read_text("utf-8"), "dotnet", providers)


def shelf(name):
    """The file that a provider stands in: by the first letter of what sets its name apart."""
    rest = name.lower()
    for prefix in ("microsoft-windows-", "microsoft-"):
        rest = rest.removeprefix(prefix)
    return rest[:1] if rest[:1].isalpha() else "0"


# What is known of a name without events: the kind of the provider, that the GUID follows from the name, or that it is a label.
NAME_KINDS = {"manifest": "manifest", "classic": "classic", "classic+manifest": "manifest", "tracelogging": "tracelogging", "from-name": "derived"}


def name_lines(path, described):
    """The names of GUIDs of which no events are gathered, with the builds that register them."""
    yield "# Names of GUIDs of which no events are gathered. Written by scripts/build_schemas.py: GUID, name, kind, builds."
    for row in path.read_text("utf-8").splitlines()[1:]:
        guid, name, kind, _, builds, trust, *_ = row.split("\t")
        if guid not in described:
            kind = "label" if trust == "label" else NAME_KINDS.get(kind, "provider")
            first, _, last = builds.partition("-")
            yield "\t".join([guid, clean(name), kind, "" if not builds else first if first == last else builds]).rstrip("\t")


def code_lines(folder, more):
    """The status codes by table and value, each with the one name to show; `more`: those that the facts lack."""
    for table in CODE_TABLES:
        yield f"S\t{table}"
        rows = [line.split("\t") for line in (folder / f"{table}.tsv").read_text("utf-8").splitlines()[1:]]
        codes = sorted([(int(row[0], 16), row[1]) for row in rows] + more.pop(table, []))
        if len({value for value, _ in codes}) < len(codes):
            sys.exit(f"a code of {table} stands in more_codes.txt and in the facts")
        yield from (f"{value:x}\t{name}" for value, name in codes)


def read_more_codes(text):
    """The codes of `more_codes.txt` by table."""
    found, table = {}, None
    for line in text.splitlines():
        if not line.startswith("#"):
            code, name = line.split("\t")
            if code == "S":
                table = found.setdefault(name, [])
            else:
                table.append((int(code, 16), name))
    return found


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), "utf-8", newline="\n")


def main():
    facts = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "../shared/schemas-src"
    providers, classes = gather(facts)
    hooks, values = ((OUT / name).read_text("utf-8") for name in ("hooks.txt", "values.txt"))
    read_corrections((OUT / "corrections.txt").read_text("utf-8"), classes)
    shelves, settled = {}, [settle_provider(p) for p in providers.values()]
    for provider in sorted(settled, key=lambda p: (p.name.lower(), p.guid)):
        shelves.setdefault(shelf(provider.name), []).extend(provider_lines(provider))
    (OUT / "providers").mkdir(exist_ok=True)
    for old in (OUT / "providers").glob("*.txt"):
        old.unlink()
    for letter, lines in shelves.items():
        write(OUT / "providers" / f"{letter}.txt", lines)
    write(OUT / "classes.txt", [line for c in settle_classes(classes, hooks, values) for line in class_lines(c)])
    described = {p.guid for p in settled} | set(classes)
    write(OUT / "names.txt", name_lines(facts / "releases" / "provider-names.tsv", described))
    more = read_more_codes((OUT / "more_codes.txt").read_text("utf-8"))
    write(OUT / "codes.txt", code_lines(facts / "releases" / "status", more))
    events = sum(len(p.events) for p in settled)
    layouts = sum(len(group) for p in settled for group in p.events)
    print(f"{len(settled)} providers, {events} events, {layouts} layouts, {len(classes)} classes")


if __name__ == "__main__":
    main()

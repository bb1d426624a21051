#!/usr/bin/env python3
"""Re-encodes gathered schema facts as the text files of `schemas/` (format: schemas/README.md).

    python3 scripts/build_schemas.py [FACTS]        FACTS defaults to ../shared/schemas-src

Writes schemas/providers/*.txt, schemas/classes.txt and schemas/codes.txt; the other texts there are kept by hand, and
hooks.txt, values.txt, corrections.txt and guids.txt are read. The output depends on the facts alone: it is sorted, and running it twice changes nothing.
"""

import hashlib
import json
import lzma
import pathlib
import sys
import uuid

from schema_corrections import read_corrections
from schema_lists import read_facts, read_field_list, read_kernel, read_mof_list
from schema_manifest import read_manifest
from schema_model import Provider
from schema_settle import settle_classes, settle_provider
from schema_text import class_lines, provider_lines

HERE = pathlib.Path(__file__).resolve().parent.parent
OUT = HERE / "schemas"

# Where an origin's facts come from is told in schemas/README.md; the order is the rank.
ORIGIN_OF_REPO = {
    "microsoft/perfview": "perfview", "microsoft/msquic": "msquic", "GameTechDev/PresentMon": "presentmon",
    "microsoft/Tx": "tx", "fox-it/dissect.etl": "dissect",
}
ORIGIN_OF_FOLDER = {
    "Manifests-Win10-18990": "win10-18990", "Manifests-Win10-17134": "win10-17134", "Manifests-Win10-10240": "win10-10240",
    "Manifests-Win7-7600": "win7-7600",
}

# The tables of status codes, in the order of their sections.
CODE_TABLES = ["ntstatus", "hresult", "winerror", "ndis", "ndis_oid"]


def origin_of(entry):
    """The origin's code of an entry of index.json."""
    return ORIGIN_OF_REPO.get(entry["source_repo"]) or ORIGIN_OF_FOLDER.get(entry["source_path"].split("/")[0], "win11-26h1")


def gather(facts):
    """(providers by GUID, classes by GUID, names of lists whose GUID follows from their name)."""
    providers, classes, derived, seen = {}, {}, [], set()
    entries = json.loads((facts / "index.json").read_text("utf-8"))["entries"]
    read_kernel((facts / "kernel-mof.json").read_text("utf-8"), classes)
    kernel = set(classes)
    for entry in sorted(entries, key=lambda e: (e["kind"] not in ("original", "manifest"), e["file"])):
        if entry["file"] in seen or entry["file"].endswith("winmeta.xml") or entry["kind"] == "mof":
            continue
        seen.add(entry["file"])
        data, kind = (facts / entry["file"]).read_bytes(), entry["kind"]
        if kind in ("original", "manifest"):
            read_manifest(data, origin_of(entry), kind == "manifest", providers, classes)
        elif kind == "mof-field-list":
            read_mof_list(data.decode("utf-8"), kernel, classes)
        else:
            add_field_list(data.decode("utf-8"), entry, providers, derived)
    read_runtimes(facts / "releases" / "clr", providers, classes)
    return providers, classes, derived


def read_runtimes(folder, providers, classes):
    """Adds what newer .NET runtimes declare: their last manifest that was gathered whole, and single events after it."""
    for manifest in sorted(folder.glob("*.man.xz")):
        read_manifest(lzma.decompress(manifest.read_bytes()), "coreclr", False, providers, classes)
    for newer in sorted(folder.glob("*.jsonl")):
        read_facts(newer.read_text("utf-8"), "dotnet", providers)


def known_guids():
    """name -> GUID of guids.txt."""
    rows = [line.split("\t") for line in (OUT / "guids.txt").read_text("utf-8").splitlines() if not line.startswith("#")]
    return {name: guid for guid, name in rows}


def guid_of_name(name):
    """The GUID that event sources and most newer providers derive from their name."""
    space = bytes.fromhex("482c2db2c39047c887f81a15bfc130fb")
    digest = bytearray(hashlib.sha1(space + name.upper().encode("utf-16-be")).digest()[:16])
    digest[7] = digest[7] & 0x0F | 0x50
    return str(uuid.UUID(bytes_le=bytes(digest)))


def add_field_list(text, entry, providers, derived):
    """Adds a field list to its provider, which the index, a manifest of the same name or guids.txt gives the GUID of."""
    name = text.split("\n")[1].split("\t")[0] if "\n" in text.strip() else entry["provider"]
    guid = (entry["guid"] or "").lower()
    if not guid:
        same = [g for g, p in sorted(providers.items()) if any(n.lower() == name.lower() for _, n in p.names)]
        guid = same[0] if same else known_guids().get(name, "")
    if not guid:
        guid = guid_of_name(name)
        derived.append(name)
    provider = providers.setdefault(guid, Provider(guid))
    provider.names.append(("win11-26h1", name))
    read_field_list(text, "win11-26h1", provider)


def shelf(name):
    """The file that a provider stands in: by the first letter of what sets its name apart."""
    rest = name.lower()
    for prefix in ("microsoft-windows-", "microsoft-"):
        rest = rest.removeprefix(prefix)
    return rest[:1] if rest[:1].isalpha() else "0"


def code_lines(folder):
    """The status codes by table and value, each with the one name to show."""
    for table in CODE_TABLES:
        yield f"S\t{table}"
        rows = [line.split("\t") for line in (folder / f"{table}.tsv").read_text("utf-8").splitlines()[1:]]
        yield from (f"{value:x}\t{name}" for value, name in sorted((int(row[0], 16), row[1]) for row in rows))


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), "utf-8", newline="\n")


def main():
    facts = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "../shared/schemas-src"
    providers, classes, derived = gather(facts)
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
    write(OUT / "codes.txt", code_lines(facts / "releases" / "status"))
    events = sum(len({(e.id, e.version) for e in p.events}) for p in settled)
    print(f"{len(settled)} providers, {events} events, {sum(len(p.events) for p in settled)} layouts, {len(classes)} classes")
    print(f"with a GUID that follows from the name: {len(derived)}: {', '.join(sorted(derived))}")


if __name__ == "__main__":
    main()

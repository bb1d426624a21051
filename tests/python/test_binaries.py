"""Binaries as sources of schemas: what this program reads in their resources is what libfwevt and dissect.eventlog read.

`data/binaries` says which binaries these are, and where the two that are not handed on come from; message tables are read here, from the
documents of their format.
"""

import io
import json
import os
import shutil
import struct
import tempfile
import unittest
import zipfile

import support
from containers import cabinet

DATA = os.path.join(support.REPOSITORY, "tests", "python", "data", "binaries")
MANIFEST = os.path.join(support.REPOSITORY, "schemas", "facts", "manifests", "coreclr-ClrEtwAll.man")
CLR = "e13c0d23-ccbc-4e12-931b-d9cc2eee27e4"

IN_TYPES = [
    None, "Utf16", "Ansi", "Int8", "UInt8", "Int16", "UInt16", "Int32", "UInt32", "Int64", "UInt64", "Float", "Double", "Bool32",
    "Binary", "Guid", "Pointer", "FileTime", "SystemTime", "Sid", "HexInt32", "HexInt64",
]
# Of an integer; all others only repeat what the in type says.
OUT_TYPES = {**dict.fromkeys(range(16, 20), "Hex"), 20: "ProcessId", 21: "ThreadId", 30: "Win32Error", 31: "NtStatus", 32: "HResult"}
OPCODES = {
    0: "Info", 1: "Start", 2: "Stop", 3: "DCStart", 4: "DCStop", 5: "Extension", 6: "Reply", 7: "Resume", 8: "Suspend", 9: "Send",
    240: "Receive",
}
NO_MESSAGE = 0xFFFFFFFF
# Events that take their names from built-in corrections of their layouts, which rank before those of files.
CORRECTED = {
    (CLR, 5, 1), (CLR, 82, 0), ("a669021c-c450-4609-a035-5af59af4df18", 0, 0), ("cc2bcbba-16b6-4cf3-8990-d74c2e8af500", 1, 0),
    ("763fd754-7086-4dfe-95eb-c01a46faf4ca", 151, 0),
}


def parts(extract):
    """Type and bytes of the parts of what the store keeps of a binary."""
    assert extract[:8] == b"ETLWEVT1"
    (count,) = struct.unpack_from("<I", extract, 8)
    at = 12 + 12 * count
    for number in range(count):
        kind, _, length = struct.unpack_from("<III", extract, 12 + 12 * number)
        yield kind, extract[at : at + length]
        at += length


def messages(table):
    """The texts of a message table by number."""
    texts = {}
    (blocks,) = struct.unpack_from("<I", table, 0)
    for block in range(blocks):
        first, last, at = struct.unpack_from("<III", table, 4 + 12 * block)
        for number in range(first, last + 1):
            length, flags = struct.unpack_from("<HH", table, at)
            assert flags == 1, "UTF-16"
            texts[number] = table[at + 4 : at + length].decode("utf-16-le").rstrip("\0").removesuffix("\r\n")
            at += length
    return texts


# The bits of keywords that are a provider's own; those above say in which channel an event is.
KEYWORDS = (1 << 48) - 1


class Expected:
    """What the two others say of a provider, in the words of `schema export`."""

    def __init__(self, golden, texts):
        self.golden = golden
        self.texts = texts
        self.tasks = {task: self.shown(message, name) for task, message, _, name in golden["tasks"]}
        own = [one for one in golden["opcodes"] if not one[3].startswith("win:")]
        self.opcodes = {(task, opcode): self.shown(message, name) for task, opcode, message, name in own}
        self.keywords = [(mask, self.shown(message, name)) for mask, message, name in golden["keywords"]]

    def shown(self, message, name):
        text = self.texts.get(message, "").strip()
        return text if text and len(text) <= 64 and "\n" not in text else name.removeprefix("win:")

    def opcode(self, task, opcode):
        return self.opcodes.get((task, opcode)) or self.opcodes.get((0, opcode)) or OPCODES.get(opcode)

    def event(self, event):
        identifier, version, channel, level, opcode, task, mask, message, _ = event
        name = self.opcode(task, opcode) if opcode else None
        task_name = self.tasks.get(task) if task else None
        known = {
            "id": identifier, "version": version, "level": level, "task": task_name, "opcode": self.opcode(task, opcode),
            "name": "/".join(part for part in (task_name, name) if part) or None,
            "keywords": [text for own, text in sorted(self.keywords) if own and own & mask == own],
            "task_value": task, "opcode_value": opcode, "keyword_mask": f"{mask & KEYWORDS:#x}",
        }
        if channel:
            known["channel"] = channel
        if message != NO_MESSAGE:
            known["message"] = self.texts[message]
        return known


def flat(fields):
    """The fields in the order of the file: those of a level, then the members of its structures."""
    yield from fields
    for field in fields:
        yield from flat(field.get("fields", []))


class Binaries(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=support.temporary_root())
        self.addCleanup(shutil.rmtree, self.folder)

    def export(self, path):
        result = support.run("schema", "export", "--no-store", "--schemas", path)
        self.assertEqual(result.returncode, 0, result.stderr)
        return {provider["guid"]: provider for provider in json.loads(result.stdout)["providers"]}

    def extract(self, path):
        """What the store keeps of a binary."""
        store = os.path.join(self.folder, "store")
        result = support.run("schema", "import", path, "--store", store)
        self.assertEqual(result.returncode, 0, result.stderr)
        (name,) = (name for name in os.listdir(store) if name.endswith(".wevt"))
        with open(os.path.join(store, name), "rb") as file:
            return file.read()

    def quantity(self, own, raw, items):
        if own is None:
            self.assertEqual(raw, 0)
        elif "constant" in own:
            self.assertEqual(raw, own["constant"])
        else:
            self.assertEqual(items[raw][0], own["field"])

    def layout(self, fields, items):
        self.assertEqual([field["name"] for field in fields], [item[0] for item in items])
        for field, (_, in_type, out_type, count, length) in zip(fields, items, strict=True):
            self.quantity(field.get("count"), count, items)
            if field["in_type"] != "Struct":
                self.quantity(field.get("length"), length, items)
                self.assertEqual(field["in_type"], IN_TYPES[in_type])
                integer = "Int" in field["in_type"]
                self.assertEqual(field.get("out_type"), OUT_TYPES.get(out_type) if integer else None, field)

    def holds(self, name, path, *, corrected=()):
        with open(os.path.join(DATA, f"{name}.json"), encoding="utf-8") as file:
            golden = json.load(file)
        texts = messages(next(content for kind, content in parts(self.extract(path)) if kind == 2))
        found = self.export(path)
        self.assertEqual(sorted(found), sorted(golden))
        for guid, own in golden.items():
            expected, provider = Expected(own, texts), found[guid]
            self.assertEqual(len(provider["known_events"]), len(own["events"]))
            for event, known in zip(own["events"], provider["known_events"], strict=True):
                with self.subTest(name, provider=guid, event=event[:2]):
                    plain = {key: value for key, value in known.items() if key != "layouts"}
                    if (guid, *event[:2]) not in corrected:
                        self.assertEqual(plain, expected.event(event))
                    (layout,) = known["layouts"]
                    items = [] if event[-1] is None else own["templates"][event[-1]]
                    self.assertEqual(layout["trust"], "declared")
                    self.layout(list(flat(layout["fields"])), items)
            names = {field["map"]["name"] for event in provider["known_events"]
                     for field in flat(event["layouts"][0]["fields"]) if "map" in field}
            self.assertLessEqual(names, {name for _, name in own["maps"]})
            keywords = [(int(one["mask"], 16), one["name"]) for one in provider.get("keywords", [])]
            standard = {mask for mask, _, name in own["keywords"] if name.startswith("win:")}
            self.assertEqual(sorted(keywords), sorted(one for one in expected.keywords if one[0] not in standard))
        return found

    def test_node(self):
        found = self.holds("node", os.path.join(DATA, "node.zip"))
        (provider,) = found.values()
        self.assertEqual(provider["name"], "NodeJS-ETW-provider")
        request = provider["known_events"][0]["message"]
        self.assertEqual(request, "Node.js HTTP Server Request%nMethod: %2%nRemote: %6%nPort: %5%nURL: %1")

    def test_dxcompiler(self):
        (provider,) = self.holds("dxcompiler", os.path.join(DATA, "dxcompiler.zip")).values()
        self.assertEqual(provider["name"], "Microsoft-Windows-DXCompiler-API")
        self.assertNotIn("message", provider["known_events"][0])

    def test_cabinets_and_folders_in_archives(self):
        with zipfile.ZipFile(os.path.join(DATA, "node.zip")) as archive:
            node = archive.read("node.exe")
        notes = b"Nothing for anybody."
        members = [("notes.txt", notes), ("bin/node.exe", node)]
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w") as archive:
            for name, content in members:
                archive.writestr(name, content)
        plain = self.export(os.path.join(DATA, "node.zip"))
        for name, content in (("n.zip", packed.getvalue()), ("n.cab", cabinet(members)), ("n.bin", cabinet(members))):
            path = os.path.join(self.folder, name)
            with open(path, "wb") as file:
                file.write(content)
            found = self.export(path)
            origins = {layout["origin"] for provider in found.values() for event in provider["known_events"]
                       for layout in event["layouts"]}
            self.assertEqual(origins, {"bin/node.exe"}, name)
            self.assertEqual(json.dumps(found).replace("bin/node.exe", "node.exe"), json.dumps(plain), name)
        path = os.path.join(self.folder, "empty.zip")
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("notes.txt", notes)
        result = support.run("schema", "import", path, "--store", os.path.join(self.folder, "store"))
        self.assertEqual(result.returncode, 2)
        self.assertIn("there is no schema file in this archive", result.stderr)


class NotHandedOn(Binaries):
    """Binaries that only who has them can read."""

    def setUp(self):
        super().setUp()
        self.binaries = os.environ.get("ETL2PARQUET_BINARIES")
        if not self.binaries:
            self.skipTest("no binaries: set ETL2PARQUET_BINARIES to a folder with those of data/binaries/README.md")

    test_node = test_dxcompiler = test_cabinets_and_folders_in_archives = None

    def path(self, name):
        path = os.path.join(self.binaries, name)
        if not os.path.exists(path):
            self.skipTest(f"no {name} in ETL2PARQUET_BINARIES")
        return path

    def test_d3d12(self):
        self.holds("D3D12Core", self.path("D3D12Core.dll"))

    def test_clr(self):
        found = self.holds("clretwrc", self.path("clretwrc.dll"), corrected=CORRECTED)
        # The public manifest is of a later version, and has no texts: it adds six events, and names to two maps.
        later = self.export(MANIFEST)
        self.assertEqual(sorted(found), sorted(later))
        missing, other = [], []
        for guid, provider in later.items():
            own = {(event["id"], event["version"]): event for event in found[guid]["known_events"]}
            for event in provider["known_events"]:
                known = own.pop((event["id"], event["version"]), None)
                if known is None:
                    missing.append((guid, event["id"]))
                    continue
                for key in ("level", "channel"):
                    self.assertEqual(known.get(key), event.get(key))
                if known["layouts"][0]["fields"] != event["layouts"][0]["fields"]:
                    other.append((guid, event["id"]))
                    self.assertEqual(without_maps(known), without_maps(event))
            self.assertEqual(own, {}, "all events of the binary are in the manifest")
        self.assertEqual(missing, [(CLR, number) for number in (72, 290, 291, 293, 294, 295)])
        self.assertEqual(other, [(CLR, 15), (CLR, 88)])


def without_maps(event):
    """The layout of an event without the names of values."""
    return [{key: value for key, value in field.items() if key not in ("map", "fields")}
            for field in flat(event["layouts"][0]["fields"])]


if __name__ == "__main__":
    unittest.main()

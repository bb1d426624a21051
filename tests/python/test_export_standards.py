"""Timelines in the fields of public standards: held to the schema of OCSF, as its own project publishes it, to the fields that the
Elastic Common Schema documents, and to the rows and the views."""

import collections
import contextlib
import csv
import datetime
import functools
import io
import json
import os
import unittest

import duckdb
import support
from engines import duckdb_with
from made import add_dataset

try:
    import jsonschema
    from ocsf_json_schema import OcsfJsonSchemaEmbedded, get_ocsf_schema
except ImportError:
    jsonschema = None

NETWORK, PROCESS, MANAGED = "tx-KernelNetwork", "tx-Process", "perfview-net.4.5.2.x64"
# Types and fields of <https://www.elastic.co/docs/reference/ecs/ecs-field-reference> that a document may have.
ECS = {
    str: """message ecs.version event.kind event.action event.code event.provider event.outcome host.hostname host.os.type host.os.version
        process.name process.executable process.command_line process.parent.name process.parent.executable process.parent.command_line user.id
        dll.name dll.path file.name file.directory file.path registry.hive registry.key registry.value registry.path network.transport
        network.type network.direction network.protocol source.ip source.address destination.ip destination.address dns.type
        dns.question.name dns.question.type dns.response_code labels.trace""",
    datetime.datetime: "@timestamp process.start process.end process.parent.start",
    int: """event.sequence process.pid process.exit_code process.thread.id process.parent.pid network.bytes source.port destination.port""",
    list: "event.category event.type dns.answers dns.resolved_ip related.ip",
}
ECS = {name: kind for kind, names in ECS.items() for name in names.split()}
# Expected types by category, of the pages on categorization.
TYPES = {
    "process": {"start", "end"}, "library": {"start"}, "network": {"connection", "start", "end", "info", "protocol"},
    "registry": {"access", "change", "deletion"}, "file": {"access", "change", "creation", "deletion"},
}  # fmt: skip


def setUpModule():
    global FILES, MADE
    FILES = support.temporary_folder("standards")
    MADE = made()


def run(*arguments, expected=0):
    done = support.run(*arguments)
    assert done.returncode == expected, (arguments, done.returncode, done.stderr)
    return done


@functools.lru_cache
def converted(name):
    out = os.path.join(FILES, name)
    path = support.EXAMPLE if name == "example" else os.path.join(support.corpus_or_skip(), f"{name}.etl")
    run("convert", path, "-o", out, "-q")
    return out


@functools.lru_cache
def documents(out, fields):
    text = run("export", out, "--format", "timeline-jsonl", "--fields", fields, "-q").stdout
    return [json.loads(line) for line in text.splitlines()]


def flat(value, path=""):
    if not isinstance(value, dict):
        return {path: value}
    return {name: leaf for key, inner in value.items() for name, leaf in flat(inner, f"{path}.{key}" if path else key).items()}


def at(document, path):
    for name in path.split("."):
        document = document.get(name) if isinstance(document, dict) else None
    return document


def ask(out, query):
    with contextlib.closing(duckdb_with(out)) as connection:
        return connection.execute(query).fetchall()


def made():
    """A trace with events that no trace at hand has: the registry, DNS, files, connections."""
    out = os.path.join(FILES, "made")
    run("convert", support.EXAMPLE, "-o", out, "-q")
    folder = os.path.join(out, "trace=example")
    own = {"process_id": 4660, "process_name": "shop.exe", "thread_id": 7, "input": 0}
    key = {**own, "KeyHandle": 500, "Status": 0}
    software = r"\REGISTRY\MACHINE\Software"
    registry = [
        {"event_name": "Registry/KCBRundownBegin", "KeyHandle": 500, "KeyName": software},
        {**key, "event_name": "Registry/Open", "KeyName": "Shop"},
        {**key, "event_name": "Registry/SetValue", "KeyName": "Size"},
        {**key, "event_name": "Registry/QueryValue", "KeyName": "", "Status": -1073741772},
        {"event_name": "Registry/KCBDelete", "KeyHandle": 500, "KeyName": software},
        # Of a block that nothing names.
        {**key, "event_name": "Registry/DeleteValue", "KeyName": "Size"},
        {**key, "event_name": "Registry/Delete", "KeyHandle": 0, "KeyName": r"\REGISTRY\USER\S-1-5-18\Shop"},
    ]
    add_dataset(folder, "Kernel-Registry", registry)
    file = {**own, "FileObject": 9}
    files = [
        {**file, "event_name": "FileIo/Create", "OpenPath": r"C:\shop\a.txt"},
        {**file, "event_name": "FileIo/Write", "FileName": r"C:\shop\a.txt"},
        {**file, "event_name": "FileIo/Read"},
        {**file, "event_name": "FileIo/OperationEnd"},
    ]
    add_dataset(folder, "Kernel-FileIo", files)
    ends = {"input": 0, "PID": 4660, "saddr": "10.0.0.1", "sport": 50000, "daddr": "192.0.2.7", "dport": 443, "size": 12}
    add_dataset(folder, "Kernel-TcpIp", [{**ends, "event_name": f"TcpIp/{name}IPV4"} for name in ("Connect", "Accept", "Send", "Recv", "TCPCopy", "Disconnect")])
    group = {**ends, "event_name": "UdpIp/RecvIPV4", "daddr": "239.255.255.250"}
    add_dataset(folder, "Kernel-UdpIp", [group, {**ends, "event_name": "UdpIp/RecvIPV4"}])
    return out


class Standards(unittest.TestCase):
    def check_ecs(self, out):
        found = documents(out, "ecs")
        for document in found:
            for name, value in flat(document).items():
                kind = ECS[name]
                self.assertIsInstance(value, str if kind is datetime.datetime else kind, name)
                if kind is datetime.datetime:
                    datetime.datetime.fromisoformat(value[:19])
            [category] = document["event"]["category"]
            self.assertLessEqual(set(document["event"]["type"]), TYPES[category])
            self.assertTrue(document["message"])
        return found

    def check_ocsf(self, out):
        if jsonschema is None:
            self.skipTest("the package ocsf-json-schema is not installed")
        found = documents(out, "ocsf")
        validators = {}
        for document in found:
            uid = document["class_uid"]
            if uid not in validators:
                whole = get_ocsf_schema(version=document["metadata"]["version"])
                # Classes of an extension stand below its name: win/registry_key_activity.
                [name] = [name for name, own in whole["classes"].items() if own["uid"] == uid]
                schema = OcsfJsonSchemaEmbedded(whole).get_class_schema(class_name=name, profiles=document["metadata"]["profiles"])
                validators[uid] = jsonschema.Draft202012Validator(schema)
            errors = [error.message for error in validators[uid].iter_errors(document)]
            self.assertEqual(errors, [], document)
            self.assertEqual(document["type_uid"], uid * 100 + document["activity_id"])
        return found

    def test_every_document_is_one_of_the_standard(self):
        for out in (MADE, converted("example")):
            self.assertTrue(self.check_ecs(out))
            self.assertTrue(self.check_ocsf(out))

    def test_documents_of_real_traces_are_of_the_standard(self):
        for name in (PROCESS, NETWORK, MANAGED):
            self.assertTrue(self.check_ecs(converted(name)))
            self.assertTrue(self.check_ocsf(converted(name)))

    def test_processes_are_the_rows(self):
        for out, events in ((converted("example"), "Kernel-Process"), (converted(PROCESS) if support.corpus() else None, "Microsoft-Windows-Kernel-Process")):
            if out is None:
                continue
            is_kernel = events == "Kernel-Process"
            what = "event_name IN ('Process/Start', 'Process/End')" if is_kernel else "event_id IN (1, 2)"
            pid, parent = ("ProcessId", "ParentId") if is_kernel else ("ProcessID", "ParentProcessID")
            with contextlib.closing(duckdb.connect()) as connection:
                expected = connection.execute(f"""SELECT seq, {pid}, CASE WHEN event_name LIKE '%Start' THEN {parent} END
                    FROM read_parquet('{out}/trace=*/events/{events}/*.parquet', union_by_name = true) WHERE {what} ORDER BY seq""").fetchall()
            found = [document for document in documents(out, "ecs") if document["event"]["category"] == ["process"]]
            is_start = [document["event"]["type"] == ["start"] for document in found]
            rows = [(at(d, "event.sequence"), at(d, "process.pid"), at(d, "process.parent.pid") if start else None) for d, start in zip(found, is_start)]
            self.assertEqual(rows, expected)
            others = [document for document in documents(out, "ocsf") if document["class_uid"] == 1007]
            rows = [(at(d, "metadata.sequence"), at(d, "process.pid"), at(d, "actor.process.pid") if d["activity_id"] == 1 else None) for d in others]
            self.assertEqual(rows, expected)

    def test_traffic_is_that_of_the_view(self):
        for out in (MADE, *((converted(NETWORK), converted(MANAGED)) if support.corpus() else ())):
            expected = ask(out, """SELECT seq, protocol, source_address, source_port, destination_address, destination_port, bytes, process_id
                FROM network WHERE direction IN ('sent', 'received') ORDER BY seq, protocol""")
            found = [document for document in documents(out, "ecs") if at(document, "network.bytes") is not None]
            fields = ["event.sequence", "network.transport", "source.ip", "source.port", "destination.ip", "destination.port", "network.bytes", "process.pid"]
            self.assertEqual(sorted((tuple(at(d, name) for name in fields) for d in found), key=lambda row: row[:2]), expected)
            self.assertTrue(found)
            total = sum(at(d, "traffic.bytes") or 0 for d in documents(out, "ocsf"))
            self.assertEqual(total, sum(row[6] for row in expected))

    def test_modules_have_the_paths_of_their_events(self):
        loads = {
            "Kernel-Image": "SELECT seq, ProcessId, FileName FROM \"Kernel-Image\" WHERE event_name = 'Image/Load'",
            "Microsoft-Windows-Kernel-Process": 'SELECT seq, ProcessID, ImageName FROM "Microsoft-Windows-Kernel-Process" WHERE event_id = 5',
        }
        for name in ("example", *((PROCESS, MANAGED) if support.corpus() else ())):
            out = converted(name)
            there = [query for dataset, query in loads.items() if os.path.isdir(os.path.join(out, f"trace={name}", "events", dataset))]
            expected = sorted(row for query in there for row in ask(out, query))
            self.assertEqual([row[:2] for row in expected], ask(out, "SELECT seq, process_id FROM image_loads ORDER BY seq"))
            found = [d for d in documents(out, "ocsf") if d["type_uid"] == 100501]
            self.assertEqual([(at(d, "metadata.sequence"), at(d, "actor.process.pid"), at(d, "module.file.path")) for d in found], expected)
            found = [d for d in documents(out, "ecs") if d["event"]["category"] == ["library"]]
            self.assertEqual([(at(d, "event.sequence"), at(d, "process.pid"), at(d, "dll.path")) for d in found], expected)

    def test_keys_have_the_paths_of_their_handles(self):
        found = [document for document in documents(MADE, "ecs") if document["event"]["category"] == ["registry"]]
        fields = ["event.action", "event.outcome", "registry.path", "registry.hive", "registry.key", "registry.value"]
        self.assertEqual([tuple(at(document, name) for name in fields) for document in found], [
            ("Registry/Open", "success", r"HKLM\Software\Shop", "HKLM", r"Software\Shop", None),
            ("Registry/SetValue", "success", r"HKLM\Software\Size", "HKLM", "Software", "Size"),
            ("Registry/QueryValue", "failure", "HKLM\\Software\\", "HKLM", "Software", ""),
            ("Registry/DeleteValue", "success", None, None, None, "Size"),
            ("Registry/Delete", "success", r"HKU\S-1-5-18\Shop", "HKU", r"S-1-5-18\Shop", None),
        ])  # fmt: skip
        found = [d for d in documents(MADE, "ocsf") if d["class_uid"] in (201001, 201002)]
        # What deletes a value of an unknown key is left out, and said so.
        self.assertEqual([(d["type_uid"], d["status_id"], at(d, "reg_key.path") or at(d, "reg_value.path")) for d in found], [
            (20100199, 1, r"\REGISTRY\MACHINE\Software\Shop"), (20100202, 1, r"\REGISTRY\MACHINE\Software"),
            (20100201, 2, r"\REGISTRY\MACHINE\Software"), (20100104, 1, r"\REGISTRY\USER\S-1-5-18\Shop"),
        ])  # fmt: skip
        said = run("export", MADE, "--format", "timeline-jsonl", "--fields", "ocsf").stderr
        self.assertIn("2 events are left out: the trace does not say of them what the standard demands", said)

    def test_files_and_connections(self):
        found = [d for d in documents(MADE, "ecs") if d["event"]["category"] == ["file"]]
        expected = [("access", r"C:\shop\a.txt", "a.txt", 7), ("change", r"C:\shop\a.txt", "a.txt", 7), ("access", None, None, 7)]
        self.assertEqual([(*d["event"]["type"], at(d, "file.path"), at(d, "file.name"), at(d, "process.thread.id")) for d in found], expected)
        steps = [d for d in documents(MADE, "ocsf") if d["class_uid"] == 4001]
        ends = [(d["activity_name"], at(d, "src_endpoint.ip"), at(d, "connection_info.direction_id"), d["is_src_dst_assignment_known"]) for d in steps]
        self.assertEqual(collections.Counter(ends), collections.Counter([
            ("Open", "10.0.0.1", 2, True), ("Open", "192.0.2.7", 1, True), ("Traffic", "10.0.0.1", 2, True), ("Traffic", "192.0.2.7", 1, True),
            ("Close", "10.0.0.1", 0, False), ("Traffic", "10.0.0.1", 1, True), ("Traffic", "10.0.0.1", 1, False),
        ]))  # fmt: skip

    def test_lines_of_csv_say_what_the_objects_say(self):
        for fields in ("ecs", "ocsf"):
            text = run("export", MADE, "--format", "timeline", "--fields", fields, "-q").stdout
            rows = list(csv.DictReader(io.StringIO(text, newline="")))
            self.assertEqual(list(rows[0])[:3], ["message", "datetime", "timestamp_desc"])
            self.assertEqual(len(rows), len(documents(MADE, fields)))
            for row, document in zip(rows, documents(MADE, fields)):
                own = {name: value if isinstance(value, str) else json.dumps(value, separators=(",", ":")) for name, value in flat(document).items()}
                self.assertEqual({name: cell for name, cell in row.items() if cell and name not in ("datetime", "timestamp_desc")}, {k: v for k, v in own.items() if v})
                self.assertEqual(row["datetime"], document.get("@timestamp") or document["time_dt"])

    def test_filters_and_what_has_nothing(self):
        some = run("export", MADE, "--format", "timeline-jsonl", "--fields", "ecs", "--provider", "Kernel-Registry", "-q").stdout
        self.assertEqual({at(json.loads(line), "event.category")[0] for line in some.splitlines()}, {"registry"})
        run("export", MADE, "--format", "timeline", "--fields", "ocsf", "--provider", "Nobody", expected=5)


if __name__ == "__main__":
    unittest.main()

"""`--messages text`: what events say in words, held against a renderer of its own over the published rows."""

import contextlib
import glob
import os
import unittest
import xml.etree.ElementTree

import duckdb
import pyarrow.parquet as pq

import judge_messages
import support
from engines import java_problem, literal, spark_about
from made import add_dataset, replace_table

# Traces with templates, and their rows that have a text: from descriptions and manifests in the trace, from manifests that are
# given, and from the built-in schemas.
EXPECTED = {
    "dotnetperf-gccollectonly": 20885,
    "perfview-diaghub.user_paged.1": 21775,
    "perfview-net.4.5.2.x64": 67458,
    "tx-HTTP_Server": 2041,
    "tx-KernelNetwork": 8923,
    "tx-Process": 10343,
}

MESSAGES = "SELECT seq, message FROM event_messages"

# Manifests whose texts the built-in schemas have.
FACTS = [os.path.join(support.REPOSITORY, "schemas", "facts", "manifests", name) for name in ("perfview-ClrEtwAll.man", "MsQuicEtw.man")]

MANIFESTS = ("tx-HTTP_Server.man", "tx-SystemEvents.man")


def declared_texts(path):
    """What events say by GUID, id and version, read with a parser of its own."""
    root = xml.etree.ElementTree.parse(path).getroot()
    strings = {f"$(string.{one.get('id')})": one.get("value") for one in root.iter("string")}
    found = {}
    for provider in root.iter("provider"):
        for event in provider.iter("event"):
            key = (provider.get("guid").strip("{}").lower(), int(event.get("value")), int(event.get("version", "0")))
            found[key] = strings.get(event.get("message"))
    return found


class Messages(unittest.TestCase):
    def test_the_built_in_texts_are_those_of_the_manifests(self):
        folder = support.corpus_or_skip()
        out = support.temporary_folder("built-in")
        declared = {key: text for path in FACTS for key, text in declared_texts(path).items()}
        # How many shapes have a text, and how many of these providers are of no version that the manifest has.
        for trace, expected in (("perfview-net.4.5.x86-old", (59, 0)), ("perfview-gcevents", (13, 7))):
            support.convert([f"{folder}/{trace}.etl"], out, "--no-store")
            catalog = pq.read_table(f"{support.dataset(out, trace + '.etl')}/sidecar/catalog.parquet").to_pylist()
            providers = {guid for guid, _, _ in declared}
            own = [row for row in catalog if row["provider_id"] in providers and row["decode_source"] == "pack"]
            for row in own:
                key = (row["provider_id"], row["event_id"], row["event_version"])
                self.assertEqual(row["message_template"], declared.get(key), key)
            count = sum(row["message_template"] is not None for row in own)
            self.assertEqual((count, len(own) - count), expected, trace)

    def test_rows_say_what_their_template_says_with_their_values(self):
        folder = support.corpus_or_skip()
        out = support.temporary_folder("messages")
        schemas = [word for name in MANIFESTS for word in ("--schemas", os.path.join(folder, name))]
        for trace, rows in EXPECTED.items():
            with self.subTest(trace):
                support.convert([f"{folder}/{trace}.etl"], out, "--messages", "text", "--no-store", *schemas)
                count, others = judge_messages.judge(support.dataset(out, f"{trace}.etl"))
                self.assertEqual(others[:3], [])
                self.assertEqual(count, rows)

    def test_the_judge_finds_another_text(self):
        folder = support.corpus_or_skip()
        out = support.temporary_folder("planted")
        trace = "perfview-diaghub.user_paged.1"
        support.convert([f"{folder}/{trace}.etl"], out, "--messages", "text", "--no-store")
        events = f"{support.dataset(out, trace + '.etl')}/events/System.Threading.Tasks.TplEventSource"
        [file] = os.listdir(events)
        path = os.path.join(events, file)
        rows = f"SELECT * REPLACE (replace(rendered_message, 'completed', 'Completed') AS rendered_message) FROM read_parquet({literal(path)})"
        duckdb.sql(f"COPY ({rows}) TO {literal(path + '.tmp')} (FORMAT parquet)")
        os.replace(path + ".tmp", path)
        count, others = judge_messages.judge(support.dataset(out, f"{trace}.etl"))
        self.assertEqual((count, len(others)), (21775, 6))
        self.assertEqual({expected.lower() == found.lower() for _, _, expected, found in others}, {True})

    def test_all_else_is_what_it_is_without_messages(self):
        folder = support.corpus_or_skip()
        source = f"{folder}/tx-HTTP_Server.etl"
        without, out = support.temporary_folder("without"), support.temporary_folder("with")
        for to, flags in ((without, []), (out, ["--messages", "text"])):
            support.convert([source], to, "--no-store", *flags)
        names = os.listdir(f"{support.dataset(out, 'tx-HTTP_Server')}/events")
        for name in names:
            one, other = (f"read_parquet({literal(support.dataset(to, 'tx-HTTP_Server') + f'/events/{name}/*.parquet')})" for to in (without, out))
            more = f"SELECT * EXCLUDE (rendered_message) FROM {other}"
            different = f"SELECT count(*) FROM ((FROM {one} EXCEPT ALL {more}) UNION ALL ({more} EXCEPT ALL FROM {one}))"
            self.assertEqual(duckdb.sql(different).fetchall(), [(0,)], name)


def script(folder, *flags):
    done = support.run("views", folder, *flags)
    assert done.returncode == 0, done.stderr
    return done.stdout


def messages(folder, *flags):
    with contextlib.closing(duckdb.connect()) as connection:
        connection.execute(script(folder, *flags))
        return dict(connection.execute(MESSAGES).fetchall())


class View(unittest.TestCase):
    """The view `event_messages`, of traces that were converted with and without messages."""

    def test_it_says_what_a_conversion_writes(self):
        folder = support.corpus_or_skip()
        schemas = [word for name in MANIFESTS for word in ("--schemas", os.path.join(folder, name))]
        for trace, expected in EXPECTED.items():
            with self.subTest(trace):
                without, out = (support.temporary_folder(f"view-{trace}-{name}") for name in ("without", "with"))
                support.convert([f"{folder}/{trace}.etl"], without, "--no-store", *schemas)
                support.convert([f"{folder}/{trace}.etl"], out, "--no-store", "--messages", "text", *schemas)
                written = {}
                for path in glob.glob(f"{glob.escape(support.dataset(out, trace + '.etl'))}/events/*/*.parquet"):
                    table = pq.read_table(path, columns=["seq", "rendered_message"], partitioning=None)
                    written.update(zip(table["seq"].to_pylist(), table["rendered_message"].to_pylist()))
                written = {seq: text for seq, text in written.items() if text is not None}
                self.assertEqual(len(written), expected)
                # By its trace, as one of a folder, and where the conversion wrote them.
                for source, flag in ((support.dataset(without, trace + ".etl"), "--event-messages"), (without, "event_messages"), (out, "--event-messages")):
                    self.assertEqual(messages(source, flag), written, source)
                if trace == "tx-HTTP_Server" and java_problem() is None:
                    rows = spark_about(without, "event_messages").sql(MESSAGES).collect()
                    self.assertEqual({row[0]: row[1] for row in rows}, written)

    def test_other_scripts_have_none_of_it(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("no-view"), "--quiet")
        for flags in ([], ["--spark"], ["--single-events"]):
            text, longer = script(out, *flags), script(out, "--event-messages", *flags)
            start = longer.index("-- What events say in words")
            end = longer.index(";\n", start) + 3
            self.assertEqual(longer[:start] + longer[end:], text)
            self.assertNotIn("event_messages", text)

    def test_values_are_shown_as_they_are_declared(self):
        out = support.convert([support.EXAMPLE], support.temporary_folder("shown"), "--quiet")
        folder = os.path.join(out, "trace=example")
        # By hand, after the tables in docs/columns.md: in type, out type and what has names; the value, what stands for it, and for its
        # column where that is empty.
        values = [
            ("Int8", None, None, -29, "-29", "%1"),
            ("UInt64", None, None, -1, "18446744073709551615", "%1"),
            ("Int64", "Ticks", None, -1, "18446744073709551615", "%1"),
            ("HexInt64", None, None, -0x7FFFFFFFFFFFFFFF, "0x8000000000000001", "%1"),
            ("Pointer", None, None, 0, "0x0", "%1"),
            ("Int32", "Hex", None, -2, "0xFFFFFFFE", "%1"),
            ("Int16", "Hex", None, -2, "0xFFFE", "%1"),
            ("Int8", "Hex", None, -2, "0xFE", "%1"),
            ("UInt16", "Port", None, 443, "443", "%1"),
            ("Utf16", None, None, "a, 'ä'", "a, 'ä'", "%1"),
            ("Binary", None, None, b"\x3e\xaf\x00", "0x3EAF00", "%1"),
            ("Guid", None, None, "700b51d6-54ef-45d3-adf3-60cad277d1bd", "{700b51d6-54ef-45d3-adf3-60cad277d1bd}", "%1"),
            ("Bool32", None, None, True, "true", "%1"),
            ("Double", None, None, 232.535, "232.535000", None),
            ("Sid", None, None, "S-1-5-18", "S-1-5-18", None),
            ("UInt32[]", "Hex", None, [1, 255], "0x1, 0xFF", "%1"),
            ("UInt32", "NtStatus", None, 0xC0000034, "STATUS_OBJECT_NAME_NOT_FOUND (0xc0000034)", "%1"),
            ("UInt32", "Win32Error", None, 0x8018002B, "Unknown Win32 Error code: 0x8018002b", "%1"),
            ("UInt32", None, "values", 2, "Upload|2", "%1"),
            ("UInt32", None, "bits", 6, "Monday | Tuesday", "%1"),
            ("UInt32", None, "bits", 0x80, "128", "%1"),
            ("FileTime", None, None, 0, "1601-01-01T00:00:00.000000000Z", None),
            ("FileTime", None, None, 131542371823050459, "2017-11-04T02:46:22.305045900Z", None),
            # What columns do not show.
            ("UInt32", None, "unclear bits", 6, None, None),
            ("UInt16", "Text", None, 65, None, None),
            ("UInt32[]", None, "values", [1], None, None),
            ("Struct", None, None, 1, None, None),
        ]
        labels = {16: "STATUS_OBJECT_NAME_NOT_FOUND", 17: None, 18: "Upload|2", 19: "Monday|Tuesday", 20: "0x80", 23: "A|B|C"}
        [catalog, *_], [field, *_] = (pq.read_table(f"{folder}/sidecar/{name}.parquet").to_pylist() for name in ("catalog", "fields"))
        shapes, fields, rows, expected = [], [], [], []
        for shape, (in_type, out_type, map_kind, value, text, missing) in enumerate(values):
            expected += [shown and f"{shown}?\n100% of %99, %%1833" for shown in (text, missing)]
            template = "%1?%n100%% of %99, %%1833%0 no more"
            known = {"shape": shape, "dataset": "Lab", "event_id": shape, "event_version": 0, "rows": 2, "message_template": template}
            shapes.append({**catalog, **known})
            one = {**field, "shape": shape, "position": 0, "in_type": in_type, "out_type": out_type, "map_kind": map_kind}
            columns = {f"V{shape}": 0 if in_type == "FileTime" else value}
            if in_type == "FileTime":
                columns[f"V{shape}_filetime"] = value
            if shape in labels:
                columns[f"V{shape}_label"] = labels[shape]
            fields += [{**one, "column": name} for name in columns]
            of_row = {"shape": shape, "decode_status": "ok"}
            # The type of a column is that of a text where the row itself has none.
            rows += [{**of_row, **columns}, of_row]
        rows[35]["V17_label"] = "of a column that only others fill"
        rows[34].pop("V17_label")
        replace_table(folder, "catalog", shapes)
        replace_table(folder, "fields", fields)
        add_dataset(folder, "Lab", rows)
        found = messages(out, "--event-messages")
        self.assertEqual([found[seq] for seq in range(len(rows))], expected)
        if java_problem() is None:
            found = {row[0]: row[1] for row in spark_about(out, "event_messages").sql(MESSAGES).collect()}
            self.assertEqual([found[seq] for seq in range(len(rows))], expected)


if __name__ == "__main__":
    unittest.main()

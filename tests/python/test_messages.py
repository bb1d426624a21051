"""`--messages text`: what events say in words, held against a renderer of its own over the published rows."""

import os
import unittest
import xml.etree.ElementTree

import duckdb
import pyarrow.parquet as pq

import judge_messages
import support
from engines import literal

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


if __name__ == "__main__":
    unittest.main()

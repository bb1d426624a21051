"""`--messages text`: what events say in words, held against a renderer of its own over the published rows."""

import os
import unittest

import duckdb

import judge_messages
import support
from engines import literal

# Traces with templates, and their rows that have a text: from descriptions and manifests in the trace, and from manifests
# that are given.
EXPECTED = {
    "dotnetperf-gccollectonly": 20570,
    "perfview-diaghub.user_paged.1": 18,
    "perfview-net.4.5.2.x64": 65831,
    "tx-HTTP_Server": 2041,
    "tx-KernelNetwork": 8923,
    "tx-Process": 10343,
}

MANIFESTS = ("tx-HTTP_Server.man", "tx-SystemEvents.man")


class Messages(unittest.TestCase):
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
        self.assertEqual((count, len(others)), (18, 6))
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

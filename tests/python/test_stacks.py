"""The stacks of kernel events, held against a join over the walks of a conversion that joins nothing."""

import contextlib
import os
import unittest

import duckdb

import support
from engines import literal

# Walks, those of which the event is found, and events that have a stack.
EXPECTED = {
    "filtrace-diskio": (5107, 5008, 3571),
    "perfview-net.4.5.2.x64": (9359, 9359, 7746),
    "perfview-net.4.5.x86-old": (18532, 18532, 17389),
}

# Events of which nothing but their walks says the process, by name.
BY_WALK = {"filtrace-diskio": {"Thread/CSwitch": 1182}}

# Walks of their own, and what their keys stand for: mostly recorded later.
PARTS = """
CREATE TABLE part AS
SELECT seq, input, cpu, timestamp_ns AS ns, EventTimeStamp_ns AS of_ns, thread_id, process,
       CASE WHEN opcode = 32 THEN walked ELSE (
         SELECT arg_min(d.told, d.seq) FROM walk d
         WHERE d.opcode IN (35, 36) AND d.key = w.named AND d.input = w.input AND d.seq > w.seq) END AS addresses
FROM walk w WHERE opcode IN (32, 37, 38)
"""

# The last event before the walk, of the time and the thread that it names; of the idle one, which all processors have, on its own.
MATCHED = """
CREATE TABLE matched AS
SELECT p.*, (SELECT max(k.seq) FROM kept k
             WHERE k.dataset LIKE 'Kernel-%' AND k.dataset <> 'Kernel-StackWalk' AND k.input = p.input
               AND k.timestamp_ns = p.of_ns AND k.thread_id = p.thread_id AND k.seq < p.seq
               AND (p.thread_id <> 0 OR k.cpu = p.cpu)) AS event
FROM part p
"""

EXPECTED_STACKS = """
CREATE TABLE expected AS
SELECT event AS seq, flatten(list(addresses ORDER BY seq)) AS stack FROM matched
WHERE event IS NOT NULL AND addresses IS NOT NULL AND ns - of_ns <= 16000000000 GROUP BY event
"""

# Who is whose with walks and without: where all walks of an event name one process, an event that has none gets it.
EXPECTED_OWNERS = """
CREATE TABLE owner AS
SELECT k.seq, k.event_name, coalesce(k.process_id, w.process) AS process_id,
       CASE WHEN k.process_id IS NULL AND w.process IS NOT NULL THEN 'walk' ELSE k.attribution END AS attribution
FROM kept k LEFT JOIN (
  SELECT event AS seq, CASE WHEN count(DISTINCT process) = 1 AND count(process) = count(*) THEN any_value(process) END AS process
  FROM matched WHERE addresses IS NOT NULL AND ns - of_ns <= 16000000000 GROUP BY event) w USING (seq)
"""


def rows(trace):
    """A query of what the checks need of every event of a trace."""
    datasets = sorted(os.listdir(os.path.join(trace, "events")))
    columns = "seq, input, cpu, timestamp_ns, event_name, process_id, thread_id, attribution, stack, stack_id"
    selects = []
    for dataset in datasets:
        files = literal(os.path.join(trace, "events", dataset, "*.parquet"))
        selects.append(f"SELECT {columns}, {literal(dataset)} AS dataset FROM {files}")
    return " UNION ALL ".join(selects)


def walks(connection, trace):
    """A query of the walks of a trace, with the columns that only some traces have."""
    files = literal(os.path.join(trace, "events", "Kernel-StackWalk", "*.parquet"))
    found = {row[0] for row in connection.execute(f"DESCRIBE SELECT * FROM {files}").fetchall()}
    optional = {"Stack__field": "walked", "StackKey": "named", "Key": "key", "StackFrame": "told"}
    columns = [f"{name if name in found else 'NULL'} AS {called}" for name, called in optional.items()]
    columns.append("StackProcess AS process")
    return f"SELECT seq, input, cpu, timestamp_ns, EventTimeStamp_ns, thread_id, opcode, {', '.join(columns)} FROM {files}"


class Stacks(unittest.TestCase):
    def held(self, name):
        corpus = support.corpus_or_skip()
        source = os.path.join(corpus, f"{name}.etl")
        traces = {}
        for policy in ("join", "keep"):
            out = support.temporary_folder(f"stacks-{policy}-{name}")
            support.convert([source, "--stacks", policy], out)
            traces[policy] = support.dataset(out, f"{name}.etl")
        with contextlib.closing(duckdb.connect()) as connection:
            connection.execute(f"CREATE TABLE joined AS {rows(traces['join'])}")
            connection.execute(f"CREATE TABLE kept AS {rows(traces['keep'])}")
            connection.execute(f"CREATE TABLE walk AS {walks(connection, traces['keep'])}")
            for step in (PARTS, MATCHED, EXPECTED_STACKS, EXPECTED_OWNERS):
                connection.execute(step)
            one = lambda query: connection.execute(query).fetchone()
            counts = one("SELECT count(*), count(event), (SELECT count(*) FROM expected) FROM matched")
            self.assertEqual(counts, EXPECTED[name])
            self.assertEqual(
                one("SELECT count(*) FROM expected e JOIN joined j USING (seq) WHERE e.stack = j.stack")[0], counts[2]
            )
            # No other row has another stack than it would have had.
            others = "SELECT count(*) FROM joined j JOIN kept k USING (seq) WHERE j.stack IS DISTINCT FROM k.stack"
            self.assertEqual(one(f"{others} AND seq NOT IN (SELECT seq FROM expected)")[0], 0)
            wrong = (
                "SELECT count(*) FROM joined j FULL JOIN owner o USING (seq) "
                "WHERE (j.process_id, j.attribution) IS DISTINCT FROM (o.process_id, o.attribution)"
            )
            self.assertEqual(one(wrong)[0], 0)
            by_walk = "SELECT event_name, count(*) FROM joined WHERE attribution = 'walk' GROUP BY ALL"
            self.assertEqual(dict(connection.execute(by_walk).fetchall()), BY_WALK.get(name, {}))
            # One id for each stack.
            stacks, ids, pairs = one(
                "SELECT count(DISTINCT stack), count(DISTINCT stack_id), count(DISTINCT (stack, stack_id)) "
                "FROM joined WHERE stack IS NOT NULL OR stack_id IS NOT NULL"
            )
            self.assertEqual((ids, pairs), (stacks, stacks))
            issues = literal(os.path.join(traces["join"], "sidecar", "issues.parquet"))
            said = connection.execute(f"SELECT message FROM {issues} WHERE code = 'stacks_not_joined'").fetchall()
            left = counts[0] - counts[1]
            expected = [f"{left} of {counts[0]} stack walks"] if left else []
            self.assertEqual([text.split(" are not joined")[0] for (text,) in said], expected)

    def test_walks_over_compressed_buffers(self):
        self.held("filtrace-diskio")

    def test_walks_with_keys(self):
        self.held("perfview-net.4.5.2.x64")

    def test_walks_of_a_32_bit_system(self):
        self.held("perfview-net.4.5.x86-old")


if __name__ == "__main__":
    unittest.main()

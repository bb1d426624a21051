"""The statements of docs/queries.md give what stands below them, in DuckDB and in Spark, and what queries by hand give.

`ETL2PARQUET_QUESTIONS=write` puts what they give into the page instead.
"""

import os
import re
import unittest

import engines
import support

PAGE = os.path.join(support.REPOSITORY, "docs", "queries.md")

# A question, its statement, and the first lines of the answer.
QUESTION = re.compile(r"^### (.*?)\n.*?^```sql\n(.*?)^```\n\n```text\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

WRITE = os.environ.get("ETL2PARQUET_QUESTIONS") == "write"

TRACES = [
    "dotnetperf-gccollectonly",
    "filtrace-diskio",
    "perfview-net.4.5.2.x64",
    "s4-WindowsUpdate.20251008",
    "tx-HTTP_Server",
    "tx-KernelNetwork",
]

# Asked of what no trace of the corpus has.
WITHOUT_ROWS = "Who made whom ready?"

# Rows and characters of a value that the page shows.
ROWS, WIDTH = 6, 60


def cell(value):
    text = "NULL" if value is None else str(value)
    return text if len(text) <= WIDTH else text[: WIDTH - 1] + "…"


def shown(names, rows):
    """The first rows as the page has them: numbers to the right, and how many rows there are where it leaves some out."""
    lines = [names, *([cell(value) for value in row] for row in rows[:ROWS])]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    are_numbers = [all(isinstance(row[n], int | float | None) for row in rows) for n in range(len(names))]

    def line(cells):
        placed = zip(cells, widths, are_numbers, strict=True)
        return "  ".join(text.rjust(width) if is_number else text.ljust(width) for text, width, is_number in placed)

    more = [f"({len(rows)} rows)"] if len(rows) > ROWS else []
    return "".join(text.rstrip() + "\n" for text in [*map(line, lines), *more])


class Questions(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        with open(PAGE, encoding="utf-8") as file:
            cls.page = file.read()
        cls.questions = list(QUESTION.finditer(cls.page))
        cls.out = support.temporary_folder("questions")
        traces = [os.path.join(corpus, f"{name}.etl") for name in TRACES]
        done = support.run("convert", *traces, "-o", cls.out, "--progress", "never")
        # 4: some traces of the corpus are damaged on purpose.
        assert done.returncode in (0, 4), done.stderr
        cls.connection = engines.duckdb_with(cls.out)

    def duckdb(self, text):
        result = self.connection.execute(text)
        return [name for name, *_ in result.description], result.fetchall()

    def table(self, trace, name):
        return f"read_parquet('{self.out}/trace={trace}/{name}/*.parquet')"

    def test_every_question_has_its_statement_and_the_answer(self):
        self.assertEqual(len(self.questions), self.page.count("\n### "))
        self.assertEqual(len(self.questions), self.page.count("\n```sql\n"))
        self.assertGreaterEqual(len(self.questions), 30)
        # As other pages say it.
        with open(os.path.join(support.REPOSITORY, "README.md"), encoding="utf-8") as file:
            self.assertIn(f"[{len(self.questions)} questions](docs/queries.md)", file.read())
        self.assertIn(f"docs/queries.md has {len(self.questions)},", support.run("query", "--help").stdout)

    def test_duckdb_gives_what_the_page_says(self):
        answers = []
        for question in self.questions:
            with self.subTest(question[1]):
                answers.append(shown(*self.duckdb(question[2])))
                self.assertEqual(answers[-1].count("\n") > 1, question[1] != WITHOUT_ROWS)
                if not WRITE:
                    self.assertEqual(answers[-1], question[3])
        if WRITE:
            self.write(answers)

    def write(self, answers):
        self.assertEqual(len(answers), len(self.questions), "a statement failed: the page stays as it is")
        behind, parts = 0, []
        for question, answer in zip(self.questions, answers, strict=True):
            parts += [self.page[behind : question.start(3)], answer]
            behind = question.end(3)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write("".join([*parts, self.page[behind:]]))

    def test_spark_gives_what_duckdb_gives(self):
        session = engines.spark_with(self.out)
        for question in self.questions:
            with self.subTest(question[1]):
                frame = session.sql(question[2].rstrip().removesuffix(";"))
                found = shown(frame.columns, [tuple(row) for row in frame.collect()])
                self.assertEqual(found, shown(*self.duckdb(question[2])))

    def of(self, question):
        """What the statement below a question gives."""
        [statement] = [found[2] for found in self.questions if found[1] == question]
        return self.duckdb(statement)[1]

    def by_hand(self, text):
        return self.connection.execute(text).fetchall()

    def test_samples_are_those_of_the_events(self):
        samples = self.table("perfview-net.4.5.2.x64", "events/Kernel-PerfInfo")
        found = {process: samples for _, process, samples, _ in self.of("Who used the processor?")}
        counted = self.by_hand(f"SELECT process_id, count(*) FROM {samples} WHERE opcode = 46 GROUP BY process_id")
        self.assertEqual(found, dict(counted))

    def test_samples_of_the_kernel_are_those_at_negative_addresses(self):
        samples = self.table("perfview-net.4.5.2.x64", "events/Kernel-PerfInfo")
        of_page = self.of("In the kernel, or in programs?")
        counted = self.by_hand(
            f"SELECT count(*), count(*) FILTER (WHERE InstructionPointer < 0) FROM {samples} WHERE opcode = 46"
        )
        self.assertEqual([(sum(row[1] for row in of_page), sum(row[2] for row in of_page))], counted)

    def test_processors_are_busy_between_switches_that_agree(self):
        switches = self.table("filtrace-diskio", "events/Kernel-Thread")
        counted = self.by_hand(
            f"""
            WITH s AS (
              SELECT cpu, NewThreadId AS thread, timestamp_ns AS from_ns, lead(timestamp_ns) OVER w AS to_ns,
                lead(OldThreadId) OVER w = NewThreadId AS agree
              FROM {switches} WHERE opcode = 36 WINDOW w AS (PARTITION BY cpu ORDER BY seq)
            )
            SELECT cpu, coalesce(sum(to_ns - from_ns) FILTER (WHERE thread <> 0), 0),
              coalesce(sum(to_ns - from_ns) FILTER (WHERE thread = 0), 0)
            FROM s WHERE agree AND (thread = 0 OR NOT EXISTS (
              FROM {switches} o WHERE o.opcode = 36 AND o.cpu <> s.cpu AND s.thread IN (o.NewThreadId, o.OldThreadId)
                AND o.timestamp_ns > s.from_ns AND o.timestamp_ns < s.to_ns))
            GROUP BY cpu HAVING sum(to_ns - from_ns) > 0 ORDER BY cpu
            """
        )
        found = [(cpu, busy, idle) for cpu, busy, idle, *_ in self.of("How busy was each processor?")]
        self.assertEqual(found, counted)

    def test_bytes_of_disks_are_those_of_the_events(self):
        disk = self.table("perfview-net.4.5.2.x64", "events/Kernel-DiskIo")
        found = {}
        for _, operation, count, size, _ in self.of("Who read and wrote how much?"):
            of_kind = found.setdefault(operation, [0, 0])
            of_kind[0] += count
            of_kind[1] += size or 0
        counted = self.by_hand(
            f"SELECT opcode, count(*), sum(TransferSize) FROM {disk} WHERE opcode IN (10, 11) GROUP BY opcode"
        )
        names = {10: "Read", 11: "Write"}
        self.assertEqual(
            {name: found[name] for name in names.values()}, {names[kind]: [count, size] for kind, count, size in counted}
        )

    def test_bytes_that_were_sent_are_those_of_the_events(self):
        network = self.table("tx-KernelNetwork", "events/Microsoft-Windows-Kernel-Network")
        counted = self.by_hand(f"SELECT count(*), sum(size) FROM {network} WHERE event_id IN (10, 26, 42, 58)")
        found = self.of("With whom?")
        self.assertEqual([(sum(row[3] for row in found), sum(row[4] for row in found))], counted)

    def test_pauses_are_between_suspension_and_resumption(self):
        runtime = self.table("dotnetperf-gccollectonly", "events/Microsoft-Windows-DotNETRuntime")
        ends = "SELECT process_id, timestamp_ns FROM {} WHERE event_name = 'GarbageCollection/{}'"
        counted = self.by_hand(
            f"""
            SELECT b.timestamp_ns, b.process_id, min(e.timestamp_ns) - b.timestamp_ns AS duration_ns
            FROM ({ends.format(runtime, "GCSuspendEEBegin")}) b
            JOIN ({ends.format(runtime, "GCRestartEEEnd")}) e
              ON e.process_id = b.process_id AND e.timestamp_ns >= b.timestamp_ns
            GROUP BY b.timestamp_ns, b.process_id ORDER BY duration_ns DESC, 1
            """
        )
        found = [(start, process, duration) for start, process, _, _, duration in self.of("Which pauses were the longest?")]
        self.assertEqual(found[:20], counted[:20])

    def test_loaded_modules_are_those_of_the_events(self):
        images = self.table("perfview-net.4.5.2.x64", "events/Kernel-Image")
        counted = self.by_hand(f"SELECT timestamp_ns, ImageSize FROM {images} WHERE opcode = 10 ORDER BY seq")
        found = [(time, size) for _, _, size, time in self.of("Which modules did processes load meanwhile?")]
        self.assertEqual(found, counted)

    def test_stacks_of_samples_are_counted_once_each(self):
        samples = self.table("perfview-net.4.5.2.x64", "events/Kernel-PerfInfo")
        counted = self.by_hand(
            f"SELECT count(*), count(DISTINCT stack) FROM {samples} WHERE opcode = 46 AND stack IS NOT NULL"
        )
        found = self.of("Which stack is the commonest?")
        self.assertEqual([(sum(row[1] for row in found), len(found))], counted)


if __name__ == "__main__":
    unittest.main()

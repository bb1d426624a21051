"""What `convert` says to type next works as it is typed."""

import os
import re
import shutil
import subprocess
import unittest

import duckdb

import engines
import support


class NextSteps(unittest.TestCase):
    def setUp(self):
        self.work = support.temporary_folder("next-steps")
        programs = [os.path.dirname(support.BINARY), os.path.dirname(support.python()), os.environ["PATH"]]
        self.environment = {**support.environment(), "PATH": os.pathsep.join(programs)}

    def lines(self, out, *inputs, flags=()):
        """The lines to type, by what they are for."""
        done = support.run("convert", *inputs, "-o", out, *flags, cwd=self.work)
        self.assertIn(done.returncode, (0, 4), done.stderr)
        return dict(re.findall(r"^  (page|ask|ask more) {2,}(etl2parquet .*)$", done.stderr, re.MULTILINE))

    def typed(self, line):
        """What a shell prints of a line."""
        done = subprocess.run(["sh", "-c", line], cwd=self.work, env=self.environment, capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, "Error" in done.stderr), (0, False), done.stderr)
        return done.stdout

    def name(self, name):
        """The example by another name."""
        path = os.path.join(self.work, name)
        shutil.copy(support.EXAMPLE, path)
        return path

    def test_of_a_trace_in_a_folder_that_has_to_be_quoted(self):
        lines = self.lines("my out's $HOME", self.name("it's a trace.etl"))
        self.assertEqual(list(lines), ["page", "ask", "ask more"])
        self.typed(lines["page"])
        [page] = [name for name in os.listdir(self.work) if name.endswith(".html")]
        self.assertEqual(page, "it's a trace.html")
        printed = self.typed(lines["ask"])
        # As many as the rows of its events say by themselves.
        pattern = os.path.join(self.work, "*", "trace=*", "events", "Kernel-PerfInfo", "*.parquet")
        files = f"read_parquet({engines.literal(pattern)}) WHERE event_name = 'PerfInfo/SampleProf'"
        with duckdb.connect() as connection:
            [most, process] = connection.execute(f"SELECT count(*) AS n, process_name FROM {files} GROUP BY ALL ORDER BY n DESC").fetchone()
        first = next(line for line in printed.splitlines() if re.match(r"^│ +\d", line))
        self.assertEqual([cell.strip() for cell in first.split("│")[1:3]], [str(most), process])
        self.assertIn("FROM all_events", self.typed(lines["ask more"]))

    def test_of_several_traces(self):
        lines = self.lines("out", self.name("a.etl"), self.name("b.etl"))
        self.typed(lines["page"])
        self.assertEqual(sorted(os.listdir(os.path.join(self.work, "pages"))), ["a.html", "b.html", "index.html"])
        self.typed(lines["ask"])

    def test_nothing_is_said_of_what_is_not_published_and_to_whom_nothing_is_said(self):
        self.assertEqual(self.lines("out", support.EXAMPLE, flags=["--dry-run"]), {})
        self.assertEqual(self.lines("out", support.EXAMPLE, flags=["--quiet"]), {})

    def test_what_a_trace_answers_is_asked(self):
        corpus = support.corpus_or_skip()
        for name, view, needle in [
            ("tx-KernelNetwork", "network", "remote_address"),
            ("filtrace-diskio", "cpu_samples", "process_name"),
            ("dotnetperf-gccollectonly", "gc_pauses", "paused_ns"),
            ("tx-HTTP_Server", "http_requests", "url"),
        ]:
            with self.subTest(name):
                ask = self.lines("out", os.path.join(corpus, f"{name}.etl"))["ask"]
                self.assertRegex(ask, rf'^etl2parquet query out/trace={name} "SELECT .* FROM {view} ')
                printed = self.typed(ask)
                self.assertIn(needle, printed)
                self.assertRegex(printed, r"\d")

    def test_questions_of_the_help_bind(self):
        out = os.path.join(self.work, "out")
        self.lines(out, support.EXAMPLE)
        text = " ".join(support.run("views", "--help").stdout.split())
        statements = re.findall(r"SELECT [^;]* DESC;", text)
        self.assertEqual(len(statements), 18)
        with engines.duckdb_with(out) as connection:
            for statement in statements:
                with self.subTest(statement):
                    connection.execute(statement).fetchall()

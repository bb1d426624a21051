"""All traces of the corpus in one folder: every provider reads as one table, in every engine and whatever the options."""

import os
import subprocess
import unittest

import support
from pyarrow import parquet

# Engines that read every table as one; the checker knows them by these names.
ENGINES = ("duckdb", "pyarrow")

# What a lake may be converted with. None of it changes a column's name or type.
OPTIONS = {
    "default": (),
    "declared": ("--columns", "declared"),
    "event": ("--layout", "event"),
}


class Lake(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        cls.checker = support.tool(corpus, "check_lake.py")
        cls.outs = {}
        for name, flags in OPTIONS.items():
            cls.outs[name] = support.temporary_folder(f"lake-{name}")
            done = support.run("convert", corpus, "-o", cls.outs[name], "--name-from", "path", "--quiet", *flags)
            # Some traces are damaged, some no traces at all.
            if done.returncode not in (0, 4):
                raise AssertionError(f"{name}: exit {done.returncode}\n{done.stderr}")

    def check(self, name, *flags):
        command = [support.python(), self.checker, self.outs[name], *flags, *(f"--{engine}" for engine in ENGINES)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=support.TIMEOUT_S, check=False)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        *rows, last = done.stdout.splitlines()
        self.assertTrue(rows[0].startswith("traces: ") and last.startswith("findings: "), done.stdout)
        self.assertEqual(rows[2:], [])

    def test_every_provider_is_one_table(self):
        for name in OPTIONS:
            with self.subTest(options=name):
                self.check(name)

    def test_every_event_is_one_table(self):
        self.check("event", "--folders")

    def test_options_change_no_name_and_no_type(self):
        expected = columns(self.outs["declared"])
        self.assertGreater(len(expected), 1000)
        for name in ("default", "event"):
            with self.subTest(options=name):
                found = columns(self.outs[name])
                self.assertEqual({key: kind for key, kind in found.items() if expected.get(key) != kind}, {})


def columns(out):
    """The types of the columns of every provider of every trace, by trace, provider and name."""
    found = {}
    for path in support.files_below(out):
        trace, part, provider, *_ = path.split(os.sep)
        if part == "events":
            for field in parquet.read_schema(os.path.join(out, path)):
                found[trace, provider, field.name] = str(field.type)
    return found

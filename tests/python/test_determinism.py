"""The same input gives the same bytes, whatever runs beside it."""

import os
import unittest

import support

# More rows than one row group holds, so that a cut lies inside.
SYNTHETIC_EVENTS = 1_300_000

CORPUS_TRACE = "perfview-net.4.5.2.x64.etl"

# The first one is what the others are compared with. A budget below 384 MiB is raised to that.
FLAGS = [
    ("--threads", "1"),
    ("--threads", "2"),
    ("--threads", "3"),
    ("--threads", "8"),
    ("--threads", "2", "--memory", "64MiB"),
    ("--threads", "2", "--memory", "4GiB"),
]


class Determinism(unittest.TestCase):
    def hold(self, trace):
        first = None
        for flags in FLAGS:
            out = support.convert([trace], support.temporary_folder("determinism"), *flags)
            dataset = support.dataset(out, trace)
            if first is None:
                first = dataset
                self.assertTrue(support.files_below(first))
                continue
            with self.subTest(flags=" ".join(flags)):
                self.assertEqual(support.differences(first, dataset), [])

    def test_example(self):
        self.hold(support.EXAMPLE)

    def test_synthetic(self):
        self.hold(support.synthetic(SYNTHETIC_EVENTS))

    def test_corpus(self):
        self.hold(os.path.join(support.corpus_or_skip(), CORPUS_TRACE))

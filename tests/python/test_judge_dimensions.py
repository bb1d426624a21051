"""`processes` and `images` of real traces against the judge, which reads the rows of events."""

import glob
import json
import os
import unittest

import judge_dimensions as judge
import support

FIELDS = ["is_defunct", "ended_ns", "exit_status", "is_64_bit"]
PROVIDERS = [judge.KERNEL, judge.MANIFEST, judge.IMAGES]
# Processes that ran, and that had ended before.
COUNTS = {
    "dotnetperf-gccollectonly": (520, 356),
    # Five of them ended meanwhile, and are named once more as defunct.
    "etlparser-ShutdownPerfDiagLogger": (97, 0),
    "perfview-diaghub.kernel.1": (241, 9),
}


def told(row):
    return (row["process_id"], {name: row[name] for name in FIELDS} | {"has_path": row["image_path"] is not None})


def wrong_processes(folder):
    """What the table says that the judge does not, and the other way round; and its number of processes."""
    found = [told(row) for row in judge.sidecar(folder, "processes")]
    expected = judge.processes(folder)
    return [one for one in found if one not in expected] + [one for one in expected if one not in found], found


def wrong_spans(folder):
    """Defunct processes whose span is not the time of the event that names them."""
    times = {row["ProcessId"]: row["timestamp_ns"] for row in judge.rows(folder, judge.KERNEL) if row["event_name"] == judge.DEFUNCT}
    defunct = [row for row in judge.sidecar(folder, "processes") if row["is_defunct"]]
    return [row for row in defunct if (row["from_ns"], row["to_ns"]) != (times[row["process_id"]], times[row["process_id"]] + 1)]


def wrong_images(folder):
    """Modules whose size is not that in memory, where the kernel tells it."""
    sizes, wrong = judge.image_sizes(folder), []
    for row in judge.sidecar(folder, "images"):
        of_base = sizes.get((row["process_id"], row["base"]), [])
        known = {size for time, size in of_base if row["from_ns"] <= time <= row["to_ns"]}
        if known and row["size"] not in known:
            wrong.append((row["process_id"], row["base"], row["path"], row["size"], known))
    return wrong


class Corpus(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        corpus = support.corpus_or_skip()
        cls.out = support.temporary_folder("dimensions")
        flags = [flag for provider in PROVIDERS for flag in ("--provider", provider)]
        done = support.run("convert", corpus, "-o", cls.out, "--progress", "never", "--stacks", "keep", *flags)
        # 4: some traces of the corpus are damaged on purpose; others have no such events.
        if done.returncode not in (0, 3, 4):
            raise AssertionError(done.stderr)
        cls.traces = sorted(glob.glob(os.path.join(cls.out, "trace=*")))

    def test_every_process_is_what_its_events_say(self):
        judged = 0
        for folder in self.traces:
            wrong, found = wrong_processes(folder)
            self.assertEqual(wrong[:4], [], folder)
            self.assertEqual(wrong_spans(folder), [], folder)
            judged += len(found)
        self.assertGreater(judged, 1000)

    def test_processes_that_ran_are_counted(self):
        for name, (ran, defunct) in COUNTS.items():
            folder = os.path.join(self.out, f"trace={name}")
            told = [fields["is_defunct"] for _, fields in judge.processes(folder)]
            self.assertEqual((told.count(False), told.count(True)), (ran, defunct), name)
            page = json.loads(support.run("inspect", "--json", folder).stdout)["published"][0]
            self.assertEqual((page["process_count"], page["defunct_count"]), (ran, defunct), name)
            if defunct > 0:
                self.assertIn(f"    and {defunct} defunct", support.run("inspect", folder).stdout)

    def test_modules_have_their_size_in_memory(self):
        judged = 0
        for folder in self.traces:
            self.assertEqual(wrong_images(folder)[:4], [], folder)
            judged += len(judge.image_sizes(folder))
        self.assertGreater(judged, 1000)


if __name__ == "__main__":
    unittest.main()

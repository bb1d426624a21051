"""`--quarantine-dir`: records of archives and their members, and of runs that are killed while they write them."""

import glob
import json
import os
import random
import shutil
import time
import unittest
import zipfile

import support

BAD = 300


class Quarantine(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("quarantine")
        self.inputs = os.path.join(self.folder, "in")
        self.records = os.path.join(self.folder, "records")
        os.mkdir(self.inputs)

    def arguments(self):
        out = os.path.join(self.folder, "out")
        return ["convert", self.inputs, "-o", out, "--if-exists", "update", "--quarantine-dir", self.records]

    def kept(self):
        """The records, by the input that each names."""
        paths = glob.glob(os.path.join(glob.escape(self.records), "*.json"))
        records = []
        for path in paths:
            with open(path, encoding="utf-8") as file:
                records.append(json.load(file))
        self.assertEqual(len({record["input"] for record in records}), len(records))
        return {os.path.relpath(record["input"], self.inputs): record for record in records}

    def pack(self, name, **members):
        """An archive of members that are traces, or texts."""
        path = os.path.join(self.inputs, name)
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in members.items():
                if text is None:
                    archive.write(support.EXAMPLE, f"{member}.etl")
                else:
                    archive.writestr(f"{member}.etl", text)
        return path

    def test_archives_and_members_are_on_record_until_they_are_read(self):
        self.pack("two.zip", good=None, bad="no trace")
        cut = self.pack("cut.zip", other=None)
        os.truncate(cut, 3000)
        result = support.run(*self.arguments())
        self.assertEqual(result.returncode, 4, result.stderr)
        kept = self.kept()
        self.assertEqual(sorted(kept), ["cut.zip", "two.zip!/bad.etl"])
        facts = ("trace", "size", "code")
        self.assertEqual([kept["cut.zip"][fact] for fact in facts], [None, 3000, "damaged_container"])
        self.assertEqual([kept["two.zip!/bad.etl"][fact] for fact in facts], ["two.bad", None, "not_a_trace"])
        self.pack("cut.zip", other=None)
        self.pack("two.zip", good=None, bad=None)
        result = support.run(*self.arguments())
        self.assertEqual((result.returncode, os.listdir(self.records)), (0, []), result.stderr)

    def test_a_killed_run_leaves_whole_records_and_the_next_one_the_rest(self):
        names = [f"{number:03}.etl" for number in range(BAD)]
        for name in names:
            with open(os.path.join(self.inputs, name), "w", encoding="utf-8") as file:
                file.write("no trace")
        chance = random.Random(20)
        for _ in range(10):
            run = support.start(*self.arguments())
            time.sleep(chance.uniform(0.001, 0.1))
            run.kill()
            run.communicate(timeout=support.TIMEOUT_S)
            # Each that is there can be read, and tells of an input.
            self.assertLessEqual(set(self.kept()), set(names))
            for folder in (self.records, os.path.join(self.folder, "out")):
                if chance.random() < 0.5:
                    shutil.rmtree(folder, ignore_errors=True)
        result = support.run(*self.arguments())
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertEqual(sorted(self.kept()), names)
        self.assertEqual(sorted(os.listdir(self.inputs)), names)


if __name__ == "__main__":
    unittest.main()

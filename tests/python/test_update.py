"""`--if-exists update`: what is new or changed is converted, the rest is passed over without a look into it."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
import unittest
import zipfile

import support


class Update(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("update")
        self.inputs = os.path.join(self.folder, "in")
        self.out = os.path.join(self.folder, "out")
        os.mkdir(self.inputs)

    def path(self, name):
        return os.path.join(self.inputs, name + ".etl")

    def fill(self, *names):
        for name in names:
            shutil.copy(support.EXAMPLE, self.path(name))

    def update(self, *flags, code=0):
        """Runs; the status of every trace, and its reason."""
        summary = os.path.join(self.folder, "summary.json")
        arguments = ["convert", self.inputs, "-o", self.out, "--if-exists", "update", "--summary", summary, *flags]
        result = support.run(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        with open(summary, encoding="utf-8") as file:
            traces = json.load(file)["traces"]
        self.said = result.stderr
        self.reasons = {trace["trace"]: trace["reason"] for trace in traces}
        return {trace["trace"]: trace["status"] for trace in traces}

    def created(self, name):
        return support.manifest(os.path.join(self.out, f"trace={name}"))["run"]["created"]

    def flip(self, name):
        """Another byte in the last buffer, at the same time and size."""
        times = os.stat(self.path(name))
        with open(self.path(name), "r+b") as file:
            file.seek(-1, os.SEEK_END)
            last = file.read(1)[0]
            file.seek(-1, os.SEEK_END)
            file.write(bytes([last ^ 1]))
        os.utime(self.path(name), ns=(times.st_atime_ns, times.st_mtime_ns))

    def retire(self, name):
        """What docs/operations.md tells to type where a trace and its input are no longer wanted, up to the last removal."""
        with open(os.path.join(support.REPOSITORY, "docs", "operations.md"), encoding="utf-8") as file:
            [block] = re.findall(r"^```sh\n(rm .*?)^```$", file.read(), re.MULTILINE | re.DOTALL)
        block = block.replace("/data/traces", self.inputs).replace("/data/parquet", self.out)
        block = block.replace("t_2026-08-01", name).replace("2026-08-01", name)
        commands, last = block.strip().split(" && ")
        subprocess.run(["sh", "-ec", commands], check=True)
        return last

    def test_a_trace_that_is_no_longer_wanted_is_gone_at_once(self):
        self.fill("a", "b")
        self.update()
        last = self.retire("a")
        self.assertEqual(sorted(os.listdir(self.out)), [".going", "trace=b"])
        self.assertEqual(self.update(), {"b": "skipped"})
        verified = support.run("verify", self.out)
        self.assertEqual((verified.returncode, verified.stderr.count("trace=a")), (0, 0), verified.stderr)
        subprocess.run(["sh", "-ec", last], check=True)
        self.assertEqual(os.listdir(self.out), ["trace=b"])

    def test_what_is_unchanged_is_not_touched_and_not_read(self):
        self.fill("a", "b", "c")
        self.assertEqual(self.update(), dict.fromkeys("abc", "published"))
        run = support.manifest(os.path.join(self.out, "trace=a"))["run"]
        self.assertRegex(run["modified"][0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$")
        created = [self.created(name) for name in "abc"]
        self.assertEqual(self.update(), dict.fromkeys("abc", "skipped"))
        self.assertIn("unchanged: 3 traces", self.said)
        # Not even by one who would see that the content is another.
        self.flip("b")
        self.assertEqual(self.update(), dict.fromkeys("abc", "skipped"))
        self.assertEqual([self.created(name) for name in "abc"], created)
        # Threads, memory and order of options decide nothing.
        self.assertEqual(self.update("--threads", "1", "--memory", "400MiB"), dict.fromkeys("abc", "skipped"))

    def test_content_decides_where_it_is_asked_for(self):
        self.fill("a", "b")
        self.update()
        self.flip("b")
        # A byte that should be padding is damage.
        self.assertEqual(self.update("--rehash", code=4), {"a": "skipped", "b": "published"})
        changed = support.manifest(os.path.join(self.out, "trace=b"))["inputs"][0]["blake3"]
        self.assertNotEqual(changed, support.manifest(os.path.join(self.out, "trace=a"))["inputs"][0]["blake3"])
        self.assertEqual(self.update("--rehash"), {"a": "skipped", "b": "skipped"})
        # Only touched: the time says nothing here.
        os.utime(self.path("a"), (1, 1))
        self.assertEqual(self.update("--rehash"), {"a": "skipped", "b": "skipped"})
        result = support.run("convert", self.inputs, "-o", self.out, "--rehash")
        self.assertEqual(result.returncode, 2, result.stderr)

    def test_a_member_is_as_old_as_its_archive(self):
        archive = os.path.join(self.inputs, "lab.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.write(support.EXAMPLE, "a.etl")
            packed.write(support.EXAMPLE, "b.etl")
        names = ("lab.a", "lab.b")
        self.assertEqual(self.update(), dict.fromkeys(names, "published"))
        created = [self.created(name) for name in names]
        self.assertEqual(self.update(), dict.fromkeys(names, "skipped"))
        os.utime(archive, (1, 1))
        self.assertEqual(self.update("--rehash"), dict.fromkeys(names, "skipped"))
        self.assertEqual([self.created(name) for name in names], created)
        self.assertEqual(self.update(), dict.fromkeys(names, "published"))

    def test_a_new_a_touched_and_a_longer_input_are_converted(self):
        self.fill("a", "b", "c")
        self.update()
        before = self.created("b")
        os.utime(self.path("a"), (1, 1))
        self.fill("d")
        with open(self.path("c"), "ab") as file:
            file.write(bytes(4096))
        statuses = self.update()
        self.assertEqual(statuses, {"a": "published", "b": "skipped", "c": "published", "d": "published"})
        self.assertEqual(set(self.update().values()), {"skipped"})
        self.assertEqual(self.created("b"), before)

    def test_another_option_or_version_converts_all_again(self):
        self.fill("a", "b")
        self.update()
        self.assertEqual(self.update("--integers", "exact"), {"a": "published", "b": "published"})
        self.assertEqual(self.update("--integers", "exact"), {"a": "skipped", "b": "skipped"})
        path = os.path.join(self.out, "trace=a", "sidecar", "manifest.json")
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
        record["tool_version"] = "0.0.1"
        with open(path, "w", encoding="utf-8") as file:
            json.dump(record, file)
        self.assertEqual(self.update("--integers", "exact"), {"a": "published", "b": "skipped"})

    def test_what_became_no_trace_is_remembered_with_its_exit_code(self):
        self.fill("good")
        with open(self.path("bad"), "w", encoding="utf-8") as file:
            file.write("no trace")
        self.assertEqual(self.update(code=4), {"bad": "quarantined", "good": "published"})
        first = self.reasons["bad"]
        # It is not read again: nobody could.
        os.chmod(self.path("bad"), 0)
        self.assertEqual(self.update(code=4), {"bad": "quarantined", "good": "skipped"})
        self.assertTrue(self.reasons["bad"].startswith(first) and "earlier run" in self.reasons["bad"], self.reasons)
        os.remove(self.path("bad"))
        self.fill("bad")
        self.assertEqual(self.update(), {"bad": "published", "good": "skipped"})
        self.assertEqual(sorted(os.listdir(self.out)), ["trace=bad", "trace=good"])

    def test_gates_and_filters_are_remembered_as_they_were(self):
        self.fill("a")
        self.assertEqual(self.update("--max-loss", "0", code=5), {"a": "gated"})
        self.assertEqual(self.update("--max-loss", "0", code=5), {"a": "gated"})
        self.assertIn("earlier run", self.reasons["a"])
        # Another gate may let it through.
        self.assertEqual(self.update(), {"a": "published"})
        self.assertEqual(os.listdir(self.out), ["trace=a"])
        shutil.rmtree(self.out)
        none = ("--provider", "Nobody")
        self.assertEqual(self.update(*none, code=5), {"a": "empty"})
        self.assertEqual(self.update(*none, code=5), {"a": "empty"})
        self.assertIn("earlier run", self.reasons["a"])

    def test_a_trace_without_its_input_stays_and_is_told(self):
        self.fill("a", "b")
        self.update()
        os.remove(self.path("a"))
        self.assertEqual(self.update(), {"b": "skipped"})
        self.assertIn("left as published: 1 trace without an input in this run, trace=a first", self.said)
        self.assertEqual(sorted(os.listdir(self.out)), ["trace=a", "trace=b"])

    def update_from(self, folder, *flags, code=0):
        """Runs over the files of another folder; the status of every trace."""
        self.inputs = folder
        return self.update(*flags, code=code)

    def folder_with(self, host, *names):
        folder = os.path.join(self.folder, host)
        os.mkdir(folder)
        for name in names:
            shutil.copy(support.EXAMPLE, os.path.join(folder, name + ".etl"))
        return folder

    def test_another_recording_of_the_same_name_is_refused(self):
        first, second = self.folder_with("sa", "boot"), self.folder_with("sb", "boot", "other")
        self.inputs = second
        self.flip("boot")
        self.assertEqual(self.update_from(first), {"boot": "published"})
        before = support.manifest(os.path.join(self.out, "trace=boot"))
        self.assertEqual(self.update_from(second, code=2), {"boot": "failed", "other": "published"})
        self.assertIn(f"expected a newer version of {os.path.join(first, 'boot.etl')}", self.said)
        for way_out in ["--name-from path", "--merge NAME", "--if-exists replace"]:
            self.assertIn(way_out, self.said)
        self.assertEqual(support.manifest(os.path.join(self.out, "trace=boot")), before)
        # Nor does one pass that agrees with the other in size and time.
        times = os.stat(os.path.join(first, "boot.etl"))
        os.utime(os.path.join(second, "boot.etl"), ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.update_from(second, code=2)["boot"], "failed")
        self.assertEqual(self.update_from(first), {"boot": "skipped"})

    def test_a_recording_that_is_refused_keeps_no_other_from_being_converted(self):
        others = [f"c{number:02}" for number in range(12)]
        first, second = self.folder_with("sa", "boot"), self.folder_with("sb", "boot", *others)
        self.inputs = second
        self.flip("boot")
        self.update_from(first)
        # One after the other: none has begun when the refusal is known.
        published = dict.fromkeys(others, "published")
        statuses = self.update_from(second, "--threads", "1", code=2)
        self.assertEqual(statuses, {"boot": "failed", **published})

    def test_the_same_file_at_another_place_is_the_same_recording(self):
        first, link = self.folder_with("sa", "boot"), os.path.join(self.folder, "link")
        self.assertEqual(self.update_from(first), {"boot": "published"})
        moved = os.path.join(self.folder, "moved")
        os.rename(first, moved)
        self.assertEqual(self.update_from(moved), {"boot": "skipped"})
        # With other options it is converted again, in the place of what it is.
        self.assertEqual(self.update_from(moved, "--raw", "always"), {"boot": "published"})
        # By way of a link a newer version is one, too.
        os.symlink(moved, link)
        with open(os.path.join(moved, "boot.etl"), "ab") as file:
            file.write(bytes(4096))
        self.assertEqual(self.update_from(link, "--raw", "always"), {"boot": "published"})

    def test_two_runs_at_once_do_nothing_twice(self):
        names = [f"n{number:03}" for number in range(150)]
        self.fill(*names)
        summaries = [os.path.join(self.folder, f"{number}.json") for number in range(2)]
        command = ["convert", self.inputs, "-o", self.out, "--if-exists", "update", "--threads", "2", "--summary"]
        runs, codes = [support.start(*command, summary) for summary in summaries], []
        for run in runs:
            _, errors = run.communicate(timeout=support.TIMEOUT_S)
            codes.append(run.returncode)
            self.assertIn(run.returncode, (0, 8), errors)
        self.assertIn(0, codes)
        statuses = []
        for summary in summaries:
            with open(summary, encoding="utf-8") as file:
                statuses.append({trace["trace"]: trace["status"] for trace in json.load(file)["traces"]})
        for name in names:
            ends = [one[name] for one in statuses]
            self.assertEqual(ends.count("published"), 1, (name, ends))
            self.assertIn(ends[1 - ends.index("published")], ("skipped", "busy"))
        for code, ends in zip(codes, statuses):
            self.assertEqual(code, 8 if "busy" in ends.values() else 0)
        self.assertEqual(set(os.listdir(self.out)), {f"trace={name}" for name in names})

    def test_what_another_run_has_just_published_is_not_done_again(self):
        # As if the other run was about to remove its staging folder when this one looked.
        self.fill("a")
        self.update()
        created = self.created("a")
        os.mkdir(os.path.join(self.out, ".etl2parquet-a"))
        self.assertEqual(self.update(), {"a": "skipped"})
        self.assertEqual(self.created("a"), created)
        self.assertEqual(os.listdir(self.out), ["trace=a"])

    def test_a_killed_run_is_taken_up(self):
        names = [f"n{number:03}" for number in range(200)]
        self.fill(*names)
        for _ in range(3):
            process = support.start("convert", self.inputs, "-o", self.out, "--if-exists", "update")
            self.addCleanup(process.kill)
            there = len(os.listdir(self.out)) if os.path.isdir(self.out) else 0
            end = time.monotonic() + support.TIMEOUT_S
            while process.poll() is None and time.monotonic() < end:
                if os.path.isdir(self.out) and len(os.listdir(self.out)) > there + 20:
                    break
                time.sleep(0.002)
            process.send_signal(signal.SIGKILL)
            process.communicate(timeout=support.TIMEOUT_S)
        statuses = self.update()
        self.assertEqual(set(statuses), set(names))
        self.assertLessEqual(set(statuses.values()), {"published", "skipped"})
        self.assertIn("skipped", statuses.values())
        self.assertEqual(set(os.listdir(self.out)), {f"trace={name}" for name in names})


if __name__ == "__main__":
    unittest.main()

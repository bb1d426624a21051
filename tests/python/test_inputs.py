"""Inputs as they come: archives, compressed files, series, standard input. All of it becomes what the plain trace becomes."""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import signal
import struct
import subprocess
import sys
import tarfile
import time
import unittest
import zipfile
import zlib

import containers
import reading
import support


def zipped(path, members, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, content in members:
            archive.writestr(name, content)


def traces(out):
    return sorted(name.removeprefix("trace=") for name in os.listdir(out) if name.startswith("trace="))


def of_large_window(size):
    """An xz stream of so many zeros whose header asks for a window of 256 MiB, the largest that is read."""
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 1, "dict_size": 1 << 20}]
    packer = lzma.LZMACompressor(format=lzma.FORMAT_XZ, check=lzma.CHECK_CRC32, filters=filters)
    block = bytes(1 << 20)
    stream = bytearray(b"".join([*(packer.compress(block) for _ in range(size >> 20)), packer.flush()]))
    # Behind the 12 bytes of the stream's header: the length of the block's, flags, filter, bytes of its properties, window.
    end = 12 + 4 * (stream[12] + 1)
    assert stream[14:16] == b"\x21\x01"
    stream[16] = 32
    stream[end - 4 : end] = struct.pack("<I", zlib.crc32(stream[12 : end - 4]))
    return bytes(stream)


class Inputs(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("inputs")
        self.lab = os.path.join(self.folder, "lab")
        self.out = os.path.join(self.folder, "out")
        os.mkdir(self.lab)
        with open(support.EXAMPLE, "rb") as file:
            self.trace = file.read()

    def path(self, name):
        return os.path.join(self.lab, name)

    def write(self, name, content):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(content)
        return path

    def converted(self, *arguments, code=0):
        result = support.run("convert", *arguments, "-o", self.out)
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stderr

    def assert_like_plain(self, *names):
        """All event files have the bytes that the plain trace gives."""
        plain = support.convert([support.EXAMPLE], os.path.join(self.folder, "plain"), "--if-exists", "replace")
        expected = os.path.join(plain, "trace=example", "events")
        for name in names:
            found = os.path.join(self.out, f"trace={name}", "events")
            self.assertEqual(support.files_below(found), support.files_below(expected), name)
            for file in support.files_below(expected):
                with open(os.path.join(found, file), "rb") as ours, open(os.path.join(expected, file), "rb") as theirs:
                    self.assertEqual(ours.read(), theirs.read(), f"{name}: {file}")


class Formats(Inputs):
    def test_every_format_gives_the_same_rows(self):
        zipped(self.path("deflated.zip"), [("x/a.etl", self.trace)])
        zipped(self.path("stored.zip"), [("pad.bin", b"x" * 777), ("b.etl", self.trace)], zipfile.ZIP_STORED)
        zipped(self.path("bzipped.zip"), [("c.etl", self.trace)], zipfile.ZIP_BZIP2)
        self.write("d.etl.gz", gzip.compress(self.trace))
        self.write("e.etlgz", gzip.compress(self.trace[:5000]) + gzip.compress(self.trace[5000:]))
        self.write("f.etl.bz2", bz2.compress(self.trace))
        self.write("g.etl.xz", lzma.compress(self.trace))
        self.write("h.7z", containers.seven_zip([("h.etl", self.trace)]))
        self.write("i.7z", containers.seven_zip([("i.etl", self.trace)], method="copy"))
        self.write("j.cab", containers.cabinet([("x\\j.etl", self.trace)]))
        self.write("k.cab", containers.cabinet([("k.etl", self.trace)], method="lzx"))
        self.write("l.cab", containers.cabinet([("l.etl", self.trace)], method="stored"))
        self.write("m.7z", containers.seven_zip([("m.etl", self.trace)], method="x86"))
        self.write("n.etl.gz", gzip.compress(self.trace[:5000]) + gzip.compress(self.trace[5000:]) + bytes(70_000))
        self.write("by content.etl", gzip.compress(self.trace))
        self.write("no archive.zip", self.trace)
        self.converted(self.lab)
        names = [*"abcdefghijklmn", "by content", "no archive"]
        self.assertEqual(traces(self.out), sorted(names))
        self.assert_like_plain(*names)

    def test_the_manifest_names_archive_and_member(self):
        zipped(self.path("lab.zip"), [("x/a.etl", self.trace)])
        self.converted(self.lab)
        record = support.manifest(os.path.join(self.out, "trace=a"))
        plain = support.convert([support.EXAMPLE], os.path.join(self.folder, "plain"))
        expected = support.manifest(os.path.join(plain, "trace=example"))["inputs"][0]
        self.assertEqual(record["inputs"], [{**expected, "source": "lab.zip!/x/a.etl"}])
        self.assertEqual(record["run"]["inputs"], [os.path.join(self.lab, "lab.zip!/x/a.etl")])

    def test_several_traces_are_called_after_their_archive_too(self):
        members = [("a.etl", self.trace), ("x/b.etl", self.trace), ("readme.txt", b"hello")]
        zipped(self.path("two.etl.zip"), members)
        self.write("solid.7z", containers.seven_zip(members))
        self.write("solid.cab", containers.cabinet(members[::-1]))
        errors = self.converted(self.path("two.etl.zip"), self.path("solid.7z"))
        self.assertEqual(traces(self.out), ["solid.a", "solid.b", "two.a", "two.b"])
        self.assertIn("two.etl.zip: 1 file is not read: not called like a trace or an archive (readme.txt)", errors)
        self.assert_like_plain("solid.a", "solid.b", "two.a", "two.b")
        self.converted(self.path("solid.cab"), "--name-from", "path", "--merge", "all", "--allow-repeated")
        self.assertEqual(support.manifest(os.path.join(self.out, "trace=all"))["events"]["found"], 2 * 1219)
        self.converted(self.path("two.etl.zip"), "--name-from", "path", "--if-exists", "replace")
        self.assertIn("two.x.b", traces(self.out))

    def test_members_of_a_series_are_traces_of_their_own(self):
        for name in ("x.etl", "x.etl.003", "x.etl.004", "x.etl.merged", "x_000001.etl"):
            self.write(name, self.trace)
        self.converted(self.lab)
        self.assertEqual(traces(self.out), ["x", "x.003", "x.004", "x.merged", "x_000001"])

    def test_members_of_one_recording_are_merged(self):
        corpus = support.corpus_or_skip()
        members = []
        for role in ("kernel", "user_injected", "user_paged"):
            with open(os.path.join(corpus, f"perfview-diaghub.{role}.1.etl"), "rb") as file:
                members.append((f"x/sc.{role}.1.etl", file.read()))
        zipped(self.path("lab.diagsession"), members)
        zipped(self.path("two.zip"), [*members, ("other.etl", self.trace)])
        errors = self.converted(self.path("lab.diagsession"), self.path("two.zip"), "--merge", "auto")
        self.assertEqual(traces(self.out), ["lab", "two.other", "two.sc"])
        self.assertIn("two.sc: merged of two.zip!/x/sc.", errors)
        expected = {trace["name"]: trace["events"] for trace in support.expected_traces(corpus)}
        total = sum(events for name, events in expected.items() if name.startswith("perfview-diaghub."))
        for name in ("lab", "two.sc"):
            self.assertEqual(support.manifest(os.path.join(self.out, f"trace={name}"))["events"]["found"], total)
        self.assertIn("lab: skipped", self.converted(self.lab, "--merge", "auto", "--if-exists", "update", "-v"))

    def test_a_member_can_be_named(self):
        zipped(self.path("two.zip"), [("a.etl", self.trace), ("x/b.bin", self.trace), ("x/c.etl", self.trace)])
        self.converted(self.path("two.zip!/x/b.bin"))
        self.converted(self.path("two.zip!/*/c.etl"))
        self.assertEqual(traces(self.out), ["b", "c"])
        errors = self.converted(self.path("two.zip!/x/d.etl"), code=3)
        self.assertIn("two.zip!/x/d.etl: there is no such member in this zip archive (did you mean x/c.etl?)", errors)
        errors = self.converted(self.path("two.zip!/y/A.etl"), code=3)
        self.assertIn("there is no such member in this zip archive (did you mean a.etl?)", errors)

    def test_what_is_there_is_skipped_and_a_dry_run_writes_nothing(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace)])
        self.converted(self.lab, "--dry-run")
        self.assertFalse(os.path.exists(self.out))
        self.converted(self.lab)
        self.assertIn("a: skipped", self.converted(self.lab, "--if-exists", "skip"))

    def test_inspect_reads_them_too(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace)])
        self.write("b.etl.xz", lzma.compress(self.trace))
        result = support.run("inspect", "--json", self.lab)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([trace["events"] for trace in json.loads(result.stdout)["traces"]], [1219, 1219])

    def test_a_plan_over_members_is_worked_by_others(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace)])
        self.write("b.etl.gz", gzip.compress(self.trace))
        plans = support.run("plan", self.lab, "-o", self.out, "-q").stdout.split()
        for plan in plans:
            for step in (["convert-partition", plan, 0], ["commit", plan]):
                result = support.run(*step)
                self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(traces(self.out), ["a", "b"])
        self.assert_like_plain("a", "b")
        plan = support.run("plan", self.path("a.zip"), "-o", os.path.join(self.folder, "o2"), "-q").stdout.strip()
        os.utime(self.path("a.zip"), (1, 1))
        result = support.run("convert-partition", plan, 0)
        self.assertEqual(result.returncode, 1)
        self.assertIn("a.zip!/a.etl: the file changed since it was planned", result.stderr)


class Budget(Inputs):
    def test_windows_side_by_side_keep_to_it(self):
        stream = of_large_window(300 << 20)
        for number in range(8):
            self.write(f"w{number}.etl.xz", stream)
        process = support.start("convert", self.lab, "-o", self.out, "-q", "--memory", "384MiB", "--threads", "4")
        said = process.stderr.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
        self.assertEqual((process.returncode, said.count("this is no event trace")), (3, 8), said)
        # In KiB; 100 MiB beside the budget, as scripts/check/hostile has it.
        self.assertLess(used.ru_maxrss >> 10, 384 + 100)


class StandardInput(Inputs):
    def piped(self, content, *arguments):
        command = [support.BINARY, *arguments]
        return subprocess.run(
            command, env=support.environment(), input=content, capture_output=True, timeout=support.TIMEOUT_S
        )

    def test_a_trace_and_a_packed_one(self):
        for content in (self.trace, gzip.compress(self.trace)):
            result = self.piped(content, "convert", "-", "-o", self.out, "--if-exists", "replace")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(os.listdir(self.out), ["trace=stdin"])
            self.assert_like_plain("stdin")
        self.assertEqual(self.piped(self.trace, "inspect", "-").returncode, 0)

    def test_an_archive(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace), ("b.etl", self.trace)])
        with open(self.path("a.zip"), "rb") as file:
            result = self.piped(file.read(), "convert", "-", "-o", self.out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(traces(self.out), ["stdin.a", "stdin.b"])

    def test_what_cannot_be(self):
        result = self.piped(b"", "convert", "-", "-o", self.out)
        self.assertEqual((result.returncode, os.path.exists(self.out)), (3, False))
        self.assertIn(b"-: expected a trace, found nothing", result.stderr)
        result = self.piped(self.trace, "plan", "-", "-o", self.out)
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"standard input cannot be planned", result.stderr)


@unittest.skipUnless(sys.platform == "linux", "what is read is counted by Linux")
class Work(Inputs):
    """What is read of archives, in bytes and calls: by the number of their members, and of a stream once."""

    FEW, MANY, SIZE = 100, 400, 4000

    @staticmethod
    def members(count):
        """Files that are called like traces and are none."""
        return [(f"m{number:05}.etl", b"%08d" % number * (Work.SIZE // 8)) for number in range(count)]

    def read(self, name, content, *options):
        code, size, calls = reading.counted("convert", self.write(name, content), "-o", self.out, "-q", *options)
        self.assertEqual(code, 3)
        return size, calls

    def growth(self, make, *options):
        """Bytes of the larger of two archives, and what is read of it; each must be less than five times that of the smaller."""
        few, many = (make(self.members(count)) for count in (self.FEW, self.MANY))
        of_few, of_many = self.read("few", few, *options), self.read("many", many, *options)
        for one, four in zip(of_few, of_many):
            self.assertLess(four, 5 * one)
        return len(many), of_many[0]

    @staticmethod
    def zip(members, method):
        content = io.BytesIO()
        zipped(content, members, method)
        return content.getvalue()

    def test_members_of_a_zip(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            for options in ((), ("--merge", "auto"), ("--on-bad-input", "fail")):
                with self.subTest(method=method, options=options):
                    size, read = self.growth(lambda members: self.zip(members, method), *options)
                    # The directory twice, when the traces are found and when they are read, and members two or three times.
                    self.assertLess(read, 4 * size + (1 << 20))

    def test_a_solid_7z(self):
        for options in ((), ("--merge", "auto")):
            with self.subTest(options=options):
                size, read = self.growth(lambda members: containers.seven_zip(members, method="copy"), *options)
                # Once packed; what was unpacked is read back from its file, and once more where files may be grouped.
                self.assertLess(read, (3 if options else 2) * size + (1 << 20))

    def test_a_solid_7z_with_a_damaged_member(self):
        def damaged(members):
            content = bytearray(containers.seven_zip(members, method="copy"))
            content[32 + self.SIZE * (len(members) // 3)] ^= 1
            return bytes(content)

        size, read = self.growth(damaged)
        self.assertLess(read, 2 * size + (1 << 20))

    def test_a_solid_7z_that_is_damaged_from_some_byte_on(self):
        def damaged(members):
            content = bytearray(containers.seven_zip(members))
            content[32 + len(content) // 3] ^= 0xFF
            return bytes(content)

        size, read = self.growth(damaged)
        self.assertLess(read, 2 * size + self.MANY * self.SIZE + (1 << 20))

    def test_a_solid_7z_that_is_larger_than_the_spool_may_be(self):
        """Unpacked in four goes, each from the start of the stream."""
        content = containers.seven_zip(self.members(self.MANY), method="copy")
        read, _ = self.read("large", content, "--max-spool", str(self.MANY // 4 * self.SIZE))
        # A quarter, a half, three quarters and all of it; and what was unpacked is read back.
        self.assertLess(read, (2.5 + 1) * len(content) + (1 << 20))


class Hostile(Inputs):
    def refused(self, name, *said, code=3):
        errors = self.converted(self.path(name), code=code)
        for text in said:
            self.assertIn(text, errors)
        return errors

    def test_members_that_climb_out_are_never_read(self):
        zipped(self.path("a.zip"), [("../up.etl", self.trace), ("/abs.etl", self.trace), ("ok.etl", self.trace)])
        self.refused("a.zip", "a.zip: 2 members cannot be read, with a path that climbs out of the archive", code=4)
        self.assertEqual(traces(self.out), ["ok"])
        self.assertEqual(sorted(os.listdir(self.folder)), ["lab", "out"])

    def test_encrypted_members(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace)])
        with open(self.path("a.zip"), "r+b") as file:
            content = bytearray(file.read())
            content[6] |= 1
            content[content.index(b"PK\x01\x02") + 8] |= 1
            file.seek(0)
            file.write(content)
        self.refused("a.zip", "a.zip: a member cannot be read, encrypted: a.etl")
        self.write("b.7z", containers.seven_zip([("b.etl", self.trace)], encrypted=True))
        self.refused("b.7z", "b.7z: a member cannot be read, encrypted: b.etl")

    def test_members_that_are_no_traces(self):
        zipped(self.path("a.zip"), [("a.etl", b"no trace " * 1000)])
        self.refused("a.zip", "a.zip!/a.etl", "expected a Windows event trace")
        zipped(self.path("b.zip"), [("b.etl", b"")])
        self.refused("b.zip", "b.zip!/b.etl: expected a trace, found nothing")
        zipped(self.path("c.zip"), [("c.txt", b"")])
        self.refused("c.zip", "nothing in this zip archive is called like a trace")

    def test_tar_archives_are_named(self):
        with tarfile.open(self.path("t.tar"), "w") as archive:
            archive.add(support.EXAMPLE, "a.etl")
        with open(self.path("t.tar"), "rb") as file:
            self.write("u.tar.gz", gzip.compress(file.read()))
        said = "this is a tar archive, which is not read: unpack it first"
        self.refused("t.tar", f"t.tar: {said}")
        self.refused("u.tar.gz", f"u.tar.gz!/u.tar: {said}")
        self.write("a.etl", self.trace)
        self.assertIn("2 files are not read: a tar archive, to be unpacked first (t.tar, u.tar.gz)", self.converted(self.lab))

    @unittest.skipUnless(hasattr(os, "mkfifo"), "pipes are files of Unix")
    def test_what_is_no_file_is_named(self):
        os.mkfifo(self.path("p.etl"))
        self.write("a.etl", self.trace)
        self.assertIn("1 file is not read: a pipe, a socket or a device (p.etl)", self.converted(self.lab))
        if os.path.exists("/proc/self/status"):
            said = support.run("convert", "/proc/self/status", "-o", self.out).stderr
            self.assertIn("expected a file of fixed length, found one that says it has no bytes, and has some", said)

    @unittest.skipUnless(sys.platform == "linux", "elsewhere names are text")
    def test_names_that_look_alike_stay_apart(self):
        def write(*names):
            for name in names:
                with open(os.path.join(self.lab.encode(), name + b".etl"), "wb") as file:
                    file.write(self.trace)

        write(b"a\xff", b"a\xfe", "é".encode(), "r\u202eltr".encode(), "z\u200bz".encode(), b"zz")
        self.converted(self.lab)
        expected = ["a_xFE_", "a_xFF_", "r_x202E_ltr", "z_x200B_z", "zz", "é"]
        self.assertEqual(traces(self.out), expected)
        # macOS takes an accent of its own for no difference: these two would be one folder there.
        write("E\u0301".encode())
        shutil.rmtree(self.out)
        result = support.run("convert", self.lab, "-o", self.out)
        self.assertEqual((result.returncode, traces(self.out)), (2, expected[:-1]))
        self.assertIn("would all become trace=", result.stderr)

    def test_damage_is_found(self):
        zipped(self.path("stored.zip"), [("a.etl", self.trace)], zipfile.ZIP_STORED)
        zipped(self.path("packed.zip"), [("a.etl", self.trace)])
        files = {
            "a.etl.gz": gzip.compress(self.trace),
            "a.etl.bz2": bz2.compress(self.trace),
            "a.etl.xz": lzma.compress(self.trace),
            "a.7z": containers.seven_zip([("a.etl", self.trace)]),
            "a.cab": containers.cabinet([("a.etl", self.trace)]),
        }
        for name in ("stored.zip", "packed.zip"):
            with open(self.path(name), "rb") as file:
                files[name] = file.read()
        for name, content in files.items():
            changed = bytearray(content)
            changed[len(content) // 2] ^= 0x40
            for damaged in (changed, content[: len(content) // 2]):
                self.write(name, damaged)
                self.refused(name, "pack or copy the trace again")
                self.assertFalse(os.path.exists(self.out), name)

    def test_bombs_stop_at_the_limit(self):
        bomb = self.trace + bytes(64 << 20)
        self.write("a.etl.gz", gzip.compress(bomb))
        zipped(self.path("a.zip"), [("a.etl", bomb)])
        self.write("a.etl.xz", lzma.compress(bomb))
        for name in ("a.etl.gz", "a.zip", "a.etl.xz"):
            errors = support.run("convert", self.path(name), "-o", self.out, "--max-spool", "64MiB")
            self.assertEqual(errors.returncode, 3, errors.stderr)
            self.assertIn("more than the 67108864 bytes that the spool may have (raise --max-spool", errors.stderr)
        self.assertEqual(sorted(os.listdir(self.folder)), ["lab"])

    def test_a_directory_that_tells_too_little_is_not_believed(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace + bytes(1 << 20))])
        with open(self.path("a.zip"), "r+b") as file:
            content = bytearray(file.read())
            struct.pack_into("<I", content, content.index(b"PK\x01\x02") + 24, len(self.trace))
            file.seek(0)
            file.write(content)
        self.refused("a.zip", "there is more data than the directory says")

    def test_members_that_overlap_are_refused(self):
        zipped(self.path("a.zip"), [("a.etl", self.trace), ("b.etl", self.trace)])
        with open(self.path("a.zip"), "r+b") as file:
            content = bytearray(file.read())
            second = content.rindex(b"PK\x01\x02")
            struct.pack_into("<I", content, second + 20, len(content) - 100)
            file.seek(0)
            file.write(content)
        self.refused("a.zip", "members of the archive overlap")


@unittest.skipIf(os.name == "nt", "signals are those of Unix")
class Disturbed(Inputs):
    def unpacking(self):
        self.write("a.etl.gz", gzip.compress(self.trace) + 64 * gzip.compress(bytes(64 << 20)))
        os.mkdir(self.out)
        process = support.start("convert", self.path("a.etl.gz"), "-o", self.out, "--max-spool", "8GiB")
        self.addCleanup(process.kill)
        time.sleep(0.7)
        self.assertIsNone(process.poll(), "it was still unpacking")
        return process

    def test_unpacking_ends_within_a_second(self):
        process = self.unpacking()
        process.send_signal(signal.SIGTERM)
        begun = time.monotonic()
        process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 143)
        self.assertLess(time.monotonic() - begun, 5)
        self.assertEqual(support.files_below(self.out), [])

    def test_a_killed_run_leaves_nothing_unpacked(self):
        process = self.unpacking()
        process.kill()
        process.communicate(timeout=support.TIMEOUT_S)
        left = [file for file in support.files_below(self.out) if os.path.getsize(os.path.join(self.out, file)) > 0]
        self.assertEqual(left, [])


class Corpus(unittest.TestCase):
    def test_a_session_of_the_diagnostics_hub(self):
        corpus = support.corpus_or_skip()
        out = support.convert(
            [os.path.join(corpus, "kqltools-SampleEtl.diagsession")], support.temporary_folder("diagsession")
        )
        trace = os.path.join(out, "trace=kqltools-SampleEtl")
        with open(os.path.join(corpus, "expected-packed.json"), encoding="utf-8") as file:
            expected = json.load(file)["traces"][0]
        record = support.manifest(trace)
        self.assertEqual(record["events"]["found"], expected["events"])
        self.assertEqual(record["inputs"][0]["blake3"], expected["blake3"])
        if not os.path.isfile(support.tool(corpus, "check_dataset.py")):
            self.skipTest("no check_dataset.py beside the corpus")
        facts = os.path.join(corpus, "expected-packed.json")
        command = support.checker(corpus, "check_dataset.py", trace, facts, "kqltools-SampleEtl.etl")
        result = subprocess.run(command, capture_output=True, text=True, timeout=support.TIMEOUT_S)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()

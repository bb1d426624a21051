"""A nightly run: a hundred traces of all sorts, killed again and again, and run to its end at last."""

import gzip
import json
import os
import random
import signal
import struct
import subprocess
import time
import unittest
import zipfile

import containers
import support

BUFFER = 8192
KILLS = 10

# Places in the header event of a 64-bit trace: 72 bytes of the buffer's header and 32 of the event's come before it.
PAYLOAD = 72 + 32
END_TIME, MODE, BUFFERS_WRITTEN, START_TIME = PAYLOAD + 16, PAYLOAD + 32, PAYLOAD + 36, PAYLOAD + 264
NEWFILE = 0x8
SECOND = 10_000_000


def patched(trace, *changes):
    """The trace with numbers of its header event changed: (place, form, function of the number there)."""
    changed = bytearray(trace)
    for place, form, change in changes:
        struct.pack_into(form, changed, place, change(*struct.unpack_from(form, changed, place)))
    return bytes(changed)


def member(trace, number):
    """A file of a series; each begins when the one before it ends."""
    later = 20 * SECOND * number
    return patched(
        trace,
        (MODE, "<I", lambda mode: mode | NEWFILE),
        (START_TIME, "<q", lambda start: start + later),
        (END_TIME, "<q", lambda end: end + later),
    )


def growing(trace, buffers):
    """What there is so far of a session that has not ended."""
    unclosed = patched(trace, (END_TIME, "<q", lambda _: 0), (BUFFERS_WRITTEN, "<I", lambda _: 0))
    return unclosed[: buffers * BUFFER]


class Nightly(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("nightly")
        self.inputs = os.path.join(self.folder, "in")
        self.out = os.path.join(self.folder, "out")
        self.random = random.Random(20)
        with open(support.EXAMPLE, "rb") as file:
            self.trace = file.read()
        os.mkdir(self.inputs)
        self.names = self.fill()

    def write(self, name, content):
        with open(os.path.join(self.inputs, name), "wb") as file:
            file.write(content)

    def zipped(self, name, *members):
        with zipfile.ZipFile(os.path.join(self.inputs, name), "w", zipfile.ZIP_DEFLATED) as archive:
            for inner in members:
                archive.writestr(inner, self.trace)

    def fill(self):
        """Inputs of all sorts; returns the hundred traces that they become, the one that is none among them."""
        plain = [f"plain{number:02}x" for number in range(63)]
        for name in plain:
            self.write(f"{name}.etl", self.trace)
        packed = [f"zip{number:02}x" for number in range(20)]
        for name in packed:
            self.zipped(f"{name}.etl.zip", f"{name}.etl")
        self.zipped("five.zip", *(f"m{number}x.etl" for number in range(5)))
        self.write("solid.7z", containers.seven_zip([(f"m{number}x.etl", self.trace) for number in range(5)]))
        single = ["gzip", "gzip2"]
        for name in single:
            self.write(f"{name}.etl.gz", gzip.compress(self.trace))
        for number in (1, 2, 4):
            self.write(f"series_{number}.etl", member(self.trace, number))
        self.write("cut.etl", self.trace[:100_000])
        self.write("torn.etl", self.trace[: 5 * BUFFER] + bytes(72) + self.trace[5 * BUFFER + 72 :])
        self.write("none.etl", b"no trace at all" * 1000)
        self.size = 6
        self.grow(0)
        self.write("note.txt", b"not read")
        within = [f"{archive}.m{number}x" for archive in ("five", "solid") for number in range(5)]
        names = sorted([*plain, *packed, *within, *single, "series", "cut", "torn", "none", "live"])
        self.assertEqual(len(names), 100)
        return names

    def grow(self, buffers):
        self.size += buffers
        self.write("live.etl", growing(self.trace, self.size))

    def arguments(self, out, flags):
        summary = os.path.join(self.folder, "summary.json")
        update = ["--merge", "auto", "--if-exists", "update", "--summary", summary]
        return ["convert", self.inputs, "-o", out, *update, *flags]

    def nightly(self, *flags, code=4, out=None):
        """A whole run; what became of every trace."""
        result = support.run(*self.arguments(out or self.out, flags))
        self.assertEqual(result.returncode, code, result.stderr)
        with open(os.path.join(self.folder, "summary.json"), encoding="utf-8") as file:
            summary = json.load(file)
        self.assertEqual(summary["exit_code"], code)
        self.said = result.stderr
        traces = {trace["trace"]: trace["status"] for trace in summary["traces"]}
        self.assertEqual(sorted(traces), self.names)
        return traces

    def by_status(self, traces):
        found = {}
        for name, status in traces.items():
            found.setdefault(status, []).append(name)
        return found

    def assert_only(self, traces, *published):
        """These are converted, `none` is no trace, and all others are as they were."""
        found = self.by_status(traces)
        self.assertEqual((found.get("published", []), found.get("quarantined")), (sorted(published), ["none"]))
        self.assertEqual(len(found.get("skipped", [])), len(self.names) - 1 - len(published))

    def verify(self, *flags):
        result = support.run("verify", self.out, *flags)
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)

    def published(self):
        return sorted(name for name in os.listdir(self.out) if name.startswith("trace="))

    def killed(self, longest):
        """A run that ends before its end, unless it is faster; what is published then is whole."""
        how = self.random.choice([signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
        process = support.start(*self.arguments(self.out, ["-q"]))
        time.sleep(self.random.uniform(0, longest))
        self.grow(self.random.choice([0, 1]))
        process.send_signal(how)
        said = process.communicate(timeout=support.TIMEOUT_S)[1]
        # The trace that grew under its hands may have failed before.
        # Before it listens for signals, the system ends it.
        expected = [-how, {signal.SIGTERM: 143, signal.SIGINT: 130}.get(how)]
        self.assertIn(process.returncode, [*expected, 4, 1], said)
        if os.path.isdir(self.out) and self.published():
            self.verify("--quick")
        return process.returncode in expected

    def test_a_night_that_is_killed_ten_times(self):
        begun = time.monotonic()
        reference = os.path.join(self.folder, "reference")
        self.nightly("--threads", "2", out=reference)
        whole = time.monotonic() - begun
        killed = sum(self.killed(whole / 8) for _ in range(KILLS))
        self.assertGreaterEqual(killed, KILLS // 2)
        traces = self.by_status(self.nightly())
        self.assertEqual(traces["quarantined"], ["none"])
        self.assertEqual(set(traces) - {"published", "skipped", "quarantined"}, set())
        self.assertIn("1 file is not read: not called like a trace or an archive (note.txt)", self.said)
        self.assertIn("series: merged of series_1.etl, series_2.etl and series_4.etl", self.said)
        # Nothing of the killed ones is left, and every trace is what it is without them.
        hidden = {name for name in os.listdir(self.out) if not name.startswith("trace=")}
        self.assertEqual(hidden, {".etl2parquet"})
        self.assertEqual(self.published(), sorted(f"trace={name}" for name in self.names if name != "none"))
        for name in set(self.published()) - {"trace=live"}:
            found = support.differences(os.path.join(self.out, name), os.path.join(reference, name))
            self.assertEqual(found, [], name)
        self.verify()
        live = support.manifest(os.path.join(self.out, "trace=live"))
        self.assertEqual(live["inputs"][0]["size"], self.size * BUFFER)
        self.nights_after()

    def nights_after(self):
        """What the next nights convert: what is new or changed alone."""
        self.assert_only(self.nightly())
        self.write("plain07x.etl", member(self.trace, 1))
        self.assert_only(self.nightly(), "plain07x")
        lost = support.manifest(os.path.join(self.out, "trace=series"))["lost"]
        self.assertEqual(lost["unknown_because"], "a file of its series is missing")
        self.write("series_3.etl", member(self.trace, 3))
        self.assert_only(self.nightly(), "series")
        series = support.manifest(os.path.join(self.out, "trace=series"))
        self.assertEqual((len(series["inputs"]), series["lost"]["unknown_because"]), (4, None))
        self.grow(1)
        self.assert_only(self.nightly(), "live")
        # Another option is another output, and what was no trace is tried again.
        self.assert_only(self.nightly("--raw", "always"), *(set(self.names) - {"none"}))
        self.assert_only(self.nightly("--raw", "always"))
        self.verify()

    def test_a_trace_that_grows_all_the_time_harms_no_other(self):
        grower = "import sys, time\nwhile True:\n    open(sys.argv[1], 'ab').write(bytes(8192))\n    time.sleep(0.0005)"
        path = os.path.join(self.inputs, "live.etl")
        process = subprocess.Popen([support.python(), "-c", grower, path])
        try:
            result = support.run(*self.arguments(self.out, []))
        finally:
            process.kill()
            process.wait()
        with open(os.path.join(self.folder, "summary.json"), encoding="utf-8") as file:
            traces = {trace["trace"]: trace["status"] for trace in json.load(file)["traces"]}
        # It is whole up to where it was, or nobody can say what it is.
        self.assertIn((result.returncode, traces.pop("live")), [(4, "published"), (1, "failed")], result.stderr)
        self.assertEqual(self.by_status(traces)["quarantined"], ["none"])
        self.assertEqual(len(self.by_status(traces)["published"]), len(traces) - 1)
        self.verify()


if __name__ == "__main__":
    unittest.main()

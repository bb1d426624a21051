"""What the program does when it is disturbed (signals, a closed pipe, a folder it may not write to), and on terminals."""

import fcntl
import os
import re
import resource
import shutil
import signal
import struct
import subprocess
import termios
import time
import unicodedata
import unittest

import support

# Long enough to be met half-way on any machine.
EVENTS = 1_300_000

POLL_S = 0.002


class Disturbed(unittest.TestCase):
    def setUp(self):
        self.trace = support.synthetic(EVENTS)
        self.folder = support.temporary_folder("disturbed")
        self.out = os.path.join(self.folder, "out")

    def converting(self, **options):
        """A conversion that has begun to write."""
        process = support.start("convert", self.trace, "-o", self.out, "--threads", "1", **options)
        self.addCleanup(process.kill)
        end = time.monotonic() + support.TIMEOUT_S
        while not (os.path.isdir(self.out) and os.listdir(self.out)):
            self.assertIsNone(process.poll(), f"ended before it wrote anything: {process.returncode}")
            self.assertLess(time.monotonic(), end, "nothing was written")
            time.sleep(POLL_S)
        self.assertFalse(self.published(), "published before it could be disturbed")
        return process

    def published(self):
        return os.path.isdir(self.out) and [name for name in os.listdir(self.out) if name.startswith("trace=")]

    def interrupted(self, number, **options):
        process = self.converting(**options)
        process.send_signal(number)
        _, errors = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 128 + number, errors)
        self.assertEqual(support.files_below(self.folder), [])
        self.assertFalse(os.path.isdir(self.out) and os.listdir(self.out))

    def test_sigint_leaves_nothing(self):
        self.interrupted(signal.SIGINT)

    def test_sigterm_leaves_nothing(self):
        self.interrupted(signal.SIGTERM)

    def test_a_closed_terminal_leaves_nothing(self):
        # Also where the tests themselves run under nohup, which the program would inherit.
        self.interrupted(signal.SIGHUP, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL))

    def test_sigquit_leaves_nothing(self):
        self.interrupted(signal.SIGQUIT)

    def test_two_signals_at_once_leave_nothing(self):
        process = self.converting()
        # Both are there when it goes on.
        for number in (signal.SIGSTOP, signal.SIGINT, signal.SIGTERM, signal.SIGCONT):
            process.send_signal(number)
        _, errors = process.communicate(timeout=support.TIMEOUT_S)
        self.assertIn(process.returncode, (130, 143), errors)
        self.assertEqual(support.files_below(self.folder), [])
        self.assertFalse(os.path.isdir(self.out) and os.listdir(self.out))

    def test_nohup_goes_on_without_its_terminal(self):
        process = self.converting(preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        _, errors = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 0, errors)
        self.assertTrue(self.published())

    def test_a_limit_of_file_sizes_is_an_output_failure(self):
        limit = 64 * 1024
        process = support.start(
            "convert",
            self.trace,
            "-o",
            self.out,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        )
        _, errors = process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, 6, errors)
        self.assertIn("ulimit -f", errors)
        self.assertFalse(os.path.exists(self.out))

    def test_a_signal_while_an_input_list_is_awaited(self):
        pipe = os.path.join(self.folder, "list")
        os.mkfifo(pipe)
        for number in (signal.SIGTERM, signal.SIGINT):
            process = support.start("convert", f"@{pipe}", "-o", self.out)
            self.addCleanup(process.kill)
            time.sleep(0.3)
            self.assertIsNone(process.poll(), "it did not wait for the list")
            process.send_signal(number)
            process.communicate(timeout=5)
            self.assertEqual(process.returncode, 128 + number)

    def test_a_killed_run_can_be_run_again(self):
        process = self.converting()
        process.kill()
        process.communicate(timeout=support.TIMEOUT_S)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertFalse(self.published())
        support.convert([self.trace], self.out)
        self.assertEqual(os.listdir(self.out), [os.path.basename(support.dataset(self.out, self.trace))])
        undisturbed = support.convert([self.trace], os.path.join(self.folder, "undisturbed"))
        left, right = (support.dataset(out, self.trace) for out in (self.out, undisturbed))
        self.assertEqual(support.differences(left, right), [])


class Refused(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary_folder("refused")

    def test_a_closed_pipe_is_no_error(self):
        reader, writer = os.pipe()
        os.close(reader)
        try:
            result = support.run("inspect", "--json", support.EXAMPLE, stdout=writer)
        finally:
            os.close(writer)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_head_gets_its_line(self):
        command = f'"{support.BINARY}" inspect --json "{support.EXAMPLE}" | head -1; exit "${{PIPESTATUS[0]}}"'
        result = subprocess.run(
            ["bash", "-c", command], env=support.environment(), capture_output=True, text=True, timeout=support.TIMEOUT_S
        )
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(result.stdout.splitlines()), 1)

    @unittest.skipIf(hasattr(os, "geteuid") and os.geteuid() == 0, "root may write to any folder")
    def test_a_read_only_folder(self):
        os.chmod(self.folder, 0o555)
        self.addCleanup(os.chmod, self.folder, 0o755)
        self.output_fails(os.path.join(self.folder, "out"))

    def test_a_file_where_the_folder_should_be(self):
        blocker = os.path.join(self.folder, "file")
        with open(blocker, "w", encoding="utf-8"):
            pass
        self.output_fails(os.path.join(blocker, "out"))

    def output_fails(self, out):
        result = support.run("convert", support.EXAMPLE, "-o", out)
        self.assertEqual(result.returncode, 6, result.stderr)
        self.assertIn(out, result.stderr)

    def test_two_inputs_of_one_name(self):
        inputs = [os.path.join(self.folder, side, "same.etl") for side in ("left", "right")]
        for path in inputs:
            os.mkdir(os.path.dirname(path))
            shutil.copyfile(support.EXAMPLE, path)
        out = os.path.join(self.folder, "out")
        result = support.run("convert", *inputs, "-o", out)
        self.assertEqual(result.returncode, 2, result.stderr)
        self.assertIn("same", result.stderr)
        self.assertFalse(os.path.exists(out))


class Terminal(unittest.TestCase):
    """No line of a page is broken by the terminal, whatever its width."""

    def shown(self, columns, *arguments):
        """The lines that a terminal of so many columns gets, without colours."""
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 50, columns, 0, 0))
        command = [support.BINARY, *map(str, arguments)]
        process = subprocess.Popen(command, env=support.environment(), stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        written = b""
        while True:
            try:
                piece = os.read(ours, 1 << 16)
            except OSError:
                # Linux says so where nobody writes any more.
                piece = b""
            if not piece:
                break
            written += piece
        os.close(ours)
        code = process.wait(timeout=support.TIMEOUT_S)
        self.assertEqual(code, 0, written)
        return re.sub(r"\x1b\[[0-9;]*m", "", written.decode()).replace("\r\n", "\n").splitlines()

    def test_every_page_fits(self):
        folder = support.temporary_folder("widths")
        trace = os.path.join(support.REPOSITORY, "examples", "example.etl")
        inputs = os.path.join(folder, "in")
        os.mkdir(inputs)
        for name in ("a", "a-trace-of-a-name-that-is-longer-than-its-column", "\u5927\u304d\u3044\u7bb1" * 9):
            shutil.copy(trace, os.path.join(inputs, name + ".etl"))
        process = "Microsoft-Windows-Kernel-Process"
        for columns in (60, 80, 120):
            out = os.path.join(folder, f"out{columns}")
            for arguments in (
                ("convert", inputs, "-o", out, "--progress", "never"),
                ("convert", inputs, "-o", out, "--dry-run", "-v", "--if-exists", "update", "--progress", "never"),
                ("verify", out, "--progress", "never"),
                ("inspect", trace, "--progress", "never"),
                ("inspect", inputs, "--progress", "never"),
                ("inspect", out),
                ("inspect", os.path.join(out, "trace=a")),
                ("schema", "list"),
                ("schema", "show", process),
                ("schema", "show", process, "1"),
                ("schema", "show", "Kernel-Image"),
                ("--help",),
                ("convert", "--help"),
                ("inspect", "-h"),
                ("schema", "list", "--help"),
            ):
                lines = self.shown(columns, *arguments)
                self.assertTrue(lines, arguments)
                # What is to be copied is whole.
                wide = [line for line in lines if width(line) > columns and not line.startswith(("  page ", "  ask "))]
                self.assertEqual(wide, [], (columns, arguments))

    def test_elsewhere_lines_are_whole(self):
        result = support.run("schema", "show", "Microsoft-Windows-Kernel-Process")
        line = next(line for line in result.stdout.splitlines() if line.split()[:2] == ["1", "3"])
        self.assertIn("WINEVENT_KEYWORD_PROCESS", line)
        self.assertGreater(len(line), 120)


def width(text):
    """Columns of a terminal that a text takes."""
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)


class Known(unittest.TestCase):
    """What the built-in schemas know of providers that a support case asks for first."""

    RELEASES = {
        "Microsoft-Windows-WinRM": "7 (7600)",
        "Microsoft-Windows-SMBClient": "10 1507 (10240)",
        "Microsoft-Windows-RPC": "7 (7600)",
        "Microsoft-Windows-LiveId": "10 1507 (10240)",
        "Microsoft-Windows-Windows Defender": "7 (7600)",
        "Microsoft-Windows-PktMon": "10 1809 (17763)",
    }

    def test_schema_show_names_the_releases(self):
        for provider, first in self.RELEASES.items():
            with self.subTest(provider=provider):
                shown = support.run("schema", "show", provider, "--no-store")
                self.assertEqual((shown.returncode, shown.stderr), (0, ""))
                self.assertIn(f"\n  releases  Windows {first} to 11 26H1 (28000)\n", shown.stdout)

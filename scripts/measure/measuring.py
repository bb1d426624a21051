"""What the scripts share: the built programs, child processes with their CPU time and memory, hashes of output, medians."""

import hashlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CORPUS = Path(os.environ.get("ETL2PARQUET_CORPUS") or ROOT.parent / "shared" / "corpus")
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "release"


def build():
    """Builds the converter and the tools around it, all with the release profile."""
    command = ["cargo", "build", "--locked", "--release", "--quiet", "--bins", "--examples"]
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        sys.exit("the build failed")


def release_binary():
    return os.environ.get("ETL2PARQUET_BIN", str(TARGET / "etl2parquet"))


def corpus_folder():
    """The folder of real traces; without it the script ends."""
    if not CORPUS.is_dir():
        sys.exit(f"no corpus at {CORPUS}: set ETL2PARQUET_CORPUS")
    return CORPUS


def environment():
    """The environment of a child: the options of the program are those of its command line alone."""
    return {key: value for key, value in os.environ.items() if not key.startswith("ETL2PARQUET_")}


def digest(file, of_the_run=("run",), path_of=lambda path: path, without=()):
    """The hash of a file of a trace, of its manifest without the entries `of_the_run`, and with its files' paths changed.

    Texts `without` do not count, nor do then the hashes of files in the manifest."""
    content = file.read_bytes()
    for text in without:
        content = content.replace(text, b"")
    if file.name == "manifest.json":
        manifest = json.loads(content)
        for key in of_the_run:
            manifest.pop(key, None)
        for entry in manifest["files"]:
            entry["path"] = path_of(entry["path"])
            if without:
                entry.pop("sha256", None)
        content = json.dumps(manifest).encode()
    return hashlib.sha256(content).hexdigest()


def digests(folder, **options):
    """The hash of every file below a folder, by its path there."""
    files = sorted(file for file in folder.rglob("*") if file.is_file())
    return {file.relative_to(folder).as_posix(): digest(file, **options) for file in files}


def example(name):
    return str(TARGET / "examples" / name)


@dataclass
class Run:
    """One child process: seconds, and the peak of its anonymous memory in bytes (None where not sampled)."""

    wall: float
    user: float
    system: float
    others: float
    peak_anonymous: int | None
    output: str
    # Calls that read and that write, and their bytes, by the names of /proc/PID/io; empty where not sampled.
    calls: dict


def run(command, sample_memory=False):
    """Runs a command to its end; a failure ends the script with what the command said."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        started, busy = time.perf_counter(), busy_seconds()
        child = subprocess.Popen([str(part) for part in command], stdout=output, stderr=errors, env=environment())
        sampler = PeakSampler(child.pid) if sample_memory else None
        calls = calls_of(child.pid) if sample_memory else {}
        _, status, usage = os.wait4(child.pid, 0)
        wall, busy = time.perf_counter() - started, busy_seconds() - busy
        child.returncode = os.waitstatus_to_exitcode(status)
        peak = sampler.finish() if sampler else None
        if child.returncode != 0:
            errors.seek(0)
            sys.exit(f"{' '.join(map(str, command))}: exit code {child.returncode}\n{errors.read()}")
        output.seek(0)
        others = max(0.0, busy - usage.ru_utime - usage.ru_stime)
        return Run(wall, usage.ru_utime, usage.ru_stime, others, peak, output.read(), calls)


def calls_of(pid):
    """What a process has read and written by calls, counted when it has ended and nobody has fetched its exit code yet."""
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    try:
        with open(f"/proc/{pid}/io", encoding="ascii") as counts:
            return {name.rstrip(":"): int(count) for name, count in map(str.split, counts)}
    except OSError:
        return {}


def busy_seconds():
    """What all processors together have worked since the machine started; 0 where the system does not tell."""
    try:
        with open("/proc/stat", encoding="ascii") as stat:
            user, nice, system, _idle, _waiting, *rest = (int(ticks) for ticks in stat.readline().split()[1:9])
    except OSError:
        return 0.0
    return (user + nice + system + sum(rest)) / os.sysconf("SC_CLK_TCK")


class PeakSampler(threading.Thread):
    """Samples RssAnon of a process: its own memory, without the pages of mapped files."""

    def __init__(self, pid, interval=0.005):
        super().__init__(daemon=True)
        self.path = f"/proc/{pid}/status"
        self.interval = interval
        self.peak = 0
        self.ended = threading.Event()
        self.start()

    def run(self):
        while not self.ended.wait(self.interval):
            try:
                with open(self.path, encoding="ascii", errors="replace") as status:
                    anonymous = [line for line in status if line.startswith("RssAnon:")]
            except OSError:
                return
            if anonymous:
                self.peak = max(self.peak, int(anonymous[0].split()[1]) * 1024)

    def finish(self):
        self.ended.set()
        self.join()
        return self.peak


def work_folder():
    """A temporary folder, in memory where the system has one: disks differ more than processors."""
    shared = Path("/dev/shm")
    place = shared if "TMPDIR" not in os.environ and os.access(shared, os.W_OK) else None
    return tempfile.TemporaryDirectory(prefix="etl2parquet-", dir=place)


def convert_command(trace, out, *options):
    return [release_binary(), "convert", trace, "-o", out, "-q", "--if-exists", "replace", *options]


def trace_folder(out):
    """The only trace below an output folder."""
    [folder] = Path(out).glob("trace=*")
    return folder


def memory_budget(trace):
    """The bytes that the conversion of a trace took for its budget."""
    manifest = json.loads((trace / "sidecar" / "manifest.json").read_text())
    return manifest["run"]["memory_bytes"]


def event_bytes(trace):
    return sum(file.stat().st_size for file in (trace / "events").rglob("*.parquet"))


def encode_again(trace):
    """What arrow-rs alone needs for the files of a converted trace; see examples/encode_baseline."""
    return json.loads(run([example("encode_baseline"), trace]).output)


def enlarge(source, target, size, *options):
    run([example("enlarge"), source, target, size, *options])
    return target


def bulk(target, events, providers=8, cpus=8, seed=1, *options):
    run([example("make_trace"), "bulk", target, events, providers, cpus, seed, *options])
    return target


def wide(target, events, fields=1500):
    run([example("make_trace"), "wide", target, events, fields])
    return target


def kind(target, name, events):
    run([example("make_trace"), "kind", name, target, events])
    return target


def small_traces(folder, count):
    """A folder of traces of three buffers each."""
    folder.mkdir()
    for number in range(count):
        bulk(folder / f"small{number:03}.etl", 300, 1, 2, number + 1)
    return folder


@dataclass
class Kind:
    """A trace or a folder of traces of one kind, and what a conversion of it is told besides."""

    path: Path
    options: tuple = ()


def kinds(folder, scale=1):
    """What users have, made by the project's own writer: by name, most with 60,000 to 100,000 events."""
    tmf = folder / "wpp.tmf"
    run([example("make_trace"), "tmf", tmf])
    return {
        "mixed": Kind(bulk(folder / "mixed.etl", 100_000 * scale)),
        ".NET and kernel": Kind(kind(folder / "dotnet.etl", "dotnet", 60_000 * scale)),
        "TraceLogging": Kind(kind(folder / "tracelogging.etl", "tracelogging", 60_000 * scale)),
        "narrow manifest": Kind(kind(folder / "network.etl", "network", 100_000 * scale)),
        "kernel": Kind(kind(folder / "kernel.etl", "kernel", 80_000 * scale)),
        "EventSource": Kind(kind(folder / "eventsource.etl", "eventsource", 60_000 * scale)),
        "WPP": Kind(kind(folder / "wpp.etl", "wpp", 60_000 * scale), ("--schemas", tmf)),
        "wide table": Kind(wide(folder / "wide.etl", 8_000 * scale, 300)),
        "compressed": Kind(bulk(folder / "compressed.etl", 80_000 * scale, 8, 8, 1, "compressed")),
        "1,000 providers": Kind(bulk(folder / "many.etl", 20_000 * scale, 1000)),
        "100 small traces": Kind(small_traces(folder / "small", 100)),
    }


def clear(out):
    shutil.rmtree(out, ignore_errors=True)


@dataclass
class Sample:
    """One thread, two threads, one thread twice at the same time, and the encoder alone, side by side."""

    one: Run
    two: Run
    twice_seconds: float
    encode: dict

    @property
    def convert_to_encode(self):
        return self.one.user / self.encode["user_seconds"]

    @property
    def speed_up(self):
        return self.one.wall / self.two.wall

    @property
    def machine_speed_up(self):
        """What two processors of this machine do more than one, when two programs share nothing: 2 at best."""
        return 2 * self.one.wall / self.twice_seconds

    @property
    def speed_up_under_load(self):
        """Two threads to one, where the one has a neighbour as busy as itself: machines that are busy themselves, or
        that give two processors less than twice the time of one, slow down both."""
        return self.twice_seconds / self.two.wall

    @property
    def was_alone(self):
        """Whether other programs left the processors to both runs; if not, they slow the two threads down."""
        return all(run.others < 0.1 * run.wall for run in (self.one, self.two))


def sample(trace, out, *options):
    one = run(convert_command(trace, out, "--threads", "1", *options))
    # To replace a trace takes the time of deleting it, too.
    clear(out)
    two = run(convert_command(trace, out, "--threads", "2", *options))
    clear(out)
    neighbour = out.with_name(f"{out.name}-neighbour")
    twice = run_together([convert_command(trace, place, "--threads", "1", *options) for place in (out, neighbour)])
    clear(neighbour)
    encode = encode_again(trace_folder(out))
    if encode["same_files"] != encode["files"]:
        sys.exit("encoding again gave other files: the yardstick measures other work than the conversion")
    clear(out)
    return Sample(one, two, twice, encode)


def run_together(commands):
    """Seconds until all of them, started at the same time, have ended."""
    started = time.perf_counter()
    with ThreadPoolExecutor(len(commands)) as starters:
        list(starters.map(run, commands))
    return time.perf_counter() - started


def median(values):
    return statistics.median(list(values))

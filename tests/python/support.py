"""What the Python checks share: where things are, and how the program is run."""

import atexit
import filecmp
import functools
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

REPOSITORY = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
EXAMPLE = os.path.join(REPOSITORY, "examples", "example.etl")
BINARY = os.environ.get("ETL2PARQUET_BIN") or os.path.join(REPOSITORY, "target", "release", "etl2parquet")

# No conversion of a test input takes longer; a hang must end as a failure.
TIMEOUT_S = 600


def corpus():
    """The folder of real traces, or None. Fails, when the environment requires it and it is not there."""
    folder = os.environ.get("ETL2PARQUET_CORPUS") or os.path.join(REPOSITORY, "..", "shared", "corpus")
    if os.path.isfile(os.path.join(folder, "expected.json")):
        return os.path.abspath(folder)
    if os.environ.get("ETL2PARQUET_REQUIRE_CORPUS") == "1":
        raise AssertionError(f"no corpus: {folder}/expected.json is missing and ETL2PARQUET_REQUIRE_CORPUS is 1")
    return None


def corpus_or_skip():
    """The folder of real traces; skips the test where there is none."""
    folder = corpus()
    if folder is None:
        raise unittest.SkipTest("no corpus: set ETL2PARQUET_CORPUS to a folder of traces with expected.json")
    return folder


def expected_traces(folder):
    """The corpus' facts, one dictionary per trace."""
    with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
        return json.load(file)["traces"]


def tool(folder, name):
    """A checker that lies beside the corpus."""
    return os.path.join(os.path.dirname(folder), "tools", name)


def checker(folder, name, *arguments):
    """The command that runs such a checker."""
    ending = os.path.join(REPOSITORY, "tests", "python", "ending.py")
    return [python(), ending, tool(folder, name), *arguments]


@functools.cache
def temporary_root():
    """One folder for everything that a run of the checks writes."""
    root = tempfile.mkdtemp(prefix="etl2parquet-test-")
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    return root


def temporary_folder(prefix):
    """A new folder of its own."""
    return tempfile.mkdtemp(prefix=prefix + "-", dir=temporary_root())


def environment():
    """The caller's environment without variables that would change what the program does."""
    kept = {"ETL2PARQUET_BIN", "ETL2PARQUET_CORPUS", "ETL2PARQUET_PYTHON"}
    return {k: v for k, v in os.environ.items() if not k.startswith("ETL2PARQUET_") or k in kept}


def run(*arguments, **options):
    """Runs the program to its end; standard output and error are captured as text."""
    options.setdefault("timeout", TIMEOUT_S)
    return subprocess.run(
        [BINARY, *map(str, arguments)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=options.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def start(*arguments, **options):
    """Starts the program and returns at once; standard error is captured as text."""
    return subprocess.Popen(
        [BINARY, *map(str, arguments)],
        env=environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def convert(inputs, out, *flags):
    """Converts and demands success; returns the output folder."""
    result = run("convert", *inputs, "-o", out, *flags)
    if result.returncode != 0:
        raise AssertionError(f"convert {inputs} {flags}: exit {result.returncode}\n{result.stderr}")
    return out


def dataset(out, trace):
    """The folder that a trace was converted to."""
    return os.path.join(out, f"trace={os.path.splitext(os.path.basename(trace))[0]}")


def manifest(trace_folder):
    """The commit record of a converted trace."""
    with open(os.path.join(trace_folder, "sidecar", "manifest.json"), encoding="utf-8") as file:
        return json.load(file)


def tables(trace_folder):
    """The provider tables of a converted trace: folder name under `events/`, and rows as the manifest counts them."""
    rows = {}
    for file in manifest(trace_folder)["files"]:
        parts = file["path"].split("/")
        if parts[0] == "events":
            rows[parts[1]] = rows.get(parts[1], 0) + file["rows"]
    return rows


def files_below(folder):
    """Relative paths of all files, sorted."""
    paths = glob.glob(os.path.join(glob.escape(folder), "**"), recursive=True, include_hidden=True)
    return sorted(os.path.relpath(path, folder) for path in paths if os.path.isfile(path))


def differences(left, right):
    """What differs between two conversions of one trace, apart from the manifest's one part that may: `run`."""
    ours, theirs = set(files_below(left)), set(files_below(right))
    record = os.path.join("sidecar", "manifest.json")
    changed = {
        path
        for path in (ours & theirs) - {record}
        if not filecmp.cmp(os.path.join(left, path), os.path.join(right, path), shallow=False)
    }
    first, second = manifest(left), manifest(right)
    keys = {key for key in first.keys() | second.keys() if key != "run" and first.get(key) != second.get(key)}
    return sorted((ours ^ theirs) | changed) + sorted(f"{record}: {key}" for key in keys)


def python():
    """The interpreter that has the packages of scripts/requirements.txt."""
    return os.environ.get("ETL2PARQUET_PYTHON") or sys.executable


@functools.cache
def synthetic(events):
    """The path of a synthetic trace of so many events, written once per run of the checks."""
    maker = os.path.join(os.path.dirname(BINARY), "examples", "make_trace")
    path = os.path.join(temporary_folder("synthetic"), f"synthetic_{events}.etl")
    subprocess.run([maker, "bulk", path, str(events)], check=True, stdin=subprocess.DEVNULL, timeout=TIMEOUT_S)
    return path


@functools.cache
def package():
    """The Python package, importable from here on, as its wheel installs it; returns the folder that it is in."""
    wheels = glob.glob(os.path.join(os.path.dirname(os.path.dirname(BINARY)), "wheels", "etl2parquet-*.whl"))
    if not wheels:
        raise AssertionError("no wheel of the Python package: scripts/pack_python builds it")
    root = temporary_folder("package")
    with zipfile.ZipFile(max(wheels, key=os.path.getmtime)) as wheel:
        wheel.extractall(root)
    sys.path.insert(0, root)
    return root


def with_package(script, *arguments, **options):
    """Starts Python with a script that can import the package; its output is captured as text."""
    command = [python(), "-c", script, *map(str, arguments)]
    environment_with = {**environment(), "PYTHONPATH": package(), **options.pop("variables", {})}
    return subprocess.Popen(command, env=environment_with, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)

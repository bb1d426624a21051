"""Every command that a page shows runs as it stands there, in a folder that has the files which the page names."""

import glob
import os
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

import support

# Blocks of commands by page, and what lies there afterwards. docs/views.md, docs/ask.md and docs/duckdb.md have tests of their own.
PAGES = {
    "README.md": (1, ["out/trace=example"]),
    "docs/columns.md": (1, []),
    "docs/compare.md": (2, ["compared.html"]),
    "docs/dataset.md": (1, ["out/trace=boot"]),
    "docs/export.md": (1, ["boot.json", "boot.speedscope.json", "boot.pb.gz", "waits.folded", "boot.pcapng", "boot.ecs.jsonl"]),
    "docs/describe.md": (1, ["out/trace=example", "out.json"]),
    "docs/filters.md": (1, ["errors/trace=boot"]),
    "docs/lake.md": (1, ["lake/lake.json", "views.sql"]),
    "docs/operations.md": (1, ["data/parquet/trace=boot", "data/log/etl2parquet.json"]),
    "docs/options.md": (1, ["out/trace=example"]),
    "docs/performance.md": (1, ["out/trace=boot"]),
    "docs/queries.md": (1, ["out/trace=boot", "views.sql", "views.spark.sql"]),
    "docs/recipes.md": (1, ["out/trace=example", "out/trace=orders"]),
    "docs/report.md": (1, ["boot.html", "opened", "pages/index.html", "pages/monday.html", "pages/tuesday.html"]),
    "docs/scale.md": (2, ["out/trace=boot", "lake/lake.json"]),
    "docs/schemas.md": (16, ["out/trace=trace", "decoded/trace=trace", "shop.lock", "out/schema.lock", "out/trace=c", "facts.json"]),
    "docs/sidecar.md": (1, ["out/trace=boot"]),
    "docs/symbols.md": (2, ["out/symbols/modules.parquet", "missing.txt", "boot.html", "out/symbols/frames/boot.parquet"]),
    "docs/steps.md": (2, ["out/trace=boot", "huge/trace=boot"]),
    "docs/verify.md": (1, ["out/trace=boot", "run.json"]),
}
# Pages that speak of a trace that is converted already.
CONVERTED = {"docs/export.md", "docs/report.md", "docs/symbols.md"}
# What no test can run: all the tests, an installation, a container, and what a test of its own does (test_update.py).
NOT_HERE = re.compile(r"^(scripts/test$|cargo install |docker |rm /data/)", re.MULTILINE)
# Words in place of which a reader writes something else.
SYNOPSIS = re.compile(r"…| (INPUT|OUT|FILE|DIR|PATH|NAME|TRACE)\b")

MANIFEST = """<instrumentationManifest xmlns="http://schemas.microsoft.com/win/2004/08/events"><instrumentation><events>
<provider name="My-Driver" guid="{6D5CA4BB-DF8E-41BC-B554-8AEAB241F206}" symbol="MY_DRIVER"><templates>
<template tid="t"><data name="Irp" inType="win:UInt32"/></template></templates>
<events><event value="1" symbol="STARTED" template="t"/></events></provider></events></instrumentation></instrumentationManifest>
"""
TMF = """// PDB:  mydriver.pdb
01e9b841-7d67-315a-7b92-23b2033356de mydriver // SRC=driver.c MJ= MN=
#typev driver_c21 10 "%0started %10!d!" //   LEVEL=TRACE_LEVEL_INFORMATION
{
Arg, ItemLong -- 10
}
"""
MOF = """[Guid("{d9f4a2b7-8e7e-4b3f-9a5c-0f7d0a2b6c11}"), EventVersion(1)] class LabTrace : EventTrace {};
[EventType(10)] class LabTrace_Start : LabTrace { [WmiDataId(1)] uint32 Number; };
"""


def blocks(page):
    """The blocks of commands of a page: fenced ones for a shell, and indented ones of this program."""
    with open(os.path.join(support.REPOSITORY, page), encoding="utf-8") as file:
        text = file.read()
    fenced = re.findall(r"^```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    indented = re.findall(r"(?:^    etl2parquet .*\n)+", text, re.MULTILINE)
    return fenced + [re.sub("^    ", "", block, flags=re.MULTILINE) for block in indented]


def runnable(page):
    return [block for block in blocks(page) if not NOT_HERE.search(block) and not SYNOPSIS.search(block)]


def desk(name):
    """A folder with what the pages name, and programs that they call."""
    work = support.temporary_folder(name)
    for folder in ("traces", "new", "tmf", "bin", "data/traces", "data/log", "home"):
        os.makedirs(os.path.join(work, folder))
    for path in ("boot.etl", "trace.etl", "monday.etl", "tuesday.etl", "traces/boot.etl", "new/c.etl", "new/d.etl", "data/traces/boot.etl"):
        shutil.copy(support.EXAMPLE, os.path.join(work, path))
    os.symlink(os.path.join(support.REPOSITORY, "examples"), os.path.join(work, "examples"))
    with zipfile.ZipFile(os.path.join(work, "lab.zip"), "w") as archive:
        archive.write(support.EXAMPLE, "lab.etl")
    for path, text in {"MyDriver.man": MANIFEST, "tmf/driver.tmf": TMF, "Lab.mof": MOF}.items():
        with open(os.path.join(work, path), "w", encoding="utf-8") as file:
            file.write(text)
    # What is kept of a binary does for one.
    binaries = os.path.join(support.REPOSITORY, "tests", "python", "data", "binaries")
    os.makedirs(os.path.join(work, "disk/Windows/System32"))
    with zipfile.ZipFile(os.path.join(binaries, "node.zip")) as archive:
        for path in ("MyService.exe", "disk/Windows/System32/node.exe"):
            with open(os.path.join(work, path), "wb") as file:
                file.write(archive.read("node.exe"))
    # A PDB with messages, as tests/schema_files.rs makes it.
    with zipfile.ZipFile(os.path.join(support.REPOSITORY, "tests", "python", "data", "pages", "MyDriver.zip")) as archive:
        archive.extract("MyDriver.pdb", work)
        archive.extract("MyDriver.pdb", os.path.join(work, "build"))
    os.makedirs(os.path.join(work, "other-store"))
    with open(os.path.join(work, "other-store", "index.json"), "w", encoding="utf-8") as file:
        file.write('{"format": 1, "files": []}')
    os.symlink(support.BINARY, os.path.join(work, "bin", "etl2parquet"))
    opener = os.path.join(work, "bin", "open" if sys.platform == "darwin" else "xdg-open")
    with open(opener, "w", encoding="utf-8") as file:
        file.write(f"#!/bin/sh\necho \"$1\" > '{work}/opened'\n")
    os.chmod(opener, 0o755)
    return work


def here(block, work):
    """A block with its absolute folders in the desk, and the program in place of what builds it first."""
    block = block.replace("cargo run --locked --release --", "etl2parquet")
    return block.replace("/data/", f"{work}/data/").replace("/var/log/", f"{work}/data/log/")


@unittest.skipIf(os.name == "nt", "the pages speak to a Unix shell")
class Pages(unittest.TestCase):
    def test_every_page_with_commands_is_known(self):
        pages = glob.glob("*.md", root_dir=support.REPOSITORY) + glob.glob("docs/*.md", root_dir=support.REPOSITORY)
        found = {page: len(runnable(page)) for page in pages if runnable(page)}
        self.assertEqual(found, {page: count for page, (count, _) in PAGES.items()} | {"docs/ask.md": 3, "docs/duckdb.md": 1, "docs/views.md": 5})

    def test_commands_do_what_their_pages_say(self):
        for page, (_, expected) in PAGES.items():
            with self.subTest(page):
                self.follow(page, expected)

    def follow(self, page, expected):
        if "jq " in "".join(runnable(page)) and not shutil.which("jq"):
            self.skipTest("no jq")
        work = desk(re.sub(r"\W", "-", page))
        if page in CONVERTED:
            support.convert([os.path.join(work, "boot.etl")], os.path.join(work, "out"))
        own = {"HOME": os.path.join(work, "home"), "XDG_DATA_HOME": os.path.join(work, "home"), "DISPLAY": ":0"}
        path = os.pathsep.join([os.path.join(work, "bin"), os.environ["PATH"]])
        for block in runnable(page):
            done = subprocess.run(
                ["sh", "-ec", here(block, work)],
                cwd=work,
                env={**support.environment(), **own, "PATH": path},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=support.TIMEOUT_S,
                check=False,
            )
            self.assertEqual(done.returncode, 0, f"{page}: {block}{done.stdout}{done.stderr}")
        missing = [path for path in expected if not os.path.exists(os.path.join(work, path))]
        self.assertEqual(missing, [], page)


if __name__ == "__main__":
    unittest.main()

"""What is handed out: an archive for each kind of system, with the licences of all that is linked."""

import hashlib
import os
import re
import subprocess
import sys
import tarfile
import unittest
import zipfile

import support

PACK = os.path.join(support.REPOSITORY, "scripts", "pack")
DOCUMENTS = {
    "README.md", "CHANGELOG.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-LICENSES.txt",
    "completions/etl2parquet.bash", "completions/_etl2parquet", "completions/etl2parquet.fish",
    "completions/_etl2parquet.ps1", "man/etl2parquet.1",
}


PROGRAM = b"""#!/bin/sh
case $1 in
man) echo page >"$2/etl2parquet.1" ;;
completions) echo "of $2" ;;
*) echo etl2parquet 0 ;;
esac
"""


def pack(target):
    """The path of a new archive. Its program is a small one: to pack takes as long as the program is large."""
    folder = support.temporary_folder("pack")
    program = os.path.join(folder, "program")
    with open(program, "wb") as file:
        file.write(PROGRAM)
    os.chmod(program, 0o755)
    command = [sys.executable, PACK, program, "--target", target, "--to", folder]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=support.TIMEOUT_S, check=False)
    if ended.returncode != 0:
        raise AssertionError(f"{command}: {ended.stderr}")
    return ended.stdout.strip()


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Pack(unittest.TestCase):
    def test_linux_gets_a_tar_archive_with_a_program_that_runs(self):
        path = pack("x86_64-unknown-linux-musl")
        name = os.path.basename(path).removesuffix(".tar.gz")
        self.assertRegex(name, r"^etl2parquet-\d+\.\d+\.\d+-x86_64-unknown-linux-musl$")
        with tarfile.open(path) as archive:
            self.assertEqual({m.name for m in archive}, {f"{name}/{file}" for file in DOCUMENTS | {"etl2parquet"}})
            licences = archive.extractfile(f"{name}/THIRD-PARTY-LICENSES.txt").read().decode()
            self.assertEqual(archive.extractfile(f"{name}/completions/_etl2parquet").read(), b"of zsh\n")
            self.assertEqual(archive.extractfile(f"{name}/man/etl2parquet.1").read(), b"page\n")
            folder = support.temporary_folder("unpacked")
            archive.extractall(folder, filter="data")
        binary = os.path.join(folder, name, "etl2parquet")
        self.assertEqual(read(binary), PROGRAM)
        self.assertEqual(subprocess.check_output([binary]), b"etl2parquet 0\n")
        crates = re.findall(r"^=+\n(\S+) \S+: (.+)$", licences, re.MULTILINE)
        self.assertLessEqual({"parquet", "zstd-sys", "mimalloc", "rustix", "object_store", "ring"}, {crate for crate, _ in crates})
        # Those of C sources, which crates only carry; and none of what only tests are made with.
        self.assertIn("---- zstd-sys, zstd/LICENSE", licences)
        # And the notice that the texts in the schemas ask for.
        self.assertIn("---- etl2parquet-schemas, LICENSE-TEXTS", licences)
        self.assertNotIn("proptest", {crate for crate, _ in crates})

    def test_windows_gets_a_zip_archive(self):
        path = pack("x86_64-pc-windows-msvc")
        name = os.path.basename(path).removesuffix(".zip")
        with zipfile.ZipFile(path) as archive:
            self.assertEqual(set(archive.namelist()), {f"{name}/{file}" for file in DOCUMENTS | {"etl2parquet.exe"}})
            licences = archive.read(f"{name}/THIRD-PARTY-LICENSES.txt").decode()
        self.assertIn("\nwindows-sys ", licences)
        self.assertNotIn("\nrustix ", licences)

    def test_the_same_binary_gives_the_same_bytes_and_their_sum(self):
        for target in ("x86_64-unknown-linux-musl", "x86_64-pc-windows-msvc"):
            one, other = pack(target), pack(target)
            self.assertEqual(read(one), read(other))
            said = read(one + ".sha256").decode()
            self.assertEqual(said, f"{hashlib.sha256(read(one)).hexdigest()}  {os.path.basename(one)}\n")


if __name__ == "__main__":
    unittest.main()

"""What is built by itself has the dependencies of the others, with the same features: they are compiled once."""

import subprocess
import unittest

import support

ALONE = ("etl2parquet-python", "etl2parquet-duckdb", "etl2parquet-fuzz")


def features(*arguments):
    """The features of each crate that a build compiles, as cargo resolves them: those of its code, and those of what runs in the compiler."""
    command = ["cargo", "tree", "--locked", "--offline", "--format", "{p} {f}", "--prefix", "none", *arguments]
    printed = subprocess.run(command, cwd=support.REPOSITORY, capture_output=True, text=True, timeout=120, check=True).stdout
    found = {}
    for line in filter(None, printed.splitlines()):
        name, version, *rest = line.replace(" (*)", "").replace(" (proc-macro)", "").split(" ")
        if "(" not in line:
            found.setdefault(f"{name} {version}", set()).add(" ".join(rest))
    return found


class Dependencies(unittest.TestCase):
    def test_they_are_compiled_once(self):
        # With what tests and examples need, as scripts/test builds it.
        of_all = features("--edges", "normal,build,dev")
        for package in ALONE:
            found = features("--package", package, "--edges", "normal,no-proc-macro")
            others = {crate: (found[crate], of_all[crate]) for crate in found if crate in of_all and not found[crate] & of_all[crate]}
            self.assertEqual(others, {}, "see workspace-hack/Cargo.toml")
            macros = features("--package", package, "--edges", "normal,build")
            for crate in ("proc-macro2 v1", "quote v1", "syn v3"):
                [name] = [name for name in macros if name.startswith(crate)]
                self.assertTrue(macros[name] & of_all[name], (package, name, macros[name], of_all[name]))


if __name__ == "__main__":
    unittest.main()

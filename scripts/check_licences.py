#!/usr/bin/env python3
"""Checks that every crate the program is built from may be used under a licence we accept.

    python3 scripts/check_licences.py

Reads `cargo metadata` for the host platform and evaluates each crate's SPDX expression: of an OR one side must be
acceptable, of an AND both. Exit status 1 names the crates for which that fails.
"""

import json
import re
import subprocess
import sys

ACCEPTED = {
    "0BSD",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
}


def acceptable(expression):
    """Whether an SPDX expression can be satisfied with accepted licences alone."""
    # A slash is how older crates wrote OR; an exception (WITH) only ever adds permissions.
    text = re.sub(r"\s+WITH\s+[\w.-]+", "", expression.replace("/", " OR "))
    tokens = re.findall(r"[()]|[\w.+-]+", text)

    def either():
        ok = both()
        while tokens and tokens[0] == "OR":
            tokens.pop(0)
            ok = both() or ok
        return ok

    def both():
        ok = term()
        while tokens and tokens[0] == "AND":
            tokens.pop(0)
            ok = term() and ok
        return ok

    def term():
        token = tokens.pop(0) if tokens else ""
        if token != "(":
            return token in ACCEPTED
        ok = either()
        return bool(tokens) and tokens.pop(0) == ")" and ok

    ok = either()
    return ok and not tokens


def self_test():
    """The cases that a substring search would get wrong."""
    cases = [
        ("MIT", True),
        ("GPL-3.0", False),
        ("GPL-3.0 OR MIT", True),
        ("GPL-3.0 AND MIT", False),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", True),
        ("MIT/Apache-2.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("", False),
    ]
    for expression, expected in cases:
        if acceptable(expression) is not expected:
            sys.exit(f"check_licences.py is wrong about {expression!r}")


def host():
    lines = subprocess.run(["rustc", "-vV"], check=True, capture_output=True, text=True).stdout.splitlines()
    return next(line.split(": ", 1)[1] for line in lines if line.startswith("host: "))


def main():
    self_test()
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", host()]
    metadata = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    # The resolved graph, not the package list: the list also names crates that only other platforms use.
    used = {node["id"] for node in metadata["resolve"]["nodes"]}
    packages = [package for package in metadata["packages"] if package["id"] in used]
    refused = [p for p in packages if not acceptable(p["license"] or "")]
    for package in refused:
        print(f"{package['name']} {package['version']}: licence {package['license']!r} is not on the accepted list")
    print(f"{len(packages)} crates, {len(refused)} with a licence that is not accepted")
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Builds the DuckDB extension for this system.

    python3 duckdb/pack.py [--zig] [OUT]

OUT is the file (default: target/etl2parquet.duckdb_extension), whose name DuckDB takes for that of the extension. With --zig it is
linked for Linux with glibc 2.17 and newer, by cargo-zigbuild.
"""

import argparse
import os
import platform
import re
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
REPOSITORY = os.path.dirname(HERE)
TARGET = os.environ.get("CARGO_TARGET_DIR") or os.path.join(REPOSITORY, "target")

# The oldest version of DuckDB's C interface that will do.
INTERFACE = "v1.2.0"
SYSTEMS = {"Linux": "linux", "Darwin": "osx", "Windows": "windows"}
PROCESSORS = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64", "ARM64": "arm64"}
LIBRARIES = {"Linux": "libetl2parquet_duckdb.so", "Darwin": "libetl2parquet_duckdb.dylib", "Windows": "etl2parquet_duckdb.dll"}


def version():
    """That of all packages."""
    with open(os.path.join(REPOSITORY, "Cargo.toml"), encoding="utf-8") as file:
        return re.search(r'^version = "(.+)"', file.read(), re.MULTILINE)[1]


def footer():
    """What DuckDB reads at the end of a file before it loads it: eight fields of 32 bytes, and room for a signature, of which there is none."""
    system = f"{SYSTEMS[platform.system()]}_{PROCESSORS[platform.machine()]}"
    fields = ["", "", "", "C_STRUCT", f"v{version()}", INTERFACE, system, "4"]
    return b"".join(field.encode().ljust(32, b"\0") for field in fields) + bytes(256)


def built(zig):
    """The library, without symbols."""
    command = ["cargo", "rustc", "--locked", "--release", "--manifest-path", os.path.join(HERE, "Cargo.toml")]
    if zig:
        target = f"{platform.machine()}-unknown-linux-gnu"
        command = ["cargo", "zigbuild", *command[2:], "--target", f"{target}.2.17"]
        subprocess.run(command, check=True, env={**os.environ, "CARGO_PROFILE_RELEASE_STRIP": "symbols"})
        return os.path.join(TARGET, target, "release", LIBRARIES["Linux"])
    subprocess.run([*command, "--", "-C", "strip=symbols"], check=True)
    return os.path.join(TARGET, "release", LIBRARIES[platform.system()])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--zig", action="store_true")
    parser.add_argument("out", nargs="?", default=os.path.join(TARGET, "etl2parquet.duckdb_extension"))
    arguments = parser.parse_args()
    with open(built(arguments.zig), "rb") as file:
        code = file.read()
    with open(arguments.out, "wb") as file:
        file.write(code + footer())


if __name__ == "__main__":
    main()

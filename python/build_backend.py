"""Builds the wheel: the DuckDB extension first, which is a file of the package, and the rest by maturin."""

import os
import subprocess
import sys

import maturin
from maturin import *  # noqa: F403, what a build asks for

HERE = os.path.dirname(os.path.abspath(__file__))
PACK = os.path.join(HERE, "..", "duckdb", "pack.py")


def _extension():
    # A source distribution has the crates of the package alone.
    if os.path.exists(PACK):
        subprocess.run([sys.executable, PACK, os.path.join(HERE, "etl2parquet", "etl2parquet.duckdb_extension")], check=True)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of pip."""
    _extension()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """The hook of pip install -e."""
    _extension()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)

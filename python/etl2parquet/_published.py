"""Converted traces: whether they are whole, and the views over them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass

from . import _native
from ._arguments import Path, inputs


@dataclass(frozen=True)
class Problem:
    """Something that is not as it was published."""

    kind: str
    file: str
    reason: str


@dataclass(frozen=True)
class Verified:
    """What came of a verification."""

    traces: int
    files: int
    bytes: int
    older: int
    findings: tuple[Problem, ...]


def verify(outputs: Path | Iterable[Path], *, quick: bool = False) -> Verified:
    """Whether converted traces are still what was published; ``quick`` reads manifests and footers only.

    >>> import etl2parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = etl2parquet.convert("examples/example.etl", folder.name)
    >>> etl2parquet.verify(folder.name).findings
    ()
    """
    found = json.loads(_native.verify(inputs(outputs), quick, None))
    findings = tuple(Problem(one["kind"], one["file"], one["reason"]) for one in found["findings"])
    return Verified(found["traces"], found["files"], found["bytes"], found["older"], findings)


@dataclass(frozen=True)
class ModuleSymbols:
    """A module that frames of stacks lie in, and what became of the search for its symbols: ``status`` is ``found`` or why not."""

    symbol_key: str | None
    file_name: str | None
    time_stamp: int | None
    image_size: int | None
    pdb_name: str | None
    pdb_guid: str | None
    pdb_age: int | None
    status: str
    reason: str | None
    path: str | None
    frames: int
    share: float
    addresses: int
    named: int


@dataclass(frozen=True)
class Symbols:
    """What was found of the symbols of a folder that holds traces: counts of frames, and its modules."""

    folder: str
    modules: tuple[ModuleSymbols, ...]
    frames: int
    in_methods: int
    in_modules: int
    named: int
    unknown: int
    left_out: int


def symbols(
    outputs: Path | Iterable[Path], *, symbol_path: str | None = None, min_share: float = 0.0, lines: bool = False
) -> tuple[Symbols, ...]:
    """Finds the functions that the frames of converted traces lie in, in the folders of a symbol path; without one in those of
    ``_NT_SYMBOL_PATH``. ``min_share`` is a part of all frames, from 0 to 1.

    >>> import etl2parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = etl2parquet.convert("examples/example.etl", folder.name)
    >>> etl2parquet.symbols(folder.name, symbol_path="symbols")[0].unknown
    0
    """
    path = os.environ.get("_NT_SYMBOL_PATH", "") if symbol_path is None else symbol_path
    found = json.loads(_native.symbols(inputs(outputs), path, min_share, lines, None))
    return tuple(Symbols(**{**one, "modules": tuple(ModuleSymbols(**row) for row in one["modules"])}) for one in found)


def views(traces: Path, *, spark: bool = False, single_events: bool = False) -> str:
    """The script of views over converted traces, for DuckDB or for Spark; ``single_events`` adds a view for each event."""
    return _native.views(traces, spark, single_events, None)

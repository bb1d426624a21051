"""Converted traces: whether they are whole, and the views over them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

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
class FrameTable:
    """A table of the frames of a trace beside it; ``is_new`` is false where it was there with the same bytes."""

    trace: str
    path: str
    rows: int
    is_new: bool


@dataclass(frozen=True)
class Symbols:
    """What was found of the symbols of a folder that holds traces: counts of frames, its modules, the tables of frames, and what kept
    servers from being asked."""

    folder: str
    modules: tuple[ModuleSymbols, ...]
    frames: int
    in_methods: int
    assemblies: tuple[ModuleSymbols, ...]
    in_modules: int
    named: int
    unknown: int
    left_out: int
    frame_tables: tuple[FrameTable, ...]
    troubles: tuple[str, ...]


def symbols(
    outputs: Path | Iterable[Path],
    *,
    symbol_path: str | None = None,
    min_share: float = 0.0,
    lines: bool = False,
    frames: bool = False,
) -> tuple[Symbols, ...]:
    """Finds the functions that the frames of converted traces lie in, in the folders and on the servers of a symbol path; without one in those of
    ``_NT_SYMBOL_PATH``. ``min_share`` is a part of all frames, from 0 to 1. With ``frames`` the frames of each trace are written beside it,
    for programs that run no views.

    >>> import etl2parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = etl2parquet.convert("examples/example.etl", folder.name)
    >>> found = etl2parquet.symbols(folder.name, symbol_path="symbols")[0]
    >>> found.frames, found.in_modules
    (221, 0)
    """
    path = os.environ.get("_NT_SYMBOL_PATH", "") if symbol_path is None else symbol_path
    found = json.loads(_native.symbols(inputs(outputs), path, min_share, lines, frames, None))

    def rows(one: dict[str, Any]) -> dict[str, Any]:
        tables = tuple(FrameTable(**table) for table in one["frame_tables"])
        modules, assemblies = (tuple(ModuleSymbols(**row) for row in one[of]) for of in ("modules", "assemblies"))
        return {**one, "modules": modules, "assemblies": assemblies, "frame_tables": tables, "troubles": tuple(one["troubles"])}

    return tuple(Symbols(**rows(one)) for one in found)


@dataclass(frozen=True)
class ComparedTrace:
    """A trace of a side; ``lost`` is what was lost for certain, ``unproven`` why nobody knows whether anything was; ``longest_ns`` is
    its length with what was lost at most, None where nothing bounds it."""

    trace: str
    length_ns: int
    longest_ns: int | None
    lost: str | None
    unproven: str | None


@dataclass(frozen=True)
class ComparedSide:
    """What the traces of a side have: by second the median, the smallest and the largest, all together, and the part of all names."""

    per_second: float
    lowest: float
    highest: float
    total: int
    share: float | None


@dataclass(frozen=True)
class ComparedRow:
    """A name on both sides; ``verdict`` is ``grew``, ``shrank``, ``same`` or ``unsure``, ``p`` that of the test of repeated traces."""

    name: str
    a: ComparedSide
    b: ComparedSide
    ratio: float | None
    verdict: str
    p: float | None
    because: str | None


@dataclass(frozen=True)
class ComparedMeasure:
    """A measure, with its rows, those with the largest difference first; ``not_compared`` says why there are none."""

    measure: str
    unit: str
    not_compared: str | None
    a: ComparedSide | None
    b: ComparedSide | None
    rows: tuple[ComparedRow, ...]
    small: int
    tested: int
    by_chance: float


@dataclass(frozen=True)
class Comparison:
    """Two sets of traces side by side."""

    by: str
    a: tuple[ComparedTrace, ...]
    b: tuple[ComparedTrace, ...]
    notes: tuple[str, ...]
    measures: tuple[ComparedMeasure, ...]


def _measure(found: dict[str, Any]) -> ComparedMeasure:
    def side(side: dict[str, Any] | None) -> ComparedSide | None:
        return None if side is None else ComparedSide(**side)

    rows = (ComparedRow(**{**row, "a": ComparedSide(**row["a"]), "b": ComparedSide(**row["b"])}) for row in found["rows"])
    return ComparedMeasure(**{**found, "a": side(found["a"]), "b": side(found["b"]), "rows": tuple(rows)})


def compare(
    a: Path | Iterable[Path], b: Path | Iterable[Path], *, by: str = "process", min_share: float = 0.01
) -> Comparison:
    """Sets converted traces, or folders with repeated ones, against each other ``by`` ``process``, ``function``, ``event``,
    ``provider`` or ``file``. ``min_share`` is a part of all, from 0 to 1.

    >>> import etl2parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> _ = etl2parquet.convert("examples/example.etl", folder.name)
    >>> {row.verdict for found in etl2parquet.compare(folder.name, folder.name).measures for row in found.rows}
    {'same'}
    """
    found = json.loads(_native.compare(inputs(a), inputs(b), by, min_share, None))
    of_a, of_b = (tuple(ComparedTrace(**trace) for trace in found[side]) for side in ("a", "b"))
    measures = tuple(_measure(one) for one in found["measures"])
    return Comparison(found["by"], of_a, of_b, tuple(found["notes"]), measures)


@dataclass(frozen=True)
class Variant:
    """One of the things that a column is in some traces: ``file`` is the first of them, ``files`` how many there are."""

    value: str
    file: str
    files: int


@dataclass(frozen=True)
class Mismatch:
    """Something in which traces do not agree, so that their rows stand in files side by side."""

    kind: str
    table: str
    subject: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class Compacted:
    """What came of a run that brought traces into a lake; ``traces``, ``files`` and ``bytes`` are those that it has now."""

    lake: str
    traces: int
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    forgotten: tuple[str, ...]
    files: int
    bytes: int
    written_files: int
    written_bytes: int
    removed_files: int
    mismatches: tuple[Mismatch, ...]
    warnings: tuple[str, ...]


def compact(
    outputs: Path | Iterable[Path],
    lake: Path,
    *,
    by: str | None = None,
    target_size: str | int | None = None,
    forget: Iterable[str] = (),
) -> Compacted:
    """Brings converted traces into a lake, one table per provider in few large files (docs/lake.md).

    ``by`` is ``day`` or ``none``, ``target_size`` where a file ends, in bytes or with a unit such as MiB; a lake that is there keeps its
    own. ``forget`` names traces that it is not to have any more.

    >>> import etl2parquet, tempfile
    >>> folder, lake = tempfile.TemporaryDirectory(), tempfile.TemporaryDirectory()
    >>> _ = etl2parquet.convert("examples/example.etl", folder.name)
    >>> etl2parquet.compact(folder.name, lake.name).added
    ('example',)
    >>> etl2parquet.sql(lake.name, "SELECT trace, count(*) FROM all_events GROUP BY ALL").fetchall()
    [('example', 1219)]
    """
    size = None if target_size is None else str(target_size)
    found = json.loads(_native.compact(inputs(outputs), lake, by, size, list(forget), None))
    found.pop("format")
    lists = {name: tuple(found[name]) for name in ("added", "replaced", "forgotten", "warnings")}
    mismatches = (Mismatch(**{**one, "variants": tuple(Variant(**variant) for variant in one["variants"])}) for one in found["mismatches"])
    return Compacted(**{**found, **lists, "mismatches": tuple(mismatches)})


def views(traces: Path, *, spark: bool = False, single_events: bool = False, event_messages: bool = False) -> str:
    """The script of views over converted traces, for DuckDB or for Spark; ``single_events`` adds a view for each event,
    ``event_messages`` the view of that name, of what events say in words."""
    return _native.views(traces, spark, single_events, event_messages, None)

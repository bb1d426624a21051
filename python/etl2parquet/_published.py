"""Converted traces: whether they are whole, and the views over them."""

from __future__ import annotations

import json
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


def views(traces: Path, *, spark: bool = False, single_events: bool = False) -> str:
    """The script of views over converted traces, for DuckDB or for Spark; ``single_events`` adds a view for each event."""
    return _native.views(traces, spark, single_events, None)

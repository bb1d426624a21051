"""What can be asked of converted traces: the document of ``describe --json``, as frozen dataclasses.

docs/describe.md has its keys. None is what nobody knows, and what a document within its limit leaves out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import _native
from ._documents import of_json
from ._sql import Source, _converted

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ConvertOptions


@dataclass(frozen=True)
class LeftOut:
    """How much a document leaves out to stay within its limit."""

    traces: int
    datasets: int
    datasets_in_full: int
    columns: int
    events: int
    views_in_full: int
    common_columns: int


@dataclass(frozen=True)
class DescribedTrace:
    """A trace: its rows, and the times of its first and last event."""

    trace: str
    rows: int
    first_time_ns: int | None
    last_time_ns: int | None


@dataclass(frozen=True)
class DescribedTraces:
    """All traces, of which the first are ``named``. A machine counts in each trace that is of it."""

    count: int
    inputs: int
    machines: int
    first_time: str | None
    last_time: str | None
    first_time_ns: int | None
    last_time_ns: int | None
    named: tuple[DescribedTrace, ...]


@dataclass(frozen=True)
class EventCounts:
    """What became of events: those found are written, filtered or damaged."""

    found: int
    written: int
    filtered: int
    damaged: int
    damaged_bytes: int


@dataclass(frozen=True)
class KnownLoss:
    """What the recordings say they lost; None where none says it."""

    events_lost: int | None
    buffers_lost: int | None
    unknown_inputs: int


@dataclass(frozen=True)
class Column:
    """A column. ``type`` is None where the columns that views share have it."""

    name: str
    type: str | None
    unit: str | None
    meaning: str | None


@dataclass(frozen=True)
class EventRows:
    """Rows of the events of a name; None: of all without one."""

    event: str | None
    rows: int


@dataclass(frozen=True)
class DescribedDataset:
    """A dataset; ``view`` where its view is called otherwise. Without ``columns`` it is only named."""

    dataset: str
    view: str | None
    rows: int
    traces: int
    columns: tuple[Column, ...] | None
    events: tuple[EventRows, ...] | None


@dataclass(frozen=True)
class View:
    """An answer. ``traces`` and ``events`` are those that it can be made of, where it is a question."""

    view: str
    answerable: bool
    traces: int | None
    events: int | None
    meaning: str | None
    needed: str | None
    columns: tuple[Column, ...] | None


@dataclass(frozen=True)
class SidecarTable:
    """A table beside the events."""

    view: str
    rows: int


@dataclass(frozen=True)
class Description:
    """What can be asked of traces, and what is left out of it."""

    format: int
    limit_bytes: int | None
    left_out: LeftOut
    traces: DescribedTraces
    events: EventCounts
    loss: KnownLoss
    common_columns: tuple[Column, ...]
    datasets: tuple[DescribedDataset, ...]
    view_columns: tuple[Column, ...]
    views: tuple[View, ...]
    sidecar: tuple[SidecarTable, ...]


def describe(source: Source, *, full: bool = False, **options: Unpack[ConvertOptions]) -> Description:
    """What can be asked of a trace, or of the traces of a folder: datasets, columns, views, counts and losses; as much as the 20 kB of
    ``etl2parquet describe --json`` have room for, or all of it with ``full``. What is not converted is, into a temporary folder,
    with ``options`` as :func:`convert` takes them.

    >>> import etl2parquet
    >>> described = etl2parquet.describe("examples/example.etl", full=True)
    >>> described.events.written
    1219
    >>> [view.view for view in described.views if view.answerable][:3]
    ['cpu_intervals', 'waits', 'cpu_samples']
    """
    traces, folder = _converted(source, options)
    try:
        return of_json(Description, json.loads(_native.describe(traces, full, None)))
    finally:
        if folder is not None:
            folder.cleanup()

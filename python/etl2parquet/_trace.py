"""Opened traces, and their rows."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from . import _native
from ._arguments import Path, Time, absolute, arguments
from ._documents import Answer, Clock, Dataset, Document, Loss, Process, Session, of_json
from ._progress import teller

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from typing_extensions import Unpack

    from ._options import OpenOptions, RowOptions
    from ._progress import Told


class Rows:
    """Rows of a trace, read anew by whoever asks for them: an Arrow stream, without a copy and without files between.

    Whatever takes Arrow takes it: ``polars.DataFrame``, ``pyarrow.table``, ``pyarrow.RecordBatchReader.from_stream``,
    ``duckdb.from_arrow``. (``polars.from_arrow`` makes a series of structures of a stream.)
    """

    def __init__(self, native: _native.Rows, what: str) -> None:
        self._native = native
        self._what = what

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()

    @property
    def columns(self) -> dict[str, str]:
        """The columns, each with its type as Arrow calls it."""
        return dict(self._native.columns())

    def to_arrow(self) -> pyarrow.Table:
        """All rows as a table of pyarrow."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """All rows as a data frame of polars."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self) -> pandas.DataFrame:
        """All rows as a data frame of pandas, through pyarrow."""
        return self.to_arrow().to_pandas()

    def __repr__(self) -> str:
        return f"<Rows of {self._what}: {len(self.columns)} columns>"


class Trace:
    """A trace: what is known of it, and its rows. :func:`open` makes it.

    >>> import etl2parquet
    >>> trace = etl2parquet.open("examples/example.etl")
    >>> trace.session.logger_name
    'etl2parquet example'
    >>> trace.losses[0].events_lost
    3
    >>> [answer.question for answer in trace.answers if answer.answerable][:3]
    ['processes', 'threads', 'images']
    """

    def __init__(self, path: Path, options: Mapping[str, object], told: Told | None) -> None:
        # Who changes the working folder meanwhile still reads the same file.
        self._path = absolute(path)
        self._options = dict(options)
        self._document: Document | None = None
        with teller(told) as tell:
            self._native = _native.open(self._path, arguments(options), tell)

    @property
    def name(self) -> str:
        """What it is called."""
        return self._native.name()

    @property
    def folder(self) -> str | None:
        """Where it is, if it is converted."""
        return self._native.folder()

    @property
    def document(self) -> Document:
        """All that is known of it, as ``inspect --json`` has it."""
        if self._document is None:
            self._document = of_json(Document, json.loads(self._native.document()))
        return self._document

    @property
    def session(self) -> Session:
        """The session of its first input."""
        return self.document.files[0].session

    @property
    def clock(self) -> Clock:
        """The clock of its first input."""
        return self.document.files[0].clock

    @property
    def losses(self) -> tuple[Loss, ...]:
        """What each input lost."""
        return tuple(one.loss for one in self.document.files)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """What can be asked of it, and what to record for the rest."""
        return self.document.answers

    @property
    def processes(self) -> tuple[Process, ...]:
        """Its processes: the first 256; the table ``processes`` has all."""
        return self.document.processes

    @property
    def datasets(self) -> dict[str, Dataset]:
        """Its datasets by name, those with most events first."""
        return {dataset.dataset: dataset for dataset in self.document.providers}

    @property
    def tables(self) -> list[str]:
        """The names of the tables that :meth:`table` gives."""
        return self._native.tables()

    def events(
        self,
        dataset: str,
        *,
        select: Iterable[str] | None = None,
        start: Time | None = None,
        end: Time | None = None,
        **filters: Unpack[RowOptions],
    ) -> Rows:
        """The rows of a dataset, in the order of their times: those that all filters pass, with all columns or those of ``select``.

        Filters mean what they mean on the command line: ``event``, ``pid``, ``tid``, ``cpu``, ``level``, ``keywords``; ``start``
        is the first time that passes, ``end`` the first that does not.

        >>> import etl2parquet
        >>> trace = etl2parquet.open("examples/example.etl")
        >>> rows = trace.events("Kernel-Thread", select=["timestamp_ns", "NewThreadId"], event="Thread/CSwitch", cpu=1)
        >>> rows.columns
        {'timestamp_ns': 'Int64', 'NewThreadId': 'Int64'}
        >>> rows.to_arrow().num_rows
        118
        """
        given = arguments({"start": start, "end": end, **filters})
        columns = None if select is None else list(select)
        return Rows(self._native.events(dataset, columns, given), f"{self.name}/{dataset}")

    def table(self, name: str) -> Rows:
        """The rows of a table about the trace, such as ``processes``, ``lost_events`` or ``catalog``: :attr:`tables` lists them.

        >>> import etl2parquet
        >>> etl2parquet.open("examples/example.etl").table("processes").to_arrow().num_rows
        8
        """
        return Rows(self._native.table(name), f"{self.name}/{name}")

    def __getitem__(self, dataset: str) -> Rows:
        """All rows of a dataset."""
        return self.events(dataset)

    def _ipython_key_completions_(self) -> list[str]:
        return [name for name, _, _ in self._native.datasets()]

    def __reduce__(self) -> tuple[Callable[..., Trace], tuple[Path, dict[str, object], None]]:
        # Another process opens it again.
        return Trace, (self._path, self._options, None)

    def __repr__(self) -> str:
        datasets = self._native.datasets()
        events = sum(count for _, _, count in datasets)
        return f"<Trace {self.name}: {events:,} events in {len(datasets)} datasets>"

    def _repr_html_(self) -> str:
        document, session = self.document, self.session
        lost = "; ".join(_lost(loss) for loss in self.losses)
        head = [
            ("Time", f"{document.time.first_time or 'unknown'} to {document.time.last_time or 'unknown'}"),
            ("Session", f"{session.logger_name or 'without a name'}, Windows {session.os_version}.{session.os_build}"),
            ("Events", f"{document.events:,}, of which {document.decodable_events:,} can be decoded"),
            ("Lost", lost),
            *(("Note", note) for note in document.notable),
        ]
        rows = "".join(
            f"<tr><td>{html.escape(one.dataset)}</td><td style='text-align:right'>{one.events:,}</td>"
            f"<td>{html.escape(', '.join(top.event for top in one.top_events[:3]))}</td></tr>"
            for one in document.providers
        )
        facts = "".join(f"<tr><th style='text-align:left'>{what}</th><td>{html.escape(text)}</td></tr>" for what, text in head)
        return (
            f"<h3>{html.escape(self.name)}</h3><table>{facts}</table>"
            f"<table><tr><th>Dataset</th><th>Events</th><th>Most of them</th></tr>{rows}</table>"
        )


def _lost(loss: Loss) -> str:
    if loss.events_lost is None and loss.buffers_lost is None:
        return f"unknown: {loss.unknown_because}"
    known = f"{_count(loss.events_lost)} events, {_count(loss.buffers_lost)} buffers"
    return f"{known}; whether more is unknown: {loss.unknown_because}" if loss.unknown_because else known


def _count(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,}"


def open(path: Path, *, progress: Told | None = None, **options: Unpack[OpenOptions]) -> Trace:
    """Opens a trace: an ``.etl`` file, a packed one, a member of an archive (``lab.zip!/boot.etl``), or a converted one (``trace=…``).

    Nothing is written. ``options`` are those of the command line that decide about columns, schemas, threads and memory, with
    ``_`` for ``-``; a converted trace takes none. ``progress`` is True for a bar of tqdm, or is called with a :class:`Progress`.

    >>> import etl2parquet
    >>> etl2parquet.open("examples/example.etl")
    <Trace example: 1,219 events in 10 datasets>
    >>> etl2parquet.open("Cargo.toml")
    Traceback (most recent call last):
    etl2parquet._errors.InputError: Cargo.toml, offset 0x0: expected an ETL file, found something else
    """
    return Trace(path, options, progress)


def inspect(path: Path, **options: Unpack[OpenOptions]) -> Document:
    """What is known of a trace, as ``inspect --json`` has it, without a look at its stacks.

    >>> import etl2parquet
    >>> etl2parquet.inspect("examples/example.etl").time.first_time
    '2026-03-02T09:00:00.000000000Z'
    """
    given: dict[str, object] = dict(options)
    document = _native.open(path, arguments(given if _native.is_published(path) else {"stacks": "keep", **given}), None).document()
    return of_json(Document, json.loads(document))

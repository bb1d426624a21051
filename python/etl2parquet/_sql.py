"""Questions in SQL, answered by DuckDB with all views at hand, and the page that answers them at once."""

from __future__ import annotations

import glob
import os
import tempfile
import weakref
from typing import TYPE_CHECKING, Literal, Union

from . import _native
from ._arguments import Path, Time, arguments
from ._errors import RefusedError, UsageError
from ._runs import convert, write
from ._trace import Trace

if TYPE_CHECKING:
    import duckdb
    from typing_extensions import Unpack

    from ._options import ConvertOptions, RowOptions

#: A trace, converted or not, opened or by its path, a folder with traces, or a lake.
Source = Union[Trace, Path]


def connect(
    source: Source, *, single_events: bool = False, event_messages: bool = False, **options: Unpack[ConvertOptions]
) -> duckdb.DuckDBPyConnection:
    """A connection of DuckDB with all views over a trace, or over the traces of a folder; ``single_events`` adds a view for each event,
    ``event_messages`` the view of that name, of what events say in words.

    What is not converted is converted into a temporary folder, with ``options`` as :func:`convert` takes them; the folder goes with
    the connection. Views are described in docs/views.md.

    >>> import etl2parquet
    >>> connection = etl2parquet.connect("examples/example.etl")
    >>> connection.sql("SELECT count(*) FROM all_events").fetchall()
    [(1219,)]
    """
    return _connected(source, None, (single_events, event_messages), options)


def sql(source: Source, query: str, **options: Unpack[ConvertOptions]) -> duckdb.DuckDBPyRelation:
    """The answer to a question, as a relation of DuckDB; the same as :func:`connect` and ``.sql(query)``, with fewer views to load.

    >>> import etl2parquet
    >>> etl2parquet.sql("examples/example.etl", "SELECT provider, count(*) FROM all_events GROUP BY ALL ORDER BY 2 DESC LIMIT 2").fetchall()
    [('Kernel-Thread', 484), ('Kernel-PerfInfo', 221)]
    """
    connection = _connected(source, query, (False, False), options)
    relation = connection.sql(query)
    # What the relation reads lies there for as long as it does.
    weakref.finalize(relation, lambda kept: None, connection)
    return relation


def report(source: Trace | Path, page: Path | None = None, **options: Unpack[ConvertOptions]) -> str:
    """The page about a trace, as HTML: who used CPU, disk and network, what waited and failed, what was lost (docs/report.md).

    ``page`` names a file that gets it. A trace that is not converted is, into a temporary folder, with ``options``.

    >>> import etl2parquet
    >>> etl2parquet.report("examples/example.etl")[:15]
    '<!DOCTYPE html>'
    """
    traces, folder = _converted(source, options)
    try:
        [trace] = [traces] if folder is None else glob.glob(os.path.join(glob.escape(folder.name), "trace=*"))
        text = _native.report(trace, None)
    finally:
        if folder is not None:
            folder.cleanup()
    if page is not None:
        write(page, text)
    return text


#: What :func:`export` writes.
ExportFormat = Literal["folded", "speedscope", "pprof", "firefox", "pcapng", "timeline", "timeline-jsonl", "perfetto"]


def export(
    source: Trace | Path,
    format: ExportFormat,
    out: Path,
    *,
    of: Literal["samples", "waits"] = "samples",
    packets: Literal["once", "all", "events"] = "once",
    fields: Literal["event", "ecs", "ocsf"] = "event",
    start: Time | None = None,
    end: Time | None = None,
    **filters: Unpack[RowOptions],
) -> list[str]:
    """Writes a trace into a file for a viewer (docs/export.md); what is not in it, a sentence each.

    Filters are those of :meth:`Trace.events`. A trace that is not converted is, as a whole, into a temporary folder. Where the trace
    has nothing for the format, or no event passes the filters, that is a :class:`RefusedError`, and there is no file.

    >>> import etl2parquet, os, tempfile
    >>> file = os.path.join(tempfile.mkdtemp(), "waits.folded")
    >>> etl2parquet.export("examples/example.etl", "folded", file, of="waits")
    []
    """
    given = arguments({"start": start, "end": end, **filters})
    # Packets of any events are made of their payloads, as they were recorded.
    traces, folder = _converted(source, {}, {"raw": "always"} if packets == "events" else {})
    try:
        found = [traces] if folder is None else glob.glob(os.path.join(glob.escape(folder.name), "trace=*"))
        if len(found) != 1:
            raise UsageError(f"expected one trace, found {len(found)}")
        events, warnings = _native.export_trace(found[0], (format, of, packets, fields), out, given, None)
    finally:
        if folder is not None:
            folder.cleanup()
    if not events:
        raise RefusedError(f"the trace has no event for {format} that passes the filters")
    return warnings


def _connected(source: Source, query: str | None, more: tuple[bool, bool], options: ConvertOptions) -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect()
    traces, folder = _converted(source, options)
    if folder is not None:
        weakref.finalize(connection, folder.cleanup)
    connection.execute(_native.views(traces, False, *more, query))
    return connection


def _converted(
    source: Source, options: ConvertOptions, needed: ConvertOptions = {}
) -> tuple[Path, tempfile.TemporaryDirectory[str] | None]:
    """Where the converted traces are, and the temporary folder that they were converted into, if they were.

    What is ``needed`` decides about a trace that is not converted, before the caller's options.
    """
    path: Path
    if isinstance(source, Trace):
        path, options = source.folder or source._path, {**source._options, **options}  # type: ignore[typeddict-item]
    else:
        path = source
    if _native.is_published(path) or _native.is_lake(path):
        if options:
            raise UsageError("the traces are converted, and options decide nothing about them any more")
        return path, None
    folder = tempfile.TemporaryDirectory(prefix="etl2parquet-")
    try:
        asked: ConvertOptions = {**options, **needed}
        convert(path, folder.name, **asked)
    except BaseException:
        folder.cleanup()
        raise
    return folder.name, folder

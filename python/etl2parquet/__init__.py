"""Windows ETW traces (.etl) as Arrow, Parquet and SQL tables, on any operating system.

Open a trace, converted or not, and give its rows to whatever takes Arrow:

>>> import etl2parquet
>>> trace = etl2parquet.open("examples/example.etl")
>>> trace.datasets["Kernel-DiskIo"].events
160
>>> import polars
>>> polars.DataFrame(trace.events("Kernel-DiskIo", select=["timestamp", "TransferSize"])).shape
(160, 2)

``convert`` writes Parquet datasets, ``sql`` and ``connect`` ask DuckDB, with all views at hand. Failures are subclasses of
:class:`Error`; what a run says goes to the logger ``etl2parquet``.
"""

import logging as _logging

from . import schema
from ._description import (
    Column,
    DescribedDataset,
    DescribedTrace,
    DescribedTraces,
    Description,
    EventCounts,
    EventRows,
    KnownLoss,
    LeftOut,
    SidecarTable,
    View,
    describe,
)
from ._documents import (
    Answer,
    Clock,
    Dataset,
    Document,
    Finding,
    Input,
    Loss,
    LostEvents,
    NamedEvents,
    Process,
    Session,
    Stream,
    TimeRange,
)
from ._errors import BusyError, Error, InputError, InternalError, Interrupted, OutputError, RefusedError, UsageError
from ._published import (
    Compacted,
    ComparedMeasure,
    ComparedRow,
    ComparedSide,
    ComparedTrace,
    Comparison,
    FrameTable,
    Mismatch,
    ModuleSymbols,
    Problem,
    Symbols,
    Variant,
    Verified,
    compact,
    compare,
    symbols,
    verify,
    views,
)
from ._runs import Committed, Plan, Progress, Summary, TraceSummary, commit, convert, convert_partition, plan
from ._sql import connect, export, report, sql
from ._trace import Rows, Trace, inspect, open

# Who wants to hear of it sets a handler.
_logging.getLogger("etl2parquet").addHandler(_logging.NullHandler())

__all__ = [
    "Answer",
    "BusyError",
    "Clock",
    "Column",
    "Committed",
    "Compacted",
    "ComparedMeasure",
    "ComparedRow",
    "ComparedSide",
    "ComparedTrace",
    "Comparison",
    "Dataset",
    "DescribedDataset",
    "DescribedTrace",
    "DescribedTraces",
    "Description",
    "Document",
    "Error",
    "EventCounts",
    "EventRows",
    "Finding",
    "FrameTable",
    "Input",
    "InputError",
    "InternalError",
    "Interrupted",
    "KnownLoss",
    "LeftOut",
    "Loss",
    "LostEvents",
    "Mismatch",
    "ModuleSymbols",
    "NamedEvents",
    "OutputError",
    "Plan",
    "Problem",
    "Process",
    "Progress",
    "RefusedError",
    "Rows",
    "Session",
    "SidecarTable",
    "Stream",
    "Summary",
    "Symbols",
    "TimeRange",
    "Trace",
    "TraceSummary",
    "UsageError",
    "Variant",
    "Verified",
    "View",
    "commit",
    "compact",
    "compare",
    "connect",
    "convert",
    "convert_partition",
    "describe",
    "export",
    "inspect",
    "open",
    "plan",
    "report",
    "schema",
    "sql",
    "symbols",
    "verify",
    "views",
]

"""Conversions: whole, and in steps that several processes share."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from . import _native
from ._arguments import Path, Time, arguments, inputs
from ._progress import Progress, Told, teller

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import ConvertOptions, StepOptions

__all__ = ["Committed", "Plan", "Progress", "Summary", "TraceSummary", "commit", "convert", "convert_partition", "plan"]


@dataclass(frozen=True)
class TraceSummary:
    """What became of a trace: ``status`` is a word of docs/summary.md, ``result`` what was found and written, as there."""

    trace: str
    status: str
    reason: str | None
    result: Mapping[str, Any] | None

    @property
    def folder(self) -> str | None:
        """Where it was written."""
        return None if self.result is None else str(self.result["folder"])


@dataclass(frozen=True)
class Summary:
    """What came of a run. ``document`` is all of it, as ``convert --summary`` writes it and docs/summary.md describes it."""

    exit_code: int
    output: str
    traces: tuple[TraceSummary, ...]
    errors: tuple[str, ...]
    document: Mapping[str, Any]

    def __getitem__(self, trace: str) -> TraceSummary:
        """The summary of a trace, by its name."""
        for one in self.traces:
            if one.trace == trace:
                return one
        raise KeyError(trace)


def convert(
    given: Path | Iterable[Path],
    out: Path,
    *,
    progress: Told | None = None,
    summary: Path | None = None,
    metrics: Path | None = None,
    start: Time | None = None,
    end: Time | None = None,
    **options: Unpack[ConvertOptions],
) -> Summary:
    """Writes traces as Parquet datasets, one folder ``trace=NAME`` each below ``out``.

    ``options`` are those of ``etl2parquet convert``, with ``_`` for ``-``; flags are True, lists are lists. ``start`` and ``end``
    are ``--from`` and ``--to``. ``progress`` is True for a bar of tqdm, or is called with a :class:`Progress`. ``summary`` and
    ``metrics`` name files that get the summary as JSON and metrics for Prometheus.

    A run that ended well, or with damaged traces or inputs in quarantine among others, gives back its summary. One that failed
    raises the :class:`Error` of its kind, whose ``summary`` says what became of each trace.

    >>> import etl2parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> summary = etl2parquet.convert("examples/example.etl", folder.name, provider=["Kernel-*"])
    >>> summary["example"].status, summary["example"].result["events"]["written"]
    ('published', 937)
    """
    asked = arguments({"start": start, "end": end, **options})
    with teller(progress) as tell:
        _, text, exposition, failure = _native.convert(inputs(given), out, asked, tell)
    made = summary_of(json.loads(text))
    for path, content in ((summary, text), (metrics, exposition)):
        if path is not None:
            write(path, content)
    if failure is not None:
        failure.summary = made  # type: ignore[attr-defined]
        raise failure
    return made


def summary_of(document: dict[str, Any]) -> Summary:
    """The summary that a document is."""
    traces = tuple(
        TraceSummary(one["trace"], one["status"], one["reason"], one["result"]) for one in document["traces"]
    )
    return Summary(document["exit_code"], document["output"], traces, tuple(document["errors"]), document)


def write(path: Path, text: str) -> None:
    """Writes a file that is whole or not there."""
    handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(path)), prefix=".etl2parquet-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


@dataclass(frozen=True)
class Plan:
    """A trace that was planned: its partitions 0 to ``partitions`` - 1 can be converted by anybody who sees ``folder`` and the
    inputs. ``folder`` is None of a trace that needs no work, or of which a stretch was surveyed; ``status`` says why.
    """

    trace: str
    folder: str | None
    partitions: int
    status: str


@dataclass(frozen=True)
class Committed:
    """What came of a commit: the folder of the trace, if there is one, and ``published``, ``already_committed``, ``empty`` or
    ``skipped``.
    """

    folder: str | None
    status: str


def plan(
    given: Path | Iterable[Path],
    out: Path,
    *,
    progress: Told | None = None,
    start: Time | None = None,
    end: Time | None = None,
    stretch: tuple[int, int] | None = None,
    **options: Unpack[ConvertOptions],
) -> list[Plan]:
    """Surveys and plans traces, for several processes to convert.

    ``stretch=(3, 8)`` surveys the fourth of eight stretches of the inputs ahead, and no more: several processes do so at a time, and a
    call without it need not read those stretches then.

    >>> import etl2parquet, tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> [planned] = etl2parquet.plan("examples/example.etl", folder.name)
    >>> [etl2parquet.convert_partition(planned.folder, number) for number in range(planned.partitions)]
    [1219]
    >>> etl2parquet.commit(planned.folder).status
    'published'
    """
    with teller(progress) as tell:
        asked = arguments({"start": start, "end": end, **options})
        planned = _native.plan(inputs(given), out, asked, stretch, tell)
    return [Plan(trace, folder, partitions, status) for trace, folder, partitions, status in planned]


def convert_partition(
    plan: Path, number: int, *, progress: Told | None = None, **options: Unpack[StepOptions]
) -> int | None:
    """Converts a partition of a plan; gives back the rows written, None where it was converted before."""
    with teller(progress) as tell:
        return _native.convert_partition(plan, number, arguments(options), tell)


def commit(plan: Path, *, progress: Told | None = None, **options: Unpack[StepOptions]) -> Committed:
    """Publishes the trace of a plan, all partitions of which are converted."""
    with teller(progress) as tell:
        folder, status = _native.commit(plan, arguments(options), tell)
    return Committed(folder, status)

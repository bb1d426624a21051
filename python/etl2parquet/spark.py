"""Traces in Spark 4: conversions whose tasks are Spark's, and rows as a data source.

>>> import etl2parquet.spark  # doctest: +SKIP
>>> summary = etl2parquet.spark.convert(spark, "traces", "lake")  # doctest: +SKIP
>>> etl2parquet.spark.register(spark)  # doctest: +SKIP
>>> spark.read.format("etl").option("dataset", "Kernel-Process").load("traces/boot.etl")  # doctest: +SKIP

Workers have to have this package, and to see inputs and output under the same paths or addresses. ``docs/spark.md`` is the page about it.
"""

from __future__ import annotations

import json
import os
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from . import _native
from ._arguments import Path, Time, arguments, inputs, is_address
from ._errors import BusyError, Error, InputError, InternalError, OutputError, RefusedError, UsageError
from ._runs import Summary, summary_of

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession
    from typing_extensions import Unpack

    from ._options import ConvertOptions

__all__ = ["convert", "register"]

#: Bytes from which on a trace is converted in several tasks; it has as many partitions as its plan says.
LARGE = 5 << 28

#: Bytes of a stretch of a large trace that a task surveys, and how many stretches a trace has at most.
STRETCH = 1 << 32
STRETCHES = 1000

#: How often a task looks whether another one that writes the same trace has ended, in seconds.
LOOK = 0.5

#: Options of a step; those of a conversion have decided all else.
OF_STEP = {name for call, name, *_ in _native.all_options() if call == "step"}

#: The exit codes of failures.
CODES: list[tuple[type[Error], int]] = [(UsageError, 2), (InputError, 3), (RefusedError, 5), (OutputError, 6), (BusyError, 8), (InternalError, 1)]


@dataclass(frozen=True)
class _Run:
    """What all tasks of a run have in common."""

    out: str
    #: As the native part takes them.
    arguments: list[tuple[str, str]]
    beside: list[tuple[str, Any]]


@dataclass(frozen=True)
class _Job:
    """A trace that is to be converted: its name, what it is made of, its bytes."""

    name: str
    recording: str
    bytes: int

    @property
    def stretches(self) -> int:
        """How many tasks survey it, where it is large."""
        return min(-(-self.bytes // STRETCH), STRETCHES)


def convert(
    spark: SparkSession,
    given: Path | Iterable[Path],
    out: Path,
    *,
    start: Time | None = None,
    end: Time | None = None,
    **options: Unpack[ConvertOptions],
) -> Summary:
    """Converts traces as :func:`etl2parquet.convert` does, to the same files, with a task of Spark for each trace; one of 1.25 GiB and more
    has a task for every 4 GiB that surveys them, one that plans it, and one for each partition. The traces are published by tasks, large
    ones by the driver.

    Tasks may fail, be repeated, and run twice at a time. ``threads`` and ``memory`` are those of one task (``threads`` without it:
    ``spark.task.cpus``).
    """
    folder = os.fsdecode(out)
    folder = folder if is_address(folder) else os.path.abspath(folder)
    asked = arguments({"start": start, "end": end, **options})
    named = {name for name, _ in asked}
    if "threads" not in named:
        asked.append(("threads", str(spark.conf.get("spark.task.cpus", "1"))))
    if "run_id" not in named:
        asked.append(("run_id", f"spark-{uuid.uuid4()}"))
    has_lock = "schema_lock" not in named and os.path.exists(os.path.join(folder, "schema.lock"))
    found, beside, (code, text) = _native.recordings(inputs(given), folder, asked, None)
    run = _Run(folder, asked, beside)
    jobs = [_Job(*job) for job in found]
    is_dry = ("dry_run", "true") in asked

    whole = _together([job for job in jobs if is_dry or job.bytes < LARGE])
    large = [job for job in jobs if not (is_dry or job.bytes < LARGE)]
    shared = [job for job in large if job.stretches > 1]
    alone = [job for job in large if job.stretches == 1]
    plan = {job.name: partial(_plan, _for_jobs(run, [job]), job.recording) for job in large}
    work = [partial(_convert, _for_jobs(run, some), [job.recording for job in some]) for some in whole]
    work += [plan[job.name] for job in alone]
    work += [partial(_survey, run, job.recording, (number, job.stretches)) for job in shared for number in range(job.stretches)]
    came = _in_tasks(spark, work)
    planned = list(zip(alone, came[len(whole) :])) + list(zip(shared, _in_tasks(spark, [plan[job.name] for job in shared])))
    ends = came[: len(whole)] + [end for _, end in planned if "plan" not in end]
    ends += _convert_planned(spark, run, [(job, end) for job, end in planned if "plan" in end])

    document = _merged(json.loads(text), code, ends)
    if has_lock and not is_dry:
        _native.extend_lock(folder, [one["trace"] for one in document["traces"] if one["status"] in ("published", "skipped")])
    made = summary_of(document)
    if made.exit_code not in (0, 4):
        failure = _native.failure(made.exit_code, next(iter(made.errors), None))
        failure.summary = made  # type: ignore[attr-defined]
        raise failure
    return made


def _together(jobs: list[_Job]) -> list[list[_Job]]:
    """Each trace alone, but those of one archive together: it is unpacked once."""
    groups: dict[str, list[_Job]] = {}
    for job in jobs:
        first = json.loads(job.recording)["inputs"][0][0]
        archive, _, member = first.partition("!/") if isinstance(first, str) else ("", "", "")
        groups.setdefault(archive if member else job.name, []).append(job)
    return list(groups.values())


def _for_jobs(run: _Run, jobs: list[_Job]) -> _Run:
    """A trace that is not there when the run begins was published by it, if a task that is repeated finds it."""
    policy = dict(run.arguments).get("if_exists", "error")
    if policy != "error" or any(_is_there(run.out, job.name) for job in jobs):
        return run
    return replace(run, arguments=[pair for pair in run.arguments if pair[0] != "if_exists"] + [("if_exists", "skip")])


def _is_there(out: str, trace: str) -> bool:
    """Whether an output folder has a trace."""
    if is_address(out):
        return _native.is_published(f"{out.rstrip('/')}/trace={trace}")
    return os.path.exists(os.path.join(out, f"trace={trace}"))


def _in_tasks(spark: SparkSession, work: list[partial[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Does each piece of work in a task of its own; gives back what came of them, in their order."""
    if not work:
        return []

    def each(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        for batch in batches:
            for number in batch.column(0).to_pylist():
                yield pyarrow.RecordBatch.from_pylist([{"number": number, "came": json.dumps(work[number]())}])

    rows = spark.range(0, len(work), 1, len(work)).mapInArrow(each, "number long, came string").collect()
    return [json.loads(row.came) for row in sorted(rows, key=lambda row: row.number)]


def _until_free(attempt: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Another task may write the same trace: if it succeeds, this one finds the trace there; if it is killed, its turn comes."""
    while True:
        done = attempt()
        is_busy = any(trace["status"] == "busy" for trace in json.loads(done[1])["traces"])
        if not is_busy and getattr(done[3], "code", None) != "output_locked":
            return done
        time.sleep(LOOK)


def _convert(run: _Run, recordings: list[str]) -> dict[str, Any]:
    code, text, *_ = _until_free(lambda: _native.convert_recordings(recordings, run.beside, run.out, run.arguments, None))
    return {"code": code, "document": json.loads(text)}


def _plan(run: _Run, recording: str) -> dict[str, Any]:
    planned: list[tuple[str, int]] = []

    def attempt() -> tuple[Any, ...]:
        plan, ended = _native.plan_recording(recording, run.beside, run.out, run.arguments, None)
        planned[:] = [] if plan is None else [plan]
        return ended

    code, text, *_ = _until_free(attempt)
    end: dict[str, Any] = {"code": code, "document": json.loads(text)}
    for folder, partitions in planned:
        end |= {"plan": folder, "partitions": partitions}
    return end


def _survey(run: _Run, recording: str, stretch: tuple[int, int]) -> dict[str, Any]:
    try:
        _native.survey_recording(recording, run.beside, run.out, run.arguments, stretch, None)
    except Error:
        # What is wrong the plan says, which surveys itself what is missing.
        return {"surveyed": False}
    return {"surveyed": True}


def _convert_part(run: _Run, plan: str, number: int) -> dict[str, Any]:
    step = [pair for pair in run.arguments if pair[0] in OF_STEP]
    try:
        return {"rows": _native.convert_partition(plan, number, step, None)}
    except Error as error:
        return {"code": next(code for of, code in CODES if isinstance(error, of)), "error": str(error)}


def _convert_planned(spark: SparkSession, run: _Run, planned: list[tuple[_Job, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Converts the partitions of traces that are planned, and publishes those that are whole."""
    parts = [(job, end["plan"], number) for job, end in planned for number in range(end["partitions"])]
    done = _in_tasks(spark, [partial(_convert_part, run, plan, number) for _, plan, number in parts])
    failed = {job.name: part for (job, *_), part in zip(parts, done) if "error" in part}
    came = []
    for job, end in planned:
        if job.name in failed:
            code, error = failed[job.name]["code"], failed[job.name]["error"]
            trace = {"trace": job.name, "status": "failed", "reason": error, "result": None}
            came.append({"code": code, "document": {"traces": [trace], "errors": [error], "quarantined": [], "input_bytes": 0, "output_bytes": 0}})
        else:
            # What becomes of a trace that is there already, the plan has decided.
            code, text, *_ = _native.commit_recording(job.recording, end["plan"], run.out, run.arguments, None)
            came.append({"code": code, "document": json.loads(text)})
    return came


def _merged(document: dict[str, Any], code: int, ends: list[dict[str, Any]]) -> dict[str, Any]:
    """The summary of the run, from that of the driver, which has begun no trace, and those of all tasks."""
    documents = [end["document"] for end in ends]
    traces = {trace["trace"]: trace for one in documents for trace in one["traces"]}
    document["traces"] = [traces.get(trace["trace"], trace) for trace in document["traces"]]
    for end in document["inputs"]:
        end["status"] = traces[end["trace"]]["status"] if end["trace"] in traces else end["status"]
    for one in documents:
        for key in ("errors", "quarantined", "input_bytes", "output_bytes"):
            document[key] += one[key]
    codes = [end["code"] for end in ends if any(trace["status"] != "empty" for trace in end["document"]["traces"])]
    document["exit_code"] = _gravest([code, *codes], [trace["status"] for trace in document["traces"]])
    return document


def _gravest(codes: list[int], statuses: Iterable[str]) -> int:
    """The exit code of a run with these ends, as the program gives it: of several, the gravest."""
    readable = [status for status in statuses if status not in ("quarantined", "failed")]
    for grave in (1, 6, 5):
        if grave in codes:
            return grave
    if readable and set(readable) == {"empty"}:
        return 5
    for grave in (2, 8):
        if grave in codes:
            return grave
    if 3 in codes and not readable:
        return 3
    return 4 if 3 in codes or 4 in codes else 0


def register(spark: SparkSession) -> None:
    """Makes traces a data source, ``spark.read.format("etl").option("dataset", …).load(path)``: a dataset of a trace, or of all traces that
    the path leads to, with the name of each in the column ``trace``.

    Options are those of :func:`etl2parquet.open`, the filters of ``Trace.events`` and ``select``, with commas for several values.
    """
    from ._spark_source import EtlDataSource

    spark.dataSource.register(EtlDataSource)

"""Rows of traces as a data source of Spark: a partition for each trace, and for each partition of a large one, whose rows its task streams."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from . import _native, spark
from ._arguments import arguments, inputs
from ._errors import InputError, UsageError
from ._trace import Trace
from ._trace import open as open_trace

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

#: The column with the name of the trace, which the rows of converted traces have in Spark, too.
TRACE = "trace"

#: Files of a plan that are about one of its partitions end with its number.
OF_PART = re.compile(r"-(\d{5})$")


@dataclass(frozen=True)
class Part:
    """A partition of a large trace, with what of its plan a task needs: the folder of the plan is gone by then."""

    trace: str
    number: int
    columns: frozenset[str]
    files: dict[str, bytes]

    def unpack(self, folder: str) -> None:
        """Writes the plan into a folder."""
        for name, content in self.files.items():
            with open(os.path.join(folder, name), "wb") as file:
                file.write(content)


class EtlDataSource(DataSource):
    """``spark.read.format("etl").option("dataset", …).load(path)``; options are those of ``etl2parquet.open`` and ``Trace.events``."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        known = {call: {name for of, name, *_ in _native.all_options() if of == call} for call in ("open", "rows")}
        given = {name.lower(): value for name, value in options.items()}
        self.path, self.dataset, self.columns = given.pop("path", None), given.pop("dataset", None), given.pop("select", None)
        self.partition_bytes = given.pop("partition_bytes", None)
        self.of_open = {name: value for name, value in given.items() if name in known["open"]}
        self.of_rows = {name: value for name, value in given.items() if name in known["rows"]}
        for name in given.keys() - self.of_open.keys() - self.of_rows.keys():
            raise UsageError(f"expected an option of etl2parquet.open or of Trace.events, found {name}")

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "etl"

    def found(self) -> tuple[list[tuple[str, str, int]], list[tuple[str, Any]]]:
        """The traces that the path leads to: the name of each, what it is made of, its bytes; and the schemas beside them."""
        if self.path is None:
            raise UsageError('expected a path: spark.read.format("etl").option("dataset", …).load("T.etl")')
        found, beside, (code, text) = _native.recordings(inputs(self.path), tempfile.gettempdir(), [], None)
        if code in (2, 3):
            raise InputError("; ".join(json.loads(text)["errors"]) or f"{self.path}: there is no trace")
        return found, beside

    def traces(self) -> list[str]:
        """The paths of the traces."""
        return [path for _, recording, _ in self.found()[0] for path, *_ in json.loads(recording)["inputs"]]

    def opened(self, path: str) -> Trace:
        """A trace, opened with the options; by one thread, for there are as many tasks as Spark has processors for."""
        return open_trace(path, **{"threads": "1", **self.of_open})  # type: ignore[arg-type]

    def schema(self) -> StructType:
        """The columns that the dataset has in all traces together, and the name of the trace."""
        if self.dataset is None:
            raise UsageError('expected a dataset: option("dataset", "Kernel-Process")')
        schemas, there = [], set()
        for trace in map(self.opened, self.traces()):
            there |= set(trace.datasets)
            if self.dataset in trace.datasets:
                schemas.append(pyarrow.schema(trace[self.dataset]))
        if not schemas:
            listed = ", ".join(sorted(there)[:20])
            raise UsageError(f"no trace has a dataset {self.dataset}: there are {listed}")
        schema = pyarrow.unify_schemas(schemas)
        if len(schemas) > 1:
            schema = pyarrow.schema([field.with_nullable(any(one.get_field_index(field.name) < 0 or one.field(field.name).nullable for one in schemas)) for field in schema])
        if self.columns is not None:
            names = [name.strip() for name in self.columns.split(",")]
            for name in names:
                if name not in schema.names:
                    raise UsageError(f"{self.dataset} has no column {name}: there are {', '.join(schema.names)}")
            schema = pyarrow.schema([schema.field(name) for name in names])
        if TRACE not in schema.names:
            schema = schema.append(pyarrow.field(TRACE, pyarrow.string(), nullable=False))
        return from_arrow_schema(schema, prefer_timestamp_ntz=True)

    def of_step(self) -> list[tuple[str, str]]:
        """The options that a step has, besides its threads."""
        return [(name, value) for name, value in self.of_open.items() if name in spark.OF_STEP and name != "threads"]

    def planned(self, name: str, recording: str, beside: list[tuple[str, Any]]) -> list[Part]:
        """The partitions of a trace; none of one that has nothing of the dataset."""
        with tempfile.TemporaryDirectory(prefix="etl2parquet-") as folder:
            asked = arguments({**self.of_open, **self.of_rows, "partition_bytes": self.partition_bytes})
            plan, _ = _native.plan_recording(recording, beside, folder, asked, None)
            if plan is None:
                return []
            try:
                columns = _native.part_rows(plan[0], 0, str(self.dataset), None, []).columns()
            except UsageError:
                return []
            common: dict[str, bytes] = {}
            of_part: dict[int, dict[str, bytes]] = {number: {} for number in range(plan[1])}
            for file in os.scandir(plan[0]):
                if file.is_file() and not file.name.startswith("survey"):
                    number = OF_PART.search(file.name)
                    with open(file.path, "rb") as content:
                        (common if number is None else of_part[int(number[1])])[file.name] = content.read()
        has = frozenset(column for column, _ in columns)
        return [Part(name, number, has, common | files) for number, files in of_part.items()]

    def reader(self, schema: StructType) -> DataSourceReader:
        """The rows."""
        return _Reader(self, schema)


class _Reader(DataSourceReader):
    """Has no ``pushFilters``: Spark 4.3 keeps what that has left out for the next query of the same data frame, which then lacks rows.

    Filters are options.
    """

    def __init__(self, source: EtlDataSource, schema: StructType) -> None:
        self.source, self.schema = source, schema

    def partitions(self) -> list[InputPartition]:
        found, beside = self.source.found()
        parts = []
        for name, recording, size in found:
            [[path, *_]] = json.loads(recording)["inputs"]
            planned = self.source.planned(name, recording, beside) if self.source.partition_bytes or size >= spark.LARGE else []
            parts += [InputPartition(part) for part in planned or [path]]
        return parts

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        dataset = str(self.source.dataset)
        wanted = to_arrow_schema(self.schema, timezone="UTC")
        if isinstance(partition.value, Part):
            part = partition.value
            with tempfile.TemporaryDirectory(prefix="etl2parquet-") as folder:
                part.unpack(folder)
                arguments = [("threads", self.source.of_open.get("threads", "1")), *self.source.of_step()]
                select = [name for name in wanted.names if name in part.columns]
                yield from _batches(_native.part_rows(folder, part.number, dataset, select, arguments), wanted, part.trace)
            return
        trace = self.source.opened(partition.value)
        if dataset in trace.datasets:
            has = set(trace[dataset].columns)
            rows = trace.events(dataset, select=[name for name in wanted.names if name in has], **self.source.of_rows)
            yield from _batches(rows, wanted, trace.name)


def _batches(rows: object, wanted: pyarrow.Schema, trace: str) -> Iterator[pyarrow.RecordBatch]:
    for batch in pyarrow.RecordBatchReader.from_stream(rows):
        yield pyarrow.RecordBatch.from_arrays([_column(batch, field, trace) for field in wanted], schema=wanted)


def _column(batch: pyarrow.RecordBatch, field: pyarrow.Field, trace: str) -> pyarrow.Array:
    """A column of the type that Spark expects, down to whether the elements of its lists may be NULL."""
    if field.name in batch.schema.names:
        return batch.column(field.name).cast(field.type)
    if field.name == TRACE:
        return pyarrow.repeat(pyarrow.scalar(trace, field.type), batch.num_rows)
    return pyarrow.nulls(batch.num_rows, field.type)

"""Rows of traces as a data source of Spark: a partition for each trace, which its task opens and streams."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow
from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from . import _native
from ._arguments import inputs
from ._errors import InputError, UsageError
from ._trace import Trace
from ._trace import open as open_trace

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

#: The column with the name of the trace, which the rows of converted traces have in Spark, too.
TRACE = "trace"


class EtlDataSource(DataSource):
    """``spark.read.format("etl").option("dataset", …).load(path)``; options are those of ``etl2parquet.open`` and ``Trace.events``."""

    def __init__(self, options: dict[str, str]) -> None:
        super().__init__(options)
        known = {call: {name for of, name, *_ in _native.all_options() if of == call} for call in ("open", "rows")}
        given = {name.lower(): value for name, value in options.items()}
        self.path, self.dataset, self.columns = given.pop("path", None), given.pop("dataset", None), given.pop("select", None)
        self.of_open = {name: value for name, value in given.items() if name in known["open"]}
        self.of_rows = {name: value for name, value in given.items() if name in known["rows"]}
        for name in given.keys() - self.of_open.keys() - self.of_rows.keys():
            raise UsageError(f"expected an option of etl2parquet.open or of Trace.events, found {name}")

    @classmethod
    def name(cls) -> str:
        """The name of the format."""
        return "etl"

    def traces(self) -> list[str]:
        """The paths of the traces that the path leads to."""
        if self.path is None:
            raise UsageError('expected a path: spark.read.format("etl").option("dataset", …).load("T.etl")')
        found, _, (code, text) = _native.recordings(inputs(self.path), tempfile.gettempdir(), [], None)
        if code in (2, 3):
            raise InputError("; ".join(json.loads(text)["errors"]) or f"{self.path}: there is no trace")
        return [path for _, recording, _ in found for path, *_ in json.loads(recording)["inputs"]]

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
        return [InputPartition(path) for path in self.source.traces()]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        trace, dataset = self.source.opened(partition.value), self.source.dataset
        wanted = to_arrow_schema(self.schema, timezone="UTC")
        if dataset not in trace.datasets:
            return
        has = set(trace[dataset].columns)
        rows = trace.events(dataset, select=[name for name in wanted.names if name in has], **self.source.of_rows)
        for batch in pyarrow.RecordBatchReader.from_stream(rows):
            yield pyarrow.RecordBatch.from_arrays([_column(batch, field, trace.name) for field in wanted], schema=wanted)


def _column(batch: pyarrow.RecordBatch, field: pyarrow.Field, trace: str) -> pyarrow.Array:
    """A column of the type that Spark expects, down to whether the elements of its lists may be NULL."""
    if field.name in batch.schema.names:
        return batch.column(field.name).cast(field.type)
    if field.name == TRACE:
        return pyarrow.repeat(pyarrow.scalar(trace, field.type), batch.num_rows)
    return pyarrow.nulls(batch.num_rows, field.type)

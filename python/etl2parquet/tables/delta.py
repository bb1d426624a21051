"""A lake as tables of Delta, in a folder.

>>> import etl2parquet, tempfile
>>> from etl2parquet.tables import delta
>>> folder = tempfile.TemporaryDirectory()
>>> out, lake, tables = (f"{folder.name}/{name}" for name in ("out", "lake", "tables"))
>>> _ = etl2parquet.convert("examples/example.etl", out)
>>> _ = etl2parquet.compact(out, lake)
>>> [change.table for change in delta.sync(lake, tables).commits][-1]
'sidecar/traces'
>>> _ = etl2parquet.compact((), lake, forget=["example"])
>>> synced = delta.sync(lake, tables)
>>> synced.removed, synced.commits[0].table
(('example',), 'sidecar/traces')
>>> import deltalake
>>> deltalake.DeltaTable(f"{tables}/sidecar/traces").count(), deltalake.DeltaTable(f"{tables}/sidecar/traces", version=1).count()
(0, 1)
"""

from __future__ import annotations

import datetime
import json
import math
import os
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .._arguments import Path
from . import _files, _lake, _schema, _sync, _views
from ._lake import LakeFile, LakeTrace
from ._sync import Change, Synced
from ._views import Engine

if TYPE_CHECKING:
    import deltalake
    import pyarrow

__all__ = ["sync", "views"]

#: Properties of tables. What another program vacuums with its own default would be what time travel needs.
PROPERTIES = {"delta.deletedFileRetentionDuration": "interval 36500 days", "delta.logRetentionDuration": "interval 36500 days"}


def sync(lake: Path, out: Path, *, keep: datetime.timedelta | None = None) -> Synced:
    """Brings the tables ``out/events/<dataset>`` and ``out/sidecar/<table>`` to what a lake holds: what is new, replaced and gone since
    the last time, in one commit for each table, and in one of its own before it where a table gets new columns.

    Files are hard links to those of the lake where ``out`` is in the same file system, else copies. With ``keep`` files that no version of
    the last so many hours has are removed (rounded up to whole hours); without it all stay, and with them all versions.
    """
    return _sync.sync(lake, _DeltaTables(os.path.abspath(os.fsdecode(out))), keep)


def views(out: Path, *, engine: Engine = "duckdb") -> str:
    """The script of views over the tables, for DuckDB with its extension ``delta``, or for Spark: of each table the rows of the traces that
    the table ``traces`` has."""
    tables = _DeltaTables(os.path.abspath(os.fsdecode(out)))

    def source(table: str) -> str:
        folder = tables.folder(table)
        return f"delta_scan({_views.literal(folder)})" if engine == "duckdb" else f"delta.{_views.quoted(folder, engine)}"

    return _views.script(tables.tables(), source, engine)


class _DeltaTables:
    """The tables in a folder."""

    def __init__(self, out: str) -> None:
        self.out = out

    def folder(self, table: str) -> str:
        return os.path.join(self.out, table.partition("/")[0], _files.table_name(table))

    def opened(self, table: str) -> deltalake.DeltaTable | None:
        import deltalake

        folder = self.folder(table)
        return deltalake.DeltaTable(folder) if deltalake.DeltaTable.is_deltatable(folder) else None

    def tables(self) -> list[str]:
        import deltalake

        found = []
        for part in ("events", "sidecar"):
            folder = os.path.join(self.out, part)
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
                if deltalake.DeltaTable.is_deltatable(os.path.join(folder, name)):
                    table = deltalake.DeltaTable(os.path.join(folder, name)).metadata().name or ""
                    found += [table] if self.folder(table) == os.path.join(folder, name) else []
        return found

    def schema(self, table: str) -> pyarrow.Schema:
        import pyarrow

        opened = self.opened(table)
        return pyarrow.schema([]) if opened is None else _schema.portable(pyarrow.schema(opened.schema().to_arrow()), table)

    def files(self, table: str) -> Collection[str]:
        opened = self.opened(table)
        return [] if opened is None else [path.rpartition("/")[2] for path, _ in _paths(opened)]

    def place(self, table: str, file: LakeFile) -> None:
        _files.place(file.path, os.path.join(self.folder(table), "data"), file.name)

    def commit(self, change: Change) -> None:
        import deltalake
        import pyarrow
        from deltalake.transaction import AddAction, CommitProperties, PostCommitHookProperties, RemoveAction

        # What another run commits meanwhile is no reason to try again, but to fail.
        alone = CommitProperties(max_commit_retries=0)
        all_versions = PostCommitHookProperties(cleanup_expired_logs=False)
        now = int(time.time() * 1000)
        with _one_at_a_time(change.table):
            opened = self.opened(change.table)
            if opened is None:
                opened = deltalake.DeltaTable.create(self.folder(change.table), change.schema, name=change.table, configuration=PROPERTIES)
            elif change.new_columns:
                # A transaction with files drops columns that the table lacks.
                columns = [field for field in change.schema if field.name in change.new_columns]
                fields = deltalake.Schema.from_arrow(pyarrow.schema(columns)).fields
                opened.alter.add_columns(fields, commit_properties=alone, post_commithook_properties=all_versions)
            has = {path.rpartition("/")[2]: (path, size) for path, size in _paths(opened)}
            change.check(has)
            actions: list[AddAction | RemoveAction] = []
            for file in change.added:
                actions.append(AddAction(f"data/{file.name}", file.bytes, {}, now, True, _statistics(file)))
            for name in sorted(change.removed):
                path, size = has[name]
                actions.append(RemoveAction(path, True, now, size, {}))
            if actions:
                opened.create_write_transaction(
                    actions, "append", opened.schema(), commit_properties=alone, post_commithook_properties=all_versions
                )

    def traces(self) -> Mapping[str, LakeTrace]:
        opened = self.opened(_lake.TRACES)
        rows = [] if opened is None else opened.to_pyarrow_table(columns=["trace", "manifest_sha256", "day"]).to_pylist()
        return {row["trace"]: LakeTrace(**row) for row in rows}

    def expire(self, before: datetime.datetime) -> None:
        kept = datetime.datetime.now(datetime.timezone.utc) - before
        for table in self.tables():
            opened = self.opened(table)
            if opened is not None:
                opened.vacuum(math.ceil(kept.total_seconds() / 3600 - 1e-3), dry_run=False, enforce_retention_duration=False, full=True)


def _paths(opened: deltalake.DeltaTable) -> list[tuple[str, int]]:
    """The paths and lengths of the files of a table."""
    import pyarrow

    actions = pyarrow.table(opened.get_add_actions(flatten=True))
    return list(zip(actions["path"].to_pylist(), actions["size_bytes"].to_pylist()))


def _statistics(file: LakeFile) -> str:
    """What engines skip files by."""
    bounds = {"minValues": {"trace": file.first_trace}, "maxValues": {"trace": file.last_trace}}
    return json.dumps({"numRecords": file.rows, **bounds, "nullCount": {"trace": 0}})


@contextmanager
def _one_at_a_time(table: str) -> Iterator[None]:
    from deltalake.exceptions import CommitFailedError

    try:
        yield
    except CommitFailedError as error:
        raise _sync.busy(table) from error

"""The order in which tables are brought to what a lake holds, whatever kind of tables they are."""

from __future__ import annotations

import datetime
import hashlib
import logging
import os
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from .._arguments import Path
from .._errors import BusyError, InternalError
from . import _lake, _schema
from ._lake import TRACES, LakeFile, LakeTrace

if TYPE_CHECKING:
    import pyarrow

LOG = logging.getLogger("etl2parquet")


@dataclass(frozen=True)
class TableChange:
    """What one commit did to a table, ``events/<dataset>`` or ``sidecar/<table>``: files that came and went, and columns that it had not."""

    table: str
    added_files: int
    removed_files: int
    new_columns: tuple[str, ...]


@dataclass(frozen=True)
class Synced:
    """What came of bringing tables to a lake: traces, by name, and the commits, in their order."""

    added: tuple[str, ...]
    replaced: tuple[str, ...]
    removed: tuple[str, ...]
    commits: tuple[TableChange, ...]


@dataclass(frozen=True)
class Change:
    """What a commit is to do: the columns that a table is to have, the files that come and go, and those that it consists of before."""

    table: str
    schema: pyarrow.Schema
    added: tuple[LakeFile, ...]
    removed: frozenset[str]
    before: frozenset[str]
    new_columns: tuple[str, ...]

    def check(self, found: Collection[str]) -> None:
        """Holds the files of the table that is about to be changed against those that it had."""
        if set(found) != self.before:
            raise busy(self.table)


def busy(table: str) -> BusyError:
    """Another run has changed a table meanwhile. What is to be done to it is another thing now."""
    return BusyError(f"another run has changed the table {table}", code="table_busy", hint="have one run at a time; run it again")


class Tables(Protocol):
    """Tables of one kind. They are called as the lake calls them, and their files by the names that those have in the lake."""

    def tables(self) -> Collection[str]:
        """Those that there are."""

    def schema(self, table: str) -> pyarrow.Schema:
        """The columns of a table; none where there is no such table."""

    def files(self, table: str) -> Collection[str]:
        """The files that the table consists of now."""

    def place(self, table: str, file: LakeFile) -> None:
        """Puts a file where the table has its files. It is none of the table's until a commit names it."""

    def commit(self, change: Change) -> None:
        """Makes the table if it is not there, gives it the columns, and exchanges files, all at once. One that consists of other files than
        were planned with is busy."""

    def traces(self) -> Mapping[str, LakeTrace]:
        """What the table of the traces has."""

    def expire(self, before: datetime.datetime) -> None:
        """Forgets states that no reader has seen as the latest one since a time, and the files that those alone need."""


def sync(lake: Path, tables: Tables, keep: datetime.timedelta | None) -> Synced:
    """Brings tables to what a lake holds.

    The table of the traces is the switch: a trace is in it only while every table has all its rows, as they are in the lake. So what goes
    or is replaced leaves it before any other table changes, and what comes enters it when all others have changed. A run that ends between
    two commits leaves just that, and the next one goes on from what it finds.
    """
    holds = _lake.read(lake)
    known = tables.traces()
    of_traces = frozenset(tables.files(TRACES))
    unchanged = {name: trace for name, trace in known.items() if holds.traces.get(name) == trace}
    there = set(tables.tables())
    changes = [change for table in sorted((there | set(holds.tables)) - {TRACES}) if (change := _change(tables, table, holds.tables.get(table, ())))]
    # From here on the lake may change: the files have names of their own.
    for change in changes:
        for file in change.added:
            tables.place(change.table, file)
    commits = []
    if len(unchanged) < len(known):
        commits += _commit_traces(tables, unchanged, of_traces)
        of_traces = frozenset(tables.files(TRACES))
    for change in changes:
        commits.append(_commit(tables, change))
    commits += _commit_traces(tables, holds.traces, of_traces)
    if keep is not None:
        tables.expire(datetime.datetime.now(datetime.timezone.utc) - keep)
    return Synced(
        tuple(sorted(set(holds.traces) - set(known))),
        tuple(sorted(name for name in set(holds.traces) & set(known) if name not in unchanged)),
        tuple(sorted(set(known) - set(holds.traces))),
        tuple(commits),
    )


def _change(tables: Tables, table: str, files: Collection[LakeFile]) -> Change | None:
    """What a table lacks and has too much, or None. Only footers of files that are new are read."""
    has = tables.files(table)
    new = [file for file in files if file.name not in has]
    before = tables.schema(table)
    after = _schema.united(before, _lake.schema_of(table, new), table)
    added = tuple(file for file in new if file.rows)
    removed = frozenset(has) - {file.name for file in files}
    columns = tuple(field.name for field in _schema.added(before, after))
    return Change(table, after, added, removed, frozenset(has), columns) if added or removed or columns else None


def _commit(tables: Tables, change: Change) -> TableChange:
    tables.commit(change)
    # A table that drops what it does not know would lose it for good: nobody would look again.
    lost = _schema.added(tables.schema(change.table), change.schema)
    if lost:
        raise InternalError(f"the table {change.table} has not got the column {lost[0].name} that was added to it", code="table_columns")
    LOG.info("%s: %d files added, %d removed", change.table, len(change.added), len(change.removed))
    return TableChange(change.table, len(change.added), len(change.removed), change.new_columns)


def _commit_traces(tables: Tables, traces: Mapping[str, LakeTrace], before: frozenset[str]) -> list[TableChange]:
    """Gives the table of the traces other rows: one file for all of them. Another run that has changed it since is noticed."""
    with tempfile.TemporaryDirectory() as folder:
        change = _change(tables, TRACES, [_traces_file(folder, traces)])
        if change is None:
            return []
        if change.before != before:
            raise busy(TRACES)
        for file in change.added:
            tables.place(TRACES, file)
        return [_commit(tables, change)]


def _traces_file(folder: str, traces: Mapping[str, LakeTrace]) -> LakeFile:
    import pyarrow
    import pyarrow.parquet

    columns = [pyarrow.field("trace", pyarrow.string(), False), pyarrow.field("day", pyarrow.string()), pyarrow.field("manifest_sha256", pyarrow.string())]
    rows = [{"trace": one.trace, "day": one.day, "manifest_sha256": one.manifest_sha256} for _, one in sorted(traces.items())]
    path = os.path.join(folder, "traces.parquet")
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows, pyarrow.schema(columns)), path)
    with open(path, "rb") as file:
        digits = hashlib.sha256(file.read()).hexdigest()[:16]
    first, last = (min(traces), max(traces)) if traces else ("", "")
    return LakeFile(path, f"traces-{digits}.parquet", len(rows), os.path.getsize(path), first, last)

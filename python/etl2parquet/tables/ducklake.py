"""A lake as tables of DuckLake, through a connection of DuckDB that has one attached.

>>> import duckdb
>>> from etl2parquet.tables import ducklake
>>> connection = duckdb.connect()  # doctest: +SKIP
>>> connection.execute("ATTACH 'ducklake:lab.ducklake' AS lab (DATA_PATH 'lab-files')")  # doctest: +SKIP
>>> ducklake.sync(connection, "lake", catalog="lab").added  # doctest: +SKIP
('example',)
"""

from __future__ import annotations

import datetime
import os
import uuid
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._arguments import Path
from .._errors import UsageError
from . import _files, _lake, _schema, _sync, _views
from ._lake import LakeFile, LakeTrace
from ._sync import Change, Synced
from ._views import literal, quoted

if TYPE_CHECKING:
    import duckdb
    import pyarrow

__all__ = ["sync", "views"]


def sync(connection: duckdb.DuckDBPyConnection, lake: Path, *, catalog: str, keep: datetime.timedelta | None = None) -> Synced:
    """Brings the tables ``<catalog>.events.<dataset>`` and ``<catalog>.sidecar.<table>`` to what a lake holds: what is new, replaced and
    gone since the last time, in one commit for each table.

    ``catalog`` is what the attached DuckLake is called; its DATA_PATH is a folder of this machine. Files there are hard links in the same
    file system, else copies, and DuckLake's own from then on. With ``keep`` snapshots that have not been the latest one for so long,
    and files that only they have, are removed; without it all stay.
    """
    return _sync.sync(lake, _DuckLakeTables(connection, catalog), keep)


def views(connection: duckdb.DuckDBPyConnection, *, catalog: str) -> str:
    """The script of views over the tables: of each the rows of the traces that the table ``traces`` has."""
    tables = _DuckLakeTables(connection, catalog)
    return _views.script(tables.tables(), tables.quoted, "duckdb")


class _DuckLakeTables:
    """The tables of an attached DuckLake."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, catalog: str) -> None:
        self.connection = connection
        self.catalog = catalog
        # Two files never have one path, also not where the second one has the same rows: DuckLake removes what it forgets by path.
        self.run = uuid.uuid4().hex[:12]

    def rows(self, query: str, *values: object) -> list[tuple[Any, ...]]:
        return self.connection.execute(query, list(values)).fetchall()

    def quoted(self, table: str) -> str:
        part, _, name = table.partition("/")
        return ".".join(map(quoted, (self.catalog, part, name)))

    def call(self, function: str, table: str, *values: str) -> str:
        """A call of a function of DuckLake's about a table."""
        part, _, name = table.partition("/")
        return f"{function}({', '.join(map(literal, (self.catalog, name, *values)))}, schema => {literal(part)}"

    def tables(self) -> list[str]:
        of_catalog = "FROM duckdb_tables() WHERE database_name = ? AND schema_name IN ('events', 'sidecar')"
        found = self.rows(f"SELECT schema_name || '/' || table_name {of_catalog}", self.catalog)
        return sorted(str(table) for (table,) in found)

    def schema(self, table: str) -> pyarrow.Schema:
        import pyarrow

        if table not in self.tables():
            return pyarrow.schema([])
        found: pyarrow.Table = self.connection.execute(f"FROM {self.quoted(table)} LIMIT 0").to_arrow_table()  # type: ignore[assignment, unused-ignore]
        return _schema.portable(found.schema, table)

    def paths(self, table: str) -> dict[str, str]:
        """The paths of files, by the names that they have in the lake."""
        if table not in self.tables():
            return {}
        found = self.rows(f"SELECT data_file FROM {self.call('ducklake_list_files', table)})")
        return {str(path).replace("\\", "/").rpartition("/")[2].partition("_")[2]: str(path) for (path,) in found}

    def files(self, table: str) -> Collection[str]:
        return self.paths(table)

    def folder(self, table: str) -> str:
        found = self.rows(f"SELECT value FROM ducklake_options({literal(self.catalog)}) WHERE option_name = 'data_path'")
        path = str(found[0][0]) if found else ""
        if not path or "://" in path:
            message = f"the files of the DuckLake {self.catalog} lie in {path or 'an unknown place'}"
            raise UsageError(message, hint="attach it with a folder of this machine as DATA_PATH")
        return os.path.join(os.path.abspath(path), table.partition("/")[0], _files.table_name(table))

    def place(self, table: str, file: LakeFile) -> None:
        _files.place(file.path, self.folder(table), f"{self.run}_{file.name}")

    def commit(self, change: Change) -> None:
        table = self.quoted(change.table)
        if change.table not in self.tables():
            self._create(change)
        with self._transaction(change.table):
            has = self.paths(change.table)
            change.check(has)
            self._add_columns(change)
            # Files of two runs do not exclude each other, but two changes of a comment do.
            self.rows(f"COMMENT ON TABLE {table} IS {literal(self.run)}")
            for name in sorted(change.removed):
                # All rows of a file: it is dropped, not rewritten.
                self.rows(f"DELETE FROM {table} WHERE filename = ?", has[name])
            for file in change.added:
                path = os.path.join(self.folder(change.table), f"{self.run}_{file.name}")
                self.rows(f"CALL {self.call('ducklake_add_data_files', change.table, path)}, allow_missing => true)")

    def _create(self, change: Change) -> None:
        part, _, name = change.table.partition("/")
        columns = ", ".join(f"{quoted(field.name)} {_sql_type(field.type)}{'' if field.nullable else ' NOT NULL'}" for field in change.schema)
        self.rows(f"CREATE SCHEMA IF NOT EXISTS {quoted(self.catalog)}.{quoted(part)}")
        self.rows(f"CREATE TABLE IF NOT EXISTS {self.quoted(change.table)} ({columns})")
        # Else a file of few rows that is deleted stays, with its rows marked in the catalogue.
        of_table = f"table_name => {literal(name)}, schema => {literal(part)}"
        self.rows(f"CALL ducklake_set_option({literal(self.catalog)}, 'data_inlining_row_limit', 0, {of_table})")

    def _add_columns(self, change: Change) -> None:
        before = self.schema(change.table)
        for field in _schema.added(before, change.schema):
            if field.name in before.names:
                message = f"column {field.name} of {change.table} has new members, which DuckLake cannot add: {field.type}"
                raise UsageError(message, code="table_type", hint="make the tables anew")
            self.rows(f"ALTER TABLE {self.quoted(change.table)} ADD COLUMN {quoted(field.name)} {_sql_type(field.type)}")

    @contextmanager
    def _transaction(self, table: str) -> Iterator[None]:
        import duckdb

        self.connection.begin()
        try:
            yield
            self.connection.commit()
        except BaseException as error:
            # A commit that failed has ended the transaction.
            try:
                self.connection.rollback()
            except duckdb.Error:
                pass
            if isinstance(error, duckdb.TransactionException):
                raise _sync.busy(table) from error
            raise

    def traces(self) -> Mapping[str, LakeTrace]:
        if _lake.TRACES not in self.tables():
            return {}
        rows = self.rows(f"SELECT trace, manifest_sha256, day FROM {self.quoted(_lake.TRACES)}")
        return {trace: LakeTrace(trace, sha256, day) for trace, sha256, day in rows}

    def expire(self, before: datetime.datetime) -> None:
        following = f"SELECT snapshot_id, lead(snapshot_time) OVER (ORDER BY snapshot_id) AS next FROM ducklake_snapshots({literal(self.catalog)})"
        old = self.rows(f"SELECT snapshot_id FROM ({following}) WHERE next < ?::TIMESTAMPTZ", before.isoformat())
        if old:
            self.rows(f"CALL ducklake_expire_snapshots({literal(self.catalog)}, versions => {[snapshot for (snapshot,) in old]})")
        self.rows(f"CALL ducklake_cleanup_old_files({literal(self.catalog)}, cleanup_all => true)")


def _sql_type(found: pyarrow.DataType) -> str:
    """The type of a column in DuckDB."""
    from pyarrow import types

    if types.is_list(found):
        return _sql_type(found.value_type) + "[]"
    if types.is_struct(found):
        return f"STRUCT({', '.join(f'{quoted(field.name)} {_sql_type(field.type)}' for field in found)})"
    names = {"string": "VARCHAR", "binary": "BLOB", "int32": "INTEGER", "int64": "BIGINT", "bool": "BOOLEAN", "double": "DOUBLE"}
    names |= {"timestamp[us, tz=UTC]": "TIMESTAMPTZ", "timestamp[us]": "TIMESTAMP"}
    return names[str(found)]

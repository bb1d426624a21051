"""A lake as tables of Iceberg, in any catalogue of pyiceberg.

>>> import etl2parquet, tempfile
>>> from etl2parquet.tables import iceberg
>>> from pyiceberg.catalog.sql import SqlCatalog
>>> folder = tempfile.TemporaryDirectory()
>>> out, lake = f"{folder.name}/out", f"{folder.name}/lake"
>>> catalog = SqlCatalog("lab", uri=f"sqlite:///{folder.name}/catalog.db", warehouse=f"file://{folder.name}/warehouse")
>>> _ = etl2parquet.convert("examples/example.etl", out)
>>> _ = etl2parquet.compact(out, lake)
>>> iceberg.sync(catalog, lake).added
('example',)
>>> catalog.load_table(("etl_events", "Kernel-DiskIo")).scan(row_filter="trace == 'example'").count()
160
"""

from __future__ import annotations

import datetime
import os
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlparse

from .._arguments import Path
from . import _files, _lake, _schema, _sync, _views
from ._lake import LakeFile, LakeTrace
from ._sync import Change, Synced
from ._views import Engine

if TYPE_CHECKING:
    import pyarrow
    from pyiceberg.catalog import Catalog
    from pyiceberg.manifest import DataFile
    from pyiceberg.table import Table

__all__ = ["sync", "views"]

#: The property that has what the lake calls a table.
OF_TABLE = "etl2parquet.table"

#: Properties of tables. The bounds of `trace` are those that files are skipped by: not cut.
PROPERTIES = {"format-version": "2", "write.metadata.metrics.column.trace": "full"}

#: By this property readers find columns in files that number none.
NAME_MAPPING = "schema.name-mapping.default"


def sync(catalog: Catalog, lake: Path, *, prefix: str = "etl_", keep: datetime.timedelta | None = None) -> Synced:
    """Brings the tables ``<prefix>events.<dataset>`` and ``<prefix>sidecar.<table>`` of a catalogue to what a lake holds: what is new,
    replaced and gone since the last time, in one commit for each table.

    Files get a second name below the table's location, which the catalogue decides: hard links on this machine in the same file system,
    else copies. With ``keep`` snapshots that have not been the latest one for so long are expired, and files that only they have are
    removed; without it all stay.
    """
    return _sync.sync(lake, _IcebergTables(catalog, prefix), keep)


def views(catalog: Catalog, *, prefix: str = "etl_", engine: Engine = "duckdb", name: str | None = None) -> str:
    """The script of views over the tables: of each the rows of the traces that the table ``traces`` has.

    ``name`` is what the catalogue is called where the script runs; Spark's is ``catalog.name`` without it. DuckDB, with its extension
    ``iceberg``, attaches only catalogues of some kinds: without ``name`` its views read the tables as they are now, whatever changes later.
    """
    tables = _IcebergTables(catalog, prefix)
    known = name or (catalog.name if engine == "spark" else None)

    def source(table: str) -> str:
        if known is not None:
            return ".".join(_views.quoted(part, engine) for part in (known, *tables.identifier(table)))
        return f"iceberg_scan({_views.literal(catalog.load_table(tables.identifier(table)).metadata_location)})"

    return _views.script(tables.tables(), source, engine)


class _IcebergTables:
    """The tables of a catalogue whose namespaces begin so."""

    def __init__(self, catalog: Catalog, prefix: str) -> None:
        self.catalog = catalog
        self.prefix = prefix

    def identifier(self, table: str) -> tuple[str, str]:
        return (self.prefix + table.partition("/")[0], _files.table_name(table))

    def opened(self, table: str) -> Table | None:
        from pyiceberg.exceptions import NoSuchTableError

        try:
            return self.catalog.load_table(self.identifier(table))
        except NoSuchTableError:
            return None

    def tables(self) -> list[str]:
        found = []
        for part in ("events", "sidecar"):
            if self.catalog.namespace_exists(self.prefix + part):
                for identifier in self.catalog.list_tables(self.prefix + part):
                    properties = self.catalog.load_table(identifier).properties
                    found += [properties[OF_TABLE]] if OF_TABLE in properties else []
        return sorted(found)

    def schema(self, table: str) -> pyarrow.Schema:
        import pyarrow

        opened = self.opened(table)
        return pyarrow.schema([]) if opened is None else _schema.portable(opened.schema().as_arrow(), table)

    def files(self, table: str) -> Collection[str]:
        opened = self.opened(table)
        return [] if opened is None else _data_files(opened)

    def place(self, table: str, file: LakeFile) -> None:
        opened = self.opened(table) or self._create(table, _lake.schema_of(table, [file]))
        address = _address(opened, file.name)
        local = _local(address)
        if local is not None:
            _files.place(file.path, os.path.dirname(local), file.name)
        elif not opened.io.new_input(address).exists():
            try:
                with open(file.path, "rb") as source, opened.io.new_output(address).create(overwrite=True) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
            except FileNotFoundError as error:
                raise _lake.changed(file.path) from error

    def _create(self, table: str, schema: pyarrow.Schema) -> Table:
        identifier = self.identifier(table)
        self.catalog.create_namespace_if_not_exists(identifier[0])
        return self.catalog.create_table(identifier, schema, properties={**PROPERTIES, OF_TABLE: table})

    def commit(self, change: Change) -> None:
        from pyiceberg.io.pyarrow import parquet_file_to_data_file

        opened = self.opened(change.table) or self._create(change.table, change.schema)
        has = _data_files(opened)
        change.check(has)
        with _one_at_a_time(change.table), opened.transaction() as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(change.schema)
            if transaction.table_metadata.name_mapping() is None:
                mapping = transaction.table_metadata.schema().name_mapping.model_dump_json()
                transaction.set_properties({NAME_MAPPING: mapping})
            if change.added or change.removed:
                with transaction.update_snapshot().overwrite() as snapshot:
                    for file in change.added:
                        address = _address(opened, file.name)
                        snapshot.append_data_file(parquet_file_to_data_file(opened.io, transaction.table_metadata, address))
                    for name in sorted(change.removed):
                        snapshot.delete_data_file(has[name])

    def traces(self) -> Mapping[str, LakeTrace]:
        opened = self.opened(_lake.TRACES)
        rows = [] if opened is None else opened.scan(selected_fields=("trace", "manifest_sha256", "day")).to_arrow().to_pylist()
        return {row["trace"]: LakeTrace(**row) for row in rows}

    def expire(self, before: datetime.datetime) -> None:
        for table in self.tables():
            opened = self.catalog.load_table(self.identifier(table))
            old = _expirable(opened, before)
            named = _named(opened)
            if old:
                with _one_at_a_time(table):
                    opened.maintenance.expire_snapshots().by_ids(old).commit()
            opened = self.catalog.load_table(self.identifier(table))
            kept = _named(opened)
            for address in sorted(named - kept):
                opened.io.delete(address)
            local = _local(_address(opened, ""))
            if local is not None:
                _files.sweep(local, {address.rpartition("/")[2] for address in kept}, before.timestamp())


def _data_files(opened: Table) -> dict[str, DataFile]:
    """The files that a table consists of now, by name."""
    return {task.file.file_path.rpartition("/")[2]: task.file for task in opened.scan().plan_files()}


def _address(opened: Table, name: str) -> str:
    return f"{opened.location().rstrip('/')}/data/{name}"


def _local(address: str) -> str | None:
    """The path of what lies on this machine."""
    parts = urlparse(address)
    if parts.scheme == "file":
        # As pyiceberg reads it: nothing is unquoted.
        return parts.path[1:] if os.path.isabs(parts.path[1:]) else parts.path
    return address if parts.scheme == "" or os.path.isabs(address) else None


def _expirable(opened: Table, before: datetime.datetime) -> list[int]:
    """Snapshots that another one followed before a time, and that no branch and no tag names."""
    snapshots = sorted(opened.snapshots(), key=lambda one: one.timestamp_ms)
    followed = {one.parent_snapshot_id: one.timestamp_ms for one in snapshots if one.parent_snapshot_id is not None}
    named = {reference.snapshot_id for reference in opened.refs().values()}
    limit = int(before.timestamp() * 1000)
    return [one.snapshot_id for one in snapshots if one.snapshot_id not in named and followed.get(one.snapshot_id, limit) < limit]


def _named(opened: Table) -> set[str]:
    """All files that the snapshots of a table name: lists of manifests, manifests, and data."""
    named: set[str] = set()
    for snapshot in opened.snapshots():
        named.add(snapshot.manifest_list)
        for manifest in snapshot.manifests(opened.io):
            if manifest.manifest_path not in named:
                named.add(manifest.manifest_path)
                named.update(entry.data_file.file_path for entry in manifest.fetch_manifest_entry(opened.io))
    return named


@contextmanager
def _one_at_a_time(table: str) -> Iterator[None]:
    from pyiceberg.exceptions import CommitFailedException, ValidationException

    try:
        yield
    except (CommitFailedException, ValidationException) as error:
        raise _sync.busy(table) from error

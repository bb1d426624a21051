"""Lakes as tables of Iceberg, Delta and DuckLake: ``iceberg``, ``delta`` and ``ducklake`` have ``sync``, which brings the tables to what a
lake of :func:`etl2parquet.compact` holds, and ``views``, the views to ask.

>>> import etl2parquet, tempfile
>>> from etl2parquet.tables import delta
>>> folder = tempfile.TemporaryDirectory()
>>> out, lake, tables = (f"{folder.name}/{name}" for name in ("out", "lake", "tables"))
>>> _ = etl2parquet.convert("examples/example.etl", out)
>>> _ = etl2parquet.compact(out, lake)
>>> delta.sync(lake, tables).added
('example',)
>>> import deltalake
>>> deltalake.DeltaTable(f"{tables}/events/Kernel-DiskIo").count()
160

A table is one provider's, or one of the sidecar's. A trace is in the views from the commit of the table ``traces`` on, which is the last
when a trace comes and the first when it goes. ``docs/tables.md`` is the page about it. The modules need ``pyiceberg``, ``deltalake`` or
``duckdb``, and ``pyarrow``: ``pip install etl2parquet[iceberg]`` and so on.
"""

from ._sync import Synced, TableChange

__all__ = ["Synced", "TableChange"]

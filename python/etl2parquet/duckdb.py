"""Traces as tables of DuckDB, by its extension, which this package contains.

>>> import etl2parquet.duckdb
>>> connection = etl2parquet.duckdb.load()
>>> connection.sql("SELECT count(*) FROM 'examples/example.etl'").fetchall()
[(1219,)]

The same file serves the program `duckdb` and other languages: :func:`path` says where it is. ``docs/duckdb.md`` is the page about what
SQL can do with it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Union

from ._errors import UsageError

if TYPE_CHECKING:
    import duckdb

#: What DuckDB is to be started with: the extension has no signature of DuckDB's.
CONFIG: dict[str, Union[str, bool, int, float, list[str]]] = {"allow_unsigned_extensions": "true"}


def path() -> str:
    """The file of the extension.

    >>> import etl2parquet.duckdb, os
    >>> os.path.basename(etl2parquet.duckdb.path())
    'etl2parquet.duckdb_extension'
    """
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "etl2parquet.duckdb_extension")
    if not os.path.exists(path):
        raise UsageError("this package was built without the DuckDB extension", hint="build it: python3 duckdb/pack.py, in a clone of the project")
    return path


def load(connection: Union[duckdb.DuckDBPyConnection, None] = None) -> duckdb.DuckDBPyConnection:
    """Loads the extension into the database of a connection, or into a new one in memory, and returns the connection.

    A database of your own is to be opened with ``duckdb.connect(…, config=etl2parquet.duckdb.CONFIG)``: what it loads cannot be
    allowed later.

    >>> import etl2parquet.duckdb
    >>> connection = etl2parquet.duckdb.load()
    >>> connection.sql("FROM etl_datasets('examples/example.etl') WHERE dataset = 'Kernel-DiskIo'").fetchall()
    [('Kernel-DiskIo', 'Kernel-DiskIo', 160)]
    """
    import duckdb

    if connection is None:
        connection = duckdb.connect(config=CONFIG)
    allowed = connection.execute("SELECT current_setting('allow_unsigned_extensions')").fetchone()
    if not allowed or not allowed[0]:
        raise UsageError(
            "the connection allows no extension without a signature of DuckDB's",
            hint="open it by duckdb.connect(…, config=etl2parquet.duckdb.CONFIG)",
        )
    connection.execute("LOAD '" + path().replace("'", "''") + "'")
    return connection

"""Views over tables: of each the rows of the traces that the table of the traces has."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from ._lake import TRACES

#: Who reads a script.
Engine = Literal["duckdb", "spark"]


def literal(text: str) -> str:
    """A text in SQL."""
    return "'" + text.replace("'", "''") + "'"


def quoted(name: str, engine: Engine = "duckdb") -> str:
    """A name in SQL."""
    return '"' + name.replace('"', '""') + '"' if engine == "duckdb" else "`" + name.replace("`", "``") + "`"


def script(tables: Collection[str], source: Callable[[str], str], engine: Engine) -> str:
    """A view for each table, called as the dataset or the table of the sidecar; a dataset that is called as such a table gets `events_`.

    >>> print(script(["events/Kernel-DiskIo", "sidecar/traces"], lambda table: quoted("lake") + "." + quoted(table), "duckdb"), end="")
    CREATE OR REPLACE VIEW "traces" AS SELECT * FROM "lake"."sidecar/traces";
    CREATE OR REPLACE VIEW "Kernel-DiskIo" AS SELECT * FROM "lake"."events/Kernel-DiskIo" WHERE trace IN (SELECT trace FROM "lake"."sidecar/traces");
    """
    if TRACES not in tables:
        return ""
    begin = "CREATE OR REPLACE VIEW" if engine == "duckdb" else "CREATE OR REPLACE TEMPORARY VIEW"
    traces = source(TRACES)
    of_sidecar = {table.partition("/")[2] for table in tables if table.startswith("sidecar/")}
    lines = [f"{begin} {quoted('traces', engine)} AS SELECT * FROM {traces};\n"]
    for table in sorted(set(tables) - {TRACES}):
        part, _, name = table.partition("/")
        view = quoted(f"events_{name}" if part == "events" and name.lower() in of_sidecar else name, engine)
        lines.append(f"{begin} {view} AS SELECT * FROM {source(table)} WHERE trace IN (SELECT trace FROM {traces});\n")
    return "".join(lines)

"""DuckDB over converted traces for whoever must not be trusted with more than reading them.

Several locks, each of which holds by itself for what it is about: DuckDB opens no file outside of the folders of the traces, loads no
extension and takes no setting; a question is one SELECT, so that nothing is written, attached or exported; and it runs in a
transaction that only reads, with bounds for its time, its rows and their bytes.
"""

from __future__ import annotations

import contextlib
import difflib
import json
import os
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from . import _native
from ._errors import UsageError

#: Semicolons at the end of a question, or in comments behind it, that are looked at.
SEMICOLONS = 4

#: Names that are suggested in the place of one that is not there.
SUGGESTED = 5

_MISSING_TABLE = re.compile(r'Table with name "?(.+?)"? does not exist')
_MISSING_COLUMN = re.compile(r'Referenced (?:column|table) "(.+?)" not found|does not have a column named "(.+?)"')


@dataclass(frozen=True)
class Limits:
    """What a question may take: rows and bytes of its answer, seconds."""

    rows: int = 1_000
    bytes: int = 100_000
    seconds: float = 30.0


@dataclass(frozen=True)
class Answer:
    """The rows of an answer; ``cut`` says why there are more, where there are."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[Any, ...], ...]
    cut: str | None


class ReadOnly:
    """A connection that has all views over some traces and that can do nothing but read these."""

    def __init__(self, traces: str, limits: Limits = Limits()) -> None:
        import duckdb

        path = os.path.abspath(traces)
        self.limits = limits
        # No setting of the user's comes in, and no variable of Python is a table.
        self._connection = duckdb.connect(config={"autoinstall_known_extensions": "false", "python_enable_replacements": "false"})
        # What answers a question, and can be interrupted.
        self._cursor: Any = None
        with contextlib.suppress(duckdb.Error):
            # Without the extension that knows time zones, times are in UTC anyway.
            self._connection.execute("SET GLOBAL TimeZone = 'UTC'")
        self._connection.execute(_native.views(path, False, True, True, None))
        self._lock(path)

    def _lock(self, path: str) -> None:
        folders = [path]
        if _is_one(path):
            folders.append(os.path.join(os.path.dirname(path), "symbols"))
        listed = ", ".join("'" + folder.replace("\\", "/").replace("'", "''") + "'" for folder in folders)
        for setting in [
            f"allowed_directories = [{listed}]",
            # What does not fit in memory fails: nothing is written on its behalf.
            "temp_directory = ''",
            "autoload_known_extensions = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ]:
            self._connection.execute(f"SET {setting}")

    def interrupt(self) -> None:
        """Ends what another thread asks."""
        if (cursor := self._cursor) is not None:
            _interrupt(cursor)

    def ask(self, question: str, rows: int | None = None) -> Answer:
        """The answer to a SELECT, of at most so many rows."""
        most = self.limits.rows if rows is None else max(0, min(rows, self.limits.rows))
        with self._asking() as cursor:
            select = _select(cursor, question)
            columns = _columns(cursor.sql(select))
            cursor.execute(f"SELECT to_json(COLUMNS(*)) FROM (\n{select}\n) LIMIT {most + 1}")
            return self._within(columns, cursor, most)

    def _within(self, columns: tuple[tuple[str, str], ...], cursor: Any, most: int) -> Answer:
        rows: list[tuple[Any, ...]] = []
        left = self.limits.bytes
        while row := cursor.fetchone():
            left -= sum(len(value.encode()) if value is not None else 4 for value in row) + len(row)
            if left < 0:
                reason = f"cut behind {len(rows)} rows: with the next one the answer has more than {self.limits.bytes} bytes"
                return Answer(columns, tuple(rows), reason)
            if len(rows) == most:
                return Answer(columns, tuple(rows), f"cut behind {most} rows: there are more")
            rows.append(tuple(None if value is None else json.loads(value, parse_constant=str) for value in row))
        return Answer(columns, tuple(rows), None)

    def plan(self, question: str) -> str:
        """How DuckDB would answer a SELECT, without asking it."""
        with self._asking() as cursor:
            found = cursor.execute("EXPLAIN " + _select(cursor, question)).fetchall()
        plan = "\n".join(text for _, text in found)
        kept = plan.encode()[: self.limits.bytes].decode(errors="ignore")
        return kept if kept == plan else f"{kept}\ncut: the plan has more than {self.limits.bytes} bytes"

    def columns(self, view: str) -> tuple[tuple[str, str], ...]:
        """Names and types of the columns of a view."""
        with self._asking() as cursor:
            quoted = '"' + view.replace('"', '""') + '"'
            return _columns(cursor.sql(f"FROM {quoted}"))

    def names(self) -> tuple[str, ...]:
        """The names of all views."""
        with self._asking() as cursor:
            found = cursor.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal ORDER BY 1").fetchall()
        return tuple(name for (name,) in found)

    def suggestions(self, reason: str) -> tuple[str, ...]:
        """Names that may have been meant, given why DuckDB refuses a question: of views, or of columns with their views."""
        if found := _MISSING_TABLE.search(reason):
            return close(found[1], self.names())
        if found := _MISSING_COLUMN.search(reason):
            with self._asking() as cursor:
                all_columns = cursor.execute(
                    "SELECT column_name, min(table_name) FROM duckdb_columns() WHERE NOT internal AND table_name NOT LIKE '%/%' GROUP BY ALL"
                ).fetchall()
            views = dict(all_columns)
            return tuple(f"{name} (of {views[name]})" for name in close(found[1] or found[2], tuple(views)))
        return ()

    @contextlib.contextmanager
    def _asking(self) -> Iterator[Any]:
        """A cursor in a transaction that only reads, for as long as a question may take."""
        with contextlib.closing(self._connection.cursor()) as cursor:
            timer = threading.Timer(self.limits.seconds, _interrupt, [cursor])
            timer.daemon = True
            cursor.execute("BEGIN TRANSACTION READ ONLY")
            self._cursor = cursor
            timer.start()
            try:
                yield cursor
            finally:
                timer.cancel()
                self._cursor = None


def _interrupt(cursor: Any) -> None:
    import duckdb

    # It may have its answer by now, and be closed.
    with contextlib.suppress(duckdb.Error):
        cursor.interrupt()


def _select(cursor: Any, question: str) -> str:
    """The one SELECT that a question is, without a semicolon at its end, so that it can stand in brackets."""
    kinds = _kinds(cursor, question)
    if kinds != ["SELECT"]:
        hint = "PIVOT stands behind FROM; nothing is changed here"
        raise UsageError(f"expected one SELECT, found {', '.join(kinds) or 'nothing'}", hint=hint)
    # Behind the last semicolon may be comments; one that is in a text, or in a comment, ends nothing.
    at = len(question)
    for _ in range(SEMICOLONS):
        at = question.rfind(";", 0, at)
        if at < 0:
            return question
        if _ends(cursor, question, at):
            return question[:at]
    return question


def _ends(cursor: Any, question: str, at: int) -> bool:
    import duckdb

    try:
        return _kinds(cursor, question[:at]) == ["SELECT"] and _kinds(cursor, question[at + 1 :]) == []
    except duckdb.Error:
        return False


def _kinds(cursor: Any, question: str) -> list[str]:
    return [statement.type.name for statement in cursor.extract_statements(question)]


def _columns(relation: Any) -> tuple[tuple[str, str], ...]:
    """Names and types of columns."""
    return tuple((name, str(kind).strip('"')) for name, kind in zip(relation.columns, relation.types))


def close(name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """Names that are like one, in whatever case, the most alike first."""
    by_folded = {one.casefold(): one for one in known}
    found = difflib.get_close_matches(name.casefold(), by_folded, SUGGESTED, 0.5)
    return tuple(by_folded[one] for one in found)


def _is_one(path: str) -> bool:
    """Whether a path is a trace, and no folder of traces."""
    return os.path.basename(path).startswith("trace=") or os.path.exists(os.path.join(path, "sidecar", "manifest.json"))

"""What the server of the Model Context Protocol offers: converted traces, described and asked."""

from __future__ import annotations

import functools
import json
import os
import threading
from collections.abc import Mapping
from typing import Any

from . import _native
from ._errors import Error, UsageError
from ._mcp_protocol import INVALID_PARAMS, ProtocolError
from ._read_only import Limits, ReadOnly, close

#: The one resource: the document of ``describe --json``.
DOCUMENT = "etl2parquet://description"

_OF_SQL = {"type": "string", "description": "One SELECT in the SQL of DuckDB; names of datasets stand in double quotes"}

#: Names of tools with what they do and what they take.
TOOLS: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "describe": (
        "What can be asked of these traces: datasets and views with their columns, units and meanings, counts, time span and losses,"
        " in at most 20 kB. Ask this first; `schema` has what it leaves out.",
        {},
        [],
    ),
    "schema": (
        "The columns of a view, a dataset or an event (Dataset/Event), with types, units and meanings.",
        {"name": {"type": "string", "description": "Name as `describe` has it, such as cpu_samples or Kernel-DiskIo"}},
        ["name"],
    ),
    "query": (
        "The answer to one SELECT over all views, as JSON: columns with types, rows, and `cut`, which says why rows are missing where"
        " some are. Nothing can be changed.",
        {"sql": _OF_SQL, "rows": {"type": "integer", "minimum": 1, "description": "Rows at most"}},
        ["sql"],
    ),
    "explain": (
        "How DuckDB would answer one SELECT, without answering it; or why it cannot, with names that may be meant.",
        {"sql": _OF_SQL},
        ["sql"],
    ),
}


class Traces:
    """Converted traces, read once it is asked for them."""

    name = "etl2parquet"

    def __init__(self, path: str, limits: Limits, version: str) -> None:
        self.path, self.limits, self.version = os.path.abspath(path), limits, version
        self.instructions = (
            "Windows ETW traces as SQL tables, read-only. Call describe first, then query; times are Unix nanoseconds in columns that"
            f" end in _ns. An answer has at most {limits.rows} rows and {limits.bytes} bytes, and takes at most {limits.seconds:g} s."
        )
        self._asking = threading.Lock()
        self._read: ReadOnly | None = None

    def interrupt(self) -> None:
        """Ends the question that is under way."""
        with self._asking:
            if self._read is not None:
                self._read.interrupt()

    def tools(self) -> list[dict[str, Any]]:
        """All tools."""
        hints = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
        return [
            {
                "name": name,
                "description": text,
                "inputSchema": {"type": "object", "properties": properties, "required": needed, "additionalProperties": False},
                "annotations": hints,
            }
            for name, (text, properties, needed) in TOOLS.items()
        ]

    def resources(self) -> list[dict[str, Any]]:
        """The document of ``describe``."""
        return [{"uri": DOCUMENT, "name": "description", "description": TOOLS["describe"][0], "mimeType": "application/json"}]

    def read(self, uri: str) -> list[dict[str, Any]]:
        """That document, by its address."""
        if uri != DOCUMENT:
            raise ProtocolError(INVALID_PARAMS, f"there is no resource {uri}", {"uri": uri})
        return [{"uri": uri, "mimeType": "application/json", "text": self._described}]

    def call(self, tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The result of a tool. What is wrong with a question is a result, too: who asked can ask better."""
        if tool not in TOOLS:
            raise ProtocolError(INVALID_PARAMS, f"there is no tool {tool}")
        try:
            return _content(self._called(tool, _checked(tool, arguments)))
        except Error as error:
            return _content(self._reason(error), is_error=True)
        except Exception as error:
            if not _is_of_duckdb(error):
                raise
            return _content(self._reason(error), is_error=True)

    def _called(self, tool: str, arguments: Mapping[str, Any]) -> str:
        if tool == "describe":
            return self._described
        if tool == "schema":
            return _json(self._schema(arguments["name"]))
        if tool == "explain":
            return self._reader.plan(arguments["sql"])
        answer = self._reader.ask(arguments["sql"], arguments.get("rows"))
        columns = [{"name": name, "type": kind} for name, kind in answer.columns]
        return _json({"columns": columns, "rows": answer.rows, "cut": answer.cut})

    @functools.cached_property
    def _described(self) -> str:
        return _native.describe(self.path, False, None)

    @functools.cached_property
    def _whole(self) -> dict[str, Any]:
        whole: dict[str, Any] = json.loads(_native.describe(self.path, True, None))
        return whole

    @property
    def _reader(self) -> ReadOnly:
        if self._read is None:
            read = ReadOnly(self.path, self.limits)
            with self._asking:
                self._read = read
        return self._read

    def _schema(self, name: str) -> dict[str, Any]:
        found = {one.casefold(): one for one in self._reader.names()}.get(name.casefold())
        if found is None:
            meant = close(name, self._reader.names())
            raise UsageError(f"there is no view {name}", hint=f"there is {', '.join(meant)}" if meant else "describe lists them")
        dataset, _, event = found.partition("/")
        is_event = bool(event) and dataset != "sidecar"
        known, about = self._meanings(dataset if is_event else found)
        if is_event:
            about = {"rows": next((one["rows"] for one in about.get("events", []) if one["event"] == event), 0)}
        columns = [{"name": column, "type": kind, **known.get(column.casefold(), {})} for column, kind in self._reader.columns(found)]
        return {"view": found, **about, "columns": columns}

    def _meanings(self, view: str) -> tuple[dict[str, dict[str, str]], dict[str, Any]]:
        """Units and meanings of columns of a view, and what else is said of it."""
        views = {one["view"]: one for one in self._whole["views"]}
        datasets = {one.get("view", one["dataset"]): one for one in self._whole["datasets"]}
        kept: tuple[str, ...] = ("rows", "events")
        listed, shared = datasets.get(view, {}), self._whole["common_columns"]
        if view in views:
            listed, shared, kept = views[view], self._whole["view_columns"], ("meaning", "answerable", "events", "needed")
        of_trace = [one for one in self._whole["view_columns"] if one["name"] == "trace"]
        known: dict[str, dict[str, str]] = {}
        if view in views or view in datasets or view == "all_events":
            for one in [*of_trace, *shared, *(column for column in listed.get("columns", []) if "type" in column)]:
                known[one["name"].casefold()] = {key: one[key] for key in ("unit", "meaning") if key in one}
        return known, {key: listed[key] for key in kept if key in listed}

    def _reason(self, error: Exception) -> str:
        text = str(error)
        if type(error).__name__ == "InterruptException":
            text = f"the question was ended: it took longer than {self.limits.seconds:g} s, or was cancelled"
        lines = [text]
        if hint := getattr(error, "hint", None):
            lines.append(f"hint: {hint}")
        if self._read is not None and (meant := self._read.suggestions(text)):
            lines.append(f"names that may be meant: {', '.join(meant)}")
        return "\n".join(lines)


def _is_of_duckdb(error: Exception) -> bool:
    """Whether DuckDB refuses a question, or has failed to answer it."""
    import duckdb

    return isinstance(error, duckdb.Error)


def _checked(tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    """The arguments of a tool, if they are such."""
    _, properties, needed = TOOLS[tool]
    for name in needed:
        if name not in arguments:
            raise UsageError(f"{tool} needs the argument {name}")
    for name, value in arguments.items():
        if name not in properties:
            raise UsageError(f"{tool} has no argument {name}")
        is_text = properties[name]["type"] == "string"
        is_good = isinstance(value, str) if is_text else isinstance(value, int) and not isinstance(value, bool) and value > 0
        if not is_good:
            raise UsageError(f"expected {'a text' if is_text else 'a number from 1 on'} as {name}, found {value!r}")
    return arguments


def _json(of: Any) -> str:
    return json.dumps(of, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _content(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], "isError": is_error}

"""What a lake holds: its manifest, and the footers of its files."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .._arguments import Path
from .._errors import InputError, OutputError, UsageError
from . import _schema

if TYPE_CHECKING:
    import pyarrow

#: The table of the traces, without which no view shows a row.
TRACES = "sidecar/traces"

#: The layout of lakes that is read here.
FORMAT_VERSION = 1

#: What a user does about a lake that is not as it was written.
HINT = "etl2parquet verify names all damage of the lake"

#: What stands before and behind the hash of a manifest of its own text.
SEAL, SEAL_END = b',\n    "manifest_sha256": "', b'"\n  }\n}\n'


@dataclass(frozen=True)
class LakeTrace:
    """A trace: its name, the SHA-256 of the manifest it was published with, and the day of its first event, if the lake goes by it."""

    trace: str
    manifest_sha256: str
    day: str | None


@dataclass(frozen=True)
class LakeFile:
    """A file of a table: where it lies, and its name, which no file with other rows has."""

    path: str
    name: str
    rows: int
    bytes: int
    first_trace: str
    last_trace: str


@dataclass(frozen=True)
class Lake:
    """The traces by name, and the files of each table: ``events/<dataset>`` or ``sidecar/<table>``."""

    traces: Mapping[str, LakeTrace]
    tables: Mapping[str, tuple[LakeFile, ...]]


def read(lake: Path) -> Lake:
    """Reads the manifest of the lake in a folder, and none of its files."""
    folder = os.path.abspath(os.fsdecode(lake))
    path = os.path.join(folder, "lake.json")
    try:
        with open(path, "rb") as file:
            text = file.read()
    except OSError as error:
        message = f"cannot read the manifest of the lake: {error.strerror}"
        raise OutputError(message, hint="etl2parquet compact makes a lake", file=path) from error
    try:
        found = json.loads(text)
        version = found["format_version"]
        if version != FORMAT_VERSION:
            message = f"expected the lake format {FORMAT_VERSION}, found {version}"
            raise OutputError(message, hint="another version of etl2parquet wrote it", file=path)
        _check_seal(text, path)
        traces = {one["trace"]: LakeTrace(one["trace"], one["manifest_sha256"], one["day"]) for one in found["traces"]}
        tables: dict[str, list[LakeFile]] = {}
        for one in found["files"]:
            tables.setdefault(_key_of(one["path"], path), []).append(_file_of(one, folder))
    except (ValueError, KeyError, TypeError) as error:
        if isinstance(error, UsageError):
            raise
        raise OutputError("expected the manifest of a lake", hint="compact the traces into another folder", file=path) from error
    return Lake(traces, {key: tuple(files) for key, files in tables.items()})


def _check_seal(text: bytes, path: str) -> None:
    head, _, tail = text.rpartition(SEAL)
    if not tail.endswith(SEAL_END) or hashlib.sha256(head).hexdigest().encode() != tail[: -len(SEAL_END)]:
        hint = "restore it, or compact the traces into another folder"
        raise OutputError("the manifest of the lake was changed: its hash is another one", hint=hint, file=path)


def _key_of(file: str, manifest: str) -> str:
    """The table that a file is of; with a folder for each event, that of the dataset."""
    parts = file.split("/")
    if any(part in ("", ".", "..") for part in parts) or "\\" in file or ":" in file:
        raise OutputError(f"expected paths of files in the lake, found {file!r}", hint="compact the traces into another folder", file=manifest)
    return "sidecar/manifests" if parts[0] == "manifests" else "/".join(parts[:2])


def _file_of(one: Mapping[str, str | int], folder: str) -> LakeFile:
    path = str(one["path"])
    return LakeFile(
        os.path.join(folder, *path.split("/")),
        path.rpartition("/")[2],
        int(one["rows"]),
        int(one["bytes"]),
        str(one["first_trace"]),
        str(one["last_trace"]),
    )


def schema_of(key: str, files: Iterable[LakeFile]) -> pyarrow.Schema:
    """The columns that files of a table have together, each held against what the manifest says of it.

    Rows without a trace would be in no view, and nobody would miss them: the footer proves that there are none.
    """
    import pyarrow
    import pyarrow.parquet

    together = pyarrow.schema([])
    for file in files:
        try:
            footer = pyarrow.parquet.read_metadata(file.path)
        except FileNotFoundError as error:
            raise changed(file.path) from error
        except (OSError, pyarrow.ArrowInvalid) as error:
            raise InputError(f"cannot read the footer: {error}", hint=HINT, file=file.path) from error
        if footer.num_rows != file.rows or os.path.getsize(file.path) != file.bytes:
            message = f"expected {file.rows} rows in {file.bytes} bytes, as lake.json says, found {footer.num_rows} in {os.path.getsize(file.path)}"
            raise InputError(message, hint=HINT, file=file.path)
        _check_trace(footer, file)
        together = _schema.united(together, _schema.portable(footer.schema.to_arrow_schema(), key), key)
    return together


def _check_trace(footer: pyarrow.parquet.FileMetaData, file: LakeFile) -> None:
    place = next((number for number in range(footer.num_columns) if footer.schema.column(number).path == "trace"), None)
    if place is None:
        raise InputError("expected a column trace", hint="etl2parquet compact writes it into the files of a lake", file=file.path)
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        statistics = group.column(place).statistics
        if group.num_rows and (statistics is None or not statistics.has_null_count or statistics.null_count != 0):
            raise InputError("expected a footer that says that no row lacks its trace", hint=HINT, file=file.path)


def changed(path: str) -> OutputError:
    """A file that the manifest names has gone since."""
    return OutputError("the lake was changed while it was read", code="lake_changed", hint="run it again when compact has ended", file=path)

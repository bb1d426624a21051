"""What is known of the payloads of events: the commands ``etl2parquet schema …`` as functions (docs/schemas.md).

Documents are those of ``--json``. ``schemas`` names manifests, TMF files, documents of :func:`export` and folders with such, ``store`` the
folder of the schema store.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from . import _native
from ._arguments import Path, arguments, inputs
from ._runs import write

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SchemaOptions

__all__ = [
    "Harvested",
    "Imported",
    "ImportedFile",
    "Removed",
    "export",
    "harvest",
    "import_files",
    "imports",
    "lock",
    "providers",
    "remove",
    "show",
]


@dataclass(frozen=True)
class Imported:
    """What came of an import: files read, what they declare, how many the store did not have, and how many it has now.

    ``conflicts`` has where files describe a provider otherwise than the built-in schemas, and ``same_name`` the names of files that the
    store has with several contents.
    """

    files: int
    providers: int
    events: int
    messages: int
    rejected: int
    new: int
    stored: int
    store: str
    skipped: tuple[str, ...]
    conflicts: tuple[dict[str, Any], ...]
    same_name: tuple[str, ...]


@dataclass(frozen=True)
class ImportedFile:
    """A file of the schema store: what it was called, and what it declares.

    ``kind`` is ``manifest``, ``tmf`` or ``facts``; ``providers`` have ``name`` and ``guid``.
    """

    origin: str
    kind: str
    blake3: str
    providers: tuple[dict[str, str], ...]
    events: int
    messages: int
    rejected: int


@dataclass(frozen=True)
class Removed:
    """What was taken out of the schema store, and how many files it has now."""

    removed: tuple[str, ...]
    stored: int
    store: str


@dataclass(frozen=True)
class Harvested:
    """What traces gave the schema store: how many providers and layouts, how many of its files are new or others, and how many there are."""

    traces: int
    providers: int
    layouts: int
    new: int
    stored: int
    store: str
    skipped: tuple[str, ...]


def providers(*wanted: str, **options: Unpack[SchemaOptions]) -> list[dict[str, Any]]:
    """The providers whose events are known: all, or those of these names, GUIDs and patterns.

    >>> from etl2parquet import schema
    >>> [provider["name"] for provider in schema.providers("Kernel-Disk*")]
    ['Kernel-DiskIo']
    """
    document = json.loads(_native.schema_list(list(wanted), arguments(options)))
    return cast("list[dict[str, Any]]", document["providers"])


def show(provider: str, event: str | int | None = None, **options: Unpack[SchemaOptions]) -> list[dict[str, Any]]:
    """What is known of a provider; of one of its events with fields, layouts and columns.

    >>> from etl2parquet import schema
    >>> [dns] = schema.show("Microsoft-Windows-DNS-Client", 3008)
    >>> dns["dataset"]
    'Microsoft-Windows-DNS-Client'
    """
    named = None if event is None else str(event)
    document = json.loads(_native.schema_show(provider, named, arguments(options)))
    return cast("list[dict[str, Any]]", document["providers"])


def export(provider: str | None = None, *, built_in: bool = False, **options: Unpack[SchemaOptions]) -> dict[str, Any]:
    """What the store and ``schemas`` declare; with ``built_in`` what the program knows besides."""
    return cast("dict[str, Any]", json.loads(_native.schema_export(provider, built_in, arguments(options))))


def import_files(
    paths: Path | Iterable[Path] = (),
    *,
    of: Path | Iterable[Path] = (),
    symbol_path: str | None = None,
    store: Path | None = None,
) -> Imported:
    """Copies schema files into the schema store: manifests, TMF files, MOF, PDBs, Windows binaries, documents of :func:`export`, and
    what another store has. Formats of WPP messages that the converted traces in ``of`` lack are taken from the PDBs in the folders of
    a symbol path; without one in those of ``_NT_SYMBOL_PATH``.

    >>> import json, pathlib, tempfile
    >>> from etl2parquet import schema
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     facts = pathlib.Path(folder, "facts.json")
    ...     _ = facts.write_text(json.dumps(schema.export("Kernel-Lost*", built_in=True)))
    ...     schema.import_files(facts, store=pathlib.Path(folder, "store")).new
    1
    """
    path = os.environ.get("_NT_SYMBOL_PATH", "") if symbol_path is None else symbol_path
    return Imported(**_tuples(_native.schema_import(inputs(paths), inputs(of), path, store)))


def imports(*, store: Path | None = None) -> list[ImportedFile]:
    """The files of the schema store, the first of which ranks highest.

    >>> import tempfile
    >>> from etl2parquet import schema
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     schema.imports(store=folder)
    []
    """
    document = json.loads(_native.schema_imports(store))
    return [ImportedFile(**{**file, "providers": tuple(file["providers"])}) for file in document["files"]]


def remove(*origins: str, store: Path | None = None) -> Removed:
    """Takes files out of the schema store by what they were called, or by patterns of that."""
    return Removed(**_tuples(_native.schema_remove(list(origins), store)))


def harvest(traces: Path | Iterable[Path], *, store: Path | None = None) -> Harvested:
    """Gathers what traces, converted or not, say of their events into the schema store, for traces that do not say it."""
    return Harvested(**_tuples(_native.schema_harvest(inputs(traces), store)))


def _tuples(text: str) -> dict[str, Any]:
    """A document with tuples for its lists."""
    document = json.loads(text)
    return {key: tuple(value) if isinstance(value, list) else value for key, value in document.items()}


def lock(outputs: Path | Iterable[Path], file: Path | None = None) -> str:
    """Settles the names that converted traces use: the text of a schema lock, which ``file`` gets, for the option ``schema_lock``."""
    text = _native.schema_lock(inputs(outputs))
    if file is not None:
        write(file, text)
    return text

"""What is known of the payloads of events: the commands ``etl2parquet schema …`` as functions (docs/schemas.md).

Documents are those of ``--json``. ``schemas`` names manifests, TMF files and folders with such, ``store`` the folder of the schema store.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from . import _native
from ._arguments import Path, arguments, inputs
from ._runs import write

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._options import SchemaOptions

__all__ = ["Imported", "export", "import_files", "lock", "providers", "show"]


@dataclass(frozen=True)
class Imported:
    """What came of an import: files read, what they declare, how many the store did not have, and how many it has now."""

    files: int
    providers: int
    events: int
    messages: int
    rejected: int
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


def import_files(paths: Path | Iterable[Path], *, store: Path | None = None) -> Imported:
    """Copies manifests, TMF files and what binaries declare into the schema store."""
    made = json.loads(_native.schema_import(inputs(paths), store))
    return Imported(**{**made, "skipped": tuple(made["skipped"])})


def lock(outputs: Path | Iterable[Path], file: Path | None = None) -> str:
    """Settles the names that converted traces use: the text of a schema lock, which ``file`` gets, for the option ``schema_lock``."""
    text = _native.schema_lock(inputs(outputs))
    if file is not None:
        write(file, text)
    return text

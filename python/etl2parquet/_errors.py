"""Failures, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._runs import Summary


class Error(Exception):
    """What went wrong, where, and what to do about it.

    ``code`` is a word that stays the same while messages may change; ``hint`` says what the user can do; ``file``, ``buffer``
    (counted from 0) and ``offset`` (in bytes) say where. Each is None where it is not known. ``summary`` is that of a run of
    :func:`convert` that failed.
    """

    def __init__(
        self,
        message: str,
        code: str | None = None,
        hint: str | None = None,
        file: str | None = None,
        buffer: int | None = None,
        offset: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.hint = hint
        self.file = file
        self.buffer = buffer
        self.offset = offset
        self.summary: Summary | None = None


class UsageError(Error, ValueError):
    """The request makes no sense."""


class InputError(Error):
    """An input cannot be read, or is no trace."""


class OutputError(Error):
    """The output cannot be written or read, or is there already."""


class RefusedError(Error):
    """A check, or a filter that passes nothing, kept traces from being published."""


class BusyError(Error):
    """Another run is writing the same trace."""


class Interrupted(Error):
    """The work was asked to stop."""


class InternalError(Error):
    """A bug, or an input that changed while it was read."""

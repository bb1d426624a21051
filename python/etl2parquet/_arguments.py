"""Keyword arguments as the native part takes them: each value as it would be typed on the command line."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Mapping
from typing import TypeAlias, Union

#: A path.
Path: TypeAlias = Union[str, "os.PathLike[str]"]
#: A time: a datetime, which is UTC where it has no zone; a text as on the command line; a timedelta from the start of the trace.
Time: TypeAlias = Union[str, datetime.datetime, datetime.timedelta]

_UTC = datetime.timezone.utc


def arguments(options: Mapping[str, object]) -> list[tuple[str, str]]:
    """Names and texts, in the order given; what is None or False is not given."""
    return [(name, text) for name, value in options.items() for text in _texts(name, value)]


def _texts(name: str, value: object) -> list[str]:
    if value is None or value is False:
        return []
    if value is True:
        return ["true"]
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return [text for one in value for text in _texts(name, one)]
    return [_text(name, value)]


def _text(name: str, value: object) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, datetime.datetime):
        aware = value.replace(tzinfo=_UTC) if value.tzinfo is None else value.astimezone(_UTC)
        return aware.isoformat().replace("+00:00", "Z")
    if isinstance(value, datetime.timedelta):
        microseconds = (value.days * 86400 + value.seconds) * 10**6 + value.microseconds
        # That of pandas has nanoseconds besides.
        nanoseconds = microseconds * 1000 + int(getattr(value, "nanoseconds", 0))
        return f"+{nanoseconds}ns" if nanoseconds >= 0 else f"{nanoseconds}ns"
    if type(value).__name__ == "datetime64":
        return f"{value}Z"
    if isinstance(value, int) and name == "keywords":
        return hex(value)
    if isinstance(value, (int, float)) or hasattr(value, "__index__"):
        return str(value)
    raise TypeError(f"{name}: expected text, a number, a path or a time, found {type(value).__name__}")


def absolute(path: Path) -> str:
    """The path of an input from the root of the system; standard input, lists and addresses are what they are."""
    text = os.fsdecode(path)
    return text if text == "-" or text.startswith("@") or is_address(text) else os.path.abspath(text)


def is_address(path: str) -> bool:
    """Whether a path is the address of an object store."""
    return "://" in path


def inputs(given: Path | Iterable[Path]) -> list[str]:
    """The inputs as texts."""
    if isinstance(given, (str, os.PathLike)):
        return [os.fsdecode(given)]
    return [os.fsdecode(one) for one in given]

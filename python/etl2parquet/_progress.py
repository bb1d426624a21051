"""How far work is: told to a function, or shown as a bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias, Union


@dataclass(frozen=True)
class Progress:
    """How far work is. ``stage`` is ``unpack``, ``survey``, ``plan``, ``convert`` or ``publish``; ``done`` of ``total`` are bytes or,
    in ``convert``, events, and ``total`` is None where nobody knows. Of several traces, ``traces_done`` of ``traces`` have ended.
    """

    stage: str
    done: int
    total: int | None
    traces_done: int
    traces: int


#: True for a bar of tqdm, or a function that is called every tenth of a second; what it raises ends the work.
Told: TypeAlias = Union[bool, Callable[[Progress], object]]

_Tell: TypeAlias = Union[Callable[[str, int, Union[int, None], int, int], object], None]


@contextlib.contextmanager
def teller(told: Told | None) -> Iterator[_Tell]:
    """What the native part calls."""
    if told is None or told is False:
        yield None
    elif callable(told):
        call = told
        yield lambda *parts: call(Progress(*parts))
    else:
        with _bar() as show:
            yield show


@contextlib.contextmanager
def _bar() -> Iterator[_Tell]:
    """A bar of tqdm; none where that is not installed."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        yield None
        return
    bar: Any = tqdm(unit="", unit_scale=True)

    def show(stage: str, done: int, total: int | None, traces_done: int, traces: int) -> None:
        is_many = traces > 1
        bar.set_description("traces" if is_many else stage, refresh=False)
        bar.total = traces if is_many else total
        bar.n = traces_done if is_many else done
        bar.refresh()

    try:
        yield show
    finally:
        bar.close()

"""What is known of a trace: the document of ``inspect --json``, as frozen dataclasses.

Times are Unix nanoseconds in fields that end in ``_ns``, texts of RFC 3339 otherwise. None is what the recording does not say.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

_T = TypeVar("_T")


@dataclass(frozen=True)
class TimeRange:
    """From the first to the last event."""

    first_time: str | None
    last_time: str | None
    first_time_ns: int | None
    last_time_ns: int | None


@dataclass(frozen=True)
class Session:
    """A session, as one input records it: a row of the table ``sessions``."""

    source: str
    size: int
    blake3: str | None
    logger_name: str | None
    logger_name_folded: str | None
    log_file_name: str | None
    os_version: str
    os_build: int
    layout_version: str
    pointer_size: int
    cpu_count: int
    buffer_size: int
    start_buffers: int
    buffers_written: int
    buffers_found: int
    minimum_buffers: int | None
    maximum_buffers: int | None
    maximum_file_size: int
    flush_timer_s: int | None
    age_limit_min: int | None
    log_file_mode: int
    log_file_mode_names: tuple[str, ...]
    enable_flags: int | None
    enable_flag_names: tuple[str, ...] | None
    group_masks: tuple[int, ...] | None
    timer_resolution_ns: int
    start_time: str | None
    start_time_ns: int | None
    end_time: str | None
    end_time_ns: int | None
    boot_time: str | None
    boot_time_ns: int | None
    first_event_time: str | None
    last_event_time: str | None
    window_start_time: str | None
    events_lost: int | None
    buffers_lost: int | None
    real_time_buffers_lost: int | None
    loss_unknown_because: str | None
    logger_thread_id: int | None
    file_series_number: int | None
    private_logger_pid: int | None
    compressed: bool
    truncated: bool
    wrapped: bool | None
    relogged: bool
    reached_maximum_size: bool | None
    private_logger: bool
    closed: bool
    input: int
    machine: int


@dataclass(frozen=True)
class Clock:
    """The clock of an input: a row of the table ``clock``."""

    source: str
    clock_type: int
    clock: str
    perf_frequency: int
    cpu_mhz: int | None
    ticks_to_ns_numerator: int | None
    ticks_to_ns_denominator: int | None
    first_ticks: int
    base_ns: int
    anchor: str
    start_anchor_ns: int
    boot_anchor_ns: int | None
    anchor_difference_ns: int | None
    offset_ns: int
    resolution_ns: int | None
    time_zone_bias_min: int
    time_zone_name: str | None
    sees_clock_adjustments: bool
    quality: str
    disorder_in_buffer: int
    disorder_between_buffers: int
    disorder_in_file: int
    largest_step_back_ns: int
    largest_step_forward_ns: int
    ties: int | None
    inherited_times: int
    saturated_times: int | None
    double_formula_max_error_ns: int | None


@dataclass(frozen=True)
class LostEvents:
    """Evidence that something is missing: a row of the table ``lost_events``."""

    source: str
    kind: str
    cpu: int | None
    from_time_ns: int | None
    to_time_ns: int | None
    from_buffer: int | None
    to_buffer: int | None
    count: int | None
    unit: str
    is_lower_bound: bool
    is_certain: bool
    evidence: str
    note: str | None


@dataclass(frozen=True)
class Loss:
    """What an input lost. Counts are None, and ``unknown_because`` says why, where nobody can know."""

    events_lost: int | None
    buffers_lost: int | None
    unknown_because: str | None
    gaps: Mapping[str, int]
    ledger: tuple[LostEvents, ...]


@dataclass(frozen=True)
class Stream:
    """The buffers of one processor: a row of the table ``streams``."""

    source: str
    cpu: int | None
    buffers: int
    events: int
    bytes_used: int
    fill_ratio: float
    first_time_ns: int | None
    last_time_ns: int | None
    disorder_in_buffer: int
    disorder_between_buffers: int
    sequence_gaps: int | None


@dataclass(frozen=True)
class Finding:
    """Something unusual: a row of the table ``issues``."""

    source: str
    severity: str
    code: str
    buffer: int | None
    offset: int | None
    time_ns: int | None
    message: str


@dataclass(frozen=True)
class Input:
    """An input of a trace."""

    source: str
    size: int
    session: Session
    clock: Clock
    loss: Loss
    streams: tuple[Stream, ...]
    findings: tuple[Finding, ...]
    advice: tuple[Finding, ...]


@dataclass(frozen=True)
class NamedEvents:
    """Events of one name."""

    event: str
    events: int


@dataclass(frozen=True)
class Dataset:
    """The events of a dataset."""

    dataset: str
    provider_id: str | None
    provider_name: str | None
    shapes: int
    events: int
    decodable_events: int
    decode_sources: Mapping[str, int]
    time: TimeRange
    fix_hint: str | None
    top_events: tuple[NamedEvents, ...]
    distinct_events: int


@dataclass(frozen=True)
class Answer:
    """Whether a question can be answered, and what to record where it cannot: a row of the table ``answers``."""

    question: str
    answerable: bool
    events: int
    event_names: tuple[str, ...]
    needed: str | None


@dataclass(frozen=True)
class Process:
    """A process, for as long as its id meant it."""

    process_id: int
    parent_process_id: int | None
    image_name: str | None
    command_line: str | None
    started_ns: int | None
    ended_ns: int | None
    from_ns: int
    to_ns: int
    is_defunct: bool


@dataclass(frozen=True)
class Document:
    """What is known of a trace. ``providers`` are its datasets, those with most events first."""

    trace: str
    events: int
    decodable_events: int
    damaged_events: int
    damaged_bytes: int
    time: TimeRange
    files: tuple[Input, ...]
    providers: tuple[Dataset, ...]
    answers: tuple[Answer, ...]
    process_count: int
    defunct_count: int
    processes: tuple[Process, ...]
    notable: tuple[str, ...]


@functools.cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def of_json(kind: type[_T], found: Mapping[str, Any]) -> _T:
    """A dataclass from an object of JSON; keys that it has no field for are left out."""
    hints = _hints(typing.cast("Any", kind))
    values = {field.name: _value(hints[field.name], found.get(field.name)) for field in dataclasses.fields(kind)}  # type: ignore[arg-type]
    return kind(**values)


def _value(hint: Any, found: Any) -> Any:
    if found is None:
        return None
    if dataclasses.is_dataclass(hint):
        return of_json(typing.cast("type[Any]", hint), found)
    if typing.get_origin(hint) in (types.UnionType, typing.Union):
        return _value(next(one for one in typing.get_args(hint) if one is not type(None)), found)
    if typing.get_origin(hint) is tuple:
        return tuple(_value(typing.get_args(hint)[0], one) for one in found)
    if isinstance(found, dict):
        return dict(found)
    return found

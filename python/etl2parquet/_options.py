"""The options of calls, as the program declares them: a test compares them, and `ETL2PARQUET_PACKAGE=write` rewrites them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypedDict, Union

from ._arguments import Path

#: A text, or a number where the text is one.
Text = Union[str, int]


class OpenOptions(TypedDict, total=False):
    """Options of :func:`etl2parquet.open`."""

    #: Which events share a dataset
    layout: Union[Literal["provider", "event"], None]
    #: Which payload columns a table has
    columns: Union[Literal["present", "declared"], None]
    #: When the raw payload of an event is written too
    raw: Union[Literal["never", "needed", "always"], None]
    #: What becomes of the stacks of kernel events, which events of their own record
    stacks: Union[Literal["join", "keep"], None]
    #: What rows have of the message of their event, as Event Viewer shows it
    messages: Union[Literal["none", "text"], None]
    #: Language of messages, such as de-DE, where a manifest has several [default: en-US, else the first]
    language: Union[Text, None]
    #: How numbers are written
    integers: Union[Literal["portable", "exact"], None]
    #: How GUIDs are written
    guid: Union[Literal["string", "binary", "uuid"], None]
    #: Unit of timestamp columns
    timestamps: Union[Literal["micros", "nanos"], None]
    #: What the time of events is counted from
    clock_anchor: Union[Literal["start", "boot"], None]
    #: Folder for the temporary file that members of archives are unpacked to [default: the output folder]
    spool_dir: Union[Path, None]
    #: Size that the members of one trace may take there, in bytes or with a unit (MiB, GiB)
    max_spool: Union[Text, None]
    #: Manifests, TMF files, binaries, and folders or archives with such files; auto for what lies beside the traces, none for none
    schemas: Union[Path, Iterable[Path], None]
    #: Folder of the schema store
    store: Union[Path, None]
    #: Leave the schema store alone
    no_store: Union[bool, None]
    #: Threads; without it as many as this process may use
    threads: Union[Text, None]
    #: Memory budget, in bytes or with a unit such as GiB; at least 384 MiB
    memory: Union[Text, None]


class RowOptions(TypedDict, total=False):
    """Filters of :meth:`etl2parquet.Trace.events`."""

    #: Only this event: id, name or pattern such as */Start; repeatable
    event: Union[Text, Iterable[Text], None]
    #: Only events of this level and more severe ones: critical, error, warning, information, verbose or 1 to 255
    level: Union[Text, None]
    #: Only events with any of these keywords: a mask such as 0x30, or names and patterns such as GC; repeatable
    keywords: Union[Text, Iterable[Text], None]
    #: Only events of these processes: numbers and ranges, such as 4,1000-1999, or names and patterns of image files, such as chrome.exe; repeatable
    pid: Union[Text, Iterable[Text], None]
    #: Only events of these threads, as in the column thread_id; repeatable
    tid: Union[Text, Iterable[Text], None]
    #: Only events recorded on these processors, such as 1,4-7; repeatable
    cpu: Union[Text, Iterable[Text], None]


class ConvertOptions(TypedDict, total=False):
    """Options of :func:`etl2parquet.convert` and :func:`etl2parquet.plan`."""

    #: All inputs are one recording: merge them into one trace of this name; `auto`: merge files that belong together by name, session and time, and say which
    merge: Union[Text, None]
    #: What a trace is called after
    name_from: Union[Literal["stem", "path"], None]
    #: What to do about an input that cannot be read or is no trace
    on_bad_input: Union[Literal["quarantine", "fail"], None]
    #: Folder that gets a JSON record of each input in quarantine, and loses it once the input can be read; made if missing
    quarantine_dir: Union[Path, None]
    #: What to do about a trace that is there already
    if_exists: Union[Literal["error", "skip", "replace", "update"], None]
    #: With --if-exists update: compare what inputs hold, not when they were written
    rehash: Union[bool, None]
    #: Merge files that hold the same bytes, too: every event of theirs is in the trace several times
    allow_repeated: Union[bool, None]
    #: Only events of this provider: name, GUID or pattern such as Kernel-*; repeat it, or put commas between, for several
    provider: Union[Text, Iterable[Text], None]
    #: No events of this provider: name, GUID or pattern; repeatable
    exclude_provider: Union[Text, Iterable[Text], None]
    #: Only this event: id, name or pattern such as */Start; repeatable
    event: Union[Text, Iterable[Text], None]
    #: Only events of this level and more severe ones: critical, error, warning, information, verbose or 1 to 255
    level: Union[Text, None]
    #: Only events with any of these keywords: a mask such as 0x30, or names and patterns such as GC; repeatable
    keywords: Union[Text, Iterable[Text], None]
    #: Only events of these processes: numbers and ranges, such as 4,1000-1999, or names and patterns of image files, such as chrome.exe; repeatable
    pid: Union[Text, Iterable[Text], None]
    #: Only events of these threads, as in the column thread_id; repeatable
    tid: Union[Text, Iterable[Text], None]
    #: Only events recorded on these processors, such as 1,4-7; repeatable
    cpu: Union[Text, Iterable[Text], None]
    #: Which events share a dataset
    layout: Union[Literal["provider", "event"], None]
    #: Which payload columns a table has
    columns: Union[Literal["present", "declared"], None]
    #: When the raw payload of an event is written too
    raw: Union[Literal["never", "needed", "always"], None]
    #: What becomes of the stacks of kernel events, which events of their own record
    stacks: Union[Literal["join", "keep"], None]
    #: What rows have of the message of their event, as Event Viewer shows it
    messages: Union[Literal["none", "text"], None]
    #: Language of messages, such as de-DE, where a manifest has several [default: en-US, else the first]
    language: Union[Text, None]
    #: How numbers are written
    integers: Union[Literal["portable", "exact"], None]
    #: How GUIDs are written
    guid: Union[Literal["string", "binary", "uuid"], None]
    #: Unit of timestamp columns
    timestamps: Union[Literal["micros", "nanos"], None]
    #: What the time of events is counted from
    clock_anchor: Union[Literal["start", "boot"], None]
    #: Codec: zstd, zstd(1) to zstd(22), snappy, lz4, none
    compression: Union[Text, None]
    #: Rows at which a row group is closed, unless its size closes it before; at least 1024, since smaller groups take more room for what describes them than for their values
    row_group_rows: Union[Text, None]
    #: Size at which a file is closed and the next one begun, in bytes or with a unit (KiB, MiB, GiB, KB, MB, GB)
    max_file_size: Union[Text, None]
    #: Scripts of the views of a trace to write into it
    views: Union[Literal["none", "duckdb", "spark", "both"], None]
    #: Publish no trace that lost more events than this, as a number or as a percentage, such as 0.1%, or whose loss is not known
    max_loss: Union[Text, None]
    #: Publish no trace of which any of these is true; several with commas between
    fail_on: Union[Literal["loss", "known-loss", "disorder", "undecoded", "damage"], Iterable[Literal["loss", "known-loss", "disorder", "undecoded", "damage"]], None]
    #: What to do about names that the lock does not have
    schema_lock_mode: Union[Literal["extend", "strict"], None]
    #: Folder for the temporary file that members of archives are unpacked to [default: the output folder]
    spool_dir: Union[Path, None]
    #: Size that the members of one trace may take there, in bytes or with a unit (MiB, GiB)
    max_spool: Union[Text, None]
    #: Manifests, TMF files, binaries, and folders or archives with such files; auto for what lies beside the traces, none for none
    schemas: Union[Path, Iterable[Path], None]
    #: Folder of the schema store
    store: Union[Path, None]
    #: Leave the schema store alone
    no_store: Union[bool, None]
    #: Threads; without it as many as this process may use
    threads: Union[Text, None]
    #: Memory budget, in bytes or with a unit such as GiB; at least 384 MiB
    memory: Union[Text, None]
    #: Name of the run, recorded in manifests and in the summary
    run_id: Union[Text, None]
    #: Names that are settled; without it those of schema.lock in the output folder; none for no lock
    schema_lock: Union[Path, None]
    #: Write nothing: say what would be written
    dry_run: Union[bool, None]


class SchemaOptions(TypedDict, total=False):
    """Options of :mod:`etl2parquet.schema`."""

    #: Manifests, TMF files, binaries, and folders or archives with such files; auto for what lies beside the traces, none for none
    schemas: Union[Path, Iterable[Path], None]
    #: Folder of the schema store
    store: Union[Path, None]
    #: Leave the schema store alone
    no_store: Union[bool, None]


class StepOptions(TypedDict, total=False):
    """Options of :func:`etl2parquet.convert_partition` and :func:`etl2parquet.commit`."""

    #: Folder for the temporary file that members of archives are unpacked to [default: the output folder]
    spool_dir: Union[Path, None]
    #: Size that the members of one trace may take there, in bytes or with a unit (MiB, GiB)
    max_spool: Union[Text, None]
    #: Threads; without it as many as this process may use
    threads: Union[Text, None]
    #: Memory budget, in bytes or with a unit such as GiB; at least 384 MiB
    memory: Union[Text, None]
    #: Name of the run, recorded in manifests and in the summary
    run_id: Union[Text, None]

"""Made rows: datasets and sidecar tables of a converted trace, written by tests that need what no real trace has."""

import glob
import json
import os

import pyarrow
import pyarrow.parquet


def column_type(value):
    """The type of a payload column with such values."""
    kinds = {
        int: pyarrow.int64(), str: pyarrow.string(), bytes: pyarrow.binary(), list: pyarrow.list_(pyarrow.int64()),
        bool: pyarrow.bool_(), float: pyarrow.float64(),
    }  # fmt: skip
    return kinds[type(value)]


def add_dataset(folder, name, rows):
    """Adds a dataset to a converted trace: the common columns of events, NULL but for what the rows say, and those of the rows."""
    events = os.path.join(folder, "events")
    some = next(path for path in sorted(glob.glob(os.path.join(events, "*", "*.parquet"))))
    schema = pyarrow.parquet.read_schema(some)
    common = [schema.field(at) for at in range(schema.get_field_index("recovered") + 1)]
    types = {field.name: field.type for field in common}
    for row in rows:
        types.update({column: column_type(value) for column, value in row.items() if column not in types})
    rows = [{"seq": seq, "timestamp_ns": seq, "timestamp": 0, "event_name": "", **row} for seq, row in enumerate(rows)]
    table = pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(list(types.items())))
    os.makedirs(os.path.join(events, name), exist_ok=True)
    add_file(folder, f"events/{name}/part-00009-00000.parquet", table)


# What a row of these tables always has: where a made row does not say it, the table's first row does.
ALWAYS = {
    "sessions": [
        "source", "size", "os_version", "os_build", "layout_version", "pointer_size", "cpu_count", "buffer_size",
        "start_buffers", "buffers_written", "buffers_found", "maximum_file_size", "log_file_mode", "log_file_mode_names",
        "timer_resolution_ns", "compressed", "truncated", "relogged", "private_logger", "closed", "input", "machine",
    ],
    "clock": [
        "clock_type", "clock", "perf_frequency", "first_ticks", "base_ns", "anchor", "start_anchor_ns", "offset_ns",
        "time_zone_bias_min", "sees_clock_adjustments", "quality", "disorder_in_buffer", "disorder_between_buffers",
        "disorder_in_file", "largest_step_back_ns", "largest_step_forward_ns", "inherited_times",
    ],
    "streams": [
        "source", "buffers", "events", "bytes_used", "fill_ratio", "disorder_in_buffer", "disorder_between_buffers",
    ],
}


def replace_table(folder, name, rows):
    """Replaces the rows of a sidecar table, which has the columns that it had."""
    path = os.path.join(folder, "sidecar", f"{name}.parquet")
    old = pyarrow.parquet.read_table(path)
    given = {column: old.column(column)[0].as_py() for column in ALWAYS.get(name, ())}
    table = pyarrow.Table.from_pylist([{**given, **row} for row in rows], schema=old.schema)
    pyarrow.parquet.write_table(table, path, compression="zstd")


def add_file(folder, path, table):
    pyarrow.parquet.write_table(table, os.path.join(folder, path), compression="zstd")
    manifest = os.path.join(folder, "sidecar", "manifest.json")
    with open(manifest, encoding="utf-8") as file:
        record = json.load(file)
    record["files"].append({**record["files"][0], "path": path, "rows": table.num_rows})
    with open(manifest, "w", encoding="utf-8") as file:
        json.dump(record, file)

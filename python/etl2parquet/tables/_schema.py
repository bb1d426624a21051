"""Columns as all kinds of tables take them: their types, and what several files have together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._errors import UsageError

if TYPE_CHECKING:
    import pyarrow

#: What converts traces so that every kind of table takes them.
HINT = "convert without --integers exact, --guid binary, --guid uuid and --timestamps nanos, and compact into another folder"


def portable(schema: pyarrow.Schema, key: str) -> pyarrow.Schema:
    """The same columns with the types that tables have: all may be NULL, also in lists, but `trace` itself."""
    import pyarrow

    return pyarrow.schema([pyarrow.field(field.name, _type(field.type, key, field.name), field.name != "trace") for field in schema])


def _type(found: pyarrow.DataType, key: str, column: str) -> pyarrow.DataType:
    """The type of a column; how an engine calls texts and lists in memory makes no difference."""
    import pyarrow
    from pyarrow import types

    if types.is_dictionary(found):
        return _type(found.value_type, key, column)
    if types.is_string(found) or types.is_large_string(found) or types.is_string_view(found):
        return pyarrow.string()
    if types.is_binary(found) or types.is_large_binary(found) or types.is_binary_view(found):
        return pyarrow.binary()
    if types.is_list(found) or types.is_large_list(found) or types.is_list_view(found) or types.is_large_list_view(found):
        return pyarrow.list_(pyarrow.field("element", _type(found.value_type, key, column)))
    if types.is_struct(found):
        return pyarrow.struct([pyarrow.field(field.name, _type(field.type, key, column)) for field in found])
    if types.is_timestamp(found) and found.unit == "us":
        return pyarrow.timestamp("us", "UTC" if found.tz else None)
    if found in (pyarrow.int32(), pyarrow.int64(), pyarrow.bool_(), pyarrow.float64()):
        return found
    raise UsageError(f"column {column} of {key} is {found}, which not every kind of table has", code="table_type", hint=HINT)


def united(one: pyarrow.Schema, other: pyarrow.Schema, key: str) -> pyarrow.Schema:
    """The columns of one, with their order, and behind them those that the other has besides; members of structures likewise."""
    import pyarrow

    fields = {field.name: field for field in one}
    for field in other:
        known = fields.get(field.name)
        kind = field.type if known is None else _united(known.type, field.type, key, field.name)
        fields[field.name] = pyarrow.field(field.name, kind, field.name != "trace")
    return pyarrow.schema(list(fields.values()))


def _united(one: pyarrow.DataType, other: pyarrow.DataType, key: str, column: str) -> pyarrow.DataType:
    import pyarrow
    from pyarrow import types

    if one == other:
        return one
    if types.is_list(one) and types.is_list(other):
        return pyarrow.list_(pyarrow.field("element", _united(one.value_type, other.value_type, key, column)))
    if types.is_struct(one) and types.is_struct(other):
        members = {field.name: field.type for field in one}
        for field in other:
            members[field.name] = _united(members[field.name], field.type, key, column) if field.name in members else field.type
        return pyarrow.struct([pyarrow.field(name, kind) for name, kind in members.items()])
    hint = "a schema lock (etl2parquet schema lock) gives it one type in all traces; a table keeps the type that it has, so make the tables anew after that"
    raise UsageError(f"column {column} of {key} has several types: {one}; {other}", code="table_type", hint=hint)


def added(before: pyarrow.Schema, after: pyarrow.Schema) -> list[pyarrow.Field]:
    """The columns that are new, or have new members."""
    known = {field.name: field.type for field in before}
    return [field for field in after if known.get(field.name) != field.type]

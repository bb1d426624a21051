//! Values of Arrow in vectors of DuckDB.

#![expect(unsafe_code, reason = "a vector of DuckDB is memory that is filled through pointers")]

use std::ops::Range;
use std::ptr;

use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrowPrimitiveType, BinaryArray, ListArray, StringArray, StructArray};
use arrow_schema::{DataType, TimeUnit};
use base::error::{Error, Result};
use libduckdb_sys::{duckdb_vector, duckdb_vector_assign_string_element_len, duckdb_vector_get_data};
use quack_rs::vector::VectorWriter;
use quack_rs::vector::complex::{ListVector, StructVector};

/// Copies the values in some rows of an array to a vector, the first of them to the row `at`.
///
/// # Safety
/// `vector` is one that DuckDB has made for [`logical_type`](super::types::logical_type) of the array's type, it has room for
/// that many rows from `at` on, and nothing else reads or writes it meanwhile.
///
/// # Errors
/// [`ErrorKind::Internal`](base::error::ErrorKind::Internal) for a type that no column has.
pub(crate) unsafe fn write(array: &dyn Array, rows: Range<usize>, vector: duckdb_vector, at: usize) -> Result<()> {
    // SAFETY: each function below asks for what the caller has promised, of an array of the type that it is for.
    unsafe {
        match array.data_type() {
            DataType::Boolean => write_bools(array, rows.clone(), vector, at),
            DataType::Int8 => copy::<Int8Type>(array, rows.clone(), vector, at),
            DataType::Int16 => copy::<Int16Type>(array, rows.clone(), vector, at),
            DataType::Int32 => copy::<Int32Type>(array, rows.clone(), vector, at),
            DataType::Int64 => copy::<Int64Type>(array, rows.clone(), vector, at),
            DataType::UInt8 => copy::<UInt8Type>(array, rows.clone(), vector, at),
            DataType::UInt16 => copy::<UInt16Type>(array, rows.clone(), vector, at),
            DataType::UInt32 => copy::<UInt32Type>(array, rows.clone(), vector, at),
            DataType::UInt64 => copy::<UInt64Type>(array, rows.clone(), vector, at),
            DataType::Float32 => copy::<Float32Type>(array, rows.clone(), vector, at),
            DataType::Float64 => copy::<Float64Type>(array, rows.clone(), vector, at),
            DataType::Timestamp(TimeUnit::Microsecond, _) => {
                copy::<TimestampMicrosecondType>(array, rows.clone(), vector, at);
            }
            DataType::Utf8 => {
                let texts: &StringArray = array.as_string();
                write_bytes(|row| texts.value(row).as_bytes(), array, rows.clone(), vector, at);
            }
            DataType::Binary => {
                let blobs: &BinaryArray = array.as_binary();
                write_bytes(|row| blobs.value(row), array, rows.clone(), vector, at);
            }
            DataType::List(_) => write_lists(array.as_list(), rows.clone(), vector, at)?,
            DataType::Struct(_) => write_members(array.as_struct(), rows.clone(), vector, at)?,
            other => return Err(Error::bug(format!("a value of {other} has no place in a vector"))),
        }
        write_nulls(array, rows, vector, at);
    }
    Ok(())
}

/// # Safety
/// As [`write`].
unsafe fn write_nulls(array: &dyn Array, rows: Range<usize>, vector: duckdb_vector, at: usize) {
    let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else { return };
    let of_rows = nulls.slice(rows.start, rows.len());
    // SAFETY: the vector is valid, and has all of these rows.
    unsafe {
        let mut writer = VectorWriter::from_vector(vector);
        match of_rows.null_count() {
            0 => {}
            all if all == rows.len() => writer.set_null_range(at..at + all),
            _ => (0..rows.len()).filter(|&row| of_rows.is_null(row)).for_each(|row| writer.set_null(at + row)),
        }
    }
}

/// # Safety
/// As [`write`]; the array has values of `T`.
unsafe fn copy<T: ArrowPrimitiveType>(array: &dyn Array, rows: Range<usize>, vector: duckdb_vector, at: usize) {
    let values = &array.as_primitive::<T>().values()[rows];
    // SAFETY: the vector holds numbers of the same size one behind the other, has room for all of these from `at` on, and is none
    // of the array's memory.
    unsafe {
        let to = duckdb_vector_get_data(vector).cast::<T::Native>().add(at);
        ptr::copy_nonoverlapping(values.as_ptr(), to, values.len());
    }
}

/// # Safety
/// As [`write`]; the array has truth values.
unsafe fn write_bools(array: &dyn Array, rows: Range<usize>, vector: duckdb_vector, at: usize) {
    let values = array.as_boolean().values().slice(rows.start, rows.len());
    // SAFETY: the vector holds a byte for each row, of which 0 and 1 are the values.
    unsafe {
        let to = duckdb_vector_get_data(vector).cast::<bool>().add(at);
        values.iter().enumerate().for_each(|(row, value)| to.add(row).write(value));
    }
}

/// # Safety
/// As [`write`]; `value` gives the bytes of a row of the array.
unsafe fn write_bytes<'a>(
    value: impl Fn(usize) -> &'a [u8],
    array: &dyn Array,
    rows: Range<usize>,
    vector: duckdb_vector,
    at: usize,
) {
    for (row, to) in rows.zip(at..).filter(|(row, _)| array.is_valid(*row)) {
        let bytes = value(row);
        // SAFETY: the vector has the row `to`, and DuckDB copies the bytes, which text has in UTF-8.
        unsafe {
            duckdb_vector_assign_string_element_len(vector, to as u64, bytes.as_ptr().cast(), bytes.len() as u64);
        }
    }
}

/// # Safety
/// As [`write`].
unsafe fn write_lists(array: &ListArray, rows: Range<usize>, vector: duckdb_vector, at: usize) -> Result<()> {
    let offsets = array.value_offsets();
    let place = |row: usize| offsets[row].unsigned_abs() as usize;
    let elements = place(rows.start)..place(rows.end);
    // SAFETY: room for the elements is made before they are written, behind those that are there already; each entry names
    // elements that were. So much memory as the array's own elements take is not beyond what DuckDB can reserve.
    unsafe {
        let first = ListVector::get_size(vector);
        let end = first + elements.len();
        ListVector::reserve(vector, end);
        ListVector::set_size(vector, end);
        for (row, to) in rows.zip(at..) {
            let offset = first + place(row) - elements.start;
            let length = place(row + 1) - place(row);
            ListVector::set_entry(vector, to, offset as u64, length as u64);
        }
        write(array.values(), elements, ListVector::get_child(vector), first)
    }
}

/// # Safety
/// As [`write`].
unsafe fn write_members(array: &StructArray, rows: Range<usize>, vector: duckdb_vector, at: usize) -> Result<()> {
    for (number, member) in array.columns().iter().enumerate() {
        // SAFETY: the vector has a vector for each member, with as many rows.
        unsafe { write(member, rows.clone(), StructVector::get_child(vector, number), at)? };
    }
    Ok(())
}

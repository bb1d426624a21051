//! Arguments of a function of SQL as options.

#![expect(unsafe_code, reason = "values of SQL are read through pointers of DuckDB")]

use std::ffi::OsString;

use base::calendar::rfc3339;
use base::error::{Error, ErrorKind, Result};
use batch::keywords::Arguments;
use libduckdb_sys::{duckdb_get_list_child, duckdb_get_list_size};
use quack_rs::table::BindInfo;
use quack_rs::types::TypeId;
use quack_rs::value::Value;

use super::functions::TableFunction;

/// The arguments of a call: those without a name, and those with one.
///
/// # Errors
/// [`ErrorKind::Usage`] where one is NULL that must not be, or a value of a type that says nothing here.
pub(crate) fn of_call(function: &TableFunction, info: &BindInfo) -> Result<(Vec<String>, Arguments)> {
    let of_place = |place: usize| {
        // SAFETY: the function was registered with as many parameters.
        let value = unsafe { info.get_parameter_value(place as u64) };
        if is_null(&value) {
            return Err(Error::new(ErrorKind::Usage, format!("{} was called with NULL", function.name)));
        }
        text(&value)
    };
    let texts = (0..=function.others).map(of_place).collect::<Result<_>>()?;
    let mut named = Arguments::new();
    for &name in function.named {
        add(&mut named, name, false, info)?;
    }
    for option in function.options() {
        add(&mut named, &option.name, option.takes == "flag", info)?;
    }
    Ok((texts, named))
}

/// The values of a named argument, if it is given.
fn add(named: &mut Arguments, name: &str, is_flag: bool, info: &BindInfo) -> Result<()> {
    // SAFETY: the function was registered with a parameter of this name.
    let value = unsafe { info.get_named_parameter_value(name) };
    if is_null(&value) || (is_flag && value.as_bool() == Some(false)) {
        return Ok(());
    }
    let of_name = |text: Result<String>| {
        let text = text.map_err(|error| Error::new(ErrorKind::Usage, format!("{name}: {}", error.message())))?;
        Ok((name.to_owned(), OsString::from(text)))
    };
    if value.type_id() == Some(TypeId::List) {
        for element in elements(&value) {
            named.push(of_name(text(&element))?);
        }
    } else {
        named.push(of_name(text(&value))?);
    }
    Ok(())
}

fn is_null(value: &Value) -> bool {
    value.is_null() || value.is_sql_null()
}

/// The elements of a list.
fn elements(list: &Value) -> impl Iterator<Item = Value> {
    // SAFETY: the value is a list.
    let count = unsafe { duckdb_get_list_size(list.as_raw()) };
    // SAFETY: the list has that element, and who gets it owns it.
    (0..count).map(|place| unsafe { Value::from_raw(duckdb_get_list_child(list.as_raw(), place)) })
}

/// A value as it would be typed; a time with its zone.
fn text(value: &Value) -> Result<String> {
    let micros = match value.type_id() {
        Some(TypeId::TimestampTz) => value.as_timestamp_tz(),
        _ => None,
    };
    if let Some(ns) = micros.and_then(|micros| micros.checked_mul(1000)) {
        return Ok(rfc3339(ns));
    }
    value.as_str().map_err(|error| Error::new(ErrorKind::Usage, error.as_str()))
}

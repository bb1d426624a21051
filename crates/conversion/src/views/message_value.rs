//! The texts of single values, as messages show them.

use schema::model::MapNames;

use super::dialect::Dialect;
use super::lake::{LakeTable, REQUIRED};
use super::message::MessageField;
use super::source::read_as;

/// A column of a table in a select, with its type, where files agree in that.
pub(super) fn column<'t>(dialect: Dialect, table: &'t LakeTable, name: &str) -> Option<(String, &'t str)> {
    let (stored, kind) = table.column(name).filter(|_| table.is_settled(name))?;
    Some((format!("e.{}", dialect.name(stored)), kind.trim_end_matches(REQUIRED)))
}

/// The type of the elements of a list, or the type itself.
pub(super) fn base(in_type: &str) -> &str {
    in_type.split('[').next().unwrap_or(in_type)
}

/// The text of a value; `source` of a field that is not there. `None` where its columns do not show it.
pub(super) fn value(dialect: Dialect, table: &LakeTable, field: &MessageField, source: &str) -> Option<String> {
    let MessageField { in_type, out_type, map_kind, columns } = field;
    let (base, out) = (base(in_type), out_type.as_deref().unwrap_or_default());
    let (value, kind) = column(dialect, table, columns.first()?)?;
    let mut others = columns.iter().skip(1).filter_map(|name| Some((name, column(dialect, table, name)?)));
    let is_text = ["Text", "Utf8", "Xml", "Json"].contains(&out);
    let text = match kind {
        // What is NULL may be a value that has no other form.
        "STRING" if ADDRESSES.contains(&base) || ADDRESSES.contains(&out) => return Some(value),
        "STRING" if base == "Guid" => format!("'{{' || {value} || '}}'"),
        "STRING" if is_text || TEXTS.contains(&base) => value.clone(),
        "BINARY" if BYTES.contains(&base) => format!("'0x' || hex({value})"),
        "BOOLEAN" => format!("CAST({value} AS STRING)"),
        "DOUBLE" if ["Float", "Double"].contains(&base) => return Some(dialect.decimals(&value)),
        _ if [base, out].contains(&"FileTime") => {
            let (_, (ticks, kind)) = others.find(|(name, _)| name.ends_with("_filetime"))?;
            return Some(dialect.filetime(&read_as(dialect, &ticks, kind, "BIGINT")?));
        }
        _ if is_text || !INTEGERS.contains(&base) => return None,
        _ if in_type.ends_with(']') => {
            let list =
                read_as(dialect, &value, kind, "LIST").filter(|_| map_kind.is_none() && code(base, out).is_none())?;
            dialect.joined(&dialect.each(&list, &number("{}", base, out)))
        }
        _ => {
            let bits = read_as(dialect, &value, kind, "BIGINT")?;
            let label = others.find(|(_, (_, kind))| *kind == "STRING").map(|(_, (label, _))| label);
            named(&bits, base, out, map_kind.as_deref(), label)?
        }
    };
    Some(format!("CASE WHEN {value} IS NULL THEN {source} ELSE {text} END"))
}

/// The text of an integer that may have a name, which stands in the column `label`.
fn named(bits: &str, base: &str, out: &str, map_kind: Option<&str>, label: Option<String>) -> Option<String> {
    let number = number(bits, base, out);
    let names = match map_kind {
        Some(kind) => Some(MapNames::of_name(kind)?),
        None => None,
    };
    let text = match (names, code(base, out)) {
        (None, None) => number,
        (None, Some(unknown)) => {
            let (label, code) = (label?, format!("'0x' || lower(hex({bits} & 4294967295))"));
            format!("CASE WHEN {label} IS NULL THEN '{unknown}' || {code} ELSE {label} || ' (' || {code} || ')' END")
        }
        (Some(MapNames::Values), _) => format!("COALESCE({}, {number})", label?),
        (Some(MapNames::Bits), _) => {
            let label = label?;
            // One that is too long is cut elsewhere in a message; bits none of which has a name are a number.
            format!(
                "CASE WHEN {label} LIKE '%…' THEN NULL WHEN {label} NOT LIKE '0x%' THEN replace({label}, '|', ' | ') \
                 ELSE {number} END"
            )
        }
        (Some(MapNames::UnclearBits), _) => return None,
    };
    Some(text)
}

const ADDRESSES: [&str; 5] = ["Sid", "WbemSid", "IPv4", "IPv6", "SocketAddress"];

const TEXTS: [&str; 10] = [
    "Utf16",
    "Ansi",
    "CountedUtf16",
    "CountedAnsi",
    "ReverseCountedUtf16",
    "ReverseCountedAnsi",
    "RestUtf16",
    "RestAnsi",
    "Utf16Unit",
    "AnsiChar",
];

const BYTES: [&str; 4] = ["Binary", "CountedBinary", "HexDump", "RestBinary"];

const INTEGERS: [&str; 13] = [
    "Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64", "HexInt32", "HexInt64", "Pointer",
    "SizeT", "Port",
];

/// What stands before a status code that has no name; `None` of other numbers.
fn code(base: &str, out: &str) -> Option<&'static str> {
    let known = match out {
        "NtStatus" => "Unknown NTSTATUS Error code: ",
        "HResult" => "Unknown HResult Error code: ",
        "Win32Error" => "Unknown Win32 Error code: ",
        "NdisStatus" => "",
        _ => return None,
    };
    ["Int32", "UInt32", "HexInt32"].contains(&base).then_some(known)
}

/// The text of an integer, given the select of its bits as a signed number.
fn number(bits: &str, base: &str, out: &str) -> String {
    let is_plain_hexadecimal = out.is_empty() && ["HexInt32", "HexInt64", "Pointer"].contains(&base);
    if is_plain_hexadecimal || ["Hex", "CodePointer"].contains(&out) {
        let mask = match base {
            "Int8" => " & 255",
            "Int16" => " & 65535",
            "Int32" => " & 4294967295",
            _ => "",
        };
        return format!("'0x' || hex({bits}{mask})");
    }
    let unsigned = ["Unsigned", "ProcessId", "ThreadId", "Win32Error", "NtStatus", "HResult", "NdisStatus", "Ticks"];
    let is_signed = out == "Signed" || (base.starts_with("Int") && !unsigned.contains(&out));
    let text = format!("CAST({bits} AS STRING)");
    if is_signed || !["Int64", "UInt64", "HexInt64", "Pointer", "SizeT"].contains(&base) {
        return text;
    }
    format!(
        "CASE WHEN {bits} < 0 THEN CAST(CAST({bits} AS DECIMAL(38, 0)) + 18446744073709551616 AS STRING) ELSE {text} END"
    )
}

//! The values of an event: what the type and the qualifiers of a property say of it.

use std::sync::Arc;

use super::faults::{Faults, quoted};
use super::maps;
use super::syntax::{Array, Class, Property};
use crate::model::{Count, Field, FieldKind, FieldRef, Length, Meaning, Wire};
use crate::types::UNDECODABLE;

/// Far more than an event can have.
const MAX_FIELDS: usize = 1024;

/// The values of the events of a class.
#[derive(Debug, Default)]
pub(super) struct Layout {
    pub(super) fields: Vec<Field>,
    /// Whether something of it cannot be read.
    pub(super) is_doubtful: bool,
}

/// The values of the events of a class in the order of `WmiDataId`, which is that of the payload.
pub(super) fn layout(class: &Class<'_>, faults: &mut Faults) -> Layout {
    let mut numbered = Vec::new();
    for property in &class.properties {
        match property.qualifiers.number("WmiDataId") {
            Some(number) => numbered.push((number, property)),
            // The page on qualifiers wants one on each: what has none is no value of the event.
            None => faults.report(property.line, format!("expected WmiDataId on {}", quoted(property.name))),
        }
    }
    numbered.sort_by_key(|&(number, _)| number);
    let mut layout = Layout::default();
    if let Some(([(number, _), ..], property)) = numbered
        .windows(2)
        .map(|pair| (pair, pair.last().map(|&(_, property)| property)))
        .find(|(pair, _)| matches!(pair, [(one, _), (other, _)] if one == other))
    {
        let line = property.map_or(class.line, |property| property.line);
        faults.report(line, format!("expected one property of WmiDataId({number}), found several"));
        layout.is_doubtful = true;
    }
    if numbered.len() > MAX_FIELDS {
        faults.report(class.line, format!("expected at most {MAX_FIELDS} properties, found {}", numbered.len()));
        numbered.truncate(MAX_FIELDS);
        layout.is_doubtful = true;
    }
    for (_, property) in numbered {
        layout.add(class, property, faults);
    }
    layout
}

impl Layout {
    fn add(&mut self, class: &Class<'_>, property: &Property<'_>, faults: &mut Faults) {
        let field = value(property).and_then(|value| self.counted(property, value));
        let (kind, count) = field.unwrap_or_else(|reason| {
            faults.report(property.line, format!("{}: {reason}", quoted(property.name)));
            self.is_doubtful = true;
            (UNDECODABLE, Count::One)
        });
        let map = maps::map(&format!("{}.{}", class.name, property.name), &property.qualifiers);
        let map = map.unwrap_or_else(|reason| {
            faults.report(property.line, format!("{}: {reason}", quoted(property.name)));
            None
        });
        let name = property.name.to_owned();
        self.fields.push(Field { name, kind, count, map: map.map(Arc::new), optional: false, hidden: false });
    }

    /// How often a value is there; characters become a text of that length.
    fn counted(&self, property: &Property<'_>, value: Value) -> Result<(FieldKind, Count), String> {
        let Value { wire, meaning } = value;
        let kind = |wire, length| FieldKind::Value { wire, meaning, length };
        let count = match property.array {
            Array::None => return Ok((kind(wire, Length::Natural), Count::One)),
            Array::Fixed(count) => Count::Fixed(count),
            Array::Open => self.open(property)?,
        };
        let text = match wire {
            Wire::Utf16Unit => Wire::Utf16,
            Wire::Int8 | Wire::UInt8 | Wire::AnsiChar if has_format(property, "s") => Wire::Ansi,
            _ => return Ok((kind(wire, Length::Natural), count)),
        };
        let length = match count {
            Count::Fixed(count) => Length::Fixed(count),
            Count::Field(field) => Length::Field(field),
            Count::One | Count::Prefixed | Count::Rest => return Ok((kind(wire, Length::Natural), count)),
        };
        Ok((kind(text, length), Count::One))
    }

    /// The number of elements of an array that is declared without one.
    fn open(&self, property: &Property<'_>) -> Result<Count, String> {
        if let Some(count) = property.qualifiers.number("MAX") {
            let count = u32::try_from(count).map_err(|_| format!("expected a number of elements, found {count}"))?;
            return Ok(Count::Fixed(count));
        }
        let size = property.qualifiers.text("WmiSizeIs").or_else(|| property.qualifiers.text("SizeIs"));
        let Some(size) = size else {
            return Err("expected the number of elements of an array, found neither MAX nor WmiSizeIs".to_owned());
        };
        let is_it = |field: &Field| field.name.eq_ignore_ascii_case(size) && is_integer(field);
        let index = self.fields.iter().position(is_it).and_then(|index| u16::try_from(index).ok());
        let index = index.ok_or_else(|| format!("expected an integer {} before it, found none", quoted(size)))?;
        Ok(Count::Field(FieldRef { up: 0, index }))
    }
}

fn is_integer(field: &Field) -> bool {
    field.count == Count::One && matches!(&field.kind, FieldKind::Value { wire, .. } if wire.is_integer())
}

/// An element of a property.
#[derive(Clone, Copy, Debug)]
struct Value {
    wire: Wire,
    meaning: Meaning,
}

impl Value {
    fn plain(wire: Wire) -> Value {
        Value { wire, meaning: Meaning::Plain }
    }
}

fn has_format(property: &Property<'_>, format: &str) -> bool {
    property.qualifiers.text("format").is_some_and(|found| found.eq_ignore_ascii_case(format))
}

/// What one element is. An extension says more than the type, and so does `pointer`.
fn value(property: &Property<'_>) -> Result<Value, String> {
    let qualifiers = &property.qualifiers;
    if let Some(wire) = qualifiers.text("extension").and_then(extension) {
        return Ok(Value::plain(wire));
    }
    if qualifiers.has("pointer") || qualifiers.has("PointerType") {
        return Ok(Value::plain(Wire::Pointer));
    }
    let own = of_type(property)?;
    let is_number = own.wire.is_integer();
    let meaning = match () {
        () if qualifiers.has("XMLFragment") => Meaning::Xml,
        () if qualifiers.text("extension").is_some_and(|extension| extension.eq_ignore_ascii_case("NoPrint")) => {
            Meaning::NoPrint
        }
        () if is_number && has_format(property, "x") => Meaning::Hex,
        () => own.meaning,
    };
    Ok(Value { meaning, ..own })
}

/// The encoding that an extension stands for, whatever the type; `None` where the type says it.
fn extension(name: &str) -> Option<Wire> {
    Some(match name.to_ascii_lowercase().as_str() {
        "guid" => Wire::Guid,
        "ipaddr" | "ipaddrv4" => Wire::IPv4,
        "ipaddrv6" => Wire::IPv6,
        "port" => Wire::Port,
        "sid" => Wire::WbemSid,
        "sizet" => Wire::SizeT,
        "wmitime" => Wire::TraceTime,
        "rstring" => Wire::Ansi,
        "rwstring" => Wire::Utf16,
        "variant" => Wire::HexDump,
        _ => return None,
    })
}

fn of_type(property: &Property<'_>) -> Result<Value, String> {
    let kind = property.kind.to_ascii_lowercase();
    let wire = match kind.as_str() {
        "uint8" | "sint8" if has_format(property, "c") => Wire::AnsiChar,
        "uint8" => Wire::UInt8,
        "sint8" => Wire::Int8,
        "uint16" => Wire::UInt16,
        "sint16" => Wire::Int16,
        "uint32" => Wire::UInt32,
        "sint32" => Wire::Int32,
        "uint64" => Wire::UInt64,
        "sint64" => Wire::Int64,
        "real32" => Wire::Float,
        "real64" => Wire::Double,
        "boolean" => Wire::Bool8,
        "char16" => Wire::Utf16Unit,
        "string" => return string(property).map(Value::plain),
        "object" => {
            let extension = property.qualifiers.text("extension");
            return Err(match extension {
                Some(extension) => format!("expected a known extension, found \"{}\"", quoted(extension)),
                None => "expected an extension of an object, found none".to_owned(),
            });
        }
        _ => return Err(format!("expected a known type, found {}", quoted(property.kind))),
    };
    Ok(Value::plain(wire))
}

/// A text: 8-bit unless its format says that it is wide, up to a NUL unless its termination says otherwise.
fn string(property: &Property<'_>) -> Result<Wire, String> {
    let is_wide = has_format(property, "w");
    let termination = property.qualifiers.text("StringTermination").unwrap_or("NullTerminated");
    Ok(match (termination.to_ascii_lowercase().as_str(), is_wide) {
        ("nullterminated", true) => Wire::Utf16,
        ("nullterminated", false) => Wire::Ansi,
        ("counted", true) => Wire::CountedUtf16,
        ("counted", false) => Wire::CountedAnsi,
        ("reversecounted", true) => Wire::ReverseCountedUtf16,
        ("reversecounted", false) => Wire::ReverseCountedAnsi,
        ("notcounted", true) => Wire::RestUtf16,
        ("notcounted", false) => Wire::RestAnsi,
        _ => return Err(format!("expected a known StringTermination, found \"{}\"", quoted(termination))),
    })
}

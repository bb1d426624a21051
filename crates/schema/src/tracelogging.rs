//! The schema that a `TraceLogging` event carries with it: event metadata (extended item 11) and provider traits
//! (extended item 12), the layouts of `TraceLoggingProvider.h`.
//!
//! Both blobs begin with a `u16` size that counts itself. `EventSource` in self-describing mode writes the same two.

use base::guid::Guid;

use super::model::{Count, EventSchema, Field, FieldKind, Length, Meaning, SchemaError, Wire};

/// Structures nested deeper than this are refused: no writer needs more, and recursion stays bounded.
pub const MAX_NESTING: usize = 32;

const IN_TYPE: u8 = 0x1f;
const IN_COUNT: u8 = 0x60;
const COUNT_NONE: u8 = 0x00;
const COUNT_CONSTANT: u8 = 0x20;
const COUNT_VARIABLE: u8 = 0x40;
const CHAIN: u8 = 0x80;
const STRUCT: u8 = 24;

/// What the provider traits say about the writer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ProviderTraits {
    /// The provider's name.
    pub name: String,
    /// The group the provider belongs to.
    pub group: Option<Guid>,
    /// The identity under which schemas of the provider's other events are filed.
    pub decode: Option<Guid>,
}

/// Reads the data of extended item 12: the provider's name and traits.
///
/// Traits of unknown type are skipped by their size; a size below 3 or beyond the blob ends the list.
///
/// # Errors
///
/// When the size word does not fit the data, or the name has no terminator.
pub fn parse_traits(data: &[u8]) -> Result<ProviderTraits, SchemaError> {
    let mut reader = Reader::sized(data)?;
    let mut traits = ProviderTraits { name: reader.name("provider name")?, ..ProviderTraits::default() };
    while let Some((kind, value)) = reader.provider_trait() {
        match kind {
            1 => traits.group = guid(value),
            2 => traits.decode = guid(value),
            _ => {}
        }
    }
    Ok(traits)
}

fn guid(value: &[u8]) -> Option<Guid> {
    value.try_into().ok().map(Guid)
}

/// Reads the data of extended item 11: the event's name and fields.
///
/// A reserved base type leaves open how long its value is: the field becomes [`Wire::RestBinary`], and those after it
/// are not described.
///
/// # Errors
///
/// When the size word does not fit the data, the description ends inside a name, a field or a structure, or structures
/// nest deeper than [`MAX_NESTING`].
pub fn parse_metadata(data: &[u8]) -> Result<EventSchema, SchemaError> {
    let mut reader = Reader::sized(data)?;
    reader.tags("event tags")?;
    let event_name = Some(reader.name("event name")?);
    let mut fields = Vec::new();
    while !reader.done() {
        fields.push(field(&mut reader, 0)?);
    }
    Ok(EventSchema { event_name, fields, ..EventSchema::default() })
}

fn field(reader: &mut Reader, depth: usize) -> Result<Field, SchemaError> {
    let start = reader.at;
    let name = reader.name("field name")?;
    let encoding = reader.u8("field type")?;
    let mut out = 0;
    if encoding & CHAIN != 0 {
        out = reader.u8("field out type")?;
        if out & CHAIN != 0 {
            reader.tags("field tags")?;
        }
        out &= !CHAIN;
    }
    let base = encoding & IN_TYPE;
    if base > 25 {
        return Ok(rest_of_payload(reader, name));
    }
    let (count, custom) = counted(reader, encoding & IN_COUNT)?;
    let kind = match (custom, base) {
        (true, STRUCT) => {
            return Err(SchemaError::at_offset(start, "expected members of a structure, found custom data"));
        }
        (true, _) => value(Wire::CountedBinary, meaning(out)),
        (false, STRUCT) => FieldKind::Struct(members(reader, usize::from(out), depth + 1)?),
        (false, _) => value(wire(base), meaning(out)),
    };
    Ok(Field { kind, count, ..Field::value(name, Wire::Null) })
}

fn value(wire: Wire, meaning: Meaning) -> FieldKind {
    FieldKind::Value { wire, meaning, length: Length::Natural }
}

/// A reserved type has no known length, so neither the value nor what follows can be distinguished.
fn rest_of_payload(reader: &mut Reader, name: String) -> Field {
    reader.at = reader.data.len();
    Field::value(name, Wire::RestBinary)
}

/// The repetition of a field, and whether its bytes are opaque custom data.
fn counted(reader: &mut Reader, kind: u8) -> Result<(Count, bool), SchemaError> {
    Ok(match kind {
        COUNT_NONE => (Count::One, false),
        COUNT_CONSTANT => (Count::Fixed(u32::from(reader.u16("constant count")?)), false),
        COUNT_VARIABLE => (Count::Prefixed, false),
        _ => {
            let length = reader.u16("length of custom type information")?;
            reader.skip(usize::from(length), "custom type information")?;
            (Count::One, true)
        }
    })
}

fn members(reader: &mut Reader, count: usize, depth: usize) -> Result<Vec<Field>, SchemaError> {
    if depth > MAX_NESTING {
        let message = format!("expected at most {MAX_NESTING} nested structures, found more");
        return Err(SchemaError::at_offset(reader.at, message));
    }
    let mut fields = Vec::new();
    for _ in 0..count {
        fields.push(field(reader, depth)?);
        if reader.done() && matches!(innermost(&fields), Some(Wire::RestBinary)) {
            break;
        }
    }
    Ok(fields)
}

/// The wire type of the last value described so far.
fn innermost(fields: &[Field]) -> Option<Wire> {
    match &fields.last()?.kind {
        FieldKind::Value { wire, .. } => Some(*wire),
        FieldKind::Struct(members) => innermost(members),
    }
}

fn wire(base: u8) -> Wire {
    match base {
        1 => Wire::Utf16,
        2 => Wire::Ansi,
        3 => Wire::Int8,
        4 => Wire::UInt8,
        5 => Wire::Int16,
        6 => Wire::UInt16,
        7 => Wire::Int32,
        8 => Wire::UInt32,
        9 => Wire::Int64,
        10 => Wire::UInt64,
        11 => Wire::Float,
        12 => Wire::Double,
        13 => Wire::Bool32,
        14 | 25 => Wire::CountedBinary,
        15 => Wire::Guid,
        16 => Wire::Pointer,
        17 => Wire::FileTime,
        18 => Wire::SystemTime,
        19 => Wire::Sid,
        20 => Wire::HexInt32,
        21 => Wire::HexInt64,
        22 => Wire::CountedUtf16,
        23 => Wire::CountedAnsi,
        // 0; `field` takes 24 for a structure and 26 to 31 for reserved before it asks here.
        _ => Wire::Null,
    }
}

fn meaning(out: u8) -> Meaning {
    match out {
        1 => Meaning::NoPrint,
        2 => Meaning::Text,
        3 => Meaning::Boolean,
        4 => Meaning::Hex,
        5 => Meaning::ProcessId,
        6 => Meaning::ThreadId,
        7 => Meaning::Port,
        8 => Meaning::IPv4,
        9 => Meaning::IPv6,
        10 => Meaning::SocketAddress,
        11 => Meaning::Xml,
        12 => Meaning::Json,
        13 => Meaning::Win32Error,
        14 => Meaning::NtStatus,
        15 => Meaning::HResult,
        16 => Meaning::FileTime,
        17 => Meaning::Signed,
        18 => Meaning::Unsigned,
        35 => Meaning::Utf8,
        36 => Meaning::Pkcs7,
        37 => Meaning::CodePointer,
        38 => Meaning::UtcTime,
        _ => Meaning::Plain,
    }
}

/// A position in a blob; every read names what it reads.
struct Reader<'a> {
    data: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// The blob within `data` that its leading size word spans.
    fn sized(data: &'a [u8]) -> Result<Self, SchemaError> {
        let mut reader = Reader { data, at: 0 };
        let size = usize::from(reader.u16("total size")?);
        match data.get(..size) {
            Some(blob) if size >= 2 => Ok(Reader { data: blob, at: 2 }),
            _ => Err(SchemaError::at_offset(0, format!("expected a total size of 2 to {}, found {size}", data.len()))),
        }
    }

    fn done(&self) -> bool {
        self.at >= self.data.len()
    }

    fn rest(&self) -> &'a [u8] {
        self.data.get(self.at..).unwrap_or_default()
    }

    fn ends_in(&self, what: &str) -> SchemaError {
        SchemaError::at_offset(self.at, format!("expected {what}, found the end of the description"))
    }

    fn u8(&mut self, what: &str) -> Result<u8, SchemaError> {
        let byte = *self.rest().first().ok_or_else(|| self.ends_in(what))?;
        self.at += 1;
        Ok(byte)
    }

    fn u16(&mut self, what: &str) -> Result<u16, SchemaError> {
        let bytes = *self.rest().first_chunk().ok_or_else(|| self.ends_in(what))?;
        self.at += 2;
        Ok(u16::from_le_bytes(bytes))
    }

    fn skip(&mut self, count: usize, what: &str) -> Result<(), SchemaError> {
        if count > self.rest().len() {
            return Err(self.ends_in(what));
        }
        self.at += count;
        Ok(())
    }

    fn tags(&mut self, what: &str) -> Result<(), SchemaError> {
        while self.u8(what)? & CHAIN != 0 {}
        Ok(())
    }

    fn name(&mut self, what: &str) -> Result<String, SchemaError> {
        let rest = self.rest();
        let length = rest.iter().position(|&byte| byte == 0).ok_or_else(|| self.ends_in(what))?;
        self.at += length + 1;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn provider_trait(&mut self) -> Option<(u8, &'a [u8])> {
        let rest = self.rest();
        let size = usize::from(u16::from_le_bytes(*rest.first_chunk()?));
        let kind = *rest.get(2)?;
        let value = rest.get(3..size)?;
        self.at += size;
        Some((kind, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Puts the size word in front.
    fn blob(body: &[u8]) -> Vec<u8> {
        let size = u16::try_from(body.len() + 2).unwrap();
        [&size.to_le_bytes()[..], body].concat()
    }

    fn metadata(body: &[u8]) -> Result<EventSchema, SchemaError> {
        parse_metadata(&blob(body))
    }

    #[test]
    fn names_types_and_out_types_are_read() {
        let schema = metadata(b"\0Started\0Pid\0\x88\x05Image\0\x01Ok\0\x84\x03").unwrap();
        assert_eq!(schema.event_name.as_deref(), Some("Started"));
        let kinds: Vec<_> = schema.fields.iter().map(|f| (f.name.as_str(), f.kind.clone())).collect();
        let expected = [
            ("Pid", value(Wire::UInt32, Meaning::ProcessId)),
            ("Image", value(Wire::Utf16, Meaning::Plain)),
            ("Ok", value(Wire::UInt8, Meaning::Boolean)),
        ];
        assert_eq!(kinds, expected);
    }

    #[test]
    fn every_base_type_has_its_wire_type() {
        let wires = [
            Wire::Null,
            Wire::Utf16,
            Wire::Ansi,
            Wire::Int8,
            Wire::UInt8,
            Wire::Int16,
            Wire::UInt16,
            Wire::Int32,
            Wire::UInt32,
            Wire::Int64,
            Wire::UInt64,
            Wire::Float,
            Wire::Double,
            Wire::Bool32,
            Wire::CountedBinary,
            Wire::Guid,
            Wire::Pointer,
            Wire::FileTime,
            Wire::SystemTime,
            Wire::Sid,
            Wire::HexInt32,
            Wire::HexInt64,
            Wire::CountedUtf16,
            Wire::CountedAnsi,
        ];
        for (base, wire) in (0u8..).zip(wires).chain([(25, Wire::CountedBinary)]) {
            let schema = metadata(&[b"\0E\0f\0".as_slice(), &[base]].concat()).unwrap();
            assert_eq!(schema.fields[0].kind, value(wire, Meaning::Plain), "base {base}");
        }
    }

    #[test]
    fn every_out_type_has_its_meaning() {
        let table = [
            (0, Meaning::Plain),
            (1, Meaning::NoPrint),
            (2, Meaning::Text),
            (3, Meaning::Boolean),
            (4, Meaning::Hex),
            (5, Meaning::ProcessId),
            (6, Meaning::ThreadId),
            (7, Meaning::Port),
            (8, Meaning::IPv4),
            (9, Meaning::IPv6),
            (10, Meaning::SocketAddress),
            (11, Meaning::Xml),
            (12, Meaning::Json),
            (13, Meaning::Win32Error),
            (14, Meaning::NtStatus),
            (15, Meaning::HResult),
            (16, Meaning::FileTime),
            (17, Meaning::Signed),
            (18, Meaning::Unsigned),
            (35, Meaning::Utf8),
            (36, Meaning::Pkcs7),
            (37, Meaning::CodePointer),
            (38, Meaning::UtcTime),
            (99, Meaning::Plain),
        ];
        for (out, meaning) in table {
            let schema = metadata(&[b"\0E\0f\0\x88".as_slice(), &[out]].concat()).unwrap();
            assert_eq!(schema.fields[0].kind, value(Wire::UInt32, meaning), "out {out}");
        }
    }

    #[test]
    fn counts_and_custom_data() {
        let schema = metadata(b"\0E\0fixed\0\x26\x03\0any\0\x46opaque\0\x64\x02\0\xaa\xbblast\0\x03").unwrap();
        let counts: Vec<_> = schema.fields.iter().map(|f| f.count).collect();
        assert_eq!(counts, [Count::Fixed(3), Count::Prefixed, Count::One, Count::One]);
        assert_eq!(schema.fields[2].kind, value(Wire::CountedBinary, Meaning::Plain));
        assert_eq!(schema.fields[3].name, "last");
    }

    #[test]
    fn a_structure_takes_the_fields_that_follow() {
        // Outer { a, Inner[] { b, c } }, d
        let schema = metadata(b"\0E\0Outer\0\x98\x02a\0\x04Inner\0\xd8\x02b\0\x04c\0\x04d\0\x04").unwrap();
        let [outer, d] = &schema.fields[..] else { panic!("{schema:?}") };
        assert_eq!(d.name, "d");
        let FieldKind::Struct(members) = &outer.kind else { panic!("{outer:?}") };
        assert_eq!(members[1].count, Count::Prefixed);
        let FieldKind::Struct(inner) = &members[1].kind else { panic!("{members:?}") };
        assert_eq!(inner.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["b", "c"]);
    }

    #[test]
    fn tags_are_stepped_over() {
        let schema = metadata(b"\x81\x82\x03E\0f\0\x88\x84\x81\x01g\0\x04").unwrap();
        assert_eq!(schema.fields[0].kind, value(Wire::UInt32, Meaning::Hex));
        assert_eq!(schema.fields[1].name, "g");
    }

    #[test]
    fn a_reserved_type_takes_the_rest_of_the_payload() {
        let schema = metadata(b"\0E\0a\0\x04S\0\x98\x02odd\0\x1fnever\0\x04").unwrap();
        assert_eq!(schema.fields.len(), 2);
        assert_eq!(schema.fields[1].kind, FieldKind::Struct(vec![Field::value("odd", Wire::RestBinary)]));
    }

    #[test]
    fn faults_name_their_offset() {
        let table: [(&[u8], &str); 7] = [
            (b"\x01", "offset 0x0: expected total size, found the end of the description"),
            (b"\x09\0", "offset 0x0: expected a total size of 2 to 2, found 9"),
            (b"\x04\0\0E", "offset 0x3: expected event name, found the end of the description"),
            (b"\x07\0\0E\0f\0", "offset 0x7: expected field type, found the end of the description"),
            (b"\x08\0\0E\0f\0\x88", "offset 0x8: expected field out type, found the end of the description"),
            (b"\x09\0\0E\0f\0\x28\x01", "offset 0x8: expected constant count, found the end of the description"),
            (b"\x09\0\0E\0S\0\x98\x01", "offset 0x9: expected field name, found the end of the description"),
        ];
        for (data, message) in table {
            assert_eq!(parse_metadata(data).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn nesting_is_capped() {
        let nested = |depth: usize| [b"\0E\0".to_vec(), b"S\0\x98\x01".repeat(depth), b"x\0\x04".to_vec()].concat();
        assert!(metadata(&nested(MAX_NESTING)).is_ok());
        let error = metadata(&nested(MAX_NESTING + 1)).unwrap_err();
        assert_eq!(error.message, "expected at most 32 nested structures, found more");
    }

    #[test]
    fn traits_hold_name_group_and_decode_guid() {
        let group = [7; 16];
        let decode = [9; 16];
        let body = [b"Prov\0\x13\0\x01".as_slice(), &group, b"\x04\0\x63!\x13\0\x02", &decode].concat();
        let expected = ProviderTraits { name: "Prov".into(), group: Some(Guid(group)), decode: Some(Guid(decode)) };
        assert_eq!(parse_traits(&blob(&body)), Ok(expected));
        let named = ProviderTraits { name: "P".into(), ..ProviderTraits::default() };
        assert_eq!(parse_traits(b"\x04\0P\0"), Ok(named.clone()));
        assert_eq!(parse_traits(b"\x07\0P\0\x02\0\x01"), Ok(named));
        assert_eq!(parse_traits(b"\x04\0Pr").unwrap_err().location, "offset 0x2");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(body in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = metadata(&body);
            let _ = parse_metadata(&body);
            let _ = parse_traits(&blob(&body));
        }
    }
}

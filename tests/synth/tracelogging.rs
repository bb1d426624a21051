//! TraceLogging metadata and provider traits: the blobs of the items 0B and 0C.

use super::payload::{Guid, Payload, len16, payload};

/// In-types, low 5 bits.
pub mod ty {
    pub const NULL: u8 = 0;
    pub const UTF16Z: u8 = 1;
    pub const ANSIZ: u8 = 2;
    pub const INT8: u8 = 3;
    pub const UINT8: u8 = 4;
    pub const INT16: u8 = 5;
    pub const UINT16: u8 = 6;
    pub const INT32: u8 = 7;
    pub const UINT32: u8 = 8;
    pub const INT64: u8 = 9;
    pub const UINT64: u8 = 10;
    pub const FLOAT: u8 = 11;
    pub const DOUBLE: u8 = 12;
    pub const BOOL32: u8 = 13;
    pub const BINARY: u8 = 14;
    pub const GUID: u8 = 15;
    pub const POINTER: u8 = 16;
    pub const FILETIME: u8 = 17;
    pub const SYSTEMTIME: u8 = 18;
    pub const SID: u8 = 19;
    pub const HEX32: u8 = 20;
    pub const HEX64: u8 = 21;
    pub const COUNTED_UTF16: u8 = 22;
    pub const COUNTED_ANSI: u8 = 23;
    pub const STRUCT: u8 = 24;
    pub const COUNTED_BINARY: u8 = 25;
}

/// Out-types, low 7 bits.
pub mod out {
    pub const DEFAULT: u8 = 0;
    pub const NO_PRINT: u8 = 1;
    pub const STRING: u8 = 2;
    pub const BOOLEAN: u8 = 3;
    pub const HEX: u8 = 4;
    pub const PID: u8 = 5;
    pub const TID: u8 = 6;
    pub const PORT: u8 = 7;
    pub const IPV4: u8 = 8;
    pub const IPV6: u8 = 9;
    pub const SOCKET_ADDRESS: u8 = 10;
    pub const XML: u8 = 11;
    pub const JSON: u8 = 12;
    pub const WIN32_ERROR: u8 = 13;
    pub const NTSTATUS: u8 = 14;
    pub const HRESULT: u8 = 15;
    pub const FILETIME: u8 = 16;
    pub const SIGNED: u8 = 17;
    pub const UNSIGNED: u8 = 18;
    pub const UTF8: u8 = 35;
    pub const PKCS7: u8 = 36;
    pub const CODE_POINTER: u8 = 37;
    pub const DATETIME_UTC: u8 = 38;
}

/// How often a field's value is there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Count {
    Scalar,
    Constant(u16),
    Variable,
    Custom(Vec<u8>),
}

/// One field of an event's metadata.
#[derive(Clone, Debug)]
pub struct Field {
    name: Vec<u8>,
    kind: u8,
    out: Option<u8>,
    tags: Vec<u8>,
    count: Count,
    members: Vec<Field>,
}

/// A field of an in-type from [`ty`].
pub fn field(name: &str, kind: u8) -> Field {
    let name = name.as_bytes().to_vec();
    Field { name, kind, out: None, tags: Vec::new(), count: Count::Scalar, members: Vec::new() }
}

/// A struct of these members; its out byte is their number.
pub fn structure(name: &str, members: impl IntoIterator<Item = Field>) -> Field {
    let members: Vec<Field> = members.into_iter().collect();
    let count = u8::try_from(members.len()).expect("a struct has at most 127 members");
    Field { members, ..field(name, ty::STRUCT).out(count) }
}

impl Field {
    /// An out-type from [`out`], or another number of members for a struct.
    #[must_use]
    pub fn out(mut self, out: u8) -> Self {
        self.out = Some(out);
        self
    }

    /// Tag bytes as they lie on disk (bit 7 of all but the last set); they bring the out byte along.
    #[must_use]
    pub fn tags(mut self, tags: &[u8]) -> Self {
        self.tags = tags.to_vec();
        self
    }

    /// Always `count` values, without a count in the payload.
    #[must_use]
    pub fn constant(mut self, count: u16) -> Self {
        self.count = Count::Constant(count);
        self
    }

    /// As many values as a u16 in the payload says.
    #[must_use]
    pub fn variable(mut self) -> Self {
        self.count = Count::Variable;
        self
    }

    /// Opaque bytes behind a u16 length in the payload, described by `info`.
    #[must_use]
    pub fn custom(mut self, info: &[u8]) -> Self {
        self.count = Count::Custom(info.to_vec());
        self
    }

    fn write(&self, to: Payload) -> Payload {
        let count_bits = match self.count {
            Count::Scalar => 0x00,
            Count::Constant(_) => 0x20,
            Count::Variable => 0x40,
            Count::Custom(_) => 0x60,
        };
        let has_out = self.out.is_some() || !self.tags.is_empty();
        let mut to = to.bytes(&self.name).u8(0).u8(self.kind | count_bits | if has_out { 0x80 } else { 0 });
        if has_out {
            to = to.u8(self.out.unwrap_or(0) | if self.tags.is_empty() { 0 } else { 0x80 }).bytes(&self.tags);
        }
        to = match &self.count {
            Count::Constant(count) => to.u16(*count),
            Count::Custom(info) => to.counted(info),
            Count::Scalar | Count::Variable => to,
        };
        self.members.iter().fold(to, |to, member| member.write(to))
    }
}

/// Event metadata, item 0B.
#[derive(Clone, Debug)]
pub struct Schema {
    name: Vec<u8>,
    tags: Vec<u8>,
    fields: Vec<Field>,
}

/// The metadata of an event of this name, without tags (one byte 00) and fields.
pub fn schema(name: &str) -> Schema {
    Schema { name: name.as_bytes().to_vec(), tags: vec![0], fields: Vec::new() }
}

impl Schema {
    /// Tag bytes as they lie on disk.
    #[must_use]
    pub fn tags(mut self, tags: &[u8]) -> Self {
        self.tags = tags.to_vec();
        self
    }

    #[must_use]
    pub fn field(mut self, field: Field) -> Self {
        self.fields.push(field);
        self
    }
}

impl From<Schema> for Vec<u8> {
    fn from(schema: Schema) -> Self {
        let start = payload().bytes(&schema.tags).bytes(&schema.name).u8(0);
        sized(&schema.fields.iter().fold(start, |body, field| field.write(body)))
    }
}

/// Provider traits, item 0C.
#[derive(Clone, Debug)]
pub struct Traits(Payload);

/// The traits of a provider of this name.
pub fn traits(name: &str) -> Traits {
    Traits(payload().astr(name))
}

impl Traits {
    /// A trait of any type.
    #[must_use]
    pub fn entry(self, kind: u8, data: &[u8]) -> Self {
        Self(self.0.u16(len16(3 + data.len())).u8(kind).bytes(data))
    }

    /// Trait 1: the provider group.
    #[must_use]
    pub fn group(self, group: Guid) -> Self {
        self.entry(1, &group)
    }

    /// Trait 2: the GUID to decode by.
    #[must_use]
    pub fn decode(self, decode: Guid) -> Self {
        self.entry(2, &decode)
    }
}

impl From<Traits> for Vec<u8> {
    fn from(traits: Traits) -> Self {
        sized(&traits.0)
    }
}

/// The u16 total size, itself included, before the body.
fn sized(body: &Payload) -> Vec<u8> {
    payload().u16(len16(2 + body.len())).bytes(&body.0).into()
}

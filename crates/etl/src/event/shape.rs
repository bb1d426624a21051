//! What distinguishes one event shape from another.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use base::guid::Guid;
use hashbrown::Equivalent;
use serde::{Deserialize, Serialize};

use super::items::Items;
use super::view::FileContext;
use super::walk::RawEvent;
use crate::layout::extended::item_type;
use crate::layout::header::{
    ClassicHeader, EventHeader, HeaderFamily, KernelHeader, MessageHeader, event_flags, message_flags,
};
use crate::layout::kernel;

/// The fixed part of an event shape: everything that decides how the payload is read, but for TraceLogging metadata.
///
/// Ordered by provider, then by what the provider calls the event, so that the catalog reads well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EventIdentity {
    /// The provider, event class or message class; zero where the header has none.
    pub provider: Guid,
    /// The hook group of a kernel event, else 0.
    pub group: u8,
    /// Event id or message number; 0 for classic and kernel events.
    pub id: u16,
    /// Version of the payload; 0 for messages.
    pub version: u16,
    /// The opcode; 0 for messages.
    pub opcode: u8,
    /// `EventProperty` of an event header, else 0.
    pub property: u16,
    /// Pointer size of the payload in bytes.
    pub pointer_size: u8,
    /// The header family.
    pub family: HeaderFamily,
}

/// A shape's identity together with its TraceLogging metadata (empty for all others), borrowed from the event.
#[derive(Clone, Copy, Debug)]
pub struct ShapeRef<'a> {
    /// The fixed part.
    pub identity: EventIdentity,
    /// Data of the metadata item, whole.
    pub metadata: &'a [u8],
}

/// An event shape: rows of one shape decode alike.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Shape {
    /// The fixed part.
    pub identity: EventIdentity,
    /// Data of the TraceLogging metadata item, whole; empty for all other events.
    #[serde(with = "hex")]
    pub metadata: Box<[u8]>,
}

/// Every event has a pointer size.
const NO_POINTER_SIZE: u8 = 0;

impl EventIdentity {
    /// The identity of an event of a file.
    #[inline]
    pub fn of(event: &RawEvent<'_>, file: &FileContext) -> EventIdentity {
        let family = event.family;
        let mut identity = EventIdentity {
            provider: Guid::ZERO,
            group: 0,
            id: 0,
            version: 0,
            opcode: 0,
            property: 0,
            pointer_size: family.pointer_size().unwrap_or(file.pointer_size),
            family,
        };
        match family {
            _ if family.is_kernel() => event.header().map(|header| identity.read_hook(header)),
            _ if family.is_event() => event.header().map(|header| identity.read_event(header)),
            _ if family.is_classic() => event.header().map(|header| identity.read_class(header)),
            HeaderFamily::Message => event.header().map(|header| identity.read_message(header, event)),
            _ => None,
        };
        identity
    }

    #[inline]
    fn read_hook(&mut self, header: &KernelHeader) {
        (self.group, self.opcode) = kernel::resolve(header.group, header.kind);
        self.provider = kernel::kernel_class(self.group).map_or(Guid::ZERO, |class| class.guid);
        self.version = u16::from(header.version);
    }

    #[inline]
    fn read_event(&mut self, header: &EventHeader) {
        let flags = header.flags.get();
        self.pointer_size = match flags & (event_flags::HEADER_32_BIT | event_flags::HEADER_64_BIT) {
            event_flags::HEADER_32_BIT => 4,
            event_flags::HEADER_64_BIT => 8,
            _ => self.pointer_size,
        };
        self.provider = Guid(header.provider_id);
        self.id = header.id.get();
        self.version = u16::from(header.version);
        self.opcode = header.opcode;
        self.property = header.event_property.get();
    }

    #[inline]
    fn read_class(&mut self, header: &ClassicHeader) {
        self.provider = Guid(header.guid);
        self.version = header.version.get();
        self.opcode = header.class_type;
    }

    fn read_message(&mut self, header: &MessageHeader, event: &RawEvent<'_>) {
        let Some(message) = event.message() else { return };
        self.pointer_size = match header.flags.get() {
            flags if flags & message_flags::POINTER_64 != 0 => 8,
            flags if flags & message_flags::POINTER_32 != 0 => 4,
            _ => self.pointer_size,
        };
        self.provider = message.guid.map_or(Guid::ZERO, Guid);
        self.id = header.number.get();
    }

    /// What stands for the events of a header family that are not distinguished, because the recording has too many event
    /// shapes. Behind all others in order.
    pub fn rest(family: HeaderFamily) -> EventIdentity {
        EventIdentity {
            provider: Guid([0xFF; 16]),
            group: 0,
            id: 0,
            version: 0,
            opcode: 0,
            property: 0,
            pointer_size: NO_POINTER_SIZE,
            family,
        }
    }

    /// Whether it stands for events that are not distinguished. Nothing but their header family is common to them.
    pub fn is_rest(&self) -> bool {
        self.pointer_size == NO_POINTER_SIZE
    }

    /// The provider, event class or message class, where the header has one.
    pub fn provider_id(&self) -> Option<Guid> {
        match self.family {
            _ if self.is_rest() => None,
            HeaderFamily::Timed | HeaderFamily::Error | HeaderFamily::Wnode => None,
            HeaderFamily::Message => (!self.provider.is_zero()).then_some(self.provider),
            family if family.is_kernel() => kernel::kernel_class(self.group).map(|class| class.guid),
            _ => Some(self.provider),
        }
    }

    /// The hook group, of kernel events.
    pub fn kernel_group(&self) -> Option<u8> {
        (!self.is_rest() && self.family.is_kernel()).then_some(self.group)
    }

    /// `EventProperty`, of event headers.
    pub fn event_property(&self) -> Option<u16> {
        (!self.is_rest() && self.family.is_event()).then_some(self.property)
    }

    /// Pointer size of the payload in bytes; `None` of events that are not distinguished.
    pub fn known_pointer_size(&self) -> Option<u8> {
        (!self.is_rest()).then_some(self.pointer_size)
    }

    /// The event id that consumers see: not that of classic and kernel events, which have an opcode instead.
    pub fn event_id(&self) -> Option<u16> {
        (!self.is_rest() && (self.family.is_event() || self.family == HeaderFamily::Message)).then_some(self.id)
    }

    /// The opcode, where the header has one.
    pub fn event_opcode(&self) -> Option<u8> {
        (!self.is_rest() && (self.family.is_event() || self.family.is_kernel() || self.family.is_classic()))
            .then_some(self.opcode)
    }

    /// The version of the payload, where the header has one.
    pub fn event_version(&self) -> Option<u16> {
        self.event_opcode().map(|_| self.version)
    }
}

impl Hash for EventIdentity {
    /// Three writes instead of nine: every event passes through here.
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let names = u64::from(self.id)
            | u64::from(self.version) << 16
            | u64::from(self.property) << 32
            | u64::from(self.opcode) << 48
            | u64::from(self.group) << 56;
        state.write_u128(u128::from_ne_bytes(self.provider.0));
        state.write_u64(names);
        state.write_u16(u16::from(self.family as u8) << 8 | u16::from(self.pointer_size));
    }
}

impl PartialEq for ShapeRef<'_> {
    /// Most events have no metadata, and comparing nothing with nothing is not free: the C library's comparison of zero
    /// bytes reads through a masked load, which takes a hundred cycles at the address of an empty slice.
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        let (own, others) = (self.metadata, other.metadata);
        self.identity == other.identity && own.len() == others.len() && (own.is_empty() || own == others)
    }
}

impl Eq for ShapeRef<'_> {}

impl PartialOrd for ShapeRef<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ShapeRef<'_> {
    /// The order of the keys.
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.identity, self.metadata).cmp(&(&other.identity, other.metadata))
    }
}

impl RawEvent<'_> {
    /// The provider or class of a manifest, TraceLogging or full classic event; `None` for events of all other header
    /// families, which keep it elsewhere or have none.
    #[inline]
    pub fn provider(&self) -> Option<Guid> {
        match self.family {
            family if family.is_event() => self.header::<EventHeader>().map(|header| Guid(header.provider_id)),
            family if family.is_classic() => self.header::<ClassicHeader>().map(|header| Guid(header.guid)),
            _ => None,
        }
    }
}

impl<'a> ShapeRef<'a> {
    /// The shape of an event of a file.
    #[inline]
    pub fn of(event: &RawEvent<'a>, file: &FileContext) -> ShapeRef<'a> {
        ShapeRef { identity: EventIdentity::of(event, file), metadata: trace_logging_metadata(event) }
    }

    /// The shape of all events of a header family that are not distinguished.
    pub fn rest(family: HeaderFamily) -> ShapeRef<'a> {
        ShapeRef { identity: EventIdentity::rest(family), metadata: &[] }
    }

    /// An owned copy.
    pub fn to_key(&self) -> Shape {
        Shape { identity: self.identity, metadata: self.metadata.into() }
    }
}

/// The TraceLogging metadata of an event, or nothing.
#[inline]
pub fn trace_logging_metadata<'a>(event: &RawEvent<'a>) -> &'a [u8] {
    let items = Items::of(event);
    if items.is_empty() {
        return &[];
    }
    items.clone().find(|item| item.item_type == item_type::EVENT_SCHEMA_TL).map_or(&[], |item| item.data)
}

impl Shape {
    /// The shape of all events of a header family that are not distinguished.
    pub fn rest(family: HeaderFamily) -> Shape {
        ShapeRef::rest(family).to_key()
    }

    /// A borrowed form.
    pub fn as_ref(&self) -> ShapeRef<'_> {
        ShapeRef { identity: self.identity, metadata: &self.metadata }
    }
}

impl Hash for ShapeRef<'_> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
        if !self.metadata.is_empty() {
            state.write(self.metadata);
        }
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_ref().hash(state);
    }
}

impl Equivalent<Shape> for ShapeRef<'_> {
    #[inline]
    fn equivalent(&self, key: &Shape) -> bool {
        *self == key.as_ref()
    }
}

/// Bytes as hexadecimal digits, which take half the room of a list of numbers.
mod hex {
    use std::borrow::Cow;
    use std::fmt::Write;

    use serde::de::{Deserialize, Deserializer, Error};
    use serde::ser::Serializer;

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
        let mut text = String::with_capacity(2 * bytes.len());
        bytes.iter().try_for_each(|byte| write!(text, "{byte:02x}")).map_err(serde::ser::Error::custom)?;
        serializer.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Box<[u8]>, D::Error> {
        let text = <Cow<'_, str>>::deserialize(deserializer)?;
        let digit = |character: u8| char::from(character).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes = pairs.iter().map(|&[high, low]| Some(digit(high)? << 4 | digit(low)?)).collect::<Option<_>>();
        bytes.filter(|_| rest.is_empty()).ok_or_else(|| Error::custom("expected pairs of hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_survives_being_written() {
        let identity = EventIdentity { provider: Guid([7; 16]), id: 9, ..EventIdentity::rest(HeaderFamily::Event64) };
        for metadata in [&[][..], &[0, 255, 16, 1]] {
            let shape = Shape { identity, metadata: metadata.into() };
            let text = serde_json::to_string(&shape).unwrap();
            assert_eq!(serde_json::from_str::<Shape>(&text).unwrap(), shape, "{text}");
        }
        for bad in ["\"0\"", "\"0g\"", "\"é\"", "12"] {
            let text = serde_json::to_string(&Shape { identity, metadata: [].into() }).unwrap();
            let text = text.replace("\"metadata\":\"\"", &format!("\"metadata\":{bad}"));
            assert!(serde_json::from_str::<Shape>(&text).is_err(), "{text}");
        }
    }
}

//! Any events as packets of `LINKTYPE_ETW`, which the dissector `etw` of Wireshark shows.
//!
//! ```text
//! EVENT_HEADER            80 bytes, as evntcons.h has it
//! ETW_BUFFER_CONTEXT       4       processor, alignment, session
//! lengths                 12       of the payload, the message and the provider's name, without what fills them up
//! payload, message, name           the texts in UTF-16 with a zero behind, each filled up to 4 bytes
//! ```
//!
//! The layout is that of <https://www.tcpdump.org/linktypes/LINKTYPE_ETW.html>. What a trace keeps of a header that it has no column
//! for is zero: the size of the event in its buffer, and the session.

use std::collections::HashMap;

use base::clock::UNIX_EPOCH;
use base::error::{Error, ErrorKind, Result};
use base::guid::Guid;
use base::words::Words as _;
use conversion::convert::RawPolicy;
use conversion::read_columns;
use conversion::sidecar::catalog::CatalogRow;

use super::blocks::{Interface, LinkType, Packet, interface, packet, section};
use super::fields::{Fields, Reading};
use super::packets::application;
use crate::cut::cut;
use crate::exported::Exported;
use crate::opened::Opened;
use crate::output::Output;
use crate::sorted::Sorted;

/// Bits of `EVENT_HEADER.Flags`.
const TRACE_MESSAGE: u16 = 0x08;
const NO_CPU_TIME: u16 = 0x10;
const HEADER_32_BIT: u16 = 0x20;
const HEADER_64_BIT: u16 = 0x40;
const CLASSIC_HEADER: u16 = 0x100;

/// The id of a process or a thread that Windows puts where there is none.
const NOBODY: u32 = u32::MAX;
/// Bytes of a text that is written.
const MOST_TEXT: usize = 8192;

/// What all events of a shape have in common.
#[derive(Debug, Default)]
struct Shape {
    provider: Guid,
    /// The name of the provider, as [`utf16`] has it.
    name: Vec<u8>,
    flags: u16,
    property: u16,
}

read_columns! {
    /// A row of the table `catalog`.
    struct ShapeRow<'b> of CatalogRow<'static> {
        shape: u32,
        provider_id: Option<&'b str>,
        provider_name: Option<&'b str>,
        kind: &'b str,
        pointer_size: Option<u8>,
        event_property: Option<u16>,
    }
}

read_columns! {
    /// A row of an event.
    struct EventRow<'b> {
        seq: Option<i64> = "seq",
        time: Option<i64> = "timestamp_ns",
        cpu: Option<u16> = "cpu",
        process: Option<u32> = "process_id",
        thread: Option<u32> = "thread_id",
        id: Option<u16> = "event_id",
        version: Option<u8> = "event_version",
        opcode: Option<u8> = "opcode",
        level: Option<u8> = "level",
        task: Option<u16> = "task",
        channel: Option<u8> = "channel",
        keywords: Option<i64> = "keywords",
        name: Option<&'b str> = "event_name",
        message: Option<&'b str> = "message",
        rendered: Option<&'b str> = "rendered_message",
        activity: Option<&'b str> = "activity_id",
        processor_time: Option<i64> = "processor_time",
        shape: Option<u32> = "shape",
        payload: Option<&'b [u8]> = "payload",
    }
}

/// Writes the events of a trace as packets.
///
/// # Errors
/// [`ErrorKind::Usage`] when the trace does not keep the payloads of its events; [`ErrorKind::Output`] when it cannot be read, or the
/// file cannot be written.
pub(super) fn events(opened: &Opened<'_>, output: &mut Output<'_>) -> Result<Exported> {
    let raw = opened.source.record.options.get("raw").and_then(|raw| raw.as_str());
    if raw != Some(RawPolicy::Always.word()) {
        let message = "the trace does not keep the payloads of its events, of which their packets are made";
        let hint = "convert it with --raw always, or name the recording in its place";
        return Err(Error::new(ErrorKind::Usage, message).with_hint(hint));
    }
    let mut exported = Exported::default();
    let (shapes, nothing) = (shapes(opened)?, Shape::default());
    let mut sorted = Sorted::begin()?;
    for dataset in opened.source.datasets() {
        let mut failed = Ok(());
        opened.events::<EventRow<'_>>(dataset, |row| {
            let Some((seq, time)) = row.seq.zip(row.time).filter(|_| failed.is_ok()) else { return };
            let shape = row.shape.and_then(|shape| shapes.get(&shape)).unwrap_or(&nothing);
            let mut fields = Fields::default();
            fields.number(Some(time));
            fields.bytes(Some(&bytes(&row, shape)));
            failed = sorted.add(seq, &fields.0);
        })?;
        failed?;
    }
    let whole = Interface { name: "Event Tracing for Windows".to_owned(), ..Interface::default() };
    let mut head = section(&application(), &format!("events of the trace {}", opened.name()));
    head.extend(interface(LinkType::Etw, &whole));
    sorted.each(opened.source.progress(), |record| {
        let mut fields = Reading(record);
        let (time, bytes) = (fields.number().unwrap_or_default(), fields.bytes().unwrap_or_default());
        exported.events = exported.events.saturating_add(1);
        output.put(&std::mem::take(&mut head))?;
        output.put(&packet(&Packet { time, bytes, ..Packet::default() }))
    })?;
    Ok(exported)
}

fn shapes(opened: &Opened<'_>) -> Result<HashMap<u32, Shape>> {
    let mut shapes = HashMap::new();
    opened.source.sidecar::<ShapeRow<'_>>(|row| {
        let pointers = match row.pointer_size {
            Some(4) => HEADER_32_BIT,
            Some(8) => HEADER_64_BIT,
            _ => 0,
        };
        let kind = match row.kind {
            "classic" => CLASSIC_HEADER,
            "message" => TRACE_MESSAGE,
            _ => 0,
        };
        let shape = Shape {
            provider: guid(row.provider_id),
            name: utf16(row.provider_name.unwrap_or_default()),
            flags: pointers | kind,
            property: row.event_property.unwrap_or(0),
        };
        shapes.insert(row.shape, shape);
    })?;
    Ok(shapes)
}

fn guid(text: Option<&str>) -> Guid {
    text.and_then(|text| text.parse().ok()).unwrap_or(Guid::ZERO)
}

/// A packet of an event.
fn bytes(row: &EventRow<'_>, shape: &Shape) -> Vec<u8> {
    let mut bytes = Vec::new();
    let no_time = if row.processor_time.is_none() { NO_CPU_TIME } else { 0 };
    for number in [0, 0, shape.flags | no_time, shape.property] {
        bytes.extend_from_slice(&number.to_le_bytes());
    }
    for id in [row.thread, row.process] {
        bytes.extend_from_slice(&id.unwrap_or(NOBODY).to_le_bytes());
    }
    let time = row.time.unwrap_or_default().div_euclid(100).saturating_add(UNIX_EPOCH.0);
    bytes.extend_from_slice(&time.to_le_bytes());
    bytes.extend_from_slice(&shape.provider.0);
    // EVENT_DESCRIPTOR.
    bytes.extend_from_slice(&row.id.unwrap_or(0).to_le_bytes());
    bytes.extend([row.version, row.channel, row.level, row.opcode].map(|byte| byte.unwrap_or(0)));
    bytes.extend_from_slice(&row.task.unwrap_or(0).to_le_bytes());
    bytes.extend_from_slice(&row.keywords.unwrap_or(0).to_le_bytes());
    bytes.extend_from_slice(&row.processor_time.unwrap_or(0).to_le_bytes());
    bytes.extend_from_slice(&guid(row.activity).0);
    // ETW_BUFFER_CONTEXT: the processor by 16 bits, as with EVENT_HEADER_FLAG_PROCESSOR_INDEX, and no session.
    bytes.extend_from_slice(&row.cpu.unwrap_or(0).to_le_bytes());
    bytes.extend_from_slice(&[0; 2]);
    let message = utf16(row.rendered.or(row.message).or(row.name).unwrap_or_default());
    let parts: [&[u8]; 3] = [row.payload.unwrap_or_default(), &message, &shape.name];
    for part in &parts {
        bytes.extend_from_slice(&u32::try_from(part.len()).unwrap_or(u32::MAX).to_le_bytes());
    }
    for part in &parts {
        bytes.extend_from_slice(part);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
    }
    bytes
}

/// A text as UTF-16 with a zero behind; nothing of an empty one.
fn utf16(text: &str) -> Vec<u8> {
    if text.is_empty() {
        return Vec::new();
    }
    let units = cut(text, MOST_TEXT).encode_utf16().filter(|unit| *unit != 0).chain([0]);
    units.flat_map(u16::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets from the figures of tcpdump.org and of `evntcons.h`.
    #[test]
    fn an_event_lies_where_the_link_type_has_it() {
        let row = EventRow {
            seq: Some(0),
            time: Some(123_456_789_000),
            cpu: Some(3),
            process: Some(4660),
            thread: None,
            id: Some(0x0102),
            version: Some(5),
            opcode: Some(8),
            level: Some(7),
            task: Some(0x0a09),
            channel: Some(6),
            keywords: Some(-2),
            name: Some("Task/Start"),
            message: None,
            rendered: None,
            activity: Some("00112233-4455-6677-8899-aabbccddeeff"),
            processor_time: None,
            shape: None,
            payload: Some(b"12345"),
        };
        let provider = "01020304-0506-0708-090a-0b0c0d0e0f10".parse().unwrap();
        let shape = Shape { provider, name: utf16("P"), flags: HEADER_64_BIT, property: 1 };
        let bytes = bytes(&row, &shape);
        assert_eq!(bytes[..8], [0, 0, 0, 0, 0x50, 0, 1, 0]);
        assert_eq!(bytes[8..16], [255, 255, 255, 255, 0x34, 0x12, 0, 0]);
        assert_eq!(bytes[16..24], 116_444_737_234_567_890i64.to_le_bytes());
        assert_eq!(bytes[24..40], [4, 3, 2, 1, 6, 5, 8, 7, 9, 10, 11, 12, 13, 14, 15, 16]);
        assert_eq!(bytes[40..56], [2, 1, 5, 6, 7, 8, 9, 10, 254, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(bytes[56..80], [&[0; 8][..], &guid(row.activity).0].concat());
        assert_eq!(bytes[80..96], [3, 0, 0, 0, 5, 0, 0, 0, 22, 0, 0, 0, 4, 0, 0, 0]);
        assert_eq!(bytes[96..112], *b"12345\0\0\0T\0a\0s\0k\0");
        assert_eq!(bytes[bytes.len() - 4..], *b"P\0\0\0");
        assert_eq!(bytes.len(), 96 + 8 + 24 + 4);
    }
}

//! Every byte of a file has a place: header of a buffer, header of an event, items, payload, alignment, unused end.

#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::path::PathBuf;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::survey::{BufferSummary, FileSurvey, SurveyOptions};
use etl::buffer::content::{self, Scratch};
use etl::event::walk::{RawEvent, Walk, WalkStep};
use etl::event::{Event, FileContext};
use etl::input::{Input, LocalFile};
use etl::layout::header::HeaderFamily;
use support::{Sandbox, corpus};
use synth::*;

/// Bytes of a file by their place; those of compressed buffers as they are when expanded.
#[derive(Debug, Default, PartialEq, Eq)]
struct Bytes {
    buffer_headers: u64,
    event_headers: u64,
    items: u64,
    payload: u64,
    alignment: u64,
    unused: u64,
    unexplained: u64,
    /// What compression saved.
    saved: i64,
}

impl Bytes {
    fn total(&self) -> i64 {
        let parts = [self.buffer_headers, self.event_headers, self.items, self.payload, self.alignment, self.unused];
        i64::try_from(parts.iter().sum::<u64>() + self.unexplained).unwrap() - self.saved
    }

    fn buffer(&mut self, file: &FileSurvey, input: &LocalFile, record: &BufferSummary, scratch: &mut Scratch) {
        let extent = &record.extent;
        let content = content::read(input, extent, file.session.max_buffer_size(), scratch).unwrap();
        self.buffer_headers += 72;
        self.unexplained += content.fault.map_or(0, |fault| u64::from(fault.missing_bytes()));
        self.events(content.bytes(), &file.session.context());
        let in_memory = 72 + content.bytes().len() as u64;
        if extent.is_compressed() {
            self.saved += i64::try_from(in_memory).unwrap() - i64::from(extent.stored_len);
            return;
        }
        let mut rest = Vec::new();
        let len = u64::from(extent.stored_len) - in_memory;
        let rest = input.bytes(extent.offset + in_memory, usize::try_from(len).unwrap(), &mut rest).unwrap();
        let is_filler = rest.iter().all(|&byte| byte == 0xFF) || rest.iter().all(|&byte| byte == 0);
        *(if is_filler { &mut self.unused } else { &mut self.unexplained }) += len;
    }

    fn events(&mut self, bytes: &[u8], context: &FileContext) {
        let mut end = 0;
        for step in Walk::new(bytes, 0) {
            let (start, len) = match &step {
                WalkStep::Event(raw) => (raw.offset, raw.bytes.len()),
                WalkStep::Damage { offset, len, .. } => (*offset, *len as usize),
            };
            self.alignment += u64::from(start) - end;
            end = u64::from(start) + len as u64;
            match step {
                WalkStep::Event(raw) => self.event(&raw, context),
                WalkStep::Damage { len, .. } => self.unexplained += u64::from(len),
            }
        }
        // What is behind the last event within the data: its alignment.
        let rest = bytes.len() as u64 - end;
        *(if rest < 8 { &mut self.alignment } else { &mut self.unexplained }) += rest;
    }

    fn event(&mut self, raw: &RawEvent<'_>, context: &FileContext) {
        let event = Event::of(raw, context);
        let items: usize = event.items.clone().map(|item| (8 + item.data.len()).next_multiple_of(8)).sum();
        let header = header_len(raw);
        self.event_headers += header;
        self.items += items as u64;
        self.payload += event.payload.len() as u64;
        let explained = header + items as u64 + event.payload.len() as u64;
        self.unexplained += explained.abs_diff(raw.bytes.len() as u64);
    }
}

/// Bytes before items and payload, written down a second time.
fn header_len(raw: &RawEvent<'_>) -> u64 {
    use HeaderFamily::*;
    let extension = u64::from(raw.bytes[1]);
    let counters = 8 * ((extension & 7) + (extension >> 7));
    match raw.family {
        System32 | System64 => 0x20 + counters,
        Compact32 | Compact64 => 0x18 + counters,
        PerfInfo32 | PerfInfo64 => 0x10 + counters,
        Classic32 | Classic64 => 0x30,
        Instance32 | Instance64 => 0x48,
        Event32 | Event64 => 0x50,
        Timed => 16,
        Error | Wnode => 4,
        Message => {
            let flags = u16::from_le_bytes([raw.bytes[6], raw.bytes[7]]);
            let parts = [(0x01, 4), (0x08, 8), (0x20, 8)];
            let identity = if flags & 0x04 != 0 { 4 } else { u64::from(flags & 0x02) * 8 };
            8 + identity + parts.iter().filter(|(flag, _)| flags & flag != 0).map(|(_, len)| len).sum::<u64>()
        }
    }
}

fn account(path: &std::path::Path) -> Bytes {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let input = LocalFile::open(path).unwrap();
    let file = conversion::survey::survey(&input, String::new(), &options, &NoProgress).unwrap();
    let mut bytes = Bytes::default();
    let mut scratch = Scratch::default();
    file.buffers.iter().for_each(|buffer| bytes.buffer(&file, &input, buffer, &mut scratch));
    bytes.unexplained += file.unreadable.bytes();
    bytes.unexplained += file.tail.map_or(0, |tail| tail.len);
    assert_eq!(bytes.total(), i64::try_from(input.size()).unwrap(), "{}", path.display());
    assert_eq!(file.damaged_bytes(), 0, "{}", path.display());
    bytes
}

#[test]
fn every_byte_of_a_written_trace_has_its_place() {
    const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
    let data = buffer(0x1000)
        .sequence(1)
        .padding(0xC0)
        // Header, then 3 bytes of payload and 5 of alignment.
        .event(system64(0x0F99, T0).payload([1; 3]))
        .event(perfinfo64(0x0F99, T0).pmc(&[1, 2]).payload([1; 8]))
        .event(full32(G, 1, 0, T0).payload([1; 2]))
        .event(instance64(G, 1, 0, T0))
        // Items of 16 and 24 bytes.
        .event(event64(G, 1, 0, T0).item(Item::ts_id(1)).item(Item::related_activity(G)).payload([1; 4]))
        .event(message(1).guid(G).time(T0).system_info(1, 2).sequence(3).arguments([1; 5]));
    let sandbox = Sandbox::new();
    let found = account(&sandbox.file("a.etl", &trace(header()).buffer(data.clone()).to_bytes()));
    // The header event has 0x20 bytes and 0x118 of payload with the names `synth` and `C:\synth.etl`, each with a NUL.
    let names = 2 * (6 + 13);
    let header_event = 0x118 + names;
    let event_headers = 0x20 + 0x20 + 0x20 + 0x30 + 0x48 + 0x50 + (8 + 4 + 16 + 8 + 8);
    let payload = header_event + 3 + 8 + 2 + 4 + 5;
    let alignment = (8 - header_event % 8) % 8 + 5 + 6 + 4 + 7;
    let expected = Bytes {
        buffer_headers: 144,
        event_headers,
        items: 40,
        payload,
        alignment,
        unused: 0x2000 - 144 - event_headers - 40 - payload - alignment,
        unexplained: 0,
        saved: 0,
    };
    assert_eq!(found, expected);
    let compressed = trace(header().log_file_mode(0x0400_0001)).buffer(data.compressed()).to_bytes();
    let found = account(&sandbox.file("b.etl", &compressed));
    assert_eq!((found.payload, found.items, found.unexplained), (expected.payload, expected.items, 0));
    assert!(found.saved > 0);
}

#[test]
fn every_byte_of_a_large_trace_has_its_place() {
    let sandbox = Sandbox::new();
    for compressed in [false, true] {
        let bytes = bulk(20_000, 3, 3, 1).compressed(compressed).to_bytes();
        assert_eq!(account(&sandbox.file("a.etl", &bytes)).unexplained, 0);
    }
}

#[test]
fn every_byte_of_the_real_traces_has_its_place() {
    let Some(folder) = corpus() else { return };
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let traces: Vec<PathBuf> = paths.filter(|path| path.extension().is_some_and(|kind| kind == "etl")).collect();
    assert!(traces.len() >= 40, "{} traces", traces.len());
    for path in traces {
        assert_eq!(account(&path).unexplained, 0, "{}", path.display());
    }
}

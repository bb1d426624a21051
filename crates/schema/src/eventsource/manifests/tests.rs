//! Chunks of several writers, whole, damaged and hostile.

use proptest::prelude::*;

use super::*;
use crate::eventsource::chunks::{MAX_PENDING_BYTES, MAX_WRITERS};
use crate::eventsource::payloads::ChunkPayloads;

const A: Guid = Guid::from_parts(0xa1ed_8a83, 0xd5e4, 0x5d15, 0x84b5_d50d_7b6d_5cb5);
const B: Guid = Guid::from_parts(0xb1ed_8a83, 0xd5e4, 0x5d15, 0x84b5_d50d_7b6d_5cb5);

fn xml(provider: Guid, event: &str) -> Vec<u8> {
    format!("<m><provider name='Ä' guid='{{{provider}}}'><events><event value='7' symbol='{event}'/></events></provider></m>")
        .into_bytes()
}

fn chunk(total: u16, number: u16, text: &[u8]) -> Vec<u8> {
    let [t0, t1] = total.to_le_bytes();
    let [n0, n1] = number.to_le_bytes();
    [&[1, 1, 0, 0x5b, t0, t1, n0, n1], text].concat()
}

/// Cuts a text into chunks of `size` bytes.
fn chunks(text: &[u8], size: usize) -> Vec<Vec<u8>> {
    let parts: Vec<&[u8]> = text.chunks(size).collect();
    let total = u16::try_from(parts.len()).unwrap();
    parts.iter().zip(0..).map(|(part, number)| chunk(total, number, part)).collect()
}

/// A collection with a budget; the buffer of a chunk is the number of chunks before it.
struct Reader {
    payloads: ChunkPayloads,
    set: EventSourceManifests,
    budget: Budget,
    offered: u64,
}

impl Reader {
    fn new() -> Self {
        Reader {
            payloads: ChunkPayloads::default(),
            set: EventSourceManifests::new(),
            budget: Budget::new(1 << 20),
            offered: 0,
        }
    }

    fn push(&mut self, provider: Guid, process_id: u32, payload: &[u8]) -> ChunkResult {
        let location = ChunkLocation { input: 0, buffer: self.offered, ticks: 0 };
        self.offered += 1;
        let payload = &self.payloads.share(provider, payload);
        self.set.push(&Delivery { provider, process_id, location, payload }, &mut self.budget)
    }

    fn symbols(&self, provider: Guid, process_id: u32) -> Vec<&str> {
        let manifests = self.set.candidates(provider, process_id);
        manifests.map(|schemas| schemas.events[0].symbol.as_deref().unwrap()).collect()
    }

    /// Flaw, provider, buffer and text of what is wrong, once no chunk follows.
    fn issues(&mut self) -> Vec<(Flaw, Guid, u64, String)> {
        self.set.finish();
        let issues = self.set.take_issues().into_iter();
        issues.map(|found| (found.flaw, found.provider, found.location.buffer, found.fault.to_string())).collect()
    }
}

fn no_room(what: &str) -> String {
    format!("whole text: {what}")
}

#[test]
fn interleaved_writers_do_not_mix() {
    let mut reader = Reader::new();
    // Chunks of 19 bytes cut the two bytes of the provider's name apart.
    let streams =
        [(A, 1, chunks(&xml(A, "One"), 19)), (A, 2, chunks(&xml(A, "Two"), 19)), (B, 1, chunks(&xml(B, "Three"), 19))];
    let length = streams[0].2.len();
    for number in 0..=length {
        for (provider, process_id, stream) in &streams {
            if let Some(payload) = stream.get(number) {
                reader.push(*provider, *process_id, payload);
            }
        }
    }
    assert_eq!(reader.symbols(A, 1), ["One", "Two"]);
    assert_eq!(reader.symbols(A, 2), ["Two", "One"]);
    assert_eq!(reader.symbols(A, 3), ["One", "Two"]);
    assert_eq!(reader.symbols(B, 9), ["Three"]);
    assert_eq!(reader.set.candidates(B, 1).next().unwrap().name, "Ä");
    assert_eq!(reader.set.assembly.size(), (0, 0));
    assert_eq!(reader.issues(), []);
}

#[test]
fn a_repeated_first_chunk_starts_over() {
    let (old, new) = (chunks(&xml(A, "Old"), 40), chunks(&xml(A, "New"), 40));
    let mut reader = Reader::new();
    assert_eq!(reader.push(A, 1, &old[0]), ChunkResult::Accepted);
    for payload in &new[..new.len() - 1] {
        assert_eq!(reader.push(A, 1, payload), ChunkResult::Accepted);
    }
    assert_eq!(reader.push(A, 1, new.last().unwrap()), ChunkResult::Completed);
    assert_eq!(reader.symbols(A, 1), ["New"]);
}

#[test]
fn a_repeated_manifest_is_read_once() {
    let mut reader = Reader::new();
    for process_id in [1, 2, 1] {
        assert_eq!(reader.push(A, process_id, &chunk(1, 0, &xml(A, "One"))), ChunkResult::Completed);
    }
    assert_eq!(reader.symbols(A, 2), ["One"]);
    assert_eq!((reader.set.read.len(), reader.set.by_provider[&A].len()), (1, 1));
    // Another text that declares the same takes no room of its own.
    let again = [&xml(A, "One")[..], b"<!-- again -->"].concat();
    reader.push(A, 3, &chunk(1, 0, &again));
    assert_eq!((reader.set.read.len(), reader.set.by_provider[&A].len()), (2, 1));
    assert_eq!(reader.symbols(A, 3), ["One"]);
    assert_eq!(reader.issues(), []);
}

#[test]
fn chunks_that_were_there_before_are_not_joined_again() {
    let mut reader = Reader::new();
    let whole = xml(A, "One");
    // Three processes in the same pieces, one in others.
    for (process_id, size) in [(1, 40), (2, 40), (3, 40), (4, 50)] {
        chunks(&whole, size).iter().for_each(|payload| _ = reader.push(A, process_id, payload));
    }
    assert_eq!((reader.set.joined.len(), reader.set.read.len(), reader.set.by_provider[&A].len()), (2, 1, 1));
    for process_id in 1..=4 {
        assert_eq!(reader.set.by_process[&(A, process_id)].len(), 1, "process {process_id}");
    }
    // One chunk that differs makes another text.
    let changed = chunks(&xml(A, "Two"), 40);
    changed.iter().for_each(|payload| _ = reader.push(A, 1, payload));
    assert_eq!(reader.symbols(A, 1), ["One", "Two"]);
    assert_eq!(reader.issues(), []);
}

#[test]
fn what_is_no_chunk_is_reported() {
    let mut reader = Reader::new();
    let good = chunk(2, 1, b"<");
    for (at, byte) in [(0, 2), (3, 0x5a), (4, 1), (4, 0)] {
        let mut payload = good.clone();
        payload[at] = byte;
        assert_eq!(reader.push(A, 1, &payload), ChunkResult::NoChunk, "byte {at} = {byte}");
    }
    assert_eq!(reader.push(A, 1, &good[..8]), ChunkResult::NoChunk);
    assert_eq!(reader.push(A, 1, &good), ChunkResult::Accepted);
    let text = "whole text: expected 2 chunks from process 1, found 1; the first that is missing is number 0";
    assert_eq!(reader.issues(), [(Flaw::Incomplete, A, 5, text.to_owned())]);
}

#[test]
fn faults_name_provider_and_place() {
    let mut reader = Reader::new();
    assert_eq!(reader.set.standing(&A), Standing::Absent);
    reader.push(A, 1, &chunk(1, 0, b"<m>\n<x></m>"));
    assert!(matches!(reader.set.standing(&A), Standing::Unusable(fault) if fault.location == "line 2"));
    reader.push(A, 1, &chunk(1, 0, &xml(B, "Other")));
    assert_eq!(reader.set.standing(&A), Standing::Known);
    for payload in &chunks(&xml(B, "Never"), 30)[..2] {
        reader.push(B, 7, payload);
    }
    let issues = reader.issues();
    let [not_xml, other, incomplete] = &issues[..] else { panic!("three issues: {issues:?}") };
    assert_eq!((not_xml.0, not_xml.1, not_xml.2), (Flaw::Bad, A, 0));
    assert!(not_xml.3.starts_with("line 2: not XML: "), "{}", not_xml.3);
    assert_eq!(*other, (Flaw::Bad, A, 1, no_room(&format!("expected a manifest of provider {A}, found one of {B}"))));
    let text = "expected 5 chunks from process 7, found 2; the first that is missing is number 2";
    assert_eq!(*incomplete, (Flaw::Incomplete, B, 2, no_room(text)));
    assert!(matches!(reader.set.standing(&B), Standing::Unusable(_)));
    assert_eq!(reader.symbols(A, 1), ["Other"]);
}

#[test]
fn endless_manifests_are_given_up() {
    let mut reader = Reader::new();
    let text = vec![b' '; 0xff00];
    for number in 0..100 {
        reader.push(A, 1, &chunk(u16::MAX, number, &text));
    }
    let [too_long] = &reader.set.take_issues()[..] else { panic!("one issue") };
    assert_eq!((too_long.flaw, too_long.provider, too_long.location.buffer), (Flaw::Limit, A, 64));
    for process_id in 0..200 {
        for number in 0..10 {
            reader.push(B, process_id, &chunk(u16::MAX, number, &text));
        }
    }
    assert!(reader.set.assembly.size().0 <= MAX_PENDING_BYTES);
    // Manifests that were given up for others are reported: 32 MiB hold 51 of 200, and the one of A had to go, too.
    let given_up = reader.set.take_issues();
    assert!(given_up.iter().all(|found| found.flaw == Flaw::Incomplete));
    assert_eq!(given_up.len(), 150);
    for process_id in 0..5000 {
        reader.push(A, process_id, &chunk(2, 0, b"<"));
    }
    assert_eq!(reader.set.assembly.size().1, MAX_WRITERS);
    let reported = reader.set.take_issues().len() + reader.issues().len();
    assert_eq!(reported, 51 + 5000);
}

#[test]
fn manifests_of_a_provider_are_limited() {
    let mut reader = Reader::new();
    for number in 0..70 {
        reader.push(A, 1, &chunk(1, 0, &xml(A, &format!("E{number}"))));
    }
    assert_eq!(reader.symbols(A, 1).len(), 64);
    let text = no_room("expected at most 64 different manifests, found more");
    assert_eq!(reader.issues(), (64..70).map(|buffer| (Flaw::Limit, A, buffer, text.clone())).collect::<Vec<_>>());
}

#[test]
fn what_there_is_no_room_for_is_left_out_whole() {
    let mut reader = Reader::new();
    reader.budget = Budget::new(2000);
    reader.push(A, 1, &chunk(1, 0, &xml(A, "One")));
    let large: Vec<String> = (0..20).map(|id| format!("<event value='{id}' symbol='Event{id}'/>")).collect();
    let large = large.concat();
    let large = format!("<m><provider guid='{{{A}}}'><events>{large}</events></provider></m>");
    reader.push(A, 1, &chunk(1, 0, large.as_bytes()));
    assert_eq!(reader.symbols(A, 1), ["One"]);
    // It took nothing, so that a smaller one still finds its place.
    reader.push(B, 1, &chunk(1, 0, &xml(B, "Two")));
    assert_eq!(reader.symbols(B, 1), ["Two"]);
    assert_eq!(reader.issues(), [(Flaw::Limit, A, 1, no_room(NO_ROOM))]);
}

proptest! {
    #[test]
    fn any_payload_is_taken_or_refused(payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..20)) {
        let mut reader = Reader::new();
        for payload in payloads {
            reader.push(A, 1, &payload);
            reader.push(A, 1, &chunk(3, u16::from(payload.first().copied().unwrap_or(0)), &payload));
        }
        reader.set.assembly.size();
        reader.issues();
        prop_assert_eq!(reader.set.assembly.size(), (0, 0));
    }
}

//! Buffers of a file, events of a buffer, items of an event.

use etl::buffer::content::{self, Scratch};
use etl::buffer::scan::{BufferScan, Region, ScanRules};
use etl::event::items::Items;
use etl::event::{
    Event, FileContext, Gap, RawEvent, ShapeRef, Starts, TimedStep, TimedWalk, Walk, WalkStep, hides_events, resume,
    swallowed,
};
use etl::input::MemoryInput;
use etl::layout::buffer::BUFFER_HEADER_LEN;

use crate::bytes::Bytes;
use crate::digest::Digest;
use crate::oracle;
use crate::synth;

/// Walks through the events of a buffer.
///
/// Oracles: tiling by events, their alignment, and damage at the end; alignment; a walk that begins at any event goes on
/// as this one does; timed and plain walks see the same; what an event's view shows lies within the event; what
/// is swallowed lies within one, too, and a first look passes none over; behind a gap there are events alone, up to the end.
pub fn walk(input: &[u8], digest: &mut Digest) {
    let mut parts = Vec::new();
    let mut events = Vec::new();
    let mut is_ended = false;
    let mut gap = None;
    for step in Walk::new(input, 0) {
        assert!(!is_ended, "walk: nothing follows damage");
        let (start, len) = match step {
            WalkStep::Event(event) => (event.offset, event.bytes.len()),
            WalkStep::Damage { offset, len, .. } => {
                is_ended = true;
                gap = resume(input, offset, -7);
                (offset, len as usize)
            }
        };
        oracle::alignment(start);
        let end = if is_ended { len } else { len.next_multiple_of(8) } + start as usize;
        parts.push(u64::from(start)..end.min(input.len()) as u64);
        if let WalkStep::Event(event) = step {
            events.push(event);
        }
    }
    oracle::tiling(parts, 0..input.len() as u64);
    if let Some(middle) = events.get(events.len() / 2) {
        let rest = Walk::new(&input[middle.offset as usize..], middle.offset);
        let offsets: Vec<u32> = rest.filter_map(|step| event_of(&step)).collect();
        let expected: Vec<u32> = events[events.len() / 2..].iter().map(|event| event.offset).collect();
        oracle::same(&offsets, &expected);
    }
    timed(input, &events, digest);
    events.iter().for_each(|event| view(event, digest));
    inside(input, gap.unwrap_or(Gap::NONE), digest);
    if let Some(gap) = gap {
        behind(input, gap, events.len(), digest);
    }
}

/// A walk across a gap goes on behind it, event by event, to the end.
fn behind(input: &[u8], gap: Gap, before: usize, digest: &mut Digest) {
    let steps: Vec<_> = Walk::new(input, 0).across(gap).collect();
    assert!(
        matches!(steps[before], WalkStep::Damage { offset, len, .. } if (offset, offset + len) == (gap.from, gap.to))
    );
    let mut at = gap.to as usize;
    for step in &steps[before + 1..] {
        let WalkStep::Event(event) = step else { panic!("walk: behind a gap there is damage") };
        assert_eq!(event.offset as usize, at, "walk: behind a gap there is another");
        oracle::alignment(event.offset);
        at = (at + event.bytes.len()).next_multiple_of(8);
    }
    assert_eq!(at, input.len().next_multiple_of(8), "walk: events behind a gap lead to the end");
    digest.add((gap.from, gap.to, steps.len()));
}

fn event_of(step: &WalkStep<'_>) -> Option<u32> {
    match step {
        WalkStep::Event(event) => Some(event.offset),
        WalkStep::Damage { .. } => None,
    }
}

fn timed(input: &[u8], events: &[RawEvent<'_>], digest: &mut Digest) {
    let steps = TimedWalk::new(input, 0, -7);
    let timed = steps.filter_map(|step| match step {
        TimedStep::Event(event) => Some(event),
        TimedStep::Damage { .. } => None,
    });
    let mut count = 0;
    for (timed, event) in timed.zip(events) {
        assert_eq!(timed.raw.offset, event.offset, "walk: timed and plain walks see the same events");
        assert_eq!(timed.inherited, event.ticks().is_none(), "walk: a time is taken where there is none");
        assert_eq!(event.ticks().unwrap_or(timed.ticks), timed.ticks, "walk: an event keeps its time");
        digest.add(timed.ticks);
        count += 1;
    }
    assert_eq!(count, events.len(), "walk: a timed walk has all events");
}

fn view(raw: &RawEvent<'_>, digest: &mut Digest) {
    for pointer_size in [4, 8] {
        let file = FileContext { pointer_size, private_session: pointer_size == 4 };
        let event = Event::of(raw, &file);
        assert!(is_within(event.payload, raw.bytes), "walk: a payload is a part of its event");
        assert!(is_within(event.counters, raw.bytes), "walk: counters are a part of their event");
        let shape = ShapeRef::of(raw, &file);
        assert!(matches!(shape.identity.pointer_size, 4 | 8), "walk: a pointer has 4 or 8 bytes");
        digest.add((event.payload.len(), event.process_id, shape.identity.provider.0, shape.metadata.len()));
    }
}

/// What the events have swallowed lies in one of them, and looks like an event.
fn inside(input: &[u8], gap: Gap, digest: &mut Digest) {
    let Some(found) = swallowed(input, gap, false) else { return };
    let mut starts = Starts::default();
    starts.clear(input.len());
    let walked: Vec<_> = Walk::new(input, 0).across(gap).collect();
    for step in &walked {
        let (WalkStep::Event(RawEvent { offset, .. }) | WalkStep::Damage { offset, .. }) = *step;
        starts.add(offset as usize);
    }
    starts.add(input.len());
    assert!(hides_events(input, &starts, None), "walk: a first look passes what is swallowed over");
    let mut events = walked.iter().filter_map(|step| match step {
        WalkStep::Event(event) => Some(event),
        WalkStep::Damage { .. } => None,
    });
    let holder = events.find(|event| event.offset == found.holder).expect("walk: who swallows is an event");
    let place = (found.first - found.holder) as usize;
    assert!(place > 0 && place < holder.bytes.len().next_multiple_of(8), "walk: what is swallowed is inside");
    assert!(RawEvent::at(&input[found.first as usize..], 0).is_some(), "walk: what is swallowed is an event");
    assert!(
        found.holders as usize <= walked.len() && found.bytes as usize <= input.len(),
        "walk: each is counted once"
    );
    digest.add((found.holder, found.first, found.holders, found.bytes));
}

/// Whether a slice is a part of another, by its place.
fn is_within(part: &[u8], whole: &[u8]) -> bool {
    part.is_empty()
        || whole.as_ptr_range().start <= part.as_ptr() && part.as_ptr_range().end <= whole.as_ptr_range().end
}

/// Reads the items of an event that has the input behind its header.
///
/// Oracle: kind and data of each, and the payload, are those that a plain reading of the chain gives: size, type, linkage,
/// size of the data, each of 16 bits, and the next item so many bytes behind as the size says.
pub fn items(input: &[u8], digest: &mut Digest) {
    use synth::OnDisk;
    let input = &input[..input.len().min(4000)];
    let mut bytes = synth::event64([7; 16], 1, 0, 5).payload(input).on_disk();
    bytes[4] |= 1;
    let Some(event) = RawEvent::at(&bytes, 0) else { panic!("items: an event of {} bytes is one", bytes.len()) };
    let all = Items::of(&event);
    let found: Vec<(u16, &[u8])> = all.clone().map(|item| (item.item_type, item.data)).collect();
    let mut expected = Vec::new();
    let payload = plain_items(input, &mut expected);
    oracle::same(&found, &expected);
    oracle::same(&all.payload(), &payload);
    digest.add((found, payload));
}

/// The items at the start of `rest`, and what stands behind the last one; `None` where the chain breaks.
fn plain_items<'a>(mut rest: &'a [u8], items: &mut Vec<(u16, &'a [u8])>) -> Option<&'a [u8]> {
    loop {
        let mut head = Bytes::new(rest.get(..8)?);
        let [size, kind, linkage, data_size] = [head.u16(), head.u16(), head.u16(), head.u16()];
        if size < data_size.saturating_add(8) {
            return None;
        }
        let (item, behind) = rest.split_at_checked(size.into())?;
        items.push((kind, &item[8..8 + usize::from(data_size)]));
        rest = behind;
        if linkage & 1 == 0 {
            return Some(rest);
        }
    }
}

/// Finds the buffers of a file and reads them.
///
/// Oracles: tiling by buffers, unreadable regions and fragment; buffers are numbered upwards; what is read of a buffer
/// and what is missing make up what its header says.
pub fn scan(input: &[u8], digest: &mut Digest) {
    let mut bytes = Bytes::new(input);
    let sizes = [0x200_u32, 0x400, 0x1000, 0x1_0000];
    // A header event may state any size; the largest that a buffer may expand to is held to a limit by whoever reads it.
    let stated = [0, 71, u32::MAX];
    let (buffer_size, max_buffer_size) = (*bytes.pick(&[&sizes[..], &stated].concat()), *bytes.pick(&sizes));
    let stride = [None, Some(*bytes.pick(&sizes)), Some(bytes.u16().max(80).into())][bytes.below(3)];
    let stale_before = [None, Some(5_000), Some(bytes.u32().into())][bytes.below(3)];
    let counted = [None, Some(u64::from(bytes.u8()))][bytes.below(2)];
    let rules = ScanRules { stride, buffer_size, max_buffer_size, stale_before, counted };
    let file = MemoryInput::new("scan.etl", bytes.rest().to_vec());
    let size = bytes.rest().len() as u64;
    let mut scan = BufferScan::new(&file, rules, &[]);
    let (mut parts, mut ordinals, mut scratch) = (Vec::new(), Vec::new(), Scratch::default());
    while let Some(region) = scan.next_region().expect("scan: bytes in memory can be read") {
        let (offset, len) = match region {
            Region::Buffer(extent, _) => {
                ordinals.push(extent.ordinal);
                let content =
                    content::read(&file, &extent, max_buffer_size, &mut scratch).expect("scan: it can be read");
                let there =
                    content.bytes().len() as u64 + u64::from(content.fault.map_or(0, |fault| fault.missing_bytes()));
                let promised = u64::from(extent.used_len.saturating_sub(BUFFER_HEADER_LEN));
                let is_foreign = there == 0 && matches!(extent.buffer_type, 3 | 6 | 7);
                assert!(there == promised || is_foreign, "scan: {there} of {promised} bytes accounted for");
                digest.add((extent.used_len, content.bytes()));
                (extent.offset, u64::from(extent.stored_len))
            }
            Region::Unreadable(region) => {
                ordinals.push(region.ordinal);
                (region.offset, region.len)
            }
            Region::Fragment { offset, len } => (offset, len),
        };
        parts.push(offset..offset + len);
    }
    digest.add(parts.len());
    oracle::tiling(parts, 0..size);
    oracle::monotone(ordinals);
}

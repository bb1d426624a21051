//! The order of rows, whatever the order of events in the file.

#![allow(clippy::cast_possible_truncation, reason = "the numbers are written down beside it")]
#![allow(clippy::unwrap_used, reason = "a test may stop at what should not happen")]

mod support;
mod synth;

use std::collections::BTreeMap;
use std::sync::Arc;

use base::clock::ClockAnchor;
use base::progress::NoProgress;
use conversion::convert::RawPolicy;
use conversion::convert::load::SliceMemory;
use conversion::convert::order::OrderedSlice;
use conversion::convert::slices::{self, Slice, Slices};
use conversion::plan::{Key, PartitionView, PlannedInputs, partition};
use conversion::survey::{FileKey, FileSurvey, SurveyOptions, survey_within};
use etl::input::{Input, Inputs, MemoryInput};
use spill::SpillSpace;
use support::{Converted, convert, convert_all, convert_with};
use synth::*;

const G: Guid = guid("00112233-4455-6677-8899-aabbccddeeff");
/// Mode bits.
const CIRCULAR: u32 = 0x2;
const APPEND: u32 = 0x4;
const NEWFILE: u32 = 0x8;
const RELOG: u32 = 0x1_0000;
const ONE_STREAM: u32 = 0x1000_0000;

/// An event at so many ticks behind the start that is known by a number.
fn event(number: u64, ticks: i64) -> Event {
    event64(G, 1, 0, T0 + ticks).keyword(number)
}

/// A buffer of numbered events at these ticks.
fn filled(cpu: u16, sequence: i64, events: &[(u64, i64)]) -> Buffer {
    buffer(0x1000).cpu(cpu).sequence(sequence).events(events.iter().map(|&(number, ticks)| event(number, ticks)))
}

/// The numbers of all events in the order of the rows.
fn numbers(file: &[u8]) -> Vec<u64> {
    numbers_of(&[file])
}

fn numbers_of(files: &[&[u8]]) -> Vec<u64> {
    let rows = convert_all(files).all("keywords event_id");
    // The number of a message is its id; the header events have none.
    let number = |row: &String| {
        let (keywords, id) = row.split_once('|').unwrap();
        if keywords == "-" { id.parse().ok() } else { keywords.parse().ok() }
    };
    rows.iter().filter_map(number).collect()
}

#[track_caller]
fn t(head: Header, data: &[Buffer], expected: &[u64]) {
    assert_eq!(numbers(&trace(head).buffers(data.to_vec()).to_bytes()), expected);
}

#[test]
fn processors_are_merged() {
    let data = [
        filled(2, 1, &[(1, 10), (4, 40), (9, 90)]),
        filled(0, 2, &[(2, 20), (5, 50), (6, 60)]),
        filled(1, 3, &[(3, 30), (7, 70), (8, 80)]),
    ];
    t(header().processors(3), &data, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
}

#[test]
fn one_time_is_ordered_by_processor_then_sequence_then_place() {
    let data = [
        filled(1, 1, &[(4, 10), (5, 10)]),
        filled(0, 4, &[(3, 10)]),
        filled(0, 2, &[(1, 10), (2, 10)]),
        filled(2, 3, &[(6, 10)]),
    ];
    t(header().processors(3), &data, &[1, 2, 3, 4, 5, 6]);
    // One stream for all processors: the field of the processor says nothing.
    t(header().log_file_mode(1 | ONE_STREAM), &data, &[4, 5, 1, 2, 6, 3]);
}

#[test]
fn an_unsorted_buffer_is_sorted_and_keeps_its_ties() {
    let data = [filled(0, 1, &[(4, 30), (1, 10), (5, 30), (2, 20), (3, 20), (6, 30)])];
    t(header(), &data, &[1, 2, 3, 4, 5, 6]);
    let found = convert(&trace(header()).buffers(data).to_bytes());
    assert_eq!(found.sidecar("clock").row(0, "disorder_in_buffer largest_step_back_ns ties"), "2|2000|3");
}

#[test]
fn buffers_of_a_stream_may_overlap() {
    let data = [
        filled(0, 1, &[(1, 10), (3, 30), (7, 70)]),
        filled(0, 2, &[(2, 20), (4, 30), (8, 80)]),
        filled(0, 3, &[(5, 40), (6, 60)]),
    ];
    t(header(), &data, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let found = convert(&trace(header()).buffers(data).to_bytes());
    assert_eq!(found.sidecar("clock").row(0, "disorder_in_buffer disorder_between_buffers"), "0|2");
}

#[test]
fn the_place_in_the_file_does_not_matter() {
    let data = [
        filled(0, 1, &[(1, 10), (2, 20)]),
        filled(1, 2, &[(5, 20), (6, 30)]),
        filled(0, 3, &[(3, 20), (4, 20)]),
        filled(1, 4, &[(7, 30)]),
    ];
    for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1], [1, 3, 0, 2]] {
        t(header().processors(2), &order.map(|place| data[place].clone()), &[1, 2, 3, 4, 5, 6, 7]);
    }
}

#[test]
fn equal_sequence_numbers_are_ordered_by_place() {
    // Relogged files have all kinds of numbers, and buffer times of another clock.
    let data = [(1, 10), (2, 10), (3, 10)].map(|event| filled(0, 0, &[event]).time(START + 77));
    t(header().log_file_mode(1 | RELOG), &data, &[1, 2, 3]);
}

#[test]
fn a_ring_begins_with_its_oldest_buffer() {
    let written = (1..=7).map(|n| filled(u16::try_from(n % 2).unwrap(), n, &[(n.unsigned_abs(), 10 * n)]));
    t(header().processors(2).log_file_mode(CIRCULAR).buffers_written(8), &circular(written, 4), &[4, 5, 6, 7]);
}

#[test]
fn appended_sessions_follow_one_another_in_the_file() {
    // Each session counts from 1, and the last is of another decade.
    let later = 1 << 53;
    let data = [
        filled(0, 1, &[(1, 10), (2, 20)]),
        filled(0, 2, &[(3, 30), (4, 40)]),
        filled(0, 1, &[(5, 40), (6, 50)]),
        filled(0, 2, &[(7, 60)]),
        filled(0, 1, &[(8, later), (9, later + 1)]),
    ];
    t(header().log_file_mode(APPEND | ONE_STREAM), &data, &[1, 2, 3, 4, 5, 6, 7, 8, 9]);
    let found = convert(&trace(header().log_file_mode(APPEND)).buffers(data).to_bytes());
    let disorder = "disorder_in_buffer disorder_between_buffers disorder_in_file largest_step_back_ns";
    assert_eq!(found.sidecar("clock").row(0, disorder), "0|0|0|0");
    assert_eq!(found.sidecar("buffers").numbers("sequence"), [0, 1, 2, 1, 2, 1]);
    assert!(found.sidecar("lost_events").lines("kind").iter().all(|kind| kind != "sequence_gap"));
}

#[test]
fn a_member_of_a_series_continues_the_numbers() {
    let data = [filled(0, 909, &[(2, 10)]), filled(0, 908, &[(1, 10)])];
    t(header().log_file_mode(NEWFILE), &data, &[1, 2]);
}

#[test]
fn events_before_the_header_event_come_first() {
    let found = convert(&trace(header()).buffer(filled(0, 1, &[(1, -5), (2, 0)])).to_bytes());
    assert_eq!(found.all("keywords"), ["1", "-", "2"]);
}

#[test]
fn files_with_different_clocks_are_merged_by_their_times() {
    // 10 MHz, system time, and 1 MHz from 300 ns later on.
    let qpc = trace(header()).buffer(filled(0, 1, &[(1, 10), (4, 20), (8, 30)])).to_bytes();
    let of_system_time = |number, ticks| event64(G, 1, 0, START + ticks).keyword(number);
    let events = [(2, 10), (3, 11), (5, 20)].map(|(number, ticks)| of_system_time(number, ticks));
    let system = trace(header().clock(2).time(START)).buffer(buffer(0x1000).sequence(1).events(events)).to_bytes();
    let slow = header().frequency(1_000_000).start_time(START + 3);
    let slow = trace(slow).buffer(filled(0, 1, &[(6, 2), (9, 3)]).event(event(7, 2))).to_bytes();
    // 6 and 7 are 2300 ns behind the start, 8 is 3000, 9 is 3300.
    assert_eq!(numbers_of(&[&qpc, &system, &slow]), [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    // Of one time, the file given first comes first.
    assert_eq!(numbers_of(&[&system, &qpc, &slow]), [2, 1, 3, 5, 4, 6, 7, 8, 9]);
    let inputs = convert_all(&[&system, &qpc]).all("input");
    assert_eq!(inputs, ["0", "1", "0", "1", "0", "0", "1", "1"]);
}

#[test]
fn one_time_for_all_events_still_splits() {
    // 24 MiB: buffers of 64 KiB, and of 4 MiB, which are cut within.
    let counts = |size: usize, buffers: i64, per_buffer: u64| {
        let mut number = 0;
        let data = (0..buffers).map(|n| {
            let events = (0..per_buffer).map(|_| {
                number += 1;
                event(number, 5).payload(vec![7; 3900])
            });
            let mut data = buffer(size).cpu(u16::try_from(n * 4 / buffers).unwrap()).sequence(n + 1);
            events.for_each(|event| data.push(&event.on_disk()));
            data
        });
        let head = header().processors(4).buffer_size(u32::try_from(size).unwrap());
        let bytes = trace(head).buffers(data).to_bytes();
        let found = convert_with(&[&bytes], |options| options.raw = RawPolicy::Never);
        let total = u64::try_from(buffers).unwrap() * per_buffer;
        let rows = found.events("00112233-4455-6677-8899-aabbccddeeff");
        let expected: Vec<String> = (1..=total).map(|number| format!("{number}|{number}")).collect();
        assert!(rows.lines("seq keywords") == expected);
        let (files, space) = (&found.report.files, SpillSpace::temporary());
        let opened = Inputs::local(files.iter().map(|file| file.identity.clone()));
        let inputs = PlannedInputs::of(files, &opened);
        let partitions = partition::cut_at(files, &inputs, &[], &space, &NoProgress).unwrap();
        let slices = slices::plan(&partitions.view(&partitions.list()[0], &inputs), &space, &NoProgress).unwrap();
        assert_eq!(slices.iter().map(|slice| slice.events).sum::<u64>(), total + 1);
        assert_eq!(found.sidecar("clock").row(0, "ties"), (total - 1).to_string());
        slices.iter().map(|slice| slice.bytes >> 10).collect::<Vec<u64>>()
    };
    // Eight buffers of each of four streams.
    assert_eq!(counts(0x1_0000, 390, 16), [[1992; 12].as_slice(), &[373]].concat());
    // 8 MiB, which is the most: 33 steps of a sixteenth of a buffer.
    assert_eq!(counts(0x40_0000, 6, 1050), [8427, 8427, 7656]);
}

/// What decides the place of an event: nanoseconds, file, ticks, stream, sequence, place of the buffer, offset.
type ExpectedKey = (i64, usize, i64, u16, i64, usize, usize);

/// Some files, and the numbers of their events in the order that is expected.
struct Recording {
    files: Vec<Vec<u8>>,
    expected: Vec<u64>,
}

/// Random events over random processors, buffers and files, with random disorder. Times are few, so that many are equal.
fn random_recording(seed: u64) -> Recording {
    let mut random = Random::new(seed);
    let (mut number, mut order, mut files) = (0, BTreeMap::<ExpectedKey, u64>::new(), Vec::new());
    for file in 0..=random.below(3_u64) as usize {
        // Nanoseconds of a tick: 100, 1000, and a third.
        let (frequency, numerator, denominator) =
            [(10_000_000, 100, 1), (1_000_000, 1000, 1), (3_000_000_000, 1, 3)][random.below(3_u8) as usize];
        let one_stream = random.below(4_u8) == 0;
        let mode = if one_stream { 1 | ONE_STREAM } else { 1 };
        let mut data = Vec::new();
        for place in 1..=random.below(8_u64) as usize {
            let (cpu, sequence) = (random.below(3_u16), i64::from(random.below(6_u16)));
            let mut full = buffer(0x1000).cpu(cpu).sequence(sequence);
            let mut last = i64::from(random.below(20_u16));
            // Own times; an event without one takes that of the event before it, else the first one of its buffer,
            // else that of the session.
            let mut times = Vec::new();
            for _ in 0..random.below(12_u64) {
                number += 1;
                last += i64::from(random.below(4_u16)) - i64::from(random.below(8_u8) == 0) * 5;
                let has_time = random.below(6_u8) != 0;
                times.push((number, has_time.then_some(last)));
                if has_time {
                    full.push(&event(number, last).on_disk());
                } else {
                    full.push(&message(u16::try_from(number).unwrap()).on_disk());
                }
            }
            let mut time = times.iter().find_map(|(_, own)| *own).unwrap_or(0);
            for (offset, (number, own)) in times.into_iter().enumerate() {
                time = own.unwrap_or(time);
                let ns = (time * numerator).div_euclid(denominator);
                let stream = if one_stream { 0 } else { cpu };
                order.insert((ns, file, time, stream, sequence, place, offset), number);
            }
            data.push(if random.below(3_u8) == 0 { full.compressed() } else { full });
        }
        let head = header().frequency(frequency).processors(3).log_file_mode(mode | 0x0400_0000);
        files.push(trace(head).buffers(data).to_bytes());
    }
    Recording { files, expected: order.into_values().collect() }
}

#[test]
fn rows_are_in_the_order_of_a_plain_sort() {
    for seed in 0..60 {
        let recording = random_recording(seed);
        let files: Vec<&[u8]> = recording.files.iter().map(Vec::as_slice).collect();
        assert_eq!(numbers_of(&files), recording.expected, "seed {seed}");
    }
}

#[test]
fn filters_leave_the_places_of_the_rest() {
    const COLUMNS: &str = "seq timestamp_ns cpu keywords event_id input";
    for seed in 2000..2040 {
        let recording = random_recording(seed);
        let files: Vec<&[u8]> = recording.files.iter().map(Vec::as_slice).collect();
        let rows = |found: &Converted| {
            let mut rows: Vec<Vec<String>> = Vec::new();
            for dataset in found.datasets() {
                let table = found.events(&dataset);
                rows.extend(table.lines(COLUMNS).iter().map(|line| line.split('|').map(str::to_owned).collect()));
            }
            rows.sort_by_key(|row| row[0].parse::<u64>().unwrap());
            rows
        };
        let all = rows(&convert_all(&files));
        let kept: Vec<_> = all.iter().filter(|row| row[2] == "1").cloned().collect();
        // A trace of which nothing is left is not published.
        if kept.is_empty() {
            continue;
        }
        let found = convert_with(&files, |options| options.filter.cpus = vec!["1".parse().unwrap()]);
        assert_eq!(rows(&found), kept, "seed {seed}");
        let (left, total) = (kept.len() as u64, all.len() as u64);
        assert_eq!(found.counts(), (total, left, total - left, 0, 0), "seed {seed}");
    }
}

fn surveyed(space: &SpillSpace, files: &[Vec<u8>]) -> (Inputs, Vec<FileSurvey>) {
    let options = SurveyOptions { anchor: ClockAnchor::Start, hash: false, ..SurveyOptions::default() };
    let inputs = files.iter().map(|bytes| Arc::new(MemoryInput::new("made.etl", bytes.clone())) as Arc<dyn Input>);
    let inputs: Vec<_> = inputs.collect();
    let survey = |input: &Arc<dyn Input>| survey_within(space, &**input, String::new(), &options, &NoProgress).unwrap();
    let files = inputs.iter().map(survey).collect();
    (Inputs::of(inputs), files)
}

/// The numbers of the events of a slice.
fn read_slice(view: &PartitionView<'_>, slices: &Slices, slice: &Slice) -> Vec<u64> {
    let ordered = OrderedSlice::read(view, None, slices, slice, &mut SliceMemory::default()).unwrap();
    let number = |entry| {
        let (raw, _) = ordered.event(entry);
        match (raw.bytes[2], raw.bytes[3]) {
            (0x13, 0xC0) => Some(u64::from_le_bytes(raw.bytes[0x30..0x38].try_into().unwrap())),
            (0, 0x90) => Some(u16::from_le_bytes([raw.bytes[4], raw.bytes[5]]).into()),
            _ => None,
        }
    };
    ordered.entries.iter().filter_map(number).collect()
}

/// A key at an event, between two, or where nothing is.
fn random_key(random: &mut Random, inputs: &PlannedInputs<'_>) -> Key {
    let input = random.below(inputs.len() as u64) as u16;
    let at = FileKey {
        ticks: T0 + i64::from(random.below(60_u16)) - 10,
        stream: random.below(3_u16),
        sequence: i64::from(random.below(6_u16)),
        ordinal: random.below(9_u64),
        offset: 8 * random.below(130_u32),
    };
    Key::new(&inputs.get(input).clock, input, at)
}

fn random_keys(random: &mut Random, most: u8, inputs: &PlannedInputs<'_>) -> Vec<Key> {
    let mut keys: Vec<Key> = (0..random.below(most)).map(|_| random_key(random, inputs)).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

#[test]
fn the_order_can_be_cut_anywhere() {
    let mut mixed = 0;
    for seed in 1000..1400 {
        let recording = random_recording(seed);
        // Every second recording has all lists in memory, the others have theirs on disk.
        let room = if seed % 2 == 0 { 1 << 20 } else { 0 };
        let space = SpillSpace::with_room(&std::env::temp_dir(), room, 256);
        let (opened, files) = surveyed(&space, &recording.files);
        let mut random = Random::new(seed);
        let inputs = PlannedInputs::of(&files, &opened);
        let seams = random_keys(&mut random, 5, &inputs);
        let partitions = partition::cut_at(&files, &inputs, &seams, &space, &NoProgress).unwrap();
        assert_eq!(partitions.list().len(), seams.len() + 1);
        let (mut next, mut found) = (0, Vec::new());
        for partition in partitions.list() {
            assert_eq!(partition.first_seq, next, "seed {seed}");
            let view = partitions.view(partition, &inputs);
            mixed += view.segments.iter().filter(|segment| segment.is_mixed()).count();
            let cuts = random_keys(&mut random, 7, &inputs);
            let max_cost = [u64::MAX, 2000][usize::from(random.below(2_u8))];
            let slices = slices::cut_to_fit(&view, cuts, max_cost, &space, &NoProgress).unwrap();
            for slice in &slices {
                assert_eq!(slice.first_seq, next, "seed {seed}");
                next += slice.events;
            }
            assert_eq!(next, partition.first_seq + partition.events, "seed {seed}");
            found.extend(slices.iter().flat_map(|slice| read_slice(&view, &slices, slice)));
        }
        assert_eq!(found, recording.expected, "seed {seed}");
        assert_eq!(next, recording.expected.len() as u64 + files.len() as u64);
    }
    assert!(mixed > 500, "{mixed}");
}

/// Events whose times are in no order, in buffers of which each spans all time.
fn disordered(buffers: i64, each: u64) -> Vec<u8> {
    let mut random = Random::new(7);
    let mut number = 0;
    let data = (1..=buffers).map(|sequence| {
        let times: Vec<(u64, i64)> = (0..each)
            .map(|_| {
                number += 1;
                (number, i64::from(random.below(1_000_000_u32)))
            })
            .collect();
        filled(0, sequence, &times)
    });
    trace(header()).buffers(data.collect::<Vec<_>>()).to_bytes()
}

#[test]
fn no_slice_holds_more_than_it_may() {
    const MAX_COST: u64 = 60_000;
    let space = SpillSpace::with_room(&std::env::temp_dir(), 0, 1 << 10);
    let (opened, files) = surveyed(&space, &[disordered(40, 25)]);
    let inputs = PlannedInputs::of(&files, &opened);
    let partitions = partition::cut_at(&files, &inputs, &[], &space, &NoProgress).unwrap();
    let view = partitions.view(&partitions.list()[0], &inputs);
    let whole = slices::cut(&view, &[], &space, &NoProgress).unwrap();
    assert_eq!((whole.len(), whole.get(0).unwrap().events), (1, 1001));
    let slices = slices::cut_to_fit(&view, Vec::new(), MAX_COST, &space, &NoProgress).unwrap();
    let total = whole.get(0).unwrap().cost();
    assert!(total > 5 * MAX_COST, "{total}");
    assert!(slices.iter().all(|slice| slice.cost() <= MAX_COST), "{:?}", slices.iter().collect::<Vec<_>>());
    assert_eq!(slices.iter().map(|slice| slice.events).sum::<u64>(), 1001);
    // Every buffer is in every slice, and yet each slice has its own events only.
    let mut found: Vec<u64> = slices.iter().flat_map(|slice| read_slice(&view, &slices, slice)).collect();
    assert_eq!(found, read_slice(&view, &whole, whole.get(0).unwrap()));
    found.sort_unstable();
    assert!(found.into_iter().eq(1..=1000));
}

#[test]
fn a_buffer_without_a_readable_event_is_in_no_slice() {
    let mut damaged = buffer(0x1000).cpu(0).sequence(2);
    damaged.push(&[0xFF, 0x7F, 0x13, 0xC0, 0, 0, 0, 0]);
    let data = [filled(0, 1, &[(1, 10)]), damaged, filled(0, 3, &[(2, 20)])];
    let bytes = trace(header()).buffers(data).to_bytes();
    let space = SpillSpace::temporary();
    let (opened, files) = surveyed(&space, std::slice::from_ref(&bytes));
    let inputs = PlannedInputs::of(&files, &opened);
    let partitions = partition::cut_at(&files, &inputs, &[], &space, &NoProgress).unwrap();
    let view = partitions.view(&partitions.list()[0], &inputs);
    assert_eq!((view.partition.events, view.partition.damaged), (3, 1));
    let slices = slices::plan(&view, &space, &NoProgress).unwrap();
    assert_eq!(slices.damaged, [1]);
    let segments = slices.iter().flat_map(|slice| slices.segments(slice));
    let buffers = segments.map(|segment| view.segments[segment.segment as usize].buffer.extent.ordinal);
    assert_eq!(buffers.collect::<Vec<_>>(), [0, 1, 3]);
    let found = convert(&bytes);
    assert_eq!(found.counts(), (4, 3, 0, 1, 8));
}

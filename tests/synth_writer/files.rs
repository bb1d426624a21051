//! Buffers, the header event, whole traces, damage.

use crate::compression::expand;
use crate::synth::buffer::flag;
use crate::synth::*;
use crate::{G, G_DISK, TIME, TIME_DISK, hex};

/// Three bytes of payload: size 0x13, so that the next event starts behind five bytes of padding.
fn small_event() -> Kernel {
    perfinfo64(0x0F22, TIME).payload([1, 2, 3])
}

#[test]
fn buffer_headers_in_full() {
    let full = buffer(0x80).cpu(3).logger(0x22).sequence(5).time(TIME).flags(flag::FLUSH_MARKER).kind(0).padding(0xA5);
    let bytes = full.clone().clock(6).state(2).reference(G).event(small_event()).event(small_event()).on_disk();
    // 0x48 + 0x13 -> 0x60, + 0x13 -> 0x78.
    let start = ["80000000 78000000 78000000 00000000", TIME_DISK, "0500000000000000 0600000000000000"].concat();
    let rest = ["0300 2200 02000000 78000000 2100 0000", G_DISK].concat();
    assert_eq!(bytes[..0x48], hex(&[start, rest].concat()));
    let event = &*["02 00 11 c0 1300 22 0f", TIME_DISK, "010203", "a5a5a5a5a5"].concat();
    assert_eq!(bytes[0x48..], hex(&[event, event, "ffffffffffffffff"].concat()));
}

#[test]
fn windows_7_buffers_have_a_byte_for_the_processor() {
    let bytes = buffer(0x50).cpu_win7(1).stale_offsets(0, 0xFFFF).kind(4).on_disk();
    assert_eq!(bytes[..12], hex("50000000 00000000 ffff0000"));
    assert_eq!(bytes[0x28..0x38], hex("01 08 0100 03000000 48000000 0000 0400"));
}

#[test]
fn buffers_can_lie_about_themselves() {
    let bytes = buffer(0x80).stride(0).offset(0xFFFF_FFFF).event(small_event()).unpadded_end().tail(0x55).on_disk();
    assert_eq!((&bytes[..4], &bytes[0x30..0x34]), (&[0; 4][..], &[0xFF; 4][..]));
    assert_eq!((bytes.len(), &bytes[0x5A..0x5C]), (0x80, &[3, 0x55][..]));
    let cut = buffer(0x80).event(small_event()).unpadded_end();
    assert_eq!((cut.filled(), cut.event_at(0), cut.fits(0x20), cut.fits(0x21)), (0x5B, 0x48, true, false));
}

#[test]
#[should_panic(expected = "does not fit")]
fn a_buffer_holds_no_more_than_its_size() {
    let _ = buffer(0x5A).event(small_event());
}

#[test]
fn compressed_buffers_expand_to_their_data_region() {
    let plain = buffer(0x1000).padding(0xA5).events(vec![small_event(); 100]);
    let (packed, region) = (plain.clone().compressed().on_disk(), &plain.on_disk()[0x48..plain.filled()]);
    assert_eq!(packed[..4], u32::try_from(packed.len()).expect("small").to_le_bytes());
    assert_eq!((&packed[0x30..0x34], packed[0x34]), (&plain.on_disk()[0x30..0x34], 0x60));
    assert_eq!(expand(&packed[0x48..], region.len()), region);
    assert!(packed.len() < 0x100, "a repeated event costs little");
}

#[test]
fn the_header_event_at_its_documented_offsets() {
    let zone = TimeZone { bias: -60, standard_name: "W".to_owned(), daylight_bias: -60, ..TimeZone::default() };
    let header = header().time_zone(zone).events_lost(3).buffers_lost(4).session("s").file("f").name_words([5, 6]);
    let bytes = header.log_file_mode(0x0400_0001).processors(4).tid(7).pid(8).event(9).on_disk();
    assert_eq!(bytes[..16], hex("02 00 02 c0 4001 00 00 07000000 08000000"), "0x20 + 0x118 + 8");
    let body = &bytes[0x20..];
    let head = ["00100000 0a 00 01 05 f4650000 04000000", "0000000000000000 5a620200 00000000"].concat();
    assert_eq!((&body[..16], &body[0x18..0x20]), (&hex(&head)[..16], &hex(&head)[24..]));
    assert_eq!(body[0x10..0x18], (START + 100_000_000).to_le_bytes());
    let middle = "01000004 09000000 01000000 08000000 03000000 b80b0000 0500000000000000 0600000000000000";
    assert_eq!(body[0x20..0x48], hex(middle));
    assert_eq!((&body[0x48..0x50], &body[0xF0..0xF8]), (&hex("c4ffffff 5700 0000")[..], &hex("c4ffffff 00000000")[..]));
    assert_eq!(body[0xF8..0x100], (START - 36_000_000_000).to_le_bytes());
    assert_eq!((&body[0x100..0x108], &body[0x108..0x110]), (&hex("8096980000000000")[..], &START.to_le_bytes()[..]));
    assert_eq!(body[0x110..], hex("01000000 04000000 7300 0000 6600 0000"));
}

#[test]
fn the_32_bit_header_event() {
    let bytes = header().layout32().clock(2).not_closed().name_words([5, 6]).session("").file("").event(9).on_disk();
    assert_eq!((bytes[2], bytes.len()), (1, 0x20 + 0x114));
    let body = &bytes[0x20..];
    assert_eq!((&body[0x10..0x18], &body[0x24..0x30]), (&[0; 8][..], &hex("00000000 01000000 04000000")[..]));
    assert_eq!((&body[0x38..0x40], &body[0x100..0x108]), (&hex("05000000 06000000")[..], &START.to_le_bytes()[..]));
    assert_eq!(body[0x108..], hex("02000000 00000000 0000 0000"));
}

#[test]
fn traces_start_with_the_header_event_and_keep_the_order_of_their_buffers() {
    let trace = trace(header())
        .header_event(small_event())
        .buffer(buffer(0x80).sequence(2))
        .buffer(buffer(0x100).sequence(1).event(small_event()).event(small_event()));
    let bytes = trace.to_bytes();
    assert_eq!((bytes.len(), trace.buffer_positions()), (0x1180, vec![0, 0x1000, 0x1080]));
    assert_eq!((bytes[0x36], bytes[0x4A], bytes[0x4E]), (4, 2, 0), "type HEADER, SYSTEM64, hook 0000");
    assert_eq!(bytes[0x48 + 0x20 + 0x24], 3, "BuffersWritten");
    assert_eq!((bytes[0x1018], bytes[0x1098]), (2, 1));
    // The header event has 0x20 + 0x118 + 12 + 26 bytes, to the next multiple of 8.
    assert_eq!((trace.event_position(0, 1), trace.event_position(2, 1)), (0x48 + 0x160, 0x1080 + 0x60));
}

#[test]
fn circular_files_overwrite_their_oldest_buffers() {
    let buffers = (1..=7).map(|sequence| buffer(0x80).sequence(sequence));
    let kept: Vec<i64> = circular(buffers, 3).iter().map(|buffer| buffer.sequence).collect();
    assert_eq!(kept, [7, 5, 6]);
}

#[test]
fn sessions_write_full_buffers_and_mark_the_end_of_a_flush() {
    // Four events of 0x18 bytes fit behind the header of 0x48.
    let mut session = Session::new(2, 0xA8).first_sequence(908);
    for time in 0..5 {
        session.log(0, time, perfinfo64(0x0F22, time).payload([0; 8]));
    }
    session.log(1, 5, small_event());
    session.lose_events(1, 6);
    session.log(1, 7, small_event());
    let written = session.finish(8);
    let facts: Vec<_> = written.iter().map(|buffer| (buffer.cpu, buffer.sequence, buffer.time, buffer.flags)).collect();
    let lost = flag::EVENTS_LOST;
    assert_eq!(facts, [(0, 908, 4, 0), (1, 909, 6, 0), (1, 910, 8, lost), (0, 911, 8, flag::FLUSH_MARKER)]);
}

#[test]
fn damage_hits_the_bytes_it_names() {
    let trace = trace(header()).buffer(buffer(0x100).event(small_event()).event(full64(G, 1, 0, 0)));
    let (clean, first, second) = (trace.to_bytes(), trace.event_position(1, 0), trace.event_position(1, 1));
    let after = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = clean.clone();
        change(&mut bytes);
        bytes
    };
    assert_eq!(after(&|bytes| damage::truncate(bytes, 0x1001)), clean[..0x1001]);
    assert_eq!(after(&|bytes| damage::zero_tail(bytes, 2))[0x1100..], [0, 0]);
    assert_eq!(after(&|bytes| damage::stale_tail(bytes, [buffer(0x48)]))[0x1100..], buffer(0x48).on_disk());
    assert_eq!(after(&|bytes| damage::set_buffer_size(bytes, 0x1000, 0))[0x1000..0x1004], [0; 4]);
    assert_eq!(after(&|bytes| damage::set_offset(bytes, 0x1000, 0x10203))[0x1030..0x1034], [3, 2, 1, 0]);
    assert_eq!(after(&|bytes| damage::set_event_size(bytes, first, 0x0102))[0x104C..0x104E], [2, 1]);
    assert_eq!(after(&|bytes| damage::set_event_size(bytes, second, 0x0102))[0x1060..0x1064], [2, 1, 0x14, 0xC0]);
    assert_eq!(after(&|bytes| damage::set_marker(bytes, first, 7))[0x1048..0x104C], [7, 0, 0, 0]);
    assert_eq!(after(&|bytes| damage::cross_end(bytes, 0x1000, second, 1))[0x1060..0x1062], [0x31, 0]);
    assert_eq!(after(&|bytes| damage::flip(bytes, 0x1004, 7))[0x1004], clean[0x1004] ^ 0x80);
    let noisy = after(&|bytes| damage::noise(bytes, 0x1048, 8, 1));
    assert_eq!((&noisy[..0x1048], &noisy[0x1050..]), (&clean[..0x1048], &clean[0x1050..]));
    assert_ne!(noisy[0x1048..0x1050], clean[0x1048..0x1050]);
}

#[test]
fn bulk_traces_depend_on_their_arguments_only() {
    let small = bulk(2000, 3, 4, 7).buffer_size(0x4000);
    assert_eq!(small.to_bytes(), small.to_bytes());
    assert_ne!(small.to_bytes(), bulk(2000, 3, 4, 8).buffer_size(0x4000).to_bytes());
    let packed = small.clone().compressed(true).to_bytes();
    assert!(packed.len() * 2 < small.to_bytes().len(), "bulk events resemble each other");
}

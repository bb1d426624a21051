//! Events of every header type, their items and payloads.

use crate::synth::classic::{event_map_info, lost_event, old_instance32};
use crate::synth::header::{build_lab, debug_id, group_masks, last_dropped, partition_info, rundown_complete};
use crate::synth::message::{opaque, timed, ulong32_time, wnode};
use crate::synth::tracelogging::{field, out, schema, structure, traits, ty};
use crate::synth::*;
use crate::{G, G_DISK, TIME, TIME_DISK, hex, t};

#[test]
fn guids_swap_their_first_three_groups() {
    assert_eq!(G.to_vec(), hex(G_DISK));
    assert_eq!(guid("AABBCCDD-0000-0000-0000-000000000000")[..4], [0xDD, 0xCC, 0xBB, 0xAA]);
}

#[test]
fn payload_fields_are_packed_and_little_endian() {
    t(payload().u8(1).u16(2).i32(-2).u64(3).be16(0x0102), &["01 0200 feffffff 0300000000000000 0102"]);
    t(
        payload().wstr("aé").astr("b").counted_wstr("c").counted(&[9, 8]),
        &["6100 e900 0000", "62 00", "0200 6300", "0200 0908"],
    );
    t(payload().f32(1.0).f64(-2.0).zeros(2).guid(G), &["0000803f 00000000000000c0 0000", G_DISK]);
    t(payload().sid(5, &[18]), &["01 01 000000000005 12000000"]);
    t(payload().wbem_sid64(5, &[18]), &["10000000 01e0ffff", "0000000000000000", "01 01 000000000005 12000000"]);
}

#[test]
fn system_events_have_thread_process_and_cpu_times() {
    let event = system64(0x0501, TIME).version(3).tid(7).pid(8).kernel_time(9).user_time(10).payload([0xAA]);
    t(event, &["03 00 02 c0", "2100 01 05", "07000000 08000000", TIME_DISK, "09000000 0a000000", "aa"]);
    t(system32(0x030A, TIME), &["02 00 01 c0", "2000 0a 03", "00000000 00000000", TIME_DISK, "00000000 00000000"]);
    t(
        system32(0x030A, TIME).size(0xFFFF),
        &["02 00 01 c0 ffff 0a 03", "00000000 00000000", TIME_DISK, "00000000 00000000"],
    );
}

#[test]
fn compact_events_leave_out_the_cpu_times() {
    t(compact64(0x0501, TIME).tid(7).pid(8), &["02 00 04 c0", "1800 01 05", "07000000 08000000", TIME_DISK]);
    t(compact32(0x0501, TIME).payload([1, 2]), &["02 00 03 c0", "1a00 01 05", "00000000 00000000", TIME_DISK, "0102"]);
}

#[test]
fn perfinfo_events_have_a_time_only_and_extras_before_the_payload() {
    t(perfinfo64(0x0F2E, TIME).payload([0xAA]), &["02 00 11 c0", "1100 2e 0f", TIME_DISK, "aa"]);
    t(perfinfo32(0x0F2E, TIME), &["02 00 10 c0", "1000 2e 0f", TIME_DISK]);
    let counters = perfinfo64(0x0524, TIME).version(4).pmc(&[5, 6]).payload([0xAA]);
    t(counters, &["04 02 11 c0", "2100 24 05", TIME_DISK, "0500000000000000 0600000000000000", "aa"]);
    t(perfinfo64(0x0524, TIME).pebs(7), &["02 80 11 c0", "1800 24 05", TIME_DISK, "0700000000000000"]);
    let both = perfinfo64(0x0524, TIME).pebs(7).pmc(&[5]);
    t(both, &["02 81 11 c0", "2000 24 05", TIME_DISK, "0700000000000000 0500000000000000"]);
}

#[test]
fn classic_events_carry_their_class() {
    let event = full64(G, 0x20, 2, TIME).level(5).tid(7).pid(8).kernel_time(9).user_time(10).payload([0xAA]);
    t(event, &["3100 14 c0", "20 05 0200", "07000000 08000000", TIME_DISK, G_DISK, "09000000 0a000000", "aa"]);
    let private = full32(G, 0x20, 2, TIME).processor_time(0x0000_0001_0000_0002);
    t(private, &["3000 0a c0", "20 00 0200", "00000000 00000000", TIME_DISK, G_DISK, "02000000 01000000"]);
    let lost = "e09a396a c64b e94d 870b 3657f8947e7e";
    t(lost_event(0x21, TIME), &["3000 14 c0 21 00 0000", "00000000 00000000", TIME_DISK, lost, "00000000 00000000"]);
    let map = event_map_info(TIME, G, &[0xAA]).on_disk();
    assert_eq!(map[..0x18], hex(&["4100 14 c0 21 00 0000 ffffffff 00000000", TIME_DISK].concat()));
    assert_eq!(map[0x30..], hex(&[G_DISK, "aa"].concat()));
}

#[test]
fn instance_events_name_their_instance() {
    let head = ["0100 0000", "00000000 00000000", TIME_DISK, G_DISK, "00000000 00000000"].concat();
    let event = instance64(G, 1, 0, TIME).instance(3, 4, G).payload([0xAA]);
    t(event, &["4900 15 c0 0100 0000", &head[9..], "03000000 04000000", G_DISK, "aa"]);
    let bare = instance32(G, 1, 0, TIME).on_disk();
    assert_eq!((bare.len(), &bare[..4]), (0x48, &hex("4800 0b c0")[..]));
    let old = old_instance32(1, 0, TIME, [5, 6], [3, 4], &[0xAA]);
    let zeros = "0000000000000000";
    let ids = "0500000000000000 03000000 04000000";
    t(old, &["3900 0b c0 01 00 0000", zeros, TIME_DISK, ids, zeros, "0600000000000000", "aa"]);
}

#[test]
fn event_headers_in_full() {
    let event = event64(G, 0x1234, 2, TIME).tid(7).pid(8).channel(16).level(5).opcode(1).task(0x5678);
    let event =
        event.keyword(0x8000_0000_0000_0001).kernel_time(9).user_time(10).activity(G).property(8).payload([0xAA]);
    let descriptor = "3412 02 10 05 01 7856 0100000000000080";
    let start = ["5100 13 c0", "0000 0800", "07000000 08000000", TIME_DISK, G_DISK, descriptor].concat();
    t(event, &[&start, "09000000 0a000000", G_DISK, "aa"]);
    let text = event32(G, 0, 0, TIME).flags(0x0010).string_only("a").on_disk();
    assert_eq!((&text[..8], &text[0x50..]), (&hex("5400 12 c0 1400 0000")[..], &hex("6100 0000")[..]));
    let private = event64(G, 0, 0, TIME).private_session(0x0000_0001_0000_0002).on_disk();
    assert_eq!((&private[4..6], &private[0x38..0x40]), (&hex("0200")[..], &hex("02000000 01000000")[..]));
}

#[test]
fn items_chain_by_their_linkage_bit_and_are_padded() {
    let event = event64(G, 1, 0, TIME).item(Item::new(0x99, [1, 2, 3])).item(Item::related_activity(G)).payload([0xAA]);
    let bytes = event.on_disk();
    assert_eq!(bytes[..6], hex("7900 13 c0 0100"), "size 0x50 + 0x10 + 0x18 + 1, EXTENDED_INFO");
    let padded = "1000 9900 0100 0300 010203 0000000000";
    assert_eq!(bytes[0x50..], hex(&[padded, "1800 0100 0000 1000", G_DISK, "aa"].concat()));
    let broken = event64(G, 1, 0, TIME).item(Item::new(0x99, [1]).size(4).linkage(0xFFFF).data_size(0x8000)).on_disk();
    assert_eq!(broken[0x50..], hex("0400 9900 ffff 0080 01 00000000000000"));
}

#[test]
fn items_of_every_type() {
    let items = [
        (Item::related_activity(G), 0x01, G_DISK),
        (Item::sid(5, &[18]), 0x02, "01 01 000000000005 12000000"),
        (Item::ts_id(2), 0x03, "02000000"),
        (Item::instance_info(3, 4, [0; 16]), 0x04, "03000000 04000000 00000000000000000000000000000000"),
        (Item::stack32(1, &[2, 3]), 0x05, "0100000000000000 02000000 03000000"),
        (Item::stack64(1, &[2]), 0x06, "0100000000000000 0200000000000000"),
        (Item::pebs(1), 0x07, "0100000000000000"),
        (Item::pmc(&[1, 2]), 0x08, "0100000000000000 0200000000000000"),
        (Item::psm_key(&[1]), 0x09, "01"),
        (Item::event_key(1), 0x0A, "0100000000000000"),
        (Item::schema(schema("")), 0x0B, "0400 00 00"),
        (Item::traits(traits("")), 0x0C, "0300 00"),
        (Item::process_start_key(1), 0x0D, "0100000000000000"),
        (Item::control_guid(G), 0x0E, G_DISK),
        (Item::qpc_delta(-1), 0x0F, "ffffffffffffffff"),
        (Item::container_id(&[1]), 0x10, "01"),
        (Item::stack_key32(1, 2), 0x11, "0100000000000000 02000000 00000000"),
        (Item::stack_key64(1, 2), 0x12, "0100000000000000 0200000000000000"),
    ];
    for (item, kind, data) in items {
        assert_eq!((item.kind, item.data), (kind, hex(data)));
    }
}

#[test]
fn messages_write_their_parts_in_the_documented_order() {
    let corpus_like = message(0x2B).guid(G).time(TIME).system_info(0xF4, 4).arguments([0xAA]);
    t(corpus_like, &["2900 00 90 2b00 aa00", G_DISK, TIME_DISK, "f4000000 04000000", "aa"]);
    let component = message(1).sequence(5).guid(G).component(6).performance_time(TIME).flags(0x0040);
    t(component, &["1800 00 90 0100 5700", "05000000", "06000000", TIME_DISK]);
    t(message(1).flags(0).time(1).performance_time(2), &["1000 00 90 0100 1800", "0100000000000000"]);
    t(message(1), &["0800 00 90 0100 8000"]);
}

#[test]
fn obsolete_and_opaque_events() {
    t(timed(5, TIME, &[0xAA]), &["1100 0c c0 05000000", TIME_DISK, "aa"]);
    t(ulong32_time(0x17, 5, TIME, &[]), &["1000 17 b0 05000000", TIME_DISK]);
    t(opaque(0x0D, &[1, 2, 3, 4]), &["0800 0d c0 01020304"]);
    t(wnode(&[1, 2, 3, 4]), &["08000000 01020304"]);
}

#[test]
fn traits_and_metadata() {
    let written: Vec<u8> = traits("A").group(G).decode(G).entry(9, &[7]).into();
    t(written, &["2e00 41 00", "1300 01", G_DISK, "1300 02", G_DISK, "0400 09 07"]);
    let fields =
        schema("E").tags(&[0x81, 0x02]).field(field("a", ty::UINT32)).field(field("b", ty::UINT16).out(out::PORT));
    t(Vec::from(fields), &["0d00 8102 45 00", "61 00 08", "62 00 86 07"]);
    let counts = schema("E")
        .field(field("a", ty::UINT8).constant(0x0102))
        .field(field("b", ty::UTF16Z).variable().tags(&[0x83, 0x04]))
        .field(field("c", ty::BINARY).custom(&[5, 6]));
    t(Vec::from(counts), &["1700 00 45 00", "61 00 24 0201", "62 00 c1 80 8304", "63 00 6e 0200 0506"]);
    let nested = structure("s", [field("x", ty::INT8), structure("t", [field("y", ty::GUID)])]).variable();
    t(Vec::from(schema("").field(nested)), &["1200 00 00", "73 00 d8 02", "78 00 03", "74 00 98 01", "79 00 0f"]);
}

#[test]
fn eventsource_manifests_come_in_numbered_chunks() {
    let events = eventsource_manifest(G, TIME, "<a/>", 3);
    let bytes: Vec<Vec<u8>> = events.iter().map(OnDisk::on_disk).collect();
    assert_eq!(bytes.len(), 2);
    assert_eq!(bytes[0][0x28..0x30], hex("feff 01 00 00 fe feff"));
    assert_eq!(bytes[0][0x50..], hex("01 01 00 5b 0200 0000 3c612f"));
    assert_eq!(bytes[1][0x50..], hex("01 01 00 5b 0200 0100 3e"));
}

#[test]
fn group_0_events() {
    let ids = "00000000 00000000";
    let system = |hook: &str, size: &str| ["02 00 02 c0", size, hook, ids, TIME_DISK, ids].concat();
    let body = ["0000 0000 04000000 0100000000000000", G_DISK, G_DISK].concat();
    t(partition_info(TIME, 4, 1, G, G), &[&system("50 00", "5000"), &body]);
    let masks = "01000000 02000000 03000000 04000000 05000000 06000000 07000000 08000000 06005000";
    t(group_masks(0x0005, TIME, [1, 2, 3, 4, 5, 6, 7, 8]), &[&system("05 00", "4400"), masks]);
    let times = "02000000 00000000 0000000000000000 0100000000000000";
    t(last_dropped(TIME, &[0, 1]), &["02 00 11 c0 2800 52 00", TIME_DISK, times]);
    t(build_lab(TIME, "a"), &["02 00 11 c0 1200 42 00", TIME_DISK, "6100"]);
    t(debug_id(TIME, G, 1, "a"), &["02 00 11 c0 2600 40 00", TIME_DISK, G_DISK, "01000000 6100"]);
    t(rundown_complete(TIME), &["02 00 11 c0 1000 08 00", TIME_DISK]);
}

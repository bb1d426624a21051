use base::guid::Guid;
use etl::event::named_ids::AttributedIds;
use etl::event::{Event, EventIdentity, FileContext, Walk, WalkStep};
use etl::layout::header::HeaderFamily;

use super::*;

const DNS: Guid = Guid::from_parts(0x1c95_126e, 0x7eea, 0x49a9, 0xa3fe_a378_b03d_db4d);

fn identity(family: HeaderFamily, id: u16) -> EventIdentity {
    EventIdentity { provider: DNS, group: 0, id, version: 0, opcode: 0, property: 0, pointer_size: 8, family }
}

/// The decision on event `id` of DNS-Client, called `Query/Start`, of a header family.
fn decision(filter: &Filter, family: HeaderFamily, id: u16) -> ShapeDecision {
    filter.decision(&ShapeInfo {
        identity: &identity(family, id),
        provider_name: Some("Microsoft-Windows-DNS-Client"),
        dataset: "DNS~1c95126e/Query",
        event_name: Some("Query/Start"),
        keyword_names: &["ut:Network".to_owned(), "Microsoft-Windows-DNS-Client/Operational".to_owned()],
        range: (0, 0),
    })
}

fn patterns(texts: &[&str]) -> Vec<NamePattern> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

#[test]
fn providers_are_named_by_name_folder_or_guid() {
    let t = |only: &[&str], not: &[&str], passes: bool| {
        let filter = Filter { providers: patterns(only), excluded_providers: patterns(not), ..Filter::default() };
        let expected = if passes { ShapeDecision::Pass } else { ShapeDecision::Fail };
        assert_eq!(decision(&filter, HeaderFamily::Event64, 1), expected, "{only:?} and not {not:?}");
    };
    t(&[], &[], true);
    t(&["microsoft-windows-dns-client"], &[], true);
    t(&["Other", "*-DNS-*"], &[], true);
    t(&["DNS~1C95126E"], &[], true);
    t(&["{1C95126E-7EEA-49A9-A3FE-A378B03DDB4D}"], &[], true);
    t(&["Other"], &[], false);
    t(&["Query"], &[], false);
    t(&[], &["*DNS*"], false);
    t(&[], &["Other"], true);
    t(&["*DNS*"], &["Other", "1c95126e-7eea-49a9-a3fe-a378b03ddb4d"], false);
}

#[test]
fn events_are_named_by_id_or_name() {
    let t = |events: &[&str], family: HeaderFamily, passes: bool| {
        let events = events.iter().map(|text| text.parse().unwrap()).collect();
        let expected = if passes { ShapeDecision::Pass } else { ShapeDecision::Fail };
        assert_eq!(decision(&Filter { events, ..Filter::default() }, family, 3006), expected);
    };
    t(&["3006"], HeaderFamily::Event64, true);
    t(&["3006"], HeaderFamily::Message, true);
    // Kernel and classic events have no id, whatever stands in its place.
    t(&["3006"], HeaderFamily::Classic64, false);
    t(&["1", "query/*"], HeaderFamily::Classic64, true);
    t(&["1", "Query"], HeaderFamily::Event64, false);
}

#[test]
fn a_header_without_the_field_fails_and_others_are_looked_at() {
    use HeaderFamily::{Classic64, Compact32, Error, Event32, Message, PerfInfo64, System64, Timed, Wnode};
    let level = Filter { level: Some(3), ..Filter::default() };
    let keywords = Filter { keywords: Some(3), ..Filter::default() };
    let process = Filter { processes: vec!["4".parse().unwrap()], ..Filter::default() };
    let thread = Filter { threads: vec!["4".parse().unwrap()], ..Filter::default() };
    let t = |filter: &Filter, looked_at: &[HeaderFamily]| {
        for family in [Compact32, Error, Event32, Classic64, Message, PerfInfo64, System64, Timed, Wnode] {
            let expected = if looked_at.contains(&family) { ShapeDecision::Look } else { ShapeDecision::Fail };
            assert_eq!(decision(filter, family, 1), expected, "{family:?} and {filter:?}");
        }
    };
    t(&level, &[Event32, Classic64]);
    t(&keywords, &[Event32]);
    t(&process, &[Compact32, Event32, Classic64, Message, System64]);
    t(&thread, &[Compact32, Event32, Classic64, Message, System64]);
    t(&Filter { providers: patterns(&["Other"]), ..level }, &[]);
}

/// Whether an event with these fields passes.
fn passes(filter: &Filter, level: u8, keyword: u64, process: u32, thread: u32) -> bool {
    let mut bytes = vec![0x50, 0, 0x13, 0xC0, 0, 0, 0, 0];
    bytes.extend(thread.to_le_bytes());
    bytes.extend(process.to_le_bytes());
    bytes.extend([0; 8 + 16]);
    bytes.extend([0, 0, 0, 0, level, 0, 0, 0]);
    bytes.extend(keyword.to_le_bytes());
    bytes.resize(0x50, 0);
    let Some(WalkStep::Event(raw)) = Walk::new(&bytes, 0).next() else { panic!("no event") };
    let event = Event::of(&raw, &FileContext { pointer_size: 8, private_session: false });
    let ids = AttributedIds { process: event.process_id, thread: event.thread_id, ..AttributedIds::default() };
    filter.passes(&event) && filter.passes_ids(&ids, |_| false)
}

#[test]
fn levels_pass_as_in_a_session() {
    let filter = Filter { level: Some(3), ..Filter::default() };
    let passing: Vec<u8> = (0..=255).filter(|&level| passes(&filter, level, 0, 0, 0)).collect();
    assert_eq!(passing, [0, 1, 2, 3]);
}

#[test]
fn keywords_pass_as_in_a_session() {
    let filter = Filter { keywords: Some(0x8000_0000_0000_0030), ..Filter::default() };
    let t = |keyword: u64, expected: bool| assert_eq!(passes(&filter, 0, keyword, 0, 0), expected, "{keyword:#x}");
    t(0, true);
    t(0x10, true);
    t(0x31, true);
    t(1 << 63, true);
    t(0x0F, false);
    t(0x4000_0000_0000_0000, false);
}

#[test]
fn keywords_are_named_by_the_schema() {
    use HeaderFamily::{Event64, Message};
    let named = |names: &[&str]| Filter { keyword_names: patterns(names), ..Filter::default() };
    let t = |filter: &Filter, family, expected| assert_eq!(decision(filter, family, 1), expected, "{filter:?}");
    t(&named(&["ut:network"]), Event64, ShapeDecision::Pass);
    t(&named(&["other", "*operational"]), Event64, ShapeDecision::Pass);
    t(&named(&["network"]), Event64, ShapeDecision::Look);
    t(&named(&["ut:network"]), Message, ShapeDecision::Fail);
    t(&Filter { level: Some(3), ..named(&["ut:network"]) }, Event64, ShapeDecision::LookBesideKeywords);
    t(&Filter { level: Some(3), ..named(&["network"]) }, Event64, ShapeDecision::Look);
    t(&Filter { keywords: Some(1), ..named(&["ut:network"]) }, Event64, ShapeDecision::Pass);
    // Of a shape without the name, the mask decides, and keyword 0 passes.
    let either = Filter { keywords: Some(2), ..named(&["network"]) };
    assert_eq!([0, 1, 2, 3].map(|keyword| passes(&either, 0, keyword, 0, 0)), [true, false, true, true]);
    assert_eq!([0, 1].map(|keyword| passes(&named(&["network"]), 0, keyword, 0, 0)), [true, false]);
}

#[test]
fn processes_and_threads_must_both_be_named() {
    let filter = Filter {
        processes: vec!["4-8".parse().unwrap()],
        threads: vec!["100,200".parse().unwrap()],
        ..Filter::default()
    };
    assert!(passes(&filter, 0, 0, 4, 200));
    assert!(!passes(&filter, 0, 0, 4, 300));
    assert!(!passes(&filter, 0, 0, 9, 200));
    // The number of nobody is no number.
    let all = Filter { processes: vec!["0-4294967295".parse().unwrap()], ..Filter::default() };
    assert!(passes(&all, 0, 0, 0, 0));
    assert!(!passes(&all, 0, 0, u32::MAX, 0));
}

#[test]
fn an_unknown_processor_is_none_of_those_named() {
    let filter = Filter { cpus: vec!["0-3".parse().unwrap()], ..Filter::default() };
    assert!(filter.passes_cpu(Some(0)) && filter.passes_cpu(Some(3)));
    assert!(!filter.passes_cpu(Some(4)) && !filter.passes_cpu(None));
    assert!(Filter::default().passes_cpu(None));
}

#[test]
fn a_window_begins_and_ends_at_its_bounds() {
    let filter = Filter { from: Some("+1us".parse().unwrap()), to: Some(TimeBound::At(5_000)), ..Filter::default() };
    assert_eq!(filter.window(2_000), TimeWindow { from: 3_000, to: Some(5_000) });
    assert_eq!(Filter::default().window(2_000), TimeWindow { from: i64::MIN, to: None });
}

#[test]
fn only_the_default_is_empty() {
    assert!(Filter::default().is_empty());
    assert!(!Filter { level: Some(5), ..Filter::default() }.is_empty());
    assert!(!Filter { to: Some(TimeBound::After(0)), ..Filter::default() }.is_empty());
}
